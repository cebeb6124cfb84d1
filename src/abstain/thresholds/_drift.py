"""Whether shares of rows have left what calibration rows had shown: accepted rows, and rows above score deciles.

The calibration knows a share only within an exact interval. Bets against leaving it on either side, one for each stake,
all start at the first row; their products are functions of two counts, which are the whole state. Half of the error
pays for the intervals, half for the bets. Drift breaks no promise by itself.

Source: Shekhar & Ramdas (2023), for bets on a change.
"""

from __future__ import annotations

import numpy as np

from abstain._typing import BoolArray, FloatArray
from abstain.inference import clopper_pearson
from abstain.thresholds._evidence import Bets

#: Minus the log of what a bet against a share above 1 is worth: nothing, but a number.
NEVER = 1e30
#: Rows of a block, whose evidence is computed only where it may be the largest; and blocks that are bounded at once.
_BLOCK, _MANY = 256, 64


class Shares:
    """Evidence that any of some shares left the interval that its count among n calibration rows gives."""

    def __init__(self, counts: list[int], n: int, error: float) -> None:
        each = error / (2.0 * max(1, len(counts)))
        ends = [clopper_pearson(count, n, 1.0 - each) for count in counts]
        #: log factors of a row inside and outside, of shape (sides, shares, stakes, 1)
        self.inside = np.array([_factors(high)[0] for _, high in ends] + [_factors(1.0 - low)[1] for low, _ in ends])
        self.outside = np.array([_factors(high)[1] for _, high in ends] + [_factors(1.0 - low)[0] for low, _ in ends])
        self.seen, self.n, self.highest = np.zeros(len(counts)), 0, 0.0
        self.alarm = float(np.log(2.0 / error))

    @property
    def left(self) -> bool | None:
        """Whether some share left its interval; None without rows or shares."""
        return bool(self.highest >= self.alarm) if self.n and len(self.seen) else None

    def update(self, inside: BoolArray, looks: BoolArray | None = None) -> float:
        """Take the next rows, of shape (shares, rows); return the largest evidence at looks, as a part of the alarm."""
        highest, n = -np.inf, inside.shape[1] if len(self.seen) else 0
        if not len(self.seen):
            self.n += inside.shape[1]
        for begin in range(0, n, _BLOCK * _MANY):
            part = inside[:, begin : begin + _BLOCK * _MANY]
            looked = None if looks is None else looks[begin : begin + _BLOCK * _MANY]
            edges = np.minimum(np.arange(0, part.shape[1] + _BLOCK, _BLOCK), part.shape[1])
            hits = np.zeros((len(part), len(edges)))
            np.cumsum(np.add.reduceat(part, edges[:-1], axis=1, dtype=np.float64), axis=1, out=hits[:, 1:])
            hits += self.seen[:, np.newaxis]
            bounds = self._bounds(hits, self.n + edges - hits)
            for block in range(len(bounds)):
                if bounds[block] > highest:
                    rows = part[:, edges[block] : edges[block + 1]]
                    each = hits[:, block, np.newaxis] + np.cumsum(rows, axis=1, dtype=np.float64)
                    misses = np.arange(self.n + edges[block] + 1.0, self.n + edges[block + 1] + 1.0) - each
                    path = _mixed(self._path(each, misses))
                    path = path if looked is None else path[looked[edges[block] : edges[block + 1]]]
                    highest = max(highest, float(path.max(initial=-np.inf)))
            self.seen, self.n = hits[:, -1].copy(), self.n + part.shape[1]
        self.highest = max(self.highest, highest)
        return highest - self.alarm

    def _path(self, hits: FloatArray, misses: FloatArray) -> FloatArray:
        """Return the log products after each row, of shape (sides * shares, stakes, rows)."""
        two = np.concatenate([hits, hits])[:, np.newaxis], np.concatenate([misses, misses])[:, np.newaxis]
        return np.asarray(two[0] * self.inside[..., np.newaxis] + two[1] * self.outside[..., np.newaxis])

    def _bounds(self, hits: FloatArray, misses: FloatArray) -> FloatArray:
        """Return what the evidence inside each block can be at most, from the counts at its ends."""
        total = 0.0
        for counts, factor in ((hits, self.inside[..., np.newaxis]), (misses, self.outside[..., np.newaxis])):
            two = np.concatenate([counts, counts])[:, np.newaxis]
            total = total + np.maximum(factor, 0.0) * two[..., 1:] + np.minimum(factor, 0.0) * two[..., :-1]
        return _mixed(np.asarray(total))


def _mixed(path: FloatArray) -> FloatArray:
    """Return the log of the mean over sides, shares and stakes."""
    largest = path.max(axis=(0, 1))
    return np.asarray(largest + np.log(np.exp(path - largest).mean(axis=(0, 1))))


def _factors(limit: float) -> tuple[FloatArray, FloatArray]:
    """Return the log factors of a hit and of a miss, for each stake against a share above the limit; no bet above 1."""
    bets = Bets(limit if limit < 1.0 else 0.5)
    if limit >= 1.0:
        return np.full(len(bets.stakes), -NEVER), np.full(len(bets.stakes), -NEVER)
    return np.log1p(bets.stakes * (1.0 - limit)), np.log1p(-bets.stakes * limit)
