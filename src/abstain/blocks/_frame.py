"""Build the table from a data frame; see ``TieBlocks.from_frame``.

Where many rows share a score, the engine that holds them groups them: one pass counts what must not be there, one
sums. Where scores are mostly distinct, a group holds hardly more than a row, and grouping in an engine costs many times
what reading the two columns does: they are read, and sorted as arrays are. The first rows show which it will be; a
wrong guess costs time and changes nothing.

Every engine leaves null losses out of a sum but not out of a count (the risk would silently be too low), pyarrow keeps
-0.0 apart from 0.0, and DuckDB returns Decimals: hence the cast to Float64, the ``+ 0.0`` and the counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._checks import LARGEST, LARGEST_BITS, closest, engine_of, refuse_pattern
from abstain._typing import BoolArray, FloatArray, Frame, LazyFrame, NanPolicy
from abstain.blocks._parts import Moments
from abstain.blocks._samples import failures, of_columns, without_empty

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow

    from abstain.blocks._table import TieBlocks

#: Names of the columns while they are computed with, so that no column of the frame is in the way.
KEY, LOSS, WEIGHT = "abstain_score", "abstain_loss", "abstain_weight"
#: How many first rows show whether scores tie; how many rows a group must hold on average to be summed by the engine.
FIRST, WIDE = 65_536, 8.0

NO_ROWS = "frame has no rows; at least one sample is needed"

#: Columns in memory, and how many of their numbers are missing: these have become NaN.
Read = tuple[dict[str, FloatArray], dict[str, int]]


def build(
    make: type[TieBlocks],
    frame: Frame,
    confidence: str,
    loss: str,
    sample_weight: str | None,
    nan_policy: NanPolicy,
    oracle: bool,
    moments: bool,
) -> TieBlocks:
    """Check the columns by name, and build the table by whichever way is cheaper."""
    import narwhals as nw

    try:
        lazy = nw.from_native(frame).lazy()
    except TypeError as error:
        raise TypeError(
            f"frame of type {type(frame).__name__} is no data frame that narwhals reads; "
            "pass a polars, pandas, pyarrow or DuckDB frame, or use TieBlocks.from_samples for arrays"
        ) from error
    names = [confidence, loss] if sample_weight is None else [confidence, loss, sample_weight]
    schema = lazy.collect_schema()
    for name in names:
        if name not in schema:
            raise ValueError(f"column {name!r} is not in the frame; {closest(str(name), map(str, schema))}")
        if not (schema[name].is_numeric() or str(schema[name]) == "Boolean"):
            raise TypeError(f"column {name!r} must be numeric, got {schema[name]}; cast it to numbers first")
        refuse_pattern(name, engine_of(lazy))
    columns = {KEY: _number(schema, confidence).fill_null(float("nan")), LOSS: _number(schema, loss)}
    if sample_weight is not None:
        columns[WEIGHT] = _number(schema, sample_weight)
    rows = lazy.select(**columns)
    number = int(rows.select(nw.len().alias("n")).collect()["n"][0])
    if not number:
        raise ValueError(NO_ROWS)
    read = _ungrouped(rows, engine_of(lazy), number)
    if read is not None:
        return _read(make, *read, names, nan_policy, oracle, moments)
    if sample_weight is not None:  # a row of weight 0 is none, and needs no score
        nothing = _unscored() & (nw.col(WEIGHT) == 0.0)
        rows = rows.with_columns(nw.when(nothing).then(nw.lit(float("-inf"))).otherwise(nw.col(KEY)).alias(KEY))
    facts = _facts(rows, nan_policy, names)
    table = _group(make, rows, nan_policy, moments, names, facts)
    if not oracle or table.binary:
        return table
    if nan_policy == "drop":
        rows = rows.filter(~_unscored())
    by_loss = rows.with_columns((0.0 - nw.col(LOSS)).alias(KEY))
    return replace(table, _oracle=_group(make, by_loss, "raise", moments, names, facts))


def _ungrouped(rows: LazyFrame, engine: str, number: int) -> Read | None:
    """Return the columns; None where a group holds several rows, as far as the first ones show."""
    if engine == "duckdb" and number >= FIRST:
        try:
            return _streamed(rows.to_native(), rows.collect_schema().names(), number)
        except (OSError, ValueError):  # what the engine refuses, in the classes of Arrow; below it says so itself
            pass
    if number >= FIRST and _worth_grouping(rows.select(KEY).head(FIRST).collect()[KEY].to_numpy(), number):
        return None
    return _columns(rows.collect())


def _worth_grouping(first: FloatArray, number: int) -> bool:
    """Whether a group holds several rows, as far as the first ones show: Chao's estimate of the number of scores.

    Scores seen once and twice say how many are still unseen; where none is seen twice, there is no end to them.
    """
    seen = np.unique(np.unique(first, return_counts=True)[1], return_counts=True)
    times = dict(zip(*(each.tolist() for each in seen), strict=True))
    distinct, once, twice = sum(times.values()), times.get(1, 0), times.get(2, 0)
    expected = distinct + once * (once - 1) / (2.0 * (twice + 1))
    return bool(number > WIDE * expected)


def _columns(frame: nw.DataFrame[Any]) -> Read:
    """Return the columns of a frame in memory."""
    found = {name: np.asarray(frame[name].to_numpy(), dtype=np.float64) for name in frame.columns}
    return found, {name: int(frame[name].null_count()) for name in frame.columns}


def _streamed(relation: object, names: list[str], number: int) -> Read | None:
    """Return the same of a relation of DuckDB, read in parts: a whole table takes as much memory again to be joined."""
    import pyarrow

    with pyarrow.RecordBatchReader.from_stream(relation) as batches:
        first = _first(batches)
        if first and _worth_grouping(np.concatenate([_of_batch(each, KEY) for each in first])[:FIRST], number):
            return None
        return _joined(chain(first, batches), names, number)


def _of_batch(batch: pyarrow.RecordBatch, name: str) -> FloatArray:
    """Return a column of a part; what is missing becomes NaN."""
    return np.asarray(batch.column(name).to_numpy(zero_copy_only=False))


def _first(batches: Iterator[pyarrow.RecordBatch]) -> list[pyarrow.RecordBatch]:
    """Return as many parts as hold the first rows."""
    found: list[pyarrow.RecordBatch] = []
    while sum(each.num_rows for each in found) < FIRST and (batch := next(batches, None)) is not None:
        found.append(batch)
    return found


def _joined(batches: Iterable[pyarrow.RecordBatch], names: list[str], number: int) -> Read:
    """Write the parts below each other; a relation that draws rows anew may hold others than were counted."""
    column, missing, start = {name: np.empty(number) for name in names}, dict.fromkeys(names, 0), 0
    for batch in batches:
        stop = start + batch.num_rows
        for name in names:
            if stop > len(column[name]):
                column[name] = np.append(column[name], np.empty(stop - start))
            column[name][start:stop] = _of_batch(batch, name)
            missing[name] += batch.column(name).null_count
        start = stop
    return {name: values[:start] for name, values in column.items()}, missing


def _read(
    make: type[TieBlocks],
    column: dict[str, FloatArray],
    missing: dict[str, int],
    names: list[str],
    nan_policy: NanPolicy,
    oracle: bool,
    moments: bool,
) -> TieBlocks:
    """Build the table from columns in memory as from arrays, with the errors of a frame."""
    if not len(column[KEY]):  # rows that are drawn anew are others than were counted
        raise ValueError(NO_ROWS)
    for role, name in zip((LOSS, WEIGHT), names[1:], strict=False):
        if column[role].view(np.uint64).max() > LARGEST_BITS:  # a sign, infinity and NaN are larger bits
            _refuse_bad_rows(_problems(column[role], missing[role]), role, name)
    weight = column.get(WEIGHT)
    if weight is not None:
        _refuse_no_weight(weight, names)
    unscored = np.isnan(column[KEY])
    if weight is not None:
        unscored &= weight > 0.0
    _refuse_unscored(int(unscored.sum()), nan_policy, names)
    if nan_policy == "drop" and unscored.all():
        raise ValueError(f'column {names[0]!r} is null or NaN in every row; nan_policy="drop" leaves nothing')
    if nan_policy == "drop" and weight is not None:
        _refuse_no_weight(weight[~unscored], names)
    loss = column.pop(LOSS)
    known = failures(loss, np)
    if known is not None and weight is None:
        loss = known  # says the same in an eighth of the memory
    return of_columns(make, np, loss, column.pop(KEY), weight, nan_policy, False, oracle, moments, known)


def _number(schema: Mapping[str, object], name: str) -> nw.Expr:
    import narwhals as nw

    column = nw.col(name)
    if str(schema[name]) == "Boolean":  # some engines cannot cast bool to float in one step
        column = column.cast(nw.Int8)
    return column.cast(nw.Float64) + 0.0


def _unscored() -> nw.Expr:
    """Return whether a score is missing; some engines turn NaN back into null."""
    import narwhals as nw

    return nw.col(KEY).is_null() | nw.col(KEY).is_nan()


def _flag(condition: nw.Expr) -> nw.Expr:
    import narwhals as nw

    return nw.when(condition).then(1).otherwise(0)


def _facts(rows: LazyFrame, nan_policy: NanPolicy, names: list[str]) -> dict[str, int]:
    """Count in one pass what must not be there, which is refused, and what the table must know of all rows."""
    import narwhals as nw

    counted: dict[str, nw.Expr] = {}
    for role, _ in zip((LOSS, WEIGHT), names[1:], strict=False):
        column = nw.col(role)
        problems = {
            "null": column.is_null(),
            "nan": column.is_nan(),
            "infinite": column.abs() == float("inf"),
            "negative": column < 0.0,
            "large": column > LARGEST,
        }
        counted |= {f"{role}_{problem}": _flag(bad) for problem, bad in problems.items()}
    graded = (nw.col(LOSS) != 0.0) & (nw.col(LOSS) != 1.0)
    if nan_policy == "drop":
        graded = graded & ~_unscored()
    if len(names) == 3:
        weight = nw.col(WEIGHT)
        graded = graded & (weight != 0.0)
        fractional = weight != weight.round()
        counted["fractional"] = _flag(fractional & ~_unscored() if nan_policy == "drop" else fractional)
    counted["graded"] = _flag(graded)
    # plain sums of plain columns: some engines cannot aggregate anything else
    sums = rows.select(nw.col(KEY), **counted).select(nw.col(*counted).sum()).collect()
    facts = {name: int(sums[name][0] or 0) for name in counted}
    for role, name in zip((LOSS, WEIGHT), names[1:], strict=False):
        start = f"{role}_"
        _refuse_bad_rows({key[len(start) :]: n for key, n in facts.items() if key.startswith(start)}, role, name)
    return facts


def _group(
    make: type[TieBlocks],
    rows: LazyFrame,
    nan_policy: NanPolicy,
    moments: bool,
    names: list[str],
    facts: dict[str, int],
) -> TieBlocks:
    import narwhals as nw

    loss, weighted = nw.col(LOSS), len(names) == 3
    weight = nw.col(WEIGHT) if weighted else nw.lit(1.0)
    summands = {"rows": nw.lit(1), "s": weight * loss if weighted else loss + 0.0}
    if weighted:
        summands["m"] = weight + 0.0
    if moments:
        square = weight * weight
        summands |= {"w2": square, "w2l": square * loss, "w2l2": weight * loss * weight * loss}
    grouped = rows.select(KEY, **summands).group_by(KEY).agg(nw.col(*summands).sum()).collect()
    column = {name: np.asarray(grouped[name].to_numpy(), dtype=np.float64) for name in grouped.columns}
    column.setdefault("m", column["rows"])
    if not len(column[KEY]):
        raise ValueError(NO_ROWS)
    _refuse_no_weight(column["m"], names)

    unscored = np.isnan(column[KEY])
    n_unscored = int(column["rows"][unscored].sum())
    _refuse_unscored(n_unscored, nan_policy, names)
    if n_unscored and nan_policy == "drop":
        column = {name: values[~unscored] for name, values in column.items()}
        if not len(column[KEY]):
            raise ValueError(f'column {names[0]!r} is null or NaN in every row; nan_policy="drop" leaves nothing')
        _refuse_no_weight(column["m"], names)
    elif n_unscored:
        column = _as_rejected(column, unscored)
    return _table(
        make,
        column,
        facts,
        moments,
        n_rejected=n_unscored if nan_policy == "reject" else 0,
        n_dropped=n_unscored if nan_policy == "drop" else 0,
    )


def _refuse_unscored(number: int, nan_policy: NanPolicy, names: list[str]) -> None:
    if number and nan_policy == "raise":
        raise ValueError(
            f"column {names[0]!r} is null or NaN in {number} rows; "
            'pass nan_policy="reject" (ranked last, never accepted) or nan_policy="drop" (left out)'
        )


def _problems(column: FloatArray, null: int) -> dict[str, int]:
    """Count what must not be there; a null has become NaN."""
    with np.errstate(invalid="ignore"):
        bad = {"infinite": np.isinf(column), "negative": column < 0.0, "large": column > LARGEST}
    number = {name: int(np.count_nonzero(which)) for name, which in bad.items()}
    return {"null": null, "nan": int(np.count_nonzero(np.isnan(column))) - null, **number}


def _refuse_bad_rows(number: dict[str, int], role: str, name: str) -> None:
    role = role.removeprefix("abstain_")
    for problem in ("null", "nan", "infinite", "negative"):
        if number[problem]:
            bad = f"column {name!r} is {problem} in {number[problem]} rows"
            raise ValueError(f"{bad}; a {role} must be a finite number >= 0: filter or repair these rows")
    if number["large"]:
        raise ValueError(
            f"column {name!r} is above {LARGEST:g}, where sums overflow, in {number['large']} rows; rescale the {role}"
        )


def _refuse_no_weight(weight: FloatArray, names: list[str]) -> None:
    total = weight.sum()
    if total == 0.0:
        raise ValueError(f"column {names[-1]!r} sums to 0; at least one row needs a positive weight")
    if total < 1.0 / LARGEST:
        raise ValueError(f"column {names[-1]!r} sums to {total:g}, where squares underflow; rescale the weights")


def _as_rejected(column: dict[str, FloatArray], unscored: BoolArray) -> dict[str, FloatArray]:
    """Move the rows without a score to the score -inf, joining rows that are there already."""
    last = unscored | (column[KEY] == -np.inf)
    return {
        name: np.append(values[~last], -np.inf if name == KEY else values[last].sum())
        for name, values in column.items()
    }


def _table(
    make: type[TieBlocks],
    column: dict[str, FloatArray],
    facts: dict[str, int],
    moments: bool,
    *,
    n_rejected: int,
    n_dropped: int,
) -> TieBlocks:
    column = column | {KEY: column[KEY] + 0.0}  # some engines optimize the same addition away
    order = np.argsort(-column[KEY])
    column = {name: values[order] for name, values in column.items()}
    return without_empty(
        make(
            column[KEY],
            column["m"],
            column["s"],
            column["rows"],
            binary=not facts["graded"],
            frequencies=not facts.get("fractional"),
            moments=Moments(column["w2"], column["w2l"], column["w2l2"]) if moments else None,
            n_rejected=n_rejected,
            n_dropped=n_dropped,
        )
    )
