"""Paired tests of all pairs of scores or models from one covariance matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from abstain._quantiles import t_quantile, t_tails
from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.inference._columns import Panel
from abstain.inference._estimates import Estimates, by_bootstrap, by_influence, route_of
from abstain.inference._multiple import holm, max_t
from abstain.inference._rank_tests import swap_test
from abstain.inference._rests_on import EQUAL, HARDLY, RestsOn, effective_number, joined
from abstain.inference._spread import (
    FEW,
    FEW_CLUSTERS,
    SINGLE,
    of_one,
    of_pair,
    over_runs,
    powers_of,
)
from abstain.inference._unseen_pair import DECIDING, with_unseen
from abstain.metrics import Metric

__all__ = ["Difference"]

#: Errors, or right answers, below which ``"auto"`` swaps scores within samples, how often, and for how many samples
#: times pairs at most.
FEW_ERRORS, SWAPS, SMALL = 100.0, 1999, 5000
#: Swaps as extreme as what was seen after which no more are made: a p-value is then above 0.1.
ENOUGH = 200

#: Intervals of a coverage at a risk that hold for every population.
WALKS = ("exact walk", "walk of effective counts")

Adjust = Literal["holm", "max-t", "none"]
Method = Literal["auto", "influence", "bootstrap", "permutation"]


class Difference(NamedTuple):
    """A paired difference of a metric between two scores or models, ``a`` minus ``b``.

    ``low``, ``high``: interval of the plain difference (simultaneous over all pairs with ``adjust="max-t"``);
    ``standard_error`` with its parts ``error_test`` (test set) and ``error_runs`` (training; NaN for one run);
    ``df``: degrees of freedom; ``p_value``, and ``p_adjusted`` for all pairs; ``significant``;
    ``warning``: None, or what the reader must know; ``rests_on``: the effective number of independent units behind it,
    with what they are.

    Examples
    --------
    >>> import abstain
    >>> loss, a, b = [0] * 150 + [1] * 50, [-(k % 90) for k in range(200)], [k * 77 % 200 for k in range(200)]
    >>> first, = abstain.compare(loss, {"a": a, "b": b}).differences
    >>> round(first.difference, 4), round(first.p_value, 2), first.significant
    (-0.0238, 0.09, False)
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    standard_error: float
    error_test: float
    error_runs: float
    df: float
    p_value: float
    p_adjusted: float
    significant: bool
    warning: str | None = None
    rests_on: RestsOn | None = None

    def swapped(self) -> Difference:
        """Return ``b`` minus ``a``."""
        return self._replace(a=self.b, b=self.a, difference=-self.difference, low=-self.high, high=-self.low)


@dataclass(frozen=True, eq=False)
class Paired:
    """Estimates with all pairwise differences, in the order of the names."""

    estimates: Estimates
    differences: tuple[Difference, ...]
    swapped: bool = False

    @property
    def pairs(self) -> IntArray:
        """Positions of the two scores of each difference, of shape (n_differences, 2)."""
        return pairs_of(len(self.estimates.names))

    @property
    def significant(self) -> BoolArray:
        """Symmetric matrix of shape (n_scores, n_scores): which pairs differ."""
        n, (i, j) = len(self.estimates.names), self.pairs.T
        result = np.zeros((n, n), dtype=np.bool_)
        result[i, j] = result[j, i] = [each.significant for each in self.differences]
        return result

    @property
    def better(self) -> BoolArray:
        """Matrix of shape (n_scores, n_scores): whether the row is significantly better than the column."""
        sign = 1.0 if self.estimates.metric.direction == "higher" else -1.0
        goodness = sign * self.estimates.means
        return self.significant & (goodness[:, None] > goodness[None, :])


def pairs_of(n: int) -> IntArray:
    """Return all pairs of n positions, of shape (n_pairs, 2)."""
    return np.array(list(combinations(range(n), 2)), dtype=np.intp).reshape(-1, 2)


