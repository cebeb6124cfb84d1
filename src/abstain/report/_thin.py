"""Fewer points for the same drawing: no line moves by more than half a pixel."""

from __future__ import annotations

import numpy as np

from abstain._typing import BoolArray, FloatArray, IntArray

#: The largest distance, in pixels of a chart as it is drawn, by which a thinned line may miss a point.
TOLERANCE = 0.5


def thinned(x: FloatArray, y: FloatArray) -> IntArray:
    """Return which points of a line, x rising, in pixels, to keep: vertical distances stay below the tolerance.

    Of the points in one column of half a pixel the first, last, lowest and highest are kept, then Douglas and
    Peucker's lines are laid through these, each part with half of the tolerance.
    """
    if len(x) < 3:
        return np.arange(len(x))
    kept = _columns(x, y)
    return kept[_lines(x[kept], y[kept], TOLERANCE / 2.0)]


def _columns(x: FloatArray, y: FloatArray) -> IntArray:
    """Return the first, last, lowest and highest point of each column of half a pixel."""
    column = np.floor(x / (TOLERANCE / 2.0)).astype(np.int64)
    starts = np.flatnonzero(np.concatenate(([True], column[1:] != column[:-1])))
    if len(starts) > 0.5 * len(x):
        return np.arange(len(x))
    ends = np.append(starts[1:], len(x)) - 1
    part = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(x))))
    by_height = np.lexsort((y, part))
    return np.unique(np.concatenate([starts, ends, by_height[starts], by_height[ends]]))


def _lines(x: FloatArray, y: FloatArray, tolerance: float) -> BoolArray:
    keep = np.zeros(len(x), dtype=np.bool_)
    keep[[0, -1]] = True
    open_ = [(0, len(x) - 1)]
    while open_:
        first, last = open_.pop()
        if last - first < 2:
            continue
        inner = slice(first + 1, last)
        width = x[last] - x[first]
        share = (x[inner] - x[first]) / width if width > 0.0 else np.zeros(last - first - 1)
        distance = np.abs(y[inner] - (y[first] + share * (y[last] - y[first])))
        worst = int(np.argmax(distance))
        if distance[worst] > tolerance or (width == 0.0 and distance[worst] > 0.0):
            middle = first + 1 + worst
            keep[middle] = True
            open_ += [(first, middle), (middle, last)]
    return keep
