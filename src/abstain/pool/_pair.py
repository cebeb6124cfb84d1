r"""Two models, or two scores of one model, from the same few labels.

The difference of a linear metric is a sum over rows of :math:`d = w^A\ell^A - w^B\ell^B`. Where both predict alike the
losses are one, and d is small; where they differ at least one of them is wrong. Both is known before any label, and
says which rows to label. As for one score the estimate is unbiased whatever is guessed of d; how much of the guess is
used (:math:`\lambda` in [0, 1]) is chosen so that the variance is least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from abstain._checks import UnmetNeed
from abstain._quantiles import t_quantile, t_tails
from abstain._typing import BoolArray, FloatArray
from abstain.inference import Difference
from abstain.metrics import Metric
from abstain.pool._estimate import Sample, per_row
from abstain.pool._pool import Pool, expit, fit, generic

#: Where predictions differ: how often A alone is wrong, B alone, and both.
ALONE, BOTH = 0.45, 0.1
#: Where predictions agree: both are wrong in so many times the share of rows where they differ, if nothing is known.
SHARED = 0.5
#: How far that risk is drawn to its mean, so that confident errors which both share are looked for.
LEVELLED = 0.1
#: Share of probabilities that is the same for all rows.
FLOOR = 0.15
#: Degrees of freedom per label, and parameters that the guess has fitted.
DF, FITTED = 0.4, 4.0
#: Priors of "this model is right, where they differ": intercept and slope on the difference of ranks.
_MEANS, _SPREADS = np.array([-0.2, 0.5]), np.array([1.5, 1.0])
#: Fewer rows that can move the difference are too few for its interval.
FEW = 10


@dataclass(frozen=True, eq=False)
class Pair:
    """Two scores of the same rows, and where the predictions differ (nowhere, if one model has both scores)."""

    a: Pool
    b: Pool
    differs: BoolArray

    @cached_property
    def rank(self) -> FloatArray:
        """Mean of the two normal scores."""
        return np.asarray(0.5 * (self.a.rank + self.b.rank))

    def weights(self, metric: Metric) -> tuple[FloatArray, FloatArray]:
        """Return what an error of A and one of B add to the metric, per row; linear metrics alone have such weights."""
        if metric.attribution is None:
            raise UnmetNeed(
                f"{metric.name} is no sum over rows, so a plan does not compare two of it; ask for augrc, aurc, sele, "
                "risk or a risk at a coverage"
            )
        first, second = (per_row(metric, pool.table(pool.blocks.loss), pool) for pool in (self.a, self.b))
        return first, second

    def sizes(self, metric: Metric, error_rate: float | None) -> FloatArray:
        """Return the root of what d^2 is expected to be: probabilities in proportion need fewest labels."""
        first, second = self.weights(metric)
        share = float(self.differs.mean())
        known = SHARED * share if error_rate is None and share > 0.0 else error_rate
        risk = generic(self.rank, known)
        risk = LEVELLED * risk.mean() + (1.0 - LEVELLED) * risk
        square = (first - second) ** 2
        apart = ALONE * (first**2 + second**2) + BOTH * square
        return np.sqrt(np.where(self.differs, apart, square * risk * (1.0 - risk)))


def contrast(
    metric: Metric, pair: Pair, sample: Sample, other: FloatArray, level: float, names: tuple[str, str] = ("A", "B")
) -> Difference:
    """Return the difference of a metric, A minus B, from labelled rows; ``other``: the losses of B in these rows."""
    first, second = pair.weights(metric)
    rows = sample.rows
    d = first[rows] * sample.loss - second[rows] * other
    if sample.complete:
        value = float(d.sum())
        p = 1.0 if value == 0.0 else 0.0
        return Difference(*names, value, value, value, 0.0, 0.0, math.nan, math.inf, p, p, p < 1.0 - level, None)
    guess = _guess(pair, first, second, sample, other)
    shares = _tuned(sample, d, guess[rows])
    value = shares * float(guess.sum()) + float(sample.expansion @ (d - shares * guess[rows]))
    unseen = (sample.expansion - 1.0) * np.where(pair.differs[rows], 0.0, first[rows] - second[rows])
    variance = sample.variance_of(d - shares * guess[rows], FITTED) + float(np.mean(unseen**2))
    error, df = math.sqrt(variance), max(DF * sample.n, 1.0)
    reach = t_quantile(level, df) * error
    p = 1.0 if value == 0.0 else 0.0 if error == 0.0 else t_tails(value / error, df)
    told = int(np.count_nonzero(d))
    warning = None if told >= FEW else f"only {told} labelled rows move the difference: its interval may be too short"
    ends = value - reach, value + reach
    return Difference(*names, value, *ends, error, error, math.nan, df, p, p, p < 1.0 - level, warning)


def _guess(pair: Pair, first: FloatArray, second: FloatArray, sample: Sample, other: FloatArray) -> FloatArray:
    """Return what d is expected to be in every row, from the labelled ones."""
    rows, weight = sample.rows, sample.expansion
    z = pair.rank
    features = np.stack([np.ones(len(z)), z, z * z - 1.0], axis=1)
    apart = pair.differs[rows]
    risk = np.full(len(z), 0.1)
    if (~apart).any():
        mine = rows[~apart]
        risk = expit(features @ fit(features[mine], sample.loss[~apart], weight[~apart]))
    guess: FloatArray = (first - second) * risk
    if apart.any():
        gap = pair.a.rank - pair.b.rank
        wrong = []
        for sign, loss in ((1.0, sample.loss), (-1.0, other)):
            line = np.stack([np.ones(len(z)), sign * gap], axis=1)
            fitted = fit(line[rows[apart]], 1.0 - loss[apart], weight[apart], _MEANS, _SPREADS)
            wrong.append(1.0 - expit(line @ fitted))
        guess = np.where(pair.differs, first * wrong[0] - second * wrong[1], guess)
    return guess


def _tuned(sample: Sample, d: FloatArray, guess: FloatArray) -> float:
    """Return how much of the guess to use, in [0, 1]: a poor one is worth nothing, and would cost labels."""
    both = zip(sample.centred(d), sample.centred(guess), strict=True)
    cross = square = 0.0
    for (share, f, x), (_, _, y) in both:
        cross += share**2 * float(f @ (x * y))
        square += share**2 * float(f @ (y * y))
    return min(max(cross / square, 0.0), 1.0) if square > 0.0 else 0.0
