"""The grid of T x T quantiles and K coverage bins that papers use: for comparison only, it is not exact.

All T^2 counts come from three histograms of bin indices and their cumulative sums, O(N log T + T^2); a loop over the
pairs gives the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._checks import whole
from abstain._typing import FloatArray
from abstain.joint._problem import Problem, Thresholds
from abstain.joint._quadrants import floors


def steps(number: int | None, name: str) -> int:
    """Return a number of thresholds or bins; there is no default, because results depend on it."""
    if number is None:
        raise TypeError(f"{name} is missing; a grid has no natural size and the value depends on it, so say {name}=...")
    return whole(number, name)


def quantiles(score: FloatArray, T: int) -> FloatArray:
    """Return at most T distinct values of the score at equal steps of rank, descending; the lowest accepts all."""
    return np.unique(np.quantile(score, np.linspace(0.0, 1.0, T), method="lower"))[::-1] if T > 1 else score.min()[None]


def counts(data: Problem, confidence: FloatArray, detector: FloatArray) -> Any:
    """Return the accepted right, wrong and OOD rows of every pair, shape (3, n_confidence, n_detector)."""
    row, column = floors(data.confidence, confidence), floors(data.detector, detector)
    shape = (3, confidence.size + 1, detector.size + 1)
    flat = np.ravel_multi_index((data.kind.astype(np.intp), row, column), shape)
    table = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)[:, :-1, :-1]
    return table.cumsum(axis=1).cumsum(axis=2)


def surface(data: Problem, T: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the thresholds of both scores and F1 of every pair, shape (n_confidence, n_detector)."""
    confidence, detector = quantiles(data.confidence, T), quantiles(data.detector, T)
    right, wrong, outside = counts(data, confidence, detector)
    bottom = data.id_weight * (right + wrong + data.n_id) + data.ood_weight * outside
    return confidence, detector, 2.0 * data.id_weight * right / bottom


def points(data: Problem, T: int) -> tuple[FloatArray, FloatArray]:
    """Return ID coverage and selective risk of every pair of T quantiles that accepts an ID row."""
    right, wrong, outside = counts(data, quantiles(data.confidence, T), quantiles(data.detector, T))
    inside, right, outside = (right + wrong).ravel(), right.ravel(), outside.ravel()
    taken = inside > 0
    inside, right, outside = inside[taken], right[taken], outside[taken]
    return inside / data.n_id, 1.0 - right / (inside + data.ratio * outside)


def grid_f1(data: Problem, T: int) -> Thresholds:
    """Return the best pair of the grid."""
    confidence, detector, value = surface(data, T)
    row, column = np.unravel_index(int(np.argmax(value)), value.shape)
    return Thresholds(float(confidence[row]), float(detector[column]))


def binned_aurc(data: Problem, T: int, K: int) -> float:
    """Return the mean over K bins of coverage of the least risk in ((k-1)/K, k/K]; empty bins are interpolated."""
    coverage, risk = points(data, T)
    least = np.full(K, np.inf)
    np.minimum.at(least, -(-np.rint(coverage * data.n_id).astype(np.intp) * K // data.n_id) - 1, risk)
    bins = np.arange(K)
    filled = np.isfinite(least)
    return float(np.interp(bins, bins[filled], least[filled]).mean())
