"""Tables as lines of a terminal: one aligner for plain text and for rich, which colours the same lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from abstain._result._verdict_lines import lines_of
from abstain._result._words import clean, width, wrapped

if TYPE_CHECKING:
    from abstain._result._base import Result
    from abstain._result._table import Shown, Table

#: A line is pieces of text, each with its style.
Line: TypeAlias = list[tuple[str, str]]
#: Marks of the ranks; the best has the star.
MARKS = " *²³⁴⁵⁶⁷⁸⁹"
#: Words longer than this go on in the next line of their cell.
WORDS = 40
GAP = "  "
STYLES = {"head": "bold", "best": "bold green", "note": "yellow", "legend": "dim"}


def of_result(result: Result, columns: int, scale: float = 1.0) -> list[Line]:
    """Return the verdict, headline, tables, legends and notes."""
    tables = [table.scaled(scale) if scale != 1.0 else table for table in result.tables()]
    verdict = result.verdict
    first = [] if verdict is None else lines_of(verdict, columns, len(verdict.caveats))
    parts = [[[(line, "note" * line.startswith("! "))] for line in first]]
    parts += [_prose([result.headline()], columns, "head")] if result.headline() else []
    parts += [_titled(table, columns) for table in tables]
    notes = [f"note: {each}" for each in result.notes()]
    below = dict.fromkeys(note for table in tables for note in (*table.notes, *legend(table)))
    parts.append(_prose(below, columns, "legend") + _prose(notes, columns, "note"))
    return _joined(parts)


def of_table(table: Table, columns: int) -> list[Line]:
    """Return title, table, notes and what the marks mean."""
    return _joined([_titled(table, columns), _prose([*table.notes, *legend(table)], columns, "legend")])


def legend(table: Table) -> list[str]:
    """Return what the marks of a table mean."""
    marks = table.marks()
    if marks == 0:
        return []
    return [f"* {table.place()}" + (f"; {MARKS[2 : marks + 1]}: the next ranks" if marks > 1 else "")]


def plain_text(lines: Iterable[Line]) -> str:
    """Return lines as text."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def rich_lines(lines: Iterable[Line]) -> Iterator[Any]:
    """Yield lines for a rich console; names are text and never read as markup."""
    from rich.text import Text

    for line in lines:
        yield Text.assemble(*((text, STYLES.get(style, "")) for text, style in line), overflow="fold")


def _joined(parts: list[list[Line]]) -> list[Line]:
    """Return the parts with an empty line between them."""
    filled = [part for part in parts if part]
    empty: Line = []
    return [line for i, part in enumerate(filled) for line in [*[empty] * (i > 0), *part]]


def _prose(texts: Iterable[str], columns: int, style: str) -> list[Line]:
    return [[(line, style)] for text in texts for line in wrapped(clean(text), columns, "  ")]


def _titled(table: Table, columns: int) -> list[Line]:
    return (_prose([table.title], columns, "head") if table.title else []) + _grid(table, columns)


def _grid(table: Table, columns: int) -> list[Line]:
    """Return the blocks of columns that fit side by side, each behind the names of the rows."""
    rows = table.shown()
    left = [j == 0 or column.left for j, column in enumerate(table.columns)]
    cells = [[_lines(row[j], any(each[j].rank for each in rows), left[j]) for row in rows] for j in range(len(left))]
    heads: list[list[Line]] = []
    for heading, column, is_left in zip(table.headings(), cells, left, strict=True):
        text = heading.replace(" %", "\u00a0%").replace(" ↓", "\u00a0↓").replace(" ↑", "\u00a0↑")
        room = WORDS if is_left else max(*map(width, text.split(" ")), _widest(column))
        heads.append([[(part.replace("\u00a0", " "), "head")] for part in wrapped(text, room)])
    sizes = [_widest([head, *column]) for head, column in zip(heads, cells, strict=True)]
    result: list[Line] = []
    for block in _blocks(sizes, columns):
        chosen = [0, *block]
        result += [[]] if result else []
        if any(table.headings()):
            tallest = max(len(heads[j]) for j in chosen)
            above: list[list[Line]] = [[[]] * (tallest - len(heads[j])) for j in chosen]
            top = [space + heads[j] for space, j in zip(above, chosen, strict=True)]
            result += _aligned(top, chosen, sizes, left)
        for i in range(len(rows)):
            result += _aligned([cells[j][i] for j in chosen], chosen, sizes, left)
    return result


def _lines(cell: Shown, marked: bool, is_left: bool) -> list[Line]:
    """Return the lines of a cell, its mark between value and interval; words wrap, numbers do not."""
    if is_left:
        return [[(line, "")] for line in wrapped(cell.value or '""', WORDS)]
    style = "best" if cell.rank == 1 else ""
    return [[(cell.value, style), (MARKS[cell.rank] if marked else "", style), (cell.rest, "")]]


def _blocks(sizes: list[int], columns: int) -> Iterator[list[int]]:
    """Yield the columns behind the first that fit side by side, at least one each time."""
    block: list[int] = []
    used = sizes[0]
    for j, size in enumerate(sizes[1:], 1):
        if block and used + len(GAP) + size > columns:
            yield block
            block, used = [], sizes[0]
        block.append(j)
        used += len(GAP) + size
    yield block


def _aligned(cells: list[list[Line]], chosen: list[int], sizes: list[int], left: list[bool]) -> list[Line]:
    """Return the lines of one row: cells side by side, each in its width."""
    result = []
    for parts in zip_longest(*cells, fillvalue=[]):
        line: Line = []
        for j, part in zip(chosen, parts, strict=True):
            space = " " * (sizes[j] - width(_text(part)))
            line += [(GAP, "")] if line else []
            line += [*part, (space, "")] if left[j] else [(space, ""), *part]
        result.append(line)
    return result


def _widest(cells: list[list[Line]]) -> int:
    return max((width(_text(line)) for cell in cells for line in cell), default=0)


def _text(line: Line) -> str:
    return "".join(text for text, _ in line)
