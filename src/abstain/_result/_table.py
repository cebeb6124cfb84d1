"""``Table``: values under headings, from which every form makes the same digits and marks the same best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from abstain._result._spoken import percent
from abstain._result._words import clean, decimals, fixed

#: In the place of a number that is not defined.
_MISSING = "—"
_ARROWS = {"lower": "↓", "higher": "↑"}


class Estimate(NamedTuple):
    """A number with its interval or its spread; NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan
    spread: float = math.nan


#: Text and whole numbers are shown as they are; a float and an estimate get digits, scale and mark.
Cell: TypeAlias = str | int | float | Estimate
Row: TypeAlias = tuple[Cell, ...]


def arrow(title: str, direction: str) -> str:
    """Return a heading with the arrow of the better direction."""
    return f"{title} {_ARROWS[direction]}"


@dataclass(frozen=True)
class Column:
    """What a column holds: its heading, which direction is better, and how it is set.

    Parameters
    ----------
    title : str
    direction : {"", "lower", "higher"}
        Which is better: shown as an arrow, and the best is marked.
    left : bool
        Aligned left, as words are; the first column of a table always is.
    alike : bool
        Whether the numbers are of one kind and share their decimals.
    places : int, optional
        Decimals; default: as many as show four digits.
    share : bool
        Whether the numbers are shares, shown in per cent.
    """

    title: str = ""
    direction: str = ""
    left: bool = False
    alike: bool = True
    places: int | None = None
    share: bool = False

    @property
    def heading(self) -> str:
        """The title with its arrow."""
        return arrow(self.title, self.direction) if self.direction else self.title


class Shown(NamedTuple):
    """A cell as text: the value, its rank (0: not marked), what follows, and its heat, 1 for the best (-1: none)."""

    value: str
    rank: int = 0
    rest: str = ""
    heat: float = -1.0


