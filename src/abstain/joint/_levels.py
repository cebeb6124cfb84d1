"""The level curve: for every number of accepted ID samples, the pair of thresholds of least risk."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain import _fast
from abstain._typing import IntArray
from abstain.joint import _kernels
from abstain.joint._frontier import RiskCoverageFrontier
from abstain.joint._problem import CORRECT, OOD, Problem
from abstain.joint._quadrants import Sweep, sweep_over
from abstain.joint._stairs import search


def frontier(data: Problem, *, generalized: bool = False) -> RiskCoverageFrontier:
    """Return the frontier with every attainable level, from all pairs of thresholds.

    For a fixed set of accepted ID samples each accepted OOD sample adds risk, so that both thresholds lie on ID values.
    """
    sweep, found = _best_levels(data, generalized)
    levels = np.flatnonzero(found[0] >= 0)
    return _curve(data, sweep, levels, found[:, levels], generalized, "exact")


def stairs(data: Problem, *generalized: bool) -> list[RiskCoverageFrontier]:
    """Return, for every kind of risk, the frontier with the levels at which the least risk at them or more steps."""
    sweep, found = search(data, *generalized)
    return [_curve(data, sweep, *each, kind, "steps") for each, kind in zip(found, generalized, strict=True)]


def single_frontier(data: Problem) -> RiskCoverageFrontier:
    """Return the frontier of the confidence alone: the detector score is made constant."""
    from dataclasses import replace

    found = frontier(data.alone())
    return replace(found, detector_threshold=np.full(found.n_id_accepted.size, -np.inf))


def _curve(
    data: Problem, sweep: Sweep, levels: IntArray, found: IntArray, generalized: bool, method: str
) -> RiskCoverageFrontier:
    right, outside, group, column = found
    return RiskCoverageFrontier(
        n_id_accepted=levels,
        n_correct=right,
        n_ood_accepted=outside,
        confidence_threshold=sweep.column_threshold[column],
        detector_threshold=sweep.group_threshold[group],
        n_id=data.n_id,
        n_ood=data.n_ood,
        ood_weight=data.ratio,
        prevalence=data.prevalence,
        generalized=generalized,
        method=method,
    )


def _best_levels(data: Problem, generalized: bool) -> tuple[Sweep, IntArray]:
    """Return the sweep, and per j the right and OOD rows (-1: none), the group and the column of the best pair."""
    sweep = sweep_over(data, np.arange(data.n_id))
    kind = data.kind[sweep.rows]
    found = np.full((4, data.n_id + 1), -1, dtype=np.int64)
    shape = (3, sweep.column_threshold.size)
    compiled = _fast.kernel(_kernels.levels, sweep.rows.size, _kernels.PAYS)
    if compiled is not None:
        weights = (data.id_weight, data.ood_weight)
        compiled(kind, sweep.column, sweep.ends, *weights, generalized, np.zeros(shape, dtype=np.int64), found)
    else:
        _sweep_levels(data, sweep, kind, sweep.ends, generalized, np.zeros(shape, dtype=np.int64), found)
    return sweep, found


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
