"""Plans as files: a table with one row per row of the pool, and what the plan was made from in its first row."""

from __future__ import annotations

import json
import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._extras import need
from abstain._files import restored, without_formulas, write_file
from abstain._typing import AnyArray, Array, ArrayLike, Document, FloatArray, PolarsFrame
from abstain.outputs import scan_parquet

if TYPE_CHECKING:
    from abstain.pool._plan import LabelPlan

_KINDS = (".parquet", ".csv", ".json")


class MovedRows(ValueError):
    """The rows of a plan are in another order, which cannot be undone."""


def save(plan: LabelPlan, path: str | os.PathLike[str]) -> None:
    """Write a plan as .parquet, .csv or .json."""
    kind = kind_of(path)
    made = {
        "metric": plan.metric, "design": plan.design, "facts": plan.facts.to_dict(), "digest": plan.digest,
        "ids": plan.ids is not None, "escaped": kind == ".csv",
    }  # fmt: skip
    columns: dict[str, Any] = {
        "id": np.arange(1, plan.n + 1).astype(str) if plan.ids is None else plan.ids,
        "stage": plan.stage,
        "to_label": plan.stage == plan.n_stages,
        **{f"probability_{k + 1}": chance for k, chance in enumerate(plan.probability)},
        "confidence": plan.confidence,
    }
    if plan.judge is not None:
        columns["judge"] = plan.judge
    if plan.other is not None:
        columns |= {"other": plan.other, "differs": plan.differs}
    text = json.dumps(made)
    if kind == ".json":
        whole = {"plan": made, "rows": {name: _written(column) for name, column in columns.items()}}
        write_file(path, lambda file: file.write(json.dumps(whole).encode()))
        return
    pl = _polars(kind)
    frame = pl.DataFrame({name: pl.Series(name, _listed(column)) for name, column in columns.items()})
    frame = frame.with_columns(pl.Series("plan", [text] + [""] * (plan.n - 1)))
    write_file(path, frame.write_parquet if kind == ".parquet" else without_formulas(frame).write_csv)


def read(name: str, kind: str) -> tuple[Document, dict[str, Array]]:
    """Return what a plan was made from, and its columns."""
    if kind == ".json":
        with open(name, encoding="utf-8") as file:
            whole = json.load(file)
        return whole["plan"], whole["rows"]
    pl = _polars(kind)
    try:
        frame = (
            scan_parquet(name).collect()
            if kind == ".parquet"
            else pl.read_csv(name, schema_overrides={"id": pl.String, "plan": pl.String})
        )
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error).splitlines()[0]) from None
    if "plan" not in frame.columns:
        raise KeyError("plan")
    first = next((row for row, text in enumerate(frame["plan"]) if text), 0)
    made = json.loads(frame["plan"][first])
    if first:
        frame = _unsorted(pl, frame, made["ids"], first)
    columns = {column: frame[column].to_list() for column in frame.columns if column != "plan"}
    if made.get("escaped"):  # not in files of older versions
        columns["id"] = [restored(str(each)) for each in columns["id"]]
    return made, columns


def _unsorted(pl: ModuleType, frame: PolarsFrame, named: bool, first: int) -> PolarsFrame:
    """Return the rows in the order of the pool, which a spreadsheet has sorted; row numbers show it, names do not."""
    if not named:
        number = frame["id"].cast(pl.Int64, strict=False)
        if number.sort().to_list() == list(range(1, frame.height + 1)):
            return frame[number.arg_sort()]
    raise MovedRows(
        f"its rows were sorted: what it was made from stands in data row {first + 1}, not in the first one; undo the "
        "sorting (the first row is that with text in the column 'plan'), and filter to_label where you want to sort"
    )


def kind_of(path: str | os.PathLike[str]) -> str:
    """Return the ending of a plan's name, or say which there are."""
    kind = os.path.splitext(os.fspath(path))[1].lower()
    if kind not in _KINDS:
        raise ValueError(f"{os.fspath(path)}: a plan is a .parquet, .csv or .json file; give such a name")
    return kind


def _polars(kind: str) -> ModuleType:
    need(f"a plan as {kind}", "polars", instead=" (or use .json)")
    import polars

    return polars


def _listed(column: AnyArray) -> AnyArray | list[str]:
    return column.tolist() if column.dtype.kind in "US" else column


def _written(column: AnyArray) -> list[object]:
    """Return a column for JSON, which has no word for an infinity."""
    if column.dtype.kind != "f":
        return list(column.tolist())
    return [value if np.isfinite(value) else repr(value) for value in column.tolist()]


def numbers(column: ArrayLike) -> FloatArray:
    """Return a column as numbers; JSON has infinities as text."""
    return np.array([float(value) for value in column])
