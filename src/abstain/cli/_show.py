"""Where results go: tables on stdout, files, and messages on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from abstain._result import Column, Result, Table, of_result, rich_lines, wrapped
from abstain.cli._options import as_options
from abstain.cli._report import write_report

if TYPE_CHECKING:
    from rich.console import Console

_PICTURES = (".png", ".svg", ".pdf")
_PAGES = (".html", ".htm", ".md", ".json")
#: Columns of a table where nobody watches.
WIDTH = 80


#: Forms of a table by the ending of its file.
TABLES = {".md": "to_markdown", ".tex": "to_latex", ".html": "to_html"}

#: Option of every command whose table may go into a paper.
table_option = click.option(
    "--table", "table_path", type=Path,
    help="Write the table: .md, .tex (package booktabs; of shaded ranks xcolor with option table) or .html.",
)  # fmt: skip

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
        print_result(result, scale, (source or {}).get("told"))
    for path in written:
        click.echo(f"wrote {path}", err=True)


class _InOptions(Result):
    """A result whose notes name options of the command instead of arguments of the library."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def headline(self) -> str:
        return self._result.headline()

    def tables(self) -> list[Table]:
        return [replace(each, notes=[as_options(note) for note in each.notes]) for each in self._result.tables()]

    def notes(self) -> list[str]:
        return [as_options(note) for note in self._result.notes()]


def print_result(result: Result, scale: float = 1.0, told: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """Print a result as wide as the terminal; ``told``: what the verdict should know of the command that goes on."""
    shown = _InOptions(result)
    print_verdict(words for _, words in result.answers(told))
    if _in_colour():
        _console().print(*rich_lines(of_result(shown, columns(), scale)), sep="\n")
    else:
        print(shown.to_text(columns(), scale=scale))  # in the encoding of the terminal, which click would change


def print_verdict(sentences: Iterable[str]) -> None:
    """Print what a result means in plain words, before its tables."""
    lines = [wrapped(as_options(line), columns(), "  ") for line in sentences]
    if lines:
        print(*(line for each in lines for line in each), "", sep="\n")


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
