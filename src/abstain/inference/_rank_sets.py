r"""Confidence sets of ranks: which ranks a score may have, for all scores at once.

All pairs are tested at once, by the largest of their standardised differences and in steps: what is rejected leaves,
and the others are tested among themselves. If no true null is rejected and no sign is wrong, which has the probability
``level``, each significant step of a pair is true. The rank of score j among J is then

.. math:: 1 + \#\{i \text{ significantly better than } j\} \le \text{rank}_j
          \le J - \#\{i \text{ significantly worse than } j\},

for all j together. Scores that are nearly equal have wide sets, as they must. (Of equal scores the rank is any of
those that they share.)

Sources: Mogstad, Romano, Shaikh & Wilhelm (2024); steps: Romano & Wolf (2005).
"""

from __future__ import annotations

import numpy as np

from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.inference._paired import Paired
from abstain.inference._runs import covariance_of_runs

#: Normal draws, at most and at least, and numbers that are held at once.
DRAWS, FEWEST, MOST = 20_000, 2000, 20_000_000


def rank_sets(tests: Paired, level: float, together: bool, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the smallest and the largest rank of each score, in the order of the names; 1 is the best."""
    estimates = tests.estimates
    n = len(estimates.names)
    place = {name: k for k, name in enumerate(estimates.names)}
    pairs = np.array([(place[each.a], place[each.b]) for each in tests.differences], dtype=np.intp).reshape(-1, 2)
    statistic = np.array([_normal(each.p_value, each.difference) for each in tests.differences])
    terms = estimates.mean_terms
    covariance = terms.T @ terms + covariance_of_runs(estimates.values, together)
    rejected = _stepdown(statistic, covariance, pairs, level, rng)
    sign = 1.0 if estimates.metric.direction == "higher" else -1.0
    better = np.zeros((n, n), dtype=np.bool_)
    for (i, j), value in zip(pairs[rejected].tolist(), statistic[rejected].tolist(), strict=True):
        first, second = (i, j) if sign * value > 0.0 else (j, i)
        better[first, second] = True
    return 1 + better.sum(axis=0), n - better.sum(axis=1)


def _normal(p_value: float, difference: float) -> float:
    """Return the normal quantile of a two-sided p-value, so that tests with few degrees of freedom may stand beside."""
    from scipy.special import ndtri

    if np.isnan(p_value):
        return 0.0
    return float(np.sign(difference) * -ndtri(max(p_value, 1e-300) / 2.0))


def _stepdown(
    statistic: FloatArray, covariance: FloatArray, pairs: IntArray, level: float, rng: np.random.Generator
) -> BoolArray:
    """Return which differences are rejected, by the largest of those that are left."""
    from scipy.special import ndtri

    i, j = pairs.T
    spread = np.sqrt(np.maximum(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j], 0.0))
    varies = spread > 1e-12 * np.sqrt(max(float(np.max(np.diag(covariance))), np.finfo(float).tiny))
    alone = ndtri(0.5 + 0.5 * level)  # no critical value of several is below that of one
    size, rejected, draws = np.abs(statistic), np.zeros(len(pairs), dtype=np.bool_), None
    while (large := ~rejected & varies & (size > alone)).any():
        draws = draws or _Draws(covariance, int(np.clip(MOST // len(pairs), FEWEST, DRAWS)), rng)
        left = np.flatnonzero(~rejected & varies)
        large[large] = draws.exceeded(size[large], pairs[left].tolist(), spread[left].tolist(), level)
        if not large.any():
            break
        rejected |= large
    return rejected


class _Draws:
    """Normal draws of this covariance: a tenth of them first, which mostly tell."""

    def __init__(self, covariance: FloatArray, n: int, rng: np.random.Generator) -> None:
        values, vectors = np.linalg.eigh(covariance)
        self.root, self.numbers, self.rng = vectors * np.sqrt(np.maximum(values, 0.0)), (FEWEST, n), rng
        self.drawn: list[FloatArray] = []

    def exceeded(self, size: FloatArray, pairs: list[list[int]], spread: list[float], level: float) -> BoolArray:
        """Return which sizes exceed the quantile of the largest standardised difference of a draw."""
        for k, n in enumerate(self.numbers):
            if len(self.drawn) == k:
                self.drawn.append(self.root @ self.rng.standard_normal((len(self.root), n)))
            largest = _largest(self.drawn[k], pairs, spread)
            away = 5.0 * np.sqrt(level * (1.0 - level) / n)  # standard errors of the level
            if k == 0 and level + away < 1.0:
                low, high = np.quantile(largest, (max(level - away, 0.0), level + away))
                if not ((low <= size) & (size <= high)).any():
                    break
        return np.asarray(size > np.quantile(largest, level))


def _largest(drawn: FloatArray, pairs: list[list[int]], spread: list[float]) -> FloatArray:
    """Return the largest standardised difference of each draw, one pair after the other, so that the cache holds it."""
    largest, apart = np.zeros(drawn.shape[1]), np.empty(drawn.shape[1])
    for (i, j), scale in zip(pairs, spread, strict=True):
        np.subtract(drawn[i], drawn[j], out=apart)
        np.abs(apart, out=apart)
        apart /= scale
        np.maximum(largest, apart, out=largest)
    return largest
