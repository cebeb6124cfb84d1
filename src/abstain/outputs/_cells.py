"""Values of one field as a column: numbers, truth values or text; nested ones as several columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

#: What programs write for a missing number, in lower case: of a column of numbers in a text file, nothing else.
NO_NUMBER = frozenset({"", "nan", "na", "n/a", "<na>", "none", "null"})


def lacks_number(value: Any) -> bool:
    """Whether a text stands for a missing number."""
    return isinstance(value, str) and value.strip().lower() in NO_NUMBER


def text(values: Iterable[Any]) -> Any:
    """Return values as a column of text, None where one is missing."""
    return np.array([None if _missing(value) else str(value) for value in values], dtype=object)


def column(values: Sequence[Any]) -> Any:
    """Return values as a column: truth values where all are, numbers where all are, else text."""
    kinds = {_kind(value) for value in values if not _missing(value)}
    if kinds == {"truth"} and not any(map(_missing, values)):
        return np.array(values, dtype=bool)
    if kinds and kinds <= {"number", "whole"}:
        if kinds == {"whole"} and not any(map(_missing, values)):
            return np.array(values)
        return np.array([np.nan if _missing(value) else value for value in values], dtype=float)
    return text(values)


def columns(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return one field as columns: dicts one per key (``name.key``), lists of numbers a matrix, the rest as it is.

    Lists of ``{"label": ..., "score": ...}``, which a text-classification pipeline writes with all its classes, become
    one column ``prob_<label>`` per class; where classes are left out, as by its best one or few, ``name.best.label``
    and ``name.best.score``.
    """
    some = next((value for value in values if not _missing(value)), None)
    if isinstance(some, Mapping):
        keys = dict.fromkeys(key for value in values if isinstance(value, Mapping) for key in value)
        found: dict[str, Any] = {}
        for key in keys:
            inner = [value.get(key) if isinstance(value, Mapping) else None for value in values]
            found |= columns(f"{name}.{key}", inner)
        return found
    if isinstance(some, list | tuple | np.ndarray) and len(some):
        if isinstance(some[0], Mapping) and {"label", "score"} <= some[0].keys():
            return _per_class(name, values)
        if len(some) == 1 and isinstance(some[0], list | tuple | np.ndarray):  # one text, in a list of its own
            return columns(name, [value if value is None else value[0] for value in values])
        if _kind(some[0]) in ("number", "whole"):
            return {name: _matrix(name, values)}
    return {name: column(values)}


def _missing(value: Any) -> bool:
    """Whether a value is None, NaN or one of the missing values of pandas."""
    if value is None or isinstance(value, list | tuple | Mapping | np.ndarray):
        return value is None
    return value is not True and value is not False and bool(value != value) if _plain(value) else True


def _plain(value: Any) -> bool:
    """Whether a value can be compared with itself; pandas.NA answers neither yes nor no."""
    try:
        return bool(value == value) or bool(value != value)
    except TypeError:
        return False


def _kind(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "truth"
    if isinstance(value, int | np.integer):
        return "whole"
    return "number" if isinstance(value, float | np.floating) else "text"


def _matrix(name: str, values: Sequence[Any]) -> Any:
    width = len(next(value for value in values if not _missing(value)))
    odd = next((row for row, value in enumerate(values) if _missing(value) or len(value) != width), None)
    if odd is not None:
        entries = 0 if _missing(values[odd]) else len(values[odd])
        raise ValueError(
            f"column {name!r} must hold lists of one length, but data row {odd + 1} has {entries} entries and the "
            f"first has {width}; repair these rows"
        )
    return np.array([list(value) for value in values], dtype=float)


def _per_class(name: str, values: Sequence[Any]) -> dict[str, Any]:
    rows = [{each["label"]: each["score"] for each in value} if value is not None else {} for value in values]
    names = sorted({str(label) for row in rows for label in row})
    if any(0 < len(row) < len(names) for row in rows):
        best = [max(row, key=row.__getitem__) if row else None for row in rows]
        score = [np.nan if word is None else row[word] for word, row in zip(best, rows, strict=True)]
        return {f"{name}.best.label": text(best), f"{name}.best.score": np.array(score, dtype=float)}
    return {f"prob_{label}": np.array([row.get(label, np.nan) for row in rows], dtype=float) for label in names}
