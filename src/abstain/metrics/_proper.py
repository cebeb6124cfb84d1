"""Proper scores of the confidence and of the probability vector."""

from __future__ import annotations

import numpy as np

from abstain._checks import fraction
from abstain._sums import inner
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics._declare import register
from abstain.metrics._gradient import Gradient, Predictions

__all__ = ["brier_confidence", "brier_score", "nll", "nll_confidence"]

CLIP = float(np.finfo(np.float64).eps)


def _mean(blocks: TieBlocks, if_right: FloatArray, if_wrong: FloatArray) -> float:
    """Mean of a score that is ``if_right`` for correct and ``if_wrong`` for wrong predictions of each block."""
    total = inner(blocks.weight - blocks.loss, if_right) + inner(blocks.loss, if_wrong)
    return total / blocks.total_weight


def _mean_gradient(blocks: TieBlocks, if_right: FloatArray, if_wrong: FloatArray) -> Gradient:
    T = blocks.total_weight
    return Gradient((if_right - _mean(blocks, if_right, if_wrong)) / T, (if_wrong - if_right) / T)


def _squares(blocks: TieBlocks) -> tuple[FloatArray, FloatArray]:
    return (1.0 - blocks.score) ** 2, blocks.score**2


def _logs(blocks: TieBlocks, clip: float) -> tuple[FloatArray, FloatArray]:
    clip = fraction(clip, "clip", below_one=True)
    with np.errstate(divide="ignore"):
        if_right = -np.log(np.maximum(blocks.score, clip))
        if_wrong = -np.log(np.maximum(1.0 - blocks.score, clip))
    # a block without such samples must not turn 0 * inf into NaN
    largest = np.finfo(np.float64).max
    none_right, none_wrong = blocks.loss == blocks.weight, blocks.loss == 0.0
    return (
        np.where(none_right, np.minimum(if_right, largest), if_right),
        np.where(none_wrong, np.minimum(if_wrong, largest), if_wrong),
    )


def _without_limit(blocks: TieBlocks, clip: float = CLIP) -> str | None:
    ends = [text for score, text in ((blocks.score[0] >= 1.0 - clip, "1"), (blocks.score[-1] <= clip, "0")) if score]
    if not ends:
        return None
    cost = "without limit" if clip <= 0.0 else f"{-np.log(clip):.3g} nats, set by clip"
    return f"a score of {' and of '.join(ends)}: one contradiction there costs {cost}, and none may have been seen"


@register(
    title="Brier (confidence)",
    value=lambda blocks: _mean(blocks, *_squares(blocks)),
    gradient=lambda blocks: _mean_gradient(blocks, *_squares(blocks)),
    direction="lower",
    needs={"unit_score", "binary"},
    scale="log",
    multi_threshold=True,
    convention="mean",
    source="Brier 1950",
)
def brier_confidence(
    loss: ArrayLike, confidence: ArrayLike, *, sample_weight: ArrayLike | None = None, nan_policy: NanPolicy = "raise"
) -> float:
    r"""Brier score of the confidence as a forecast of being right: :math:`\frac1N\sum_i (g_i - (1-\ell_i))^2`.

    Notes
    -----
    A mean over samples: ties do not matter. It rewards calibration as well as ranking.

    References
    ----------
    Brier (1950), Monthly Weather Review.

    Examples
    --------
    >>> import abstain
    >>> abstain.brier_confidence([0, 1], [0.5, 0.5])
    0.25
    """


@register(
    title="NLL (confidence)",
    value=lambda blocks, clip=CLIP: _mean(blocks, *_logs(blocks, clip)),
    doubt=_without_limit,
    gradient=lambda blocks, clip=CLIP: _mean_gradient(blocks, *_logs(blocks, clip)),
    direction="lower",
    range=(0.0, -np.log(CLIP)),
    needs={"unit_score", "binary"},
    scale="log",
    multi_threshold=True,
    convention="mean",
    source="Good 1952",
)
def nll_confidence(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    clip: float = CLIP,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Negative log-likelihood of being right: :math:`-\frac1N\sum_i (1-\ell_i)\ln g_i + \ell_i\ln(1-g_i)`.

    Parameters
    ----------
    clip : float in [0, 1)
        Smallest probability that is taken at face value; 0 lets a confident failure cost infinity.

    Returns
    -------
    float
        In [0, -ln(clip)], in nats; lower is better.

    Notes
    -----
    A mean over samples: ties do not matter. Where confidences saturate at 1 the value depends on ``clip``.

    References
    ----------
    Good (1952), JRSS B.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.nll_confidence([0, 1], [0.5, 0.5]), 6)
    0.693147
    """


def _true(data: Predictions) -> FloatArray:
    """Probability of the true class."""
    return np.asarray(data.probabilities[np.arange(len(data.labels)), data.labels])


def _brier_terms(data: Predictions) -> FloatArray:
    terms = np.sum(data.probabilities**2, axis=1) - 2.0 * _true(data) + 1.0
    return np.asarray(np.maximum(terms, 0.0))  # a sum of squares, but for rounding


def _nll_terms(data: Predictions, clip: float = CLIP) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.maximum(-np.log(np.maximum(_true(data), fraction(clip, "clip", below_one=True))), 0.0)


@register(
    title="Brier score",
    value=lambda data: np.average(_brier_terms(data), weights=data.sample_weight),
    terms=_brier_terms,
    input="probabilities",
    direction="lower",
    range=(0.0, 2.0),
    scale="log",
    convention="sum-over-classes",
    source="Brier 1950",
)
def brier_score(labels: ArrayLike, probabilities: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Brier score of the probability vector: :math:`\frac1N\sum_i\sum_k (p_{ik} - \mathbb 1[y_i = k])^2`.

    Notes
    -----
    Summed over classes, also for two of them (scikit-learn halves that). Ties do not matter.

    References
    ----------
    Brier (1950), Monthly Weather Review.

    Examples
    --------
    >>> import abstain
    >>> abstain.brier_score([0], [[0.75, 0.25]])
    0.125
    """


@register(
    title="NLL",
    value=lambda data, clip=CLIP: np.average(_nll_terms(data, clip), weights=data.sample_weight),
    terms=_nll_terms,
    input="probabilities",
    direction="lower",
    range=(0.0, -np.log(CLIP)),
    scale="log",
    convention="mean",
    source="Good 1952",
)
def nll(
    labels: ArrayLike, probabilities: ArrayLike, *, clip: float = CLIP, sample_weight: ArrayLike | None = None
) -> float:
    r"""Negative log-likelihood of the true class, :math:`-\frac1N\sum_i \ln p_{i y_i}`, in nats per sample.

    Parameters
    ----------
    clip : float in [0, 1)
        Smallest probability that is taken at face value.

    Returns
    -------
    float
        In [0, -ln(clip)]; lower is better. Not divided by the number of classes.

    Notes
    -----
    A mean over samples: ties do not matter.

    References
    ----------
    Good (1952), JRSS B.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.nll([0], [[0.5, 0.5]]), 6)
    0.693147
    """
