"""A page as a file: HTML, Markdown or JSON, by the ending of its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from abstain._files import write_text
from abstain._result import Result, Table, json_text, plain
from abstain.report._build import build
from abstain.report._html import as_html
from abstain.report._markdown import as_markdown
from abstain.report._page import Page
from abstain.report._source import Source

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
