"""Options that say which column of a file is what, declared once for all commands."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

#: Arguments of ``read_outputs`` that are options of the commands, each with its help.
COLUMNS = {
    "labels": "Column of true classes.  [found by name: label, y, y_true, target, ...]",
    "logits": "Columns or array of logits: a name or a pattern such as 'logit_*'.",
    "probabilities": "Columns or array of class probabilities: a name or a pattern such as 'p_*'.",
    "predictions": "Column of predicted classes.",
    "confidence": "Column of confidence, higher = surer; numbers, per cent or words.",
    "uncertainty": "Column of uncertainty, higher = less sure: its negative is the confidence.",
    "positive_probability": "Column of the probability of the second of two classes.",
    "loss": "Column of losses >= 0; default: 0/1 from labels and predictions.",
    "correct": "Column of verdicts: 1 and 0, or words such as correct, wrong, abstained.",
    "quality": "Column of qualities in [0, 1]: the loss is 1 minus it.",
    "abstained": "Column that says which questions the model itself did not answer.",
    "should_abstain": "Column that says which questions have no answer.",
    "unscored": "What answers without a verdict are: wrong, or dropped.",
    "is_ood": "Column that marks rows out of distribution; left out, but by 'joint'.",
    "ood_label": "Label that marks rows out of distribution, such as -1.",
    "abstain_class": "Class column that means 'I abstain' (Deep Gamblers): its place or name.",
    "cost_matrix": "What wrong answers cost: 'ill=50,well=1', 'ill:well=50', or a CSV table, label x prediction.",
    "task": "Of numbers or several labels per row: regression, regression-absolute, multilabel, multilabel-exact.",
    "features": "Columns or array of features, for scores such as knn.",
    "ids": "Column of sample identifiers.",
    "clusters": "Column of clusters (patients, images, ...).",
    "sample_weight": "Column of sample weights.",
    "class_names": "Classes in the order of their columns, by commas; for labels that are text.",
    "confidence_levels": "Words of confidence from least to most sure, by commas.",
    "where": "Only rows whose column has this value, as COLUMN=VALUE; may be repeated.",
}

#: Arguments that say which rows and classes count: they hold for every file of a call.
ROWS = ("where", "is_ood", "ood_label", "abstain_class", "class_names")
#: Arguments that say what predicts, and from what scores are computed.
MODEL = ("labels", "logits", "probabilities", "features", *ROWS)
#: Arguments that say what is right.
ANSWERS = (
    "predictions", "cost_matrix", "task", "loss", "correct", "quality", "abstained", "should_abstain", "unscored",
    "positive_probability",
)  # fmt: skip
#: Arguments that say how sure the model is.
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
        return click.option(option, name, callback=_words, help=text)
    return click.option(option, name, help=text)


def _words(_context: Any, _option: Any, text: str | None) -> list[str] | None:
    from abstain.cli._group import words

    return words(text) or None


def _where(_context: Any, _option: Any, pairs: Iterable[str]) -> dict[str, str] | None:
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
