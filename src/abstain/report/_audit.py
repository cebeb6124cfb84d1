"""Sections of an audit: the error rate on all rows and in each group against the limit, and the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstain._result import percent
from abstain.report import _any
from abstain.report._charts import named_intervals
from abstain.report._page import Board, Rule, Section
from abstain.report._source import Source
from abstain.thresholds import Audit

if TYPE_CHECKING:
    from abstain._result import Verdict


def about(found: Audit) -> str:
    """Return how many rows were answered."""
    return f"{found.n:,} rows, {found.n_accepted:,} answered"


def contents(found: Audit, source: Source, verdict: Verdict) -> tuple[Board, list[Section]]:
    """Return risks with their intervals, those of groups the worst first, and the table."""
    groups = sorted(found.groups.items(), key=lambda each: -each[1].risk)
    rows = [(name, one.risk, *one.risk_interval) for name, one in [("all rows", found), *groups]]
    rules = () if found.limit is None else (Rule(found.limit, f"limit {percent(found.limit)}"),)
    title = f"Error rate of the answers with {percent(found.level)} intervals"
    chart = named_intervals("audited", title, "Error rate of the answers", rows, rules=rules, shares="y", hold=(0.0,))
    return Board(chart), _any.contents(found, source, verdict)[1]
