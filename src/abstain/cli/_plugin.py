"""``--plugin``: metrics of the user's own, from a module or a file that registers them. Nothing else is imported."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import click


def load(name: str) -> None:
    """Import a module by name, or a Python file by path; what it registers is known from then on."""
    if not name.endswith(".py"):
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise  # a module that the plugin needs
            raise click.UsageError(
                f"--plugin {name}: there is no such module; give one that Python finds, or a path to a .py file"
            ) from None
        return
    path = Path(name).resolve()
    if not path.is_file():
        raise click.UsageError(f"--plugin {name}: there is no such file")
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    if path.stem in sys.modules:
        known = getattr(sys.modules[path.stem], "__file__", None)
        if known is not None and Path(known).resolve() == path:
            return
        raise click.UsageError(f"--plugin {name}: a module {path.stem!r} is loaded already; choose another file name")
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)


def _load_all(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> None:
    for name in names:
        load(name)


class _Helped(click.Command):
    """A command with ``-h`` whatever asks for help: click keeps the option that the first context wanted.

    A generator of pages has no group above the command, whose settings would name the option.
    """

    def get_help_option_names(self, _ctx: click.Context) -> list[str]:
        """Return the two ways to ask."""
        return ["-h", "--help"]


class Group(_Helped, click.Group):
    """A group of commands, each of which takes ``--plugin``, those of groups inside too."""

    command_class = _Helped
    group_class: Any = type

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their first sentence in full: click would cut it."""
        rows = [(name, self.commands[name].get_short_help_str(limit=1000)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, with the option."""
        cmd.params += [_option(), _verbose()]
        super().add_command(cmd, name)


def _verbose() -> Any:
    def keep(context: click.Context, _option: click.Parameter, given: bool) -> None:
        context.meta["abstain.verbose"] = given

    return click.Option(["--verbose"], is_flag=True, expose_value=False, callback=keep, help="Print all that is known.")


def _option() -> Any:
    return click.Option(
        ["--plugin"],
        multiple=True,
        is_eager=True,
        expose_value=False,
        metavar="MODULE",
        callback=_load_all,
        help="Module or .py file that registers metrics of your own; can be given several times.",
    )
