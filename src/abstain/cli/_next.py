"""The command that answers what a result does not, with the columns of this call."""

from __future__ import annotations

import fnmatch
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abstain.cli._columns import COLUMNS, as_option
from abstain.cli._group import command
from abstain.cli._input import column_names, few_valued

if TYPE_CHECKING:
    from abstain.outputs import Outputs
    from abstain.policy import Policy, ScoreReading

Told = dict[str, dict[str, Any]]

#: Stands for a file of rows that had no part in a comparison.
NEW = "NEW_ROWS"
#: Files of more rows are not looked through for columns that may be groups.
LOOKED = 1_000_000
#: What a threshold is asked for where nobody said more.
PROMISE = ("--risk", "0.05", "--delta", "0.05")


def command_line(
    name: str, file: Path | str, columns: Mapping[str, Any], more: Iterable[str] = (), policy: Path | None = None
) -> str:
    """Return a command as it may be typed, for a file with the columns that this call was given.

    Nothing where one of these is no option of that command, such as weights: it would answer another question.
    """
    files = [shlex.quote(str(each)) for each in (policy, file) if each is not None]
    words, context, more = ["abstain", *name.split(), *files], click.get_current_context(), list(more)
    for column in COLUMNS:
        given = context.get_parameter_source(column) is click.core.ParameterSource.COMMANDLINE
        if given and column in columns and as_option(column) not in more:
            if column not in {each.name for each in _target(name, context).params}:
                return ""
            words += _option(as_option(column), columns[column])
    return f"`{' '.join([*words, *map(shlex.quote, more)])}`"


def _target(name: str, context: click.Context) -> click.Command:
    found: Any = command
    for word in name.split():
        found = found.get_command(context, word)
    assert isinstance(found, click.Command)
    return found


