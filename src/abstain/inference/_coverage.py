"""The interval of the largest coverage at a risk, which jumps with the sample: two walks and a binomial.

Let t* be the lowest threshold whose risk is within the limit r, and c* its coverage.

- Upper end. From the lowest threshold upwards, each set of accepted samples is tested for a risk above r (binomial).
  The walk ends at the first that is not refuted. One of the sets is the one above t*: its samples are independent with
  a mean loss of at most r, so the walk passes it with no more than the level of a single test.
- Lower end. L(t) = sum_j w_j prod_{above t} (1 - theta_j (l - r)), with fixed stakes theta_j. Where the risk is at
  least r, L is never above a nonnegative martingale of mean 1, at all thresholds together; so it reaches 1/delta at a
  threshold below t* with a chance of delta at most (Ville).
- t* is fixed, so how many samples lie above it is binomial, and the counts at both ends bound c* (Clopper-Pearson).

That is exact. Weighted samples have as many *effective* samples as would show the same variance, of the risk and of the
coverage, but never more than (sum w)^2 / sum w^2 (Kish); the rest of Korn & Graubard's (1998) interval is the same.
That is approximate; docs/interval-coverage.md has its simulations.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from abstain._checks import to_numpy
from abstain._typing import FloatArray
from abstain.blocks import TieBlocks
from abstain.inference._columns import evaluated, is_plain
from abstain.inference._interval import Interval
from abstain.metrics import Metric

#: Of what may go wrong on one side, the part of the walk; the rest is for the binomial count.
WALK = 0.8
#: So many thresholds are looked at, and of them so many tried, at once.
PART, CHUNK = 65_536, 256
#: So many tails are asked for first: it is mostly one of the lowest.
FEW = 8
#: Stakes, as shares of the largest that is allowed.
STAKES = np.array([0.98, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05])


class Counts(NamedTuple):
    """Per threshold: samples above it and errors among them; its coverage, and of how many samples that is a share."""

    rows: FloatArray
    errors: FloatArray
    coverage: FloatArray
    of: FloatArray


def of_coverage(metric: Metric, blocks: TieBlocks, level: float, estimate: float | None = None) -> Interval | None:
    """Return the interval of the largest coverage at a risk; None for any other metric or loss.

    ``estimate``: the metric's value on this table, where it is known.
    """
    limit = None if metric.tolerated is None else float(metric.tolerated(**metric.settings))
    plain = is_plain(blocks)
    if limit is None or not (plain or (blocks.binary and blocks.samples is not None)):
        return None
    estimate, side = evaluated(metric, blocks).value if estimate is None else estimate, 0.5 * (1.0 - level)
    method = "exact walk" if plain else "walk of effective counts"
    if limit >= 1.0:
        return Interval(1.0, 1.0, estimate, 0.0, level, method, math.inf)
    counts, part = counted(blocks) if plain else effective(blocks), (1.0 - WALK) * side
    from scipy.special import betaincinv

    least, most = certain(counts, limit, WALK * side), thinkable(counts, limit, WALK * side)
    low, high = 0.0, 1.0
    if least >= 0:
        k, n = counts.coverage[least] * counts.of[least], counts.of[least]
        low = float(betaincinv(k, max(n - k, 0.0) + 1.0, part))
    k, n = (counts.coverage[most] * counts.of[most], counts.of[most]) if most >= 0 else (0.0, counts.of[-1])
    if n - k > 1e-9 * n:
        high = float(betaincinv(k + 1.0, n - k, 1.0 - part))
    return Interval(low, high, estimate, math.nan, level, method, math.inf)


def counted(blocks: TieBlocks) -> Counts:
    """Return the counts of samples that count once each."""
    accepted = blocks.cumulative_weight
    return Counts(accepted, blocks.cumulative_loss, accepted / blocks.n, np.broadcast_to(float(blocks.n), len(blocks)))


def effective(blocks: TieBlocks) -> Counts:
    """Return the counts of weighted samples with a 0/1 loss that kept them."""
    samples = blocks.samples
    assert samples is not None
    assert samples.sample_weight is not None
    weight, block = to_numpy(samples.sample_weight), to_numpy(samples.block)
    squares = weight**2 if samples.times is None else samples.times * weight**2
    square = np.cumsum(np.bincount(block, squares, len(blocks)))
    wrong = np.cumsum(np.bincount(block, squares * to_numpy(samples.loss), len(blocks)))
    accepted, total = blocks.cumulative_weight, blocks.total_weight
    risk, coverage = blocks.cumulative_loss / accepted, accepted / total
    spread = (wrong * (1.0 - risk) ** 2 + np.maximum(square - wrong, 0.0) * risk**2) / accepted**2
    rows = _fewer(risk, spread, accepted**2 / square)
    apart = ((1.0 - coverage) ** 2 * square + coverage**2 * np.maximum(square[-1] - square, 0.0)) / total**2
    return Counts(rows, risk * rows, coverage, _fewer(coverage, apart, total**2 / square[-1]))


def _fewer(share: FloatArray, variance: FloatArray, most: FloatArray | float) -> FloatArray:
    """Return how many samples show a share with this variance, at most so many."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(variance > 0.0, share * (1.0 - share) / variance, np.inf)
    result: FloatArray = np.minimum(np.where(found > 0.0, found, np.inf), most)
    return result


