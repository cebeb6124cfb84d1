"""``Grid``: the numbers of a table of the literature, measured or printed, and the layouts that papers give them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from abstain._checks import one_of
from abstain._result import Column, Estimate, Result, Row, Table
from abstain._typing import ArrayLike, Document
from abstain.inference import min_ranks


@dataclass(frozen=True)
class Head:
    """What a column of a :class:`Grid` holds.

    Parameters
    ----------
    title : str
    direction : {"", "lower", "higher"}
        Which is better.
    group : str
        Columns of one group stand side by side: one data set, one block of a table.
    places : int, optional
        Decimals; default: as many as show four digits.

    Examples
    --------
    >>> from abstain.study import Head
    >>> Head("iid", "lower", "CIFAR-10").title
    'iid'
    """

    title: str
    direction: str = ""
    group: str = ""
    places: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Grid(Result):
    """Numbers by row and column, from a study or from print; prints as a table in the layouts of the papers.

    Parameters
    ----------
    heads : sequence of Head
    values : mapping of str to sequence of float
        Rows by name; NaN where there is none.
    spreads : mapping of str to sequence of float, optional
        Standard deviations or errors of the values.
    title : str
    said : sequence of str
        Notes: units, conventions, sources.

    Examples
    --------
    >>> from abstain.study import Grid, Head
    >>> grid = Grid([Head("iid", "lower"), Head("cor", "lower")], {"MSR": [4.93, 67.9], "PE": [4.91, 67.2]})
    >>> grid.ranks()
    {'MSR': [2, 2], 'PE': [1, 1]}
    >>> print(grid)
          iid ↓   cor ↓
    MSR  4.930   67.90
    PE   4.910*  67.20*
    <BLANKLINE>
    * best of its column
    """

    _names = ("row", "group", "column")
    _values = ("value",)

    heads: Sequence[Head]
    values: Mapping[str, Sequence[float]]
    spreads: Mapping[str, Sequence[float]] = field(default_factory=dict)
    title: str = ""
    said: Sequence[str] = ()
    corner: str = ""

    def __post_init__(self) -> None:
        for name, row in self.values.items():
            if len(row) != len(self.heads):
                raise ValueError(f"row {name!r} has {len(row)} numbers for {len(self.heads)} columns")

    def column(self, j: int) -> list[float]:
        """Return the numbers of a column."""
        return [row[j] for row in self.values.values()]

    def ranks(self) -> dict[str, list[int]]:
        """Return the rank of each number in its column, the best 1; equal ones share the smallest; 0 for NaN."""
        found = np.zeros((len(self.values), len(self.heads)), dtype=int)
        for j, head in enumerate(self.heads):
            column = np.array(self.column(j), dtype=float)
            known = ~np.isnan(column)
            if known.any():
                sign = -1.0 if head.direction == "higher" else 1.0
                found[known, j] = min_ranks(sign * column[None, known])[0]
        return {name: found[i].tolist() for i, name in enumerate(self.values)}

    def only(self, rows: Sequence[str] | None = None, group: str | None = None) -> Grid:
        """Return some rows, or the columns of one group."""
        for name in rows or ():
            one_of(name, self.values, "row")
        kept = [j for j, head in enumerate(self.heads) if group is None or head.group == group]
        chosen = list(self.values) if rows is None else list(rows)

        def part(table: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
            return {name: [table[name][j] for j in kept] for name in chosen if name in table}

        heads = [self.heads[j] for j in kept]
        return Grid(heads, part(self.values), part(self.spreads), self.title, self.said, self.corner)

    # ------------------------------------------------------------------ layouts

    def table(self, *, ranks: int = 1, heat: bool = False, across: bool = False) -> Table:
        """Return the numbers as a table.

        Parameters
        ----------
        ranks : int
            How many ranks are marked.
        heat : bool
            Shade all cells by their rank in HTML and LaTeX (AUGRC paper, Table 3).
        across : bool
            Rank within each row and group of columns, not within each column (estimators paper, Table 1).
        """
        several = len({head.group for head in self.heads}) > 1
        columns = [
            Column(f"{head.group} {head.title}" if several else head.title, head.direction, places=head.places)
            for head in self.heads
        ]
        groups: dict[str, list[int]] = {}
        for j, head in enumerate(self.heads):
            groups.setdefault(head.group, []).append(j + 1)
        rows: list[Row] = [
            (name, *(_cell(value, spread) for value, spread in zip(row, self._spread(name), strict=True)))
            for name, row in self.values.items()
        ]
        beside = list(groups.values()) if across else ()
        return Table(
            [Column(self.corner), *columns], rows, self.title, list(self.said), ranks, heat=heat, across=beside
        )

    def changes(self, other: Grid, *, names: tuple[str, str] = ("AURC", "AUGRC")) -> Table:
        """Return the ranks of this grid and of another one of the same rows and columns, and where they differ.

        A cell is the common rank, or both with an arrow between them (AUGRC paper, Table 4).
        """
        if list(self.values) != list(other.values) or len(self.heads) != len(other.heads):
            raise ValueError("the grids have other rows or columns; give two metrics of the same scores and sets")
        return rank_changes(self.heads, self.ranks(), other.ranks(), names)

    def _spread(self, name: str) -> Sequence[float]:
        return self.spreads.get(name, [math.nan] * len(self.heads))

    # ------------------------------------------------------------------ as a result

    def tables(self) -> list[Table]:
        """Return the table."""
        return [self.table()]

    def rows(self) -> list[Document]:
        """Return the numbers, a dict each."""
        return [
            {"row": name, "group": head.group, "column": head.title, "value": float(value), "spread": float(spread)}
            for name, row in self.values.items()
            for head, value, spread in zip(self.heads, row, self._spread(name), strict=True)
        ]


def rank_changes(
    heads: Sequence[Head], one: Mapping[str, Sequence[int]], two: Mapping[str, Sequence[int]], names: tuple[str, str]
) -> Table:
    """Return two rankings of the same rows as one table: the common rank, or ``first → second`` where they differ.

    Parameters
    ----------
    heads : sequence of Head
    one, two : mapping of str to sequence of int
        Ranks by row; 0 where there is none.
    names : tuple of str
        What each ranking is by.

    Returns
    -------
    Table

    Examples
    --------
    >>> from abstain.study import Head, rank_changes
    >>> print(rank_changes([Head("iid")], {"MSR": [1], "PE": [2]}, {"MSR": [1], "PE": [3]}, ("AURC", "AUGRC")))
    Ranks by AURC and AUGRC
           iid
    MSR      1
    PE   2 → 3
    <BLANKLINE>
    rank by AURC → rank by AUGRC; one number where they agree; 1 of 2 differ
    """
    several = len({head.group for head in heads}) > 1
    columns = [Column(f"{head.group} {head.title}" if several else head.title) for head in heads]
    rows: list[Row] = []
    changed = 0
    for name, first in one.items():
        cells = []
        for a, b in zip(first, two[name], strict=True):
            cells.append("—" if not a or not b else str(a) if a == b else f"{a} → {b}")
            changed += bool(a and b and a != b)
        rows.append((name, *cells))
    total = sum(bool(a and b) for name, first in one.items() for a, b in zip(first, two[name], strict=True))
    notes = [f"rank by {names[0]} → rank by {names[1]}; one number where they agree; {changed} of {total} differ"]
    return Table([Column(), *columns], rows, f"Ranks by {names[0]} and {names[1]}", notes, ranks=0)


def _cell(value: float, spread: float) -> float | Estimate:
    return float(value) if math.isnan(spread) else Estimate(float(value), spread=float(spread))


def sweep(columns: Mapping[str, ArrayLike], *, denominator: str = "accepted", title: str = "") -> Grid:
    """Return a sweep of the CWSA family as a grid: thresholds x accuracy, CWSA, CWSA+ and coverage.

    Parameters
    ----------
    columns : dict of arrays
        What :func:`abstain.cwsa_sweep` returns.
    denominator : {"accepted", "all"}
        What CWSA was divided by there; the heading says it.
    title : str

    Returns
    -------
    Grid

    Examples
    --------
    >>> import abstain
    >>> found = abstain.cwsa_sweep([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.4], [0.5, 0.75])
    >>> print(abstain.study.sweep(found).table(ranks=0).to_text(100))
                selective     CWSA (by    CWSA+ (by
    threshold  accuracy ↑  accepted) ↑  accepted) ↑  coverage
    0.5000         0.6667       0.3333       0.4667    0.7500
    0.7500              1       0.4000       0.4000    0.5000
    """
    titles = ("selective accuracy", f"CWSA (by {denominator})", "CWSA+ (by accepted)")
    heads = [*(Head(title, "higher", places=4) for title in titles), Head("coverage", places=4)]
    names = ("selective_accuracy", "cwsa", "cwsa_plus", "coverage")
    rows = {
        f"{float(tau):.4f}": [float(columns[name][k]) for name in names] for k, tau in enumerate(columns["threshold"])
    }
    return Grid(heads, rows, title=title, corner="threshold")


#: Columns of the tables of the AUGRC paper, in order.
ORDER = ("iid", "sub", "cor", "s-ncs", "ns-ncs")


def column_of(role: str, shift: Document, name: str) -> str:
    """Return the column of a set in the tables of the AUGRC paper: iid, sub, cor, s-ncs, ns-ncs, else its name."""
    kind = shift.get("kind", "")
    if role == "test":
        return "iid"
    if kind == "sub-class":
        return "sub"
    if kind == "corruption":
        return "cor"
    if kind == "new-class" and "semantic" in shift:
        return f"{'s' if shift['semantic'] else 'ns'}-ncs {name}"
    return name
