"""Area under the generalized risk-coverage curve, and its relatives that weigh losses by rank."""

from __future__ import annotations

import numpy as np

from abstain._checks import Undefined, fraction, positive
from abstain._sums import inner
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics import _area as area
from abstain.metrics._area import FULL, Range
from abstain.metrics._declare import metric_of, register
from abstain.metrics._facts import FromSums, Sums
from abstain.metrics._gradient import Gradient, kept

__all__ = ["augrc", "augrc_from_auroc", "augrc_partial_derivatives", "augrc_unbiased", "sele"]


#: Tables with at most so many blocks keep the gradient that four metrics read; of larger ones the memory counts.
KEPT = 20_000


def augrc_value(blocks: TieBlocks, coverage_range: Range = FULL) -> float:
    """AUGRC of a table: (1/T^2) integral of L(w) dw."""
    if coverage_range is FULL:
        return _full_area(blocks) / blocks.total_weight**2
    return area.linear_area(blocks, area.uniform, area.check_range(coverage_range)) / blocks.total_weight**2


def _full_area(blocks: TieBlocks) -> float:
    """Return the area over all coverages, which half of the metrics read, once for each table."""
    return blocks.once("generalized area", lambda: _area(blocks))


def _area(blocks: TieBlocks) -> float:
    if blocks._grown_from is None:
        return area.linear_area(blocks, area.uniform)
    before, factor, more = blocks._grown_from
    return factor * (_full_area(before) + 0.5 * more * before.total_weight**2)


def augrc_gradient(blocks: TieBlocks, coverage_range: Range = FULL) -> Gradient:
    """Derivative of the AUGRC of a table."""
    if coverage_range is not FULL:
        return _gradient(blocks, area.check_range(coverage_range))
    if len(blocks) <= KEPT:
        return blocks.once("augrc gradient", lambda: kept(_gradient(blocks)))
    return area.shared("augrc", _gradient, blocks)


def _gradient(blocks: TieBlocks, coverage_range: Range = FULL) -> Gradient:
    T = blocks.total_weight
    if coverage_range is FULL:  # the area itself is linear in the losses
        return area.uniform_gradient(blocks, 1.0 / T**2, 2.0 * _full_area(blocks) / T)
    gradient = area.linear_gradient(blocks, area.uniform, coverage_range)
    shrink = 2.0 * inner(gradient.loss, blocks.loss) / T
    return Gradient((gradient.weight - shrink) / T**2, gradient.loss / T**2)


def _worst(p: float, coverage_range: Range) -> float:
    """All errors on top: the integral of min(c, p) over the range."""
    low, high = coverage_range
    return (min(high, p) ** 2 - min(low, p) ** 2) / 2.0 + p * (max(high, p) - max(low, p))


def augrc_of_sums(sums: Sums) -> FloatArray:
    """AUGRC of many tables."""
    return sums.generalized / sums.weight**2


