"""Sections of a study: every metric by model, score and set, and what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from abstain._result import Column, Row, Table, number
from abstain.report import _any
from abstain.report._charts import named_intervals
from abstain.report._compared import numbers_of
from abstain.report._page import Board, Chart, Charts, Folded, Grid, Number, Part, Prose, Section
from abstain.report._source import Source

if TYPE_CHECKING:
    from abstain._result import Verdict

#: Models with scores that are drawn in a chart, and sets that have one.
DRAWN, SETS = 8, 4


def about(found: Any) -> str:
    """Return how much was evaluated, and what is better in the first metric."""
    spec = _first(found)
    first = next(iter(found.means(spec)), None) if spec is not None else None
    return str(found.headline()) + ("" if first is None else f" · {first.label}: {first.direction} is better")


def contents(found: Any, source: Source, verdict: Verdict) -> tuple[Board, list[Section]]:
    """Return the first metric of the first set as a chart, then tables of all metrics."""
    spec = _first(found)
    if spec is None:
        return _any.contents(found, source, verdict)
    charts = _charts(found, spec)
    shown: list[Part] = [Charts(tuple(charts[1:]))] if charts[1:] else []
    shown.append(Grid(found.table(spec), _any.COLUMNS))
    others = tuple(Grid(found.table(each), _any.COLUMNS) for each in found.values("metric") if each != spec)
    if others:
        shown.append(Folded("The other metrics", others))
    sets = {row["set"]: row for row in found.numbers}.values()
    sizes: list[Row] = [(f"{row['set']} ({row['role']})", str(row["n"])) for row in sets]
    notes = tuple(note for note in found.notes() if not note.startswith("also evaluated"))
    checks = (
        Grid(Table([Column("Set"), Column("Rows")], sizes)),
        Prose(notes or ("No file was left out, and no score is missing.",), "note" if notes else "text"),
    )
    board = Board(charts[0] if charts else None, numbers_of(verdict) or _numbers(found, spec))
    return board, [Section("result", "Models, scores and sets", tuple(shown)), Section("checks", "Data", checks)]


def chart(found: Any) -> Chart | None:
    """Return the first chart."""
    spec = _first(found)
    return next(iter(_charts(found, spec)), None) if spec is not None else None


def _first(found: Any) -> str | None:
    specs = found.values("metric")
    return "augrc" if "augrc" in specs else next(iter(specs), None)


def _means(found: Any, spec: str, name: str) -> list[Any]:
    """Return the means of a metric on a set, the best first."""
    means = [each for each in found.means(spec) if each.set == name]
    return sorted(means, key=lambda each: each.value if each.direction == "lower" else -each.value)


def _numbers(found: Any, spec: str) -> tuple[Number, ...]:
    """Return the best of the first sets, and how much was evaluated."""
    sets = found.values("set")
    best = [_means(found, spec, name)[0] for name in sets[:2]]
    return (
        *(
            Number(f"Best {each.label} on {each.set}", number(each.value), f"{each.model} {each.score}")
            for each in best
        ),
        Number("Models", str(len(found.values("model")))),
        Number("Sets", str(len(sets))),
    )


def _charts(found: Any, spec: str) -> list[Chart]:
    """Return means with their standard errors, one chart per set, best first."""
    charts: list[Chart] = []
    for name in found.values("set")[:SETS]:
        means = _means(found, spec, name)[:DRAWN]
        if len(means) < 2:
            continue
        several = len({each.model for each in means}) > 1, len({each.score for each in means}) > 1
        rows = []
        for each in means:
            word = " ".join(text for text, yes in zip((each.model, each.score), several, strict=True) if yes)
            rows.append((word, each.value, each.value - each.standard_error, each.value + each.standard_error))
        title = f"{means[0].label} on {name}, best first; bars: one standard error"
        charts.append(named_intervals(f"means-{len(charts)}", title, means[0].label, rows))
    return charts
