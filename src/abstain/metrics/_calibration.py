"""Calibration: does a confidence of 0.8 mean 80 % right? Binned errors and the reliability curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from abstain._checks import one_of, whole
from abstain._sums import inner
from abstain._typing import ArrayLike, FloatArray, IntArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics._declare import documented, metric_of, register
from abstain.metrics._gradient import Gradient, Predictions, clipped

__all__ = ["classwise_ece", "ece", "mce", "reliability_curve"]

Binning = Literal["equal_width", "equal_mass"]

#: A score this far above an edge, relative to it, is on it: float32 rounds .8 upwards, and float64 downwards.
FLOAT32 = 2.0**-24

#: More bins than this are no bins.
MOST_BINS = 1_000_000


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Mean confidence and accuracy per non-empty bin; every sample is in exactly one bin.

    ``confidence``, ``accuracy``, ``weight`` (share of the population) and ``count`` (rows) have shape (n_bins,);
    ``n_bins`` may be smaller than ``bins``, the number that was asked for.

    Examples
    --------
    >>> import abstain
    >>> curve = abstain.reliability_curve([0, 1, 0], [1.0, 0.7, 0.7], bins=2)
    >>> curve.n_bins, curve.accuracy.round(3)
    (1, array([0.667]))
    """

    confidence: FloatArray
    accuracy: FloatArray
    weight: FloatArray
    count: FloatArray
    bins: int

    @property
    def n_bins(self) -> int:
        """Number of non-empty bins."""
        return len(self.weight)

    @property
    def gap(self) -> FloatArray:
        """Accuracy minus confidence: positive = under-confident."""
        return self.accuracy - self.confidence


def _starts(blocks: TieBlocks, bins: int, binning: Binning) -> IntArray:
    """The first block of each bin that holds any, the most confident bin first.

    Equal width: right-closed to float32, 0 in the first. Equal mass: a block goes where its mid-rank lies.
    """
    bins = whole(bins, "bins")
    if bins > MOST_BINS:
        raise ValueError(f"bins must be at most {MOST_BINS}, got {bins}; 15 is usual")
    if one_of(binning, ("equal_width", "equal_mass"), "binning") == "equal_width":
        edges = np.arange(1, bins) / bins * (1.0 + FLOAT32)  # linspace rounds twice: its 5/6 is below 5/6
        above = len(blocks) - np.searchsorted(blocks.score[::-1], edges[::-1], side="right")
        starts, ends = np.append(0, above), np.append(above, len(blocks))
        return starts[starts < ends]
    below = blocks.total_weight - blocks.cumulative_weight
    bin_of = np.minimum(np.floor((below + 0.5 * blocks.weight) * bins / blocks.total_weight), bins - 1)
    return np.append(0, np.flatnonzero(np.diff(bin_of)) + 1)


def _curve(blocks: TieBlocks, bins: int, binning: Binning) -> ReliabilityCurve:
    starts = _starts(blocks, bins, binning)

    def per_bin(column: FloatArray) -> FloatArray:
        return np.add.reduceat(column, starts)[::-1]

    weight, filled = per_bin(blocks.weight), per_bin(blocks.count) > 0
    weight_in = weight[filled]
    return ReliabilityCurve(
        confidence=per_bin(blocks.weight * blocks.score)[filled] / weight_in,
        accuracy=per_bin(blocks.weight - blocks.loss)[filled] / weight_in,
        weight=weight_in / blocks.total_weight,
        count=per_bin(blocks.count)[filled],
        bins=int(bins),
    )


