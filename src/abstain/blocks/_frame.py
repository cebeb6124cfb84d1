"""Build the table from a data frame with one lazy ``group_by``; see ``TieBlocks.from_frame``.

The same pass counts what must not be there. Every engine leaves null losses out of a sum but not out of
a count (the risk would silently be too low), pyarrow keeps -0.0 apart from 0.0, and DuckDB returns
Decimals: hence the cast to Float64, the ``+ 0.0`` and the counters.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._checks import LARGEST, closest
from abstain._typing import FloatArray, NanPolicy
from abstain.blocks._parts import Moments
from abstain.blocks._samples import without_empty

if TYPE_CHECKING:
    from abstain.blocks._table import TieBlocks


def build(
    make: type[TieBlocks],
    frame: Any,
    confidence: str,
    loss: str,
    sample_weight: str | None,
    nan_policy: NanPolicy,
    oracle: bool,
    moments: bool,
) -> TieBlocks:
    """Group the frame by score, refuse bad rows, apply the NaN policy."""
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
        _check_column(name, dict(schema))
    weight = nw.lit(1.0) if sample_weight is None else _number(nw, schema, sample_weight)
    rows = lazy.select(
        abstain_score=_number(nw, schema, confidence).fill_null(float("nan")),
        abstain_loss=_number(nw, schema, loss),
        abstain_weight=weight,
    )
    if sample_weight is not None:  # a row of weight 0 is none, and needs no score
        score = nw.col("abstain_score")
        nothing = score.is_nan() & (nw.col("abstain_weight") == 0.0)
        rows = rows.with_columns(abstain_score=nw.when(nothing).then(nw.lit(float("-inf"))).otherwise(score))
    table = _group(make, nw, rows, "abstain_score", nan_policy, moments, names)
    if not oracle or table.binary:
        return table
    if nan_policy == "drop":
        rows = rows.filter(~nw.col("abstain_score").is_nan())
    by_loss = _group(
        make, nw, rows.with_columns(abstain_key=0.0 - nw.col("abstain_loss")), "abstain_key", "raise", moments, names
    )
    return replace(table, _oracle=by_loss)


def _check_column(name: str, schema: dict[str, Any]) -> None:
    if name not in schema:
        raise ValueError(f"column {name!r} is not in the frame; {closest(str(name), map(str, schema))}")
    dtype = schema[name]
    if not (dtype.is_numeric() or str(dtype) == "Boolean"):
        raise TypeError(f"column {name!r} must be numeric, got {dtype}; cast it to numbers first")


def _number(nw: Any, schema: Any, name: str) -> Any:
    column = nw.col(name)
    if str(schema[name]) == "Boolean":  # some engines cannot cast bool to float in one step
        column = column.cast(nw.Int8)
    return column.cast(nw.Float64) + 0.0


def _group(
    make: type[TieBlocks], nw: Any, rows: Any, key: str, nan_policy: NanPolicy, moments: bool, names: list[str]
) -> TieBlocks:
    loss, weight = nw.col("abstain_loss"), nw.col("abstain_weight")

    def flag(condition: Any) -> Any:
        return nw.when(condition).then(1).otherwise(0)

    summands = {
        "m": weight,
        "s": weight * loss,
        "rows": nw.lit(1),
        "graded": flag((loss != 0.0) & (loss != 1.0) & (weight != 0.0)),
        "fractional": flag(weight != weight.round()),
    }
    for role, column in (("loss", loss), ("weight", weight)):
        summands |= {
            f"{role}_null": flag(column.is_null()),
            f"{role}_nan": flag(column.is_nan()),
            f"{role}_infinite": flag(column.abs() == float("inf")),
            f"{role}_negative": flag(column < 0.0),
            f"{role}_large": flag(column > LARGEST),
        }
    if moments:
        summands |= {
            "w2": weight * weight,
            "w2l": weight * weight * loss,
            "w2l2": weight * loss * weight * loss,
        }
    # plain sums of plain columns: some engines cannot aggregate anything else
    grouped = rows.select(key, **summands).group_by(key).agg(nw.col(*summands).sum()).collect()
    column = {name: np.asarray(grouped[name].to_numpy(), dtype=np.float64) for name in grouped.columns}
    if not len(column[key]):
        raise ValueError("frame has no rows; at least one sample is needed")
    _refuse_bad_rows(column, names)

    unscored = np.isnan(column[key])
    n_unscored = int(column["rows"][unscored].sum())
    if n_unscored and nan_policy == "raise":
        raise ValueError(
            f"column {names[0]!r} is null or NaN in {n_unscored} rows; "
            'pass nan_policy="reject" (ranked last, never accepted) or nan_policy="drop" (left out)'
        )
    if n_unscored and nan_policy == "drop":
        column = {name: values[~unscored] for name, values in column.items()}
        if not len(column[key]):
            raise ValueError(f'column {names[0]!r} is null or NaN in every row; nan_policy="drop" leaves nothing')
        _refuse_no_weight(column, names)
    elif n_unscored:
        column = _as_rejected(column, key, unscored)
    return _table(
        make,
        column, key, moments,
        n_rejected=n_unscored if nan_policy == "reject" else 0,
        n_dropped=n_unscored if nan_policy == "drop" else 0,
    )  # fmt: skip


def _refuse_bad_rows(column: dict[str, FloatArray], names: list[str]) -> None:
    for role, name in zip(("loss", "weight"), names[1:], strict=False):
        for problem in ("null", "nan", "infinite", "negative"):
            number = int(column[f"{role}_{problem}"].sum())
            if number:
                raise ValueError(
                    f"column {name!r} is {problem} in {number} rows; a {role} must be a finite number >= 0: "
                    "filter or repair these rows"
                )
        number = int(column[f"{role}_large"].sum())
        if number:
            raise ValueError(
                f"column {name!r} is above {LARGEST:g}, where sums overflow, in {number} rows; rescale the {role}"
            )
    _refuse_no_weight(column, names)


def _refuse_no_weight(column: dict[str, FloatArray], names: list[str]) -> None:
    total = column["m"].sum()
    if total == 0.0:
        raise ValueError(f"column {names[-1]!r} sums to 0; at least one row needs a positive weight")
    if total < 1.0 / LARGEST:
        raise ValueError(f"column {names[-1]!r} sums to {total:g}, where squares underflow; rescale the weights")


def _as_rejected(column: dict[str, FloatArray], key: str, unscored: Any) -> dict[str, FloatArray]:
    """Move the rows without a score to the score -inf, joining rows that are there already."""
    last = unscored | (column[key] == -np.inf)
    return {
        name: np.append(values[~last], -np.inf if name == key else values[last].sum())
        for name, values in column.items()
    }


def _table(make: type[TieBlocks], column: dict[str, FloatArray], key: str, moments: bool, **unscored: Any) -> TieBlocks:
    column = column | {key: column[key] + 0.0}  # some engines optimize the same addition away
    order = np.argsort(-column[key])
    column = {name: values[order] for name, values in column.items()}
    return without_empty(
        make(
            column[key], column["m"], column["s"], column["rows"],
            binary=not column["graded"].any(),
            frequencies=not column["fractional"].any(),
            moments=Moments(column["w2"], column["w2l"], column["w2l2"]) if moments else None,
            **unscored,
        )
    )  # fmt: skip
