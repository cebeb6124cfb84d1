"""``--report`` and ``--open`` of all commands: the decision report of a result."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from abstain._result import Result

#: What was typed in this run; a report names it.
typed: list[str] = []


def report_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a report."""
    for option in (
        click.option("--open", "opened", is_flag=True, help="Show the --report in the browser."),
        click.option("--report", "report_path", type=Path, metavar="FILE",
                     help="Write the decision report, one page: .html, .md or .json."),
    ):  # fmt: skip
        function = option(function)
    return function


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
