"""Sections of a plan of labels: which scores are labelled how often, and what the labels will show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstain import metrics
from abstain.pool import LabelPlan
from abstain.report._any import COLUMNS
from abstain.report._lead import share
from abstain.report._page import Board, Chart, Grid, Number, Part, Prose, Section, Series
from abstain.report._source import Source

if TYPE_CHECKING:
    from abstain._result import Verdict


#: Parts of equally many rows, of which the chart has the means.
PARTS = 60


def about(plan: LabelPlan) -> str:
    """Return how many rows there are to choose from."""
    return f"{plan.n:,} rows"


def contents(plan: LabelPlan, source: Source, verdict: Verdict | None) -> tuple[Board, list[Section]]:
    """Return the chance of a label by score, and the stages."""
    stages: tuple[Part, ...] = (*(Grid(table, COLUMNS) for table in plan.tables()), Prose(tuple(plan.notes())))
    return Board(chart(plan), _numbers(plan)), [Section("result", "Stages", stages)]


def chart(plan: LabelPlan) -> Chart | None:
    """Return with which probability a row is labelled, by its score; None where it is the same for all rows."""
    if np.ptp(plan.inclusion) == 0.0:
        return None
    parts = np.array_split(np.argsort(plan.confidence, kind="stable"), min(PARTS, plan.n))
    score, chance = (np.array([column[part].mean() for part in parts]) for column in (plan.confidence, plan.inclusion))
    low, high = float(score[0]), float(score[-1])
    series = (Series("", score, chance, kind="dots"),)
    top = 1.1 * float(chance.max())
    return Chart(
        "chance",
        "Probability of a label by score",
        "Score →",
        "↑ Probability that a row is labelled",
        series,
        (low, high if high > low else low + 1.0),
        (0.0, top),
        shares="y",
    )


def _numbers(plan: LabelPlan) -> tuple[Number, ...]:
    half = plan.facts.expected.halfwidth
    return (
        Number("Rows to label now", f"{len(plan.rows_to_label):,}", f"of {plan.n:,}"),
        Number("Share of the pool", share(len(plan.rows_to_label) / plan.n)),
        Number("Stage", str(plan.n_stages)),
        Number(f"Expected half-width of {metrics.get(plan.metric).label}", f"± {half:.3g}", "at 95 %"),
    )
