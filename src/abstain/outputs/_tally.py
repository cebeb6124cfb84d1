"""Count equal rows in the engine that holds them: the one scan behind an evaluation of any number of rows.

All that an evaluation reads of a row is its score, loss, weight, groups and cluster. Rows that are equal in these are
counted by one ``group_by``, and only the counts come back. Missing scores and impossible losses are keys as well, so
nothing has to be looked for in a scan of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._checks import UnmetNeed
from abstain._typing import FloatArray, IntArray
from abstain.outputs._engine import PROBLEMS, Rows
from abstain.outputs._fingerprint import fingerprint
from abstain.outputs._outputs import Outputs

#: Names of the columns of a count.
SCORE, MISSING, LOSS, WEIGHT, CLUSTER, TIMES, GROUP = (
    f"abstain_{name}" for name in ("score", "missing", "loss", "weight", "cluster", "times", "group_")
)
#: More different rows than this are no summary.
MOST = 20_000_000


@dataclass(frozen=True, eq=False)
class Tally:
    """Rows of one score that are equal, kept once with how often they occur.

    ``groups``: per group column its values, and of each entry the place of its value.
    """

    score: FloatArray
    loss: FloatArray
    weight: FloatArray | None
    clusters: IntArray | None
    groups: Mapping[str, tuple[Any, IntArray]]
    times: FloatArray

    def canonical(self) -> Sequence[tuple[str, Any]]:
        """Return what was counted, in an order that no partition changes: for a fingerprint."""
        columns = [self.times, self.loss, self.score]
        columns += [] if self.weight is None else [self.weight]
        order = np.lexsort(columns)
        return [(f"column {k}", column[order]) for k, column in enumerate(columns)]


def counted(rows: Rows, score: str, groups: Sequence[str]) -> Any:
    """Return the lazy frame of the different rows of a score with their numbers."""
    import narwhals as nw

    number = rows.score(score)
    missing = number.is_null() | number.is_nan()
    columns = {
        SCORE: nw.when(missing).then(0.0).otherwise(number),
        MISSING: nw.when(missing).then(1).otherwise(0),
        LOSS: rows.loss(score),
    }
    weight = rows.weight()
    if weight is not None:
        columns[WEIGHT] = weight
    if "clusters" in rows.single:
        columns[CLUSTER] = nw.col(rows.single["clusters"])
    columns |= {f"{GROUP}{k}": nw.col(rows.group(name)) for k, name in enumerate(groups)}
    picked = rows.frame.select(**columns).with_columns(nw.lit(1, nw.Int64).alias(TIMES))
    return picked.group_by(list(columns)).agg(nw.col(TIMES).sum()).head(MOST + 1)


def collected(frames: list[Any]) -> list[Any]:
    """Return lazy frames as frames in memory: in one scan where the engine shares it, else in one scan each."""
    import narwhals as nw

    natives = [frame.to_native() for frame in frames]
    if frames[0].implementation.is_polars():
        import polars

        return [nw.from_native(each) for each in polars.collect_all(natives, engine="streaming")]
    if frames[0].implementation.is_dask():
        import dask

        return [nw.from_native(each) for each in dask.compute(*natives)]
    return [frame.collect() for frame in frames]


def read(rows: Rows, score: str, groups: Sequence[str], found: Any, most_groups: int) -> Tally:
    """Return the counts that came back, checked; an error names columns and numbers of rows."""
    if len(found) > MOST:
        raise UnmetNeed(
            f"score {score!r}: more than {MOST} different rows (score, loss, weight, group and cluster), which is no "
            "summary any more; round the score or the loss, or count in bins, which bounds every area "
            "(abstain summarize)"
        )
    times = _floats(found[TIMES])
    if not times.sum():
        raise ValueError("the frame has no rows; at least one sample is needed")
    loss = _floats(found[LOSS])
    _refuse(loss, times, rows.about(score), "loss")
    weight = None
    if WEIGHT in found.columns:
        weight = _floats(found[WEIGHT])
        _refuse(weight, times, f"column {rows.single['sample_weight']!r}", "weight")
        if not (weight * times).sum() > 0.0:
            raise ValueError(f"column {rows.single['sample_weight']!r} sums to 0; a row needs a positive weight")
    clusters = _codes(found, CLUSTER, rows.single["clusters"]) if CLUSTER in found.columns else None
    by = {name: _coded(found, f"{GROUP}{k}", name, most_groups) for k, name in enumerate(groups)}
    scores = np.where(_floats(found[MISSING]) > 0.0, np.nan, _floats(found[SCORE]))
    return Tally(scores + 0.0, loss, weight, clusters, by, times)


def _floats(series: Any) -> FloatArray:
    return np.asarray(series.to_numpy(), dtype=np.float64)


def _refuse(column: FloatArray, times: FloatArray, about: str, role: str) -> None:
    for code, problem in PROBLEMS.items():
        number = int(times[column == code].sum())
        if number:
            raise ValueError(
                f"{about} is {problem} in {number} rows, which gives no {role}; filter or repair these rows"
            )


def _no_nulls(found: Any, key: str, name: str) -> Any:
    series = found[key]
    if series.is_null().any():
        number = int(_floats(found[TIMES])[series.is_null().to_numpy()].sum())
        raise ValueError(f"column {name!r} is null in {number} rows; filter or fill these rows")
    return series


def _codes(found: Any, key: str, name: str) -> IntArray:
    values = _no_nulls(found, key, name).to_numpy()
    numbers: IntArray = np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)[1]
    return numbers


def _coded(found: Any, key: str, name: str, most: int) -> tuple[Any, IntArray]:
    """Return the values of a group column, sorted as in memory, and the place of each entry's value."""
    series = _no_nulls(found, key, name)
    values = series.unique().to_list()
    if len(values) > most:
        raise ValueError(
            f"groups={name!r} has {len(values)} distinct values, more than {most}; "
            "give a column with fewer, for example intervals of a measured quantity"
        )
    groups = Outputs(loss=np.zeros(len(values)), groups={name: values}).groups
    assert groups is not None
    known = np.asarray(groups[name])
    order = np.argsort(known)
    place = np.empty(len(series), dtype=np.intp)
    for k, j in enumerate(order.tolist()):
        place[(series == values[j]).to_numpy()] = k
    return known[order], place


