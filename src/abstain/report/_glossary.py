"""What every number of a page means, and where the page came from."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from abstain import metrics, scores
from abstain._result import WORDS, arrow, clean, summary
from abstain._version import __version__
from abstain.report._page import Section, Terms
from abstain.report._source import Source, digest_of, today

#: Facts of a result that a page says elsewhere, or that only a program reads.
_SAID = {
    "understood",
    "origin",
    "answers",
    "clipped",
    "same_samples",
    "judged_by_passes",
    "sketch",
    "bins",
    "models",
    "copied_rows",
}


#: Metrics that verdicts speak of, whatever else was measured.
_SPOKEN = ("augrc", "auroc_f", "aurc")


def glossary(text: str, used: Iterable[tuple[str, str, str]], ranked: Collection[str] = ()) -> Section:
    """Return the meaning of the metrics, given as (spec, printed name, identifier), and of the words of a text."""
    entries: dict[str, str] = {}
    for spec, label, identifier in used:
        name = spec.partition("(")[0]
        if name in metrics.names():
            metric = metrics.get(name)
            what = f"{summary(metric.function)} {metric.source}."
            what += f" Convention {identifier}." if identifier else ""
            entries[arrow(label, metric.direction)] = clean(what)
        else:
            entries[label] = f"A metric of the caller's own. Convention {clean(identifier)}."
    for metric in (metrics.get(name) for name in _SPOKEN):
        label = arrow(metric.label, metric.direction)
        if label not in entries and re.search(rf"\b{re.escape(metric.label)}\b", text):
            entries[label] = clean(f"{summary(metric.function)} {metric.source}.")
    for name in (each for each in scores.names() if each in ranked):
        score = scores.get(name)
        entries[name] = clean(f"{score.title}: {summary(score.function)} Higher is more confident.")
    for names, meaning in WORDS.items():
        if any(
            re.search(rf"\b{re.escape(name)}s?\b", text, re.IGNORECASE) for name in names.split("|") if len(name) > 1
        ):
            entries[names.replace("|", ", ")] = meaning
    return Section("glossary", "Glossary", (Terms(tuple(entries.items())),))


def provenance(facts: Mapping[str, Any], source: Source) -> Section:
    """Return command, date, files with their hashes, options, seeds, versions."""
    entries: list[tuple[str, str]] = [("date", today()), ("abstain", __version__)]
    if source.command is not None:
        entries.insert(0, ("command", clean(source.command)))
    entries += [(f"SHA-256 of {clean(file)}", digest_of(file)) for file in source.files]
    for name, value in facts.items():
        if name not in _SAID and name != "abstain" and isinstance(value, str | int | float):
            entries.append((clean(name), clean(value)))
    for model, each in facts.get("models", {}).items():
        entries.append((f"rows of {clean(model)}", clean(each["fingerprint"])))
    return Section("provenance", "Source", (Terms(tuple(entries), code=True),))
