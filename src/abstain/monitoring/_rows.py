"""Rows that may not count: sent before, sorted, or in runs. Evidence needs each row once, and as they came."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from abstain._typing import FloatArray, IntArray
from abstain.thresholds._row_hashes import (
    DISTINCT,
    FEWEST,
    Hashes,
    digest,
    distinct,
    hashed,
    many_orders,
    packed,
    sketch,
    unpacked,
)

#: Rows from which on runs of errors are looked for; how many more pairs than by chance are odd, in standard errors.
ROWS, ERRORS = 300, 5.0
#: Distances of rows that depend less on each other than neighbours, if they do; about as many as a day has, or copies.
LAGS = (20, 51)


class DependentRowsWarning(UserWarning):
    """Errors among rows that are monitored come in runs: rows depend on each other, or were sorted within days.

    What spreads over the stream, such as many rows of one customer here and there, is not seen.

    Examples
    --------
    >>> import warnings, numpy as np, abstain
    >>> score = np.random.default_rng(0).random(2000)
    >>> policy = abstain.choose_threshold(score < 0.1, score, risk=0.2, delta=0.05).policy(score="msp")
    >>> wrong = np.random.default_rng(1).random(200).repeat(5) < 0.1
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = abstain.monitor(policy, wrong, np.random.default_rng(2).random(1000))
    >>> caught[0].category.__name__
    'DependentRowsWarning'
    """


class SortedRowsWarning(UserWarning):
    """Rows that are monitored are sorted by loss or confidence, so they are not in the order in which they came.

    Examples
    --------
    >>> import warnings, numpy as np, abstain
    >>> score = np.random.default_rng(0).random(2000)
    >>> policy = abstain.choose_threshold(score < 0.1, score, risk=0.2, delta=0.05).policy(score="msp")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = abstain.monitor(policy, np.zeros(100), np.linspace(0.0, 1.0, 100))
    >>> caught[0].category.__name__
    'SortedRowsWarning'
    """


def shuffled(times: FloatArray) -> IntArray:
    """Return an order of rows sorted by time in which those of equal time are mixed: a file may have sorted them."""
    return np.lexsort((np.random.default_rng(0).random(len(times)), times))


def _sorted(column: FloatArray) -> bool:
    """Return whether a column rises or falls throughout, which hardly any random order of its values does."""
    steps = np.diff(column)
    if len(column) < 2 or not ((steps >= 0.0).all() or (steps <= 0.0).all()):
        return False
    ends = np.concatenate([[0], np.flatnonzero(steps != 0.0) + 1, [len(column)]])
    return many_orders(np.diff(ends))


def warn_if_sorted(**columns: FloatArray) -> bool:
    """Warn the caller's caller if rows are sorted by one of these columns, and return whether they are."""
    found = [name for name, column in columns.items() if _sorted(column)]
    if found:
        text = (
            f"what was accepted is sorted by {' and '.join(found)}; give rows in the order in which their labels came"
        )
        warnings.warn(text, SortedRowsWarning, stacklevel=3)
    return bool(found)


def warn_if_in_runs(loss: FloatArray) -> None:
    """Warn the caller's caller if large losses stand next to each other more often than some rows apart.

    A change of the risk puts errors together at both distances, and is no reason to warn.
    """
    if len(loss) < ROWS:
        return
    large = (loss > loss.mean()).astype(np.float64)
    next_to = float(large[1:] @ large[:-1])
    apart = float(np.mean([large[k:] @ large[:-k] for k in range(*LAGS)]))
    if next_to > apart + ERRORS * (math.sqrt(apart) + 1.0):
        text = (
            f"{next_to:.0f} times two accepted errors follow each other, where about {apart:.0f} would by chance: rows "
            "depend on each other or were sorted, and alarms come too often; give one row of each, or clusters="
        )
        warnings.warn(text, DependentRowsWarning, stacklevel=3)


# ---------------------------------------------------------------------- rows of earlier calls

#: Calls of which usually a part is recognised, hashes that are kept of each, and calls that are recognised as a whole.
PARTLY, KEPT, WHOLE = 100, 64, 1000
#: A call is refused if at least this part of its rows was sent before.
PART = 0.5


class Known(NamedTuple):
    """What the rows of one call are recognised by: a digest of all, and their smallest hashes; empty if they tie."""

    digest: str
    hashes: Hashes


class SentRows:
    """Recognise calls that were sent before: the last 1,000 as a whole, and a part of any of the last ``partly``.

    The memory is bounded: with 100 of them 90 kB, whatever the number of calls and rows.
    """

    def __init__(self, partly: int = PARTLY) -> None:
        self.partly = partly
        self.digests: list[str] = []
        self.hashes: list[Hashes] = []

    def check(self, scores: FloatArray, loss: FloatArray, again: bool) -> Known:
        """Return what these rows are recognised by; refuse them if they were sent before, unless ``again``."""
        each = hashed(scores, np.nan_to_num(loss, nan=-1.0))
        name = digest(each)
        if not again:
            part = 1.0 if name and name in self.digests else self._part(each)
            if part >= PART:
                much = "these" if name in self.digests else f"about {100 * part:.0f} % of these"
                raise ValueError(f"{much} rows were sent before; send only new rows, or give again=True for equal ones")
        return Known(name, unpacked(sketch(each, KEPT)))

    def add(self, known: Known) -> None:
        """Remember the rows of a call that counts."""
        if known.digest:
            self.digests = [*self.digests, known.digest][-WHOLE:]
        if len(known.hashes):
            self.hashes = [*self.hashes, known.hashes][-self.partly :]

    def _part(self, each: Hashes) -> float:
        """Return the largest part of these rows that one earlier call had, as far as its hashes say."""
        found = distinct(each)
        if not self.hashes or len(found) < max(FEWEST, DISTINCT * len(each)):
            return 0.0
        known, sizes = np.concatenate(self.hashes), np.array([len(one) for one in self.hashes])
        place = np.minimum(np.searchsorted(found, known), len(found) - 1)
        shared = np.add.reduceat(found[place] == known, np.cumsum(sizes) - sizes, dtype=np.float64)
        below = np.searchsorted(found, [one[-1] for one in self.hashes], side="right")
        mine = np.where(sizes < KEPT, len(found), below)  # above the last hash that was kept nothing is known
        return float(np.max(shared / np.maximum(mine, 1), where=mine >= FEWEST, initial=0.0))

    def state(self) -> dict[str, Any]:
        """Return what is kept, as JSON has it."""
        return {"sent": self.digests, "sketches": [packed(one) for one in self.hashes]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what was kept."""
        self.digests, self.hashes = state["sent"], [unpacked(one) for one in state["sketches"]]
