"""The least risk at a coverage or more, without visiting all pairs of thresholds: branch and bound on blocks of pairs.

Pairs are cells of a table: groups of tied detector scores times columns of tied confidences, both descending. A pair
accepts the rows up to its group and column. Counts only grow with both, so no pair of a block accepts fewer bad rows
than its first corner or more right and ID rows than its last: that bounds the risk inside from below. Pairs at corners
bound the result from above. A block is left out if, at the largest coverage inside, something as good is known; the
others are cut into smaller blocks, and what is left of those is read. Without ties some 1,000 pairs per row are left,
of n; how few is no theorem (an exact n log n method would solve a (max,+) convolution).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from abstain import _fast
from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.joint import _kernels
from abstain.joint._problem import Problem
from abstain.joint._quadrants import Sweep, sweep_over

#: Groups and columns of a block and of a small one, and blocks per side at most (8 bytes each).
BLOCK, SMALL, MOST = 32, 4, 2560
#: Corners that are taken at once.
CORNERS = 65_536


class Counts(NamedTuple):
    """Right, wrong and OOD rows."""

    right: IntArray
    wrong: IntArray
    outside: IntArray


class Packing:
    """Three counts in one number, so that they are summed at once."""

    def __init__(self, data: Problem) -> None:
        wrong = int(data.wrong.sum())
        bits = [int(each).bit_length() for each in (data.n_id - wrong, wrong, data.n_ood)]
        if sum(bits) > 63:
            raise ValueError(f"{data.n_id} ID and {data.n_ood} OOD samples are too many; take a random part of them")
        self.shifts = (0, bits[0], bits[0] + bits[1])
        self.masks = tuple((1 << each) - 1 for each in bits)
        self.one = np.array([1 << each for each in self.shifts], dtype=np.int64)

    def split(self, packed: IntArray) -> Counts:
        """Return the three counts."""
        return Counts(*((packed >> shift) & mask for shift, mask in zip(self.shifts, self.masks, strict=True)))


class Best:
    """The pair of least risk per number of accepted ID rows so far, and the least risk at that number or more."""

    def __init__(self, data: Problem, generalized: bool) -> None:
        self.id_weight, self.ood_weight, self.generalized = float(data.id_weight), float(data.ood_weight), generalized
        self.risk = np.full(data.n_id + 1, np.inf)
        self.least = self.risk
        self.found = np.zeros((4, data.n_id + 1), dtype=np.int64)  # right and OOD rows, group, column

    def promising(self, first: Counts, last: Counts) -> BoolArray:
        """Return where a pair between these corners may have less risk than is known at all its coverages."""
        level = last.right + last.wrong
        bad = self.id_weight * first.wrong + self.ood_weight * first.outside
        known = self.least[level]
        limit = known if self.generalized else known * (bad + self.id_weight * last.right)
        return np.asarray((bad < limit) & (level > 0))

    def take(self, counts: Counts, group: IntArray, column: IntArray) -> None:
        """Remember pairs of less risk than any other that accepts as many ID rows (at least one)."""
        level = counts.right + counts.wrong
        risk = self.id_weight * counts.wrong + self.ood_weight * counts.outside
        if not self.generalized:
            risk = risk / (risk + self.id_weight * counts.right)
        np.minimum.at(self.risk, level, risk)
        won = risk == self.risk[level]
        for row, each in zip(self.found, (counts.right, counts.outside, group, column), strict=True):
            row[level[won]] = each[won]

    def settle(self) -> None:
        """Bring the least risk at a level or more up to date."""
        self.least = np.minimum.accumulate(self.risk[::-1])[::-1]


class Blocks(NamedTuple):
    """Blocks of one size: packed counts before each, and the rows inside.

    ``corner``: rows before its first group and column; ``left``: of each of its groups, rows before its first column;
    ``above``: of each of its columns, rows before its first group. ``inside``: per row block, group and column in it,
    and packed kind. ``group``, ``column``: its first ones.
    """

    corner: IntArray
    left: IntArray
    above: IntArray
    inside: tuple[IntArray, IntArray, IntArray, IntArray]
    group: IntArray
    column: IntArray


def search(data: Problem, *generalized: bool) -> tuple[Sweep, list[tuple[IntArray, IntArray]]]:
    """Return the sweep, and per kind of risk the levels at which the least steps, with the best pair at each.

    A pair is right and OOD rows, group and column. Both risks at once cost little more than one.
    """
    sweep, packing, bests = sweep_over(data, np.arange(data.n_id)), Packing(data), [Best(data, g) for g in generalized]
    n_groups, n_columns = sweep.ends.size, sweep.column_threshold.size
    size = max(BLOCK, SMALL * -(-max(n_groups, n_columns) // (SMALL * MOST)))
    one = packing.one[data.kind[sweep.rows]]
    group = np.repeat(np.arange(n_groups), np.diff(sweep.ends, prepend=0))
    corner = _corners(sweep, group, one, size)
    _alone(sweep, group, one, bests, packing)
    strips = np.minimum(np.arange(corner.shape[0]) * size, n_groups)
    start = np.append(0, sweep.ends)[strips]
    compiled = _fast.kernel(_kernels.steps, sweep.rows.size, _kernels.PAYS)
    if compiled is not None:
        order = np.lexsort((sweep.column // size, group // size))
        risk, least, found = (np.stack(each) for each in zip(*((b.risk, b.least, b.found) for b in bests), strict=True))
        compiled(
            one[order], group[order], sweep.column[order], start, corner, size, np.array(packing.shifts),
            np.array(packing.masks), bests[0].id_weight, bests[0].ood_weight, np.array(generalized), SMALL,
            risk, least, found,
        )  # fmt: skip
        for best, *each in zip(bests, risk, least, found, strict=True):
            best.risk, best.least, best.found = each
        return sweep, _found(bests, n_groups, n_columns)
    ends = strips[1:] - 1, np.minimum(np.arange(1, corner.shape[1]) * size, n_columns) - 1
    several = max(1, CORNERS // ends[1].size)
    for strip in range(0, ends[0].size, several):
        counts = packing.split(corner[strip + 1 : strip + several + 1, 1:])
        down, across = np.nonzero(counts.right + counts.wrong)
        for best in bests:
            best.take(Counts(*(each[down, across] for each in counts)), ends[0][strip + down], ends[1][across])
    for best in bests:
        best.settle()
    above = np.zeros((corner.shape[1] - 1, size), dtype=np.int64)
    for strip in range(ends[0].size):
        rows = slice(start[strip], start[strip + 1])
        inside = group[rows] - strip * size, sweep.column[rows], one[rows]
        live = _promising(bests, packing, corner[strip, :-1], corner[strip + 1, 1:])
        if live.any():
            blocks = _strip(np.flatnonzero(live), corner[strip], above, inside, strip, size)
            _read(_cut(blocks, SMALL, bests, packing), bests, packing)
        np.add.at(above, (inside[1] // size, inside[1] % size), inside[2])
    return sweep, _found(bests, n_groups, n_columns)


def steps_of(risk: FloatArray) -> IntArray:
    """Return the levels above which no risk is as small."""
    least = np.minimum.accumulate(risk[::-1])[::-1]
    return np.flatnonzero(risk < np.append(least[1:], np.inf))


def _found(bests: list[Best], n_groups: int, n_columns: int) -> list[tuple[IntArray, IntArray]]:
    """Return the steps with their pairs; what lies past the last group or column accepts no more than it."""
    steps = []
    for best in bests:
        best.found[2:] = np.minimum(best.found[2:], [[n_groups - 1], [n_columns - 1]])
        levels = steps_of(best.risk)
        steps.append((levels, best.found[:, levels]))
    return steps


def _promising(bests: list[Best], packing: Packing, first: IntArray, last: IntArray) -> BoolArray:
    """Return which blocks between these corners may improve one of the risks."""
    low, high = packing.split(first), packing.split(last)
    live = bests[0].promising(low, high)
    for other in bests[1:]:
        live |= other.promising(low, high)
    return live


def _alone(sweep: Sweep, group: IntArray, one: IntArray, bests: list[Best], packing: Packing) -> None:
    """Take the pairs that use one threshold only: where the other score is useless, hardly any is better."""
    n = sweep.ends.size, sweep.column_threshold.size
    for axis, place in enumerate((group, sweep.column)):
        rows = np.zeros(n[axis], dtype=np.int64)
        np.add.at(rows, place, one)
        counts = packing.split(rows.cumsum())
        some = np.flatnonzero(counts.right + counts.wrong)
        pair = [np.full(some.size, most - 1) for most in n]
        pair[axis] = some
        for best in bests:
            best.take(Counts(*(each[some] for each in counts)), *pair)


def _corners(sweep: Sweep, group: IntArray, one: IntArray, size: int) -> IntArray:
    """Return the packed counts before each block, and after the last."""
    shape = [-(-n // size) + 1 for n in (sweep.ends.size, sweep.column_threshold.size)]
    corner = np.zeros(shape, dtype=np.int64)
    np.add.at(corner, (group // size + 1, sweep.column // size + 1), one)
    np.cumsum(corner, axis=0, out=corner)
    return np.cumsum(corner, axis=1, out=corner)


def _strip(
    live: IntArray, corner: IntArray, above: IntArray, rows: tuple[IntArray, IntArray, IntArray], strip: int, size: int
) -> Blocks:
    """Return the live blocks of a strip of groups."""
    group, column, one = rows
    left = np.zeros((live.size + 1, size), dtype=np.int64)
    np.add.at(left, (np.searchsorted(live * size, column, side="right"), group), one)
    place = np.full(above.shape[0], -1)
    place[live] = np.arange(live.size)
    block = place[column // size]
    mine = block >= 0
    inside = block[mine], group[mine], column[mine] % size, one[mine]
    return Blocks(
        corner[live], left.cumsum(axis=0)[:-1], above[live], inside, np.full(live.size, strip * size), live * size
    )


def _cut(blocks: Blocks, size: int, bests: list[Best], packing: Packing) -> Blocks:
    """Return the remaining blocks of a smaller size inside."""
    (n, whole), (block, group, column, one) = blocks.left.shape, blocks.inside
    parts = whole // size
    left, above = np.zeros((n, whole, parts + 1), dtype=np.int64), np.zeros((n, parts + 1, whole), dtype=np.int64)
    np.add.at(left, (block, group, column // size + 1), one)
    np.add.at(above, (block, group // size + 1, column), one)
    left[:, :, 0], above[:, 0] = blocks.left, blocks.above
    np.cumsum(left, axis=2, out=left)  # of each group, rows before each part
    np.cumsum(above, axis=1, out=above)
    corner = np.zeros((n, parts + 1, parts + 1), dtype=np.int64)
    corner[:, 1:] = left.reshape(n, parts, size, parts + 1).sum(axis=2)
    corner[:, 0, 1:] = blocks.above.reshape(n, parts, size).sum(axis=2).cumsum(axis=1)
    corner[:, 0] += blocks.corner[:, None]
    np.cumsum(corner, axis=1, out=corner)
    live = _promising(bests, packing, corner[:, :-1, :-1], corner[:, 1:, 1:])
    of, down, across = np.nonzero(live)
    place = np.full(live.shape, -1)
    place[of, down, across] = np.arange(of.size)
    block = place[block, group // size, column // size]
    mine = block >= 0
    inside = block[mine], group[mine] % size, column[mine] % size, one[mine]
    left = left[:, :, :-1].reshape(n, parts, size, parts)[of, down, :, across]
    above = above[:, :-1].reshape(n, parts, parts, size)[of, down, across]
    return Blocks(
        corner[of, down, across], left, above, inside, blocks.group[of] + down * size, blocks.column[of] + across * size
    )


def _read(blocks: Blocks, bests: list[Best], packing: Packing) -> None:
    """Take the pairs inside that are better than what is known."""
    block, group, column, one = blocks.inside
    size = blocks.left.shape[1]
    packed = np.zeros((blocks.corner.size, size, size), dtype=np.int64)
    np.add.at(packed, (block, group, column), one)
    packed[:, 0] += blocks.above
    np.cumsum(packed, axis=1, out=packed)
    packed[:, :, 0] += blocks.left.cumsum(axis=1) + blocks.corner[:, None]
    np.cumsum(packed, axis=2, out=packed)
    counts = packing.split(packed)
    for best in bests:
        of, down, across = np.nonzero(best.promising(counts, counts))
        if of.size:
            chosen = Counts(*(each[of, down, across] for each in counts))
            best.take(chosen, blocks.group[of] + down, blocks.column[of] + across)
            best.settle()
