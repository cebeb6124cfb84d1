"""A file of any kind as a lazy frame of polars, for what copies its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain.outputs import readers
from abstain.outputs._damaged import damaged
from abstain.outputs._frame import FrameColumns, bad_csv_row, csv_header, each_once, polars
from abstain.outputs._open import kind_of, open_source, regular
from abstain.outputs._page_sizes import check_sizes
from abstain.outputs._text_files import decimal_comma, rows_of_csv, separator_of


@dataclass(frozen=True)
class Scan:
    """Rows of a file, all of its columns; those of a CSV are the text that they were.

    Parameters
    ----------
    frame : polars.LazyFrame
    separator : str
        What parts the columns, in a CSV.
    decimal_comma : bool
        Whether numbers of a CSV have a comma.
    original : polars.DataFrame, optional
        The same rows with objects and lists as the file has them, where ``frame`` has them in columns.
    """

    frame: Any
    separator: str = ","
    decimal_comma: bool = False
    original: Any = None

    def flaw(self, path: str) -> str | None:
        """Return what is wrong with the first row that is too long."""
        return bad_csv_row(path) if path.lower().removesuffix(".gz").endswith((".csv", ".tsv")) else None


def scan(path: str) -> Scan:
    """Return the rows of a file that :func:`read_outputs` reads; Parquet and CSV are streamed, others are held whole.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        No such file; a folder.
    ValueError
        An empty or unknown file; a column that occurs twice.
    """
    regular(path)
    kind = kind_of(path) if path.lower().endswith((".csv", ".parquet", ".tsv", ".gz")) else ""
    with damaged(path):
        known = readers.recognised(readers.Peek(path))
    pl = polars("deciding files")
    if kind == "parquet" and known is None:
        check_sizes(path)
        return Scan(pl.scan_parquet(path, glob=False))
    if kind == "csv" and known is None:
        sign = separator_of(path)
        header = csv_header(path, sign)
        each_once(header, header)
        return Scan(rows_of_csv(path, sign, False, infer_schema=False), sign, decimal_comma(path, sign))
    columns = open_source(path).columns
    lines = known is None and path.lower().endswith((".jsonl", ".ndjson"))
    try:
        with damaged(path):
            original = None if hasattr(columns, "collected") or not lines else FrameColumns(path, "ndjson").collected()
            return Scan(_whole(pl, columns).lazy(), original=original)
    finally:
        columns.close()


def _whole(pl: Any, columns: Any) -> Any:
    """Return a frame of the columns that are held in memory; what has no row per sample is left out."""
    if hasattr(columns, "collected"):
        return columns.collected()
    names = [name for name, ndim in columns.columns.items() if ndim <= 2 and name != "class_names"]
    arrays = {name: np.asarray(each) for name, each in columns.load(names, set()).items()}
    arrays = {name: each for name, each in arrays.items() if each.ndim and name not in ("head_weight", "head_bias")}
    n = max((len(each) for each in arrays.values()), default=0)
    return pl.DataFrame([_series(pl, name, each) for name, each in arrays.items() if len(each) == n])


def _series(pl: Any, name: str, array: Any) -> Any:
    if array.dtype.kind in "OUS":
        return pl.Series(name, [None if value is None else str(value) for value in array.tolist()], dtype=pl.String)
    return pl.Series(name, np.ascontiguousarray(array))
