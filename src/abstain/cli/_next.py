"""What the command line adds to a verdict: the columns that it did not read, and the command that goes on."""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import abstain
from abstain._result import Caveat, Status, Verdict
from abstain.cli._columns import COLUMNS, as_option
from abstain.cli._group import command
from abstain.cli._input import column_names, fractions, values_of

#: Stands for a file of rows that had no part in a comparison.
NEW = "NEW_ROWS"
#: Files of more rows are not looked through for columns that may be groups.
LOOKED = 1_000_000
#: So many columns that were not read are looked at; what may be a group has at most so many values.
_LOOKED_AT, _VALUES = 20, 40
#: Names of columns that identify rows, or say what a model answered.
_NO_GROUPS = re.compile(
    r"(.*_)?(id|ids|uuid|guid|index|idx|row|pred(s|icted|iction|ictions)?|y_?hat|answers?|outputs?|decision|decided|accepted)(_.*)?"
)
#: A column that agrees with the predictions, or the labels, beyond chance as much as this (Cohen's kappa) is one.
_AGREES = 0.5
#: What a threshold is asked for where nobody said more.
GUARANTEE = ("--risk", "0.05", "--delta", "0.05")


def command_line(name: str, file: Path | str, columns: Mapping[str, object], more: Iterable[str] = ()) -> str | None:
    """Return a command as it may be typed, for a file with the columns that this call was given.

    None where one of these is no option of that command, such as weights: it would answer another question.
    """
    context, more = click.get_current_context(), list(more)
    words = ["abstain", *name.split(), shlex.quote(str(file))]
    known = {each.name for each in _target(name, context).params}
    for column in COLUMNS:
        given = context.get_parameter_source(column) is click.core.ParameterSource.COMMANDLINE
        if given and column in columns and as_option(column) not in more:
            if column not in known:
                return None
            words += _option(as_option(column), columns[column])
    return " ".join([*words, *map(shlex.quote, more)])


def _target(name: str, context: click.Context) -> click.Command:
    found: Any = command
    for word in name.split():
        found = found.get_command(context, word)
    assert isinstance(found, click.Command)
    return found


