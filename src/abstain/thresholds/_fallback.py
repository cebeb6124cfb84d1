r"""The default procedure: a fallback test over nested accepted sets, valid for every distribution of scores and losses.

1. The scores of :math:`\lceil\sqrt n\rceil` random pilot rows (their losses are put away) fix at most four *starts*
   :math:`t_1 > t_2 > \dots`, the thresholds that accept about 1/16, 1/8, 1/4 and 1/2; a start that is too small to
   pass is left out. Start j gets the share :math:`\delta_j \propto 2^j` of :math:`\delta = \sum_j \delta_j`.
2. On the other rows, walk down through *every* attainable threshold from the highest start. At a start its share is
   added to the level. A threshold passes if its p-value is at most the level. The first that fails sets the level to 0,
   and the walk goes on at the next start.
3. The lowest threshold that passed is the answer.

**Why this holds.** Given the pilot, the starts are fixed. Let :math:`t^*` be the supremum of the thresholds at or
below a start with a risk above the limit. The rows with a score of at least :math:`t^*` are one of the sets that the
walk tests, although :math:`t^*` is unknown, and it is a set fixed in advance: given their number, their losses are an
independent sample with a risk of at least the limit. Only a walk that passes there can reach a threshold with too high
a risk, and the level there is at most the sum of the shares since the last such barrier. The sum over all barriers is
at most :math:`\delta`. Neither monotone risk nor the absence of ties is assumed.

Sources: fallback procedure, Wiens (2003), and Wiens & Dmitrienko (2005); fixed-sequence tests for risk control,
Angelopoulos et al., *Learn then Test* (2021). The pilot, and the walk over thresholds that are themselves random, are
ours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from abstain._typing import FloatArray
from abstain.thresholds._p_values import fewest

#: Coverages of the starts, and shares of delta in proportion. Chosen by simulation (benchmarks/thresholds.py); fixed.
COVERAGES = (1 / 2, 1 / 4, 1 / 8, 1 / 16)
SHARES = (8.0, 4.0, 2.0, 1.0)
#: A start is expected to hold this many times the rows that could pass without a single error.
ROOM = 1.5


def starts(pilot: FloatArray, n: int, limit: float, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return the start thresholds, highest first, and the share of delta of each."""
    for number in range(len(COVERAGES), 0, -1):
        share = np.array(SHARES[:number]) / sum(SHARES[:number]) * delta
        if n * COVERAGES[number - 1] >= ROOM * fewest(limit, float(share[-1])):
            wanted = np.array(COVERAGES[:number])
            break
    else:  # few rows: one start, half-way (geometrically) between the fewest rows that can pass and all rows
        wanted, share = np.array([min(1.0, (fewest(limit, delta) / n) ** 0.5)]), np.array([delta])
    ranks = np.clip(np.ceil(wanted * (len(pilot) + 1)), 1, len(pilot)).astype(int) - 1
    threshold = np.sort(pilot)[::-1][ranks]
    return threshold[::-1], share[::-1]


def fallback(
    threshold: FloatArray, start: FloatArray, share: FloatArray, p_value: Callable[[int, int], FloatArray]
) -> int:
    """Return the position of the lowest threshold that passes, or -1.

    ``threshold`` is descending and holds every start; ``p_value(low, high)`` gives the p-values of some positions.
    """
    gain = np.zeros(len(threshold))
    np.add.at(gain, np.searchsorted(-threshold, -start), share)
    begins = np.flatnonzero(gain)
    best, level = -1, 0.0
    for begin, end in zip(begins, [*begins[1:], len(threshold)], strict=True):
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
