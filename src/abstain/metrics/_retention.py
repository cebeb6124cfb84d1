"""Retention metrics: what is kept is scored, what is rejected is left to an oracle or counts as nothing."""

from __future__ import annotations

import numpy as np

from abstain._checks import fraction
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics import _area as area
from abstain.metrics._declare import image_of, register
from abstain.metrics._excess import naugrc
from abstain.metrics._gradient import Gradient

__all__ = ["f1_auc", "f1_auc_optimal", "prediction_rejection_ratio"]


def _f1_segments(blocks: TieBlocks) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Correct weight per block, correct weight above it, start of its denominator, log of the growth."""
    right = blocks.weight - blocks.loss
    all_right = blocks.total_weight - blocks.total_loss
    above = np.cumsum(right) - right
    start = blocks.cumulative_weight - blocks.weight + all_right
    with np.errstate(divide="ignore"):
        return right, above, start, np.log1p(blocks.weight / start)


def _f1_auc(blocks: TieBlocks) -> float:
    if blocks.total_loss == blocks.total_weight:
        return 0.0  # nothing correct can be retained
    right, above, start, log = _f1_segments(blocks)
    return 2.0 * float(np.sum(right + (above - right * start / blocks.weight) * log)) / blocks.total_weight


def _f1_auc_gradient(blocks: TieBlocks) -> Gradient:
    """By the chain rule over correct weight d_j, correct weight above t_j and denominator x_j of each segment."""
    m, T = blocks.weight, blocks.total_weight
    if blocks.total_loss == T:
        return Gradient(np.zeros(len(m)), np.zeros(len(m)))
    d, t, x, log = _f1_segments(blocks)
    level = t - d * x / m
    by_d = 1.0 - x * log / m
    by_x = -d * log / m + level * (1.0 / (x + m) - 1.0 / x)
    by_m = d * x * log / m**2 + level / (x + m)
    later, everywhere = area.below(log), float(np.sum(by_x))
    weight = by_d + by_m + later + area.below(by_x) + everywhere - 0.5 * _f1_auc(blocks)
    return Gradient(weight, -by_d - later - everywhere).scaled(2.0 / T)


@register(
    title="F1-AUC",
    value=_f1_auc,
    gradient=_f1_auc_gradient,
    direction="higher",
    range=(0.0, 0.7149),
    needs={"binary"},
    multi_threshold=True,
    convention="interpolated",
    source="Malinin et al. 2021; Traub et al. 2024, Eq. 11",
)
def f1_auc(
    loss: ArrayLike, confidence: ArrayLike, *, sample_weight: ArrayLike | None = None, nan_policy: NanPolicy = "raise"
) -> float:
    r"""Area under the F1-retention curve: F1 of "accepted" as a prediction of "correct", over coverage.

    .. math:: \int_0^1 \frac{2\,\text{TA}(c)}{c + \text{acc}}\,dc

    with accepted correct share :math:`\text{TA}(c)`, which grows evenly inside a tie.

    Returns
    -------
    float
        In [0, 0.7149]; higher is better, but the best attainable value itself falls with accuracy above 0.56:
        do not compare classifiers by it. 0 if every prediction is wrong.

    See Also
    --------
    f1_auc_optimal

    Notes
    -----
    Ties give the mean over random tie breaking of the accepted correct share. The integral is exact, so the
    best ranking reaches :func:`f1_auc_optimal` at any sample size.

    References
    ----------
    Malinin et al. (2021), Shifts. Traub et al. (2024), NeurIPS: A.1.3.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.f1_auc([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), 6)
    0.607782
    """


def f1_auc_optimal(accuracy: float) -> float:
    r"""F1-AUC of a perfect ranking: :math:`2\,\text{acc}\,[1 + \ln(\tfrac14 (1 + 1/\text{acc}))]`.

    Parameters
    ----------
    accuracy : float in [0, 1]

    Returns
    -------
    float
        In [0, 0.7149]. It rises with accuracy up to about 0.56 and falls beyond: the metric is not monotone.

    Raises
    ------
    ValueError
        An accuracy outside [0, 1].

    References
    ----------
    Traub et al. (2024), NeurIPS: Eq. 11.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.f1_auc_optimal(0.56), 4), round(abstain.f1_auc_optimal(0.9), 4)
    (0.7148, 0.6497)
    """
    a = fraction(accuracy, "accuracy")
    return 2.0 * a * (1.0 + float(np.log(0.25 * (1.0 + 1.0 / a)))) if a > 0.0 else 0.0


@register(
    title="Prediction-rejection ratio",
    image=image_of(naugrc, 1.0, -1.0),
    direction="higher",
    range=(-1.0, 1.0),
    source="Malinin et al. 2020",
)
def prediction_rejection_ratio(
    loss: ArrayLike, confidence: ArrayLike, *, sample_weight: ArrayLike | None = None, nan_policy: NanPolicy = "raise"
) -> float:
    r"""Prediction-rejection ratio: the share of the oracle's gain over random rejection that the score realises.

    .. math:: \text{PRR} = \frac{\bar\ell/2 - \text{AUGRC}}{\bar\ell/2 - \text{AUGRC}^*}

    Returns
    -------
    float
        In [-1, 1]; 1 = the oracle's ranking, 0 = random; higher is better. NaN, with a warning, if all losses
        are equal.

    Notes
    -----
    The rejected samples are answered without error, so the curve is the error-retention curve and its area the
    AUGRC. Ties are accepted together.

    References
    ----------
    Malinin, Ragni & Gales (2020): "Uncertainty estimation in autoregressive structured prediction".

    Examples
    --------
    >>> import abstain
    >>> round(abstain.prediction_rejection_ratio([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), 6)
    0.333333
    """
