"""What a text table is written with: compression, separator, decimal sign."""

from __future__ import annotations

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
