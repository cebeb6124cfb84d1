"""From a result to a page and its file: first screen from its verdict, sections of its kind, glossary and source."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from abstain._files import write_text
from abstain._result import Result, Table, json_text, plain
from abstain.joint import with_gains
from abstain.report._glossary import glossary, provenance
from abstain.report._html import as_html
from abstain.report._lead import CAVEATS, lead_of
from abstain.report._markdown import as_markdown
from abstain.report._page import Board, Folded, Grid, Lead, Page, Part, Prose, Section
from abstain.report._source import Source

#: Class of a result: the module with its sections, and the usual title of its page.
KINDS = {
    "Evaluation": ("_evaluation", "Evaluation of a reject option"),
    "Comparison": ("_compared", "Comparison of scores or models"),
    "Threshold": ("_threshold", "A threshold"),
    "GroupThresholds": ("_threshold", "Thresholds by group"),
    "Monitoring": ("_monitoring", "Monitoring of a guarantee"),
    "ProtocolResult": ("_joint", "Failures and out-of-distribution inputs together"),
    "StudyResults": ("_study", "A study"),
    "GroupComparison": ("_compared", "Comparison of groups"),
    "NonInferiority": ("_compared", "Not worse by more than a margin"),
    "LiveCertification": ("_live", "A live certificate"),
    "Audit": ("_audit", "Audit of a policy"),
    "LabelPlan": ("_labelling", "Which rows to label"),
    "Result": ("_any", "A result"),
}

#: What a page says of a guarantee where there is no verdict, as of a plan.
NOTHING_YET, NOTHING_MEASURED = "No verdict yet", "No guarantee: nothing is measured yet."


def build(result: Result, source: Source | None = None, title: str | None = None) -> Page:
    """Return the page of a result."""
    source = source or Source()
    module, usual = module_of(result)
    contents: Callable[[Any, Source, Any], tuple[Board, list[Section]]] = import_module(
        f"abstain.report.{module}"
    ).contents
    verdict = source.verdict or result.verdict
    if verdict is not None and source.gains and source.verdict is None:
        verdict = with_gains(verdict, source.gains)
    if verdict is not None and not verdict.score and len(source.policies) == 1:
        verdict = verdict.but(score=next(iter(source.policies)))
    board, shown = contents(result, source, verdict)
    if verdict is not None and len(verdict.caveats) > CAVEATS:
        more = tuple(each.text for each in verdict.caveats[CAVEATS:])
        shown = [Section("caveats", "More caveats", (Prose(more, "note"),)), *shown]
    lead = (
        Lead(result.headline() or title or usual, "open", NOTHING_YET, "", NOTHING_MEASURED, board, next=source.next)
        if verdict is None
        else lead_of(verdict, board)
    )
    about = getattr(import_module(f"abstain.report.{module}"), "about", type(result).headline)(result)
    facts = getattr(result, "provenance", None) or _fields(result)
    decided = {} if verdict is None else {"verdict": verdict.to_dict()}
    page = Page(title or usual, about, lead, tuple(shown), {**result.to_dict(), **decided})
    if source.words is not None:
        page = _worded(page, source.words)
    last = (glossary(as_markdown(page), _metrics(result), _scores(result, source)), provenance(facts, source))
    return replace(page, sections=(*page.sections, *last))


def module_of(result: Result) -> tuple[str, str]:
    """Return the module that has the sections of a result, and the usual title of its page."""
    return next(KINDS[base.__name__] for base in type(result).__mro__ if base.__name__ in KINDS)


def _worded(page: Page, words: Callable[[str], str]) -> Page:
    """Return a page whose sentences name options of the command where the library names arguments."""

    def of_part(part: Part) -> Part:
        if isinstance(part, Prose):
            return replace(part, lines=tuple(map(words, part.lines)))
        if isinstance(part, Grid):
            return replace(part, table=replace(part.table, notes=[words(each) for each in part.table.notes]))
        if isinstance(part, Folded):
            return replace(part, parts=tuple(map(of_part, part.parts)))
        return part

    sections = (replace(each, parts=tuple(map(of_part, each.parts))) for each in page.sections)
    caveats = (replace(each, sentence=words(each.sentence), remedy=words(each.remedy)) for each in page.lead.caveats)
    return replace(page, sections=tuple(sections), lead=replace(page.lead, caveats=tuple(caveats)))


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
    return [
        (result.metric, result.label, getattr(result, "identifier", "")),
        *((each.spec, each.label, each.identifier) for each in more if each.spec != result.metric),
    ]


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
    names = (
        "method adjust level n n_runs fingerprint seed procedure objective delta n_permutations n_splits prevalence "
    )
    names += "confidence run_length n_resamples"
    return found | {name: getattr(result, name) for name in names.split() if hasattr(result, name)}


#: Endings of files, and what writes them.
FORMS: dict[str, Callable[[Page], str]] = {
    ".html": as_html,
    ".htm": as_html,
    ".md": as_markdown,
    ".json": lambda page: as_json(page),
}


def write(result: Result, path: str | os.PathLike[str], title: str | None = None, source: Source | None = None) -> None:
    """Write the page of a result, whole or not at all."""
    ending = Path(path).suffix.lower()
    if ending not in FORMS:
        raise ValueError(f"{os.fspath(path)}: a report ends in {', '.join(FORMS)}, got {ending or 'no ending'!r}")
    write_text(path, FORMS[ending](build(result, source, title)))


def as_json(page: Page) -> str:
    """Return the page as JSON: the first screen, the sections with the numbers of tables and charts, and the result."""
    sections = [
        {"name": each.name, "title": each.title, "parts": [_value(part) for part in each.parts]}
        for each in page.sections
    ]
    lead = {each.name: _value(getattr(page.lead, each.name)) for each in fields(page.lead)}
    whole = {"title": page.title, "about": page.about, "lead": lead, "sections": sections, "result": page.facts}
    return json_text(plain(whole)) + "\n"


def _value(part: Any) -> Any:
    if isinstance(part, Table):
        return {
            "title": part.title,
            "columns": [each.title for each in part.columns],
            "notes": list(part.notes),
            "rows": [[_cell(cell) for cell in row] for row in part.rows],
        }
    if is_dataclass(part) and not isinstance(part, type):
        return {"part": type(part).__name__.lower()} | {
            each.name: _value(getattr(part, each.name)) for each in fields(part)
        }
    if isinstance(part, np.ndarray):
        return part.tolist()
    if isinstance(part, Sequence) and not isinstance(part, str):
        return [_value(each) for each in part]
    return part


def _cell(cell: Any) -> Any:
    return dict(cell._asdict()) if hasattr(cell, "_asdict") else cell
