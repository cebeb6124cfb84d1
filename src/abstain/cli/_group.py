"""The ``abstain`` command itself, to which every file of commands adds its own, and small words for all of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

import click

from abstain._version import __version__
from abstain.cli._plugin import Group, example_lines

#: Options of a command by argument, as click gives them and functions of the library take them.
Options: TypeAlias = dict[str, Any]
Command: TypeAlias = Callable[..., Any]

#: Files of commands, in the order in which they are loaded until one has added the command that is called.
_FILES = (
    "_commands", "_thresholds", "_compare", "_monitor", "_live", "_policy", "_joint", "_labels", "_summarize",
    "_explain", "_plots", "_conformance", "_study", "_train",
)  # fmt: skip


class _Root(Group):
    """The command itself, which loads the files of its commands when they are needed."""

    group_class = Group  # of groups inside

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; what comes after it in the list need not be loaded."""
        for file in _FILES:
            if cmd_name in self.commands:
                break
            import_module(f"abstain.cli.{file}")
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """Return the names of all commands."""
        for file in _FILES:
            import_module(f"abstain.cli.{file}")
        return sorted(self.commands)


@click.group(
    cls=_Root,
    context_settings={"max_content_width": 100},
    epilog=example_lines("abstain demo", "abstain evaluate predictions.csv --report report.html"),
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def command() -> None:
    """Measure and defend the reject option of a classifier: risk, coverage, abstention."""


def options(*every: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds these options to a command, in this order."""

    def decorate(function: Any) -> Any:
        for each in reversed(every):
            function = each(function)
        return function

    return decorate
