"""The largest sum over a quadrant: rows by descending detector score, a tree over descending confidence.

Only thresholds at *correct* rows can be optimal: between two of them, raising a threshold drops nothing but
errors. Every other row is therefore moved down to the next correct value, and out if there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from abstain import _fast
from abstain._typing import FloatArray, IntArray
from abstain.joint import _kernels
from abstain.joint._problem import Problem, Thresholds


def distinct(values: FloatArray) -> Any:
    """Distinct values, highest first."""
    return (np.flatnonzero(np.bincount(values)) if values.dtype.kind == "i" else np.unique(values))[::-1]


def floors(values: FloatArray, thresholds: FloatArray) -> IntArray:
    """Position of the highest threshold that each value reaches; ``len(thresholds)`` if none. Descending thresholds."""
    if values.dtype.kind == "i":  # ranks: a table is read faster than thresholds are searched
        reached = np.bincount(thresholds, minlength=int(values.max()) + 1)
        found: IntArray = thresholds.size - np.cumsum(reached)[values]
        return found
    ascending = thresholds[::-1]
    return (thresholds.size - np.searchsorted(ascending, values, side="right")).astype(np.intp)


def stable_order(keys: IntArray) -> IntArray:
    """Return ``np.argsort(keys, kind="stable")`` of keys below 2^31, by one sort of numbers that hold key and place."""
    bits = keys.size.bit_length()
    both = (keys << bits) | np.arange(keys.size)
    both.sort()
    return both & ((1 << bits) - 1)


@dataclass(frozen=True, eq=False)
class Sweep:
    """Rows in the order of descending ``group`` value, with their columns; thresholds descend.

    ``rows`` indexes the problem; ``ends`` holds the end of each group of tied detector scores.
    """

    rows: IntArray
    column: IntArray
    ends: IntArray
    group_threshold: FloatArray
    column_threshold: FloatArray

    @cached_property
    def merges(self) -> tuple[IntArray, list[tuple[IntArray, IntArray]]]:
        """Per level of the tree, for each event the latest event of its left and right child (n: none yet).

        An event is a row that enters a node; the events of a node are its rows in the order of the sweep. Computed
        once: the gains change from iteration to iteration, the merges do not.
        """
        n = self.rows.size
        node = self.column
        order = stable_order(node)
        leaves, steps = order, []
        while n and int(node.max()) > 0:
            position = np.empty(n, dtype=np.intp)
            position[order] = np.arange(n)
            right, node = (node & 1).astype(bool), node >> 1
            order = stable_order(node)
            place, from_right, parent = position[order], right[order], node[order]
            start = np.maximum.accumulate(np.where(np.append(True, parent[1:] != parent[:-1]), np.arange(n), 0))
            children = []
            for chosen in (~from_right, from_right):
                latest = np.maximum.accumulate(np.where(chosen, place, -1))
                children.append(np.where(latest >= start, latest, n))
            steps.append((children[0], children[1]))
        return leaves, steps

    def best(self, gain: Any) -> tuple[Any, int]:
        """Return the largest quadrant sum of the gains (per row of the sweep) and the first group that reaches it."""
        if not self.rows.size:
            return gain.dtype.type(0), 0
        compiled = _fast.kernel(_kernels.sweep, self.rows.size, _kernels.PAYS)
        if compiled is not None:
            size = 1 << max(0, int(self.column_threshold.size - 1).bit_length())
            total, best = np.zeros((2, 2 * size), dtype=gain.dtype)
            top, where = compiled(gain, self.column, self.ends, total, best)
            return top, int(where)
        return self._best_by_merging(gain)

    def _best_by_merging(self, gain: Any) -> tuple[Any, int]:
        """The same without a compiler: the whole history of each node, one level of the tree at a time."""
        leaves, steps = self.merges
        column = self.column[leaves]
        total = np.cumsum(gain[leaves])
        first = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
        before = np.append(0, total)[first].astype(gain.dtype)
        total = total - np.repeat(before, np.diff(np.append(first, column.size)))
        best = np.maximum(total, 0)
        for left, right in steps:
            total, best = np.append(total, 0), np.append(best, 0)
            total, best = total[left] + total[right], np.maximum(best[left], total[left] + best[right])
        at_end = best[self.ends - 1]
        where = int(np.argmax(at_end))
        return (at_end[where], where) if at_end[where] > 0 else (gain.dtype.type(0), 0)

    def column_of(self, gain: Any, group: int) -> int:
        """Return the first column at which the quadrant sums of a group are largest."""
        inside = slice(0, int(self.ends[group]))
        sums = np.zeros(self.column_threshold.size, dtype=gain.dtype)
        np.add.at(sums, self.column[inside], gain[inside])
        return int(np.argmax(np.cumsum(sums)))

    def thresholds(self, group: int, column: int) -> Thresholds:
        """Return the two thresholds of a quadrant."""
        return Thresholds(float(self.column_threshold[column]), float(self.group_threshold[group]))


def sweep_over(problem: Problem, candidates: Any) -> Sweep:
    """Return the sweep whose thresholds are the values of the candidate rows; rows below all of them are left out."""
    groups, columns = distinct(problem.detector[candidates]), distinct(problem.confidence[candidates])
    group, column = floors(problem.detector, groups), floors(problem.confidence, columns)
    rows = np.flatnonzero((group < groups.size) & (column < columns.size))
    rows = rows[stable_order(group[rows])]
    ends = np.cumsum(np.bincount(group[rows], minlength=groups.size))
    return Sweep(rows, column[rows], ends, groups, columns)
