"""Ranking study: how stable the ranking of many scores is, and which of its steps are real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._checks import closest, generator, one_of, refuse, same_length, vector, whole
from abstain._result import Column, Result, Row, Table, arrow, plain
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray
from abstain._version import __version__
from abstain.inference._binomial import check_level
from abstain.inference._columns import Losses, Scores, as_metrics, panel
from abstain.inference._estimates import defined, resampled
from abstain.inference._multiple import rank_sets
from abstain.inference._paired import Adjust, Difference, Paired, paired
from abstain.inference._rank_tests import CAUTION, wilcoxon_over_resamples
from abstain.metrics import Metric

if TYPE_CHECKING:
    from abstain.plots import RankFlowDisplay

__all__ = ["Ranking", "RankingStudy", "kendall_tau", "ranking_study"]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The ranking by one metric, best first: all arrays follow ``names``.

    ``estimate``: the metric on the whole test set, mean over runs; ``rank``: 1, 2, ... by mean, then median rank over
    the resamples (equal in both: the same, smallest rank); ``set_low``, ``set_high``: confidence set of the true rank,
    of all scores at once; ``mean_rank``, ``median_rank``, ``resampled_low``, ``resampled_high``: of the rank in the
    resamples, which is no confidence set; ``share_first``: share of resamples in which it is (jointly) first;
    ``differences``: the paired tests; ``better``: matrix, whether the row is significantly better than the column.

    Examples
    --------
    >>> import abstain
    >>> loss, a, b = [0, 1, 0, 0, 1] * 40, range(200), [k * 77 % 200 for k in range(200)]
    >>> study = abstain.ranking_study(loss, {"a": a, "b": b}, metrics="augrc", n_resamples=100)
    >>> sorted(study.rankings["augrc"].names)
    ['a', 'b']
    """

    metric: str
    label: str
    direction: str
    names: tuple[str, ...]
    estimate: FloatArray
    rank: IntArray
    mean_rank: FloatArray
    median_rank: FloatArray
    set_low: IntArray
    set_high: IntArray
    resampled_low: FloatArray
    resampled_high: FloatArray
    share_first: FloatArray
    better: BoolArray
    differences: tuple[Difference, ...]

    def of(self, name: str) -> dict[str, Any]:
        """Return one row of the ranking as plain values."""
        if name not in self.names:
            raise KeyError(f"no score {name!r}; {closest(name, self.names)}")
        k = self.names.index(name)
        sets = ("set_low", "set_high", "resampled_low", "resampled_high")
        columns = ("estimate", "rank", *sets, "mean_rank", "median_rank", "share_first")
        return {"name": name} | {column: getattr(self, column)[k].item() for column in columns}

    def table(self, level: float) -> Table:
        """Return the ranking as a table; ``level`` is that of the sets."""
        sets = f"{100 * level:g} % set"
        columns = [Column("Score"), Column("Rank"), Column(sets), Column("Estimate", self.direction)]
        resampled = not np.isnan(self.share_first).all()
        columns += [Column("Resampled"), Column("First")] if resampled else []
        rows: list[Row] = []
        for name, better in zip(self.names, self.better, strict=True):
            row = self.of(name)
            ranks = f"{row['set_low']} to {row['set_high']}"
            drawn = f"{row['resampled_low']:.0f} to {row['resampled_high']:.0f}"
            shares = (drawn, f"{100.0 * row['share_first']:.0f} %") if resampled else ()
            rows.append((name, row["rank"], ranks, row["estimate"], *shares, int(better.sum())))
        return Table([*columns, Column("Better than")], rows, title=arrow(self.label, self.direction))


