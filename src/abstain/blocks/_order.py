"""The order of the scores, highest first: in NumPy by one plain sort of whole numbers.

``np.sort`` is two to four times as fast as ``np.argsort``. So a score and its row share one number of 64 bits: the
upper ones count how many floats the score lies below the highest one, the lower ones hold the row. Scores so close
that the upper bits cannot distinguish are put in order afterwards.

0/1 losses and their scores share a number, too, in the part of Python that numba compiles. The bits of a score, turned
round where it is negative, are its place among all floats. The key of a row says how many places its score lies below
the highest one, and in the lowest bit whether it failed. It has a sign, which NumPy sorts faster, and is not negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._sums import parts
from abstain._typing import FloatArray, IntArray

#: From this many rows on, the additional passes over the numbers cost less than the sort saves.
MINIMUM = 1000


def by_score(xp: Any, score: Any) -> tuple[Any, Any]:
    """Return the rows in order of falling scores, and the scores in this order; -0.0 becomes 0.0."""
    if xp is np and score.size >= MINIMUM:
        return _by_one_sort(score)
    score = score + 0.0
    order = xp.flip(xp.argsort(score, stable=False))  # stable, the default of the Array API, is far slower
    if xp is np:  # a view, and gathering backwards is slow
        order = np.ascontiguousarray(order)
    return order, xp.take(score, order)


def _by_one_sort(score: FloatArray) -> tuple[IntArray, FloatArray]:
    """Order scores by sorting (distance from the highest score, row) as one number; ties are in order of rows."""
    place = score.view(np.int64)
    lowest = place.min()
    if lowest < 0:  # negative floats, where larger bits are further down; or -0.0
        score = score + 0.0
        place = score.view(np.int64)
        place = place ^ ((place >> 63) & np.int64(np.iinfo(np.int64).max))
        lowest = place.min()
    highest = place.max()
    row_bits = (score.size - 1).bit_length()
    lost = max(0, (int(highest) - int(lowest)).bit_length() + row_bits - 64)

    key = highest.view(np.uint64) - place.view(np.uint64)
    if lost:
        key >>= np.uint64(lost)
    key <<= np.uint64(row_bits)
    for part in parts(key.size):  # a column of row numbers would be the fourth of this size
        key[part] |= np.arange(part.start, min(part.stop, key.size), dtype=np.uint64)
    key.sort()
    key &= np.uint64((1 << row_bits) - 1)
    order = key.view(np.int64)
    ranked = score.take(order)
    if lost and (ranked[1:] > ranked[:-1]).any():  # nearly in order, which a stable sort turns into speed
        again = np.argsort(-ranked, kind="stable")
        order, ranked = order.take(again), ranked.take(again)
    return order, ranked


# ---------------------------------------------------------------------- 0/1 losses, compiled

#: From so many rows on one table pays for loading numba; where that is done, the kernels pay.
PAYS = (1e8, 1e5)
LOWEST, HIGHEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def pack(bits: Any, failed: Any, key: Any) -> tuple[int, bool]:
    """Write the keys; return the place of the highest score, and whether all keys fit into 63 bits. -0.0 is 0.0."""
    low, high = HIGHEST, LOWEST
    for i in range(bits.size):
        place = 0 if bits[i] == LOWEST else bits[i] ^ ((bits[i] >> 63) & HIGHEST)
        low, high = min(low, place), max(high, place)
    if (high >> 1) - (low >> 1) >= 1 << 60:
        return high, False
    for i in range(bits.size):
        place = 0 if bits[i] == LOWEST else bits[i] ^ ((bits[i] >> 63) & HIGHEST)
        key[i] = ((high - place) << 1) | failed[i]
    return high, True


def unpack(key: Any, high: Any, count: Any, failures: Any) -> int:
    """Turn sorted keys into the bits of the distinct scores, with rows and failures; return how many these are."""
    block, before = -1, -1
    for i in range(key.size):
        below, wrong = key[i] >> 1, key[i] & 1
        if below != before:
            block, before = block + 1, below
            place = high - below
            key[block] = place ^ ((place >> 63) & HIGHEST)
            count[block] = failures[block] = 0.0
        count[block] += 1.0
        failures[block] += wrong
    return block + 1
