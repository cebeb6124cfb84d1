"""Columns of a Parquet, CSV or JSON-lines file, read with polars; and what a text table is written with."""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import Any, TextIO

import numpy as np

from abstain._extras import need
from abstain._typing import Array, ArrayLike
from abstain.outputs._objects import NO_NUMBER, no_number

#: Signs that separate columns; the first that parts the header wins.
SEPARATORS = (",", ";", "\t", "|")


def open_text(path: str) -> TextIO:
    """Open a text file, compressed or not, for reading."""
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rt", newline="", encoding="utf-8-sig", errors="replace")
    return open(path, newline="", encoding="utf-8-sig", errors="replace")


def blank_lines(path: str, separator: str) -> list[int]:
    """Return which data rows of a table of several columns are blank lines, counted from 0; they are no rows."""
    opened: Any = gzip.open if path.lower().endswith(".gz") else open
    last = b""
    with opened(path, "rb") as file:
        while block := file.read(1 << 22):
            block = last + block.replace(b"\r", b"")
            if b"\n\n" in block:
                break
            last = block[-1:]
        else:
            return []
    with open_text(path) as file:
        rows = csv.reader(file, delimiter=separator)
        return [number for number, row in enumerate(rows) if not row] if len(next(rows, [])) > 1 else []


def rows_of_csv(path: str, separator: str, comma: bool, **options: Any) -> Any:
    """Return the rows of a CSV as a lazy frame of polars, without its blank lines."""
    import polars as pl

    frame = pl.scan_csv(path, separator=separator, decimal_comma=comma, glob=False, **options)
    blank = blank_lines(path, separator)
    if not blank:
        return frame
    empty = pl.int_range(pl.len()).is_in(blank) & pl.all_horizontal(pl.all().is_null())
    return frame.filter(~empty)


def separator_of(path: str) -> str:
    """Return the sign that separates the columns: a comma unless the header holds none."""
    with open_text(path) as file:
        first = file.readline()
    if "\0" in first:
        raise ValueError("is no UTF-8 text (UTF-16?); write it again as UTF-8")
    if path.lower().removesuffix(".gz").endswith(".tsv") and "\t" in first:
        return "\t"
    if len(next(csv.reader([first]), [])) > 1:
        return ","
    return next((sign for sign in SEPARATORS if sign in first), ",")


def decimal_comma(path: str, separator: str) -> bool:
    """Whether numbers are written with a comma, as spreadsheets of many countries do next to semicolons."""
    if separator == ",":
        return False
    with open_text(path) as file:
        body = "".join(line for _, line in zip(range(50), file, strict=False))
    number = r"(?:^|[{0}\s\"])-?\d*{1}\d+(?=[{0}\s\"]|$)"
    comma, point = (re.search(number.format(re.escape(separator), sign), body, re.MULTILINE) for sign in (",", r"\."))
    return comma is not None and point is None


def csv_header(path: str, separator: str | None = None) -> list[str]:
    """Return the names as the file has them: polars renames those that occur again."""
    sign = separator_of(path) if separator is None else separator
    with open_text(path) as file:
        names = next(csv.reader(file, delimiter=sign), [])
    if len(names) == 1 and (other := next((each for each in SEPARATORS if each in names[0]), None)):
        raise ValueError(f"has a single column, {names[0]!r}: it is separated by {other!r}; write commas")
    return names


def each_once(names: list[str], header: list[str]) -> None:
    """Refuse a name that several columns of the file have."""
    twice = next((name for name in names if header.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"column {twice!r} occurs {header.count(twice)} times; rename all but one")


def bad_csv_row(path: str) -> str | None:
    """Return what is wrong with the first row that has more fields than the header."""
    sign = separator_of(path)
    with open_text(path) as file:
        width = len(next(csv.reader(file, delimiter=sign), []))
    opened: Any = gzip.open if path.lower().endswith(".gz") else open
    with opened(path, "rb") as file:  # most files have no such line, not even one with signs in quotes
        if all(line.count(sign.encode()) < width for line in file):
            return None
    with open_text(path) as file:
        rows = csv.reader(file, delimiter=sign)
        next(rows)
        for number, row in enumerate(rows, start=1):
            if len(row) > width:
                return f"data row {number} (line {rows.line_num}) has {len(row)} fields, the header has {width}"
    return None


#: Rows of Parquet that are read at once.
ROWS = 1 << 18


def polars(purpose: str) -> ModuleType:
    """Import polars, or say how to get it."""
    need(purpose, "polars", instead=" (or use .npz, which does not)")
    import polars

    return polars


def literal(name: str) -> str:
    """Return what polars reads as this name, also where the name itself looks like a pattern."""
    return f"^{re.escape(name)}$" if name == "*" or (name[:1] == "^" and name[-1:] == "$") else name


def scan_parquet(path: str) -> Any:
    """Return a Parquet file as a lazy frame of polars, whose pages pyarrow reads where it is installed.

    Where a damaged page states sizes that cannot be, polars ends the process, and pyarrow raises an error.
    """
    pl = polars("reading .parquet files")
    with readable(path, pl.exceptions.PolarsError, OSError):
        frame = pl.scan_parquet(path, glob=False)
        schema = frame.collect_schema()
    if find_spec("pyarrow") is None:
        return frame
    import pyarrow as pa
    import pyarrow.parquet as pq
    from polars.io.plugins import register_io_source

    def batches(names: list[str] | None, predicate: Any, n_rows: int | None, size: int | None) -> Iterator[Any]:
        with readable(path, pa.ArrowException, OSError), pq.ParquetFile(path, memory_map=True) as file:
            _check_places(path, file.metadata)
            for batch in file.iter_batches(size or ROWS, columns=names):
                part = pl.from_arrow(batch)
                part = part if names is None else part.select(map(literal, names))
                part = part if n_rows is None else part.head(n_rows)
                n_rows = None if n_rows is None else n_rows - len(part)
                yield part if predicate is None else part.filter(predicate)
                if n_rows == 0:
                    return

    return register_io_source(batches, schema=schema)


def _check_places(path: str, metadata: Any) -> None:
    """Raise an OSError where a column of a Parquet file reaches into the footer: pages before it are cut out."""
    end = os.path.getsize(path) - 8 - metadata.serialized_size
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            start = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
            if start + chunk.total_compressed_size > end:
                raise OSError(f"column {chunk.path_in_schema!r} lacks a part")


@contextmanager
def readable(path: str, *errors: type[Exception]) -> Iterator[None]:
    """Say of a Parquet file that it cannot be read."""
    try:
        yield
    except errors as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path}: is no readable Parquet file (truncated?): {reason}; write it again") from error


