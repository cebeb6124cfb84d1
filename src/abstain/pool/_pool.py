"""The pool: the scores of all rows as one table, each row's place in it, and the guess of each row's loss.

The guess is a penalised logistic regression of the loss on the rank of a row (and on a judge). It need not be right:
the difference estimator is unbiased whatever is guessed, and a calibrated guess makes it precise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from abstain._checks import to_numpy
from abstain._typing import ArrayLike, FloatArray, IntArray
from abstain.blocks import TieBlocks


@dataclass(frozen=True, eq=False)
class Pool:
    """All rows of a pool: their table without losses, and of each row its block and its features for the risk model."""

    blocks: TieBlocks
    block: IntArray
    judge: FloatArray | None = None

    @classmethod
    def of(cls, confidence: ArrayLike, judge: FloatArray | None = None) -> Pool:
        """Return the pool of these scores."""
        n = len(confidence)
        blocks = TieBlocks.from_samples(np.zeros(n), confidence, keep_samples=True)
        assert blocks.samples is not None
        return cls(blocks, to_numpy(blocks.samples.block), judge)

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.block)

    @cached_property
    def rank(self) -> FloatArray:
        """Normal score of each block's ascending mid-rank, per row."""
        from scipy.special import ndtri

        blocks = self.blocks
        below = 1.0 - (blocks.cumulative_weight - 0.5 * blocks.weight) / blocks.total_weight
        return np.asarray(ndtri(below)[self.block])

    @cached_property
    def features(self) -> FloatArray:
        """Columns of the risk model: 1, z, z^2 - 1, and for a judge j its word and j z; shape (n, 3 or 5)."""
        z = self.rank
        columns = [np.ones(self.n), z, z * z - 1.0]
        if self.judge is not None:
            columns += [self.judge, self.judge * z]
        return np.stack(columns, axis=1)

    def sums(self, column: FloatArray, rows: IntArray | None = None) -> FloatArray:
        """Return the sums of a column over blocks."""
        block = self.block if rows is None else self.block[rows]
        return np.bincount(block, column, len(self.blocks)).astype(np.float64)

    def table(self, loss: FloatArray) -> TieBlocks:
        """Return the table of the pool with these sums of 0/1 losses, which may be estimates."""
        return replace(self.blocks, loss=loss, samples=None)


#: Gaussian priors of intercept, slope, square, judge and judge x slope: means and standard deviations.
MEANS = np.array([-2.0, -0.8, 0.0, 0.0, 0.0])
SPREADS = np.array([3.0, 0.7, 0.25, 2.0, 0.5])
#: What a judge is taken to be before any label: the risk where it says wrong, and where it says right.
ACCUSED, CLEARED = 0.5, 0.1


def expit(x: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-x))."""
    from scipy import special

    return np.asarray(special.expit(x))


def fit(
    features: FloatArray, loss: FloatArray, weight: FloatArray, means: FloatArray = MEANS, spreads: FloatArray = SPREADS
) -> FloatArray:
    """Return the coefficients at the posterior mode, by Newton's method with step halving, started at the mean risk.

    Rows count by ``weight``, scaled to a mean of 1. Without halving the steps oscillate at high risks, and the estimate
    stays unbiased while it quietly loses precision.
    """
    p = features.shape[1]
    mean, precision = means[:p], 1.0 / spreads[:p] ** 2
    weight = weight / weight.mean()
    share = (weight @ loss + 0.5) / (weight.sum() + 1.0)
    coefficients = np.zeros(p)
    coefficients[0] = np.log(share / (1.0 - share))

    def objective(b: FloatArray) -> float:
        x = features @ b
        return float(weight @ (np.logaddexp(0.0, x) - loss * x) + 0.5 * precision @ (b - mean) ** 2)

    value = objective(coefficients)
    for _ in range(50):
        risk = expit(features @ coefficients)
        slope = features.T @ (weight * (risk - loss)) + precision * (coefficients - mean)
        curvature = (features * (weight * risk * (1.0 - risk))[:, None]).T @ features + np.diag(precision)
        step = np.linalg.solve(curvature, slope)
        size = 1.0
        while size > 1e-6 and (lower := objective(coefficients - size * step)) > value:
            size *= 0.5
        if size <= 1e-6:
            break
        coefficients, gained, value = coefficients - size * step, value - lower, lower
        if gained < 1e-9 * (1.0 + abs(value)):
            break
    return coefficients


def generic(rank: FloatArray, error_rate: float | None = None) -> FloatArray:
    """Return what is expected of a usual score before any label is seen, moved to an error rate if one is known."""
    return expit(-2.0 - 0.8 * rank) if error_rate is None else _with_mean(-0.8 * rank, error_rate)


def guessed(pool: Pool, error_rate: float | None) -> FloatArray:
    """Return the risk of each row before any label: by the judge if there is one, else that of a usual score."""
    if pool.judge is None:
        return generic(pool.rank, error_rate)
    accused = CLEARED + (ACCUSED - CLEARED) * pool.judge
    return accused if error_rate is None else _with_mean(np.log(accused / (1.0 - accused)), error_rate)


def _with_mean(log_odds: FloatArray, mean: float) -> FloatArray:
    """Return risks of this mean, whose log odds are all moved by the same amount."""
    from scipy.optimize import brentq

    shift = brentq(lambda by: float(expit(log_odds + by).mean()) - mean, -80.0, 80.0, xtol=1e-13)
    return expit(log_odds + shift)
