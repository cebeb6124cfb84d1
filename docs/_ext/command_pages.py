"""Write the page of all options: what ``--help`` says of every command, which is declared with the command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from pages import before_reading, heading, write_all

from abstain.cli import command

#: Columns of the text on the page.
WIDTH = 100


def commands(each: Any = command, name: str = "abstain") -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, with its whole name."""
    if not isinstance(each, click.Group):
        yield name, each
        return
    for word in each.list_commands(click.Context(each)):
        yield from commands(each.get_command(click.Context(each), word), f"{name} {word}")


def help_of(name: str, each: Any) -> str:
    """Return what ``--help-all`` prints."""
    context = click.Context(each, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
    context.meta["abstain.help_all"] = True
    return each.get_help(context).rstrip()


def page() -> str:
    """Return the page."""
    parts = [heading("All options", "="), "What ``--help-all`` prints. :doc:`/cli` says what needs more than a line.\n"]
    for name, each in commands():
        text = "\n".join(f"   {line}".rstrip() for line in help_of(name, each).splitlines())
        parts += [heading(name, "-"), ".. code-block:: text\n", text, ""]
    return "\n".join(parts)


def generate(folder: Path) -> None:
    """Write the page into a folder."""
    write_all(folder, {"options.rst": page()})


setup = before_reading(cli=generate)
