"""Sections of a study: every metric by model, score and set, and what was left out."""

from __future__ import annotations

from typing import Any

from abstain._result import Column, Row, Table
from abstain.report import _any
from abstain.report._forest import forest
from abstain.report._page import Chart, Charts, Folded, Grid, Part, Prose, Section
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


def chart(found: Any) -> Chart | None:
    """Return the first chart."""
    specs = found.values("metric")
    drawn = _charts(found, "augrc" if "augrc" in specs else specs[0]) if specs else []
    return drawn[0].charts[0] if drawn and isinstance(drawn[0], Charts) else None


def _charts(found: Any, spec: str) -> list[Part]:
    """Return means with their standard errors, one chart per set, best first."""
    charts: list[Chart] = []
    for name in found.values("set")[:SETS]:
        means = [each for each in found.means(spec) if each.set == name]
        means.sort(key=lambda each: each.value if each.direction == "lower" else -each.value)
        means = means[:DRAWN]
        if len(means) < 2:
            continue
        several = len({each.model for each in means}) > 1, len({each.score for each in means}) > 1
        rows = []
        for each in means:
            word = " ".join(text for text, yes in zip((each.model, each.score), several, strict=True) if yes)
            rows.append((word, each.value, each.value - each.standard_error, each.value + each.standard_error))
        title = f"{means[0].label} on {name}, best first; bars: one standard error"
        charts.append(forest(f"means-{len(charts)}", title, means[0].label, rows))
    return [Charts(tuple(charts))] if charts else []
