"""Names of rows: text that is the same however a list, a frame or a file holds them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from abstain._checks import plain
from abstain._files import restored
from abstain._typing import ArrayLike

#: A number as files and frames write it; whole ones may be longer than a float can tell.
_NUMBER = re.compile(r"([+-]?\d+)(\.\d*)?([eE][+-]?\d+)?")
#: A date and time as files and frames write it: T or a space, zeros behind the seconds, +0000 or +00:00 or Z.
_TIME = re.compile(r"(\d{4,}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?")


def row_names(ids: ArrayLike, n: int | None = None) -> Any:
    """Return the ids of a pool as text, each once; what cannot be found again in a file is refused before any label."""
    names = [_name(each) for each in _listed(ids)]
    if n is not None and len(names) != n:
        raise ValueError(f"ids must hold one name per row: {n} rows, but {len(names)} ids")
    gone = [row for row, name in enumerate(names) if name is None]
    if gone:
        raise ValueError(
            f"ids are missing or blank in {len(gone)} of {len(names)} rows (first: row {gone[0] + 1}); a label could "
            "not be matched with its row: give each row a name of its own"
        )
    text = np.array(names)
    values, count = np.unique(text, return_counts=True)
    if count.max() > 1:
        raise ValueError(
            f"ids occur more than once ({int((count > 1).sum())} such, first: {values[count > 1][0]}); a label could "
            "not be matched with its row: give each row a name of its own"
        )
    return text


def shown(name: str) -> str:
    """Return an id as a message shows it: as it is, unless that could not be read."""
    return name if name.isprintable() else repr(name)


def spelt(names: Any, planned: Any) -> Any:
    """Return ids as the plan spells them, if they are the same numbers, times or texts: files turn 0007 into 7."""
    if set(names.tolist()) == set(planned.tolist()):
        return names
    plain_names = [restored(name) for name in names.tolist()]  # a CSV of the plan marks what looks like a formula
    if set(plain_names) == set(planned.tolist()):
        return np.array(plain_names)
    for read in (_number, _time):
        ours, theirs = ([read(name) for name in each.tolist()] for each in (names, planned))
        if None in ours or None in theirs or set(ours) != set(theirs) or len(set(theirs)) < len(theirs):
            continue
        spelling = dict(zip(theirs, planned.tolist(), strict=True))
        return np.array([spelling[value] for value in ours])
    return names


def _listed(ids: Any) -> list[Any]:
    """Return ids one by one, of their own types: NumPy would round whole numbers that are longer than 64 bits."""
    if isinstance(ids, list | tuple):
        return list(ids)
    column = plain(ids, "ids", "one name per row")
    if column.ndim != 1:
        raise ValueError(f"ids must hold one name per row, got shape {column.shape}")
    if column.dtype.kind == "M":  # Python's own dates know no nanoseconds
        return [None if each == "NaT" else each for each in np.datetime_as_string(column).tolist()]
    return list(column.tolist())


def _name(value: Any) -> str | None:
    """Return the text of one id; None where it is missing or blank. A whole number has no decimals."""
    if isinstance(value, bytes | list | tuple | dict | set | np.ndarray):
        raise ValueError(f"ids must hold one name per row, but one of them is {value!r}; give text or numbers")
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        value = int(value)
    if isinstance(value, int | float) and abs(value) >= 2**63:
        raise ValueError(f"ids hold the number {value!r}, which frames and files round; give such ids as text")
    return str(value) if str(value).strip() else None


def _number(name: str) -> Any:
    found = _NUMBER.fullmatch(name)
    if found is None:
        return None
    if not (found[2] or "").strip(".0") and found[3] is None:
        return int(found[1])
    value = float(name)
    return int(value) if value.is_integer() else value


def _time(name: str) -> Any:
    found = _TIME.fullmatch(name)
    if found is None:
        return None
    day, minute, second, fraction, zone = found.groups()
    zone = None if zone is None else "+0000" if zone == "Z" else zone.replace(":", "").ljust(5, "0")
    return day, minute or "00:00", second or "00", (fraction or "").rstrip("0"), zone
