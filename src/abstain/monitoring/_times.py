"""Read a column of times, from any format: dates, text, numbers, Unix time."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import numpy as np

from abstain._typing import ArrayLike, FloatArray

_DAY = np.timedelta64(1, "D")
#: Numbers from 1990 to 2100 as seconds, milliseconds, microseconds and nanoseconds since 1970.
_UNIX = {"Unix seconds": 1.0, "Unix milliseconds": 1e3, "Unix microseconds": 1e6, "Unix nanoseconds": 1e9}
_FIRST, _LAST = 631_152_000.0, 4_102_444_800.0
#: What times are that are known as dates.
DATES = ("dates", *_UNIX)
_ZONE = re.compile(r"\d(Z|[+-]\d\d:?\d\d)$")
_REGIONAL = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(.*)")


def read_times(time: ArrayLike, name: str, *, plain: bool = False) -> tuple[FloatArray, str]:
    """Return times as numbers, and what they are: dates and Unix times are days since 1970, other numbers stay.

    Text may hold ISO dates, dates such as 31.12.2026, or numbers. A date that may be read in two ways is refused, and
    so is a missing one. ``plain``: numbers are never Unix times, since earlier ones were not read as such.
    """
    try:
        column = np.asarray(time.to_numpy() if hasattr(time, "to_numpy") else time)
    except ValueError:
        raise ValueError(f"{name} must have one finite value per row; its rows differ in length") from None
    if column.ndim != 1:
        raise ValueError(f"{name} must have one finite value per row; its shape is {column.shape}")
    if column.dtype.kind in "OUT" and column.size:
        column = _from_objects(column, name)
    if column.dtype.kind == "M":
        _refuse_missing(np.isnat(column), name)
        return np.asarray((column.astype("datetime64[us]") - np.datetime64(0, "us")) / _DAY, dtype=np.float64), "dates"
    try:
        when = column.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must hold numbers or dates; give when rows were predicted or labelled") from None
    _refuse_missing(~np.isfinite(when), name)
    if when.size and not plain and when.min() >= 19900101.0 and when.max() <= 21001231.0 and (when % 1.0 == 0.0).all():
        return read_times([_dashed(f"{each:.0f}") for each in when], name)[0], "dates"  # 20260531
    for unit, scale in {} if plain or not when.size else _UNIX.items():
        if when.min() >= _FIRST * scale and when.max() <= _LAST * scale:
            return when / (86400.0 * scale), unit
    return when, "numbers"


def _from_objects(column: Any, name: str) -> Any:
    """Return dates or numbers of a column of text or of objects."""
    text = [str(each).strip() for each in column]
    _refuse_missing(np.array([each in ("", "NaT", "nan", "null", "None") for each in text]), name)
    if all(hasattr(each, "isoformat") for each in column):
        return np.array([_utc(each) for each in column], dtype="datetime64[us]")
    if not isinstance(column[0], str):
        return column
    try:
        return np.array(text, dtype=np.float64)
    except ValueError:
        pass
    regional = [_REGIONAL.fullmatch(each) for each in text]
    if all(regional):
        text = _day_and_month([each.groups() for each in regional if each is not None], text[0], name)
    try:
        if any(_ZONE.search(each) for each in text):
            return np.array([_utc(datetime.fromisoformat(each)) for each in text], dtype="datetime64[us]")
        return np.array(text, dtype="datetime64[us]")
    except ValueError:
        raise ValueError(f"{name} holds text that is no date; write dates as 2026-05-31, or numbers") from None


def _day_and_month(parts: list[tuple[str, ...]], example: str, name: str) -> list[str]:
    """Return regional dates as ISO text; the day comes first with points, else where only that makes dates of all."""
    day_first = all(int(one[0]) <= 31 and int(one[2]) <= 12 for one in parts)
    month_first = all(int(one[2]) <= 31 and int(one[0]) <= 12 for one in parts) and parts[0][1] != "."
    if day_first == month_first:
        why = "may begin with the day or with the month" if day_first else "is no date"
        raise ValueError(f"{name} holds dates such as {example}, which {why}; write them as 2026-05-31")
    order = (3, 2, 0) if day_first else (3, 0, 2)
    return [f"{one[order[0]]}-{int(one[order[1]]):02}-{int(one[order[2]]):02}{one[4]}" for one in parts]


def _dashed(text: str) -> str:
    return f"{text[:4]}-{text[4:6]}-{text[6:]}"


def _utc(when: Any) -> Any:
    """Return a date without a time zone."""
    return when.astimezone(UTC).replace(tzinfo=None) if getattr(when, "tzinfo", None) is not None else when


def _refuse_missing(missing: Any, name: str) -> None:
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"{name}[{row}] is missing or no date ({int(missing.sum())} such); every row needs the time of its label, "
            "or with maturity= that of its prediction"
        )
