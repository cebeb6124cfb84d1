"""Count equal rows in the engine that holds them: the one scan behind an evaluation of any number of rows.

All that is read of a row is its scores, losses, weight, groups and cluster. Rows that are equal in these are counted by
one ``group_by``, and only the counts come back. Missing scores and impossible losses are keys as well, so nothing has
to be looked for in a scan of its own. A score, whether it is missing, and its loss are three columns; ``_k`` in their
names distinguishes several scores.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from abstain._checks import UnmetNeed
from abstain._pace import Pace
from abstain._sums import ones
from abstain._typing import AnyArray, Array, ArrayLike, EagerFrame, FloatArray, IntArray, LazyFrame
from abstain.outputs._engine import PROBLEMS, REMEDY, Rows
from abstain.outputs._fingerprint import row_sums
from abstain.outputs._outputs import Outputs
from abstain.outputs._parts import Parts
from abstain.outputs._reading import understood

#: Names of the columns of a count.
SCORE, MISSING, LOSS, WEIGHT, CLUSTER, TIMES, GROUP = (
    f"abstain_{name}" for name in ("score", "missing", "loss", "weight", "cluster", "times", "group_")
)
#: More different rows than this are no summary; so many counts wait to be added up, at least.
MOST, WAITING = 20_000_000, 2_000_000
#: Which of the scores that are asked for are columns of these first rows; the score where none is asked for.
External = Callable[[EagerFrame], list[str]]
Default = Callable[[Outputs], str]


@dataclass(frozen=True, eq=False)
class Counted:
    """Rows that are equal, kept once with how often they occur.

    ``scores``, ``loss``: by the name of the score; a missing score is NaN, and so is a loss without a label where
    that is allowed. ``groups``: columns of Narwhals as the engine has them.
    """

    scores: Mapping[str, FloatArray]
    loss: Mapping[str, FloatArray]
    sample_weight: FloatArray | None
    clusters: IntArray | None
    groups: Mapping[str, Any]
    times: FloatArray

    def group(self, name: str, most: int) -> tuple[AnyArray, IntArray]:
        """Return the values of a group column, sorted as in memory, and the place of each entry's value."""
        series = self.groups[name]
        values = series.unique().to_list()
        if len(values) > most:
            raise ValueError(
                f"groups={name!r} has {len(values)} distinct values, more than {most}; "
                "give a column with fewer, for example intervals of a measured quantity"
            )
        known = group_names(values, name)
        order = np.argsort(known)
        place = np.empty(len(series), dtype=np.intp)
        for k, j in enumerate(order.tolist()):
            place[(series == values[j]).to_numpy()] = k
        return known[order], place

    @property
    def sums(self) -> tuple[int, int]:
        """What a fingerprint is made of: no order of the rows and no partition changes it."""
        weight = [] if self.sample_weight is None else [self.sample_weight]
        return row_sums([*self.scores.values(), *self.loss.values(), *weight], self.times)

    @property
    def fingerprint(self) -> str:
        """A hash of what was counted."""
        return hashlib.sha256(json.dumps([list(self.scores), self.sums]).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Counts:
    """The counted rows of a source by score, and the first rows as they were understood."""

    by_score: Mapping[str, Counted]
    engine: str
    first: Outputs
    named: bool

    @property
    def understood(self) -> dict[str, str]:
        """Which part each column plays, in words."""
        losses = [each.loss[name] for name, each in self.by_score.items()]
        span = np.array([end for each in losses for end in (each.min(), each.max())])
        return understood(self.first, "" if self.named else next(iter(self.by_score)), span)

    @property
    def notes(self) -> Sequence[str]:
        """What the reader should know."""
        return () if self.first.reading is None else self.first.reading.notes

    @property
    def fingerprint(self) -> str:
        """A hash of what was counted."""
        said = {name: each.sums for name, each in self.by_score.items()}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def count(
    source: Parts, scores: Sequence[str] | None, groups: Sequence[str], columns: Mapping[str, ArrayLike], *,
    external: External = lambda _: [], default: Default, unlabelled: bool = False,
) -> Counts:  # fmt: skip
    """Count the equal rows of all parts, score by score; ``unlabelled``: a loss may be missing, and no row be there."""
    with source.first.about():
        rows = Rows.of(source.first.frame, external, () if unlabelled else groups, columns, unlabelled)
        names = list(scores or [default(rows.first)])
    totals = _added(source, rows, len(names), lambda here: _apart(here, names, groups), names)
    found = {}
    for k, name in enumerate(names):
        found[name] = _checked(rows, [name], groups, totals[k], {}, unlabelled)
        totals[k] = None  # which is large
    return Counts(found, source.engine, rows.first, bool(scores))


def count_together(
    source: Parts, external: External, scores: Sequence[str], loss: Mapping[str, str], columns: Mapping[str, ArrayLike]
) -> Counted:
    """Count the rows of all parts that are equal in all scores; ``loss``: the columns of those with their own."""
    with source.first.about():
        rows = Rows.of(source.first.frame, external, (), columns)

    def side_by_side(here: Rows) -> list[EagerFrame]:
        frame, shared = _picked(here, scores, (), loss)
        return _collected([_grouped(frame, [*(name for k in range(len(scores)) for name in _of(k)), *shared])])

    [total] = _added(source, rows, 1, side_by_side, [scores])
    total = total.sort(*total.columns)  # engines give them in any order, which permutations would follow
    found = _checked(rows, scores, (), total, loss, False)
    for name, score in found.scores.items():
        if number := int(found.times[np.isnan(score)].sum()):
            raise ValueError(
                f"score {name!r} is null or NaN in {number} rows; a paired comparison needs the same rows "
                "throughout: filter these rows, or fill with -inf to reject them"
            )
    return found


def _added(
    source: Parts, rows: Rows, number: int, counted: Callable[[Rows], Iterable[EagerFrame]], names: Sequence[Any]
) -> list[Any]:
    """Return the sums of the counts of all parts, piece by piece."""
    totals, pace = [Sum() for _ in range(number)], Pace("counting rows", source.n)
    for part in source.parts:
        with part.about():
            for piece in part.pieces():
                for name, total, each in zip(names, totals, counted(rows.on(piece.frame)), strict=True):
                    total.add(each)
                    _refuse_too_many(name, total.different)
                pace.advance(piece.n)
    found = [total.all() for total in totals]
    for name, each in zip(names, found, strict=True):
        _refuse_too_many(name, len(each))
    return found


def _checked(
    rows: Rows,
    scores: Sequence[str],
    groups: Sequence[str],
    found: EagerFrame,
    own: Mapping[str, str],
    unlabelled: bool,
) -> Counted:
    """Return the counts that came back, checked; an error names columns and numbers of rows."""
    times = _floats(found[TIMES])
    if not unlabelled and not times.sum():
        raise ValueError("the frame has no rows; at least one sample is needed")
    values, losses = {}, {}
    for k, name in enumerate(scores):
        score, missing, loss = (_floats(found[column]) for column in _of(k))
        if unlabelled:
            loss = np.where((loss == -1.0) | (loss == -2.0), np.nan, loss)  # null or NaN: no label
        _refuse(loss, times, f"column {own[name]!r}" if name in own else rows.about(name), "loss")
        losses[name] = loss if loss.base is None else loss.copy()
        losses[name].flags.writeable = False  # whoever keeps it needs no copy
        values[name] = np.where(missing > 0.0, np.nan, score + 0.0)
    weight = clusters = None
    if WEIGHT in found.columns:
        weight, column = _floats(found[WEIGHT]), f"column {rows.single['sample_weight']!r}"
        _refuse(weight, times, column, "weight")
        if not (weight * times).sum() > 0.0:
            raise ValueError(f"{column} sums to 0; a row needs a positive weight")
    if CLUSTER in found.columns:
        codes = _complete(found, CLUSTER, rows.single["clusters"]).to_numpy()
        clusters = np.unique(codes.astype(str) if codes.dtype == object else codes, return_inverse=True)[1]
    split = {name: _complete(found, f"{GROUP}{k}", name) for k, name in enumerate(groups)}
    times = ones(len(times)) if (times == 1.0).all() else times
    return Counted(values, losses, weight, clusters, split, times)


def _floats(series: Array) -> FloatArray:
    return np.asarray(series.to_numpy(), dtype=np.float64)


def _refuse(column: FloatArray, times: FloatArray, about: str, role: str) -> None:
    for code, problem in PROBLEMS.items():
        if number := int(times[column == code].sum()):
            raise ValueError(
                f"{about} is {problem} in {number} rows, which gives no {role}; filter or repair these rows"
            )


def _complete(found: EagerFrame, key: str, name: str) -> Array:
    series = found[key]
    if series.is_null().any():
        number = int(_floats(found[TIMES])[series.is_null().to_numpy()].sum())
        raise ValueError(f"column {name!r} is null in {number} rows; filter or fill these rows")
    return series


def _refuse_too_many(name: str | Sequence[str], different: int) -> None:
    """Refuse what is no summary."""
    if different <= MOST:
        return
    if isinstance(name, str):
        raise UnmetNeed(
            f"score {name!r}: more than {MOST} different rows (score, loss, weight, group and cluster), which is no "
            "summary any more; round the score or the loss, or count in bins, which bounds every area: "
            "abstain.summaries"
        )
    raise UnmetNeed(
        f"scores {', '.join(map(repr, name))}: more than {MOST} rows differ in scores, loss, weight and "
        f"cluster, and no bounds are known of pairs; round the scores, or draw rows at random and {REMEDY}"
    )


def group_names(values: Sequence[object], name: str) -> AnyArray:
    """Return the values of a group column as they are called in memory: words, numbers, truth values."""
    told = [each if isinstance(each, str | int | float) else str(each) for each in values]  # such as dates
    groups = Outputs(loss=np.zeros(len(values)), groups={name: told}).groups
    assert groups is not None
    return np.asarray(groups[name])


# ---------------------------------------------------------------------- queries


def _of(k: int) -> list[str]:
    """Return the columns of one score."""
    return [f"{name}_{k}" for name in (SCORE, MISSING, LOSS)]


def _apart(rows: Rows, scores: Sequence[str], groups: Sequence[str]) -> list[EagerFrame]:
    """Return of each score the different rows with their numbers, in memory, from one scan."""
    import narwhals as nw

    frame, shared = _picked(rows, scores, groups, {})
    sets = [[*_of(k), *shared] for k in range(len(scores))]
    engine = frame.implementation
    if len(scores) > 1 and (engine.is_duckdb() or engine.is_pyspark()):
        together = _grouping_sets(frame, sets).head(len(sets) * (MOST + 1)).collect()
        found = [together.filter(~nw.col(_of(k)[1]).is_null()).select(*sets[k], TIMES) for k in range(len(scores))]
    else:
        found = _collected([_grouped(frame, keys) for keys in sets])
    return [each.rename(dict(zip(_of(k), _of(0), strict=True))) for k, each in enumerate(found)]


def _picked(
    rows: Rows, scores: Sequence[str], groups: Sequence[str], losses: Mapping[str, str]
) -> tuple[LazyFrame, list[str]]:
    """Return a lazy frame of what is read of each row, and the columns that all scores share."""
    import narwhals as nw

    frame = rows.frame
    for k, score in enumerate(scores):
        here = replace(rows, frame=frame)
        number = rows.score(score)
        missing = number.is_null() | number.is_nan()
        columns = (
            nw.when(missing).then(0.0).otherwise(number),
            nw.when(missing).then(nw.lit(1, nw.Int8)).otherwise(nw.lit(0, nw.Int8)),
            rows.checked(losses[score]) if score in losses else rows.loss(score),
        )
        frame = here.ready(score).with_columns(**dict(zip(_of(k), columns, strict=True)))
    weight = rows.weight()
    shared = {} if weight is None else {WEIGHT: weight}
    if "clusters" in rows.single:
        shared[CLUSTER] = rows.column(rows.single["clusters"])
    shared |= {f"{GROUP}{k}": rows.column(rows.group(name)) for k, name in enumerate(groups)}
    every = [name for k in range(len(scores)) for name in _of(k)]
    return frame.select(*every, **shared).with_columns(nw.lit(1, nw.Int64).alias(TIMES)), list(shared)


def _grouped(frame: LazyFrame, keys: Sequence[str]) -> LazyFrame:
    import narwhals as nw

    return frame.select(*keys, TIMES).group_by(list(keys)).agg(nw.col(TIMES).sum()).head(MOST + 1)


def _grouping_sets(frame: LazyFrame, sets: Sequence[Sequence[str]]) -> Any:
    """Return the counts of several sets of columns from one scan, as SQL has it; of other sets, columns are null."""
    import narwhals as nw

    native = frame.to_native()
    columns = ", ".join(dict.fromkeys(name for keys in sets for name in keys))  # names of ours need no quotes
    number, by = f"COUNT(*) AS {TIMES}", f"GROUPING SETS ({', '.join('(' + ', '.join(keys) + ')' for keys in sets)})"
    if frame.implementation.is_duckdb():
        return nw.from_native(native.aggregate(f"{columns}, {number}", by))
    query = f"SELECT {columns}, {number} FROM {{rows}} GROUP BY {by}"
    return nw.from_native(native.sparkSession.sql(query, rows=native))


def _collected(frames: list[Any]) -> list[EagerFrame]:
    """Return lazy frames as frames in memory, in one scan where the engine shares it."""
    import narwhals as nw

    natives = [frame.to_native() for frame in frames]
    if frames[0].implementation.is_polars():
        import polars

        return [nw.from_native(each) for each in polars.collect_all(natives, engine="streaming")]
    if frames[0].implementation.is_dask():
        import dask

        return [nw.from_native(each) for each in dask.compute(*natives)]
    return [frame.collect() for frame in frames]


class Sum:
    """The sum of counts of parts, which is made when as much has come as it holds."""

    def __init__(self) -> None:
        self._parts: list[EagerFrame] = []
        self._repeats = True
        self.different = 0

    def add(self, counts: EagerFrame) -> None:
        """Add the counts of a part."""
        self._parts.append(counts)
        if len(self._parts) == 1:
            self.different = len(counts)
            return
        waiting = sum(map(len, self._parts))
        if not self._repeats:
            self.different = waiting
        elif waiting > max(2 * len(self._parts[0]), WAITING):
            self.different = len(self.all())
            self._repeats = 2 * self.different < waiting

    def all(self) -> EagerFrame:
        """Return all counts as one frame; rows that hardly repeat are not looked for again in other parts."""
        if len(self._parts) > 1:
            import narwhals as nw

            kinds = self._parts[0].schema
            same = [
                part if part.schema == kinds else part.select(nw.col(name).cast(kind) for name, kind in kinds.items())
                for part in self._parts
            ]
            keys = [name for name in kinds if name != TIMES]
            joined = nw.concat(same)
            self._parts = [joined.group_by(keys).agg(nw.col(TIMES).sum()) if self._repeats else joined]
        return self._parts[0]