def paired(
    metric: Metric,
    panel: Panel,
    *,
    level: float = 0.95,
    adjust: Adjust = "holm",
    method: Method = "auto",
    n_resamples: int = 1000,
    n_permutations: int = 9999,
    rng: np.random.Generator,
) -> Paired:
    """Test all pairs; see ``compare``, which checks the arguments."""
    if route_of(metric, method, panel) == "influence":
        estimates = by_influence(metric, panel, level)
    else:
        estimates = by_bootstrap(metric, panel, level, n_resamples=n_resamples, rng=rng)
    pairs = pairs_of(len(panel.names))
    found = [_difference(estimates, i, j, level, panel.paired, method) for i, j in pairs.tolist()]
    plain, swap, enough = [each.plain for each in found], method == "permutation", math.inf
    if method == "auto" and _few(panel, estimates, len(pairs)):
        swap, n_permutations, enough = True, min(n_permutations, SWAPS), ENOUGH
    if swap:
        for k, (i, j) in enumerate(pairs.tolist()):
            if method == "auto" and np.isnan(plain[k].p_value):  # one error has no spread
                continue
            two = panel.of([panel.names[i], panel.names[j]])
            p = swap_test(metric, two, n_permutations, rng, enough=enough).p_value
            # ranks of clusters of unlike sizes are not exchangeable, though the scores are
            doubtful = (found[k].room or panel.sampling.clusters is not None) and not np.isnan(plain[k].p_value)
            plain[k] = plain[k]._replace(p_value=max(p, plain[k].p_value) if doubtful else p)
    rows = [each.row for each in found]
    adjusted = _adjusted(plain, rows, estimates, pairs, level, adjust, panel.paired, rng)
    if metric.tolerated is not None:
        adjusted = [
            _allowed(each, estimates, i, j, level) for each, (i, j) in zip(adjusted, pairs.tolist(), strict=True)
        ]
    if swap:
        adjusted = [_agreeing(each, level) for each in adjusted]
    adjusted = [_assuming(each, one.cautious, level) for each, one in zip(adjusted, found, strict=True)]
    return Paired(estimates, tuple(adjusted), swap)


def _agreeing(each: Difference, level: float) -> Difference:
    """Return a difference that says so where its p-value, of swaps, and its interval, of Student's t, disagree.

    Swaps have no shifted form from which an interval could be read: only equal scores are exchangeable.
    """
    if np.isnan(each.low) or (each.p_value <= 1.0 - level) == (each.low > 0.0 or each.high < 0.0):
        return each
    note = "the p-value, from swaps, and the interval, from Student's t, disagree: the p-value decides"
    return each._replace(warning=joined(note, each.warning))


def _assuming(each: Difference, cautious: float, level: float) -> Difference:
    """Return a difference that says so where it is significant only if no confident error is missing in the sample.

    A sample that lacks the few confident errors of a score looks like one of a score that is really better.
    """
    if not each.significant or cautious <= 1.0 - level:
        return each
    note = f'if an error may be missing anywhere (method="influence"), p = {cautious:.3f}'
    return each._replace(warning=joined(each.warning, note))


def _few(panel: Panel, estimates: Estimates, n_pairs: int) -> bool:
    """Return whether errors, or right answers, are few enough to swap scores within samples or clusters.

    Where the two scores are exchangeable that is exact, and Student's t is not with few errors. All that is asked here
    is the same after any swap. Of scores under one loss: with losses of their own a swapped one may hold no error, and
    have no value.
    """
    if max(panel.n_runs) > 1 or estimates.route != "influence" or panel.n * n_pairs > SMALL:
        return False
    if panel.sampling.strata is not None or panel.times is not None or not panel.same_loss:
        return False
    loss, unit = panel.loss[0][0], panel.sampling.clusters
    return 0.0 < min(effective_number(each, unit) for each in (loss, loss.max() - loss)) < FEW_ERRORS


class _Found(NamedTuple):
    """A difference without its ends, and what these and its p-value depend on.

    ``room``: whether its variance has room for unseen errors; ``cautious``: p-value with room for an error anywhere, or
    0; ``row``: what a row that the sample lacks may do, 0 where enough differ, NaN for no interval.
    """

    plain: Difference
    room: bool
    cautious: float
    row: float


