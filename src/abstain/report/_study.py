"""Sections of a study: every metric by model, score and set, and what was left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._result import Column, Row, Table
from abstain.report import _any
from abstain.report._page import Chart, Charts, Folded, Grid, Part, Prose, Section, Series
from abstain.report._source import Source

#: Models with scores that are drawn in a chart, and sets that have one.
DRAWN, SETS = 8, 4


def sections(found: Any, source: Source) -> list[Section]:
    """Return the first metric as charts and table, the others folded, then what is odd."""
    specs = found.values("metric")
    if not specs:
        return _any.sections(found, source)
    first = "augrc" if "augrc" in specs else specs[0]
    shown: list[Part] = [*_charts(found, first), Grid(found.table(first), _any.COLUMNS)]
    others = tuple(Grid(found.table(spec), _any.COLUMNS) for spec in specs if spec != first)
    if others:
        shown.append(Folded("The other metrics", others))
    sets = {row["set"]: row for row in found.numbers}.values()
    sizes: list[Row] = [(f"{row['set']} ({row['role']})", str(row["n"])) for row in sets]
    notes = tuple(note for note in found.notes() if not note.startswith("also evaluated"))
    checks = (
        Grid(Table([Column("Set"), Column("Rows")], sizes)),
        Prose(notes or ("No file was left out, and no score is lacking.",), "note" if notes else "text"),
    )
    return [Section("result", "Models, scores and sets", tuple(shown)), Section("checks", "Data checks", checks)]


def _charts(found: Any, spec: str) -> list[Part]:
    """Return means with their standard errors, one chart per set, best first."""
    charts: list[Chart] = []
    for name in found.values("set")[:SETS]:
        means = [each for each in found.means(spec) if each.set == name]
        means.sort(key=lambda each: each.value if each.direction == "lower" else -each.value)
        means = means[:DRAWN]
        if len(means) < 2:
            continue
        x, value = np.arange(1.0, len(means) + 1.0), np.array([each.value for each in means])
        error = np.nan_to_num(np.array([each.standard_error for each in means]))
        low, high = value - error, value + error
        span = float(high.max() - low.min()) or 1.0
        several = len({each.model for each in means}) > 1, len({each.score for each in means}) > 1
        labels = tuple(" ".join(word for word, yes in zip((each.model, each.score), several, strict=True) if yes)
                       for each in means)  # fmt: skip
        title = f"{means[0].label} on {name}, best first; bars: one standard error"
        ends = float(low.min()) - 0.1 * span, float(high.max()) + 0.1 * span
        series = (Series("", x, value, low, high, "dots", 0),)
        charts.append(Chart(f"means-{len(charts)}", title, "", means[0].label, series, (0.5, len(x) + 0.5), ends,
                            labels=labels))  # fmt: skip
    return [Charts(tuple(charts))] if charts else []
