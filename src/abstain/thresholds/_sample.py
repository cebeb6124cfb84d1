"""The calibration sample of a threshold: the table of its scores, and its rows in an order that is theirs alone.

Rows come from columns, or counted by the engine that holds them: a threshold needs of its rows what a table of scores
and losses says, so equal rows may come as one entry with their number. Clusters do not: how the losses of one cluster
run along the scores is looked at row by row, so their rows are written out again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from abstain import scores
from abstain._checks import UnmetNeed, positive, same_length, to_numpy, vector
from abstain._quantiles import t_quantile
from abstain._sums import over_rows
from abstain._typing import Array, ArrayLike, BoolArray, FloatArray, IntArray, NanPolicy, Options, Source
from abstain.blocks import TieBlocks
from abstain.curve import SLACK, RiskCoverageCurve
from abstain.inference import clopper_pearson, codes
from abstain.outputs import REMEDY, Counted, Parts, count, parts_of
from abstain.policy import group_column
from abstain.thresholds._row_hashes import hashed, sketch

#: Opaque bytes that stay as they are, whatever the package is called: policies carry fingerprints, and other
#: bytes would change them all.
_SALT = b"recuse.calibration/1"
#: Rows that are written out at once from their counts.
PIECE = 1 << 20
#: Groups that can have a threshold each, and rows in clusters that are written out.
MOST_GROUPS, MOST_ROWS = 1000, 20_000_000


@dataclass(frozen=True, eq=False)
class Sample:
    """The table of a sample, and its rows by descending score and rising loss.

    NaN scores became -inf, which is never accepted. Clusters are numbered from 0. ``times``: how many equal rows an
    entry of the columns stands for, where an engine counted them (None: each is one row).
    """

    blocks: TieBlocks
    score: FloatArray
    loss: FloatArray
    weight: FloatArray | None
    cluster: IntArray | None = None
    times: FloatArray | None = None

    @property
    def n(self) -> int:
        """Rows, with those that lack a score."""
        return len(self.score) if self.times is None else int(self.times.sum())

    @property
    def binary(self) -> bool:
        """Whether every loss is 0 or 1."""
        return self.blocks.binary

    @cached_property
    def curve(self) -> RiskCoverageCurve:
        """The curve, whose thresholds are all attainable."""
        self.refuse_infinite()
        return RiskCoverageCurve(self.blocks)

    def refuse_infinite(self) -> None:
        """Refuse scores of +inf, which no threshold accepts."""
        if self.blocks.score[0] == np.inf:
            raise ValueError(
                f"confidence holds +inf ({int(self.blocks.count[0])} such); give a finite score above all others"
            )

    @cached_property
    def mass(self) -> FloatArray:
        """Weight of each entry: of its rows together."""
        weight = np.ones(len(self.score)) if self.weight is None else self.weight
        return weight if self.times is None else weight * self.times

    @cached_property
    def _before(self) -> IntArray:
        assert self.times is not None
        return np.concatenate([[0], np.cumsum(self.times.astype(np.int64))])

    def rows_of(self, entries: IntArray) -> IntArray:
        """Return how many rows the first so many entries stand for."""
        return entries if self.times is None else self._before[entries]

    def entry(self, rank: IntArray) -> IntArray:
        """Return in which entry the rows of these ranks lie, counted from 0."""
        return rank if self.times is None else np.searchsorted(self._before[1:], rank, side="right")

    def accepted(self, threshold: FloatArray) -> IntArray:
        """Return how many entries have at least these scores."""
        return np.searchsorted(-self.score, -threshold, side="right")

    def sums(self, values: FloatArray, entries: IntArray) -> FloatArray:
        """Return the sum of a column over the rows of the first so many entries."""
        each = values if self.times is None else values * self.times
        return np.concatenate([[0.0], np.cumsum(each)])[entries]

    def bins(self) -> tuple[tuple[float, int], ...]:
        """Return nine thresholds near the deciles of the score, each with the number of rows at or above it."""
        size = int(self.rows_of(np.array([np.count_nonzero(self.score > -np.inf)]))[0])
        if not size or self.weight is not None:
            return ()
        edges = np.unique(self.score[self.entry(np.minimum((np.arange(1, 10) * size) // 10, size - 1))])
        edges = edges[np.isfinite(edges)]
        return tuple((float(edge), int(n)) for edge, n in zip(edges, self.rows_of(self.accepted(edges)), strict=True))

    @cached_property
    def sketch(self) -> str:
        """By what the rows are recognised."""
        return sketch(hashed(self.score, self.loss), rows=self.n)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the sorted scores and losses: the same rows have the same, in any order, weighted or not."""
        digest = hashlib.sha256(_SALT)
        for column in (self.score, self.loss):
            for piece in self._written_out(column):
                digest.update(np.ascontiguousarray(piece + 0.0, dtype="<f8").tobytes())
        return digest.hexdigest()

    def _written_out(self, column: FloatArray) -> Iterator[FloatArray]:
        """Yield a column row by row, in pieces of which no tie makes a large one."""
        if self.times is None:
            yield column
            return
        for start in range(0, self.n, PIECE):
            first, last = self.entry(np.array([start, min(start + PIECE, self.n) - 1]))
            ends = np.clip(self._before[first : last + 2], start, start + PIECE)
            yield np.repeat(column[first : last + 1], np.diff(ends))


