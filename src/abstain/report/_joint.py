"""Sections of a joint evaluation of ID and OOD rows: a second score next to the confidence, set by set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from abstain._result import Column, Row, Table, number
from abstain.report import _any
from abstain.report._charts import named_intervals
from abstain.report._lead import share
from abstain.report._page import Board, Chart, Charts, Grid, Number, Part, Prose, Rule, Section
from abstain.report._source import Source

if TYPE_CHECKING:
    from abstain._result import Verdict

#: Scores that are drawn, and differences that the axis has in any case, so that none looks large.
DRAWN, SPAN = 8, 0.002


def about(found: Any) -> str:
    """Return how many rows there are of each set."""
    return " · ".join(f"{name} {n:,} rows" for name, n in list(found.sizes.items())[:4])


def contents(found: Any, source: Source, verdict: Verdict) -> tuple[Board, list[Section]]:
    """Return the second scores against the confidence alone; tables, gains, and each set by itself."""
    board = Board(chart(found, source.gains), _numbers(found))
    sections = [Section("result", "Single and double scores", _any.contents(found, source, verdict)[1][0].parts)]
    if source.gains:
        words = (
            "Gain: how much two thresholds, on the confidence and on the detector, are better than the confidence "
            "alone. Noise: the mean gain of the same score permuted, which carries no information."
        )
        sections.append(Section("gains", "Gains and noise", (*_gains(source), Prose((words,)))))
    tables = tuple(Grid(found.table(layout), _any.COLUMNS) for layout in ("detection", "sets"))
    rows: list[Row] = [(f"rows of {name}", str(n)) for name, n in found.sizes.items()]
    checks = Table([Column("Check"), Column("Found", left=True)], [*rows, *source.checks()])
    return board, [*sections, Section("sets", "Set by set", tables), Section("checks", "Data", (Grid(checks),))]


def chart(found: Any, gains: Sequence[Mapping[str, Any]] = ()) -> Chart | None:
    """Return DS-F1 of each second score, the best first, with the F1 of the confidence alone and gains by chance."""
    rows = [(name, value, math.nan, math.nan) for name, value in _second(found)[:DRAWN]]
    if not rows:
        return None
    alone = found.mean("f1")[0]
    title = f"F1 of {found.confidence} with a second score, best first"
    chance = max((float(row["null_mean"]) for row in gains if row["metric"] == "ds_f1"), default=0.0)
    band = (Rule(alone, "grey: gain by chance", to=alone + chance),) if chance > 0.0 else ()
    rules = (Rule(alone, f"{found.confidence} alone"), *band)  # in this order their names stand on these sides
    return named_intervals("second", title, "DS-F1", rows, rules=rules, hold=(alone - SPAN, alone + SPAN))


def _second(found: Any) -> list[tuple[str, float]]:
    """Return the second scores with their DS-F1, the best first."""
    values = [(name, found.mean("ds_f1", score=name)[0]) for name in found.scores if name != found.confidence]
    return sorted(values, key=lambda each: -each[1])


def _numbers(found: Any) -> tuple[Number, ...]:
    """Return what the confidence does alone, and the best second score."""
    second = _second(found)[:1]
    accepted = found.mean("fpr_at_id_recall95")[0]
    return (
        Number(f"F1 of {found.confidence} alone", number(found.mean("f1")[0])),
        *(Number("DS-F1, best second score", number(value), name) for name, value in second),
        Number("OOD rows accepted", share(accepted), "where 95 % of the ID rows are accepted"),
        Number("Accuracy on ID rows", share(found.mean("accuracy")[0])),
    )


def _gains(source: Source) -> list[Part]:
    """Return the gains as a chart, of one metric, and as a table."""
    rows: list[Row] = [
        (
            f"{row['set']}, {row['score']}",
            str(row["metric"]).upper().replace("_", "-"),
            float(row["gain"]),
            float(row["null_mean"]),
            f"{row['p']:.3f}",
        )
        for row in source.gains
    ]
    heads = [
        Column("Set, score"),
        Column("Metric", left=True),
        Column("Gain"),
        Column("Noise"),
        Column("p, unadjusted"),
    ]
    chosen = [row for row in source.gains if row["metric"] == "ds_f1"]
    chosen = sorted(chosen, key=lambda row: -float(row["gain"]))[:DRAWN]
    drawn = [(f"{row['score']}, {row['set']}", float(row["gain"]), math.nan, math.nan) for row in chosen]
    noise = [float(row["null_mean"]) for row in chosen]
    gains = named_intervals("gains", "Gain in DS-F1, largest first; grey: noise", "Gain", drawn, against=noise)
    return [*([Charts((gains,))] if len(chosen) > 1 else []), Grid(Table(heads, rows, ranks=0))]
