"""What a page shows beside the tables of an evaluation: a few numbers to read first, and operating points."""

from __future__ import annotations

import numpy as np

from abstain import metrics
from abstain._result import Column, Row, Table, clean, number, short
from abstain.evaluation import Evaluation, Measurement

#: Coverages whose operating points a report lists.
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)

#: What a report shows first, of the best score.
KEY_FIGURES = ("accuracy", "risk", "coverage_at_risk", "augrc")


def key_figures(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Return a few numbers to read first, as (what, value, remark), as far as they are there."""
    found = [("Samples", str(evaluation.provenance["n"]), "")]
    if not evaluation.provenance["same_samples"]:  # no score is the best of several on other samples
        return found
    for metric in KEY_FIGURES:
        row = [entry for entry in evaluation.measurements if entry.group is None and entry.metric == metric]
        values = [entry for entry in row if not np.isnan(entry.value)]
        if not values:
            continue
        best = (min if row[0].direction == "lower" else max)(values, key=lambda entry: entry.value)
        remark = "" if metrics.get(metric).reads_score else "nothing rejected"
        if not remark and len(evaluation.scores) > 1:
            same = len(values) == len(row) and _best(row) is None
            winners = ", ".join(short(entry.score) for entry in values if entry.value == best.value)
            remark = "all scores" if same else f"best: {winners}"
        found.append((clean(best.label), number(best.value), remark))
    return found


def _best(row: list[Measurement]) -> float | None:
    """The best value of a row, or None if it does not tell scores apart."""
    values = [entry.value for entry in row if not np.isnan(entry.value)]
    if len(set(values)) < 2:
        return None
    return min(values) if row[0].direction == "lower" else max(values)


def operating_points(evaluation: Evaluation) -> list[Table]:
    """Return per score the attainable points at round coverages: threshold, accepted, coverage, risks."""
    columns = [Column(name) for name in ("Coverage of at least", "Threshold", "Accepted", "Coverage")]
    columns += [Column("Selective risk"), Column("Generalized risk")]
    result = []
    for summary in evaluation.summaries:
        if summary.group is not None:
            continue
        points = [summary.curve.at(coverage=coverage) for coverage in COVERAGES]
        rows: list[Row] = [
            # the threshold in full: a rounded one accepts other samples
            (f"{100.0 * coverage:.0f} %", repr(point.threshold), f"{point.n_accepted} of {point.n}",
             point.coverage, point.selective_risk, point.generalized_risk)
            for coverage, point in zip(COVERAGES, points, strict=True)
        ]  # fmt: skip
        result.append(Table(columns, rows, title=f"Operating points of {short(summary.score)}"))
    return result
