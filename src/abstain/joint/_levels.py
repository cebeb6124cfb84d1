"""The level curve: for every number of accepted ID samples, the pair of thresholds of least risk."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._typing import IntArray
from abstain.joint._fast import kernel
from abstain.joint._frontier import RiskCoverageFrontier
from abstain.joint._problem import CORRECT, OOD, Problem
from abstain.joint._quadrants import Sweep, sweep_over


def frontier(data: Problem, *, generalized: bool = False, T: int | None = None) -> RiskCoverageFrontier:
    """Return the frontier; with ``T``, from T thresholds of each score with all of the other only.

    For a fixed set of accepted ID samples each accepted OOD sample adds risk, so that both thresholds lie on ID values.
    """
    found, thresholds = _best_levels(data, generalized, T)
    if T is not None:
        other, swapped = _best_levels(data.swapped(), generalized, T)
        _merge(data, generalized, found, thresholds, other, swapped[::-1])
    levels = np.flatnonzero(found[0] >= 0)
    right, outside = found[0, levels], found[1, levels]
    return RiskCoverageFrontier(
        n_id_accepted=levels,
        n_correct=right,
        n_ood_accepted=outside,
        confidence_threshold=thresholds[0, levels],
        detector_threshold=thresholds[1, levels],
        n_id=data.n_id,
        n_ood=data.n_ood,
        ood_weight=data.ratio,
        prevalence=data.prevalence,
        generalized=generalized,
        method="exact" if T is None else f"semi-{T}",
    )


def single_frontier(data: Problem) -> RiskCoverageFrontier:
    """Return the frontier of the confidence alone: the detector score is made constant."""
    from dataclasses import replace

    found = frontier(data.alone())
    return replace(found, detector_threshold=np.full(found.n_id_accepted.size, -np.inf))


def _best_levels(data: Problem, generalized: bool, T: int | None) -> tuple[IntArray, Any]:
    """Return per j the right and OOD rows, the group and the column (-1: none), and the two thresholds."""
    sweep = sweep_over(data, np.arange(data.n_id))
    kind = data.kind[sweep.rows]
    ends, group_threshold = sweep.ends, sweep.group_threshold
    if T is not None and ends.size > T:
        inside = np.append(0, np.cumsum(kind != OOD))[ends]
        chosen = np.unique(np.searchsorted(inside, np.arange(1, T + 1) * (data.n_id / T) - 1e-9))
        ends, group_threshold = ends[chosen], group_threshold[chosen]
    found = np.full((4, data.n_id + 1), -1, dtype=np.int64)
    shape = (3, sweep.column_threshold.size)
    compiled = kernel("levels", sweep.rows.size)
    if compiled is not None:
        weights = (data.id_weight, data.ood_weight)
        compiled(kind, sweep.column, ends, *weights, generalized, np.zeros(shape, dtype=np.int64), found)
    else:
        _sweep_levels(data, sweep, kind, ends, generalized, np.zeros(shape, dtype=np.int64), found)
    thresholds = np.stack([sweep.column_threshold[found[3]], group_threshold[found[2]]])
    return found, thresholds


def _sweep_levels(
    data: Problem, sweep: Sweep, kind: Any, ends: IntArray, generalized: bool, sums: IntArray, found: IntArray
) -> None:
    """The kernel without a compiler: cumulative counts are kept, and only columns below a new ID row are read."""
    n_columns, start = sums.shape[1], 0
    occupied = np.zeros(n_columns, dtype=bool)
    for group, end in enumerate(ends.tolist()):
        column, kinds = sweep.column[start:end], kind[start:end]
        inside = kinds != OOD
        chosen = (inside, kinds == CORRECT, ~inside)
        if column.size <= 8:
            for row, rows in enumerate(chosen):
                for first in column[rows].tolist():
                    sums[row, first:] += 1
        else:
            for row, rows in enumerate(chosen):
                sums[row] += np.cumsum(np.bincount(column[rows], minlength=n_columns))
        start = end
        occupied[column[inside]] = True
        first = int(column[inside].min())  # every group has an ID row: thresholds are ID values
        at = first + np.flatnonzero(occupied[first:])
        level, right, outside = sums[:, at]
        better = _better(data, generalized, level, right, outside, found[0, level], found[1, level])
        level, at = level[better], at[better]
        found[:, level] = right[better], outside[better], np.full(level.size, group), at


def _better(
    data: Problem, generalized: bool, level: Any, right: Any, outside: Any, old_right: Any, old_outside: Any
) -> Any:
    """Return where a quadrant has less risk than the one found before (right = -1: there was none)."""
    weight = data.id_weight * level + data.ood_weight * outside
    old_weight = data.id_weight * level + data.ood_weight * old_outside
    if generalized:
        less = weight - data.id_weight * right < old_weight - data.id_weight * old_right
    else:
        less = right * old_weight > old_right * weight
    return less | (old_right < 0)


def _merge(data: Problem, generalized: bool, found: Any, thresholds: Any, other: Any, swapped: Any) -> None:
    """Take over what the sweep with exchanged roles did better."""
    level = np.arange(found.shape[1])
    better = (other[0] >= 0) & _better(data, generalized, level, other[0], other[1], found[0], found[1])
    found[:, better], thresholds[:, better] = other[:, better], swapped[:, better]
