"""Sections of a result that has none of its own: its tables and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstain._result import Result
from abstain.report._page import Board, Grid, Part, Prose, Section
from abstain.report._source import Source

if TYPE_CHECKING:
    from abstain._result import Verdict

#: Columns of values that fit on a page.
COLUMNS = 6


def contents(result: Result, source: Source, verdict: Verdict | None) -> tuple[Board, list[Section]]:
    """Return the tables and the notes."""
    notes = tuple(result.notes())
    parts: list[Part] = [Grid(table, COLUMNS) for table in result.tables()]
    return Board(), [Section("result", "Result", (*parts, *([Prose(notes, "note")] if notes else [])))]
