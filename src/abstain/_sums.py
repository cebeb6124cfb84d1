"""Sums: of products, the same on every machine; cumulative, without the wait of each number for the one before."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator

import numpy as np

from abstain import _fast
from abstain._typing import FloatArray

_ONE = np.ones(1)
#: Fewer products come from memory that is at hand.
FEWEST = 1 << 14


def inner(left: FloatArray, right: FloatArray) -> float:
    """Return the sum of the products, to the same bit for views and copies and for any number of threads.

    ``@`` is quicker, but adds in an order that depends on both, and on the processor. A column of :func:`ones` on the
    left is not multiplied by.
    """
    if not left.strides[0] and right.flags.c_contiguous and left.size and left[0] == 1.0:
        return float(np.add.reduce(right))
    if right.size > ROOM:
        return math.fsum(inner(left[each], right[each]) for each in parts(right.size, ROOM))
    return float(np.add.reduce(np.multiply(left, right, out=_room(right.size))))  # np.sum without its detours


#: So many products at most are written where the last ones were: the kernel takes longer to find new pages for a
#: million than the processor to multiply them. More are summed in parts.
ROOM = 1 << 17
#: Rows whose squares and products are made at once.
PART = 1 << 16


#: Where numba is loaded, a compiled sum of so many numbers takes half the time; alone it pays for loading nothing.
COMPILED = (math.inf, 1e5)


class _Room(threading.local):
    """Where a thread multiplies."""

    products = np.empty(0)


_rooms = _Room()


def _room(n: int) -> FloatArray | None:
    if not FEWEST <= n <= ROOM:
        return None
    if _rooms.products.size < n:
        _rooms.products = np.empty(n)
    return _rooms.products[:n]


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
    """Return the cumulative sums: rows of eight are summed side by side, then moved up by the sums of the rows above.

    Twice as fast as ``np.cumsum`` for a million numbers, where each addition waits for the one before; as exact, and
    as monotone.
    """
    if values.size and not values.strides[0]:  # a column of ones, or of another number
        return float(values[0]) * np.arange(1.0, values.size + 1.0)
    whole = values.size - values.size % 8
    if whole < 4096:  # too few for the nine calls to pay
        return np.asarray(values.cumsum())
    compiled = _fast.kernel(running, values.size, COMPILED) if values.dtype == np.float64 else None
    if compiled is not None:
        result = np.empty(values.size)
        compiled(values, result)
        return result
    result = values.copy()
    rows = result[:whole].reshape(-1, 8)
    for j in range(1, 8):
        rows[:, j] += rows[:, j - 1]
    rows[1:] += np.cumsum(rows[:-1, -1])[:, np.newaxis]
    result[whole:] = result[whole - 1] + np.cumsum(result[whole:])
    return result


def running(values: FloatArray, result: FloatArray) -> None:
    """Write the cumulative sums as :func:`cumulative` adds them, in a loop that numba compiles."""
    above, own, whole = 0.0, 0.0, values.size - values.size % 8
    for i in range(values.size):
        if i % 8 == 0 and i <= whole:
            above, own = above + own, 0.0
        own += values[i]
        result[i] = above + own


def turned(values: FloatArray) -> FloatArray:
    """Turn a column round where it lies, part by part from both ends, and return it."""
    for part in parts(values.size // 2):
        other = slice(values.size - min(part.stop, values.size // 2), values.size - part.start)
        first = values[part.start : min(part.stop, values.size // 2)]
        kept = first[::-1].copy()
        first[:] = values[other][::-1]
        values[other] = kept
    return values
