"""Codes in a CSV, which has no types: "01" is written like a number, and may be another group or class than "1"."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np


def category(column: Any, written: Any | None) -> Any:
    """Return a column of groups or identifiers as numbers only where these print as the file has them, else as text."""
    if written is None or (column.dtype.is_float() and column.is_nan().any()):  # NaN is a missing name
        return column
    whole = column.cast(int, strict=False)
    return whole if whole.cast(str).eq_missing(written).all() else written


def are_codes(written: Collection[Any], names: Collection[Any] | None, *, indices: bool) -> bool:
    """Whether columns of classes, as the file has them, are read as text; as numbers otherwise.

    With class names: if all are such names, or one starts with a zero that no index has. Without them, and where class
    indices are not what is due: if two codes of one column would become one number.
    """
    columns = [set(column.drop_nulls().to_list()) for column in written]
    if names is not None:
        texts: set[str] = set().union(*columns)
        return texts <= set(map(str, names)) or any(
            len(text) > 1 and text.isdecimal() and text[0] == "0" for text in texts
        )
    digits = [[text for text in column if text.isdecimal()] for column in columns]
    return not indices and any(len(set(map(int, column))) < len(column) for column in digits)


def as_words(column: Any) -> Any:
    """Return class numbers as the words that name them: 7 for 7.0 and for "007"."""
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column, dtype=object)
    return np.array([_word(value) for value in values], dtype=object)


def _word(value: Any) -> Any:
    if value is None or value != value:
        return None
    if isinstance(value, str):
        return str(int(value)) if value.isdecimal() else value
    return f"{value:g}" if value % 1 else str(int(value))
