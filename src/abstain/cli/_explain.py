"""``abstain explain``: what a word of a table means; metrics and scores by their declarations, the rest from here."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from abstain._result import WORDS, arrow, summary, wrapped
from abstain.cli._group import command, example_lines
from abstain.cli._show import columns

_NUMBERS = re.compile(r"\s*-?\d+(\.\d+)?\s*%?")


@command.command("explain", epilog=example_lines("abstain explain augrc 'largest tie'", "abstain explain"))
@click.argument("terms", nargs=-1)
def explain_command(terms: tuple[str, ...]) -> None:
    """Say what TERMS of a table or a note mean: metrics, scores, other words; without TERMS, list the words."""
    known: dict[str, list[_Entry]] = {}
    for term, entry in _known() if terms else ():
        known.setdefault(term, []).append(entry)
    for term in terms:
        if _plain(term) not in known:
            from abstain._checks import closest

            raise click.UsageError(f"{term!r} is no term of a table; {closest(_plain(term), known)}")
    listed = [entry for term in terms for entry in known[_plain(term)]] if terms else _words().values()
    most = columns()
    for heading, lines in dict.fromkeys(listed):
        click.echo(heading)
        for line in lines:
            click.echo("\n".join(wrapped(f"  {line}", most, "  ")))
    if not terms:
        click.echo("\nMetrics and scores by name, as 'abstain metrics' and 'abstain scores' list them, too.")


#: A heading and the lines below it.
_Entry = tuple[str, tuple[str, ...]]


def _known() -> Iterator[tuple[str, _Entry]]:
    """Yield every term that can be asked for; a term of two meanings has both."""
    from abstain import metrics, scores

    for name in [each for each in scores.names() if each not in WORDS]:
        score = scores.get(name)
        needs = score.needs if isinstance(score.needs, str) else ", ".join(sorted(score.needs))
        yield _plain(name), (name, (summary(score.function), f"Needs {needs}; range {score.range}.", score.source))
    for name in metrics.names():
        metric = metrics.get(name)
        span = f"Range {metric.range[0]:g} to {metric.range[1]:.4g} for a 0/1 loss; identifier {metric.identifier}."
        entry = (f"{arrow(metric.label, metric.direction)} ({name})", (summary(metric.function), span, metric.source))
        for term in dict.fromkeys(map(_plain, (name, name.rpartition(".")[2], metric.label))):
            yield term, entry
    yield from _words().items()


def _words() -> dict[str, _Entry]:
    entries = {names: (names.replace("|", ", "), (text,)) for names, text in WORDS.items()}
    return {_plain(name): entry for names, entry in entries.items() for name in names.split("|")}


def _plain(term: str) -> str:
    return " ".join(_NUMBERS.sub(" ", term.lower().replace("_", " ")).strip(" ↓↑").split())
