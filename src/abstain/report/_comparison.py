"""Sections of a comparison: estimates with intervals, sets of ranks, tests of the pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._result import Column, Estimate, Row, Table
from abstain._typing import FloatArray
from abstain.evaluation import Comparison
from abstain.report._page import Chart, Charts, Folded, Grid, Part, Prose, Section, Series
from abstain.report._source import Source


def sections(found: Comparison, source: Source) -> list[Section]:
    """Return what a page says of a comparison, behind its verdict."""
    notes = tuple(found.notes())
    checks: list[Part] = [Prose(notes, "note")] if notes else [Prose(("Nothing is odd about these rows.",))]
    rows: list[Row] = [("rows", f"{found.n}, the same for all")]
    if source.outputs is not None:
        rows += [(f"read as {part}", words) for part, words in source.outputs.understood().items()]
        if source.outputs.ids is not None:
            ids = np.asarray(source.outputs.ids)
            rows.append(("repeated identifiers", f"{len(ids) - len(np.unique(ids))} of {len(ids)}"))
    checks.insert(0, Grid(Table([Column("Check"), Column("Found", left=True)], rows)))
    return [
        Section("scores", "Which is better", tuple(scores_of(found))),
        Section("checks", "Data checks", tuple(checks)),
    ]


def scores_of(found: Comparison) -> list[Part]:
    """Return the estimates as a chart and tables, with the ranks that the tests leave."""
    order = found.table
    place = np.arange(len(order), 0.0, -1.0)
    estimate = np.array([row["estimate"] for row in order])
    low, high = (np.array([row[end] for row in order], dtype=np.float64) for end in ("low", "high"))
    rows: list[Row] = [
        (row["name"], row["rank"], _set(row), Estimate(row["estimate"], row["low"], row["high"]), row["standard_error"],
         row["letters"])
        for row in order
    ]  # fmt: skip
    heads = [Column("Score"), Column("Rank"), Column("Set of ranks"), Column(found.label, found.direction),
             Column("Standard error"), Column("Letters", left=True)]  # fmt: skip
    percent = f"{100.0 * found.level:g} %"
    notes = [f"In brackets: {percent} interval. All true ranks lie in their sets at once with probability {percent}.",
             "Scores that share a letter do not differ significantly."]  # fmt: skip
    pairs = found.tables()[1]
    chart = Charts((_forest(found, place, estimate, low, high),))
    shown = pairs if len(order) <= 4 else None
    rest = [] if shown is not None else [Folded("Tests of the pairs", (Grid(pairs),))]
    return [chart, Grid(Table(heads, rows, "Estimates, and the ranks that the tests leave", notes)),
            *([Grid(shown)] if shown is not None else []), *rest]  # fmt: skip


def _set(row: dict[str, Any]) -> str:
    low, high = row["set_low"], row["set_high"]
    return str(low) if low == high else f"{low} to {high}"


def _forest(found: Comparison, place: FloatArray, estimate: FloatArray, low: FloatArray, high: FloatArray) -> Chart:
    """Return estimates with intervals, best first from left to right."""
    x = len(place) + 1.0 - place
    ends = np.concatenate([estimate, low[np.isfinite(low)], high[np.isfinite(high)]])
    span = float(ends.max() - ends.min()) or 1.0
    series = tuple(
        Series(str(row["name"]), x[k : k + 1], estimate[k : k + 1], low[k : k + 1], high[k : k + 1], "dots", 0)
        for k, row in enumerate(found.table)
    )
    words = "; ".join(f"{row['name']}: {row['estimate']:.4g}" for row in found.table[:8])
    return Chart("scores", f"{found.label} with {100.0 * found.level:g} % intervals, best first", "", found.label,
                 series, (0.5, len(place) + 0.5), (float(ends.min()) - 0.08 * span, float(ends.max()) + 0.08 * span),
                 words, labels=tuple(str(row["name"]) for row in found.table))  # fmt: skip
