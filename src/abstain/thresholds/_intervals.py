"""Intervals of an operating point: exact for counts, from the influence function otherwise, of clusters where given.

They are *pointwise*: they hold for a threshold that was fixed before the data were seen. At a threshold that was chosen
on the same rows they are optimistic, which is why a certificate is something else.
"""

from __future__ import annotations

import numpy as np

from abstain._quantiles import t_quantile
from abstain._sums import over_rows
from abstain._typing import FloatArray
from abstain.curve import SLACK
from abstain.inference import clopper_pearson
from abstain.thresholds._sample import Sample

Ends = tuple[float, float]
#: Of the intervals of a threshold.
LEVEL = 0.95


def coverage_interval(sample: Sample, accepted: FloatArray, level: float) -> Ends:
    """Return the interval of the coverage: exact without weights, else of the ratio of two means."""
    if sample.cluster is not None:  # sums of clusters are independent, rows are not
        size = np.bincount(sample.cluster, sample.weight).astype(np.float64)
        mine = np.bincount(sample.cluster, accepted if sample.weight is None else accepted * sample.weight)
        return _ratio(size, mine / np.where(size > 0.0, size, 1.0), level, 1.0)
    if sample.weight is None:
        return clopper_pearson(int(over_rows(accepted, sample.times)), sample.n, level)
    return _ratio(sample.weight, accepted, level, 1.0, sample.times)


def risk_interval(sample: Sample, accepted: FloatArray, level: float) -> Ends:
    """Return the interval of the selective risk; NaN if nothing is accepted, or if equal losses show no spread."""
    rows = accepted > 0
    loss = sample.loss[rows]
    if loss.size == 0:
        return np.nan, np.nan
    if sample.cluster is not None:
        weight = accepted if sample.weight is None else accepted * sample.weight
        size = np.bincount(sample.cluster, weight).astype(np.float64)
        total = np.bincount(sample.cluster, weight * sample.loss)
        return _ratio(size, total / np.where(size > 0.0, size, 1.0), level, np.inf)
    times = None if sample.times is None else sample.times[rows]
    if sample.binary and sample.weight is None:
        return clopper_pearson(int(over_rows(loss, times)), int(loss.size if times is None else times.sum()), level)
    weight = np.ones(loss.size) if sample.weight is None else sample.weight[rows]
    return _ratio(weight, loss, level, np.inf, times)


def mean_interval(values: FloatArray, level: float) -> Ends:
    """Return the interval of the mean of independent values, each of which counts once."""
    return _ratio(np.ones(len(values)), values, level, np.inf)


def _ratio(
    weight: FloatArray, value: FloatArray, level: float, largest: float, times: FloatArray | None = None
) -> Ends:
    """Return the interval of a weighted mean; ``times``: how many rows each value stands for."""
    known = weight > 0.0  # rows of weight 0 know nothing
    value, weight, times = value[known], weight[known], None if times is None else times[known]
    total, number = over_rows(weight, times), value.size if times is None else over_rows(times)
    if total == 0.0:
        return np.nan, np.nan
    mean = over_rows(weight * value, times) / total
    error = float(np.sqrt(over_rows((weight * (value - mean)) ** 2, times))) / total
    if number > 1 and error <= SLACK * mean:  # no error among a few rows is no proof of a risk of 0
        return np.nan, np.nan
    width = t_quantile(level, number - 1.0) * error if number > 1 else np.inf
    return max(0.0, mean - width), min(largest, mean + width)
