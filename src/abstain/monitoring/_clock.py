"""Which rows are tested now, and in which order: by when labels came, or by prediction once all labels are due.

If the delay of a label says nothing about the loss, rows are tested in the order in which labels came. If errors are
known sooner than successes, as complaints are, any such order sees errors first and alarms in the end. Then a row is
tested at a fixed age, ``maturity``, when every label of its age is in: which rows are seen depends on their age only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._checks import not_negative, one_of, same_length
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray
from abstain.monitoring._times import DATES, read_times

_DAY = np.timedelta64(1, "D")
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
            age: Any = self.maturity
            if isinstance(age, np.timedelta64) or hasattr(age, "total_seconds"):
                self.maturity = float(np.timedelta64(age) / _DAY)
            self.maturity = not_negative(self.maturity, "maturity", "give an age in days, or in the unit of time=")
        one_of(self.unlabelled, ("refuse", "error"), "unlabelled")

    def order(
        self, time: ArrayLike | None, as_of: Any, loss: FloatArray, accepted: BoolArray, unit: IntArray | None = None
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
            raise ValueError(
                "clusters with time= need maturity=, the age at which a cluster is complete and labelled: as they are "
                "complete short ones come first, and if these have other losses that looks like a change"
            )
        if unit is not None and len(unit):
            first = np.full(int(unit.max()) + 1, np.inf)
            np.minimum.at(first, unit, when)
            when = first[unit]
        rows = np.argsort(when, kind="stable")
        if self.maturity is None:
            if len(rows) and self.last is not None and when[rows[0]] < self.last:
                raise ValueError(
                    f"time[{rows[0]}] is before that of rows that were tested; labels count in the order in "
                    "which they came, and none is put between them: give when each label came, and only new rows"
                )
            self._labelled(rows, loss, accepted, "")
            self.last = float(when[rows[-1]]) if len(rows) else self.last
            return rows, when, 0
        due, when, before = self._mature(rows, when, as_of, loss, accepted)
        return due, when, before

    def _mature(
        self, rows: IntArray, when: FloatArray, as_of: Any, loss: FloatArray, accepted: BoolArray
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
                f"{self.waiting} rows were too young when they were given, and only {again} of that time came again; "
                "give all rows that were waiting, labelled or not, with the new ones"
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
            raise ValueError(
                f"loss[{bare.min()}] is missing, an accepted row without a label{although} ({bare.size} in all); rows "
                "may not be left out by whether a label came: label them, give maturity= and time= if labels come "
                "late, or unlabelled='error' to count them with the largest loss"
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
                raise ValueError(
                    f"time holds {self.unit}, so {name}={length:g} is in days; give {name}={length / 86400.0:g} if "
                    "seconds are meant"
                )

    def shown(self, when: float) -> str:
        """Return a time as text."""
        if self.dates:
            return str(np.datetime64(int(np.floor(when)), "D"))
        return f"{when:g}"

    def state(self) -> dict[str, Any]:
        """Return what is kept."""
        return dict(vars(self))

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Clock:
        """Return the clock that was kept."""
        return cls(**state)
