"""Where the result of a command goes: its options, the files that are written, the report, and what is printed."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import abstain
from abstain._files import write_text
from abstain._result import Result, Table, Verdict
from abstain.cli._group import Command, Options
from abstain.cli._options import as_options
from abstain.cli._plots import plot_option
from abstain.cli._show import print_result, say_written

#: What was typed in this run; a report names it.
typed: list[str] = []

_PICTURES = (".png", ".svg", ".pdf")
_PAGES = (".html", ".htm", ".md", ".json")
#: Forms of a table by the ending of its file.
_TABLES = {".md": "to_markdown", ".tex": "to_latex", ".html": "to_html"}

#: Option of every command that prints a table of fractions.
scale_option = click.option(
    "--scale",
    type=click.FloatRange(min=0.0, min_open=True),
    default=1.0,
    help="Multiplies the printed numbers, as 1000 does; the headings say so.  [default: 1, fractions]",
)
#: Options for output, by what they are about.
_OPTIONS: dict[str, list[Callable[[Any], Any]]] = {
    "report": [
        click.option("--report", "report_path", type=Path, metavar="FILE",
                     help="Write the decision report, one page: .html, .md or .json."),
        click.option("--open", "opened", is_flag=True, help="Show the --report in the browser."),
    ],
    "rows": [
        click.option("--texts", help="Of --report: column of texts, next to the most confident failures."),
        click.option("--images", help="Of --report: column of image files, or array of a .npz, next to failures."),
    ],
    "table": [
        click.option("--table", "table_path", type=Path, help="Write the table: .md, .tex (package booktabs; of shaded "
                     "ranks xcolor with option table) or .html."),
    ],
    "json": [click.option("--json", "json_path", type=Path, help="Write everything as JSON; '-' prints it instead.")],
    "print-json": [click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")],
    "csv": [click.option("--csv", "csv_path", type=Path, help="Write one line per number; '-' prints them instead.")],
    "scale": [scale_option],
}  # fmt: skip


def writes(*kinds: str | tuple[str, str]) -> Callable[[Command], Command]:
    """Add options for output to a command, which gets them as one ``to``; a pair is ``--plot``, with its usual one."""

    def decorate(function: Command) -> Command:
        @functools.wraps(function)
        def command(*positional: Any, **given: Any) -> Any:
            told = {name: given.pop(name) for name in Output.__dataclass_fields__ if name in given}
            if given.pop("as_json", False):
                told["json_path"] = Path("-")
            drawn_from = next((kind[0] for kind in kinds if isinstance(kind, tuple)), "")
            return function(*positional, to=Output(drawn_from, **told), **given)

        decorated: Command = command
        for kind in reversed(kinds):
            for option in reversed([plot_option(*kind)] if isinstance(kind, tuple) else _OPTIONS[kind]):
                decorated = option(decorated)
        return decorated

    return decorate


@dataclass(frozen=True)
class Output:
    """What the options of a command say of its result: the files to write, and how it is printed."""

    drawn_from: str = ""
    report_path: Path | None = None
    opened: bool = False
    texts: str | None = None
    images: str | None = None
    plots: Sequence[tuple[str, Path]] = ()
    json_path: Path | None = None
    csv_path: Path | None = None
    table_path: Path | None = None
    scale: float = 1.0

    @property
    def instead(self) -> bool:
        """Whether JSON or CSV is printed in the place of the result."""
        return "-" in map(str, (self.json_path, self.csv_path))

    def check(self, *sources: Path | None, **others: Path | None) -> None:
        """Refuse what could not be written before the work begins, and what would replace the input."""
        if self.opened and self.report_path is None:
            raise click.UsageError("--open shows the --report; give --report FILE")
        own = {name: getattr(self, name) for name in ("report_path", "json_path", "csv_path", "table_path")}
        figures = {f"plot {name} {k}" if k else f"plot {name}": path for k, (name, path) in enumerate(self.plots)}
        files = own | figures | others
        check_destinations(files, [each for each in sources if each is not None])

    def write(self, result: Result, *, title: str | None = None, draw: Sequence[Any] = (), **source: Any) -> None:
        """Write what was asked for; ``draw``: what figures are drawn from, if not the result alone."""
        self.report(result, title=title, **source)
        self.draw(*(draw or (result,)))
        for path, make in ((self.json_path, result.to_json), (self.csv_path, result.to_csv)):
            if path is not None and str(path) != "-":
                make(path)
                say_written(path)
        self.table(result)

    def report(self, result: Result, *, title: str | None, files: Iterable[Path] = (), **source: Any) -> None:
        """Write the report of a result, if one is wanted, and show it."""
        if self.report_path is None:
            return
        from abstain.report import Source, write

        command = " ".join(["abstain", *map(shlex.quote, typed)])
        known = Source(files=tuple(dict.fromkeys(files)), command=command, words=as_options, **source)
        write(result, self.report_path, title, known)
        say_written(self.report_path)
        if self.opened:
            import webbrowser

            webbrowser.open(self.report_path.resolve().as_uri())

    def draw(self, *results: Any, note: str = "") -> None:
        """Draw the figures that are wanted and write them."""
        for name, path in self.plots:
            abstain.plots.get(name).draw(self.drawn_from, *results).save(path)
            say_written(path, note)

    def table(self, result: Result | Table) -> None:
        """Write the tables of a result, or one table, in the form that the ending of the file names."""
        path = self.table_path
        if path is not None:
            scale = {} if isinstance(result, Table) else {"scale": self.scale}  # one table is scaled where it is made
            write_text(path, getattr(result, _TABLES[path.suffix.lower()])(**scale).rstrip("\n") + "\n")
            say_written(path)

    def show(self, result: Result, verdict: Verdict | None = None, title: str = "") -> None:
        """Print the result, or what is printed instead."""
        if self.instead:
            click.echo((result.to_json() if str(self.json_path) == "-" else result.to_csv()).rstrip("\n"))
        else:
            print_result(result, self.scale, verdict, title=title)

    def columns_of(self, file: Path) -> Options:
        """Return the columns that are read row by row with the others, empty; refuse what no report will show."""
        given = [name for name in (self.texts, self.images) if name is not None]
        if given and self.report_path is None:
            raise click.UsageError("--texts and --images are shown in a report; give --report FILE")
        return {name: None for name in given if not (name == self.images and _holds_arrays(file))}

    def rows_of(self, file: Path, outputs: abstain.Outputs, columns: Options) -> Options:
        """Return texts and images as a report takes them, by row; ``columns``: what was read of those columns."""
        import numpy as np

        found: Options = {}
        images = self.images
        if self.texts is not None:
            found["texts"] = [str(each) for each in np.asarray(columns[self.texts])]
        if images is not None and _holds_arrays(file):
            with np.load(file, allow_pickle=False) as arrays:
                if images not in arrays.files:
                    raise ValueError(f"{file}: no array {images!r} for --images; it holds {', '.join(arrays.files)}")
                found["images"] = arrays[images]
            if len(found["images"]) != outputs.n:
                raise ValueError(
                    f"{file}: --images {images} holds {len(found['images'])} images for {outputs.n} rows that count, "
                    "so which belongs to which is not known; leave out what selects rows, or name a column of files"
                )
        elif images is not None:
            names = [str(each) for each in np.asarray(columns[images])]
            found["images"] = functools.partial(_image, file, images, names)
        return found


def _holds_arrays(file: Path) -> bool:
    return file.suffix.lower() == ".npz"


def _image(file: Path, column: str, names: list[str], row: int) -> bytes | None:
    """Return the image of a row, read when it is shown; relative names stand next to the file."""
    if not names[row]:
        return None
    path = file.parent / names[row]
    if not path.is_file():
        raise FileNotFoundError(f"{file}: --images {column}: {names[row]!r} is no file")
    return path.read_bytes()


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
        if option == "--table" and path.suffix.lower() not in _TABLES:
            raise ValueError(f"{path}: extension {path.suffix!r} is no table; use {', '.join(_TABLES)}")
        if taken.setdefault(path.absolute(), name) != name:
            other = f"--{taken[path.absolute()].removesuffix('_path').partition(' ')[0]}"
            raise ValueError(f"{path}: is given to both {other} and {option}; choose two names")