def _option(option: str, value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [word for pair in value.items() for word in (option, shlex.quote("=".join(pair)))]
    text = shlex.quote(",".join(value) if isinstance(value, list) else str(value))
    return [f"{option}={text}"] if text.startswith("-") else [option, text]


def scored_by(score: str | None) -> list[str]:
    """Return the option of ``abstain threshold`` that names a score: one to compute, or a column."""
    if score in (None, "", "confidence", "msp"):
        return []
    computed = str(score).partition("(")[0] in abstain.scores.names()
    return ["--score" if computed else "--confidence", str(score)]


def scored_as(verdict: Verdict, how: abstain.policy.ScoreReading) -> Verdict:
    """Return the verdict with the name of the score, of an uncertainty its negative."""
    return replace(verdict, score=f"minus {how.score}" if how.reading.get("uncertainty") == how.score else how.score)


def suffix_of(file: Path | str) -> str:
    """Return the ending of a file; a folder is one of Parquet files."""
    return Path(file).suffix or ".parquet"


def apply_line(policy: Path, file: Path) -> str:
    """Return the command that decides new rows; a log of another tool is read, but not written."""
    kind = suffix_of(file)
    written = ".csv" if kind in (".eval", ".json") else kind
    return f"abstain apply {shlex.quote(str(policy))} {NEW}{kind} -o decided{written}"


def with_threshold(
    verdict: Verdict, file: Path | str, columns: Mapping[str, object], score: str | None, *, new: bool = False,
    groups: Iterable[str] = (),
) -> Verdict:  # fmt: skip
    """Return the verdict with the command that chooses a threshold; ``new``: on rows that are still to come.

    One of an evaluation asks for the limit that is certified; for each group where one threshold for all will not do.
    """
    if verdict.status is Status.NO_USE:
        return verdict  # no threshold is recommended where none is shown to help
    risk = 0.05
    if verdict.status is Status.NOT_CERTIFIED:
        risk = min((each.limit for each in verdict.levels), default=0.2)
    failing = {"group_above", "group_unclear"} & {each.kind for each in verdict.caveats}
    by = ["--groups", *groups] if groups and (failing or verdict.status is Status.COMPARED) else []
    rows = f"{NEW}{suffix_of(file)}" if new else file
    more = [*scored_by(score), *by, "--risk", f"{risk:g}", *GUARANTEE[2:], "-o", "policy.json"]
    return replace(verdict, next=command_line("threshold", rows, columns, more))


def with_unread_groups(verdict: Verdict, file: Path, outputs: abstain.Outputs, command: str = "") -> Verdict:
    """Return the verdict with the columns that were not read and may be groups; ``command``: what reads them."""
    if outputs.n > LOOKED or not any(each.kind == "groups_missing" for each in verdict.caveats):
        return verdict
    found = group_columns(file, outputs)
    how = f"{command} --groups {found[0] if found else 'COLUMN'}".lstrip()
    said = Caveat.of("groups_unread", names=found, how=how) if found else Caveat.of("groups_missing", how=how)
    return verdict.but(said, instead=["groups_missing"])


def with_groups_first(verdict: Verdict, file: Path, columns: Mapping[str, object], scores: list[str]) -> Verdict:
    """Return the verdict with the command that reads the groups, where they should be read before a threshold."""
    unread = [each.values["names"][0] for each in verdict.caveats if each.kind == "groups_unread"]
    if not unread or verdict.sign != "care":
        return verdict
    more = [*(["--scores", ",".join(scores)] if scores else []), "--groups", unread[0]]
    return replace(verdict, next=command_line("evaluate", file, columns, more))


def after_violation(verdict: Verdict, policy: abstain.policy.Policy, file: Path, known: Mapping[str, Any]) -> Verdict:
    """Return the verdict with the command that chooses a new threshold, for new rows read as those of the policy were.

    ``known``: how these are read. No command where it could not be typed as shortly, as of two scores.
    """
    context, more, guarantee = click.get_current_context(), list[str](), policy.guarantee
    given = {name: value for name, value in known.items() if value is not None}
    if guarantee is None or policy.second is not None or guarantee.max_loss != 1.0:
        return verdict
    for name, value in given.items():
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            continue
        text = _pattern(file, value) if name in ("logits", "probabilities") else value
        if not isinstance(text, str):
            return verdict
        more += [as_option(name), text]
    more += ["--score", policy.score] if policy.inputs and policy.score != "msp" else []
    more += ["--temperature", str(policy.temperature)] if policy.temperature is not None else []
    more += ["--groups", policy.group] if policy.group is not None else []
    more += ["--risk", f"{guarantee.risk:g}", "--delta", f"{guarantee.delta:g}"]
    return replace(verdict, next=command_line("threshold", f"{NEW}{file.suffix}", given, more))


def _pattern(file: Path, names: list[str]) -> str | None:
    """Return the pattern that finds these columns, and no others, in a file."""
    pattern = f"{names[0].rstrip('0123456789')}*"
    found = sorted(fnmatch.filter(column_names(file), pattern))
    return pattern if len(names) > 1 and len(pattern) > 1 and found == sorted(names) else None


def group_columns(file: Path, outputs: abstain.Outputs) -> list[str]:
    """Return the columns that were not read and may be groups: of few values, each of ten rows on average or more.

    Identifiers have more values than that, and measured values are fractions; what looks like a prediction is none.
    """
    names = () if outputs.reading is None else outputs.reading.unused
    found: list[str] = []
    for name, values in values_of(
        file, [each for each in names if not _NO_GROUPS.fullmatch(each.lower())][:_LOOKED_AT]
    ):
        kinds = set(values.tolist())
        few = 1 < len(kinds) <= min(_VALUES, len(values) / 10)
        if few and not fractions(kinds) and not _answers(values, outputs):
            found.append(name)
    return found


def _answers(values: Any, outputs: abstain.Outputs) -> bool:
    """Whether a column says what is right: by it alone, or as it agrees with the labels or with the predictions."""
    import numpy as np

    if len(values) != outputs.n:
        return False
    loss = outputs.loss_per_sample().tolist()
    if len(set(zip(values.tolist(), loss, strict=True))) == len(set(values.tolist())) == len(set(loss)):
        return True  # another word for each loss
    if outputs.labels is None:
        return False
    names = np.array(outputs.class_names or [str(each) for each in range(outputs.n_classes or 0)])
    for each in (np.asarray(outputs.labels), outputs.predicted()):
        if each.min() < 0 or each.max() >= len(names):
            continue
        other = names[each]
        by_chance = sum(float(np.mean(values == name)) * float(np.mean(other == name)) for name in names)
        agreement = float(np.mean(values == other))
        if (agreement - by_chance) / (1.0 - by_chance) > _AGREES:
            return True
    return False
