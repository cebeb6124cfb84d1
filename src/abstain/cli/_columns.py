"""Options that say which column of a file is what, as ``abstain.outputs.Columns`` declares them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from abstain.outputs import described

#: Arguments of ``read_outputs`` that are options of the commands, each with its help.
COLUMNS = described()

#: Arguments that say which rows and classes count: they hold for every file of a call.
ROWS = ("where", "is_ood", "ood_label", "abstain_class", "class_names")
#: Arguments that say what predicts, and from what scores are computed.
MODEL = ("labels", "logits", "probabilities", "features", *ROWS)
#: Arguments that say what is right.
ANSWERS = (
    "predictions", "cost_matrix", "task", "loss", "correct", "quality", "abstained", "should_abstain", "unscored",
    "positive_probability",
)  # fmt: skip
#: Arguments that say how confident the model is.
SURE = ("confidence", "uncertainty", "confidence_levels")
#: Arguments that name what a row is.
SAMPLE = ("ids", "clusters", "sample_weight")

_LISTS = ("class_names", "confidence_levels")


def reads(*arguments: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add options for these arguments to a command, which gets them as one dict ``columns``."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def command(*positional: Any, **given: Any) -> Any:
            columns = {name: given.pop(name) for name in arguments}
            return function(*positional, columns=columns, **given)

        decorated: Callable[..., Any] = command
        for name in reversed([each for each in COLUMNS if each in arguments]):
            decorated = _option(name)(decorated)
        return decorated

    return decorate


def as_option(argument: str) -> str:
    """Return an argument of the library as an option of the command."""
    return f"--{argument.replace('_', '-')}"


def _option(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    option, text = as_option(name), COLUMNS[name]
    if name == "where":
        return click.option(option, name, multiple=True, callback=_where, help=text)
    if name == "unscored":
        return click.option(option, name, type=click.Choice(["wrong", "drop"]), help=text)
    if name in _LISTS:
        return click.option(option, name, callback=lambda _context, _option, given: words(given) or None, help=text)
    return click.option(option, name, help=text)


def words(text: str | None) -> list[str]:
    """Return the words of a comma-separated option."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def _where(_context: click.Context, _option: click.Parameter, pairs: Iterable[str]) -> dict[str, str] | None:
    found = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            raise click.UsageError(f"--where takes COLUMN=VALUE, got {pair!r}")
        found[name.strip()] = value.strip()
    return found or None


def shared(columns: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the arguments of these names: what another file of the same model has, too."""
    return {name: columns[name] for name in names if name in columns}
