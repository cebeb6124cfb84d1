"""What a text table is written with: compression, separator, decimal sign; and its header and bad rows."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from typing import Any

#: Signs that separate columns; the first that parts the header wins.
SEPARATORS = (",", ";", "\t", "|")


def open_text(path: str, errors: str = "replace") -> Any:
    """Open a text file, compressed or not, for reading."""
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rt", newline="", encoding="utf-8-sig", errors=errors)
    return open(path, newline="", encoding="utf-8-sig", errors=errors)


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


def without_mark(path: str) -> Any:
    """Return a text file for polars: its path, or its bytes without the mark of their order that Windows writes."""
    with open(path, "rb") as file:
        return file.read() if file.read(3) == codecs.BOM_UTF8 else path


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
    """Whether numbers are written with a comma, as spreadsheets of many countries do beside semicolons."""
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
    with open_text(path) as file:
        rows = csv.reader(file, delimiter=separator_of(path))
        width = len(next(rows, []))
        for number, row in enumerate(rows, start=1):
            if len(row) > width:
                return f"data row {number} (line {rows.line_num}) has {len(row)} fields, the header has {width}"
    return None
