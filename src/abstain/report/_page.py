"""The page as a value: sections of prose, tables, charts and lists, from which HTML, Markdown and JSON are written.

Each kind of result gives its sections by a function of its own; whoever writes a form knows these parts and no result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from abstain._result import Table
from abstain._typing import FloatArray


@dataclass(frozen=True)
class Prose:
    """Paragraphs; ``kind``: "text", or "note", which a reader should not miss."""

    lines: tuple[str, ...]
    kind: str = "text"


@dataclass(frozen=True)
class Answers:
    """Questions, each with the sentences that answer it; ``sign``: what they say to going live; ``word``: the same."""

    entries: tuple[tuple[str, tuple[str, ...]], ...]
    sign: str = ""
    word: str = ""


@dataclass(frozen=True)
class Grid:
    """A table of a result, with at most so many columns side by side."""

    table: Table
    columns: int = 1000


@dataclass(frozen=True, eq=False)
class Series:
    """A line of a chart; NaN breaks it. ``low``, ``high``: its band; ``kind``: "line", "step", "dots" or "bars"."""

    name: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    kind: str = "line"
    #: Which colour; -1 and -2 for references in grey, dashed and dotted.
    colour: int = 0
    #: Of which score of the slider this is, whose band is shown when it is chosen.
    score: str | None = None


@dataclass(frozen=True, eq=False)
class Chart:
    """Series in one pair of axes; ``follows``: "coverage" or "threshold", which the slider marks."""

    name: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    text: str = ""
    follows: str = ""
    #: Names at 1, 2, ... in place of the numbers below.
    labels: tuple[str, ...] = ()
    #: Axes whose numbers are shares, shown in per cent: "x", "y" or "xy".
    shares: str = ""
    #: Whether these names stand below each other, each above its value, and values run from left to right.
    sideways: bool = False


@dataclass(frozen=True)
class Charts:
    """Charts side by side."""

    charts: tuple[Chart, ...]


@dataclass(frozen=True, eq=False)
class Slider:
    """Thresholds to slide over, and what is shown of each; ``data`` is what the script reads."""

    data: dict[str, Any]


@dataclass(frozen=True)
class Terms:
    """Names with what they mean, or facts with their values; ``code``: values are to be copied."""

    entries: tuple[tuple[str, str], ...]
    code: bool = False


@dataclass(frozen=True, eq=False)
class Pictures:
    """Captions with a picture (data URI) or a text each, either may be empty."""

    entries: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Folded:
    """A part that is opened on demand."""

    title: str
    parts: tuple[Part, ...]


Part: TypeAlias = Prose | Answers | Grid | Charts | Slider | Terms | Pictures | Folded


@dataclass(frozen=True)
class Section:
    """A heading with its parts."""

    name: str
    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Page:
    """Everything that a report says."""

    title: str
    headline: str
    sections: tuple[Section, ...]
    facts: dict[str, Any] = field(default_factory=dict)
