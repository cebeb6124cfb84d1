"""``confidence_interval``: all five steps for one metric, or a bootstrap where they do not serve.

The largest coverage at a risk jumps with the sample. Its interval is made of two walks and a binomial.
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
from typing import Literal, NamedTuple

import numpy as np

from abstain._checks import generator, one_of, to_numpy, whole
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.inference._binomial import check_level
from abstain.inference._bootstrap import bootstrap
from abstain.inference._columns import as_metric, evaluated, is_plain, on_columns, tables
from abstain.inference._interval import Interval, no_interval, of_samples
from abstain.inference._resample import INDEPENDENT, Sampling
from abstain.inference._rests_on import rests_on
from abstain.metrics import Metric

__all__ = ["confidence_interval"]


def confidence_interval(
    metric: str | Metric,
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    level: float = 0.95,
    method: Literal["auto", "influence", "percentile", "bca"] = "auto",
    sample_weight: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
    unseen: Literal["random", "top"] = "random",
) -> Interval:
    r"""Return a confidence interval of a metric.

    Areas and other smooth metrics: influence-function standard error, Student's t with the Satterthwaite
    degrees of freedom of that standard error, on the metric's scale,

    .. math:: \theta\,\exp(\mp\, t_{\nu}\,\text{SE}/\theta),\qquad \nu = \frac{2n}{\kappa - 1}

    (log scale for risks and areas, logit for shares, plain for signed values). Metrics that are divided by what
    the losses allow (AUROC_f, normalised areas, prediction-rejection ratio) are, given k errors, like a mean of k
    values: error times k/(k - 1), at most k - 1 degrees of freedom. Risk or accuracy of a 0/1 loss at a fixed
    threshold, or at a coverage where nothing accepted is wrong: Clopper-Pearson. Coverage at a risk of a 0/1 loss: an
    exact walk, with weights one of effective counts. FPR at 95 % and precision-recall areas: bootstrap.

    The end towards the worse reserves room for one error that the sample lacks, at a random row: where the quantile of
    a gamma (log scale) or beta distribution (logit scale), with the mean and the variance of the sample with one more
    error, lies further out, it is the end. Where most rows are confident and nearly flawless this decides. That an
    unseen error is as likely at one row as at another is an assumption, which no sample can test: with
    ``unseen="top"`` it may lie among the most confident rows, where it counts most.

    Where a few clusters hold most rows (their effective number is below 20, and below half of the clusters), the end
    towards the worse of a risk, its areas and accuracies has room for large clusters that are wrong as a whole, if no
    loss exceeds 1: for the largest share of the rows that is wrong where all clusters of a sample are right with the
    probability a. The scores of these clusters are taken to be like those of the others.

    Parameters
    ----------
    metric : str or Metric
    loss : array-like of shape (n_samples,)
        For NLL and Brier score of the probability vector: the labels.
    confidence : array-like of shape (n_samples,)
        For these two: the class probabilities, of shape (n_samples, n_classes).
    level : float in (0, 1)
    method : {"auto", "influence", "percentile", "bca"}
        ``"auto"``: as above. ``"influence"``: the same without a bootstrap, and an error where one is needed.
    sample_weight, strata, clusters : array-like of shape (n_samples,), optional
        As in :func:`standard_error`.
    n_resamples, rng
        For the bootstrap; see :func:`bootstrap`.
    unseen : {"random", "top"}
        Where an error may lie that the sample lacks: as likely at one row as at another, or at the top.

    Returns
    -------
    Interval
        Never a silent NaN: ``warning`` says why there is no interval, or that too few errors inform it.

    Raises
    ------
    UnmetNeed
        The metric needs what the input does not hold.
    ValueError, TypeError
        Bad columns; a level outside (0, 1).

    Notes
    -----
    Ties are exact. Without errors the interval reaches to the two-sided binomial end, because a side chosen by the
    data would cover less than the level; ``warning`` gives the one-sided bound. Hull areas and ECE get no interval:
    their bias exceeds their spread at every sample size.

    References
    ----------
    Efron (1982), infinitesimal jackknife; Clopper & Pearson (1934).

    Examples
    --------
    >>> import abstain
    >>> interval = abstain.confidence_interval("risk", [0, 1, 0, 0] * 25, range(100))
    >>> interval.method, round(interval.low, 4), round(interval.high, 4)
    ('Clopper-Pearson', 0.1688, 0.3466)
    """
    level = check_level(level)
    one_of(method, ("auto", "influence", "percentile", "bca"), "method")
    one_of(unseen, ("random", "top"), "unseen")
    n_resamples, rng = whole(n_resamples, "n_resamples", 2, usual=1000), generator(rng)
    chosen, loss, confidence = on_columns(as_metric(metric), loss, confidence)
    kind = chosen.inference_kind
    if method == "auto" and chosen.tolerated is not None and strata is None and clusters is None:
        interval = of_coverage(chosen, tables(chosen, loss, confidence, sample_weight), level)
        if interval is not None:
            return interval
    if method in ("percentile", "bca") or (method == "auto" and kind == "bootstrap"):
        result = bootstrap(
            chosen,
            loss,
            confidence,
            sample_weight=sample_weight,
            strata=strata,
            clusters=clusters,
            n_resamples=n_resamples,
            rng=rng,
        )
        return result.interval(level, "bca" if method == "bca" else "percentile")
    blocks = tables(chosen, loss, confidence, sample_weight)
    if kind == "none" and method == "auto":
        estimate, reason = chosen.evaluate(blocks)
        why = reason or f"{chosen.name} gets no interval by default: its bias does not vanish compared with its spread"
        return no_interval(estimate, np.nan, level, why)
    return of_samples(chosen, blocks, level, Sampling.of(len(confidence), strata, clusters), top=unseen == "top")


#: Of what may go wrong on one side, the part of the walk; the rest is for the binomial count.
WALK = 0.8
#: So many thresholds are looked at, and of them so many tried, at once.
PART, CHUNK = 65_536, 256
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
    rests = rests_on(blocks, INDEPENDENT)
    return Interval(low, high, estimate, math.nan, level, method, math.inf, rests.note, rests)


def counted(blocks: TieBlocks) -> Counts:
    """Return the counts of samples that count once each."""
    accepted = blocks.cumulative_weight
    return Counts(accepted, blocks.cumulative_loss, accepted / blocks.n, np.broadcast_to(float(blocks.n), len(blocks)))


def effective(blocks: TieBlocks) -> Counts:
    """Return the counts of weighted samples with a 0/1 loss that kept them."""
    samples = blocks._kept
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
    return np.asarray(np.minimum(np.where(found > 0.0, found, np.inf), most))


def thinkable(counts: Counts, limit: float, delta: float) -> int:
    """Return the lowest threshold, by its position, whose risk is not refuted to be within the limit; -1 for none."""
    for end in range(len(counts.rows), 0, -PART):  # mostly one of the lowest
        start = max(end - PART, 0)
        rows, errors = counts.rows[start:end], counts.errors[start:end]
        apart = rows * _divergence(errors / rows, limit)
        left = np.flatnonzero(apart <= -math.log(delta))  # Chernoff: elsewhere no tail need be summed
        for last in range(left.size, 0, -CHUNK):
            some = left[max(last - CHUNK, 0) : last]
            possible = some[_tails(errors[some], rows[some], limit) > delta]
            if possible.size:
                return int(start + possible[-1])
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
