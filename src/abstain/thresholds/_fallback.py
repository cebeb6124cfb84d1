r"""The default procedure for 0/1 losses: a fallback test over nested accepted sets, exact for every population.

1. A few *starts* are ranks :math:`m_1 < m_2 < \dots` that depend on n, limit and delta only, each with its share of
   delta. No row is set aside, and nothing is randomized. A start begins at the last threshold that accepts at most
   :math:`m_s` rows, or at the highest threshold if a tie at the top is wider than that.
2. Walk down through *every* attainable threshold. At a start its share is added to the level. A threshold passes if
   its p-value is at most the level. The first that fails sets the level to 0; the walk goes on at the next start.
3. The lowest threshold that passed is the answer.

**Why this holds.** A threshold *violates* the guarantee if its risk exceeds the limit. N(t) is the number of rows at or
above t. Given N(t), the errors among them are binomial, so that the p-value of a threshold that violates the guarantee
is at most x with probability at most x. Take one start, at rank m, and the first threshold v at or below it that
violates the guarantee: the answer is wrong only if v passes. Let a be the highest of the thresholds just above v that
satisfy the guarantee, and v' the next one below v. The start leads to v in two ways.

- It begins at v: :math:`N(v) \le m < N(v')`. Given these two counts the test at v is valid.
- It begins above v: :math:`N(a) \le m < N(v)`. Given N(v) the test at v is valid, and a small N(a) makes its p-value
  larger: rows above a err at most as often as the limit says, those between a and v more often, so that fewer rows
  above a mean more errors above v.

(At the highest threshold there is no lower bound for m.) So one start makes the answer wrong with probability at most
its share. Of several starts, those that lead to v add up: as long as no threshold that violates the guarantee has
passed, the level at v is at most the sum L of their shares. Given N(v) and N(v'), L is a falling step function of N(a),
with the values :math:`x_1 < x_2 < \dots`, where at least :math:`x_i` means :math:`N(a) \le m_i`, and

.. math:: P(v \text{ passes}) = \sum_i P(x_{i-1} < p \le x_i,\ N(a) \le m_i).

Large p go with small N(a). So among the samples with :math:`x_{i-1} < p \le x_i` the event :math:`N(a) \le m_i` is at
most as frequent as among all with :math:`p > x_{i-1}`, hence at most :math:`P(N(a) \le m_i)/(1 - s)`, where s is the
sum of all shares. These bounds fall with i and :math:`P(p \le x_i) \le x_i`, so that summation by parts gives
:math:`P(v \text{ passes}) \le E[L]/(1 - s)`. Each start leads to one v: the expectations add up to s, and the answer
is wrong with probability at most :math:`s/(1 - s)`. Several starts therefore share :math:`s = \delta/(1 + \delta)`; a
single start has delta. Neither monotone risk nor the absence of ties is assumed.

Sources: fallback procedure, Wiens (2003), and Wiens & Dmitrienko (2005); fixed-sequence tests for risk control,
Angelopoulos et al., *Learn then Test* (2021). The starts at ranks, and the walk over thresholds that are themselves
random, are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from abstain._typing import FloatArray, IntArray
from abstain.thresholds._evidence import fewest

#: With many rows: coverages of the starts, and their parts of delta.
OCTAVES = ((1 / 16, 1.0), (1 / 8, 2.0), (1 / 4, 4.0), (1 / 2, 8.0))
#: From how many times the fewest rows that can pass on: errors that the first start has room for, its part of delta,
#: and coverages and parts of the others. Chosen by simulation (benchmarks/certificates.py); fixed.
FEW: tuple[tuple[float, int, float, tuple[tuple[float, float], ...]], ...] = (
    (7.0, 2, 0.6, ((1 / 4, 0.2), (1 / 2, 0.2))),
    (2.0, 1, 1.0, ()),
    (0.0, 0, 1.0, ()),
)
MANY = 13.0


def schedule(n: int, limit: float, delta: float) -> tuple[IntArray, FloatArray]:
    """Return the ranks at which the walk starts, ascending, and the share of delta of each; none if n is too small."""
    room = n / fewest(limit, delta)
    wanted: list[tuple[float | None, float]] = list(OCTAVES)
    spare = 0
    if room < MANY:
        _, spare, first, others = next(rule for rule in FEW if room >= rule[0])
        wanted = [(None, first), *others]
    while True:
        parts = np.array([part for _, part in wanted])
        share = parts / parts.sum() * (delta if len(wanted) == 1 else delta / (1.0 + delta))
        least = [fewest(limit, float(each)) for each in share]
        rank = [
            fewest(limit, float(share[i]), spare) if at is None else ceil(n * at) for i, (at, _) in enumerate(wanted)
        ]
        useless = [i for i in range(len(wanted)) if not least[i] <= rank[i] <= n]
        if not useless:
            order = np.argsort(rank, kind="stable")
            return np.array(rank)[order], share[order]
        if len(wanted) == 1:
            if rank[0] > n and spare:
                spare = 0
                continue
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        wanted.pop(useless[-1])


def positions(count: FloatArray, rank: IntArray) -> IntArray:
    """Return where the starts begin among thresholds that accept ``count`` rows each, in ascending order."""
    return np.maximum(np.searchsorted(count, rank, side="right") - 1, 0)


def fallback(n: int, start: IntArray, share: FloatArray, p_value: Callable[[int, int], FloatArray]) -> int:
    """Return the position of the lowest of n thresholds that passes, or -1.

    ``start`` are the positions at which the shares are added; ``p_value(low, high)`` gives the p-values of some.
    """
    gain = np.zeros(n)
    np.add.at(gain, start, share)
    begins = np.flatnonzero(gain)
    best, level = -1, 0.0
    for begin, end in zip(begins, np.append(begins[1:], n)[: len(begins)], strict=True):
        level += float(gain[begin])
        passed = _run(int(begin), int(end), level, p_value)
        best = passed - 1 if passed > begin else best
        level = level if passed == end else 0.0
    return best


def _run(begin: int, end: int, level: float, p_value: Callable[[int, int], FloatArray]) -> int:
    """Return the first position in [begin, end) whose p-value exceeds the level, else ``end``; p-values on demand."""
    step = 64
    while begin < end:
        until = min(begin + step, end)
        failed = np.flatnonzero(p_value(begin, until) > level)
        if failed.size:
            return begin + int(failed[0])
        begin, step = until, 2 * step
    return end
