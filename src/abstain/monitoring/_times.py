"""Which rows are tested now, and in which order: by when labels came, or by prediction once all labels are due.

If the delay of a label says nothing about the loss, rows are tested in the order in which labels came. If errors are
known sooner than successes, as complaints are, any such order sees errors first and alarms in the end. Then a row is
tested at a fixed age, ``maturity``, when every label of its age is in: which rows are seen depends on their age only.

Times are read from any format: dates, text, numbers, Unix time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from abstain._checks import not_negative, one_of, same_length
from abstain._typing import Age, AnyArray, Array, ArrayLike, BoolArray, FloatArray, IntArray, Moment

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
        text = [f"{each:.0f}" for each in when]  # 20260531
        return read_times([f"{each[:4]}-{each[4:6]}-{each[6:]}" for each in text], name)[0], "dates"
    for unit, scale in {} if plain or not when.size else _UNIX.items():
        if when.min() >= _FIRST * scale and when.max() <= _LAST * scale:
            return when / (86400.0 * scale), unit
    return when, "numbers"


def _from_objects(column: AnyArray, name: str) -> AnyArray:
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


def _utc(when: Array) -> Array:
    """Return a date without a time zone."""
    return when.astimezone(UTC).replace(tzinfo=None) if getattr(when, "tzinfo", None) is not None else when


def _refuse_missing(missing: BoolArray, name: str) -> None:
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"{name}[{row}] is missing or no date ({int(missing.sum())} such); every row needs its time")


# ---------------------------------------------------------------------- rows that are due

#: With dates a period or an age above this many days is most likely one in seconds.
_SECONDS = 3600.0


@dataclass
class Clock:
    """The clock of a monitor: what is mature, what was tested before, and what has to come again.

    ``last``: no row until then is tested any more; ``seen``: until when rows were given; ``waiting``: those of them
    that were too young; ``unit``: what times are, once some were read.
    """

    maturity: float | None = None
    unlabelled: str = "refuse"
    last: float | None = None
    seen: float | None = None
    waiting: int = 0
    dates: bool | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if self.maturity is not None:
            age: Age = self.maturity
            if isinstance(age, np.timedelta64) or hasattr(age, "total_seconds"):
                self.maturity = float(np.timedelta64(age) / _DAY)
            self.maturity = not_negative(self.maturity, "maturity", "give an age in days, or in the unit of time=")
        one_of(self.unlabelled, ("refuse", "error"), "unlabelled")

    def order(
        self, time: ArrayLike | None, as_of: Moment, loss: FloatArray, accepted: BoolArray, unit: IntArray | None = None
    ) -> tuple[IntArray, FloatArray | None, int]:
        """Return the rows to test in order, the times of all rows, and how many were tested before.

        A cluster is as old as its first row; by its last one short clusters would come first.
        """
        if self.maturity is not None and time is None:
            raise ValueError("maturity= needs to know when each row was predicted; give time=")
        if as_of is not None and self.maturity is None:
            raise ValueError("as_of= belongs to maturity=: without it rows are tested when their labels come")
        if time is None:
            if self.last is not None:
                raise ValueError("earlier rows came with time=, so these need it, too; give time=")
            self._labelled(np.arange(len(loss)), loss, accepted, "")
            return np.arange(len(loss)), None, 0
        when = self._times(time, "time")
        same_length(loss=loss, time=when)
        if unit is not None and self.maturity is None:
            raise ValueError("clusters with time= need maturity=, the age at which a cluster is complete and labelled")
        if unit is not None and len(unit):
            first = np.full(int(unit.max()) + 1, np.inf)
            np.minimum.at(first, unit, when)
            when = first[unit]
        rows = np.argsort(when, kind="stable")
        if self.maturity is None:
            if len(rows) and self.last is not None and when[rows[0]] < self.last:
                raise ValueError(f"time[{rows[0]}] is before that of rows that were tested; give only later rows")
            self._labelled(rows, loss, accepted, "")
            self.last = float(when[rows[-1]]) if len(rows) else self.last
            return rows, when, 0
        return self._mature(rows, when, as_of, loss, accepted)

    def _mature(
        self, rows: IntArray, when: FloatArray, as_of: Moment, loss: FloatArray, accepted: BoolArray
    ) -> tuple[IntArray, FloatArray, int]:
        assert self.maturity is not None
        latest = float(when.max()) if len(when) else -np.inf
        now = max(latest, self.seen or -np.inf) if as_of is None else float(self._times([as_of], "as_of")[0])
        if self.seen is not None and now < self.seen:
            raise ValueError("as_of is before that of an earlier call; give the time of this one")
        if latest > now:
            raise ValueError("time holds rows that were predicted after as_of; give the present as as_of")
        until = now - self.maturity
        before = -np.inf if self.last is None else self.last
        again = int(np.count_nonzero((when > before) & (when <= (-np.inf if self.seen is None else self.seen))))
        if again < self.waiting:
            raise ValueError(
                f"{self.waiting} rows were too young before, and only {again} of that time came again; give them all"
            )
        due = rows[(when[rows] > before) & (when[rows] <= until)]
        self._labelled(due, loss, accepted, f" although it is older than maturity={self.maturity:g}")
        self.waiting = int(np.count_nonzero(when > max(before, until)))
        self.last, self.seen = max(before, until), now
        return due, when, int(np.count_nonzero(when <= before))

    def _labelled(self, rows: IntArray, loss: FloatArray, accepted: BoolArray, although: str) -> None:
        """Refuse an accepted row without a label; a rejected one need not have any."""
        bare = rows[np.isnan(loss[rows]) & accepted[rows]]
        if bare.size and self.unlabelled == "refuse":
            which = f"loss[{bare.min()}] is missing, an accepted row without a label{although} ({bare.size} in all)"
            raise ValueError(
                f"{which}; label it, give maturity= and time= if labels come late, or unlabelled='error' to count it"
            )

    def _times(self, time: ArrayLike, name: str) -> FloatArray:
        """Return times as numbers, dates as days since 1970."""
        when, unit = read_times(time, name, plain=self.dates is False)
        dates = unit in DATES
        if self.dates is not None and dates != self.dates and when.size:
            raise ValueError(f"{name} holds {'dates' if dates else 'numbers'}, earlier times were not; keep to one")
        if when.size:
            self.dates, self.unit = dates, unit
        return when

    def check_unit(self, **lengths: float | None) -> None:
        """Refuse a length of so many days, where times are dates, that it must be one in seconds."""
        for name, length in lengths.items():
            if self.dates and length is not None and length >= _SECONDS:
                seconds = f"for seconds give {name}={length / 86400.0:g}"
                raise ValueError(f"time holds {self.unit}, so {name}={length:g} is in days; {seconds}")

    def shown(self, when: float) -> str:
        """Return a time as text."""
        if self.dates:
            return str(np.datetime64(int(np.floor(when)), "D"))
        return f"{when:g}"
