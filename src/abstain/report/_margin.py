"""Sections of a test with a margin: the difference beside the margin, and what else is known of the two."""

from __future__ import annotations

import math

from abstain.inference import NonInferiority
from abstain.report._comparison import beside
from abstain.report._forest import forest
from abstain.report._page import Chart, Charts, Grid, Part, Prose, Section
from abstain.report._source import Source


def sections(found: NonInferiority, source: Source) -> list[Section]:
    """Return the difference with its limits and the margin, and errors, ranking and coverage of both."""
    parts: list[Part] = [Charts((chart(found),)), *(Grid(table) for table in found.tables())]
    if found.beside is not None:
        parts.append(beside(found.beside, (found.new, found.reference)))
    return [Section("result", "Result", (*parts, Prose(tuple(found.notes()), "note")))]


def chart(found: NonInferiority) -> Chart:
    """Return the difference with its one-sided limits above the margin."""
    rows = [
        (f"{found.new} worse than {found.reference} by", found.difference, found.low, found.high),
        ("the margin", found.margin, math.nan, math.nan),
        ("no difference", 0.0, math.nan, math.nan),
    ]
    title = f"Difference with its one-sided {100.0 * found.level:g} % limits, and the margin"
    return forest("margin", title, found.label, rows)