def _option(option: str, value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [word for pair in value.items() for word in (option, shlex.quote("=".join(pair)))]
    text = shlex.quote(",".join(value) if isinstance(value, list) else str(value))
    return [f"{option}={text}"] if text.startswith("-") else [option, text]


def after_comparison(
    file: Path | str, columns: Mapping[str, Any], score: str | None = None, groups: str | None = None, *,
    chosen_by: bool = True, named: str = "COLUMN",
) -> Told:  # fmt: skip
    """Return which commands choose a threshold for the winner, and read groups of its file.

    ``chosen_by``: whether the rows of the file told which is best; then a threshold is to be chosen on new ones.
    ``named``: a column that was not read and may be groups.
    """
    from abstain import scores

    computed = score is not None and score.partition("(")[0] in scores.names()
    chosen = [] if score in (None, "confidence") else ["--score" if computed else "--confidence", str(score)]
    by = [] if groups is None else ["--groups", groups]
    scored = [] if score is None else ["--scores", score]
    rows = f"{NEW}{Path(file).suffix}" if chosen_by else file
    return {
        "no threshold": {"how": command_line("threshold", rows, columns, [*chosen, *by, *PROMISE])},
        "groups elsewhere": {"how": command_line("evaluate", file, columns, [*scored, "--groups", named])},
    }


def unread_group(file: Path, outputs: Outputs) -> str:
    """Return the first column that was not read and may be groups; what stands for one where there is none."""
    return next(iter(few_valued(file, () if outputs.reading is None else outputs.reading.unused)), "COLUMN")


def after_few_labels(
    file: Path | str, columns: Mapping[str, Any], score: str | None = None, *, named: str = "COLUMN"
) -> Told:
    """Return the same commands for a file of new rows, all labelled, since few of these have labels."""
    found = after_comparison(f"{NEW}{Path(file).suffix}", columns, score, named=named)
    groups = found["groups elsewhere"]["how"]
    return {"no threshold": found["no threshold"], **({"few labels": {"groups": groups}} if groups else {})}


def by_score(how: ScoreReading | Policy) -> Told:
    """Return the name of the score for sentences about a threshold, which is chosen without knowing it.

    Of an uncertainty the threshold is one of its negative.
    """
    name = how.score
    compared = f"minus {name}" if how.reading.get("uncertainty") == name else name
    return {"threshold": {"scored": f"{compared} "}, "usefulness": {"score": name}, "ranking": {"score": name},
            "policy watched": {"score": compared}}  # fmt: skip


def by_group(
    file: Path, columns: Mapping[str, Any], score: str | None, groups: list[str], risk: float | None
) -> Told:  # fmt: skip
    """Return which command chooses a threshold, for each group where there are some, if one of all does not do."""
    from abstain import scores

    context = click.get_current_context()
    finished = context.get_parameter_source("confidence") is click.core.ParameterSource.COMMANDLINE
    computed = score is not None and score.partition("(")[0] in scores.names()
    if score is None or len(groups) > 1 or (computed and finished):
        return {}
    asked, by = 0.2 if risk is None else risk, ["--groups", *groups] if groups else []  # of none the largest tried
    more = [] if score in ("confidence", "msp") else ["--score" if computed else "--confidence", score]
    how = command_line("threshold", file, columns, [*more, *by, "--risk", f"{asked:g}", *PROMISE[2:]])
    if not how:
        return {}
    also = ", or a threshold for each group," if groups else ""
    return {"ladder": {"how": how, "by": also}} if risk is None or not groups else {"groups at it": {"how": how}}


def after_broken(policy: Policy, file: Path, known: Mapping[str, Any]) -> Told:
    """Return which command chooses a new threshold, for new rows that are read as those of a broken promise were.

    ``known``: how these are read. Nothing where the command could not be typed as shortly, as of two scores.
    """
    context, more, promise = click.get_current_context(), list[str](), policy.guarantee
    given = {name: value for name, value in known.items() if value is not None}
    if promise is None or policy.second is not None or promise.max_loss != 1.0:
        return {}
    for name, value in given.items():
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            continue
        text = _pattern(file, value) if name in ("logits", "probabilities") else value
        if not isinstance(text, str):
            return {}
        more += [as_option(name), text]
    more += ["--score", policy.score] if policy.inputs and policy.score != "msp" else []
    more += ["--temperature", str(policy.temperature)] if policy.temperature is not None else []
    more += ["--groups", policy.group] if policy.group is not None else []
    more += ["--risk", f"{promise['risk']:g}", "--delta", f"{promise['delta']:g}"]
    how = command_line("threshold", f"{NEW}{file.suffix}", given, more)
    return {"promise watched": {"how": how}} if how else {}


def _pattern(file: Path, names: list[str]) -> str | None:
    """Return the pattern that finds these columns, and no others, in a file."""
    pattern = f"{names[0].rstrip('0123456789')}*"
    found = sorted(fnmatch.filter(column_names(file), pattern))
    return pattern if len(names) > 1 and len(pattern) > 1 and found == sorted(names) else None


def unread_groups(
    name: str, file: Path, outputs: Outputs, columns: Mapping[str, Any], more: Iterable[str] = (),
    policy: Path | None = None,
) -> Told:  # fmt: skip
    """Return which columns that were not read may be groups, and the command ``name`` that tells of the first one.

    With a ``policy``, which is live already, they say nothing about going live.
    """
    if outputs.n > LOOKED:
        return {}
    found = few_valued(file, () if outputs.reading is None else outputs.reading.unused)
    if not found:
        return {"no groups": {"how": command_line(name, file, columns, [*more, "--groups", "COLUMN"], policy)}}
    first = next(iter(found))
    how = command_line(name, file, columns, [*more, "--groups", first], policy) or f"'abstain {name}' with --groups"
    names = [f"{column} ({count} values)" for column, count in found.items()]
    promises = ("threshold", "promise") if policy is None else ()
    return {"no groups": {"names": names, "how": how}} | {
        about: {"unread": list(found), "look": how} for about in promises
    }


def together(*each: Told) -> Told:
    """Return the fields that several functions tell, of each fact those of all."""
    about = dict.fromkeys(name for told in each for name in told)
    return {name: {key: value for told in each for key, value in told.get(name, {}).items()} for name in about}
