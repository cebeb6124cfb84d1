"""Sizes of drawings, ticks of axes, words that stay inside, and lines with no more points than can be seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np

from abstain._typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Size:
    """Size of a drawing, margins left and right, width of a letter, and how many ticks an axis has."""

    name: str
    width: int
    height: int
    left: int
    right: int
    letter: float
    ticks: int


#: For a screen and for a phone; ``page.css`` places the slider by their left and right.
WIDE = Size("", 640, 292, 62, 22, 9.0, 6)
NARROW = Size("narrow", 360, 230, 48, 22, 7.6, 4)
#: Around the axes of both: above, below, and a line of words.
TOP, BOTTOM, LINE = 12, 32, 17
#: Digits of an exponent.
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
#: The largest distance, in pixels of a chart as it is drawn, by which a thinned line may miss a point.
TOLERANCE = 0.5


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers within a range."""
    span = high - low
    if not (math.isfinite(span) and span > 0.0):
        return []
    step = 10.0 ** math.floor(math.log10(span / most))
    step *= next(factor for factor in (1.0, 2.0, 5.0, 10.0) if span / (factor * step) <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, math.floor(high / step + 1e-9) + 1)]


def tick(share: bool, value: float) -> str:
    return f"{round(100.0 * value, 9):g} %" if share else f"{value:g}"


def power(value: float) -> str:
    """Return a power of ten; a value between two of them has no name."""
    if value != round(value):
        return ""
    return f"{10.0**value:,g}" if value < 5.0 else f"10{f'{value:.0f}'.translate(RAISED)}"


def centred(size: Size, at: float, y: float, word: str, kind: str = "") -> str:
    """Return a word centred at a place, but inside the drawing."""
    half = 0.5 * size.letter * len(word)
    at = min(max(at, half), size.width - half)
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{at:.1f}" y="{y:g}" text-anchor="middle">{escape(word)}</text>'


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
