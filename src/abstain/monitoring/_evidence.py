r"""Evidence that the mean of values that come one by one is above a limit, from bets that start at every value.

One bet multiplies :math:`f_i = 1 + \lambda (x_i - m)` from its start on, with stakes fixed in advance, each the best
one against some larger mean. While the mean of the next value, whatever came before, is at most m, every product is a
nonnegative supermartingale.

**From row one only** the product shrinks as long as all is well, and has to be won back before a change is seen: the
longer the good time, the later. So a part :math:`w_s` of the capital is bet from value s on, and waits as cash before:

.. math:: K_t = \sum_{s \le t} w_s \prod_{i=s}^t f_i + \sum_{s > t} w_s, \qquad \sum_s w_s = 1.

Each part is a supermartingale that starts at its weight, so K is one that starts at 1: it *ever* reaches
:math:`1/\delta` with probability at most :math:`\delta` (Ville), and a good past costs a logarithm of its length. Half
of the weight is on the first value, the other half has the tail :math:`(1 + s/50)^{-1/4}`.

One step needs little for each stake, not the past: the log product G since the first value, and
:math:`\log \sum_{s \le t} w_s e^{-G_{s-1}}`. Both are sums in the order of the values, so values may be given in
parts of any size.

**Equal times** (``begins``): values of one time have no order that is known, and that of a file may come from their
losses, so parts start before the first of them only, and K is evaluated after the last. The product over the group is
the same in every order, so it is that in the true order of exact times, where K is a supermartingale; ends of groups
are fixed times of evaluation, stopping times of that order. A part that starts before a group takes the weights of the
group before, so its weight is known when it starts, and all weights still sum to one. So these evaluations make a test
martingale (the same for R, which starts one for each value of the group before): Ville holds, whatever the order in the
file.

**Two nulls.** With all weight on the first value, :math:`K_t` also keeps its level if only the *running mean* of the
expected values, independent of each other, is at most m at every t: then :math:`\prod E f_i \le 1` by concavity, so
:math:`K_t \le \prod f_i / E f_i`, a martingale. Parts that start later have no such excuse: what came before their
start does not count for them. No mixture over starts has that null, since that is what makes it see a change.

**A third** is that the mean of the expected values, each given what came before it, is at most m *in every window* of
values, or of time. Parts then start before the first value of a window only, and K is evaluated after the last. Let
:math:`p_i` be the expected value of :math:`x_i` given the past. The product of :math:`f_i / (1 + \lambda (p_i - m))`
over a window is a martingale that starts at 1, and as the logarithm is concave
:math:`\prod (1 + \lambda (p_i - m)) \le (1 + \lambda (\bar p - m))^k \le 1` for k values with a mean of the
:math:`p_i` of at most m. So over each window a product grows by a factor of mean at most 1: at the ends of windows
every part, and K, is a supermartingale, and Ville holds there. Within a window it is none: its bad half may come first.

**A detector of changes** gives every start the whole weight 1: :math:`R_t = \sum_{s \le t} \prod_{i=s}^t f_i`. R minus
t is a supermartingale, so the mean number of values until R reaches a *run length* A is at least A while nothing is
wrong. It sees a change soon, and it does raise false signals; so a signal is no violation.

Sources: Ville (1939); Waudby-Smith & Ramdas (2024), Section 4; for mixtures over starts and the detector, which is that
of Shiryaev and Roberts with bets, Shin, Ramdas & Rinaldo (2024).

Drift: whether shares of rows have left what calibration rows had shown: accepted rows, and rows above score deciles.
The calibration knows a share only within an exact interval. Bets against leaving it on either side, one for each stake,
all start at the first row; their products are functions of two counts, which are the whole state. Half of the error
pays for the intervals, half for the bets. Drift is no violation by itself. Source: Shekhar & Ramdas (2023).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstain._typing import BoolArray, FloatArray
from abstain.inference import clopper_pearson

#: Multiples of the limit against which the stakes are best: from slow drifts to collapses.
ALTERNATIVES = (1.15, 1.3, 1.6, 2.0, 3.0, 5.0)
#: Of the starts: weight of the first value, and scale and power of the tail of all others.
FIRST, SCALE, POWER = 0.5, 50.0, 0.25


#: Values that are played at once, so that the cache holds them; logarithms by which a start may exceed the base.
PIECE, FAR = 2048, 600.0


class Bets:
    """Products of all starts so far, one sum for each stake; three numbers each are the whole state.

    ``gained``: the log product G since the first value; ``sums``: those of :math:`w_s e^{-G_{s-1}}` in units of
    :math:`e^{base}`. Each value alone decides when the base changes, so that parts of any size give the same bits.
    """

    def __init__(self, limit: float) -> None:
        against = np.minimum(limit * np.array(ALTERNATIVES), 0.5 * (1.0 + limit))
        self.limit, self.stakes = limit, (against - limit) / (limit * (1.0 - limit))
        self.gained, self.sums = np.zeros(len(against)), np.zeros(len(against))
        self.base = np.full(len(against), -np.inf)

    def play(self, values: FloatArray, log_weight: FloatArray) -> FloatArray:
        """Bet on the next values, a new start of the given weight at each; return the log of the sum after each."""
        path, begin = np.empty(len(values)), 0
        while begin < len(values):
            found = self._piece(values[begin : begin + PIECE], log_weight[begin : begin + PIECE])
            path[begin : begin + len(found)] = found
            begin += len(found)
        return path

    def _piece(self, values: FloatArray, log_weight: FloatArray) -> FloatArray:
        """The same of the first of these values, up to where a base has to change."""
        gained = np.concatenate([self.gained[:, np.newaxis], self._logs(values)], axis=1)
        np.cumsum(gained, axis=1, out=gained)
        opens = log_weight - gained[:, :-1]
        low = opens[:, 0] > self.base + FAR
        self.sums[low] *= np.exp(self.base[low] - opens[low, 0])
        self.base[low] = opens[low, 0]
        over = np.flatnonzero((opens > (self.base + FAR)[:, np.newaxis]).any(axis=0))
        n = int(over[0]) if over.size else len(values)
        base = np.where(self.base > -np.inf, self.base, 0.0)[:, np.newaxis]  # nothing was opened yet
        sums = np.concatenate([self.sums[:, np.newaxis], np.exp(opens[:, :n] - base)], axis=1)
        np.cumsum(sums, axis=1, out=sums)
        self.gained, self.sums = gained[:, n].copy(), sums[:, -1].copy()
        logs = gained[:, 1 : n + 1] + base
        largest = logs.max(axis=0)
        logs -= largest
        with np.errstate(divide="ignore"):
            return np.asarray(largest + np.log((np.exp(logs, out=logs) * sums[:, 1:]).mean(axis=0)))

    def _logs(self, values: FloatArray) -> FloatArray:
        """Return the logarithm of each factor, a row for each stake; of 0/1 losses there are two."""
        wrong, stakes = values == 1.0, self.stakes[:, np.newaxis]
        if (wrong | (values == 0.0)).all():
            return np.where(wrong, np.log1p(stakes * (1.0 - self.limit)), np.log1p(stakes * (0.0 - self.limit)))
        return np.asarray(np.log1p(stakes * (values - self.limit)))


class Evidence:
    """Log of the evidence that [0, 1] values have a mean above a limit in (0, 1], which may be evaluated at any time.

    Parameters
    ----------
    limit : float
        What the mean may be; nothing speaks against 1.
    first : float
        Weight of the bets that start at the first value.
    """

    def __init__(self, limit: float, first: float = FIRST) -> None:
        #: values, and how many of the weights were spent on starts
        self.idle, self.n, self.spent, self.first = limit >= 1.0, 0, 0, first
        self.bets = Bets(0.5 if self.idle else limit)

    def update(self, values: FloatArray, begins: BoolArray | None = None) -> FloatArray:
        """Return the log evidence after each of the next values; ``begins``: where a new time begins, default all."""
        spent = np.arange(self.n, self.n + len(values) + 1)
        if begins is not None:
            spent[0], spent[1:][~begins] = self.spent, 0
            spent = np.maximum.accumulate(spent)
        # the weight of the starts that are still to come after so many values; 1 before the first
        cash = np.where(spent > 0, (1.0 - self.first) * (1.0 + spent / SCALE) ** -POWER, 1.0)
        self.n, self.spent = self.n + len(values), int(spent[-1])
        if self.idle or not len(values):
            return np.full(len(values), -np.inf)
        with np.errstate(divide="ignore"):
            opens, waits = np.log(cash[:-1] - cash[1:]), np.log(cash[1:])
        return np.asarray(np.logaddexp(self.bets.play(values, opens), waits))


class Detector:
    """Signals that values may have risen above a limit in (0, 1], on average at most one in ``run_length`` if not."""

    def __init__(self, limit: float, run_length: float) -> None:
        #: values since the last start, that one included
        self.limit, self.alarm, self.since = limit, float(np.log(run_length)), 1
        self.bets = Bets(limit if limit < 1.0 else 0.5)

    def update(self, values: FloatArray, begins: BoolArray | None = None) -> tuple[FloatArray, list[int]]:
        """Return the log of R after each of the next values, and at which it signals and starts again.

        ``begins``: where a new time begins, default everywhere; signals come where one ends.
        """
        begins = np.ones(len(values), dtype=bool) if begins is None else begins
        looks = ends(begins)
        path, signals, begin = np.full(len(values), -np.inf), [], 0
        while self.limit < 1.0 and begin < len(values):
            part = slice(begin, begin + PIECE)  # what follows a signal is played again
            path[part] = self.bets.play(values[part], self._starts(begins[part]))
            over = np.flatnonzero((path[part] >= self.alarm) & looks[part])
            begin += PIECE
            if over.size:
                signals.append(part.start + int(over[0]))
                begin = signals[-1] + 1
                self.bets = Bets(self.limit)
        return path, signals

    def _starts(self, begins: BoolArray) -> FloatArray:
        """Return the log of the starts at each value: where a time begins, as many as the time before had values."""
        weights = np.full(len(begins), -np.inf)
        fresh = bool(self.bets.base[0] == -np.inf)
        at = np.flatnonzero(begins)
        at = np.append(0, at) if fresh and not (at.size and at[0] == 0) else at
        weights[at] = np.log(np.diff(at, prepend=-1 if fresh else -self.since))
        self.since = len(begins) - int(at[-1]) if at.size else self.since + len(begins)
        return weights


def ends(begins: BoolArray) -> BoolArray:
    """Return where times end, from where they begin; the last value is the last of its time, as far as is known."""
    return np.append(begins[1:], True)[: len(begins)]


# ---------------------------------------------------------------------- drift

#: Minus the log of what a bet against a share above 1 is worth: nothing, but a number.
NEVER = 1e30
#: Rows of a block, whose evidence is computed only where it may be the largest; and blocks that are bounded at once.
_BLOCK, _MANY = 256, 64
#: Evidence above e to this is shown as that.
_LARGEST = 700.0


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
        #: the alarm: after how many rows it was reached, by which share, whether that rose, and its value then
        self.first: tuple[int, int, bool, float] | None = None
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

    def _alarm(self, hits: FloatArray, misses: FloatArray, at: int) -> tuple[int, int, bool, float]:
        """Return what the alarm at one of these rows rests on: the side and share with the largest product there."""
        hits, misses = hits[:, at : at + 1], misses[:, at : at + 1]
        side, share = divmod(int(self._path(hits, misses).max(axis=(1, 2)).argmax()), len(hits))
        n = int(hits[share, 0] + misses[share, 0])
        return n, share, side == 0, float(hits[share, 0]) / n

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
