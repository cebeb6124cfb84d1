"""Rows of earlier calls, which are recognised by hashes: no row may count twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from abstain._typing import FloatArray
from abstain.thresholds._row_hashes import DISTINCT, FEWEST, Hashes, digest, distinct, hashed, packed, sketch, unpacked

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
                raise ValueError(
                    f"{much} rows were sent before, by score and loss, and no row may count twice; send only new "
                    "rows, or give again=True if they only look alike"
                )
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
