"""``--plugin``: metrics of the user's own, from a module or a file that registers them. Nothing else is imported."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import cleandoc
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


def _show_all(context: click.Context, _option: click.Parameter, given: bool) -> None:
    if given:
        context.meta[_ALL] = True
        click.echo(context.get_help())
        context.exit()


#: Options of every command.
_COMMON = (
    click.Option(
        ["--plugin"], multiple=True, is_eager=True, expose_value=False, metavar="MODULE", callback=_load_all,
        help="Module or .py file that registers metrics of your own; can be given several times.",
    ),
    click.Option(
        ["--verbose"], is_flag=True, expose_value=False, help="Print all that is known.",
        callback=lambda context, _option, given: context.meta.update({"abstain.verbose": given}),
    ),
    click.Option(
        ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all, help="Show all options."
    ),
)  # fmt: skip

#: Where a context keeps that all options are asked for.
_ALL = "abstain.help_all"
#: Options that few need, of whatever command.
_SELDOM = {
    "uncertainty", "quality", "abstained", "should_abstain", "unscored", "is_ood", "ood_label", "abstain_class",
    "cost_matrix", "task", "features", "sample_weight", "class_names", "confidence_levels", "where", "nan_policy",
    "sweep", "denominator", "images", "texts", "population", "at_random", "scale", "table_path", "plots", "opened",
    "plugin", "summary", "against", "unclear", "conditions", "temperature", "max_loss", "second", "prevalence",
    "model", "author", "note", "review_cost", "capacity", "adjust", "equivalent", "as_of", "returning", "run_length",
    "since_first", "again", "accepted_only", "unlabelled", "maturity", "period", "n_permutations", "also", "layout",
    "group", "ood", "zone", "region", "judge", "other", "seed", "n_resamples", "csv_path", "ids", "clusters",
    "accelerator", "devices", "strategy", "precision", "logger", "workers", "level", "grid", "restarts", "restart",
    "when", "window", "unseen", "max_cluster", "ood_share", "reserve", "add_group", "drawn", "label_probability",
}  # fmt: skip
_OUTPUT = {
    "json_path", "as_json", "csv_path", "table_path", "report_path", "opened", "plots", "output", "verbose", "scale",
    "images", "texts", "help", "column", "vectors_path", "summary", "help_all", "model", "author", "note",
}  # fmt: skip


def _section_of(name: str) -> str:
    """Return the heading that an option stands under."""
    from abstain.cli._columns import COLUMNS

    if name in COLUMNS or name in ("fit_file", "groups", "by", "plan_file", "time", "ood", "also", "nan_policy"):
        return "Input"
    return "Output" if name in _OUTPUT else "What to compute"


def example_lines(*lines: str) -> str:
    """Text below the options; the control character keeps click from joining the lines."""
    return "\b\n" + "\n".join(("Example:  " if i == 0 else "          ") + line for i, line in enumerate(lines))


class _Helped(click.Command):
    """A command with ``-h`` whatever asks for help: click keeps the option that the first context wanted.

    A generator of pages has no group above the command, whose settings would name the option.
    """

    def get_help_option_names(self, _ctx: click.Context) -> list[str]:
        """Return the two ways to ask."""
        return ["-h", "--help"]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under headings; those that few need only where ``--help-all`` asks for them."""
        every = bool(ctx.meta.get(_ALL))
        sections: dict[str, list[tuple[str, str]]] = {"Input": [], "What to compute": [], "Output": []}
        left_out = 0
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx) if isinstance(each, click.Option) else None
            if record is None:
                continue
            if each.name in _SELDOM and not every:
                left_out += 1
            else:
                sections["Output" if "--help" in each.opts else _section_of(each.name or "")].append(record)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
        if left_out:
            formatter.write_paragraph()
            formatter.write_text(f"{left_out} more options: {ctx.command_path} --help-all")


class Group(_Helped, click.Group):
    """A group of commands, each of which takes ``--plugin``, those of groups inside too."""

    command_class = _Helped

    group_class: Any = type

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and below them the commands with their first sentence in full: click would cut it."""
        super().format_options(ctx, formatter)
        rows = [(name, self.commands[name].get_short_help_str(limit=1000)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command with the common options, and the examples of its docstring below the options."""
        cmd.params += _COMMON
        cmd.help, _, examples = cleandoc(cmd.help or "").partition("\n\nExamples\n--------\n")
        cmd.epilog = example_lines(*examples.splitlines())
        super().add_command(cmd, name)
