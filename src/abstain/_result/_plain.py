"""Results as plain values, CSV and data frames: one rule for NaN, one for what a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from abstain._extras import need

#: First characters that make a spreadsheet read a cell as a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def plain(value: Any) -> Any:
    """Return plain Python values that strict JSON can hold: NaN is None, an infinity ``"inf"`` or ``"-inf"``.

    Raises
    ------
    TypeError
        A value that has no plain form.
    """
    import numpy as np

    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)  # float() reads the text again
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Sequence | set | frozenset):
        return [plain(each) for each in value]
    raise TypeError(f"{type(value).__name__} has no plain form; give numbers, texts, lists and dicts")


def json_text(values: Any) -> str:
    """Return plain values as JSON; a lone surrogate in a name becomes its JSON escape."""
    text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows by column, in the order in which the columns first occur; None where a row has none."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return one line per row under a heading; numbers with all digits, safe to open in a spreadsheet."""
    table = columns(rows)
    return "".join(map(_line, [list(table), *zip(*table.values(), strict=True)]))


def _line(row: Iterable[Any]) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerow([_harmless(cell) for cell in row])  # ended by \r\n, so that it quotes both
    return stream.getvalue().removesuffix("\r\n") + "\n"


def _harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def as_polars(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return a polars data frame; a column that holds nothing but None is one of text."""
    need("a polars frame", "polars")
    import polars

    table = columns(rows)
    types: dict[str, Any] = {}
    types |= {name: polars.String if all(each is None for each in cells) else None for name, cells in table.items()}
    types |= {name: polars.Float64 for name, cells in table.items() if any(isinstance(each, float) for each in cells)}
    return polars.DataFrame(table, schema=types, strict=False)


def as_pandas(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return a pandas data frame."""
    try:
        import pandas
    except ImportError:
        raise ImportError("a pandas frame needs pandas: pip install pandas") from None

    return pandas.DataFrame(columns(rows))
