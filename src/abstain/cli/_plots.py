"""``--plot`` of all commands, and ``abstain plots``: figures by name, read from the one list of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import abstain
from abstain.cli._group import command
from abstain.cli._show import show_list

#: Figures to draw: name and file.
Wanted = list[tuple[str, Path]]
_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)=(.+)", re.DOTALL)


def plot_option(what: str, usual: str) -> Callable[[Any], Any]:
    """Return the option ``--plot`` of a command whose result is drawn by figures that take ``what``."""

    def parsed(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> Wanted:
        return [_parsed(value, what, usual) for value in values]

    return click.option(
        "--plot", "plots", metavar="[NAME=]FILE", multiple=True, callback=parsed,
        help=f"Write a figure as PNG, SVG or PDF; a NAME of 'abstain plots' [default: {usual}]. May be repeated.",
    )  # fmt: skip


def _parsed(value: str, what: str, usual: str) -> tuple[str, Path]:
    named = _NAMED.fullmatch(value)
    if named is None:
        return usual, Path(value)
    name = named[1].replace("-", "_")
    if what not in abstain.plots.get(name).takes:
        known = ", ".join(abstain.plots.names(what))
        raise ValueError(f"plot {name!r} is not drawn from what this command finds; here are: {known}")
    return name, Path(named[2])


#: The command whose result a figure is drawn from.
COMMANDS = {"evaluation": "evaluate", "comparison": "compare", "threshold": "threshold", "monitoring": "monitor",
            "joint": "joint", "ranking": "study figures", "study": "study figures"}  # fmt: skip


@command.command("plots")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def plots_command(as_json: bool) -> None:
    """List all figures and the commands that draw them; with --json also what each shows, needs, and its source.

    A figure without a command is drawn from Python only.

    Examples
    --------
    abstain plots
    abstain plots --json
    """
    rows: list[tuple[str, ...]] = []
    for each in map(abstain.plots.get, abstain.plots.names()):
        commands = dict.fromkeys(COMMANDS[name] for name in each.takes if name in COMMANDS)
        rows.append((each.name, each.title, ", ".join(commands) or "-", ", ".join(each.takes), each.shows, each.needs,
                     each.source))  # fmt: skip
    show_list(("name", "title", "command", "drawn from", "shows", "needs", "source"), rows, as_json=as_json, shown=3)
