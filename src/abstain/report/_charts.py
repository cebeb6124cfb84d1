"""Charts as inline SVG from their numbers: lines, bands, dots and named intervals, in colours that the page sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from abstain._result import clean, short
from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.report._page import Chart, Rule, Series

#: Size of a chart, and what is left around its axes for numbers and words.
WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 62, 22, 40, 60
#: Colours that can be distinguished on a page; more series begin again.
COLOURS = 8
#: So many curves are always shown over a slider, the others when they are chosen.
GREY = 3
#: Share of the axis next to a certified point where no name is written.
FREE = 0.07
#: More names than this are listed in the table, not in a legend.
LEGEND = 12
#: Letters of a name below an axis; more names than this need two lines.
LABEL, SIDE_BY_SIDE = 14, 4
#: Of named intervals: margin, height of a row (the name, and the interval below it), letters and rows that have room.
SIDE, ROW, LETTERS, ROWS = 24, 50, 44, 16

#: The largest distance, in pixels of a chart as it is drawn, by which a thinned line may miss a point.
TOLERANCE = 0.5

#: A name with its value and the ends of its interval (NaN: none).
Named = tuple[str, float, float, float]


def svg(chart: Chart, *, caption: bool = True) -> str:
    """Return the chart as a figure; ``caption``: with its title and a legend above it."""
    name = f"chart-{chart.name}"
    title = escape(clean(chart.title))
    description = escape(clean(chart.text or f"{chart.y_label} against {chart.x_label}"))
    drawing = _Sideways(chart) if chart.sideways else _Upright(chart)
    head = f"<figcaption><b>{title}</b> {_legend(chart)}</figcaption>" if caption else ""
    return (
        f'<figure>{head}<svg viewBox="0 0 {WIDTH} {drawing.height}" role="img" aria-labelledby="{name}-t {name}-d"'
        f'{drawing.attributes}><title id="{name}-t">{title}</title><desc id="{name}-d">{description}</desc>'
        f"{drawing.body()}</svg></figure>"
    )


class _Upright:
    """A chart whose values rise."""

    height = HEIGHT

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        (left, right), (low, high) = chart.x_range, chart.y_range
        scales = f"{left:.17g},{right:.17g},{LEFT},{WIDTH - RIGHT},{low:.17g},{high:.17g},{HEIGHT - BOTTOM},{TOP}"
        self.attributes = f' class="follows" data-axes="{scales}"' if chart.follows else ""

    def body(self) -> str:
        chart = self.chart
        parts = [self._axes(), *map(self._rule, chart.rules), *map(self._series, chart.series)]
        if chart.follows:
            parts += self._names()
            parts.append(f'<line class="follow" x1="0" x2="0" y1="{TOP}" y2="{HEIGHT - BOTTOM}" visibility="hidden"/>')
            parts.append('<circle class="here" cx="0" cy="0" r="7" visibility="hidden"/>')
        return "".join(parts)

    def _names(self) -> list[str]:
        """Return the names of the curves, each where its curve is farthest from the first, or the second, curve."""
        lines = [each for each in self.chart.series if each.kind == "line" and each.name]
        rings = np.concatenate([[-1.0], *(each.x for each in self.chart.series if each.kind == "ring")])
        grid, found = np.linspace(0.12, 0.86, 75), list[str]()
        grid = grid[np.abs(grid[:, None] - rings).min(axis=1) > FREE]
        heights = [self.y(np.interp(grid, each.x, each.y, left=np.nan)) for each in lines]
        for k, (each, height) in enumerate(zip(lines, heights, strict=True)):
            other = heights[min(1 if k == 0 else 0, len(lines) - 1)]
            distance = (
                height - other if len(lines) > 1 else np.where(np.isfinite(height), np.abs(grid - 0.7) - 1.0, np.nan)
            )
            if not np.isfinite(distance).any():
                continue
            at = int(np.nanargmax(np.abs(distance)))
            below, end = (distance[at] > 0, "start") if distance[at] > 0 else (False, "end")  # curves mostly rise
            x, y = float(self.x(grid[at])) + (6 if below else -6), float(height[at]) + (20 if below else -10)
            kind = f"label{' on' if k == 0 else ''}{' spare' if k >= GREY else ''}"
            score = escape(clean(each.score or ""), quote=True)
            name = escape(short(each.name, LETTERS // 2))
            place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{end}"'
            found.append(f'<text class="{kind}" data-score="{score}" {place}>{name}</text>')
        return found

    def x(self, values: FloatArray) -> FloatArray:
        low, high = self.chart.x_range
        return LEFT + (np.asarray(values, dtype=np.float64) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(self, values: FloatArray) -> FloatArray:
        low, high = self.chart.y_range
        inside = np.clip(np.asarray(values, dtype=np.float64), low, high)
        return HEIGHT - BOTTOM - (inside - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def _axes(self) -> str:
        chart, parts = self.chart, []
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        for value in ticks(*chart.y_range):
            at = float(self.y(np.array([value]))[0])
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>')
            word = _tick("y" in chart.shares, value)
            parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{word}</text>')
        named = {float(k + 1): short(name, LABEL) for k, name in enumerate(chart.labels) if name}
        lower = 19 if len(named) > SIDE_BY_SIDE else 0  # every second name stands below the names next to it
        words = named or {value: _tick("x" in chart.shares, value) for value in ticks(*chart.x_range)}
        for value, word in words.items():
            at = float(self.x(np.array([value]))[0])
            y = bottom + 26 + (lower if named and int(value) % 2 == 0 else 0)
            parts.append(f'<text x="{at:.1f}" y="{y}" text-anchor="middle">{escape(word)}</text>')
        parts.append(f'<text x="2" y="20">{escape(clean(chart.y_label))}</text>')
        x_label = escape(clean(chart.x_label))
        parts.append(f'<text x="{right}" y="{HEIGHT - 6}" text-anchor="end">{x_label}</text>')
        return "".join(parts)

    def _rule(self, rule: Rule) -> str:
        name = escape(clean(rule.name))
        if rule.axis == "x":
            at = float(self.x(np.array([rule.at]))[0])
            end = ' text-anchor="end"' if at > WIDTH / 2 else ""
            word = f'<text class="rule" x="{at + (-6 if end else 6):.1f}" y="{TOP + 12}"{end}>{name}</text>'
            return f'<line class="rule alarm" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>{word}'
        at = float(self.y(np.array([rule.at]))[0])
        line = f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
        return f'{line}<text class="rule" x="{WIDTH - RIGHT}" y="{at - 6:.1f}" text-anchor="end">{name}</text>'

    def _series(self, each: Series) -> str:
        colour = _colour(each)
        of = "" if each.score is None else f' data-score="{escape(clean(each.score), quote=True)}"'
        if self.chart.follows:
            scores = [one.score for one in self.chart.series if one.kind == "line"]
            place = scores.index(each.score)
            colour += " on" * (place == 0) + " spare" * (place >= GREY)
        found = []
        if each.low is not None and each.high is not None and each.kind in ("line", "step"):
            first = next(one for one in self.chart.series if one.low is not None)
            shown = " on" if each is first and not self.chart.follows else ""
            found.append(f'<path class="band {colour}{shown}"{of} d="{self._band(each.x, each.low, each.high)}"/>')
        if each.kind in ("dots", "ring"):
            xs, ys = self.x(each.x), self.y(each.y)
            if each.low is not None and each.high is not None:
                ends = zip(xs, self.y(each.low), self.y(each.high), strict=True)
                d = "".join(f"M{x:.1f} {a:.1f}V{b:.1f}" for x, a, b in ends if np.isfinite(a + b))
                found.append(f'<path class="line bar {colour}" d="{d}"/>')
            shape, size = ("ring ", 5) if each.kind == "ring" else ("", 4)
            dots = (
                f'<circle class="{shape}{colour}"{of} cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>'
                for x, y in zip(xs, ys, strict=True)
                if np.isfinite(y)
            )
            return "".join([*found, *dots])
        dashed = " dashed" if each.colour >= COLOURS else ""
        return "".join(found) + f'<path class="line {colour}{dashed}"{of} d="{self._path(each.x, each.y)}"/>'

    def _path(self, x: FloatArray, y: FloatArray) -> str:
        """Return a line with its gaps, thinned."""
        known = np.isfinite(x) & np.isfinite(y)
        edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype(np.int8)))
        parts = zip(edges[::2], edges[1::2], strict=True)
        return "".join("M" + _points(self.x(x[a:b]), self.y(y[a:b])) for a, b in parts)

    def _band(self, x: FloatArray, low: FloatArray, high: FloatArray) -> str:
        known = np.isfinite(low) & np.isfinite(high)
        if not known.any():
            return ""
        at = self.x(x[known])
        return f"M{_points(at, self.y(high[known]))}L{_points(at, self.y(low[known]), back=True)}z"


class _Sideways:
    """Named values with intervals, one below the other: names of any length have room, on a phone too."""

    attributes = ""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.bottom = 6 + ROW * len(chart.labels) + (20 if chart.rules else 0)
        self.height = self.bottom + 54

    def x(self, value: float) -> float:
        low, high = self.chart.y_range
        return SIDE + (value - low) * (WIDTH - 2 * SIDE) / (high - low)

    def body(self) -> str:
        chart, found = self.chart, []
        bottom = self.bottom
        for value in ticks(*chart.y_range, most=5):
            at = self.x(value)
            found.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="6" y2="{bottom}"/>')
            word = _tick("y" in chart.shares, value)
            found.append(f'<text x="{at:.1f}" y="{bottom + 20}" text-anchor="middle">{word}</text>')
        for rule in chart.rules:
            at = self.x(rule.at)
            end = ' text-anchor="end"' if at > WIDTH / 2 else ""
            place = f'x="{at + (-6 if end else 6):.1f}" y="{bottom - 4}"{end}'
            found.append(f'<line class="rule" x1="{at:.1f}" x2="{at:.1f}" y1="6" y2="{bottom}"/>')
            found.append(f'<text class="rule" {place}>{escape(clean(rule.name))}</text>')
        for k, name in enumerate(chart.labels):
            found.append(f'<text class="name" x="{SIDE}" y="{ROW * k + 26}">{escape(short(name, LETTERS))}</text>')
        for each in chart.series:
            found += [self._value(each, k) for k in range(len(each.y)) if np.isfinite(each.y[k])]
        words = f'<text x="{WIDTH - SIDE}" y="{bottom + 44}" text-anchor="end">{escape(clean(chart.y_label))}</text>'
        return "".join(found) + words

    def _value(self, each: Series, k: int) -> str:
        colour = "reference" if each.colour < 0 else f"c{each.colour}"
        y, line = ROW * k + 42, ""
        if each.low is not None and each.high is not None:
            line = f'<path class="line {colour}" d="M{self.x(each.low[k]):.1f} {y}H{self.x(each.high[k]):.1f}"/>'
        return f'{line}<circle class="{colour}" cx="{self.x(each.y[k]):.1f}" cy="{y}" r="4.5"/>'


def named_intervals(
    name: str,
    title: str,
    label: str,
    rows: Sequence[Named],
    *,
    against: Sequence[float] = (),
    rules: tuple[Rule, ...] = (),
    shares: str = "",
) -> Chart:
    """Return a chart of names, each with its value and interval, the first on top; the table has what has no room.

    ``against``: values to compare these with, drawn in grey.
    """
    rows = rows[:ROWS]
    names = tuple(each[0] for each in rows)
    place = np.arange(1.0, len(rows) + 1.0)
    value, low, high = (np.array([each[k] for each in rows], dtype=np.float64) for k in (1, 2, 3))
    low, high = np.where(np.isfinite(low), low, value), np.where(np.isfinite(high), high, value)
    series = [Series("", place, value, low, high, "dots")]
    ends = [value, low, high, np.array([rule.at for rule in rules])]
    if len(against):
        grey = np.asarray(against, dtype=np.float64)[: len(rows)]
        series.insert(0, Series("", place, grey, kind="dots", colour=-1))
        ends.append(grey)
    known = np.concatenate(ends)
    known = known[np.isfinite(known)]
    least, most = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    span = most - least or abs(most) or 1.0
    words = "; ".join(f"{each[0]}: {each[1]:.4g}" for each in rows[:8])
    return Chart(
        name,
        title,
        "",
        label,
        tuple(series),
        (0.5, len(rows) + 0.5),
        (least - 0.06 * span, most + 0.06 * span),
        words,
        labels=names,
        sideways=True,
        rules=rules,
        shares=shares,
    )


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers within a range."""
    span = high - low
    if not (math.isfinite(span) and span > 0.0):
        return []
    step = 10.0 ** math.floor(math.log10(span / most))
    step *= next(factor for factor in (1.0, 2.0, 5.0, 10.0) if span / (factor * step) <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _tick(share: bool, value: float) -> str:
    return f"{round(100.0 * value, 9):g} %" if share else f"{value:g}"


def _colour(each: Series) -> str:
    """Return the class of a line: a colour, or a grey one, dashed or dotted."""
    return {-1: "reference", -2: "reference dotted"}.get(each.colour, f"c{each.colour % COLOURS}")


def _points(x: FloatArray, y: FloatArray, *, back: bool = False) -> str:
    kept = thinned(x, y)
    kept = kept[::-1] if back else kept
    return "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x[kept], y[kept], strict=True))


def _legend(chart: Chart) -> str:
    named = [] if chart.labels else [each for each in chart.series if each.name]
    return " ".join(
        '<span class="entry"><svg class="key" viewBox="0 0 22 10" aria-hidden="true">'
        f'<path class="line {_colour(each)}" d="M1 5H21"/></svg>{escape(short(each.name))}</span>'
        for each in named[:LEGEND]
    )


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
