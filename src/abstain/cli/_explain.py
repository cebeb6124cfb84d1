"""``abstain explain``: what a word of a table means; metrics and scores by their declarations, the rest from here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import click

import abstain
from abstain._result import WORDS, arrow, summary, wrapped
from abstain.cli._group import command
from abstain.cli._show import columns

#: Numbers that stand for themselves, as in "at risk 5 %"; those of a name, such as F1, belong to it.
_NUMBERS = re.compile(r"(?<![\w.,])\s*-?\d+([.,]\d+)*(?!\w)\s*%?")


@command.command("explain")
@click.argument("terms", nargs=-1)
def explain_command(terms: tuple[str, ...]) -> None:
    """Say what TERMS of a table or a note mean: metrics, scores, other words; without TERMS, list the words.

    Examples
    --------
    abstain explain augrc 'largest tie'
    abstain explain
    """
    known: dict[str, list[_Entry]] = {}
    spelled: dict[str, str] = {}
    for term, entry in _known() if terms else ():
        known.setdefault(_plain(term), []).append(entry)
        spelled.setdefault(_plain(term), term)
    unknown = [term for term in terms if _plain(term) not in known]
    listed = [entry for term in terms for entry in known.get(_plain(term), ())] if terms else _words().values()
    most = columns()
    for heading, lines in dict.fromkeys(listed):
        click.echo(heading)
        for line in lines:
            click.echo("\n".join(wrapped(f"  {line}", most, "  ")))
    if unknown:
        raise click.UsageError(" ".join(f"{term!r} is no term of a table{_nearest(term, spelled)}" for term in unknown))
    if not terms:
        click.echo("\nMetrics and scores by name, as 'abstain metrics' and 'abstain scores' list them, too.")


def _nearest(term: str, spelled: Mapping[str, str]) -> str:
    """Return which terms may be meant, as they are written; where none is near, how to list them."""
    from difflib import get_close_matches

    near = [spelled[each] for each in get_close_matches(_plain(term), spelled)]
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else "; 'abstain explain' lists all words."


#: A heading and the lines below it.
_Entry = tuple[str, tuple[str, ...]]


def _known() -> Iterator[tuple[str, _Entry]]:
    """Yield every term that can be asked for, as it is written; a term of two meanings has both."""
    for name in [each for each in abstain.scores.names() if each not in WORDS]:
        score = abstain.scores.get(name)
        needs = score.needs if isinstance(score.needs, str) else ", ".join(sorted(score.needs))
        yield name, (name, (summary(score.function), f"Needs {needs}; range {score.range}.", score.source))
    for name in abstain.metrics.names():
        metric = abstain.metrics.get(name)
        span = f"Range {metric.range[0]:g} to {metric.range[1]:.4g} for a 0/1 loss; identifier {metric.identifier}."
        entry = (f"{arrow(metric.label, metric.direction)} ({name})", (summary(metric.function), span, metric.source))
        yield from ((term, entry) for term in _apart((name, name.rpartition(".")[2], metric.label)))
    for names, words in _words().items():
        yield from ((term, words) for term in _apart(names.split("|")))


def _words() -> dict[str, _Entry]:
    return {names: (names.replace("|", ", "), (text,)) for names, text in WORDS.items()}


def _apart(terms: Iterable[str]) -> list[str]:
    """Return terms that are not spelled alike."""
    return list({_plain(term): term for term in reversed([*terms])}.values())


def _plain(term: str) -> str:
    return " ".join(_NUMBERS.sub(" ", term.lower().replace("_", " ")).strip(" ↓↑").split())
