"""0/1 losses and their scores in one number per row, sorted at once, in the part of Python that numba compiles.

The bits of a score, turned round where it is negative, are its place among all floats. The key of a row says how many
places its score lies below the highest one, and in the lowest bit whether it failed. It has a sign, which NumPy sorts
faster, and is not negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: From so many rows on one table pays for loading numba; where that is done, the kernels pay.
PAYS = (1e8, 1e5)
LOWEST, HIGHEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def pack(bits: Any, failed: Any, key: Any) -> tuple[int, bool]:
    """Write the keys; return the place of the highest score, and whether all keys have room in 63 bits. -0.0 is 0.0."""
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