def thinkable(counts: Counts, limit: float, delta: float) -> int:
    """Return the lowest threshold, by its position, whose risk is not refuted to be within the limit; -1 for none."""
    for end in range(len(counts.rows), 0, -PART):  # mostly one of the lowest
        start = max(end - PART, 0)
        rows, errors = counts.rows[start:end], counts.errors[start:end]
        apart = rows * _divergence(errors / rows, limit)
        left = np.flatnonzero(apart <= -math.log(delta))  # Chernoff: elsewhere no tail need be summed
        left = left[_excess(errors[left], rows[left], limit) - apart[left] >= math.log(delta) - 1e-9]
        last, size = left.size, FEW
        while last > 0:
            some = left[max(last - size, 0) : last]
            possible = some[_tails(errors[some], rows[some], limit) > delta]
            if possible.size:
                return int(start + possible[-1])
            last, size = last - size, CHUNK
    return -1


def certain(counts: Counts, limit: float, delta: float) -> int:
    """Return the lowest threshold, by its position, whose risk is certified to be within the limit; -1 for none.

    No stake wins more than the divergence of the seen risk from the limit, so stakes are tried where that is enough.
    """
    stakes = STAKES / (1.0 - limit)
    right, wrong = np.log1p(stakes * limit), np.log1p(-stakes * (1.0 - limit))
    for last in range(len(counts.rows), 0, -PART):  # mostly one of the lowest
        first = max(last - PART, 0)
        share = 1.0 - counts.errors[first:last] / counts.rows[first:last]
        most = counts.rows[first:last] * _divergence(share, 1.0 - limit)
        tried = first + np.flatnonzero(most >= -math.log(delta) - 1e-6)
        for end in range(tried.size, 0, -CHUNK):
            some = tried[max(end - CHUNK, 0) : end]
            errors = counts.errors[some, None]
            logs = (counts.rows[some, None] - errors) * right + errors * wrong
            highest = logs.max(axis=1)
            wealth = highest + np.log(np.mean(np.exp(logs - highest[:, None]), axis=1))
            kept = some[wealth >= -math.log(delta)]
            if kept.size:
                return int(kept[-1])
    return -1


def _excess(errors: FloatArray, rows: FloatArray, limit: float) -> FloatArray:
    """Return what takes the exponent of Chernoff's bound on the tail of whole counts closer to it; 0 for others.

    Stirling's bound on the first term of the tail, sqrt(n / (2 pi k (n - k))), times the geometric series above it.
    """
    right = rows - errors
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = right * limit / ((errors + 1.0) * (1.0 - limit))
        found = 0.5 * np.log(rows / (2.0 * math.pi * errors * right)) - np.log1p(-ratio)
    whole = (errors == np.floor(errors)) & (rows == np.floor(rows)) & (errors > limit * rows)
    return np.where(whole & (right > 0.0) & (ratio < 1.0), np.minimum(found, 0.0), 0.0)


def _divergence(share: FloatArray, limit: float) -> FloatArray:
    """Return how far shares above the limit are from it, in nats; 0 for any other."""
    result = np.zeros_like(share)
    above = np.flatnonzero(share > limit)
    share = share[above]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = share * np.log(share / limit)
        result[above] = found + np.where(share < 1.0, (1.0 - share) * np.log((1.0 - share) / (1.0 - limit)), 0.0)
    return result


def _tails(errors: FloatArray, rows: FloatArray, risk: float) -> FloatArray:
    """Return the chance of at least so many errors among so many rows."""
    from scipy.special import betainc

    found = betainc(np.maximum(errors, 1e-300), np.maximum(rows - errors, 0.0) + 1.0, risk)
    return np.where(errors > 0.0, found, 1.0)