@dataclass(frozen=True, eq=False, repr=False)
class RankingStudy(Result):
    """The result of :func:`ranking_study`: prints as tables; ``plot`` draws the flows between two rankings.

    Examples
    --------
    >>> import abstain
    >>> loss, a, b = [0, 1, 0, 0, 1] * 40, range(200), [k * 77 % 200 for k in range(200)]
    >>> study = abstain.ranking_study(loss, {"a": a, "b": b}, n_resamples=100)
    >>> list(study.rankings), study.n_resamples
    (['aurc', 'augrc'], 100)
    """

    _names = ("metric", "name")

    rankings: Mapping[str, Ranking]
    names: tuple[str, ...]
    n: int
    n_runs: tuple[int, ...]
    n_resamples: int
    level: float
    adjust: str
    replicates: Mapping[str, FloatArray]
    fingerprint: str
    said: tuple[str, ...] = ()

    def kendall(self, one: str | None = None, other: str | None = None) -> float:
        """Return Kendall's tau-b between the rankings by two metrics; the first two unless named."""
        first, second = self.two(one, other)
        ranks = dict(zip(first.names, first.rank.tolist(), strict=True))
        return kendall_tau([ranks[name] for name in second.names], second.rank)

    def wilcoxon_over_resamples(self, metric: str | None = None) -> dict[str, Any]:
        """Return the map of the AUGRC paper, with a caution: it is not a valid test.

        ``names`` (in the order of the ranking), ``p_values`` of "row better than column", ``better`` (p < 1 - level)
        and ``caution``.
        """
        ranking = self._one(metric)
        if not self.n_resamples:
            raise ValueError("the ranks come from the labels of a plan, without resamples; read differences instead")
        columns = [self.names.index(name) for name in ranking.names]
        drawn = self.replicates[ranking.metric][:, columns]
        p = wilcoxon_over_resamples(drawn[np.isfinite(drawn).all(axis=1)], ranking.direction)
        return {"names": ranking.names, "p_values": p, "better": p < 1.0 - self.level, "caution": CAUTION}

    def _one(self, metric: str | None) -> Ranking:
        spec = next(iter(self.rankings)) if metric is None else metric
        if spec not in self.rankings:
            raise KeyError(f"no ranking by {spec!r}; {closest(spec, self.rankings)}")
        return self.rankings[spec]

    def two(self, one: str | None = None, other: str | None = None) -> tuple[Ranking, Ranking]:
        """Return the rankings by two metrics; the first two unless named."""
        specs = list(self.rankings)
        if other is None:
            rest = [spec for spec in specs if spec != (one or specs[0])]
            if not rest:
                raise ValueError("this study ranks by a single metric; pass metrics=(..., ...) to compare two rankings")
            other = rest[0]
        return self._one(one), self._one(other)

    # ------------------------------------------------------------------ as a result

    def headline(self) -> str:
        """Return one line that says what was ranked."""
        runs = f" · {max(self.n_runs)} runs" if max(self.n_runs) > 1 else ""
        how = f"{self.n_resamples} resamples · rank, then aggregate" if self.n_resamples else "ranked by estimates"
        return f"{self.n} samples{runs} · {how}"

    def tables(self) -> list[Table]:
        """Return one table per metric, best first."""
        return [ranking.table(self.level) for ranking in self.rankings.values()]

    def notes(self) -> list[str]:
        """Return what the tests are, and Kendall's tau between the rankings."""
        (first, one), *others = self.rankings.items()
        lines, share = list(self.said), f"{100.0 * self.level:g} %"
        if self.n_resamples:
            lines += [
                f"set: holds the true rank, of all scores at once in {share} of test sets",
                f"resampled: {share} of the ranks in resamples, which guarantees nothing about the true one",
                f"better than: how many others, by paired tests at {1.0 - self.level:.3g}, {self.adjust}",
            ]
        for metric, other in others:
            lines.append(f"Kendall's tau of {one.label} and {other.label}: {self.kendall(first, metric):.3f}")
        return lines

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per metric and score."""
        return [
            {"metric": spec, **ranking.of(name)} for spec, ranking in self.rankings.items() for name in ranking.names
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: sizes, options, and every ranking with its matrix of tests; no replicates."""
        facts = {key: value for key, value in vars(self).items() if key not in ("rankings", "replicates")}
        rankings = {}
        for spec, each in self.rankings.items():
            rows = [plain(each.of(name)) for name in each.names]
            head = {"label": each.label, "direction": each.direction}
            rankings[spec] = head | {"better": each.better.tolist(), "rows": rows}
        return {**plain(facts), "abstain": __version__, "rankings": rankings}

    def plot(self, one: str | None = None, other: str | None = None) -> RankFlowDisplay:
        """Draw the flows between two rankings with their significance maps."""
        from abstain.plots import RankFlowDisplay

        return RankFlowDisplay.from_ranking(self, one, other)


