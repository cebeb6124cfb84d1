"""The exact interval of the largest coverage at a risk, which jumps with the sample: two walks and a binomial.

Let t* be the lowest threshold whose risk is within the limit r, and c* its coverage.

- Upper end. From the lowest threshold upwards, each set of accepted samples is tested for a risk above r (binomial).
  The walk ends at the first that is not refuted. One of the sets is the one above t*: its samples are independent with
  a mean loss of at most r, so the walk passes it with no more than the level of a single test.
- Lower end. L(t) = sum_j w_j prod_{above t} (1 - theta_j (l - r)), with fixed stakes theta_j. Where the risk is at
  least r, L is never above a nonnegative martingale of mean 1, at all thresholds together; so it reaches 1/delta at a
  threshold below t* with a chance of delta at most (Ville).
- t* is fixed, so how many samples lie above it is binomial, and the counts at both ends bound c* (Clopper-Pearson).
"""

from __future__ import annotations

import math

import numpy as np

from abstain._quantiles import beta_cdf
from abstain._typing import FloatArray
from abstain.blocks import TieBlocks
from abstain.inference._binomial import clopper_pearson
from abstain.inference._columns import evaluated, is_plain
from abstain.inference._interval import Interval
from abstain.metrics import Metric

#: Of what may go wrong on one side, the part of the walk; the rest is for the binomial count.
WALK = 0.8
#: Stakes, as shares of the largest that is allowed.
STAKES = np.array([0.98, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05])


def of_coverage(metric: Metric, blocks: TieBlocks, level: float) -> Interval | None:
    """Return the interval of the largest coverage at a risk; None for any other metric, and where rows are weighted."""
    limit = None if metric.tolerated is None else float(metric.tolerated(**metric.settings))
    if limit is None or not is_plain(blocks):
        return None
    estimate, side = evaluated(metric, blocks).value, 0.5 * (1.0 - level)
    if limit >= 1.0:
        return Interval(1.0, 1.0, estimate, 0.0, level, "exact walk", math.inf)
    count = 1.0 - (1.0 - WALK) * side
    low = clopper_pearson(certain(blocks, limit, WALK * side), blocks.n, count, side="lower")[0]
    high = clopper_pearson(thinkable(blocks, limit, WALK * side), blocks.n, count, side="upper")[1]
    return Interval(low, high, estimate, math.nan, level, "exact walk", math.inf)


def thinkable(blocks: TieBlocks, limit: float, delta: float) -> int:
    """Return how many samples the lowest threshold accepts whose risk is not refuted to be within the limit."""
    accepted, errors = blocks.cumulative_weight, blocks.cumulative_loss
    surely = accepted * _divergence(errors / accepted, limit) > -math.log(delta)  # Chernoff: no tail need be summed
    for k in np.flatnonzero(~surely)[::-1].tolist():
        if _tail(int(errors[k]), int(accepted[k]), limit) > delta:
            return int(accepted[k])
    return 0


def certain(blocks: TieBlocks, limit: float, delta: float) -> int:
    """Return how many samples the lowest threshold accepts whose risk is certified to be within the limit.

    No stake wins more than the divergence of the seen risk from the limit, so stakes are tried where that is enough.
    """
    stakes = STAKES / (1.0 - limit)
    right, wrong = np.log1p(stakes * limit), np.log1p(-stakes * (1.0 - limit))
    accepted, lost = blocks.cumulative_weight, blocks.cumulative_loss
    most = accepted * _divergence(1.0 - lost / accepted, 1.0 - limit)
    tried = np.flatnonzero(most >= -math.log(delta) - 1e-6)
    errors = lost[tried, None]
    logs = (accepted[tried, None] - errors) * right + errors * wrong
    highest = logs.max(axis=1)
    wealth = highest + np.log(np.mean(np.exp(logs - highest[:, None]), axis=1))
    kept = tried[wealth >= -math.log(delta)]
    return 0 if kept.size == 0 else int(accepted[kept[-1]])


def _divergence(share: FloatArray, limit: float) -> FloatArray:
    """Return how far shares above the limit are from it, in nats; 0 for any other."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = share * np.log(share / limit)
        found = found + np.where(share < 1.0, (1.0 - share) * np.log((1.0 - share) / (1.0 - limit)), 0.0)
    result: FloatArray = np.where(share > limit, found, 0.0)
    return result


def _tail(errors: int, n: int, risk: float) -> float:
    """Return the chance of at least so many errors among n."""
    if errors == 0:
        return 1.0
    return beta_cdf(risk, errors, n - errors + 1) if risk > 0.0 else 0.0
