"""What an area exceeds that of the oracle by: excess and normalised areas."""

from __future__ import annotations

import math

import numpy as np

from abstain._checks import Undefined
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics._augrc import augrc_gradient, augrc_of_sums, augrc_value
from abstain.metrics._aurc import Estimator, aurc_gradient, aurc_of_sums, aurc_value, smooth
from abstain.metrics._declare import register
from abstain.metrics._facts import FromSums, Relative, Sums
from abstain.metrics._gradient import Gradient, moved
from abstain.metrics._reference import (
    augrc_optimal_gradient,
    augrc_optimal_value,
    aurc_optimal_gradient,
    aurc_optimal_value,
)

__all__ = ["e_augrc", "e_aurc", "naugrc", "naurc"]


def _worst(p: float, **_: object) -> float:
    """All errors on top; the most for an error rate of one half."""
    p = min(p, 0.5)
    return -p * math.log(p) - (1.0 - p) * math.log(1.0 - p)


def _best_aurc(sums: Sums) -> FloatArray:
    """AURC of the best ranking of 0/1 losses: mu + (1 - mu) ln(1 - mu)."""
    mu = sums.loss / sums.weight
    return mu + np.where(mu < 1.0, (1.0 - mu) * np.log1p(-mu), 0.0)


@register(
    title="e-AURC",
    value=lambda blocks, estimator="plugin": aurc_value(blocks, estimator) - aurc_optimal_value(blocks, estimator),
    gradient=lambda blocks, estimator="plugin": moved(
        aurc_gradient(blocks, estimator), aurc_optimal_gradient(blocks, estimator).scaled(-1.0)
    ),
    worst=_worst,
    smooth_twin=smooth,
    from_sums=FromSums(lambda sums: aurc_of_sums(sums) - _best_aurc(sums), selective=True, binary=True),
    direction="lower",
    range=(-0.5, 1.0),
    needs={"oracle"},
    scale="log",
    multi_threshold=True,
    convention="estimator",
    source="Geifman et al. 2019",
)
def e_aurc(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    estimator: Estimator = "plugin",
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Excess AURC: AURC above that of the best ranking of the same losses.

    .. math:: \text{e-AURC} = \text{AURC} - \text{AURC}^*

    Parameters
    ----------
    estimator : {"plugin", "interpolated", "trapezoid", "harmonic", "log"}
        Of both areas; see :func:`aurc` and :func:`aurc_optimal`.

    Returns
    -------
    float
        >= 0; lower is better. ``"trapezoid"`` can be negative, because its optimum is of another convention:
        slightly for many distinct scores, down to -1/2 for few (a hundredth right, apart: -0.454).

    Notes
    -----
    Ties are accepted together. A perfect ranking has excess 0 under ``"interpolated"`` and O(1/n) under
    ``"plugin"``. The excess still depends on the classifier's accuracy.

    References
    ----------
    Geifman, Uziel & El-Yaniv (2019), ICLR. Traub et al. (2024), NeurIPS: Eq. 5.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.e_aurc([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), 6)
    0.111595
    """


def _best_augrc(sums: Sums) -> FloatArray:
    """AUGRC of the best ranking of 0/1 losses: mu^2 / 2."""
    return np.asarray(0.5 * (sums.loss / sums.weight) ** 2)


@register(
    title="e-AUGRC",
    value=lambda blocks: augrc_value(blocks) - augrc_optimal_value(blocks),
    gradient=lambda blocks: moved(augrc_gradient(blocks), augrc_optimal_gradient(blocks).scaled(-1.0)),
    worst=lambda p: min(p, 0.5) * (1.0 - min(p, 0.5)),
    from_sums=FromSums(lambda sums: augrc_of_sums(sums) - _best_augrc(sums), binary=True),
    direction="lower",
    range=(0.0, 0.25),
    needs={"oracle"},
    scale="log",
    multi_threshold=True,
    convention="trapezoid",
    source="Traub et al. 2024, Eq. 7",
)
def e_augrc(
    loss: ArrayLike, confidence: ArrayLike, *, sample_weight: ArrayLike | None = None, nan_policy: NanPolicy = "raise"
) -> float:
    r"""Excess AUGRC: AUGRC above that of the best ranking of the same losses.

    .. math:: \text{e-AUGRC} = \text{AUGRC} - \text{AUGRC}^* = (1 - \text{AUROC}_f)\,\text{acc}\,(1-\text{acc})

    (the second form for a 0/1 loss).

    Returns
    -------
    float
        In [0, acc (1 - acc)] for a 0/1 loss; 0 for the best ranking; lower is better.

    Notes
    -----
    Ties are accepted together and count as half resolved.

    References
    ----------
    Traub et al. (2024), NeurIPS: Eq. 7.

    Examples
    --------
    >>> import abstain
    >>> abstain.e_augrc([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.0625
    """


def _normalised(blocks: TieBlocks, value: float, best: float, random: float) -> float:
    if len(blocks.oracle) == 1:  # the rounded span of such losses is no criterion: it need not be 0
        raise Undefined("all losses are equal, so every ranking is the best and the worst at once")
    return (value - best) / (random - best)


def _normalised_gradient(ratio: float, span: float, own: Gradient, best: Gradient, random: Gradient) -> Gradient:
    """Derivative of (value - best)/(random - best) by the quotient rule."""
    return moved(moved(own, best.scaled(ratio - 1.0)), random.scaled(-ratio), 1.0 / span)


def _normalised_of_sums(sums: Sums, value: FloatArray, best: FloatArray, random: FloatArray) -> FloatArray:
    """Return (value - best) / (random - best), undefined where all losses are equal (weights: up to rounding)."""
    right = sums.weight - sums.loss
    mixed = (sums.loss > 0.0) & (right > 1e-12 * sums.weight)
    return np.where(mixed, (value - best) / (random - best), np.nan)


def _naurc(blocks: TieBlocks, estimator: Estimator = "plugin") -> float:
    value, best = aurc_value(blocks, estimator), aurc_optimal_value(blocks, estimator)
    return _normalised(blocks, value, best, aurc_value(blocks.constant, estimator))


def _naurc_gradient(blocks: TieBlocks, estimator: Estimator = "plugin") -> Gradient:
    ratio = _naurc(blocks, estimator)
    span = aurc_value(blocks.constant, estimator) - aurc_optimal_value(blocks, estimator)
    own, best = aurc_gradient(blocks, estimator), aurc_optimal_gradient(blocks, estimator)
    return _normalised_gradient(ratio, span, own, best, aurc_gradient(blocks.constant, estimator))


@register(
    title="NAURC",
    value=_naurc,
    gradient=_naurc_gradient,
    few_errors=Relative(0.5),
    smooth_twin=smooth,
    from_sums=FromSums(
        lambda sums: _normalised_of_sums(sums, aurc_of_sums(sums), _best_aurc(sums), sums.loss / sums.weight),
        selective=True,
        binary=True,
    ),
    direction="lower",
    range=(-np.inf, np.inf),
    needs={"oracle"},
    scale="log",
    multi_threshold=True,
    convention="estimator",
    source="Cattelan & Silva 2023",
)
def naurc(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    estimator: Estimator = "plugin",
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Normalised AURC: 0 for the best ranking of these losses, 1 for a constant score.

    .. math:: \text{NAURC} = \frac{\text{AURC} - \text{AURC}^*}{\text{AURC}_\text{random} - \text{AURC}^*}

    Parameters
    ----------
    estimator : {"plugin", "interpolated", "trapezoid", "harmonic", "log"}
        Of all three areas.

    Returns
    -------
    float
        >= 0 (``"trapezoid"``: any sign, see :func:`e_aurc`); above 1 is worse than random; lower is better. NaN,
        with a warning, if all losses are equal.

    Notes
    -----
    Ties are accepted together.

    References
    ----------
    Cattelan & Silva (2023): "How to fix a broken confidence estimator".

    Examples
    --------
    >>> import abstain
    >>> round(abstain.naurc([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), 6)
    0.517214
    """


def _naugrc(blocks: TieBlocks) -> float:
    return _normalised(blocks, augrc_value(blocks), augrc_optimal_value(blocks), 0.5 * blocks.mean_loss)


def _naugrc_gradient(blocks: TieBlocks) -> Gradient:
    span = 0.5 * blocks.mean_loss - augrc_optimal_value(blocks)
    own, best = augrc_gradient(blocks), augrc_optimal_gradient(blocks)
    return _normalised_gradient(_naugrc(blocks), span, own, best, augrc_gradient(blocks.constant))


def _naugrc_of_sums(sums: Sums) -> FloatArray:
    return _normalised_of_sums(sums, augrc_of_sums(sums), _best_augrc(sums), 0.5 * sums.loss / sums.weight)


@register(
    title="nAUGRC",
    value=_naugrc,
    gradient=_naugrc_gradient,
    few_errors=Relative(),
    from_sums=FromSums(_naugrc_of_sums, binary=True),
    direction="lower",
    range=(0.0, 2.0),
    needs={"oracle"},
    scale="logit",
    multi_threshold=True,
    convention="trapezoid",
    source="after Cattelan & Silva 2023",
)
def naugrc(
    loss: ArrayLike, confidence: ArrayLike, *, sample_weight: ArrayLike | None = None, nan_policy: NanPolicy = "raise"
) -> float:
    r"""Normalised AUGRC: 0 for the best ranking of these losses, 1 for a constant score.

    .. math:: \text{nAUGRC} = \frac{\text{AUGRC} - \text{AUGRC}^*}{\bar\ell/2 - \text{AUGRC}^*}

    Returns
    -------
    float
        In [0, 2]; for a 0/1 loss 2 (1 - AUROC_f); lower is better. NaN, with a warning, if all losses are equal.

    Notes
    -----
    Ties are accepted together. 1 - nAUGRC is the prediction-rejection ratio.

    References
    ----------
    The normalisation of Cattelan & Silva (2023) applied to Traub et al. (2024), Eq. 6.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.naugrc([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), 6)
    0.666667
    """
