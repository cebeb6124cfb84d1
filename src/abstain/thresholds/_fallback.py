r"""The default procedure for 0/1 losses: a fallback test over nested accepted sets, exact for every population.

1. A few *starts* are ranks :math:`m_1 < m_2 < \dots` that depend on n, limit and delta only, each with its share of
   delta. No row is set aside, and no lot is drawn. A start begins at the last threshold that accepts at most
   :math:`m_s` rows, or at the highest threshold if a tie at the top is wider than that.
2. Walk down through *every* attainable threshold. At a start its share is added to the level. A threshold passes if
   its p-value is at most the level. The first that fails sets the level to 0; the walk goes on at the next start.
3. The lowest threshold that passed is the answer.

**Why this holds.** Order the population from the most confident on, ties split by lots that nobody has to draw. Let u
be the share above, N(u) the number of rows above, and A(u) the integral of (risk - limit) from 0 to u: a threshold
breaks the promise if and only if A > 0 at its u. Between two zeros of A the rows are, given their number, independent
with a mean loss of exactly the limit, and between a zero and a threshold that breaks the promise their mean is above.
So given the counts *there*, the errors above such a threshold are too many, and its p-value is valid. Take one start.

- It begins at a threshold w that breaks the promise: that happens if and only if :math:`N(w) \le m < N(w')`, with w'
  the next lower one. Given these counts the test at w is valid, and it is the first that has to pass.
- It begins where A <= 0. The walk has to pass the next threshold v that breaks the promise. Let c be the last zero
  before, a the first threshold below c, z the zero before v. The start is here if and only if
  :math:`N(a) \le m < N(v)`, or it is at c. Without ties a is c. With ties, N(a) is no count at a zero; but between c
  and a lie fewer errors than the limit says, so that a small N(a) goes with *more* errors above v: the two events
  "N(a) <= m" and "v passes" are negatively associated, and the test is valid on average.

Either way the start leads to a broken promise with probability at most its share, and the shares of several starts add
up: at w exactly, at v with ties up to a factor :math:`1/(1 - s)`, where s is their sum. (Of the samples in which v
passes at the higher of two levels only, those with a small N(a) are no more than among all samples that fail at the
lower one, and these are 1 - s of all at least.) Several starts therefore share :math:`s = \delta/(1 + \delta)`; a
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
from abstain.thresholds._p_values import fewest

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
