"""Sections of a comparison: estimates with intervals, sets of ranks, tests of the pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from abstain._result import Column, Estimate, Row, Table, percent
from abstain.evaluation import Comparison
from abstain.inference import Beside
from abstain.report._forest import forest
from abstain.report._page import Chart, Charts, Folded, Grid, Part, Prose, Section
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
    more = [] if found.beside is None else [beside(found.beside, [str(row["name"]) for row in found.table])]
    checks.insert(0, Grid(Table([Column("Check"), Column("Found", left=True)], rows)))
    return [
        Section("scores", "Which is better", (*scores_of(found), *more)),
        Section("checks", "Data checks", tuple(checks)),
    ]


def scores_of(found: Comparison) -> list[Part]:
    """Return the estimates as a chart and tables, with the ranks that the tests leave."""
    order = found.table
    rows: list[Row] = [
        (row["name"], Estimate(row["estimate"], row["low"], row["high"]), row["rank"], _set(row), row["standard_error"],
         row["letters"])
        for row in order
    ]  # fmt: skip
    heads = [Column("Score"), Column(found.label, found.direction), Column("Rank"), Column("Set of ranks"),
             Column("Standard error"), Column("Letters", left=True)]  # fmt: skip
    sure = f"{100.0 * found.level:g} %"
    notes = [f"In brackets: {sure} interval. All true ranks lie in their sets at once with probability {sure}.",
             "Scores that share a letter do not differ significantly."]  # fmt: skip
    pairs = found.tables()[1]
    shown = pairs if len(order) <= 4 else None
    rest = [] if shown is not None else [Folded("Tests of the pairs", (Grid(pairs),))]
    return [Charts((chart(found),)), Grid(Table(heads, rows, "Estimates, and the ranks that the tests leave", notes)),
            *([Grid(shown)] if shown is not None else []), *rest]  # fmt: skip


def chart(found: Comparison) -> Chart:
    """Return estimates with intervals, the best on top."""
    rows = [(str(row["name"]), float(row["estimate"]), float(row["low"]), float(row["high"])) for row in found.table]
    return forest("scores", f"{found.label} with {100.0 * found.level:g} % intervals, best first", found.label, rows)


def beside(known: Beside, names: Iterable[str]) -> Grid:
    """Return what else is known of each: errors, AUROC of failures, and coverage at a risk."""
    counted = known.errors is not None
    heads = [Column("Score"), Column("Errors" if counted else "Mean loss", "lower" if not known.same_loss else "")]
    drawn = [what for what in ("ranking", "coverage") if what in known.tested]
    titles = {"ranking": "AUROC of failures", "coverage": f"Coverage at risk {percent(known.risk or 0.0)}"}
    heads += [Column(titles[what], "higher", share=what == "coverage") for what in drawn]
    rows: list[Row] = []
    for name in names:
        ends = [known.interval(what, name) for what in drawn]
        shown = [Estimate(np.nan) if each is None else Estimate(each.estimate, each.low, each.high) for each in ends]
        rows.append((name, known.errors[name] if known.errors else known.mean_loss[name], *shown))
    of = f" of {known.n:,} rows" if counted else ""
    notes = [f"Errors{of}, when everything is answered." if counted else "Mean loss when everything is answered.",
             "In brackets: intervals of each number by itself."]  # fmt: skip
    return Grid(Table(heads, rows, "Answers, ranking and coverage of each", notes))


def _set(row: dict[str, Any]) -> str:
    low, high = row["set_low"], row["set_high"]
    return str(low) if low == high else f"{low} to {high}"