#: The sample of each group, made when it is asked for.
Groups = Mapping[str, Callable[[], Sample]]


def read(
    loss: ArrayLike,
    confidence: ArrayLike,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
    clusters: ArrayLike | None = None,
) -> Sample:
    """Check the columns and sort them; the caller's arrays are never changed."""
    blocks = TieBlocks.from_samples(loss, confidence, sample_weight, nan_policy=nan_policy, keep_samples=True)
    if clusters is None:
        return of_table(blocks)
    scores = vector(confidence, "confidence", np, None)
    numbers = codes(clusters, "clusters", len(scores))
    kept = numbers[~np.isnan(scores)] if blocks.n_dropped else numbers
    return of_table(blocks, np.unique(kept, return_inverse=True)[1])


def of_table(blocks: TieBlocks, cluster: IntArray | None = None) -> Sample:
    """Return the sample of a table that kept its rows, without another sort of its scores."""
    samples = blocks.samples
    assert samples is not None
    distinct, sorted_block = samples.before if samples.before is not None else (blocks.score, samples.sorted_block)
    order, losses = to_numpy(samples.order), to_numpy(samples.loss)
    weights = None if samples.sample_weight is None else to_numpy(samples.sample_weight)
    if sorted_block is None:  # nothing is tied: the table is in the order of the rows, and adds nothing up
        plain = weights is None and samples.times is None
        score, loss = distinct, blocks.loss if plain else losses[order]
    else:
        block = to_numpy(sorted_block)
        keys = (order, losses[order]) if weights is None else (order, weights[order], losses[order])
        order = order[np.lexsort((*keys, block))]
        score, loss = distinct[block], losses[order]
    weight = None if weights is None else weights[order]
    times = None if samples.times is None else samples.times[order]
    return Sample(blocks, score, loss, weight, None if cluster is None else cluster[order], times)


def in_memory(
    loss: ArrayLike,
    confidence: ArrayLike,
    sample_weight: ArrayLike,
    groups: ArrayLike,
    clusters: ArrayLike,
    nan_policy: NanPolicy,
) -> tuple[Sample, Groups]:
    """Return the sample of all rows and of each group; an error names the row of the whole column."""
    whole = read(loss, confidence, sample_weight, nan_policy, clusters)
    if groups is None:
        return whole, {}
    column = group_column(groups)
    losses, scores = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
    others = [None if each is None else np.asarray(to_numpy(each)) for each in (sample_weight, clusters)]
    same_length(loss=losses, groups=column)

    def sample(value: str) -> Sample:
        rows = column == value
        weight, cluster = (None if each is None else each[rows] for each in others)
        return read(losses[rows], scores[rows], weight, nan_policy, cluster)

    return whole, {str(value): partial(sample, value) for value in np.unique(column)}


def frame_source(frame: Source) -> Parts:
    """Return a lazy frame, or Parquet files, as what an engine counts."""
    source = parts_of(frame)
    if source is None:
        kind = type(frame).__name__
        raise TypeError(f"frame must be a lazy frame, a pattern of Parquet files or a folder, got {kind}")
    return source


def counted(
    frame: Source, confidence: Any, groups: Any, nan_policy: NanPolicy, columns: Mapping[str, ArrayLike]
) -> tuple[Sample, Groups]:
    """Return the sample of the rows of a lazy frame or of Parquet files, whose columns are named, and of each group."""
    source = frame_source(frame)
    given = {"confidence": confidence, "groups": groups, **columns}
    for name, value in given.items():
        kinds = str if name in ("confidence", "groups") else (str, list, tuple, dict)
        if value is not None and not isinstance(value, kinds):
            raise TypeError(f"{name} must name a column of the frame, got {type(value).__name__}; give its name")
    told: Options = {name: value for name, value in columns.items() if value is not None}
    computed = confidence in scores.names() and confidence not in source.first.columns()
    if confidence is not None and not computed:
        told["confidence"] = confidence
    by = [] if groups is None else [groups]
    found = count(source, [confidence] if computed else None, by, told, default=scores.default)
    ((name, rows),) = found.by_score.items()
    make = partial(_of_counted, name, rows, nan_policy)
    if not by:
        return make(None), {}
    values, place = rows.group(groups, MOST_GROUPS)
    names = group_column(values)[place]  # as text, as policies have them
    return make(None), {str(name): partial(make, names == name) for name in np.unique(names)}


