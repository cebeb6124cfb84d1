"""``abstain conformance``: what another implementation of a metric computes, case by case."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from abstain.cli._group import command
from abstain.cli._output import Output, writes
from abstain.cli._show import say_written, show_list


@command.command("conformance")
@click.argument("implementation", required=False)
@click.option("--metric", help="What it computes; without one all metrics are listed.")
@click.option("--call", metavar="EXPRESSION", help="What is passed: 'confidence, loss', or an expression of f.")
@click.option(
    "--arrays", type=click.Choice(["numpy", "torch", "list"]), default="numpy", show_default=True,
    help="What columns are passed as.",
)  # fmt: skip
@click.option("--command", "program", help="A program that reads JSON and writes a number, in place of IMPLEMENTATION.")
@click.option("--tolerance", default=1e-6, show_default=True, help="How far a value may be from the exact answer.")
@click.option("--vectors", "vectors_path", type=Path, help="Write the vectors, to use them without abstain.")
@writes("json", "table")
@click.pass_context
def conformance_command(
    context: click.Context, /, implementation: str | None, metric: str | None, call: str | None, arrays: Any,
    program: str | None, tolerance: float, vectors_path: Path | None, to: Output,
) -> None:  # fmt: skip
    """Say which definition another implementation of a metric follows; exit code 0 if it agrees in every case, else 1.

    IMPLEMENTATION is package.module:name or FILE.py:name, a function or a class with update and compute. It is
    imported and run, so give only code that you trust.

    Examples
    --------
    abstain conformance my.metrics:aurc --metric aurc --call 'confidence, loss'
    abstain conformance mapie.metrics.uncertainty:auarc --metric aurc --call '1 - f(correct, confidence)'
    abstain conformance --command './aurc.R' --metric aurc --json aurc.json
    """
    from abstain.conformance import check, check_command, vectors

    to.check(vectors=vectors_path)
    if vectors_path is not None:
        _write(vectors_path)
    if metric is None:
        if implementation or program:
            raise click.UsageError(
                "--metric is missing: which metric does it compute? 'abstain conformance' lists them"
            )
        if vectors_path is None:
            rows: list[tuple[str, ...]] = [
                (name, each["kind"], ", ".join(each["definitions"]), each["title"])
                for name, each in vectors()["metrics"].items()
            ]
            show_list(("name", "columns of", "definitions", "title"), rows, as_json=False, shown=3)
        return
    if (implementation is None) == (program is None):
        raise click.UsageError("give a IMPLEMENTATION or a --command, and not both")
    if program is not None:
        if call is not None:
            raise click.UsageError("--call is for a IMPLEMENTATION; a --command reads all columns by name")
        found = check_command(program, metric, tolerance=tolerance)
    else:
        sys.path.insert(0, os.getcwd())
        found = check(implementation, metric, call=call, arrays=arrays, tolerance=tolerance)
    to.write(found)
    to.show(found)
    context.exit(0 if found.passed else 1)


def _write(path: Path) -> None:
    from importlib.resources import files

    from abstain._files import write_text

    write_text(path, (files("abstain.conformance") / "vectors.json").read_text("utf-8"))
    say_written(path)
