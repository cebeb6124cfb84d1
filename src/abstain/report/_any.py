"""Sections of a result that has none of its own: its tables and notes."""

from __future__ import annotations

from abstain._result import Result
from abstain.report._page import Grid, Part, Prose, Section
from abstain.report._source import Source

#: Columns of values that fit on a page.
COLUMNS = 6


def sections(result: Result, source: Source) -> list[Section]:
    """Return the tables and the notes."""
    notes = tuple(result.notes())
    parts: list[Part] = [Grid(table, COLUMNS) for table in result.tables()]
    return [Section("result", "Result", (*parts, *([Prose(notes, "note")] if notes else [])))]
