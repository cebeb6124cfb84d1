"""Charts as inline SVG from their numbers: lines, bands, bars and dots, in colours that the page sets."""

from __future__ import annotations

import math
from html import escape

import numpy as np

from abstain._result import clean, short
from abstain._typing import FloatArray
from abstain.report._forest import drawing
from abstain.report._page import Chart, Series
from abstain.report._thin import thinned

#: Size of a chart, and what is left around its axes for numbers and words.
WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 92, 30, 12, 68
#: Colours and dashes that a page tells apart; more series begin again.
COLOURS = 8
#: More names than this are listed in the table, not in a legend.
LEGEND = 12
#: Letters of a name below an axis.
LABEL = 14
#: More names than this need two lines.
SIDE_BY_SIDE = 4


def svg(chart: Chart) -> str:
    """Return the chart with its legend as a figure."""
    name = f"chart-{chart.name}"
    title = escape(clean(chart.title))
    description = escape(clean(chart.text or f"{chart.y_label} against {chart.x_label}"))
    height = HEIGHT
    if chart.sideways:
        height, body = drawing(chart, ticks(*chart.y_range))
    else:
        body = _axes(chart) + "".join(_series(chart, each, k) for k, each in enumerate(chart.series))
    follow = ""
    if chart.follows:
        (low, high), (left, right) = chart.x_range, (LEFT, WIDTH - RIGHT)
        data = f'data-follows="{chart.follows}" data-axis="{low:.17g},{high:.17g},{left},{right}"'
        follow = f'<line class="follow" {data} x1="{left}" x2="{left}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{title}</title><desc id="{name}-d">{description}</desc>{body}{follow}</svg>'
        f"<figcaption><b>{title}</b> {_legend(chart)}</figcaption></figure>"
    )


def _x(chart: Chart, values: FloatArray) -> FloatArray:
    low, high = chart.x_range
    return LEFT + (np.asarray(values, dtype=np.float64) - low) / (high - low) * (WIDTH - LEFT - RIGHT)


def _y(chart: Chart, values: FloatArray) -> FloatArray:
    low, high = chart.y_range
    inside = np.clip(np.asarray(values, dtype=np.float64), low, high)
    return HEIGHT - BOTTOM - (inside - low) / (high - low) * (HEIGHT - TOP - BOTTOM)


def _axes(chart: Chart) -> str:
    parts = []
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    named = {float(k + 1): short(name, LABEL) for k, name in enumerate(chart.labels)}
    named = {value: word for value, word in named.items() if word != '""'}
    lower = 19 if len(named) > SIDE_BY_SIDE else 0  # every second name stands below its neighbours
    for value, word in (named or {value: _tick(chart, "x", value) for value in ticks(*chart.x_range)}).items():
        at = float(_x(chart, np.array([value]))[0])
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{bottom}"/>')
        y = bottom + 25 + (lower if int(value) % 2 == 0 else 0)
        parts.append(f'<text x="{at:.1f}" y="{y}" text-anchor="middle">{escape(word)}</text>')
    for value in ticks(*chart.y_range):
        at = float(_y(chart, np.array([value]))[0])
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 5:.1f}" text-anchor="end">{_tick(chart, "y", value)}</text>')
    middle = (TOP + bottom) // 2
    words = (
        f'<text x="{(LEFT + right) // 2}" y="{HEIGHT - 4}" text-anchor="middle">{escape(clean(chart.x_label))}</text>'
    )
    turned = f'transform="translate(20 {middle}) rotate(-90)" text-anchor="middle"'
    words += f"<text {turned}>{escape(clean(chart.y_label))}</text>"
    return "".join(parts) + words


