"""Charts as inline SVG from their numbers: lines, bands, dots and named intervals, in colours that the page sets.

Each chart is drawn twice, for a screen and for a phone, and the page shows one of them: text keeps its size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from abstain._result import clean, short
from abstain._typing import FloatArray
from abstain.report._axes import BOTTOM, LINE, NARROW, TOP, WIDE, Size, centred, power, thinned, tick, ticks
from abstain.report._page import Chart, Rule, Series

#: Colours that can be distinguished on a page; more series begin again.
COLOURS = 8
#: So many curves are always shown over a slider, the others when they are chosen.
GREY = 3
#: Share of the axis next to a certified point where no name is written.
FREE = 0.07
#: More names than this are listed in the table, not in a legend.
LEGEND = 12
#: Letters of a name below an axis.
LABEL = 14
#: Of named intervals: margin, letters of a name next to its row and above it, and rows that have room.
SIDE, BESIDE, ABOVE, ROWS = 12, 30, 44, 16

#: A name with its value and the ends of its interval (NaN: none).
Named = tuple[str, float, float, float]


def svg(chart: Chart, *, caption: bool = True, sizes: Sequence[Size] = (WIDE, NARROW)) -> str:
    """Return the chart as a figure; ``caption``: with its title and a legend above it."""
    title = escape(clean(chart.title))
    head = f"<figcaption><b>{title}</b> {_legend(chart)}</figcaption>" if caption else ""
    above = f'<p class="axis">{escape(clean(chart.y_label))}</p>' if chart.y_label and not chart.sideways else ""
    below = escape(clean(chart.y_label if chart.sideways else chart.x_label))
    drawings = "".join(_drawing(chart, size) for size in sizes)
    return f'<figure data-chart="{chart.name}">{head}{above}{drawings}<p class="axis below">{below}</p></figure>'


def _drawing(chart: Chart, size: Size) -> str:
    drawing = _Sideways(chart, size) if chart.sideways else _Upright(chart, size)
    words = escape(clean(f"{chart.title}. {chart.text or f'{chart.y_label} against {chart.x_label}'}"), quote=True)
    classes = " ".join(filter(None, (size.name, "follows" * chart.follows)))
    named = f' class="{classes}"' if classes else ""
    return (
        f'<svg viewBox="0 0 {size.width} {drawing.height:g}" role="img" aria-label="{words}"{named}'
        f"{drawing.attributes}>{drawing.body()}</svg>"
    )


class _Upright:
    """A chart whose values rise."""

    def __init__(self, chart: Chart, size: Size) -> None:
        self.chart, self.size = chart, size
        names = [len(each.name) for each in chart.rules if each.axis == "y"]
        outside = size.letter * max(names, default=0) if chart.labels else 0.0  # where no interval crosses them
        self.left, self.right = float(size.left), size.width - max(size.right, 6.0 + outside)
        self.top = TOP + LINE * any(each.axis == "x" for each in chart.rules)
        taken = size.letter * sum(len(short(each, LABEL)) + 1 for each in chart.labels if each)
        self.two_lines = taken > self.right - self.left
        self.height = size.height + LINE * self.two_lines
        self.bottom = float(self.height - BOTTOM - LINE * self.two_lines)
        (left, right), (low, high) = chart.x_range, chart.y_range
        scales = f"{left:.17g},{right:.17g},{self.left:g},{self.right:g},{low:.17g},{high:.17g}"
        self.attributes = f' data-axes="{scales},{self.bottom:g},{self.top:g}"' if chart.follows else ""

    def body(self) -> str:
        chart = self.chart
        parts = [self._axes(), *map(self._rule, chart.rules), *map(self._series, chart.series)]
        if chart.follows:
            parts += self._names()
            parts.append(
                f'<line class="follow" x1="0" x2="0" y1="{self.top}" y2="{self.bottom:g}" visibility="hidden"/>'
                '<circle class="here" cx="0" cy="0" r="7" visibility="hidden"/>'
            )
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
            name = escape(short(each.name, ABOVE // 2))
            place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{end}"'
            found.append(f'<text class="{kind}" data-score="{score}" {place}>{name}</text>')
        return found

    def x(self, values: FloatArray) -> FloatArray:
        low, high = self.chart.x_range
        return self.left + (np.asarray(values, dtype=np.float64) - low) / (high - low) * (self.right - self.left)

    def y(self, values: FloatArray) -> FloatArray:
        low, high = self.chart.y_range
        inside = np.clip(np.asarray(values, dtype=np.float64), low, high)
        return self.bottom - (inside - low) / (high - low) * (self.bottom - self.top)

    def _axes(self) -> str:
        chart, parts = self.chart, []
        for value in ticks(*chart.y_range, most=self.size.ticks):
            at = float(self.y(np.array([value]))[0])
            parts.append(f'<path class="grid" d="M{self.left:g} {at:.1f}H{self.right:g}"/>')
            word = power(value) if chart.powers else tick("y" in chart.shares, value)
            parts.append(f'<text x="{self.left - 8:g}" y="{at + 4:.1f}" text-anchor="end">{word}</text>')
        named = {float(k + 1): short(name, LABEL) for k, name in enumerate(chart.labels) if name}
        words = named or {each: tick("x" in chart.shares, each) for each in ticks(*chart.x_range, most=self.size.ticks)}
        for k, (value, word) in enumerate(words.items()):
            lower = LINE * (self.two_lines and k % 2)  # every second name stands below the names next to it
            parts.append(centred(self.size, float(self.x(np.array([value]))[0]), self.bottom + 24 + lower, word))
        return "".join(parts)

    def _rule(self, rule: Rule) -> str:
        if rule.axis == "x":
            at = float(self.x(np.array([rule.at]))[0])
            line = f'<path class="rule alarm" d="M{at:.1f} {self.top}V{self.bottom:g}"/>'
            return line + centred(self.size, at, self.top - 6, clean(rule.name), "rule")
        at = float(self.y(np.array([rule.at]))[0])
        line = f'<path class="rule" d="M{self.left:g} {at:.1f}H{self.right:g}"/>'
        x, y, anchor = (self.right + 6, at + 4, "start") if self.chart.labels else (self.right, at - 6, "end")
        if self.chart.follows and self._nearer_on_the_right(rule.at):
            x, anchor = self.left + 4, "start"
        name = escape(clean(rule.name))
        return f'{line}<text class="rule" x="{x:g}" y="{y:.1f}" text-anchor="{anchor}">{name}</text>'

    def _nearer_on_the_right(self, value: float) -> bool:
        """Whether the first curve comes nearer to a value at the right end of the axis than at the left."""
        first = next(each for each in self.chart.series if each.kind == "line" and each.name)
        left, right = np.abs(np.interp([0.06, 0.94], first.x, first.y, left=np.inf) - value)
        return bool(right < left)

    def _series(self, each: Series) -> str:
        colour = _colour(each)
        of = "" if each.score is None else f' data-score="{escape(clean(each.score), quote=True)}"'
        if self.chart.follows:
            scores = [one.score for one in self.chart.series if one.kind == "line"]
            place = scores.index(each.score)
            colour += " on" * (place == 0) + " second" * (place == 2) + " spare" * (place >= GREY)
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
            marked = {k for k, word in enumerate(each.words) if word and each.high is not None}
            for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
                if np.isfinite(y):
                    kind = f"{shape}{colour}{' marked' * (k in marked)}"
                    found.append(f'<circle class="{kind}"{of} cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>')
            ruled = [float(self.y(np.array([rule.at]))[0]) for rule in self.chart.rules if rule.axis == "y"]
            tops = ys + 20.0 if each.high is None else self.y(each.high) - 8.0
            for x, y, word in zip(xs, tops, each.words, strict=False):
                if word and np.isfinite(y) and each.high is not None:
                    found.append(centred(self.size, float(x), float(y), clean(word), "said"))
                elif word and np.isfinite(y):
                    ahead = each.kind == "ring" or x < 0.6 * self.right
                    crossed = [at for at in ruled if y - 14.0 < at < y + 5.0]  # by a limit: above the ring instead
                    y, ahead = (y - 32.0, False) if crossed and each.kind == "ring" else (y, ahead)
                    where = (
                        f'x="{x + 4 if ahead else x - 4:.1f}" y="{y:.1f}" text-anchor="{"start" if ahead else "end"}"'
                    )
                    found.append(f'<text class="{shape or "said"}"{of} {where}>{escape(word)}</text>')
            return "".join(found)
        dashed = " dashed" if each.colour >= COLOURS or each.estimated else ""
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
    """Named values with intervals, one below the other: a name stands left of its row, on a phone above it."""

    attributes = ""

    def __init__(self, chart: Chart, size: Size) -> None:
        self.chart, self.size = chart, size
        self.names = [short(name, ABOVE if size.name else BESIDE) for name in chart.labels]
        self.row, self.middle = (44.0, 27.0) if size.name else (34.0, 17.0)
        self.left = SIDE if size.name else SIDE + size.letter * max(map(len, self.names), default=0)
        self.rules = sorted(chart.rules, key=lambda each: each.at)
        self.places = _placed([(self.x(each.at), clean(each.name)) for each in self.rules], size)
        self.top = 4 + LINE * max((level + 1 for _, _, level in self.places), default=0)
        self.bottom = self.top + self.row * len(chart.labels)
        begins = [self.top + self.row * k for k in range(len(chart.labels))]
        #: From where to where vertical lines are drawn: on a phone not through the names.
        self.spans = [(each + 18.0, each + self.row) for each in begins] if size.name else [(self.top, self.bottom)]
        self.height = self.bottom + 26

    def x(self, value: float) -> float:
        low, high = self.chart.y_range
        return self.left + (value - low) * (self.size.width - SIDE - self.left) / (high - low)

    def body(self) -> str:
        chart, found = self.chart, []
        for rule in self.rules:
            if rule.to is not None:
                x, wide = self.x(rule.at), self.x(rule.to) - self.x(rule.at)
                found += [f'<rect class="chance" x="{x:.1f}" width="{wide:.1f}" y="{a:g}" height="{b - a:g}"/>'
                          for a, b in self.spans]  # fmt: skip
        for value in ticks(*chart.y_range, most=self.size.ticks - 1):
            found.append(self._vertical("grid", self.x(value)))
            found.append(centred(self.size, self.x(value), self.bottom + 20, tick("y" in chart.shares, value)))
        for rule, (x, anchor, level) in zip(self.rules, self.places, strict=True):
            y = 13 + LINE * level
            found.append(self._vertical("rule", self.x(rule.at), f"M{self.x(rule.at):.1f} {y - 9}V{self.top}"))
            name = escape(clean(rule.name))
            found.append(f'<text class="rule" x="{x:.1f}" y="{y}" text-anchor="{anchor}">{name}</text>')
        for k, name in enumerate(self.names):
            height = self.top + self.row * k + (14 if self.size.name else self.middle + 4)
            found.append(f'<text class="name" x="0" y="{height:g}">{escape(name)}</text>')
        for each in chart.series:
            found += [self._value(each, k) for k in range(len(each.y))]
        return "".join(found)

    def _vertical(self, kind: str, at: float, first: str = "") -> str:
        lines = "".join(f"M{at:.1f} {a:g}V{b:g}" for a, b in self.spans)
        return f'<path class="{kind}" d="{first}{lines}"/>'

    def _value(self, each: Series, k: int) -> str:
        """Return a value with its interval, or the words that stand in its place."""
        y = self.top + self.row * k + self.middle
        if not np.isfinite(each.y[k]):
            word = escape(each.words[k]) if each.words else ""
            return f'<text class="absent" x="{self.left:g}" y="{y + 4:g}">{word}</text>' if word else ""
        colour, line = "reference" if each.colour < 0 else f"c{each.colour}", ""
        if each.low is not None and each.high is not None:
            line = f'<path class="line {colour}" d="M{self.x(each.low[k]):.1f} {y:g}H{self.x(each.high[k]):.1f}"/>'
        return f'{line}<circle class="{colour}" cx="{self.x(each.y[k]):.1f}" cy="{y:g}" r="4.5"/>'


def _placed(rules: Sequence[tuple[float, str]], size: Size) -> list[tuple[float, str, int]]:
    """Return x, anchor and line of the name of each rule, from left to right.

    A rule begins at the line of its name; so no name lies on another, or on a rule that begins above it.
    """
    found: list[tuple[float, str, int]] = []
    spans: list[tuple[float, int, float, float]] = []  # the rule, and line, start and end of its name
    for at, name in rules:
        long = size.letter * len(name)
        free = [
            (at + gap, anchor, level, start)
            for level in range(len(rules))
            for gap, anchor, start in ((-5.0, "end", at - 5.0 - long), (5.0, "start", at + 5.0))
            if 0.0 <= start <= size.width - long
            and not any(
                (line == level and start < b and a < start + long)  # on its name
                or (line <= level and start < x < start + long)  # on its rule
                or (line >= level and a < at < b)  # its name on this rule
                for x, line, a, b in spans
            )
        ]
        x, anchor, level, start = free[0] if free else (max(size.width - long, 0.0), "start", len(found), 0.0)
        found.append((x, anchor, level))
        spans.append((at, level, start, start + long))
    return found


def named_intervals(
    name: str,
    title: str,
    label: str,
    rows: Sequence[Named],
    *,
    against: Sequence[float] = (),
    rules: tuple[Rule, ...] = (),
    shares: str = "",
    absent: str = "",
    hold: Sequence[float] = (),
) -> Chart:
    """Return a chart of names, each with its value and interval, the first on top; the table has what has no room.

    ``against``: values to compare these with, drawn in grey; ``absent``: what a row without a value says;
    ``hold``: values that the axis shows in any case.
    """
    rows = rows[:ROWS]
    names = tuple(each[0] for each in rows)
    place = np.arange(1.0, len(rows) + 1.0)
    value, low, high = (np.array([each[k] for each in rows], dtype=np.float64) for k in (1, 2, 3))
    low, high = np.where(np.isfinite(low), low, value), np.where(np.isfinite(high), high, value)
    series = [Series("", place, value, low, high, "dots", words=(absent,) * len(rows))]
    marks = [end for rule in rules for end in (rule.at, rule.to) if end is not None]
    ends = [value, low, high, np.array([*marks, *hold], dtype=np.float64)]
    if len(against):
        grey = np.asarray(against, dtype=np.float64)[: len(rows)]
        series.insert(0, Series("", place, grey, kind="dots", colour=-1))
        ends.append(grey)
    known = np.concatenate(ends)
    known = known[np.isfinite(known)]
    least, most = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    span = most - least or abs(most) or 1.0
    words = "; ".join(f"{each[0]}: {absent if math.isnan(each[1]) else f'{each[1]:.4g}'}" for each in rows[:8])
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
