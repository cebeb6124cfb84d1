"""What a terminal shows of a result: the verdict, tables and notes."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

import abstain
from abstain._result import (
    CAVEATS_SHOWN,
    Column,
    Result,
    Table,
    Verdict,
    lines_of,
    of_result,
    plain_text,
    rich_lines,
    wrapped,
)
from abstain.cli._options import as_options

if TYPE_CHECKING:
    from rich.console import Console

#: Columns of a table where nobody watches.
WIDTH = 80
#: Notes that the verdict, or what was understood of the file, has said.
_SAID = re.compile(r"(.*: )?(guarantee|not attainable)\b|a change was signalled|drifted:")
#: So many notes are printed below a table, besides one of numbers that are missing; the others with --verbose.
NOTES = 2


class _Shown(Result):
    """A result as a terminal shows it: brief or whole, and in options of the command instead of arguments."""

    def __init__(self, result: Result, headline: str, whole: bool) -> None:
        tables = result.tables() if whole else result.brief()
        self._headline = headline
        self._tables = [replace(each, notes=[as_options(note) for note in each.notes]) for each in tables]
        kept = [note for note in result.notes() if whole or not _SAID.match(note)]
        notes = [as_options(note) for note in kept if not note.startswith("read as: ")]
        said = sum(len(each.notes) + bool(each.marks()) for each in tables)
        if not whole and isinstance(result, abstain.Evaluation):
            missing = [note for note in notes if " is not defined" in note]
            notes = [note for note in notes if note not in missing][: max(NOTES - said, 0)]
            names = [note.partition(":")[0].replace(" is not defined", "") for note in missing]
            notes += missing if len(missing) < 2 else [f"not defined, why with --verbose: {', '.join(names)}"]
        self._notes = notes

    def headline(self) -> str:
        return self._headline

    def tables(self) -> list[Table]:
        return self._tables

    def notes(self) -> list[str]:
        return self._notes


def print_result(
    result: Result, scale: float = 1.0, verdict: Verdict | None = None, *, title: str = "", tables: bool = True
) -> None:
    """Print a result as wide as the terminal: the verdict, the tables, and what a reader must know."""
    verdict = verdict or result.verdict
    if verdict is None:
        _print(_Shown(result, result.headline(), whole=True), scale)
        return
    subject = f"{title}: {verdict.subject}" if title and verdict.subject else title
    most = len(verdict.caveats) if verbose() else CAVEATS_SHOWN
    head = [*wrapped(subject, columns(), "  "), ""] if subject else []
    lines = [*head, *lines_of(verdict, columns(), most, as_options)]
    if _in_colour():
        for line in lines:
            _console().print(line, style="yellow" if line.startswith("! ") else "", markup=False)
    else:
        print(*lines, sep="\n")
    shown = _Shown(result, result.headline() if verbose() else "", whole=verbose())
    if tables and (shown.tables() or shown.notes()):
        print()
        _print(shown, scale)


def _print(shown: Result, scale: float) -> None:
    if _in_colour():
        _console().print(*rich_lines(of_result(shown, columns(), scale)), sep="\n")
    else:  # in the encoding of the terminal, which click would change
        print(plain_text(of_result(shown, columns(), scale)))


def verbose() -> bool:
    """Whether all that is known is printed."""
    return bool(click.get_current_context().meta.get("abstain.verbose"))


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal."""
    if _in_colour():
        _console().print(table)
    else:
        print(table.to_text(columns()))


def columns() -> int:
    """Return the width of the terminal; without one what COLUMNS says, else 80."""
    if _watched():
        return get_terminal_size().columns
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdecimal() and int(given) else WIDTH


def _watched() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _in_colour() -> bool:
    """Whether lines are coloured: rich takes as long to load as an evaluation of a small file."""
    return _watched() or bool(os.environ.get("FORCE_COLOR"))


def _console() -> Console:
    from rich.console import Console

    return Console(width=columns(), highlight=False)


def say_written(path: Path, note: str = "") -> None:
    """Say on standard error what was written."""
    click.echo(f"wrote {path}{note}", err=True)


def show_list(header: tuple[str, ...], rows: list[tuple[str, ...]], *, as_json: bool, shown: int | None = None) -> None:
    """Print a list of named things as JSON with all columns, or as a table of the first ones."""
    if as_json:
        import json

        entries = [dict(zip(header, row, strict=True)) for row in rows]
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    print_table(Table([Column(name, left=True) for name in header[:shown]], [row[:shown] for row in rows]))