def _of_counted(name: str, found: Counted, nan_policy: NanPolicy, rows: BoolArray | None) -> Sample:
    """Return the sample of some entries, or of all."""
    columns = (found.loss[name], found.scores[name], found.sample_weight, found.clusters, found.times)
    some: list[Array] = [column if rows is None or column is None else column[rows] for column in columns]
    loss, score, weight, cluster, times = some
    try:
        if cluster is None:
            return of_table(TieBlocks._of_counted(loss, score, weight, times, nan_policy))
        if (number := int(times.sum())) > MOST_ROWS:
            raise UnmetNeed(f"clusters= needs the rows one by one, at most {MOST_ROWS}, got {number}; {REMEDY}")
        which = np.repeat(np.arange(len(times)), times.astype(np.intp))
        weight = None if weight is None else weight[which]
        return read(loss[which], score[which], weight, nan_policy, cluster[which])
    except ValueError as error:
        raise type(error)(f"score {name!r}: {error}") from None


def largest_loss(sample: Sample, max_loss: float | None) -> float:
    """Return the largest possible loss: 1 for a 0/1 loss, else what the caller knows; what was seen is no bound."""
    seen = float(sample.loss.max())
    if max_loss is None:
        if sample.binary:
            return 1.0
        raise ValueError(f"a guarantee for a loss that is not 0/1 needs its bound; give max_loss= (seen: {seen:g})")
    max_loss = positive(max_loss, "max_loss", "give the largest possible loss")
    if seen > max_loss:
        raise ValueError(f"max_loss={max_loss:g} is below a loss that occurs, {seen:g}; give a true bound")
    return max_loss


# ---------------------------------------------------------------------- intervals of an operating point

# Exact for counts, from the influence function otherwise, of clusters where given. They are pointwise: they hold for a
# threshold that was fixed before the data were seen. At one that was chosen on the same rows they are optimistic, which
# is why a certificate is something else.

Ends = tuple[float, float]
#: Of the intervals of a threshold.
LEVEL = 0.95


def coverage_interval(sample: Sample, accepted: FloatArray, level: float) -> Ends:
    """Return the interval of the coverage: exact without weights, else of the ratio of two means."""
    if sample.cluster is not None:  # sums of clusters are independent, rows are not
        size = np.bincount(sample.cluster, sample.weight).astype(np.float64)
        mine = np.bincount(sample.cluster, accepted if sample.weight is None else accepted * sample.weight)
        return _ratio(size, mine / np.where(size > 0.0, size, 1.0), level, 1.0)
    if sample.weight is None:
        return clopper_pearson(int(over_rows(accepted, sample.times)), sample.n, level)
    return _ratio(sample.weight, accepted, level, 1.0, sample.times)


def risk_interval(sample: Sample, accepted: FloatArray, level: float) -> Ends:
    """Return the interval of the selective risk; NaN if nothing is accepted, or if equal losses show no spread."""
    rows = accepted > 0
    loss = sample.loss[rows]
    if loss.size == 0:
        return np.nan, np.nan
    if sample.cluster is not None:
        weight = accepted if sample.weight is None else accepted * sample.weight
        size = np.bincount(sample.cluster, weight).astype(np.float64)
        total = np.bincount(sample.cluster, weight * sample.loss)
        return _ratio(size, total / np.where(size > 0.0, size, 1.0), level, np.inf)
    times = None if sample.times is None else sample.times[rows]
    if sample.binary and sample.weight is None:
        return clopper_pearson(int(over_rows(loss, times)), int(loss.size if times is None else times.sum()), level)
    weight = np.ones(loss.size) if sample.weight is None else sample.weight[rows]
    return _ratio(weight, loss, level, np.inf, times)


def mean_interval(values: FloatArray, level: float) -> Ends:
    """Return the interval of the mean of independent values, each of which counts once."""
    return _ratio(np.ones(len(values)), values, level, np.inf)


def _ratio(
    weight: FloatArray, value: FloatArray, level: float, largest: float, times: FloatArray | None = None
) -> Ends:
    """Return the interval of a weighted mean; ``times``: how many rows each value stands for."""
    known = weight > 0.0  # rows of weight 0 know nothing
    value, weight, times = value[known], weight[known], None if times is None else times[known]
    total, number = over_rows(weight, times), value.size if times is None else over_rows(times)
    if total == 0.0:
        return np.nan, np.nan
    mean = over_rows(weight * value, times) / total
    error = float(np.sqrt(over_rows((weight * (value - mean)) ** 2, times))) / total
    if number > 1 and error <= SLACK * mean:  # no error among a few rows is no proof of a risk of 0
        return np.nan, np.nan
    width = t_quantile(level, number - 1.0) * error if number > 1 else np.inf
    return max(0.0, mean - width), min(largest, mean + width)