@dataclass(frozen=True)
class Table:
    """Values under headings; ``str``, a notebook and ``to_*`` show them.

    Parameters
    ----------
    columns : sequence of Column
        The first one names the rows.
    rows : sequence of sequences of cells
        Text and whole numbers are shown as they are; floats with four digits, NaN as a dash; an :class:`Estimate` with
        its interval in brackets or its spread.
    title : str
    notes : sequence of str
        What stands below, such as the meaning of the brackets.
    ranks : int
        How many ranks are marked in a column with a direction: 1, the best; 0, none. Values that print alike share
        a rank; where all do, or are alone, none is marked.
    scale : float
        What numbers are multiplied by; the headings say so.
    heat : bool
        Shade every cell that has a rank, the best darkest, in HTML and LaTeX.
    shares : sequence of int
        Rows whose numbers are shares, shown in per cent.
    across : sequence of sequences of int
        Columns whose cells are ranked within each row, in place of each column: numbers of one kind.

    Examples
    --------
    >>> from abstain._result import Column, Table
    >>> print(Table([Column("score"), Column("AURC", "lower")], [("msp", 0.0125), ("energy", 0.03)]))
    score     AURC ↓
    msp     0.01250*
    energy  0.03000
    <BLANKLINE>
    * best of its column
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    notes: Sequence[str] = ()
    ranks: int = 1
    scale: float = 1.0
    heat: bool = False
    across: Sequence[Sequence[int]] = ()
    shares: Sequence[int] = ()

    def scaled(self, scale: float) -> Table:
        """Return the table with its numbers multiplied, as by 1000, which its headings then say."""
        if not 0.0 < scale < math.inf:
            raise ValueError(f"scale must be a number > 0, got {scale!r}; give 1000 for values x1000")
        return replace(self, scale=scale)

    # ------------------------------------------------------------------ for the forms

    def headings(self) -> list[str]:
        """Return the headings, with the arrow and the scale of what is scaled."""
        texts = [clean(column.heading) for column in self.columns]
        if self.scale == 1.0:
            return texts
        numeric = [any(isinstance(row[j], float | tuple) for row in self.rows) for j in range(len(texts))]
        return [f"{text} x{self.scale:g}".strip() if yes else text for text, yes in zip(texts, numeric, strict=True)]

    def shown(self) -> list[list[Shown]]:
        """Return the cells as text, with ranks, row by row."""
        texts = [self._texts(j, column) for j, column in enumerate(self.columns)]
        ranks = [[0] * len(self.rows) for _ in self.columns]
        beside = {j for chosen in self.across for j in chosen}
        for j, column in enumerate(self.columns):
            if column.direction and j not in beside:
                ranks[j] = _ranked(self._numbers(j, texts[j]), column.direction)
        for chosen in self.across:
            numbers = [self._numbers(j, texts[j]) for j in chosen]
            for i in range(len(self.rows)):
                found = _ranked([each[i] for each in numbers], self.columns[chosen[0]].direction)
                for j, rank in zip(chosen, found, strict=True):
                    ranks[j][i] = rank
        worst = [max(column, default=0) for column in ranks]
        for chosen in self.across:
            for j in chosen:
                worst[j] = max(max(ranks[k], default=0) for k in chosen)

        def marked(i: int, j: int) -> Shown:
            rank = ranks[j][i]
            heat = 1.0 - (rank - 1.0) / max(worst[j] - 1.0, 1.0) if self.heat and rank else -1.0
            return texts[j][i]._replace(rank=rank if rank <= self.ranks else 0, heat=heat)

        return [[marked(i, j) for j in range(len(texts))] for i in range(len(self.rows))]

    def marks(self) -> int:
        """Return the highest rank that is marked, 0 if none."""
        return max((cell.rank for row in self.shown() for cell in row), default=0)

    def place(self) -> str:
        """Return where a marked cell is the best."""
        return "best of its row and group of columns" if self.across else "best of its column"

    def _numbers(self, j: int, texts: list[Shown]) -> list[float]:
        """Return the numbers that a column prints; NaN for words and dashes."""
        cells = [row[j] for row in self.rows]
        numbers = [
            isinstance(cell, float | tuple) and each.value != "—" for cell, each in zip(cells, texts, strict=True)
        ]
        values = [each.value.removesuffix(" %") for each in texts]
        return [float(each) if known else math.nan for each, known in zip(values, numbers, strict=True)]

    def _texts(self, j: int, column: Column) -> list[Shown]:
        cells = [row[j] for row in self.rows]
        sizes = [self.scale * _size(cell) for cell in cells]
        shared = decimals(sizes) if column.places is None else column.places
        return [
            self._share(cell)
            if column.share or i in self.shares
            else self._shown(cell, shared if column.alike or column.places is not None else decimals([size]))
            for i, (cell, size) in enumerate(zip(cells, sizes, strict=True))
        ]

    def _shown(self, cell: Cell, places: int | None) -> Shown:
        if isinstance(cell, str | int):
            return Shown(clean(cell))
        value, low, high, spread = cell if isinstance(cell, tuple) else Estimate(cell)
        text = self._digits(value, places)
        if not math.isnan(low) and not math.isnan(high):
            return Shown(text, rest=f" [{self._digits(low, places)}, {self._digits(high, places)}]")
        return Shown(text, rest="" if math.isnan(spread) else f" ± {self._digits(spread, places)}")

    def _share(self, cell: Cell) -> Shown:
        """Return a share in per cent, with its interval."""
        if isinstance(cell, str):
            return Shown(clean(cell))
        value, low, high, _ = cell if isinstance(cell, tuple) else Estimate(float(cell))
        said = [_MISSING if math.isnan(each) else percent(each) for each in (value, low, high)]
        return Shown(said[0], rest="" if _MISSING in said[1:] else f" [{said[1]}, {said[2]}]")

    def _digits(self, value: float, places: int | None) -> str:
        """Return the digits of a number; one that is whole only by the scale is not exact and keeps its decimals."""
        exact = not math.isfinite(value) or value == round(value) or places is None
        return fixed(self.scale * value, places) if exact else f"{self.scale * value:.{places}f}"

    # ------------------------------------------------------------------ forms

    def to_text(self, width: int = 80) -> str:
        """Return plain text of so many columns; what is wider continues below, and no name or number is cut."""
        from abstain._result import _text

        return _text.plain_text(_text.of_table(self, width))

    def to_markdown(self) -> str:
        """Return a Markdown table; the best is bold."""
        from abstain._result import _markup

        return _markup.markdown(self)

    def to_latex(self) -> str:
        """Return a LaTeX tabular (package booktabs; where ranks are shaded, xcolor with its option table)."""
        from abstain._result import _markup

        return _markup.latex(self)

    def to_html(self, most: int = 1000) -> str:
        """Return an HTML table, or several of at most so many columns; the best is bold, ranks are shaded."""
        from abstain._result import _markup

        return _markup.html(self, most)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from abstain._result import _text

        return _text.rich_lines(_text.of_table(self, options.max_width))


def _size(cell: Cell) -> float:
    """Return what the digits of a cell follow."""
    if isinstance(cell, str | int):
        return math.nan
    return (cell.value or cell.high) if isinstance(cell, Estimate) else cell


def _ranked(values: list[float], direction: str) -> list[int]:
    """Return the rank of each value, the best first, equal ones alike; 0 for NaN, and if all are equal."""
    known = [value for value in values if not math.isnan(value)]
    if len(set(known)) < 2:
        return [0] * len(values)
    sign = 1.0 if direction == "lower" else -1.0
    return [0 if math.isnan(each) else 1 + sum(sign * other < sign * each for other in known) for each in values]
