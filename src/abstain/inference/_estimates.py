"""Values of one metric for many scores on the same samples, with the terms whose products sum to their covariance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from abstain._checks import UnmetNeed
from abstain._sums import over_rows
from abstain._typing import FloatArray
from abstain.blocks import TieBlocks
from abstain.inference._bootstrap import of_replicates, of_resampling, replicates
from abstain.inference._clusters import Unequal, unequal
from abstain.inference._columns import Panel, check_scored, evaluated, tables
from abstain.inference._confidence import of_coverage
from abstain.inference._influence import aggregated, gradient, per_sample, refused
from abstain.inference._interval import Interval, around, of_spread, one_sided
from abstain.inference._resample import Sampling, resampling
from abstain.inference._rests_on import FEWEST, RestsOn, joined, rests_on, units_of
from abstain.inference._spread import (
    SINGLE,
    Spread,
    components,
    covariance_of_runs,
    edge_of_a_tie,
    informative,
    jumps,
    limit_of,
    looked_at,
    over_runs,
    powers_of,
    spread_of,
    warning_light,
)
from abstain.inference._unseen import OneMore, one_more
from abstain.inference._unseen_pair import DECIDING, UnseenPairs, rises_of, unseen_pairs, without_room
from abstain.metrics import Metric

Route = Literal["influence", "bootstrap"]

#: How far clusters move in one direction where no difference is tested, if they are few.
ONE_WAY = 0.85


@dataclass(frozen=True, eq=False)
class Estimates:
    """Per score: ``values`` of shape (n_runs,), ``terms`` of shape (n_runs, n_terms), interval and tie warning.

    The terms are influences over W, one per sample or cluster, or centred bootstrap replicates over sqrt(B - 1):
    either way products of rows sum to covariances due to the test set, on at most ``df`` degrees of freedom.
    ``unseen``: of one run each, what an error or a success that was not seen would do to differences; ``unequal``: what
    clusters of unequal size do to their spread; ``times``: how many rows each term stands for (None: one, or a cluster
    or resample); ``rests``: on how many units each rests.
    """

    metric: Metric
    names: tuple[str, ...]
    values: tuple[FloatArray, ...]
    terms: tuple[FloatArray, ...]
    df: tuple[float, ...]
    intervals: tuple[Interval, ...]
    edges: tuple[str | None, ...]
    n_clusters: int | None
    route: Route
    unseen: tuple[UnseenPairs, ...] = ()
    unequal: Unequal | None = None
    times: FloatArray | None = None
    rests: tuple[RestsOn, ...] = ()

    def pair(self, i: int, j: int, level: float) -> tuple[tuple[FloatArray, FloatArray], float]:
        """Return the terms of two scores for their difference, and most degrees of freedom of its interval."""
        one, other, most_df = self.terms[i], self.terms[j], min(self.df[i], self.df[j])
        if self.unequal is None:
            return (one, other), most_df
        factor, df = self.unequal.of(over_runs(one) - over_runs(other), i, j, level)
        return (factor * one, factor * other), min(most_df, df)

    @property
    def note(self) -> str | None:
        """What its differences do not cover, None where nothing is left out."""
        return without_room(self.route, [len(value) for value in self.values])

    @property
    def means(self) -> FloatArray:
        """Estimates, averaged over runs."""
        return np.array([float(value.mean()) for value in self.values])

    @property
    def mean_terms(self) -> FloatArray:
        """Terms averaged over runs, of shape (n_terms, n_scores); products of columns sum to covariances."""
        terms = np.stack([over_runs(term) for term in self.terms]).T  # one column after the other in memory
        return terms if self.times is None else terms * np.sqrt(self.times)[:, None]

    def rests_on(self, i: int, j: int) -> tuple[RestsOn, str | None, str | None]:
        """Return the fewest units that a difference rests on, and why there is no p-value, or no interval, if so.

        Where a few clusters differ, and one score ranks nearly all of them higher, the difference says that these are
        right, or wrong. A whole cluster may be wrong at once, and of m clusters without a wrong one a share of
        1 - 0.05^(1/m) may be: 14 % of 20, which can turn the difference around. Where clusters move in both directions
        such errors speak as often for one score as for the other. How many rows are ranked higher in other samples
        varies by a third or more where fewer than ten are in this one, and not alike to both sides.
        """
        least = min(self.rests[i], self.rests[j])
        moved = [each.moved(i, j) for each in self.unseen]
        unit = "rows that differ" if self.n_clusters is None else "clusters that differ"
        if np.array_equal(self.terms[i], self.terms[j]):
            return RestsOn(0.0, unit), least.refusal, None
        if not moved:
            return least, least.refusal, None
        _, number, one_way = max(moved)  # of the rows, right or wrong, that move more
        found, why, few = min(least, RestsOn(number, unit)), least.refusal, None
        if self.n_clusters is not None and number < FEWEST and one_way > ONE_WAY:
            way = f"one ranks {RestsOn(number, 'clusters').counted} higher and hardly any lower"
            why = f"no interval and no p-value: {way}, too few to see how often such clusters are wrong"
        _, number, one_way = max(each.differing(i, j) for each in self.unseen)
        if number < DECIDING and one_way > ONE_WAY and not self.hardly(i, j):
            few = f"no interval: one ranks {RestsOn(number, unit.split()[0]).counted} higher and hardly any lower"
            few = f"{few}, too few to see how many others it ranks higher"
        return found, why, few

    def hardly(self, i: int, j: int) -> bool:
        """Return whether two scores move less in the sample than a single row could."""
        return bool(self.unseen) and all(each.hardly(i, j) for each in self.unseen)

    def unseen_row(self, i: int, j: int) -> float:
        """Return the most that one row, or cluster, may do to a difference which no row of the sample shows.

        Of m units none differs with a probability of at most e^-x where x of m differ in the population, and these
        change the difference by x times this at most, to first order. NaN of several runs and of resamples, where it
        is not known.
        """
        return max((each.largest(i, j) for each in self.unseen), default=np.nan)

    def covariance(self, paired: bool) -> FloatArray:
        """Return the covariance matrix of the means, due to test set and training; ``paired``: runs belong together."""
        terms = self.mean_terms
        return np.asarray(terms.T @ terms + covariance_of_runs(self.values, paired))

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        """Sum of the squared terms of each score, averaged over runs."""
        return tuple(sum(over_rows(run**2, self.times) for run in term) / len(term) for term in self.terms)


def route_of(metric: Metric, method: str, panel: Panel | None = None) -> Route:
    """Return how the covariance is had: from influence functions, or from a bootstrap.

    By bootstrap also, unless influence functions are asked for, where a threshold jumps from one wide tie to the next:
    a derivative does not see that, and two equally good scores would differ too often.
    """
    check_scored(metric)
    kind = metric.inference_kind
    if method == "bootstrap":
        return "bootstrap"
    if kind == "none":
        raise UnmetNeed(
            f"{metric.name} has no valid test: its bias does not vanish compared with its spread; compare by augrc or "
            'auroc_f, or force method="bootstrap" and read the result with care'
        )
    if kind == "bootstrap":
        if method == "influence":
            raise UnmetNeed(f'{metric.name} has no influence function; use method="bootstrap" (or "auto")')
        return "bootstrap"
    if kind != "quantile" or method != "auto" or panel is None:
        return "influence"
    jump = any(jumps(metric, table) for row in _blocks(metric, panel) for table in row)
    return "bootstrap" if jump else "influence"


def by_influence(metric: Metric, panel: Panel, level: float) -> Estimates:
    """Return the estimates with one term per sample or cluster."""
    sampling, single = panel.sampling, max(panel.n_runs) == 1
    blocks = _blocks(metric, panel)
    values = _values(metric, panel, blocks)
    limits = [[limit_of(metric, table) for table in row] for row in blocks]
    raw, rises = [], []
    for name, *row in zip(panel.names, limits, blocks, strict=True):
        for limit, table in zip(*row, strict=True):
            with refused(f"{metric.name} of {name!r} has no standard error"):
                derivative = gradient(metric, table)
            own = per_sample(derivative, table)
            own *= limit.factor
            raw.append(own)
            if single:
                rises.append(rises_of(derivative, table))
    unseen: tuple[UnseenPairs, ...] = ()
    if single:
        unseen = unseen_pairs(
            rises, [row[0] for row in blocks], panel.same_loss, sampling.clusters, panel.times,
            alone=not panel.shared_loss,
        )  # fmt: skip
    sizes = None
    if sampling.clusters is not None:
        starts = np.cumsum((0, *panel.n_runs[:-1]))
        rows = np.add.reduceat(np.stack(raw, axis=1), starts, axis=1) / np.array(panel.n_runs)
        sizes = unequal(rows, panel.weight, sampling.clusters)
    if sampling.independent and single:
        kept = slice(None) if panel.weight is None else panel.weight > 0.0
        terms = tuple(each[None, kept] for each in raw)
    else:
        summed = aggregated(np.stack(raw, axis=1), sampling, panel.weight)
        terms = tuple(np.split(np.ascontiguousarray(summed.T), np.cumsum(panel.n_runs)[:-1]))
    times = panel.times if panel.times is None or panel.weight is None else panel.times[panel.weight > 0.0]
    n_terms = terms[0].shape[1] if times is None else over_rows(times)
    df = tuple(min(n_terms - 1.0, *(limit.df for limit in row)) for row in limits)
    intervals = tuple(
        _interval(metric, row, value, term, most_df, level, sampling, times)
        for row, value, term, most_df in zip(blocks, values, terms, df, strict=True)
    )
    edges = tuple(_edge(metric, row) for row in blocks)
    n_clusters = None if sampling.clusters is None else terms[0].shape[1]
    return Estimates(
        metric, panel.names, values, terms, df, intervals, edges, n_clusters, "influence", unseen, sizes, times,
        tuple(rests_on(row[0], sampling) for row in blocks),
    )  # fmt: skip


def _blocks(metric: Metric, panel: Panel) -> list[list[TieBlocks]]:
    """Return one table per score and run."""
    if panel.tables is not None and "oracle" not in metric.needs:
        return [[table] for table in panel.tables]
    columns = [list(zip(loss, score, strict=True)) for loss, score in zip(panel.loss, panel.score, strict=True)]
    if panel.times is not None:
        return [[TieBlocks._of_counted(*run, panel.weight, panel.times, "raise") for run in runs] for runs in columns]
    return [[tables(metric, *run, panel.weight) for run in runs] for runs in columns]


def _values(metric: Metric, panel: Panel, blocks: list[list[TieBlocks]]) -> tuple[FloatArray, ...]:
    """Return the values of each score, one per run."""
    result = []
    for name, row in zip(panel.names, blocks, strict=True):
        found = [evaluated(metric, table) for table in row]
        reason = next((each.reason for each in found if each.reason is not None), None)
        if reason is not None:
            raise ValueError(f"{metric.name} of {name!r} is undefined, so it cannot be compared: {reason}")
        result.append(np.array([each.value for each in found]))
    return tuple(result)


def _interval(
    metric: Metric,
    row: list[TieBlocks],
    values: FloatArray,
    terms: FloatArray,
    most_df: float,
    level: float,
    sampling: Sampling,
    times: FloatArray | None,
) -> Interval:
    """Return what ``confidence_interval`` gives for one run; for several the test set and training together."""
    mean = float(values.mean())
    unseen = [
        one_more([(metric, value)], table, sampling)[0] for table, value in zip(row, values.tolist(), strict=True)
    ]
    if len(row) == 1:
        return of_spread(
            spread_of(metric, row[0], mean, powers_of(terms[0], times), most_df, sampling), level, unseen[0]
        )
    df = informative(metric, powers_of(terms.mean(axis=0)), most_df)
    parts = components(values, terms, df)
    training = (parts.total - parts.test) / (1.0 if metric.image is None else metric.image.factor**2)
    # the mean over runs, as if one unseen error were an error of every run, with the variance of training
    means = [np.mean(each, axis=0).tolist() for each in zip(*unseen, strict=True)]
    more = tuple(OneMore(estimate, variance + training, bool(each > 0.5)) for estimate, variance, each in means)
    if df < 1.0:
        return one_sided(metric, row[0], mean, level, more, SINGLE)
    light = joined(warning_light(df, None if sampling.clusters is None else terms.shape[1]), _edge(metric, row))
    within, _ = looked_at(metric, row[0])
    rests = rests_on(row[0], sampling, within)
    light = joined(rests.note, light)
    error, units = float(np.sqrt(parts.total)), units_of(row[0], sampling, within)
    spread = Spread(metric, row[0], mean, error, parts.df, False, light, rests, units)
    return _of_runs(spread, level, "runs", more)


def _of_runs(spread: Spread, level: float, how: str, unseen: tuple[OneMore, ...] = ()) -> Interval:
    """Return the interval of a mean over runs."""
    found = around(spread, level, unseen)
    return found if spread.vanishes else found._replace(method=f"{found.method}, {how}")


def _edge(metric: Metric, row: list[TieBlocks]) -> str | None:
    """Return the warning of the first run whose threshold flips at the edge of a wide tie."""
    return next(filter(None, (edge_of_a_tie(metric, table) for table in row)), None)


def by_bootstrap(
    metric: Metric, panel: Panel, level: float, *, n_resamples: int, rng: np.random.Generator
) -> Estimates:
    """Return the estimates with one term per resample; all scores and runs share the resampling counts.

    Resampling n clusters shows (n - 1)/n of their variance; the terms are made up for it. Small strata bring a warning.
    """
    drawn = defined(metric, resampled([metric], panel, n_resamples=n_resamples, rng=rng)[:, :, 0])
    blocks = _blocks(metric, panel)
    values = _values(metric, panel, blocks)
    how = resampling(panel.n, panel.sampling)
    n_clusters = None if how.unit is None else how.n_units
    few = 1.0 if n_clusters is None else np.sqrt(n_clusters / (n_clusters - 1.0))
    note = of_resampling(metric, n_resamples, None if panel.sampling.strata is None else how)
    rows = np.split(drawn.T, np.cumsum(panel.n_runs)[:-1])
    terms, df, intervals, of = [], [], [], []
    for row, value, replicate in zip(blocks, values, rows, strict=True):
        limits = [limit_of(metric, table) for table in row]
        factor = few * np.array([limit.factor for limit in limits])[:, None]
        term = factor * (replicate - replicate.mean(axis=1, keepdims=True)) / np.sqrt(len(drawn) - 1.0)
        most_df = min(len(drawn) - 1.0, (n_clusters or panel.n) - 1.0, *(limit.df for limit in limits))
        within, _ = looked_at(metric, row[0])
        rests = rests_on(row[0], panel.sampling, within)
        known = joined(rests.note, note, warning_light(most_df, n_clusters), _edge(metric, row))
        interval = of_coverage(metric, row[0], level) if panel.sampling.independent and len(row) == 1 else None
        mean, parts = float(value.mean()), components(value, term, most_df)
        error, units = float(np.sqrt(parts.total)), units_of(row[0], panel.sampling, within)
        if interval is None and value.size == 1:
            interval = of_replicates(metric, row[0], mean, replicate[0], level, parts.df, known, rests)
            interval = interval._replace(standard_error=error)
        elif interval is None:  # both sources of variance
            spread = Spread(metric, row[0], mean, error, parts.df, False, known, rests, units)
            interval = _of_runs(spread, level, "bootstrap, runs")
        intervals.append(interval)
        of.append(rests)
        terms.append(term)
        df.append(most_df)
    edges = tuple(_edge(metric, row) for row in blocks)
    return Estimates(
        metric, panel.names, values, tuple(terms), tuple(df), tuple(intervals), edges, n_clusters, "bootstrap",
        rests=tuple(of),
    )  # fmt: skip


def defined(metric: Metric, drawn: FloatArray) -> FloatArray:
    """Return the resamples, one per row, in which no score lacks its value; too many that do are an error."""
    without = np.isnan(drawn).any(axis=1)
    share = float(np.mean(without))
    if share > 0.05 or len(drawn) - np.count_nonzero(without) < 2:
        lost = f"{metric.name} is undefined in {share:.0%} of the resamples (too few failures or successes)"
        raise ValueError(f"{lost}; use more samples, or augrc")
    return drawn[~without]


def resampled(metrics: list[Metric], panel: Panel, **options: Any) -> FloatArray:
    """Return replicates of shape (n_resamples, runs of the first score + runs of the second + ..., n_metrics)."""
    columns = [pair for each in zip(panel.loss, panel.score, strict=True) for pair in zip(*each, strict=True)]
    strata, clusters = panel.sampling
    return replicates(metrics, columns, sample_weight=panel.weight, strata=strata, clusters=clusters, **options)
