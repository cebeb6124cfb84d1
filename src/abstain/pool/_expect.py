"""What a design is expected to bring: the half-width of an interval, and the labels that a half-width needs."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from abstain._typing import FloatArray, IntArray
from abstain.inference import gradient
from abstain.metrics import Metric
from abstain.pool import _weights
from abstain.pool._interval import gamma_end
from abstain.pool._pool import Pool


class Expected(NamedTuple):
    """Half-width that a plan expects, and how many labels plain evaluation would need for it.

    ``errors``: how many the labels are expected to show; ``room``: the share of the half-width that is kept for one
    that none of them shows.
    """

    halfwidth: float
    plain: float
    errors: float
    room: float

    def facts(self) -> dict[str, float]:
        """Return these by the names that a plan keeps them by."""
        return {f"expected_{name}": value for name, value in self._asdict().items()}


def weights(metric: Metric, pool: Pool, risk: FloatArray) -> FloatArray:
    """Return what an error in each row adds to the metric, where the risk is as guessed."""
    return _weights.per_row(metric, pool.table(pool.sums(risk)), pool)


def expected(metric: Metric, pool: Pool, risk: FloatArray, probability: FloatArray, level: float) -> Expected:
    """Return the half-width that rows drawn with these probabilities are expected to give."""
    per_loss = weights(metric, pool, risk)
    inside = probability > 0.0
    w, r, pi = per_loss[inside], risk[inside], probability[inside]
    variance = float(np.sum(w * w * r * (1.0 - r) * (1.0 / pi - 1.0)))
    n, room = float(pi.sum()), 0.0
    tail = 0.5 + 0.5 * level
    if metric.base.scale == "log" and metric.attribution is not None and metric.image is None:
        value = float(per_loss @ risk)
        unseen = float(np.sum(w * (1.0 - pi))) / n
        square = float(np.sum(pi * (w * (1.0 / pi - 1.0)) ** 2)) / n
        low, high = gamma_end(value, variance, 1.0 - tail), gamma_end(value, variance, tail)
        more = max(gamma_end(value + unseen, variance + square, tail) - high, 0.0)
        halfwidth = 0.5 * (high + more - low)
        room = 0.5 * more / halfwidth if halfwidth > 0.0 else 0.0
    else:
        halfwidth = NormalDist().inv_cdf(tail) * math.sqrt(variance)
    table = pool.table(pool.sums(risk))
    derivative = gradient(metric, table)
    a, b = derivative.weight[pool.block], derivative.loss[pool.block]
    one = pool.n * float(np.sum((a + b * risk) ** 2 + b * b * risk * (1.0 - risk)))
    return Expected(halfwidth, one / variance if variance > 0.0 else math.inf, float(pi @ r), room)


def needed(metric: Metric, pool: Pool, risk: FloatArray, among: IntArray, halfwidth: float, level: float) -> int:
    """Return the fewest uniformly drawn rows whose expected half-width is at most this one."""
    low, high = 0, len(among)
    while high - low > 1:
        middle = (low + high) // 2
        probability = np.zeros(pool.n)
        probability[among] = middle / len(among)
        if expected(metric, pool, risk, probability, level).halfwidth <= halfwidth:
            high = middle
        else:
            low = middle
    return high


def of_difference(square: FloatArray, probability: FloatArray, level: float) -> float:
    """Return the half-width of a difference whose terms have these mean squares."""
    drawn = probability > 0.0
    variance = float(np.sum(square[drawn] * (1.0 / probability[drawn] - 1.0)))
    return NormalDist().inv_cdf(0.5 + 0.5 * level) * math.sqrt(variance)
