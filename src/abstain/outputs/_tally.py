"""Count equal rows in the engine that holds them: the one scan behind an evaluation of any number of rows.

All that an evaluation reads of a row is its score, loss, weight, groups and cluster. Rows that are equal in these are
counted by one ``group_by``, and only the counts come back. Missing scores and impossible losses are keys as well, so
nothing has to be looked for in a scan of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._checks import UnmetNeed
from abstain._pace import Pace
from abstain._sums import ones
from abstain._typing import FloatArray, IntArray
from abstain.outputs._count import CLUSTER, GROUP, LOSS, MISSING, MOST, SCORE, TIMES, WEIGHT, by_score
from abstain.outputs._engine import PROBLEMS, Rows
from abstain.outputs._outputs import Outputs
from abstain.outputs._parts import Parts
from abstain.outputs._reading import understood

#: So many counts wait to be added up, at least.
WAITING = 2_000_000
#: Entries whose numbers are mixed at once.
_ROWS = 1 << 18


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

    def sums(self) -> tuple[int, int]:
        """Return what a fingerprint is made of."""
        return sums([self.score, self.loss, *([] if self.weight is None else [self.weight])], self.times)


def sums(columns: Sequence[FloatArray], times: FloatArray) -> tuple[int, int]:
    """Return two sums over rows of numbers that follow from their columns: for a fingerprint.

    No order of the rows, no partition and no repetition among the entries changes them.
    """
    found = np.zeros(2, dtype=np.uint64)
    for start in range(0, len(times), _ROWS):
        rows = slice(start, start + _ROWS)
        number, mixed = times[rows].astype(np.uint64), np.zeros((), dtype=np.uint64)
        for column in columns:
            bits = np.where(np.isnan(column[rows]), np.inf, column[rows] + 0.0).view(np.uint64)
            mixed = _mixed(mixed ^ bits ^ (np.isnan(column[rows]).astype(np.uint64) << np.uint64(63)))
        found += np.array([(mixed * number).sum(), (_mixed(mixed) * number).sum()], dtype=np.uint64)
    return int(found[0]), int(found[1])


def _mixed(bits: Any) -> Any:
    """Return 64 bits that all depend on all of the given ones: the finalizer of SplitMix64."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return (bits ^ (bits >> np.uint64(31))) + np.uint64(0x9E3779B97F4A7C15)


def read(rows: Rows, score: str, groups: Sequence[str], found: Any, most_groups: int) -> Tally:
    """Return the counts that came back, checked; an error names columns and numbers of rows."""
    refuse_too_many(score, len(found))
    times = floats(found[TIMES])
    if not times.sum():
        raise ValueError("the frame has no rows; at least one sample is needed")
    loss = _own(floats(found[LOSS]))
    refuse(loss, times, rows.about(score), "loss")
    weight, clusters = shared(rows, found, times)
    by = {name: _coded(found, f"{GROUP}{k}", name, most_groups) for k, name in enumerate(groups)}
    missing = np.asarray(found[MISSING].to_numpy()) > 0
    scores = floats(found[SCORE]) + 0.0
    scores[missing] = np.nan
    times = ones(len(times)) if (times == 1.0).all() else times
    return Tally(scores, loss, weight, clusters, by, times)


def _own(column: FloatArray) -> FloatArray:
    """Return a column that nobody can write to, so that whoever keeps it needs no copy."""
    column = column if column.base is None else column.copy()
    column.flags.writeable = False
    return column


def shared(rows: Rows, found: Any, times: FloatArray) -> tuple[FloatArray | None, IntArray | None]:
    """Return weights and clusters of counts, checked."""
    weight = None
    if WEIGHT in found.columns:
        weight = floats(found[WEIGHT])
        refuse(weight, times, f"column {rows.single['sample_weight']!r}", "weight")
        if not (weight * times).sum() > 0.0:
            raise ValueError(f"column {rows.single['sample_weight']!r} sums to 0; a row needs a positive weight")
    return weight, _codes(found, CLUSTER, rows.single["clusters"]) if CLUSTER in found.columns else None


