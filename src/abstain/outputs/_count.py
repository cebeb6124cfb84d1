"""Count equal rows where they are: by score, in one scan of each engine, or by several scores together.

A score, whether it is missing, and its loss are three columns; ``_k`` in their names tells several scores apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from abstain.outputs._engine import Rows

#: Names of the columns of a count.
SCORE, MISSING, LOSS, WEIGHT, CLUSTER, TIMES, GROUP = (
    f"abstain_{name}" for name in ("score", "missing", "loss", "weight", "cluster", "times", "group_")
)
#: More different rows than this are no summary.
MOST = 20_000_000


def by_score(rows: Rows, scores: Sequence[str], groups: Sequence[str]) -> list[Any]:
    """Return of each score the different rows with their numbers, in memory, from one scan."""
    import narwhals as nw

    frame, shared = _picked(rows, scores, groups, {})
    sets = [[*_of(k), *shared] for k in range(len(scores))]
    engine = frame.implementation
    if len(scores) > 1 and (engine.is_duckdb() or engine.is_pyspark()):
        together = _grouping_sets(frame, sets).head(len(sets) * (MOST + 1)).collect()
        found = [together.filter(~nw.col(_of(k)[1]).is_null()).select(*sets[k], TIMES) for k in range(len(scores))]
    else:
        found = _collected([_grouped(frame, keys).head(MOST + 1) for keys in sets])
    return [each.rename(dict(zip(_of(k), _NAMES, strict=True))) for k, each in enumerate(found)]


def together(rows: Rows, scores: Sequence[str], loss: Mapping[str, str]) -> Any:
    """Return the different rows of all scores side by side with their numbers, in memory; ``loss``: own columns."""
    frame, shared = _picked(rows, scores, (), loss)
    keys = [name for k in range(len(scores)) for name in _of(k)]
    return _collected([_grouped(frame, [*keys, *shared]).head(MOST + 1)])[0]


#: The columns of one score.
_NAMES = (SCORE, MISSING, LOSS)


def _of(k: int) -> list[str]:
    return [f"{name}_{k}" for name in _NAMES]


def _picked(rows: Rows, scores: Sequence[str], groups: Sequence[str], loss: Mapping[str, str]) -> tuple[Any, list[str]]:
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
            rows.checked(loss[score]) if score in loss else rows.loss(score),
        )
        frame = here.ready(score).with_columns(**dict(zip(_of(k), columns, strict=True)))
    weight = rows.weight()
    shared = {} if weight is None else {WEIGHT: weight}
    if "clusters" in rows.single:
        shared[CLUSTER] = rows.column(rows.single["clusters"])
    shared |= {f"{GROUP}{k}": rows.column(rows.group(name)) for k, name in enumerate(groups)}
    every = [name for k in range(len(scores)) for name in _of(k)]
    return frame.select(*every, **shared).with_columns(nw.lit(1, nw.Int64).alias(TIMES)), list(shared)


def _grouped(frame: Any, keys: Sequence[str]) -> Any:
    import narwhals as nw

    return frame.select(*keys, TIMES).group_by(list(keys)).agg(nw.col(TIMES).sum())


def _grouping_sets(frame: Any, sets: Sequence[Sequence[str]]) -> Any:
    """Return the counts of several sets of columns from one scan, as SQL has it; of other sets, columns are null."""
    import narwhals as nw

    native = frame.to_native()
    columns = ", ".join(dict.fromkeys(name for keys in sets for name in keys))  # names of ours need no quotes
    number, by = f"COUNT(*) AS {TIMES}", f"GROUPING SETS ({', '.join('(' + ', '.join(keys) + ')' for keys in sets)})"
    if frame.implementation.is_duckdb():
        return nw.from_native(native.aggregate(f"{columns}, {number}", by))
    query = f"SELECT {columns}, {number} FROM {{rows}} GROUP BY {by}"
    return nw.from_native(native.sparkSession.sql(query, rows=native))


def _collected(frames: list[Any]) -> list[Any]:
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
