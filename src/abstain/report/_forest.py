"""Named values with intervals, one below the other: names of any length have room, on a phone too."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from abstain._result import clean, short
from abstain.report._page import Chart, Series

#: Width of the drawing, its margins, and the height of a row: the name, and the interval below it.
WIDTH, SIDE, ROW, TOP, BOTTOM = 640, 24, 50, 6, 54
#: Letters of a name that have room on a phone.
LETTERS = 44
#: More rows than this are not drawn; the table has all.
MOST = 16

Named = tuple[str, float, float, float]


def forest(name: str, title: str, label: str, rows: Sequence[Named], beside: Sequence[float] = ()) -> Chart:
    """Return a chart of names, each with its value and the ends of its interval (NaN: none), the first on top.

    ``beside``: values to hold these against, drawn in grey.
    """
    rows = list(rows)[:MOST]
    names = tuple(each[0] for each in rows)
    place = np.arange(1.0, len(rows) + 1.0)
    value, low, high = (np.array([each[k] for each in rows], dtype=np.float64) for k in (1, 2, 3))
    low, high = np.where(np.isfinite(low), low, value), np.where(np.isfinite(high), high, value)
    series = [Series("", place, value, low, high, "dots", 0)]
    ends = [value, low, high]
    if len(beside):
        grey = np.asarray(beside, dtype=np.float64)[: len(rows)]
        series.insert(0, Series("", place, grey, kind="dots", colour=-1))
        ends.append(grey)
    known = np.concatenate(ends)
    known = known[np.isfinite(known)]
    least, most = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    span = most - least or abs(most) or 1.0
    words = "; ".join(f"{each[0]}: {each[1]:.4g}" for each in rows[:8])
    return Chart(name, title, "", label, tuple(series), (0.5, len(rows) + 0.5),
                 (least - 0.06 * span, most + 0.06 * span), words, labels=names, sideways=True)  # fmt: skip


def drawing(chart: Chart, ticks: Sequence[float]) -> tuple[int, str]:
    """Return the height of a sideways chart, and its axes and rows as SVG."""
    (low, high), bottom = chart.y_range, TOP + ROW * len(chart.labels)
    scale = (WIDTH - 2 * SIDE) / (high - low)
    found = []
    for value in ticks:
        at = SIDE + (value - low) * scale
        found.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{bottom}"/>')
        found.append(f'<text x="{at:.1f}" y="{bottom + 20}" text-anchor="middle">{value:g}</text>')
    for k, name in enumerate(chart.labels):
        found.append(f'<text class="name" x="{SIDE}" y="{TOP + ROW * k + 20}">{escape(short(name, LETTERS))}</text>')
    for each in chart.series:
        colour = "reference" if each.colour < 0 else f"c{each.colour}"
        for k, value in enumerate(each.y):
            if not np.isfinite(value):
                continue
            y = TOP + ROW * k + 36
            if each.low is not None and each.high is not None:
                left, right = (SIDE + (float(end[k]) - low) * scale for end in (each.low, each.high))
                found.append(f'<path class="line {colour}" d="M{left:.1f} {y}H{right:.1f}"/>')
            found.append(f'<circle class="{colour}" cx="{SIDE + (float(value) - low) * scale:.1f}" cy="{y}" r="4.5"/>')
    words = f'<text x="{WIDTH // 2}" y="{bottom + 44}" text-anchor="middle">{escape(clean(chart.y_label))}</text>'
    return bottom + BOTTOM, "".join(found) + words