@dataclass(frozen=True, eq=False)
class Counted:
    """The tallies of a frame by score, and what its columns were understood to be."""

    tallies: Mapping[str, Tally]
    engine: str
    understood: Mapping[str, str]
    notes: Sequence[str]

    @property
    def fingerprint(self) -> str:
        """A hash of what was counted: the same for any partition and order of the rows."""
        named = [
            (f"{name} {part}", column) for name, tally in self.tallies.items() for part, column in tally.canonical()
        ]
        return fingerprint(named, None, None)


def count(
    frame: Any,
    external: Callable[[Any], list[str]],
    scores: Sequence[str] | None,
    default: Callable[[Outputs], str],
    groups: Sequence[str],
    columns: Mapping[str, Any],
    most_groups: int,
) -> Counted:
    """Count the equal rows of a lazy frame of Narwhals, score by score.

    ``external``: which of the asked scores are columns of the first rows; ``default``: the score where none is asked.
    """
    rows = Rows.of(frame, external, groups, columns)
    names = list(scores or [default(rows.first)])
    found = collected([counted(rows, name, groups) for name in names])
    tallies = {name: read(rows, name, groups, each, most_groups) for name, each in zip(names, found, strict=True)}
    engine = str(frame.implementation).removeprefix("Implementation.").lower()
    understood = rows.first.understood("" if scores else names[0])
    assert rows.first.origin is not None
    return Counted(tallies, engine, understood, rows.first.origin.notes)
