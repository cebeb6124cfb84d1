"""``abstain explain``: what a word of a table means; metrics and scores by their declarations, the rest from here."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from abstain._result import arrow, wrapped
from abstain.cli._group import command, example_lines
from abstain.cli._show import columns

#: What tables and notes say beside the names of metrics and scores: other spellings after a bar.
WORDS = {
    "loss": "What a row costs: 0 for a right answer and 1 for a wrong one, or any number from 0 on.",
    "confidence": "A number per row that is higher where the model is surer; rows with the highest are accepted first. "
    "Any scale will do. The probability of class 1 is none, an uncertainty is the negative of one.",
    "threshold|accept if score >=": "The least score that is accepted; what lies below is rejected, that is, left to "
    "somebody else.",
    "n": "Number of rows.",
    "coverage|accepted": "Share of the rows that are accepted.",
    "risk at most": "A limit that the risk of what is accepted keeps with the stated probability.",
    "rejected": "Not answered, because the score lies below the threshold.",
    "abstained": 'Not answered by the model itself, whatever a threshold says: "I don\'t know", a refusal.',
    "unscored": "Answered, but nobody could say whether rightly: no verdict, or one that could not be read.",
    "answered": "Share of the judged questions to which the model gave an answer.",
    "accuracy of answers": "Share of the answers that are right: abstentions do not count.",
    "over-refusal": "Share of the questions with an answer on which the model abstained; needs should_abstain.",
    "missed abstention": "Share of the questions without an answer that it answered; needs should_abstain.",
    "distinct scores": "How many different scores there are, per row. Rows of one score cannot be told apart.",
    "largest tie": "Most rows that share one score: they are accepted together or not at all.",
    "in brackets|interval": "Where the value of the whole population may well lie, at the stated level.",
    "pointwise": "Holds for each number alone, not for all of them together.",
    "τ|coverage at τ|risk at τ": "The one threshold at which groups are compared: that which accepts 80 % of all rows.",
    "oracle": "The best ranking of the same losses: every right answer above every wrong one.",
    "excess": "What lies above the oracle.",
    "cluster": "Rows that belong together, such as pictures of one patient; they count as dependent.",
    "promise": "What holds of new rows from the same source, with probability 1 - delta over the calibration rows.",
    "delta": "The probability that a promise is wrong.",
    "fallback": "A certificate that tests thresholds from many fixed starting points, each with a share of delta.",
    "evidence": "How much the rows so far speak against the promise: chance alone reaches the alarm with probability "
    "delta at most, however often one looks.",
    "drifted": "Coverage or scores are no longer those of the calibration rows.",
    "ID": "In distribution: rows of the kind that the model was made for.",
    "OOD": "Out of distribution: rows of another kind, on which no answer is right.",
    "detector": "A score that tells ID from OOD rows.",
    "DS": "Double score: two thresholds at once, on the confidence and on a detector.",
    "noise|null gain": "The gain of a useless second score, the same one permuted: a gain no larger says nothing.",
    "gain": "How much two scores are better than the confidence alone.",
    "letters": "Scores that share a letter do not differ significantly.",
    "adjusted p": "The p-value of a pair, corrected for the number of pairs.",
    "rank": "1 is the best; scores whose numbers print alike share one.",
    "95 % set": "Ranks that the paired tests leave; all true ranks lie in their sets at once at that level.",
    "resampled|first": "Over resamples of the rows: where most of the ranks lie, and how often it was the best.",
}

_NUMBERS = re.compile(r"\s*-?\d+(\.\d+)?\s*%?")
_MATH = re.compile(r"[,:]?\s*:math:`[^`]*`|\*|``|:func:|`")


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
        yield _plain(name), (name, (_summary(score.function), f"Needs {needs}; range {score.range}.", score.source))
    for name in metrics.names():
        metric = metrics.get(name)
        span = f"Range {metric.range[0]:g} to {metric.range[1]:.4g} for a 0/1 loss; identifier {metric.identifier}."
        entry = (f"{arrow(metric.label, metric.direction)} ({name})", (_summary(metric.function), span, metric.source))
        for term in dict.fromkeys(map(_plain, (name, name.rpartition(".")[2], metric.label))):
            yield term, entry
    yield from _words().items()


def _words() -> dict[str, _Entry]:
    entries = {names: (names.replace("|", ", "), (text,)) for names, text in WORDS.items()}
    return {_plain(name): entry for names, entry in entries.items() for name in names.split("|")}


def _summary(function: object) -> str:
    """Return the first paragraph of a docstring as plain text."""
    first = (function.__doc__ or "").strip().partition("\n\n")[0]
    return _MATH.sub("", " ".join(first.split())).rstrip(" .:,") + "."


def _plain(term: str) -> str:
    return " ".join(_NUMBERS.sub(" ", term.lower().replace("_", " ")).strip(" ↓↑").split())
