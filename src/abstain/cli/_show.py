"""Where results go: tables on stdout, files, and messages on stderr."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

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
from abstain.cli._report import write_report

if TYPE_CHECKING:
    from rich.console import Console

_PICTURES = (".png", ".svg", ".pdf")
_PAGES = (".html", ".htm", ".md", ".json")
#: Columns of a table where nobody watches.
WIDTH = 80
#: Notes that the verdict, or what was understood of the file, has said.
_SAID = re.compile(r"(.*: )?(guarantee|not attainable)\b|a change was signalled|drifted:|.* of the scores are distinct")
#: So many notes are printed below a table, besides one of numbers that are missing; the others with --verbose.
NOTES = 2


#: Forms of a table by the ending of its file.
TABLES = {".md": "to_markdown", ".tex": "to_latex", ".html": "to_html"}

#: Option of every command whose table may go into a paper.
table_option = click.option(
    "--table",
    "table_path",
    type=Path,
    help="Write the table: .md, .tex (package booktabs; of shaded ranks xcolor with option table) or .html.",
)

#: Option of every command that prints a table of fractions.
scale_option = click.option(
    "--scale",
    type=click.FloatRange(min=0.0, min_open=True),
    default=1.0,
    help="Multiplies the printed numbers, as 1000 does; the headings say so.  [default: 1, fractions]",
)


def check_destinations(paths: Mapping[str, Path | None], sources: Iterable[Path] = ()) -> None:
    """Refuse what could not be written before the work begins, and what would replace the input."""
    taken: dict[Path, str] = {}
    for name, path in paths.items():
        if path is None:
            continue
        option = f"--{name.removesuffix('_path').partition(' ')[0]}"
        if str(path) == "-":
            if name not in ("json_path", "csv_path", "summary"):
                raise ValueError(f"{option} - cannot be printed; give the name of a file")
        elif path.is_dir():
            raise IsADirectoryError(f"{path}: is a folder; give {option} the name of a file in it")
        elif not path.parent.is_dir():
            raise FileNotFoundError(f"{path}: the folder does not exist; create it first")
        elif not os.access(path.parent, os.W_OK):
            raise PermissionError(f"{path}: the folder cannot be written to; choose another place for {option}")
        elif path.exists() and any(path.samefile(source) for source in sources if source.exists()):
            raise ValueError(f"{path}: is an input and would be replaced; give {option} another name")
        if option == "--plot" and path.suffix.lower() not in _PICTURES:
            raise ValueError(f"{path}: extension {path.suffix!r} cannot be drawn; use {', '.join(_PICTURES)}")
        if option == "--report" and path.suffix.lower() not in _PAGES:
            raise ValueError(f"{path}: extension {path.suffix!r} is no report; use {', '.join(_PAGES)}")
        if option == "--table" and path.suffix.lower() not in TABLES:
            raise ValueError(f"{path}: extension {path.suffix!r} is no table; use {', '.join(TABLES)}")
        if taken.setdefault(path.absolute(), name) != name:
            other = f"--{taken[path.absolute()].removesuffix('_path').partition(' ')[0]}"
            raise ValueError(f"{path}: is given to both {other} and {option}; choose two names")


def write_table(result: Result | Table, path: Path | None, **options: Any) -> None:
    """Write the tables of a result, or one table, in the form that the ending of the file names."""
    from abstain._files import write_text

    if path is not None:
        write_text(path, getattr(result, TABLES[path.suffix.lower()])(**options).rstrip("\n") + "\n")


def show(
    result: Result,
    *,
    title: str | None = None,
    scale: float = 1.0,
    report_path: Path | None = None,
    opened: bool = False,
    source: dict[str, Any] | None = None,
    plots: Sequence[tuple[str, Path]] = (),
    json_path: Path | None = None,
    csv_path: Path | None = None,
    table_path: Path | None = None,
) -> None:
    """Write what was asked for, then print the result: whoever stops reading has the files."""
    written = []
    printed = None
    write_report(result, report_path, opened, title=title and f"Evaluation: {title}", **(source or {}))
    for name, file in plots:
        from abstain import plots as plots_

        plots_.get(name).draw("evaluation", result).save(file)
        written.append(file)
    for path, make in ((json_path, result.to_json), (csv_path, result.to_csv)):
        if path is not None and str(path) == "-":
            printed = make().rstrip("\n")
        elif path is not None:
            make(path)
            written.append(path)
    if table_path is not None:
        write_table(result, table_path, scale=scale)
        written.append(table_path)
    if printed is not None:
        click.echo(printed)
    else:
        print_result(result, scale, (source or {}).get("verdict"), title=title or "")
    for path in written:
        click.echo(f"wrote {path}", err=True)


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


def show_list(header: tuple[str, ...], rows: list[tuple[str, ...]], *, as_json: bool, shown: int | None = None) -> None:
    """Print a list of named things as JSON with all columns, or as a table of the first ones."""
    if as_json:
        import json

        entries = [dict(zip(header, row, strict=True)) for row in rows]
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    print_table(Table([Column(name, left=True) for name in header[:shown]], [row[:shown] for row in rows]))
