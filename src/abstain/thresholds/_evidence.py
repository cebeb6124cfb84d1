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

One step needs two numbers for each stake, not the past: the log product G since the first value, and
:math:`\log \sum_{s \le t} w_s e^{-G_{s-1}}`. Both are sums in the order of the values, so values may be given in
parts of any size.

Sources: Ville (1939); Waudby-Smith & Ramdas (2024), Section 4; for mixtures over starts Shin, Ramdas & Rinaldo (2024).
"""

from __future__ import annotations

import numpy as np

from abstain._typing import FloatArray

#: Multiples of the limit against which the stakes are best: from slow drifts to collapses.
ALTERNATIVES = (1.15, 1.3, 1.6, 2.0, 3.0, 5.0)
#: Of the starts: weight of the first value, and scale and power of the tail of all others.
FIRST, SCALE, POWER = 0.5, 50.0, 0.25


def _cash(after: FloatArray) -> FloatArray:
    """Return the weight of the starts that are still to come after so many values; 1 before the first."""
    later: FloatArray = (1.0 - FIRST) * (1.0 + after / SCALE) ** -POWER
    return np.where(after > 0.0, later, 1.0)


class Bets:
    """Products of all starts so far, one sum for each stake; two numbers each are the whole state."""

    def __init__(self, limit: float) -> None:
        against = np.minimum(limit * np.array(ALTERNATIVES), 0.5 * (1.0 + limit))
        self.limit, self.stakes = limit, (against - limit) / (limit * (1.0 - limit))
        self.gained, self.opened = np.zeros(len(against)), np.full(len(against), -np.inf)

    def play(self, values: FloatArray, log_weight: FloatArray) -> FloatArray:
        """Bet on the next values, a new start of the given weight at each; return the log of the sum after each."""
        sums = np.empty((len(self.stakes), len(values)))
        for j, stake in enumerate(self.stakes):
            factors = np.log1p(stake * (values - self.limit))
            gained = np.cumsum(np.concatenate([self.gained[j : j + 1], factors]))
            opened = np.concatenate([self.opened[j : j + 1], log_weight - gained[:-1]])
            opened = np.logaddexp.accumulate(opened)
            np.add(gained[1:], opened[1:], out=sums[j])
            self.gained[j], self.opened[j] = gained[-1], opened[-1]
        largest = sums.max(axis=0)
        return np.asarray(largest + np.log(np.exp(sums - largest).mean(axis=0)))


class Evidence:
    """Log of the evidence that [0, 1] values have a mean above a limit inside (0, 1), which may be looked at always.

    Parameters
    ----------
    limit : float
        What the mean may be.
    """

    def __init__(self, limit: float) -> None:
        self.bets, self.n = Bets(limit), 0

    def update(self, values: FloatArray) -> FloatArray:
        """Return the log evidence after each of the next values."""
        cash = _cash(np.arange(self.n, self.n + len(values) + 1, dtype=np.float64))
        self.n += len(values)
        return np.logaddexp(self.bets.play(values, np.log(cash[:-1] - cash[1:])), np.log(cash[1:]))


def evidence_above(values: FloatArray, limit: float) -> FloatArray:
    """Return the log of the evidence that the mean of these [0, 1] values is above the limit, after each of them."""
    return Evidence(limit).update(values) if 0.0 < limit < 1.0 else _certain(values, limit)


def evidence_since_first(values: FloatArray, limit: float) -> FloatArray:
    """Return the same of bets that all start at the first value: less to compute, and slow after a good time."""
    if not 0.0 < limit < 1.0:
        return _certain(values, limit)
    paths = [np.cumsum(np.log1p(stake * (values - limit))) for stake in Bets(limit).stakes]
    return np.asarray(np.logaddexp.reduce(paths, axis=0) - np.log(len(paths)))


def _certain(values: FloatArray, limit: float) -> FloatArray:
    """Return the log evidence against a mean of 0, which one positive value refutes, or of 1, which none does."""
    return np.full(len(values), -np.inf) if limit >= 1.0 else np.where(np.cumsum(values) > 0.0, np.inf, 0.0)