def _tick(chart: Chart, axis: str, value: float) -> str:
    return f"{round(100.0 * value, 9):g} %" if axis in chart.shares else f"{value:g}"


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers within a range."""
    span = high - low
    if not (math.isfinite(span) and span > 0.0):
        return []
    step = 10.0 ** math.floor(math.log10(span / most))
    step *= next(factor for factor in (1.0, 2.0, 5.0, 10.0) if span / (factor * step) <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _colour(each: Series) -> str:
    """Return the class of a line: a colour, or a grey one, dashed or dotted."""
    return {-1: "reference", -2: "reference dotted"}.get(each.colour, f"c{each.colour % COLOURS}")


def _series(chart: Chart, each: Series, k: int) -> str:
    colour = _colour(each)
    found = []
    if each.low is not None and each.high is not None and each.kind in ("line", "step"):
        first = next((one for one in chart.series if one.low is not None), each)
        shown = " on" if each is first else ""
        of = "" if each.score is None else f' data-score="{escape(clean(each.score), quote=True)}"'
        found.append(f'<path class="band {colour}{shown}"{of} d="{_band(chart, each)}"/>')
    if each.kind == "bars":
        width = _x(chart, each.x[1:2])[0] - _x(chart, each.x[:1])[0] if len(each.x) > 1 else 12.0
        d = "".join(
            f"M{at - 0.45 * width:.1f} {HEIGHT - BOTTOM}V{top:.1f}h{0.9 * width:.1f}V{HEIGHT - BOTTOM}z"
            for at, top in zip(_x(chart, each.x), _y(chart, each.y), strict=True)
            if top < HEIGHT - BOTTOM
        )
        return f'<path class="bars {colour}" d="{d}"/>'
    if each.kind == "dots":
        xs, ys = _x(chart, each.x), _y(chart, each.y)
        if each.low is not None and each.high is not None:
            ends = zip(xs, _y(chart, each.low), _y(chart, each.high), strict=True)
            found.append(
                f'<path class="line bar {colour}" d="{"".join(f"M{x:.1f} {a:.1f}V{b:.1f}" for x, a, b in ends)}"/>'
            )
        found += [f'<circle class="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in zip(xs, ys, strict=True)]
        return "".join(found)
    dashed = " dashed" if each.colour >= COLOURS else ""
    d = _path(chart, each.x, each.y)
    of = f' data-score="{escape(clean(each.score), quote=True)}"' if each.score is not None and d else ""
    return "".join(found) + f'<path class="line {colour}{dashed}"{of} d="{d}"/>'


def _path(chart: Chart, x: FloatArray, y: FloatArray) -> str:
    """Return a line with its gaps, thinned."""
    known = np.isfinite(x) & np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype(np.int8)))
    return "".join(_points(_x(chart, x[a:b]), _y(chart, y[a:b])) for a, b in zip(edges[::2], edges[1::2], strict=True))


def _points(x: FloatArray, y: FloatArray, start: str = "M") -> str:
    kept = thinned(x, y)
    return start + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x[kept], y[kept], strict=True))


def _band(chart: Chart, each: Series) -> str:
    assert each.low is not None
    assert each.high is not None
    known = np.isfinite(each.low) & np.isfinite(each.high)
    if not known.any():
        return ""
    x = _x(chart, each.x[known])
    above, below = _y(chart, each.high[known]), _y(chart, each.low[known])
    kept = thinned(x, below)[::-1]
    back = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x[kept], below[kept], strict=True))
    return f"{_points(x, above)}L{back}z"


def _legend(chart: Chart) -> str:
    named = [] if chart.labels else [each for each in chart.series if each.name]
    if len(named) > LEGEND:
        named = named[:LEGEND]
    found = []
    for each in named:
        colour = (
            ("reference" if each.colour == -1 else "reference dotted")
            if each.colour < 0
            else f"c{each.colour % COLOURS}"
        )
        line = (
            f'<svg class="key" viewBox="0 0 22 10" aria-hidden="true"><path class="line {colour}" d="M1 5H21"/></svg>'
        )
        found.append(f'<span class="entry">{line}{escape(short(each.name))}</span>')
    return " ".join(found)
