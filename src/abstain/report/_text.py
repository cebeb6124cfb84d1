"""An evaluation as plain text, and as rich renderables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from abstain.report._tables import COLUMNS, Table, brackets, clean, headline, tables

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation


def as_text(evaluation: Evaluation) -> str:
    """Return plain text without colours, for logs, notebooks and doctests."""
    parts = [headline(evaluation)]
    fitting = _fitting(tables(evaluation), 160)
    parts += ["\n".join(_lines(table)) for table in tables(evaluation, fitting)]
    below = brackets(evaluation) + [f"note: {clean(line)}" for line in evaluation.notes()]
    return "\n\n".join([*parts, "\n".join(below)] if below else parts)


def _lines(table: Table) -> list[str]:
    first = max(map(len, (table.corner, *table.names)))
    widths = [max(10, len(name), *(len(row[j]) for row in table.rows)) for j, name in enumerate(table.header)]
    lines = [table.title] if table.title else []
    header = "".join(f"  {name:>{width}}" for name, width in zip(table.header, widths, strict=True))
    lines.append(f"{table.corner:<{first}}{header}")
    for name, row in zip(table.names, table.rows, strict=True):
        label, _, arrow = name.rpartition("  ")  # arrows below each other
        left = f"{label:<{first - 3}}  {arrow}" if label else f"{name:<{first}}"
        lines.append(left + "".join(f"  {cell:>{width}}" for cell, width in zip(row, widths, strict=True)))
    return lines


def as_rich(evaluation: Evaluation, width: int = 120) -> list[Any]:
    """Return rich renderables for a terminal of this width; names are shown as text, never read as markup."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    result: list[Any] = [Text(headline(evaluation), style="bold")]
    for table in tables(evaluation, _fitting(tables(evaluation), width)):
        rich = RichTable(title=Text(table.title) if table.title else None, box=box.SIMPLE_HEAD, title_justify="left")
        rich.add_column(Text(table.corner))
        for name in table.header:
            rich.add_column(Text(name), justify="right", overflow="fold")
        for i, (name, row) in enumerate(zip(table.names, table.rows, strict=True)):
            cells = [Text(cell, style="bold green" if (i, j) in table.best else "") for j, cell in enumerate(row)]
            rich.add_row(Text(name), *cells)
        result.append(rich)
    result += [Text(line, style="dim") for line in brackets(evaluation)]
    result += [Text(f"note: {clean(line)}", style="yellow") for line in evaluation.notes()]
    return result


def _fitting(wide: list[Table], width: int) -> int:
    """Return how many columns can stand side by side without breaking a number, at least one."""
    first = max(len(name) for table in wide for name in table.names) + 3
    widest = max(len(cell) for table in wide for row in (table.header, *table.rows) for cell in row) + 3
    return min(COLUMNS, max(1, (width - first) // widest))