def ranking_study(
    loss: Losses,
    scores: Scores,
    metrics: str | Metric | Sequence[str | Metric] = ("aurc", "augrc"),
    *,
    level: float = 0.95,
    adjust: Adjust = "holm",
    n_resamples: int = 500,
    sample_weight: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    paired_runs: bool | None = None,
    rng: int | np.random.Generator | None = 0,
    progress: bool = False,
) -> RankingStudy:
    r"""Rank scores by several metrics, with confidence sets of the ranks, and significance from paired tests.

    In every resample of the test set (the same for all scores and runs) the metric is averaged over runs and the scores
    are ranked, ties by the smallest rank; the scores are then ordered by their mean, then median rank: *rank, then
    aggregate*. Which score is *significantly* better says the paired test of :func:`abstain.compare`, adjusted for
    all pairs. The same differences give sets that hold all true ranks at once: scores that cannot be distinguished have
    wide ones, as they must. The ranks in resamples centre on this sample's, and hold the true rank of the best of
    nearly equal scores in 50 to 79 % of samples only.

    Parameters
    ----------
    loss : array-like of shape (n_samples,) or (n_runs, n_samples), or a dict of such
    scores : dict of array-likes of shape (n_samples,) or (n_runs, n_samples)
    metrics : specs
    level : float in (0, 1)
        Of the sets and the tests.
    adjust : {"holm", "max-t", "none"}
        For the pairs of each metric.
    n_resamples : int
        At least 100.
    sample_weight, strata, clusters : array-like of shape (n_samples,), optional
        As in :func:`abstain.compare`.
    paired_runs : bool, optional
        Whether run r of all scores is one training; default: where all share the losses.
    rng : int or Generator
    progress : bool
        Show a progress bar.

    Returns
    -------
    RankingStudy

    Raises
    ------
    UnmetNeed
        A metric needs what the input does not hold.
    ValueError, TypeError
        Bad columns; unknown metrics; too few resamples.

    Notes
    -----
    Resampled ranks show the variability due to the test set. Training seeds enter the paired tests and the sets.

    References
    ----------
    Traub et al. (2024), NeurIPS: Figure 3 and Table 4. Wiesenfarth et al. (2021): rank, then aggregate. Mogstad,
    Romano, Shaikh & Wilhelm (2024): sets of ranks.

    Examples
    --------
    >>> import abstain
    >>> loss, a, b = [0, 1, 0, 0, 1] * 40, range(200), [k * 77 % 200 for k in range(200)]
    >>> study = abstain.ranking_study(loss, {"a": a, "b": b}, n_resamples=100)
    >>> bool(study.rankings["augrc"].better.any())
    False
    """
    level = check_level(level)
    n_resamples = whole(n_resamples, "n_resamples", 100, usual=500)  # fewer give no intervals of ranks
    chosen = as_metrics(metrics, "metrics")
    one_of(adjust, ("holm", "max-t", "none"), "adjust")
    columns = panel(loss, scores, sample_weight, strata, clusters, paired_runs)
    draws = generator(rng)
    tests = [paired(metric, columns, level=level, adjust=adjust, rng=draws) for metric in chosen]
    drawn = resampled(chosen, columns, n_resamples=n_resamples, rng=draws, progress=progress)
    starts = np.cumsum((0, *columns.n_runs[:-1]))
    drawn = np.add.reduceat(drawn, starts, axis=1) / np.array(columns.n_runs)[None, :, None]
    rankings, replicates = {}, {}
    for which, (metric, test) in enumerate(zip(chosen, tests, strict=True)):
        replicates[metric.spec] = drawn[:, :, which]
        sets = rank_sets(test, level, columns.paired, draws)
        rankings[metric.spec] = _ranking(metric, columns.names, drawn[:, :, which], test, sets, level)
    return RankingStudy(
        rankings,
        columns.names,
        columns.n,
        columns.n_runs,
        n_resamples,
        level,
        adjust,
        replicates,
        columns.fingerprint,
        tuple(dict.fromkeys(filter(None, (test.estimates.note for test in tests)))),
    )


