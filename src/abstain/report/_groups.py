"""Sections of a comparison of groups: the metric and the risk of each, worst first."""

from __future__ import annotations

from abstain.inference import GroupComparison
from abstain.report._any import COLUMNS
from abstain.report._forest import MOST, forest
from abstain.report._page import Chart, Charts, Grid, Part, Prose, Section
from abstain.report._source import Source


def sections(found: GroupComparison, source: Source) -> list[Section]:
    """Return both charts, the table of groups, and the pairs that differ."""
    charts = [chart(found)]
    if found.risks:
        worst = sorted(found.risks.items(), key=lambda each: -each[1].estimate)
        rows = [(name, each.estimate, each.low, each.high) for name, each in worst]
        charts.append(forest("risks", f"Risk when everything is answered{_of(found)}", "Risk", rows))
    tables = (Grid(table, COLUMNS) for table in found.tables())
    parts: tuple[Part, ...] = (Charts(tuple(charts)), *tables, Prose(tuple(found.notes()), "note"))
    return [Section("groups", "Groups, worst first", parts)]


def chart(found: GroupComparison) -> Chart:
    """Return the metric of the groups with intervals that hold together, the worst on top."""
    rows = [(name, each.estimate, each.low, each.high) for name, each in found.intervals.items()]
    return forest("groups", f"{found.label} of the groups{_of(found)}", found.label, rows)


def _of(found: GroupComparison) -> str:
    more = f", the worst {MOST} of {len(found.sizes)}" if len(found.sizes) > MOST else ""
    return f", intervals that hold together at {100.0 * found.level:g} %{more}"