@register(
    title="AUGRC",
    value=augrc_value,
    gradient=augrc_gradient,
    direction="lower",
    range=(0.0, 0.5),
    scale="log",
    attribution="losses",
    worst=_worst,
    from_sums=FromSums(augrc_of_sums),
    multi_threshold=True,
    convention="trapezoid",
    source="Traub et al. 2024, Eq. 6",
)
def augrc(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    coverage_range: Range = FULL,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Area under the generalized risk-coverage curve: the average risk of an undetected failure.

    .. math:: \text{AUGRC} = \sum_j (c_j - c_{j-1})\,\frac{G_j + G_{j-1}}{2}
              = \frac{1}{N^2}\sum_i \ell_i\,(\rho_i - \tfrac12)

    with generalized risk :math:`G_j` (accepted loss per sample of the whole population, :math:`G_0 = 0`) and
    ascending mid-ranks :math:`\rho_i` of the confidence.

    Parameters
    ----------
    coverage_range : (float, float)
        Integrate over these coverages only; adjacent ranges add up.

    Returns
    -------
    float
        In [0, max loss / 2]; lower is better. Half the mean loss: a useless score.

    See Also
    --------
    aurc, e_augrc, augrc_from_auroc

    Notes
    -----
    Ties are accepted together; the trapezoidal rule makes that the mean over random tie breaking. For a 0/1
    loss, exactly and with ties, AUGRC = (1 - AUROC_f) acc (1 - acc) + (1 - acc)^2 / 2.

    References
    ----------
    Traub et al. (2024), NeurIPS: Eq. 6 and 7. Malinin et al. (2021) call the same number error-retention area.

    Examples
    --------
    >>> import abstain
    >>> abstain.augrc(loss=[0, 0, 1, 0], confidence=[0.9, 0.8, 0.7, 0.6])
    0.09375
    """


def _unbiased(blocks: TieBlocks) -> float:
    area.require_counts(blocks, "the unbiased form of AUGRC", "augrc")
    n = blocks.total_weight
    if n < 2.0:
        raise Undefined("the unbiased form compares pairs and needs at least two samples")
    return (n * augrc_value(blocks) - 0.5 * blocks.mean_loss) / (n - 1.0)


def _unbiased_of_sums(sums: Sums) -> FloatArray:
    value = (sums.weight * augrc_of_sums(sums) - 0.5 * sums.loss / sums.weight) / (sums.weight - 1.0)
    return np.where(sums.weight >= 2.0, value, np.nan)


@register(
    title="AUGRC (unbiased)",
    value=_unbiased,
    smooth_twin=lambda metric: metric_of(augrc),
    from_sums=FromSums(_unbiased_of_sums, counts=True),
    direction="lower",
    range=(0.0, 0.5),
    scale="log",
    multi_threshold=True,
    convention="u-statistic",
    source="U-statistic of Traub et al. 2024, Eq. 6",
)
def augrc_unbiased(loss: ArrayLike, confidence: ArrayLike, *, nan_policy: NanPolicy = "raise") -> float:
    r"""AUGRC without the pairs of a sample with itself: an unbiased estimator of the population's AUGRC.

    .. math:: U = \frac{n^2\,\text{AUGRC} - n\,\bar\ell/2}{n(n-1)}
              = \frac{1}{n(n-1)}\sum_{i\ne k}\ell_i\left(\mathbb 1[g_i > g_k] + \tfrac12 \mathbb 1[g_i = g_k]\right)

    Returns
    -------
    float
        In [0, max loss / 2] up to O(1/n); lower is better. NaN, with a warning, for a single sample.

    Notes
    -----
    Ties count half. It is defined on rows, so it changes when every row is duplicated.

    References
    ----------
    Hoeffding (1948): the U-statistic of which AUGRC (Traub et al. 2024, Eq. 6) is the V-statistic.

    Examples
    --------
    >>> import abstain
    >>> abstain.augrc_unbiased([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.08333333333333333
    """


def _sele(blocks: TieBlocks, factor: float = 1.0) -> float:
    return positive(factor, "factor") * inner(blocks.weight, blocks.cumulative_loss) / blocks.total_weight**2


def _sele_gradient(blocks: TieBlocks, factor: float = 1.0) -> Gradient:
    T = blocks.total_weight
    weight = blocks.cumulative_loss - 2.0 * T * _sele(blocks)
    return Gradient(weight, area.from_below(blocks.weight)).scaled(factor / T**2)


@register(
    title="SELE",
    value=_sele,
    gradient=_sele_gradient,
    direction="lower",
    scale="log",
    attribution="losses",
    worst=lambda p, factor: factor * p,
    multi_threshold=True,
    convention="max-rank",
    source="Franc et al. 2023",
)
def sele(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    factor: float = 1.0,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""SELE score: losses weighted by their ascending rank; AUGRC up to a tie rule and half a rank.

    .. math:: \text{SELE} = \frac{1}{N^2}\sum_i\sum_k \ell_i\,\mathbb 1[g_i \ge g_k]
              = \frac{1}{N^2}\sum_i r_i\,\ell_i

    Parameters
    ----------
    factor : float > 0
        2 gives the "2 x SELE" that was proposed as an upper bound of AURC. It is none: with the only loss on
        the most confident of five samples AURC is H_5 = 2.283 times that loss / 5, and 2 x SELE is 2 times.

    Returns
    -------
    float
        In [0, factor * max loss]; lower is better.

    Notes
    -----
    Ties take the largest rank. Without ties SELE = AUGRC + mean(loss) / (2N).

    References
    ----------
    Franc, Prusa & Voracek (2023), JMLR 24(11). Zhou et al. (2025), ICML: Eq. 32-36 (no upper bound).

    Examples
    --------
    >>> import abstain
    >>> abstain.sele([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.125
    """


def augrc_from_auroc(accuracy: float, auroc_f: float) -> float:
    r"""AUGRC of a 0/1 loss in closed form, from accuracy and failure-detection AUROC.

    .. math:: \text{AUGRC} = (1 - \text{AUROC}_f)\,\text{acc}\,(1 - \text{acc}) + \tfrac12 (1 - \text{acc})^2

    Parameters
    ----------
    accuracy, auroc_f : float in [0, 1]

    Returns
    -------
    float
        In [0, 1/2]; lower is better.

    Raises
    ------
    ValueError
        An argument outside [0, 1].

    References
    ----------
    Traub et al. (2024), NeurIPS: Eq. 7.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.augrc_from_auroc(accuracy=0.75, auroc_f=0.8), 6)
    0.06875
    """
    a, auroc = fraction(accuracy, "accuracy"), fraction(auroc_f, "auroc_f")
    return (1.0 - auroc) * a * (1.0 - a) + 0.5 * (1.0 - a) ** 2


def augrc_partial_derivatives(accuracy: float, auroc_f: float) -> tuple[float, float]:
    r"""Derivatives of AUGRC with respect to failure-detection AUROC and accuracy; both are <= 0.

    .. math:: \frac{\partial\,\text{AUGRC}}{\partial\,\text{AUROC}_f} = -\text{acc}\,(1-\text{acc}),\qquad
              \frac{\partial\,\text{AUGRC}}{\partial\,\text{acc}} = 2\,\text{AUROC}_f\,\text{acc} - \text{acc}
              - \text{AUROC}_f

    Parameters
    ----------
    accuracy, auroc_f : float in [0, 1]

    Returns
    -------
    (float, float)
        With respect to AUROC_f, in [-1/4, 0], and to accuracy, in [-1, 0].

    Raises
    ------
    ValueError
        An argument outside [0, 1].

    References
    ----------
    Traub et al. (2024), NeurIPS: Eq. 9 and 10.

    Examples
    --------
    >>> import abstain
    >>> abstain.augrc_partial_derivatives(accuracy=0.5, auroc_f=0.5)
    (-0.25, -0.5)
    """
    a, auroc = fraction(accuracy, "accuracy"), fraction(auroc_f, "auroc_f")
    return -a * (1.0 - a), 2.0 * auroc * a - a - auroc
