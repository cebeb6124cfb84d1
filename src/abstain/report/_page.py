"""A page as a value: the board that leads it, and sections of prose, tables, charts and lists.

Each kind of result fills these in; HTML, Markdown and JSON are written from them without knowledge of any result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from abstain._result import Table
from abstain._typing import Document, FloatArray

if TYPE_CHECKING:
    from abstain._result import Caveat


@dataclass(frozen=True)
class Prose:
    """Paragraphs; ``kind``: "text", or "note", which a reader should not miss."""

    lines: tuple[str, ...]
    kind: str = "text"


@dataclass(frozen=True)
class Grid:
    """A table of a result, with at most so many columns side by side."""

    table: Table
    columns: int = 1000


@dataclass(frozen=True, eq=False)
class Series:
    """A line of a chart; NaN breaks it. ``low``, ``high``: its band; ``kind``: "line", "step", "dots" or "ring"."""

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
    #: Words next to the points of rings, or in the place of values that are missing.
    words: tuple[str, ...] = ()
    #: Whether the line is a mere estimate, which is dashed.
    estimated: bool = False


@dataclass(frozen=True)
class Rule:
    """A straight line across a chart with its name: a limit on the axis "y", an alarm on the axis "x".

    ``to``: the end of a grey band that begins at it, of values that chance alone gives.
    """

    at: float
    name: str
    axis: str = "y"
    to: float | None = None


@dataclass(frozen=True, eq=False)
class Chart:
    """Series in one pair of axes."""

    name: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    text: str = ""
    #: Whether the slider moves a point along the curve of the chosen score.
    follows: bool = False
    #: Names at 1, 2, ... in place of the numbers below.
    labels: tuple[str, ...] = ()
    #: Axes whose numbers are shares, shown in per cent: "x", "y" or "xy".
    shares: str = ""
    #: Whether these names stand below each other, and values run from left to right.
    sideways: bool = False
    #: Whether heights are powers of ten.
    powers: bool = False
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class Charts:
    """Charts side by side."""

    charts: tuple[Chart, ...]


@dataclass(frozen=True)
class Number:
    """A number with its name and, in small print, its interval or what it is compared with."""

    name: str
    value: str
    small: str = ""
    #: The output of the slider that shows it, if one does.
    key: str = ""


@dataclass(frozen=True, eq=False)
class Board:
    """A chart with the numbers next to it, and the slider of thresholds under it."""

    chart: Chart | None = None
    numbers: tuple[Number, ...] = ()
    #: Thresholds to slide over, as the script reads them.
    slider: Document | None = None


@dataclass(frozen=True)
class Controls:
    """What else the slider of the page offers: the score, certified points, costs, and the policy as text."""

    slider: Document


@dataclass(frozen=True)
class Terms:
    """Names with what they mean, or facts with their values; ``code``: values are to be copied."""

    entries: tuple[tuple[str, str], ...]
    code: bool = False


@dataclass(frozen=True, eq=False)
class Pictures:
    """Captions with an image (data URI) or a text each, either may be empty."""

    entries: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Folded:
    """A part that is opened on demand."""

    title: str
    parts: tuple[Part, ...]


Part: TypeAlias = Prose | Grid | Charts | Board | Controls | Terms | Pictures | Folded


@dataclass(frozen=True)
class Section:
    """A heading with its parts, opened on demand."""

    name: str
    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Lead:
    """The first screen: the answer in a sentence, its status, the rule to follow, the board, and caveats."""

    headline: str
    #: "good", "care", "bad" or "open", which colours the status.
    tone: str
    status: str
    rule: str
    #: What is guaranteed, or that nothing is, where headline and status do not say it.
    guarantee: str
    board: Board
    caveats: tuple[Caveat, ...] = ()
    #: The command that goes on, and what it is for.
    next: str = ""
    aim: str = "Next"
    #: Which score is better, where a threshold is what the page is about.
    better: str = ""


@dataclass(frozen=True)
class Page:
    """Everything that a report says."""

    title: str
    #: How many rows, and what else names the data in one line.
    about: str
    lead: Lead
    sections: tuple[Section, ...]
    facts: Document = field(default_factory=dict)
