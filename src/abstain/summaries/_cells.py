r"""Certified bounds of metrics of two thresholds from cells: pairs of a bin of the confidence and one of the detector.

With thresholds inside bin i of the confidence and bin j of the detector, at most the rows of bins up to i and up to j
are accepted, and at least those of the bins before. Let T be the right rows of the former, J its ID rows, and W and O
the wrong and the OOD rows of the latter, r the weight of an OOD row. Then, whatever the order inside the bins,

    F1  <=  2 T / (T + W + r O + n_ID),     risk  >=  (W + r O) / (T + W + r O),     coverage  <=  J / n_ID.

Thresholds at the ends of bins are attained, so that the best of them bounds from the other side: that is the value. A
bin whose lowest and highest score are equal has no inside: its rows are in both counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from abstain._typing import BoolArray, FloatArray, IntArray

#: Cells of the grid that are looked at together.
TOGETHER = 1 << 20


class Axis(NamedTuple):
    """The bins of one score: which each cell has, by descending score, and whether a bin has no inside."""

    place: IntArray
    tie: BoolArray


@dataclass(frozen=True)
class Cells:
    """Occupied cells with their right, wrong and OOD rows, shape (3, n_cells); ``ratio``: weight of an OOD row."""

    confidence: Axis
    detector: Axis
    counts: FloatArray
    ratio: float

    def alone(self, name: str) -> Cells:
        """Return the cells of one score: the other accepts everything."""
        kept = getattr(self, name)
        every = Axis(np.zeros_like(kept.place), np.ones(1, dtype=bool))
        return Cells(kept, every, self.counts, self.ratio)

    def bounds(self) -> dict[str, tuple[float, float]]:
        """Return F1, AURC and AUGRC as value, which is attained, and the end that no thresholds can pass."""
        right, wrong, outside = (float(each.sum()) for each in self.counts)
        n_id, n = right + wrong, right + wrong + self.ratio * outside
        f1, stairs = [0.0, 0.0], [[Stairs(), Stairs()], [Stairs(), Stairs()]]
        for most, least in self._corners():
            for k, low in enumerate((most, least)):  # the corner itself; what lies beyond it
                bad = low[1] + self.ratio * low[2]
                level, reached = most[0] + most[1], most[0] + bad
                f1[k] = max(f1[k], float(np.max(2.0 * most[0] / (reached + n_id))))
                selective = np.divide(bad, reached, out=np.ones_like(bad), where=reached > 0.0)
                for area, risk in zip(stairs, (selective, bad / n), strict=True):
                    area[k].add(level, risk)
        aurc, augrc = ([each.area(n_id, ends) for each in area] for area, ends in zip(stairs, (0.0, 0.5), strict=True))
        return {"f1": (f1[0], f1[1]), "aurc": (aurc[0], aurc[1]), "augrc": (augrc[0], augrc[1])}

    def _corners(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the rows of each kind up to each pair of bins, and those before, some bins at a time; shape (3, n)."""
        down, across = self.confidence, self.detector
        height, width = len(down.tie), len(across.tie)
        order = np.argsort(down.place, kind="stable")
        place, column, counts = down.place[order], across.place[order], self.counts[:, order]
        step = max(1, TOGETHER // width)
        before = np.zeros((3, 1, width + 1))
        for first in range(0, height, step):
            rows = slice(*np.searchsorted(place, [first, first + step]).tolist())
            shape = (min(step, height - first), width)
            flat = (place[rows] - first) * width + column[rows]
            found = [np.bincount(flat, each[rows], shape[0] * width).reshape(shape) for each in counts]
            upto = np.zeros((3, shape[0] + 1, width + 1))
            upto[:, 1:, 1:] = np.cumsum(np.cumsum(found, axis=1), axis=2)
            upto += before
            tie = down.tie[first : first + step]
            i, j = np.arange(shape[0]) + tie, np.arange(width) + across.tie
            yield upto[:, 1:, 1:].reshape(3, -1), upto[:, i[:, None], j[None, :]].reshape(3, -1)
            before = upto[:, -1:]


class Stairs:
    """The least risk at each number of accepted ID rows or more, kept where it steps."""

    def __init__(self) -> None:
        self.level, self.risk = np.zeros(0), np.zeros(0)

    def add(self, level: FloatArray, risk: FloatArray) -> None:
        """Take pairs of thresholds, by the ID rows that they accept at most and their risk."""
        some = level > 0.0
        level, risk = np.append(self.level, level[some]), np.append(self.risk, risk[some])
        order = np.lexsort((risk, -level))
        level, risk = level[order], risk[order]
        steps = np.append(True, risk[1:] < np.minimum.accumulate(risk)[:-1]) if risk.size else np.zeros(0, bool)
        self.level, self.risk = level[steps], risk[steps]

    def area(self, n_id: float, ends: float) -> float:
        """Return the mean over j = 1, ..., n_ID, less this share of the last one."""
        widths = self.level - np.append(self.level[1:], 0.0)
        return (float(self.risk @ widths) - ends * float(self.risk[0])) / n_id
