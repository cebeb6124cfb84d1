"""Sums over quadrants: the largest one over all pairs of thresholds, and those of a grid of quantiles.

Rows are taken by descending detector score, with a tree over descending confidence. Only thresholds at *correct* rows
can be optimal: between two of them, raising a threshold drops nothing but errors. Every other row is therefore moved
down to the next correct value, and out if there is none. The grid of T x T quantiles and K coverage bins is what papers
use, for comparison only: all T^2 counts come from three histograms of bin indices and their cumulative sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from abstain import _fast
from abstain._checks import whole
from abstain._typing import Array, FloatArray, IntArray
from abstain.joint import _kernels
from abstain.joint._problem import Problem, Thresholds


def distinct(values: FloatArray) -> Array:
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
        order = np.argsort(node, kind="stable")
        leaves, steps = order, []
        while n and int(node.max()) > 0:
            position = np.empty(n, dtype=np.intp)
            position[order] = np.arange(n)
            right, node = (node & 1).astype(bool), node >> 1
            order = np.argsort(node, kind="stable")
            place, from_right, parent = position[order], right[order], node[order]
            start = np.maximum.accumulate(np.where(np.append(True, parent[1:] != parent[:-1]), np.arange(n), 0))
            children = []
            for chosen in (~from_right, from_right):
                latest = np.maximum.accumulate(np.where(chosen, place, -1))
                children.append(np.where(latest >= start, latest, n))
            steps.append((children[0], children[1]))
        return leaves, steps

    def best(self, gain: FloatArray) -> tuple[float, int]:
        """Return the largest quadrant sum of the gains (per row of the sweep) and the first group that reaches it."""
        compiled = _fast.kernel(_kernels.sweep, self.rows.size, _kernels.PAYS)
        if compiled is not None:
            size = 1 << max(0, int(self.column_threshold.size - 1).bit_length())
            total, best = np.zeros((2, 2 * size), dtype=gain.dtype)
            top, where = compiled(gain, self.column, self.ends, total, best)
            return top, int(where)
        return self._best_by_merging(gain)

    def _best_by_merging(self, gain: FloatArray) -> tuple[float, int]:
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

    def column_of(self, gain: FloatArray, group: int) -> int:
        """Return the first column at which the quadrant sums of a group are largest."""
        inside = slice(0, int(self.ends[group]))
        sums = np.zeros(self.column_threshold.size, dtype=gain.dtype)
        np.add.at(sums, self.column[inside], gain[inside])
        return int(np.argmax(np.cumsum(sums)))


def sweep_over(problem: Problem, candidates: IntArray) -> Sweep:
    """Return the sweep whose thresholds are the values of the candidate rows; rows below all of them are left out."""
    groups, columns = distinct(problem.detector[candidates]), distinct(problem.confidence[candidates])
    group, column = floors(problem.detector, groups), floors(problem.confidence, columns)
    rows = np.flatnonzero((group < groups.size) & (column < columns.size))
    rows = rows[np.argsort(group[rows], kind="stable")]
    ends = np.cumsum(np.bincount(group[rows], minlength=groups.size))
    return Sweep(rows, column[rows], ends, groups, columns)


def steps(number: int | None, name: str) -> int:
    """Return a number of thresholds or bins; there is no default, because results depend on it."""
    if number is None:
        raise TypeError(f"{name} is missing; a grid has no natural size and the value depends on it, so say {name}=...")
    return whole(number, name)


def quantiles(score: FloatArray, T: int) -> FloatArray:
    """Return at most T distinct values of the score at equal steps of rank, descending; the lowest accepts all."""
    return np.unique(np.quantile(score, np.linspace(0.0, 1.0, T), method="lower"))[::-1]


def counts(data: Problem, confidence: FloatArray, detector: FloatArray) -> IntArray:
    """Return the accepted right, wrong and OOD rows of every pair, shape (3, n_confidence, n_detector)."""
    row, column = floors(data.confidence, confidence), floors(data.detector, detector)
    shape = (3, confidence.size + 1, detector.size + 1)
    flat = np.ravel_multi_index((data.kind.astype(np.intp), row, column), shape)
    table = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)[:, :-1, :-1]
    return table.cumsum(axis=1).cumsum(axis=2)


def surface(data: Problem, T: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the thresholds of both scores and F1 of every pair, shape (n_confidence, n_detector)."""
    confidence, detector = quantiles(data.confidence, T), quantiles(data.detector, T)
    right, wrong, outside = counts(data, confidence, detector)
    bottom = data.id_weight * (right + wrong + data.n_id) + data.ood_weight * outside
    return confidence, detector, 2.0 * data.id_weight * right / bottom


def points(data: Problem, T: int) -> tuple[FloatArray, FloatArray]:
    """Return ID coverage and selective risk of every pair of T quantiles that accepts an ID row."""
    right, wrong, outside = counts(data, quantiles(data.confidence, T), quantiles(data.detector, T))
    inside, right, outside = (right + wrong).ravel(), right.ravel(), outside.ravel()
    taken = inside > 0
    inside, right, outside = inside[taken], right[taken], outside[taken]
    return inside / data.n_id, 1.0 - right / (inside + data.ratio * outside)


def grid_f1(data: Problem, T: int) -> Thresholds:
    """Return the best pair of the grid."""
    confidence, detector, value = surface(data, T)
    row, column = np.unravel_index(int(np.argmax(value)), value.shape)
    return Thresholds(float(confidence[row]), float(detector[column]))


def binned_aurc(data: Problem, T: int, K: int) -> float:
    """Return the mean over K bins of coverage of the least risk in ((k-1)/K, k/K]; empty bins are interpolated."""
    coverage, risk = points(data, T)
    least = np.full(K, np.inf)
    np.minimum.at(least, -(-np.rint(coverage * data.n_id).astype(np.intp) * K // data.n_id) - 1, risk)
    bins = np.arange(K)
    filled = np.isfinite(least)
    return float(np.interp(bins, bins[filled], least[filled]).mean())
