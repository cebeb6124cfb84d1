"""The two inner loops, in the part of Python that numba compiles. Nothing here is needed for a right result.

Both sweep the threshold of the detector score downwards over groups of tied rows. ``column`` is the position of a row's
confidence among the distinct thresholds, the highest first; ``ends`` holds the end of each group.
"""

from __future__ import annotations

from typing import Any


def sweep(gain: Any, column: Any, ends: Any, total: Any, best: Any) -> tuple[Any, int]:
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
    kind: Any, column: Any, ends: Any, id_weight: Any, ood_weight: Any, generalized: bool, counts: Any, found: Any
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
