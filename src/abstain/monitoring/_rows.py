"""Rows that may not count: sent before, sorted, or in runs. Evidence needs each row once, and as they came."""

from __future__ import annotations

import base64
import math
import warnings
from typing import TypeAlias

import numpy as np

from abstain._typing import Document, FloatArray, IntArray
from abstain.thresholds._row_hashes import Hashes, digest, distinct, hashed, packed, sketch, unpacked

#: Rows from which on runs of errors are looked for; how many more pairs than by chance are odd, in standard errors.
ROWS, ERRORS = 300, 5.0
#: Distances of rows that depend less on each other than neighbours, if they do; about as many as a day has, or copies.
LAGS = (20, 51)
#: Rows are called sorted if at most one in so many random orders of them is the same.
ORDERS = 1e9


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
    equal = np.diff(np.concatenate([[0], np.flatnonzero(steps != 0.0) + 1, [len(column)]]))
    orders = math.lgamma(len(column) + 1) - sum(map(math.lgamma, equal[equal > 1] + 1.0))
    return orders > math.log(ORDERS)


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
#: A part is recognised of calls of at least so many rows, of which so large a part is different: fewer rows, or coarser
#: scores, may well share half of their rows with others.
FEWEST, DISTINCT = 80, 0.95
#: Names that are remembered, of the last rows and of all rows at random, and bytes of each hash: of 100,000 new names
#: any is taken for one of these with a probability of 1e-8.
LAST, SAMPLE, BYTES = 3000, 2500, 7


#: What the rows of one call are recognised by: a digest of all, their smallest hashes, and those of their names. The
#: first two are empty where other rows may well be the same.
Known: TypeAlias = tuple[str, Hashes, Hashes]


class SentRows:
    """Recognise rows that were sent before, in bounded memory: with 100 calls ``partly`` 90 kB.

    **Without names** by score, loss and other columns: a call as a whole, if it is among the last 1,000 and other rows
    would be the same with a probability of at most 1e-9 (24 different rows, or 10 in the same order); and a call of
    at least 80 different rows of which three quarters were in one of the last ``partly`` calls (of which half were,
    every second time). These probabilities are those of rows that
    are drawn independently: scores that are ranks, or of a fixed set of cases, come again with other rows, and then
    only names distinguish them (``remedy``).

    **With names**: each of the last 3,000 rows, 2,500 of all rows at random, and calls as a whole. Three quarters of
    the memory for parts then go to names.
    """

    def __init__(self, partly: int = PARTLY, remedy: str = "again=True") -> None:
        self.partly, self.remedy = partly, remedy
        self.digests: list[str] = []
        self.hashes: list[Hashes] = []
        self.names: Hashes = np.zeros(0, dtype=np.uint64)
        self.sample: Hashes = np.zeros(0, dtype=np.uint64)

    def check(
        self, scores: FloatArray, loss: FloatArray, again: bool, names: Hashes | None = None, *others: FloatArray
    ) -> Known:
        """Return what these rows are recognised by; refuse them if they were sent before, unless ``again``."""
        few = np.zeros(0, dtype=np.uint64)
        if names is not None:
            names, whole = names & np.uint64(256**BYTES - 1), digest(names)
            old = int(np.isin(names, np.concatenate([self.names, self.sample])).sum())
            old = len(names) if whole and whole in self.digests else old
            if old and not again:
                much = "these" if old == len(names) else f"{old:,} of these"
                raise ValueError(f"{much} rows were sent before, by their ids; send only new rows, or give again=True")
            return whole, few, names
        if len(self.names) and not again:
            raise ValueError("earlier rows came with ids=, by which they are recognised; give ids= or again=True")
        each = hashed(scores, np.nan_to_num(loss, nan=-1.0))
        for column in others:
            each = each * np.uint64(3) ^ hashed(column, column)
        whole, part = digest(each, scores), self._part(each)
        part = 1.0 if whole and whole in self.digests else part
        if part >= PART and not again:
            much = "these" if part == 1.0 else f"about {100 * part:.2g} % of these"
            raise ValueError(
                f"{much} rows were sent before, as far as scores and losses say; send only new rows, or give "
                f"{self.remedy} if these are others"
            )
        enough = len(each) >= FEWEST and len(distinct(each)) >= DISTINCT * len(each)
        return whole, unpacked(sketch(each, KEPT)) if enough else few, few

    def add(self, known: Known) -> None:
        """Remember the rows of a call that counts."""
        whole, hashes, names = known
        if whole:
            self.digests = [*self.digests, whole][-WHOLE:]
        if len(hashes):
            self.hashes = [*self.hashes, hashes]
        self.names = np.concatenate([self.names, names])[-LAST:]
        self.sample = distinct(np.concatenate([self.sample, names]))[:SAMPLE]
        self.hashes = self.hashes[-(self.partly // 4 if len(self.names) else self.partly) :]

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
        return float(np.max(shared / np.maximum(mine, 1), where=mine >= KEPT // 2, initial=0.0))

    def state(self) -> Document:
        """Return what is kept, as JSON has it."""
        hashes = [packed(one) for one in self.hashes]
        names = {"names": _short(self.names), "sample": _short(self.sample)} if len(self.names) else {}
        return {"sent": self.digests, "sketches": hashes, **names}

    def restore(self, state: Document) -> None:
        """Take up what was kept; where rows have no names there are none."""
        self.digests, self.hashes = state["sent"], [unpacked(one) for one in state["sketches"]]
        self.names, self.sample = _long(state.get("names", "")), _long(state.get("sample", ""))


def _short(names: Hashes) -> str:
    """Return the first bytes of each hash as text."""
    return base64.b64encode(names.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :BYTES].tobytes()).decode("ascii")


def _long(text: str) -> Hashes:
    """Return the hashes of such a text, whose further bytes are 0."""
    found = np.zeros((len(text) * 3 // 4 // BYTES, 8), dtype=np.uint8)
    found[:, :BYTES] = np.frombuffer(base64.b64decode(text, validate=True), dtype=np.uint8).reshape(-1, BYTES)
    return np.asarray(found.view("<u8")[:, 0])
