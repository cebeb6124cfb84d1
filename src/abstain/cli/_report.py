"""``--report`` of all commands: the decision report of a result, with texts and images of its rows."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abstain.cli._group import options

if TYPE_CHECKING:
    from abstain._result import Result
    from abstain.outputs import Outputs

#: What was typed in this run; a report names it.
typed: list[str] = []


#: Of every command that writes a report.
report_options = options(
    click.option(
        "--report",
        "report_path",
        type=Path,
        metavar="FILE",
        help="Write the decision report, one page: .html, .md or .json.",
    ),
    click.option("--open", "opened", is_flag=True, help="Show the --report in the browser."),
)
#: Of commands whose report may show what the rows were.
shown_options = options(
    click.option("--texts", help="Of --report: column of texts, next to the most confident failures."),
    click.option("--images", help="Of --report: column of image files, or array of a .npz, next to failures."),
)


def check_opened(report_path: Path | None, opened: bool) -> None:
    """Refuse to open what is not written."""
    if opened and report_path is None:
        raise click.UsageError("--open shows the --report; give --report FILE")


def write_report(
    result: Result, report_path: Path | None, opened: bool, *, files: Iterable[Path] = (), title: str | None = None,
    **source: Any,
) -> None:  # fmt: skip
    """Write the report of a result, if one is wanted, and show it."""
    if report_path is None:
        return
    from abstain.cli._options import as_options
    from abstain.report import Source, write

    command = " ".join(["abstain", *map(shlex.quote, typed)])
    known = Source(files=tuple(dict.fromkeys(files)), command=command, words=as_options, **source)
    write(result, report_path, title, known)
    click.echo(f"wrote {report_path}", err=True)
    if opened:
        import webbrowser

        webbrowser.open(report_path.resolve().as_uri())


def columns_of(file: Path, report_path: Path | None, texts: str | None, images: str | None) -> dict[str, Any]:
    """Return the columns that have to be read row by row with the others, empty; refuse what no report will show."""
    given = [name for name in (texts, images) if name is not None]
    if given and report_path is None:
        raise click.UsageError("--texts and --images are shown in a report; give --report FILE")
    return {name: None for name in given if not (name == images and _holds_arrays(file))}


def source_of(
    file: Path, outputs: Outputs, columns: dict[str, Any], texts: str | None, images: str | None
) -> dict[str, Any]:
    """Return texts and images as a report takes them, by row; ``columns``: what was read of those columns."""
    import numpy as np

    found: dict[str, Any] = {}
    if texts is not None:
        found["texts"] = [str(each) for each in np.asarray(columns[texts])]
    if images is not None and _holds_arrays(file):
        with np.load(file, allow_pickle=False) as arrays:
            if images not in arrays.files:
                raise ValueError(f"{file}: no array {images!r} for --images; it holds {', '.join(arrays.files)}")
            pictures = arrays[images]
        if len(pictures) != outputs.n:
            raise ValueError(
                f"{file}: --images {images} holds {len(images)} images for {outputs.n} rows that count, so which "
                "belongs to which is not known; leave out what selects rows, or name a column of files"
            )
        found["images"] = pictures
    elif images is not None:
        found["images"] = _Files(file, images, [str(each) for each in np.asarray(columns[images])])
    return found


class _Files:
    """Images of rows as bytes, read when they are shown; relative names stand next to the file."""

    def __init__(self, file: Path, column: str, names: list[str]) -> None:
        self.file, self.column, self.names = file, column, names

    def __call__(self, row: int) -> bytes | None:
        name = self.names[row]
        if not name:
            return None
        path = self.file.parent / name
        if not path.is_file():
            raise FileNotFoundError(f"{self.file}: --images {self.column}: {name!r} is no file")
        return path.read_bytes()


def _holds_arrays(file: Path) -> bool:
    return file.suffix.lower() == ".npz"
