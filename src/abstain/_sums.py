"""Sums: of products, the same on every machine; cumulative, without the wait of each number for the one before."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from abstain._typing import FloatArray

_ONE = np.ones(1)


def inner(left: FloatArray, right: FloatArray) -> float:
    """Return the sum of the products, to the same bit for views and copies and for any number of threads.

    ``@`` is quicker, but adds in an order that depends on both, and on the processor. A column of :func:`ones` on the
    left is not multiplied by.
    """
    if not left.strides[0] and right.flags.c_contiguous and left.size and left[0] == 1.0:
        return float(np.add.reduce(right))
    if right.size > ROOM:
        return math.fsum(inner(left[each], right[each]) for each in parts(right.size, ROOM))
    return float(np.add.reduce(left * right))  # np.sum without its detours


#: More products are made and summed in parts, which stay in the processor's cache.
ROOM = 1 << 17
#: Rows whose squares and products are made at once.
PART = 1 << 16


def over_rows(values: FloatArray, times: FloatArray | None = None) -> float:
    """Return the sum over rows; ``times``: how many rows each value stands for (None: one)."""
    return float(np.sum(values)) if times is None else inner(times, values)


def parts(n: int, size: int = 0) -> Iterator[slice]:
    """Yield the rows in parts, mostly such as fit the processor's cache: what is made of them takes no memory."""
    size = size or PART
    return (slice(start, start + size) for start in range(0, n, size))


def mapped(values: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return a function of each value; of a column that is one number throughout, such as :func:`ones`, a like one."""
    if values.size and not values.strides[0]:
        return same(function(values[:1]), values.size)
    return function(values)


def same(value: FloatArray, n: int) -> FloatArray:
    """Return a column of n times one value, which is given as a column of its own; it cannot be written to."""
    value.flags.writeable = False
    return np.ndarray(n, np.float64, value, 0, (0,))


def ones(n: int) -> FloatArray:
    """Return a column of n ones that takes no memory: every row is the same number. It cannot be written to."""
    return same(_ONE, n)


def cumulative(values: FloatArray) -> FloatArray:
    """Return the cumulative sums; those of a column that is one number throughout are products."""
    if values.size and not values.strides[0]:  # a column of ones, or of another number
        return float(values[0]) * np.arange(1.0, values.size + 1.0)
    return np.asarray(values.cumsum())


def turned(values: FloatArray) -> FloatArray:
    """Turn a column round where it lies, part by part from both ends, and return it."""
    for part in parts(values.size // 2):
        other = slice(values.size - min(part.stop, values.size // 2), values.size - part.start)
        first = values[part.start : min(part.stop, values.size // 2)]
        kept = first[::-1].copy()
        first[:] = values[other][::-1]
        values[other] = kept
    return values
