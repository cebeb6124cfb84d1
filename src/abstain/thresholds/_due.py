"""Which rows are watched now, and in which order: by when labels came, or by prediction once all labels are due.

If the delay of a label tells nothing about the loss, rows are watched in the order in which labels came. If errors are
known sooner than successes, as complaints are, any such order sees errors first and alarms in the end. Then a row is
watched at a fixed age, ``maturity``, when every label of its age is in: which rows are seen depends on their age only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._checks import not_negative, one_of, same_length
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray

_DAY = np.timedelta64(1, "D")


@dataclass
class Due:
    """The clock of a watch: what is mature, what was watched before, and what has to come again.

    ``last``: no row until then is watched any more; ``seen``: until when rows were given; ``waiting``: those of them
    that were too young.
    """

    maturity: float | None = None
    unlabelled: str = "refuse"
    last: float | None = None
    seen: float | None = None
    waiting: int = 0
    dates: bool | None = None

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
        """Return the rows to watch in order, the times of all rows, and how many were watched before.

        A cluster is as old as its first row; by its last one short clusters would come first.
        """
        if self.maturity is not None and time is None:
            raise ValueError("maturity= needs to know when each row was predicted; give time=")
        if as_of is not None and self.maturity is None:
            raise ValueError("as_of= belongs to maturity=: without it rows are watched when their labels come")
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
                    f"time[{rows[0]}] is before that of rows that were watched; labels are watched in the order in "
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
        try:
            column = np.asarray(time.to_numpy() if hasattr(time, "to_numpy") else time)
        except ValueError:
            raise ValueError(f"{name} must have one finite value per row; its rows differ in length") from None
        if column.dtype.kind in "OU" and column.size and isinstance(column.ravel()[0], str):
            try:
                column = column.astype(str).astype("datetime64[us]")
            except ValueError:
                raise ValueError(f"{name} holds text that is no date; write dates as 2026-05-31, or numbers") from None
        if column.dtype.kind == "O" and column.size and hasattr(column.ravel()[0], "isoformat"):
            column = column.astype("datetime64[us]")
        dates = column.dtype.kind == "M"
        if self.dates is not None and dates != self.dates and column.size:
            raise ValueError(f"{name} holds {'dates' if dates else 'numbers'}, earlier times were not; keep to one")
        if dates:
            column = (column.astype("datetime64[us]") - np.datetime64(0, "us")) / _DAY
        try:
            when = column.astype(np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"{name} must hold numbers or dates; give when rows were predicted or labelled") from None
        if when.ndim != 1 or not np.isfinite(when).all():
            raise ValueError(f"{name} must have one finite value per row; fill what is missing")
        self.dates = dates if column.size else self.dates
        return when

    def shown(self, when: float) -> str:
        """Return a time as text."""
        if self.dates:
            return str(np.datetime64(int(np.floor(when)), "D"))
        return f"{when:g}"

    def state(self) -> dict[str, Any]:
        """Return what is kept."""
        return dict(vars(self))

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Due:
        """Return the clock that was kept."""
        return cls(**state)
