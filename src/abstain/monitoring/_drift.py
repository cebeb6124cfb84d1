"""Whether shares of rows have left what calibration rows had shown: accepted rows, and rows above score deciles.

The calibration knows a share only within an exact interval. Bets against leaving it on either side, one for each stake,
all start at the first row; their products are functions of two counts, which are the whole state. Half of the error
pays for the intervals, half for the bets. Drift is no violation by itself.

Source: Shekhar & Ramdas (2023), for bets on a change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from abstain._typing import BoolArray, FloatArray
from abstain.inference import clopper_pearson
from abstain.monitoring._evidence import Bets

#: Minus the log of what a bet against a share above 1 is worth: nothing, but a number.
NEVER = 1e30
#: Rows of a block, whose evidence is computed only where it may be the largest; and blocks that are bounded at once.
_BLOCK, _MANY = 256, 64
#: Evidence above e to this is shown as that.
_LARGEST = 700.0


class Alarm(NamedTuple):
    """Where evidence first reached its alarm: after how many rows, of which share, whether it rose, its value then."""

    row: int
    which: int
    rose: bool
    share: float


@dataclass(frozen=True)
class Drift:
    """Where coverage or scores left what the calibration rows had shown.

    Parameters
    ----------
    what : {"coverage", "score"}
        Whether the share of accepted rows left, or that of rows whose score reaches a decile of the calibration.
    group : str
        Of a policy by group; else empty.
    row : int or None
        Rows (of that group) after which the alarm was reached; None in a state of an older version, with the next four.
    rose : bool or None
        Whether that share rose.
    share, calibrated : float or None
        Of the rows until then, and of the calibration rows.
    edge : float or None
        The score from which on rows are counted.
    now : float
        The evidence of all rows until now, as a part of the alarm. An alarm stays; below 1 the rows since have taken
        back what it rested on.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(4000)
    >>> found = abstain.choose_threshold(rng.random(4000) > score ** 0.1, score, risk=0.05, delta=0.05)
    >>> later = abstain.monitor(found.policy(score="s"), np.zeros(2000), rng.random(2000) ** 0.5)
    >>> one = later.drifts[0]
    >>> one.what, one.rose, one.row < 400, one.now > 1.0
    ('coverage', True, True, True)
    """

    what: str
    group: str
    row: int | None
    rose: bool | None
    share: float | None
    calibrated: float | None
    edge: float | None
    now: float


class Shares:
    """Evidence that any of some shares left the interval that its count among n calibration rows gives."""

    def __init__(self, counts: list[int], n: int, error: float) -> None:
        each = error / (2.0 * max(1, len(counts)))
        ends = [clopper_pearson(count, n, 1.0 - each) for count in counts]
        #: log factors of a row inside and outside, of shape (sides, shares, stakes, 1)
        self.inside = np.array([_factors(high)[0] for _, high in ends] + [_factors(1.0 - low)[1] for low, _ in ends])
        self.outside = np.array([_factors(high)[1] for _, high in ends] + [_factors(1.0 - low)[0] for low, _ in ends])
        self.seen, self.n, self.highest = np.zeros(len(counts)), 0, 0.0
        self.known = [count / n for count in counts]
        self.first: Alarm | None = None
        self.alarm = float(np.log(2.0 / error))

    @property
    def left(self) -> bool | None:
        """Whether some share left its interval; None without rows or shares."""
        return bool(self.highest >= self.alarm) if self.n and len(self.seen) else None

    def drift(self, what: str, group: str, edges: FloatArray | None = None) -> Drift | None:
        """Return where the alarm was reached, None where it was not; ``edges``: the scores that shares begin at."""
        if not self.left:
            return None
        path = _mixed(self._path(self.seen[:, np.newaxis], self.n - self.seen[:, np.newaxis]))
        now = float(np.exp(min(_LARGEST, float(path[0]) - self.alarm)))
        if self.first is None:
            return Drift(what, group, None, None, None, None, None, now)
        row, which, rose, share = self.first
        edge = None if edges is None else float(edges[which])
        return Drift(what, group, row, rose, share, self.known[which], edge, now)

    def update(self, inside: BoolArray, ends: BoolArray | None = None) -> float:
        """Take the next rows, of shape (shares, rows); return the largest evidence as a part of the alarm.

        ``ends``: after which rows it is evaluated, default after all.
        """
        highest, n = -np.inf, inside.shape[1] if len(self.seen) else 0
        if not len(self.seen):
            self.n += inside.shape[1]
        for begin in range(0, n, _BLOCK * _MANY):
            part = inside[:, begin : begin + _BLOCK * _MANY]
            looked = None if ends is None else ends[begin : begin + _BLOCK * _MANY]
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
                    if looked is not None:
                        path = np.where(looked[edges[block] : edges[block + 1]], path, -np.inf)
                    if self.first is None and max(self.highest, path.max(initial=-np.inf)) >= self.alarm > self.highest:
                        self.first = self._alarm(each, misses, int(np.argmax(path >= self.alarm)))
                    highest = max(highest, float(path.max(initial=-np.inf)))
            self.seen, self.n = hits[:, -1].copy(), self.n + part.shape[1]
        self.highest = max(self.highest, highest)
        return highest - self.alarm

    def _alarm(self, hits: FloatArray, misses: FloatArray, at: int) -> Alarm:
        """Return what the alarm at one of these rows rests on: the side and share with the largest product there."""
        hits, misses = hits[:, at : at + 1], misses[:, at : at + 1]
        side, share = divmod(int(self._path(hits, misses).max(axis=(1, 2)).argmax()), len(hits))
        n = int(hits[share, 0] + misses[share, 0])
        return Alarm(n, share, side == 0, float(hits[share, 0]) / n)

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