@documented
def reliability_curve(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int = 15,
    binning: Binning = "equal_width",
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> ReliabilityCurve:
    """Return mean confidence and accuracy per bin of confidence.

    Parameters
    ----------
    bins : int
    binning : {"equal_width", "equal_mass"}
        Right-closed bins of equal width, or bins of equal weight in which a tie goes whole to one bin.

    Returns
    -------
    ReliabilityCurve

    Raises
    ------
    UnmetNeed
        Confidences outside [0, 1]; losses above 1.
    ValueError, TypeError
        Bad columns or bins.

    References
    ----------
    Guo et al. (2017), ICML.

    Examples
    --------
    >>> import abstain
    >>> abstain.reliability_curve([0, 1, 0, 0], [0.9, 0.9, 0.6, 0.6], bins=10).accuracy
    array([1. , 0.5])
    """
    blocks = TieBlocks.from_samples(loss, confidence, sample_weight, nan_policy=nan_policy, oracle=True)
    metric_of(ece).require(blocks)
    return _curve(clipped(blocks)[0], bins, binning)


def reliability_of(blocks: TieBlocks, bins: int = 15, binning: Binning = "equal_width") -> ReliabilityCurve:
    """Return the reliability curve of a table."""
    return _curve(clipped(blocks)[0], bins, binning)


def _ece(blocks: TieBlocks, bins: int = 15, binning: Binning = "equal_width") -> float:
    curve = _curve(blocks, bins, binning)
    return inner(curve.weight, np.abs(curve.gap))


def _ece_gradient(blocks: TieBlocks, bins: int = 15, binning: Binning = "equal_width") -> Gradient:
    """Derivative with the bins held fixed; none where a gap is 0."""
    starts, T = _starts(blocks, bins, binning), blocks.total_weight
    gap = np.add.reduceat(blocks.weight * (1.0 - blocks.score) - blocks.loss, starts)
    sign = np.repeat(np.sign(gap), np.diff(starts, append=len(blocks)))
    return Gradient((sign * (1.0 - blocks.score) - _ece(blocks, bins, binning)) / T, -sign / T)


@register(
    title="ECE",
    value=_ece,
    gradient=_ece_gradient,
    direction="lower",
    needs={"unit_score", "unit_loss"},
    inference="none",
    convention="binning",
    source="Guo et al. 2017",
)
def ece(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int = 15,
    binning: Binning = "equal_width",
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Expected calibration error of the confidence (top label): mean gap between accuracy and confidence.

    .. math:: \text{ECE} = \sum_b \frac{W_b}{W}\,\lvert \text{acc}_b - \text{conf}_b\rvert

    Notes
    -----
    Every sample is in exactly one bin (0 in the first, 1 in the last, an edge of k/bins in the lower one, also where
    float32 rounds it upwards), ties stay together. Heavy ties can leave
    fewer bins of equal mass than asked: see :func:`reliability_curve`. The estimate is biased upwards, by several
    standard errors for a calibrated model, so it gets no interval by default.

    References
    ----------
    Naeini, Cooper & Hauskrecht (2015), AAAI. Guo et al. (2017), ICML.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.ece([0, 1, 0, 0], [0.9, 0.9, 0.6, 0.6], bins=10), 6)
    0.4
    """


@register(
    title="MCE",
    value=lambda blocks, bins=15, binning="equal_width": np.max(np.abs(_curve(blocks, bins, binning).gap)),
    direction="lower",
    needs={"unit_score", "unit_loss"},
    inference="none",
    convention="binning",
    source="Naeini et al. 2015",
)
def mce(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    bins: int = 15,
    binning: Binning = "equal_width",
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Maximum calibration error: the largest gap of any bin, :math:`\max_b |\text{acc}_b - \text{conf}_b|`.

    Notes
    -----
    Ties stay in one bin. A bin with a single sample can decide the value.

    References
    ----------
    Naeini, Cooper & Hauskrecht (2015), AAAI.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.mce([0, 1, 0, 0], [0.9, 0.9, 0.6, 0.6], bins=10), 6)
    0.4
    """


def _classwise_ece(data: Predictions, bins: int = 15, binning: Binning = "equal_width") -> float:
    errors = []
    for k in range(data.probabilities.shape[1]):
        absent = (data.labels != k).astype(np.float64)
        errors.append(_ece(TieBlocks.from_samples(absent, data.probabilities[:, k], data.sample_weight), bins, binning))
    return float(np.mean(errors))


@register(
    title="Class-wise ECE",
    value=_classwise_ece,
    input="probabilities",
    direction="lower",
    inference="none",
    convention="binning",
    source="Kull et al. 2019",
)
def classwise_ece(
    labels: ArrayLike,
    probabilities: ArrayLike,
    *,
    bins: int = 15,
    binning: Binning = "equal_width",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Class-wise calibration error: the ECE of each class probability as a forecast of that class, averaged.

    .. math:: \frac1K\sum_k \text{ECE}\bigl(\mathbb 1[y = k],\,p_k\bigr)

    Returns
    -------
    float
        In [0, 1]; lower is better. Small for many classes, because most probabilities are near 0.

    Notes
    -----
    Ties stay in one bin.

    References
    ----------
    Kull et al. (2019), NeurIPS.

    Examples
    --------
    >>> import abstain
    >>> abstain.classwise_ece([0, 1], [[0.75, 0.25], [0.25, 0.75]])
    0.25
    """