class FrameColumns:
    """The columns of one file; only those that are asked for are loaded."""

    def __init__(self, path: str, kind: str) -> None:
        self._polars = pl = polars(f"reading .{kind} files")
        self._path, self._kind = path, kind
        try:
            # types from all rows: a late decimal or word must not break the reading
            if kind == "parquet":
                self._lazy = scan_parquet(path)
            elif kind == "csv":
                sign = separator_of(path)
                if row := bad_csv_row(path):  # which polars notices only where it reads all columns
                    raise ValueError(f"{row}; repair it")
                self._dialect = (sign, decimal_comma(path, sign))
                self._lazy = rows_of_csv(path, *self._dialect, infer_schema_length=None)
            else:
                with open(path, "rb") as file:  # Windows writes a mark of the order of bytes
                    text = file.read() if file.read(3) == codecs.BOM_UTF8 else path
                self._lazy = pl.read_ndjson(text, infer_schema_length=None).lazy()
            self._schema = self._lazy.collect_schema()
            texts = [name for name, dtype in self._schema.items() if kind == "csv" and dtype == pl.String]
            first = self._lazy.select(map(literal, texts)).head(1).collect() if texts else pl.DataFrame()
            #: columns of a CSV whose text is a list of numbers, as NumPy, pandas and Spark write a matrix
            self._lists = {name for name in texts if first.height and is_list(first[name][0])}
        except (pl.exceptions.PolarsError, OSError) as error:
            raise ValueError(self._broken(error)) from error
        self._header = csv_header(path) if kind == "csv" else []
        nested = (pl.List, pl.Array)
        #: whether columns hold objects with fields of their own
        self.nested = any(_has_fields(pl, dtype) for dtype in self._schema.values())
        #: columns of a CSV as the file has them, where they were read as numbers
        self.written: dict[str, ArrayLike] = {}
        #: number of dimensions by column
        self.columns = {name: 2 if isinstance(dtype, nested) else 1 for name, dtype in self._schema.items()}
        self.columns |= dict.fromkeys(self._lists, 2)

    def is_words(self, name: str) -> bool:
        """Whether a column holds words."""
        return bool(self._schema.get(name) == self._polars.String)

    def truths(self, names: Iterable[str]) -> set[str]:
        """Return no columns: truth values of a file may be words of a group."""
        return set()

    def collected(self) -> Any:
        """Return the whole file as a data frame."""
        return self._lazy.collect()

    def load(self, names: list[str], numeric: set[str]) -> dict[str, ArrayLike]:
        """Return polars columns by name; those in ``numeric`` as Float64."""
        pl = self._polars
        each_once(names, self._header)
        read = {name: kind for name, kind in self._schema.items() if kind.is_numeric() and name not in numeric}
        coded = [name for name in names if name in read] if self._kind == "csv" else []
        try:
            lazy = self._lazy
            if coded:
                schema = {**self._schema, **dict.fromkeys(coded, pl.String)}
                lazy = rows_of_csv(self._path, *self._dialect, schema=schema)
            frame = lazy.select(map(literal, names)).collect()
            if not frame.height:
                raise ValueError("has no rows; at least one sample is needed")
            self.written = {name: frame[name] for name in coded}
            frame = frame.with_columns(frame[name].cast(read[name], strict=False) for name in coded)
            whole = {name: frame[name].rechunk() for name in names}  # else each look at it as an array is a copy
            del frame
            return {name: self._column(whole.pop(name), name in numeric) for name in names}
        except (pl.exceptions.PolarsError, OSError) as error:
            raise ValueError(self._broken(error)) from error

    def stack(self, loaded: dict[str, ArrayLike], names: list[str]) -> ArrayLike:
        """Return a matrix of one column per name, or the one matrix of that name."""
        if len(names) == 1 and self.columns[names[0]] > 1:
            return loaded[names[0]]
        return np.ascontiguousarray(self._polars.DataFrame([loaded[name] for name in names]).to_numpy())

    def class_names(self, loaded: dict[str, ArrayLike]) -> list[str] | None:
        """Return the categories of the first Enum column: that is how ``write_outputs`` keeps class names."""
        for column in loaded.values():
            if getattr(column, "dtype", None) == self._polars.Enum:
                return [str(name) for name in column.dtype.categories]
        return None

    def head(self) -> None:
        """Tables have no place for a last layer."""
        return

    def passes(self) -> None:
        """Tables have no place for repeated passes."""
        return

    def _column(self, column: Any, numeric: bool) -> Any:
        pl = self._polars
        dtype = column.dtype
        if column.name in self._lists:
            return lists_in_text(column.to_list(), column.name)
        if isinstance(dtype, pl.List | pl.Array):
            return self._nested(column)
        if numeric and dtype == pl.String:
            return self._parsed(column)
        if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
            return column.cast(pl.Float64) if numeric or dtype in (pl.Null, pl.Decimal) else column
        if numeric:
            raise TypeError(f"column {column.name!r} must hold numbers, got {dtype}; choose another column")
        return column if dtype == pl.Enum else column.cast(pl.String)

    def _parsed(self, column: Any) -> Any:
        texts = column.str.strip_chars()
        values = texts.cast(self._polars.Float64, strict=False)
        bad = (values.is_null() & ~texts.str.to_lowercase().is_in(list(NO_NUMBER)).fill_null(True)).to_numpy()
        if bad.any():
            row = int(np.argmax(bad))
            raise no_number(column.name, row, column[row], int(bad.sum()))
        return values

    def _nested(self, column: Any) -> Any:
        if column.dtype.inner == self._polars.String:
            raise TypeError(
                f"column {column.name!r} must hold lists of numbers, got words; write a column of 0 and 1 for each "
                "word, and give all of them: labels='y_*'"
            )
        lists = column.cast(self._polars.List(column.dtype.inner))
        width = lists.list.len().fill_null(0).to_numpy()
        odd = width != max(int(width[0]), 1)
        if odd.any():
            row = int(np.argmax(odd))
            raise ValueError(
                f"column {column.name!r} must hold lists of one length, but data row {row + 1} has {int(width[row])} "
                f"entries and row 1 has {int(width[0])}; repair these rows"
            )
        flat = lists.explode()
        if not flat.dtype.is_numeric():
            raise TypeError(f"column {column.name!r} must hold lists of numbers, got {column.dtype}; convert it first")
        return flat.cast(self._polars.Float64).to_numpy().reshape(len(column), -1)

    def _broken(self, error: Exception) -> str:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if self._kind == "parquet":
            return f"cannot be read: {reason}; write it again"
        row = _bad_json_row(self._path) if self._kind == "ndjson" else None
        return f"{row}; repair it" if row else f"cannot be read: {reason}; write it again as UTF-8 text"


