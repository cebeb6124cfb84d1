"""Area under the risk-coverage curve, by five named estimators."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from abstain._checks import UnmetNeed, one_of
from abstain._sums import inner
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics import _area as area
from abstain.metrics._area import FULL, Range
from abstain.metrics._declare import image_of, register
from abstain.metrics._facts import FromSums, Sums
from abstain.metrics._gradient import Attribution, Gradient
from abstain.metrics._metric import Metric

__all__ = ["accuracy_rejection_area", "aurc"]

Estimator = Literal["plugin", "interpolated", "trapezoid", "harmonic", "log"]


def aurc_value(blocks: TieBlocks, estimator: Estimator = "plugin", coverage_range: Range = FULL) -> float:
    """AURC of a table."""
    one_of(estimator, get_args(Estimator), "estimator")
    coverage_range = area.check_range(coverage_range)
    match estimator:
        case "plugin":
            return area.step_area(blocks, coverage_range)
        case "interpolated":
            return area.linear_area(blocks, area.reciprocal, coverage_range) / blocks.total_weight
        case "trapezoid":
            return area.trapezoid_area(blocks, coverage_range)
    if coverage_range != FULL:
        raise UnmetNeed(f'estimator="{estimator}" has no partial area; use "plugin", "interpolated" or "trapezoid"')
    area.require_counts(blocks, f'estimator="{estimator}"')
    weights = area.harmonic_weights if estimator == "harmonic" else area.log_weights
    return inner(weights(blocks), blocks.loss) / blocks.total_weight


def aurc_gradient(blocks: TieBlocks, estimator: Estimator = "plugin", coverage_range: Range = FULL) -> Gradient:
    """Derivative of the AURC of a table."""
    one_of(estimator, get_args(Estimator), "estimator")
    coverage_range = area.check_range(coverage_range)
    match estimator:
        case "plugin":
            if coverage_range == FULL:
                return area.shared("step", area.step_gradient, blocks)
            return area.step_gradient(blocks, coverage_range)
        case "interpolated":
            value = aurc_value(blocks, estimator, coverage_range)
            gradient = area.linear_gradient(blocks, area.reciprocal, coverage_range)
            return Gradient(gradient.weight - value, gradient.loss).scaled(1.0 / blocks.total_weight)
        case "trapezoid" if coverage_range == FULL:
            return area.trapezoid_gradient(blocks)
    raise UnmetNeed(f'estimator="{estimator}" with this coverage_range has no gradient; use that of estimator="plugin"')


def _attribution(blocks: TieBlocks, estimator: Estimator = "plugin", coverage_range: Range = FULL) -> Attribution:
    """Contributions w_i b_k l_i: every estimator is linear in the losses."""
    if estimator in ("harmonic", "log"):
        aurc_value(blocks, estimator, coverage_range)  # refuses what the estimator cannot do
        weights = area.harmonic_weights if estimator == "harmonic" else area.log_weights
        per_loss = weights(blocks) / blocks.total_weight
    elif estimator == "trapezoid":
        per_loss = area.trapezoid_per_loss(blocks, area.check_range(coverage_range))
    else:
        per_loss = aurc_gradient(blocks, estimator, coverage_range).loss
    return np.zeros(len(blocks)), per_loss


def _worst(p: float, estimator: Estimator, coverage_range: Range) -> float:
    """All errors on top: the integral of min(1, p / c) over the range."""
    low, high = coverage_range
    return min(high, p) - min(low, p) + p * math.log(max(high, p) / max(low, p))


def smooth(metric: Metric) -> Metric:
    """Return the metric by an estimator with a gradient; those on ranks are asymptotically equal to it."""
    return metric.using(estimator="plugin") if metric.settings["estimator"] in ("harmonic", "log") else metric


def aurc_of_sums(sums: Sums) -> FloatArray:
    """AURC of many tables."""
    return sums.selective / sums.weight


@register(
    title="AURC",
    value=aurc_value,
    gradient=aurc_gradient,
    direction="lower",
    scale="log",
    attribution=_attribution,
    worst=_worst,
    smooth_twin=smooth,
    from_sums=FromSums(aurc_of_sums, selective=True),
    multi_threshold=True,
    convention="estimator",
    source="Geifman et al. 2019; Zhou et al. 2025, Eq. 10, 13, 18",
)
def aurc(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    estimator: Estimator = "plugin",
    coverage_range: Range = FULL,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Area under the risk-coverage curve: the selective risk averaged over coverage.

    .. math:: \text{AURC} = \sum_j (c_j - c_{j-1})\, R_j

    with coverage :math:`c_j` and selective risk :math:`R_j` at the j-th distinct score (``"plugin"``).

    Parameters
    ----------
    estimator : {"plugin", "interpolated", "trapezoid", "harmonic", "log"}
        ``"plugin"``: the formula above. ``"interpolated"``: losses spread evenly inside a tie, the curve
        L(c)/c integrated exactly. ``"trapezoid"``: the trapezoidal rule over (c_j, R_j), constant to the
        left of the first point. ``"harmonic"`` and ``"log"``: rank weights H_n - H_{n-r} and
        -ln(1 - r/(n+1)), averaged over the ranks of a tie.
    coverage_range : (float, float)
        Integrate over these coverages only; adjacent ranges add up. Not for ``"harmonic"`` and ``"log"``.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; whole numbers for ``"harmonic"`` and ``"log"``.

    Returns
    -------
    float
        In [0, max loss]; lower is better. 0: no loss; the mean loss: a useless score.

    Raises
    ------
    ValueError, TypeError
        Bad columns; an unknown estimator or range; real weights for an estimator on counts.

    See Also
    --------
    augrc, e_aurc, naurc, aurc_achievable

    Notes
    -----
    Ties are accepted together, so row order cannot matter. ``"plugin"``, ``"interpolated"`` and
    ``"trapezoid"`` do not change when every row is duplicated; ``"harmonic"`` and ``"log"`` do, by design.
    Without ties ``"plugin"`` and ``"harmonic"`` are the same number: the mean of the n selective risks.
    The selective risk weighs the most confident failures heavily; AUGRC does not.

    References
    ----------
    Geifman, Uziel & El-Yaniv (2019), ICLR. Zhou et al. (2025), ICML: Eq. 10 (``"plugin"``), Eq. 13
    (``"harmonic"``), Eq. 18 (``"log"``). Traub et al. (2024), NeurIPS: code (``"trapezoid"``,
    ``"interpolated"``).

    Examples
    --------
    >>> import abstain
    >>> abstain.aurc(loss=[0, 0, 1, 0], confidence=[0.9, 0.8, 0.7, 0.6])
    0.14583333333333331
    """


@register(
    title="Accuracy-rejection area",
    image=image_of(aurc, 1.0, -1.0),
    direction="higher",
    needs={"unit_loss"},
    source="Nadeem et al. 2009",
)
def accuracy_rejection_area(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    estimator: Estimator = "plugin",
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Area under the accuracy-rejection curve: the selective accuracy averaged over rejection rates, 1 - AURC.

    .. math:: \text{AUARC} = \sum_j (c_j - c_{j-1})\,(1 - R_j)

    Notes
    -----
    Ties are accepted together. The area over rejection rates is the area over coverages read backwards.

    References
    ----------
    Nadeem, Zucker & Hanczar (2009), MLSB.

    Examples
    --------
    >>> import abstain
    >>> abstain.accuracy_rejection_area([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.8541666666666667
    """
