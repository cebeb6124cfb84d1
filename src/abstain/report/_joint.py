"""Sections of a joint evaluation of ID and OOD rows: detectors beside the confidence, set by set."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._result import Column, Row, Table
from abstain.report import _any
from abstain.report._forest import forest
from abstain.report._page import Charts, Folded, Grid, Part, Prose, Section
from abstain.report._source import Source

#: Scores that are drawn.
DRAWN = 8


def sections(found: Any, source: Source) -> list[Section]:
    """Return the table of single and double scores, the gains beside noise, and each set by itself."""
    result = [Section("result", "Single and double scores", _any.sections(found, source)[0].parts)]
    if source.gains:
        words = (
            "Gain: how much two thresholds, on the confidence and on the detector, are better than the confidence "
            "alone. Noise: the mean gain of the same score permuted, which says nothing."
        )
        result.append(Section("gains", "Gains beside noise", (*_gains(source), Prose((words,)))))
    tables = tuple(Grid(found.table(layout), _any.COLUMNS) for layout in ("detection", "sets"))
    result.append(Section("sets", "Set by set", (Folded("Detection, and every set", tables),)))
    rows: list[Row] = [(f"rows of {name}", str(n)) for name, n in found.sizes.items()]
    if source.outputs is not None:
        rows += [(f"read as {part}", words) for part, words in source.outputs.understood().items()]
    table = Table([Column("Check"), Column("Found", left=True)], rows)
    return [*result, Section("checks", "Data checks", (Grid(table),))]


def _gains(source: Source) -> list[Part]:
    """Return the gains as a chart, of one metric, and as a table."""
    rows: list[Row] = [
        (f"{row['set']}, {row['score']}", str(row["metric"]).upper().replace("_", "-"), float(row["gain"]),
         float(row["null_mean"]), f"{row['p']:.3f}")
        for row in source.gains
    ]  # fmt: skip
    heads = [Column("Set, score"), Column("Metric", left=True), Column("Gain"), Column("Noise"), Column("p")]
    chosen = [row for row in source.gains if row["metric"] == "ds_f1"]
    chosen = sorted(chosen, key=lambda row: -float(row["gain"]))[:DRAWN]
    drawn = [(f"{row['score']}, {row['set']}", float(row["gain"]), np.nan, np.nan) for row in chosen]
    noise = [float(row["null_mean"]) for row in chosen]
    chart = forest("gains", "Gain in DS-F1, largest first; grey: noise", "Gain", drawn, noise)
    return [*([Charts((chart,))] if len(chosen) > 1 else []), Grid(Table(heads, rows, ranks=0))]