def _ranking(
    metric: Metric,
    names: tuple[str, ...],
    replicates: FloatArray,
    test: Paired,
    sets: tuple[IntArray, IntArray],
    level: float,
) -> Ranking:
    """Rank, then aggregate; the few resamples in which a score has no value are left out."""
    drawn = defined(metric, replicates)
    ranks = min_ranks(drawn if metric.direction == "lower" else -drawn)
    mean, median = ranks.mean(axis=0), np.median(ranks, axis=0)
    order = np.lexsort((median, mean))
    keys = list(zip(mean[order].tolist(), median[order].tolist(), strict=True))
    final = np.array([keys.index(key) + 1 for key in keys])
    tail = 0.5 - 0.5 * level
    low = np.quantile(ranks, tail, axis=0, method="inverted_cdf")
    high = np.quantile(ranks, 1.0 - tail, axis=0, method="inverted_cdf")
    return Ranking(
        metric.spec,
        metric.label,
        metric.direction,
        tuple(names[k] for k in order),
        test.estimates.means[order],
        final,
        mean[order],
        median[order],
        sets[0][order],
        sets[1][order],
        low[order],
        high[order],
        np.mean(ranks == 1, axis=0)[order],
        test.better[np.ix_(order, order)],
        test.differences,
    )


def min_ranks(values: FloatArray) -> FloatArray:
    """Return ranks within each row, the smallest value first; ties, up to rounding, take the smallest rank."""
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    higher = np.diff(ordered, axis=1) > 1e-12 * np.abs(values).max(axis=1, keepdims=True)
    first = np.where(higher, np.arange(1, values.shape[1]), 0)
    ranks = np.ones(values.shape)
    np.put_along_axis(ranks, order[:, 1:], 1.0 + np.maximum.accumulate(first, axis=1), axis=1)
    return ranks


def kendall_tau(one: ArrayLike, other: ArrayLike) -> float:
    r"""Return Kendall's tau-b between two rankings.

    .. math:: \tau_b = \frac{\sum_{i<j} s_{ij}\,t_{ij}}{\sqrt{\sum_{i<j} s_{ij}^2\ \sum_{i<j} t_{ij}^2}}

    with the signs s, t of the differences in each ranking.

    Parameters
    ----------
    one, other : array-like of shape (k,)

    Returns
    -------
    float
        In [-1, 1]; 1 for equal orders, also where both tie everything (nothing disagrees).

    Raises
    ------
    ValueError, TypeError
        Different lengths, fewer than two entries, NaN, text.

    Notes
    -----
    Tied pairs count in neither direction. NaN where only one of the rankings ties everything.

    References
    ----------
    Kendall (1945), Biometrika 33.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.inference.kendall_tau([1, 2, 3, 4], [1, 3, 2, 4]), 6)
    0.666667
    """
    columns = {"one": vector(one, "one", np, None), "other": vector(other, "other", np, None)}
    if same_length(**columns) < 2:
        raise ValueError("one and other hold a single value; a ranking needs at least two")
    for name, column in columns.items():
        refuse(np.isnan(column), column, name, "holds NaN", "leave this entry out of both rankings", np)
    if all(np.unique(column).size == 1 for column in columns.values()):
        return 1.0
    from scipy.stats import kendalltau

    return float(kendalltau(*columns.values()).statistic)