def _difference(estimates: Estimates, i: int, j: int, level: float, together: bool, method: str) -> _Found:
    """Return one difference with its own p-value."""
    values, (terms, most_df) = (estimates.values[i], estimates.values[j]), estimates.pair(i, j, level)
    times, single = estimates.times, len(terms[0]) == len(terms[1]) == 1
    apart = over_runs(terms[0]) - over_runs(terms[1])  # of each sample
    parts = of_one(apart, most_df, times) if single else of_pair(values, terms, most_df, together)
    difference = float(values[0].mean() - values[1].mean())
    scale = max(estimates.sizes[i], estimates.sizes[j])
    rests, refusal, few = estimates.rests_on(i, j)
    notes: list[str | None] = []
    room, row, cautious = False, 0.0, 0.0
    large = estimates.unequal is not None and most_df < FEW
    why = "a few clusters hold most of the rows" if large else "too few samples on which the two differ"
    if parts.total <= 1e-24 * max(scale, difference**2):
        error_test = error_runs = error = 0.0
        p = 1.0 if abs(difference) <= 1e-12 * max(abs(float(values[0].mean())), 1e-300) else np.nan
        if p == 1.0:
            difference, row = 0.0, estimates.unseen_row(i, j)
            notes.append("the two are equal on every sample: no interval" if np.isnan(row) else EQUAL)
        else:
            notes.append(
                'the difference does not vary between samples, so it has no standard error: use method="permutation"'
            )
            row = np.nan
        error_runs = 0.0 if np.isfinite(parts.seed) else np.nan
    elif refusal is not None:
        error_test = error_runs = error = p = np.nan
        notes.append(refusal)
    elif estimates.route == "influence" and most_df < 1.0:
        error_test = error_runs = error = p = np.nan
        notes.append(SINGLE)
    else:
        if estimates.route == "influence":
            spread_df = powers_of(apart, times).df
            if estimates.unseen:
                more = max(each.directed(i, j) if method == "auto" else each.of(i, j) for each in estimates.unseen)
                room = method == "auto" and more > parts.test / DECIDING
                anywhere = max(each.of(i, j) for each in estimates.unseen) if method == "auto" else 0.0
                test, df = with_unseen(parts.test, parts.df, spread_df, anywhere, estimates.n_clusters)
                cautious = t_tails(difference / math.sqrt(test), df) if anywhere > more else 0.0
                test, df = with_unseen(parts.test, parts.df, spread_df, more, estimates.n_clusters)
                parts = parts._replace(test=test, df=df)
            most_df = min(most_df, parts.df, spread_df)
        error_test, error_runs, error = (float(np.sqrt(v)) for v in (parts.test, parts.seed, parts.total))
        p = t_tails(difference / error, parts.df)
        if few is not None:
            row = np.nan
        elif estimates.hardly(i, j):
            row, few = estimates.unseen_row(i, j), f"{HARDLY}; the p-value has none"
        notes += few, rests.note
        if most_df < FEW:
            notes.append(f"only {most_df:.1f} degrees of freedom: {why}")
        if estimates.n_clusters is not None and estimates.n_clusters < FEW_CLUSTERS:
            notes.append(f"only {estimates.n_clusters} clusters: a rough guide")
        notes += dict.fromkeys((estimates.edges[i], estimates.edges[j]))
    names, errors = (estimates.names[i], estimates.names[j]), (error, error_test, error_runs)
    ends = np.nan, np.nan
    found = Difference(*names, difference, *ends, *errors, parts.df, p, p, False, joined(*notes), rests)
    return _Found(found, room or parts.df < FEW, cautious, row)


def _allowed(each: Difference, estimates: Estimates, i: int, j: int, level: float) -> Difference:
    """Return a difference in coverage at a risk with the interval that the two coverages allow.

    A coverage at a risk jumps where the risk is flat around its limit, and resamples do not show how far. So the
    distances to the ends of the exact intervals, of one coverage and of the other, add up as those of independent
    errors do (Zou & Donner 2008); scores of the same rows agree more than independent ones, so that is no shorter than
    it has to be. Zero lies outside where the p-value is small, and without exact intervals there is none.
    """
    if np.isnan(each.p_value) or each.standard_error == 0.0:  # without a value, or equal in every resample
        return each
    one, other = estimates.intervals[i], estimates.intervals[j]
    if not (one.method in WALKS and other.method in WALKS):
        note = "no interval: the bootstrap of a coverage at a risk covers too little"
        return each._replace(low=np.nan, high=np.nan, warning=joined(note, each.warning))
    below = math.hypot(one.estimate - one.low, other.high - other.estimate)
    above = math.hypot(one.high - one.estimate, other.estimate - other.low)
    usual, p = t_quantile(level, each.df), each.p_value
    wider = (each.high - each.difference) / (usual * each.standard_error)
    towards = below if each.difference > 0.0 else above
    if towards > 0.0:
        p = max(p, t_tails(usual * abs(each.difference) / towards, each.df))
    adjusted = max(each.p_adjusted, p)
    low, high = max(each.difference - wider * below, -1.0), min(each.difference + wider * above, 1.0)
    significant = adjusted <= 1.0 - level + 1e-12
    return each._replace(low=low, high=high, p_value=p, p_adjusted=adjusted, significant=significant)


def _adjusted(
    plain: list[Difference],
    rows: list[float],
    estimates: Estimates,
    pairs: IntArray,
    level: float,
    adjust: Adjust,
    together: bool,
    rng: np.random.Generator,
) -> list[Difference]:
    """Return the differences with intervals, and p-values (and, by max-t, intervals) adjusted for all pairs."""
    p: FloatArray = np.array([1.0 if np.isnan(each.p_value) else each.p_value for each in plain])
    adjusted, single = p, 1.0 - level
    if adjust == "holm":
        adjusted = holm(p)
    elif adjust == "max-t":
        adjusted, single = max_t(p, estimates.covariance(together), pairs, level, rng)
    result = []
    for each, row, value in zip(plain, rows, adjusted.tolist(), strict=True):
        if np.isnan(each.p_value):
            result.append(each._replace(p_adjusted=np.nan))
            continue
        reach = 0.0 if each.standard_error == 0.0 else t_quantile(1.0 - single, each.df) * each.standard_error
        # where hardly anything differs: a chance falls by e with each unseen row
        reach = float(np.maximum(reach, -math.log(0.5 * single) * row))
        low, high = each.difference - reach, each.difference + reach
        significant = value <= 1.0 - level + 1e-12
        result.append(each._replace(low=low, high=high, p_adjusted=value, significant=significant))
    return result