_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_LIST = re.compile(rf"\s*[\[(]\s*{_NUMBER}(?:[\s,;]+{_NUMBER})+\s*[\])]\s*", re.IGNORECASE)


def is_list(text: str | None) -> bool:
    """Whether a text is a list of numbers: ``[0.1, 0.9]`` or ``[0.1 0.9]``."""
    return text is not None and _LIST.fullmatch(text) is not None


def lists_in_text(values: list[str | None], name: str) -> Array:
    """Return lists of numbers that were written as text as a matrix."""
    rows: list[list[float]] = []
    for row, text in enumerate(values, start=1):
        found = re.findall(_NUMBER, text, re.IGNORECASE) if text is not None and is_list(text) else []
        if not found or (rows and len(found) != len(rows[0])):
            shortened = "; NumPy left out its middle" if text is not None and "..." in text else ""
            raise ValueError(
                f"column {name!r} must hold lists of one length, but data row {row} holds {text!r}{shortened}; "
                "write one column per class, or Parquet"
            )
        rows.append(list(map(float, found)))
    return np.array(rows)


def _has_fields(pl: Any, dtype: Any) -> bool:
    inner = getattr(dtype, "inner", None)
    return isinstance(dtype, pl.Struct) or (inner is not None and _has_fields(pl, inner))


def _bad_json_row(path: str) -> str | None:
    """Return what is wrong with the first line that is no JSON object."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            constants: list[str] = []
            try:
                fine = not line.strip() or isinstance(json.loads(line, parse_constant=constants.append), dict)
            except ValueError:
                fine = False
            if not fine:
                return f"line {number} is no JSON object"
            if constants:  # Python writes them, JSON has no word for them
                return f"line {number} holds {constants[0]}, which is no JSON: write null for a missing number"
    return None