def floats(series: Any) -> FloatArray:
    return np.asarray(series.to_numpy(), dtype=np.float64)


def refuse(column: FloatArray, times: FloatArray, about: str, role: str) -> None:
    for code, problem in PROBLEMS.items():
        number = int(times[column == code].sum())
        if number:
            raise ValueError(
                f"{about} is {problem} in {number} rows, which gives no {role}; filter or repair these rows"
            )


def complete(found: Any, key: str, name: str) -> Any:
    series = found[key]
    if series.is_null().any():
        number = int(floats(found[TIMES])[series.is_null().to_numpy()].sum())
        raise ValueError(f"column {name!r} is null in {number} rows; filter or fill these rows")
    return series


def _codes(found: Any, key: str, name: str) -> IntArray:
    values = complete(found, key, name).to_numpy()
    numbers: IntArray = np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)[1]
    return numbers


def group_names(values: Sequence[Any], name: str) -> Any:
    """Return the values of a group column as they are called in memory: words, numbers, truth values."""
    told = [each if isinstance(each, str | int | float) else str(each) for each in values]  # such as dates
    groups = Outputs(loss=np.zeros(len(values)), groups={name: told}).groups
    assert groups is not None
    return np.asarray(groups[name])


def _coded(found: Any, key: str, name: str, most: int) -> tuple[Any, IntArray]:
    """Return the values of a group column, sorted as in memory, and the place of each entry's value."""
    series = complete(found, key, name)
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
        said = json.dumps({name: tally.sums() for name, tally in self.tallies.items()}, sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()


def count(
    source: Parts,
    external: Callable[[Any], list[str]],
    scores: Sequence[str] | None,
    default: Callable[[Outputs], str],
    groups: Sequence[str],
    columns: Mapping[str, Any],
    most_groups: int,
) -> Counted:
    """Count the equal rows of all parts, score by score.

    ``external``: which of the asked scores are columns of the first rows; ``default``: the score where none is asked.
    """
    with source.first.about():
        rows = Rows.of(source.first.frame, external, groups, columns)
        names = list(scores or [default(rows.first)])
    totals, pace = [Sum() for _ in names], Pace("counting rows", source.n)
    for part in source.parts:
        with part.about():
            for piece in part.pieces():
                here = rows.on(piece.frame)
                found = by_score(here, names, groups)
                for name, total, each in zip(names, totals, found, strict=True):
                    total.add(each)
                    refuse_too_many(name, total.different)
                pace.advance(piece.n)
    tallies = {name: read(rows, name, groups, totals.pop(0).all(), most_groups) for name in names}
    losses = np.array([end for each in tallies.values() for end in (each.loss.min(), each.loss.max())])
    assert rows.first.reading is not None
    said = understood(rows.first, "" if scores else names[0], losses)
    return Counted(tallies, source.engine, said, rows.first.reading.notes)


class Sum:
    """The sum of counts of parts, which is made when as much has come as it holds."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._repeats = True
        self.different = 0

    def add(self, counts: Any) -> None:
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

    def all(self) -> Any:
        """Return all counts as one frame; rows that hardly repeat are not looked for again in other parts."""
        if len(self._parts) > 1:
            import narwhals as nw

            kinds = self._parts[0].schema
            same = [part if part.schema == kinds else _cast(part, kinds) for part in self._parts]
            keys = [name for name in kinds if name != TIMES]
            joined = nw.concat(same)
            self._parts = [joined.group_by(keys).agg(nw.col(TIMES).sum()) if self._repeats else joined]
        return self._parts[0]


def _cast(part: Any, kinds: Mapping[str, Any]) -> Any:
    import narwhals as nw

    return part.select(nw.col(name).cast(kind) for name, kind in kinds.items())


def refuse_too_many(score: str, different: int) -> None:
    """Refuse what is no summary."""
    if different > MOST:
        raise UnmetNeed(
            f"score {score!r}: more than {MOST} different rows (score, loss, weight, group and cluster), which is no "
            "summary any more; round the score or the loss, or count in bins, which bounds every area: "
            "abstain.summaries"
        )
