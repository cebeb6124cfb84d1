"""From a result to a page: the verdict, the sections of its kind, glossary and provenance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from abstain._result import QUESTIONS, SIGNS, Result
from abstain.joint import grounds_of
from abstain.report._glossary import glossary, provenance
from abstain.report._kinds import leaf_of
from abstain.report._markdown import plain_text
from abstain.report._page import Answers, Folded, Grid, Page, Part, Prose, Section, Slider
from abstain.report._source import Source

#: What the verdict says to going live, in a word; a kind may have its own.
SIGN = {"open": "Measured; no threshold is chosen here", "yes": "Yes, as far as promised", "care": "With care",
        "no": "No, not like this"}  # fmt: skip


def build(result: Result, source: Source | None = None, title: str | None = None) -> Page:
    """Return the page of a result."""
    source = source or Source()
    leaf, usual = leaf_of(result)
    module = import_module(f"abstain.report.{leaf}")
    sections: Callable[[Any, Source], list[Section]] = module.sections
    found = result.answers(source.told, grounds_of(source.gains) if source.gains else ())
    asked = dict.fromkeys(sentence.question for sentence, _ in found)
    answers = {QUESTIONS[key]: tuple(words for sentence, words in found if sentence.question == key) for key in asked}
    entries = tuple((question, words) for question, words in answers.items() if words)
    sign, box = max(
        ((each.sign, each.box) for each, _ in found), key=lambda each: SIGNS.index(each[0]), default=("", "")
    )
    lead = (
        Answers(entries, sign, box or getattr(module, "SIGN", SIGN)[sign] if sign else "")
        if entries
        else Prose(("No sentence is said of this kind of result; see its numbers.",))
    )
    shown = sections(result, source)
    if sign == "no":
        shown = [replace(each, parts=tuple(map(_refused, each.parts))) for each in shown]
    body = [Section("verdict", "Verdict", (lead,)), *shown]
    if (words := source.words) is not None:
        body = [replace(each, parts=tuple(_worded(part, words) for part in each.parts)) for each in body]
    headline = getattr(module, "headline", type(result).headline)(result)
    facts = getattr(result, "provenance", None) or _fields(result)
    page = Page(title or usual, headline, tuple(body))
    last = glossary(plain_text(page), _metrics(result), _scores(result, source)), provenance(facts, source)
    return Page(page.title, headline, (*body, *last), result.to_dict())


def _worded(part: Part, words: Callable[[str], str]) -> Part:
    """Return a part whose sentences are said in these words, as the terminal says them."""
    if isinstance(part, Prose):
        return replace(part, lines=tuple(map(words, part.lines)))
    if isinstance(part, Answers):
        return replace(part, entries=tuple((asked, tuple(map(words, lines))) for asked, lines in part.entries))
    if isinstance(part, Grid):
        return replace(part, table=replace(part.table, notes=[words(each) for each in part.table.notes]))
    if isinstance(part, Folded):
        return replace(part, parts=tuple(_worded(each, words) for each in part.parts))
    return part


def _refused(part: Part) -> Part:
    """Return a part that offers no policy: the verdict above it says no."""
    if not isinstance(part, Slider):
        return part
    scores = [{**each, "policy": None} for each in part.data["scores"]]
    return Slider({**part.data, "scores": scores, "refused": "none is offered where the verdict is no"})


def _metrics(result: Any) -> list[tuple[str, str, str]]:
    """Return the metrics of a result: spec, printed name, identifier."""
    if hasattr(result, "measurements"):
        found = {each.metric: (each.metric, each.label, each.identifier) for each in result.measurements}
        return list(found.values())
    if hasattr(result, "numbers"):
        each = {row["metric"]: (row["metric"], row["label"], row.get("identifier", "")) for row in result.numbers}
        return list(each.values())
    names = ("metric", "label")
    if not all(hasattr(result, name) for name in names):
        return []
    known = getattr(result, "beside", None)
    more = [] if known is None else [each.estimates.metric for each in known.tested.values()]
    return [(result.metric, result.label, getattr(result, "identifier", "")),
            *((each.spec, each.label, each.identifier) for each in more if each.spec != result.metric)]  # fmt: skip


def _scores(result: Any, source: Source) -> set[str]:
    """Return what a result ranks by: names of scores, as far as it says."""
    rows = [*getattr(result, "numbers", ()), *source.gains]
    table = getattr(result, "table", ())
    named = [row["name"] for row in table] if isinstance(table, tuple) else []
    given = getattr(result, "scores", ())
    return {*(given if isinstance(given, list) else ()), *source.policies, *named, *(row["score"] for row in rows)}


def _fields(result: Any) -> dict[str, Any]:
    """Return the options and hashes of a result that keeps them as fields."""
    found = dict(getattr(result, "calibration", None) or {})
    names = ("method", "adjust", "level", "n", "n_runs", "fingerprint", "seed", "procedure", "objective", "delta",
             "n_permutations", "n_splits", "prevalence", "confidence", "run_length", "n_resamples")  # fmt: skip
    return found | {name: getattr(result, name) for name in names if hasattr(result, name)}
