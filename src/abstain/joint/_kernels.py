"""The inner loops, in the part of Python that numba compiles. Nothing here is needed for a right result.

They sweep the threshold of the detector score downwards over groups of tied rows. ``column`` is the position of a row's
confidence among the distinct thresholds, the highest first; ``ends`` holds the end of each group.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._typing import AnyArray, BoolArray, FloatArray, IntArray

#: Below so many rows NumPy alone is as fast as loading numba; where that is done, as the kernels.
PAYS = (3000, 100)


def sweep(gain: FloatArray, column: IntArray, ends: IntArray, total: FloatArray, best: FloatArray) -> tuple[float, int]:
    """Return the largest sum of ``gain`` over any quadrant, and the first group that reaches it.

    ``total`` and ``best`` are zeros of twice a power of two: a segment tree over columns whose nodes hold the sum
    of their gains and their largest prefix sum (0: no column taken).
    """
    size = total.size // 2
    top, where, start = best[1], 0, 0
    for group in range(ends.size):
        for row in range(start, ends[group]):
            node = size + column[row]
            total[node] += gain[row]
            best[node] = max(total[node], 0)
            node //= 2
            while node:
                left = 2 * node
                total[node] = total[left] + total[left + 1]
                best[node] = max(best[left], total[left] + best[left + 1])
                node //= 2
        start = ends[group]
        if best[1] > top:
            top, where = best[1], group
    return top, where


def levels(
    kind: IntArray,
    column: IntArray,
    ends: IntArray,
    id_weight: Any,
    ood_weight: Any,
    generalized: bool,
    counts: IntArray,
    found: AnyArray,
) -> None:
    """Find, for every number j of accepted ID rows, the quadrant of least risk.

    ``counts``: zeros of shape (3, columns), the ID, correct and OOD rows per column. ``found``: of shape (4, n_id + 1),
    correct and OOD rows, group and column of the best quadrant per j; -1 in the first row where none was seen.
    """
    n_columns = counts.shape[1]
    start = 0
    for group in range(ends.size):
        first = n_columns
        for row in range(start, ends[group]):
            if kind[row] == 2:
                counts[2, column[row]] += 1
            else:
                counts[0, column[row]] += 1
                counts[1, column[row]] += 1 - kind[row]
                first = min(first, column[row])  # an OOD row only makes quadrants worse
        start = ends[group]
        if first == n_columns:
            continue
        n_id = counts[0, :first].sum()
        right = counts[1, :first].sum()
        outside = counts[2, :first].sum()
        for q in range(first, n_columns):
            outside += counts[2, q]
            if counts[0, q] == 0:
                continue
            n_id += counts[0, q]
            right += counts[1, q]
            old = found[0, n_id]
            if old >= 0:
                weight = id_weight * n_id + ood_weight * outside
                old_weight = id_weight * n_id + ood_weight * found[1, n_id]
                if generalized:
                    if weight - id_weight * right >= old_weight - id_weight * old:
                        continue
                elif right * old_weight <= old * weight:
                    continue
            found[0, n_id] = right
            found[1, n_id] = outside
            found[2, n_id] = group
            found[3, n_id] = q


def steps(
    one: IntArray, group: IntArray, column: IntArray, start: IntArray, corner: IntArray, size: int, shifts: IntArray,
    masks: IntArray, id_weight: float, ood_weight: float, generalized: BoolArray, small: int, risk: AnyArray,
    least: AnyArray, found: AnyArray,
) -> None:  # fmt: skip
    """Take the ends of all blocks of pairs, then cut and read them, as ``_stairs`` does without a compiler, by strips.

    ``one``: packed kinds of the rows, by strip and then by block of columns; ``group``, ``column``: theirs; ``start``:
    the first row of each strip. ``risk``, ``least``, ``found``: as in ``_stairs.Best``, a row for each kind of risk.
    """
    s1, s2, m0, m1, m2 = shifts[1], shifts[2], masks[0], masks[1], masks[2]
    n_best, n_blocks, n_levels = generalized.size, corner.shape[1] - 1, risk.shape[1]
    for strip in range(1, corner.shape[0]):  # the pairs at the ends of all blocks
        for block in range(1, corner.shape[1]):
            packed = corner[strip, block]
            right, wrong, outside = packed & m0, (packed >> s1) & m1, (packed >> s2) & m2
            level, bad = right + wrong, id_weight * wrong + ood_weight * outside
            for k in range(n_best if level > 0 else 0):
                value = bad if generalized[k] else bad / (bad + id_weight * right)
                if value <= risk[k, level]:
                    risk[k, level] = value
                    found[k, 0, level], found[k, 1, level] = right, outside
                    found[k, 2, level], found[k, 3, level] = strip * size - 1, block * size - 1
    for k in range(n_best):
        least_above = np.inf
        for level in range(n_levels - 1, -1, -1):
            least_above = min(least_above, risk[k, level])
            least[k, level] = least_above
    lowest, highest = np.full(n_best, n_levels), np.full(n_best, -1)  # levels that changed since they were settled
    table = np.zeros((size + 1, size + 1), np.int64)
    above, left = np.zeros((n_blocks, size), np.int64), np.zeros(size, np.int64)
    for strip in range(corner.shape[0] - 1):
        left[:] = 0
        end = start[strip]
        for block in range(n_blocks):
            begin = end
            while end < start[strip + 1] and column[end] // size == block:
                end += 1
            low, high = corner[strip, block], corner[strip + 1, block + 1]
            right, level = high & m0, (high & m0) + ((high >> s1) & m1)
            bad = id_weight * ((low >> s1) & m1) + ood_weight * ((low >> s2) & m2)
            live = False
            for k in range(n_best):
                known = least[k, level]
                live = live or (level > 0 and bad < (known if generalized[k] else known * (bad + id_weight * right)))
            if live:
                table[:] = 0  # packed counts before each group and column of the block
                for at in range(begin, end):
                    table[group[at] - strip * size + 1, column[at] - block * size + 1] += one[at]
                table[0, 0] = low
                for j in range(size):
                    table[0, j + 1], table[j + 1, 0] = above[block, j], left[j]
                for j in range(size):
                    table[0, j + 1] += table[0, j]
                for i in range(1, size + 1):
                    packed = 0
                    for j in range(size + 1):
                        packed += table[i, j]
                        table[i, j] = table[i - 1, j] + packed
            for part in range((size // small) ** 2 if live else 0):
                i, j = part // (size // small) * small, part % (size // small) * small
                low, high = table[i, j], table[i + small, j + small]
                right, level = high & m0, (high & m0) + ((high >> s1) & m1)
                bad = id_weight * ((low >> s1) & m1) + ood_weight * ((low >> s2) & m2)
                some = False
                for k in range(n_best):
                    known = least[k, level]
                    some = some or (
                        level > 0 and bad < (known if generalized[k] else known * (bad + id_weight * right))
                    )
                for cell in range(small * small if some else 0):
                    g, c = i + 1 + cell // small, j + 1 + cell % small
                    right, wrong, outside = table[g, c] & m0, (table[g, c] >> s1) & m1, (table[g, c] >> s2) & m2
                    level, bad = right + wrong, id_weight * wrong + ood_weight * outside
                    for k in range(n_best):
                        known, weight = least[k, level], bad + id_weight * right
                        if level > 0 and bad < (known if generalized[k] else known * weight):
                            value = bad if generalized[k] else bad / weight
                            if value <= risk[k, level]:
                                risk[k, level] = value
                                found[k, 0, level], found[k, 1, level] = right, outside
                                found[k, 2, level], found[k, 3, level] = strip * size + g - 1, block * size + c - 1
                                lowest[k], highest[k] = min(lowest[k], level), max(highest[k], level)
            for at in range(begin, end):
                left[group[at] - strip * size] += one[at]
                above[block, column[at] - block * size] += one[at]
        for k in range(n_best):  # the least risk at a level or more, up to date
            level, least_above = highest[k], np.inf
            if level + 1 < n_levels:
                least_above = least[k, level + 1]
            while level >= 0:
                least_above = min(least_above, risk[k, level])
                if level < lowest[k] and least[k, level] == least_above:
                    break
                least[k, level] = least_above
                level -= 1
            lowest[k], highest[k] = n_levels, -1
