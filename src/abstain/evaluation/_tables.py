"""An evaluation as tables: metrics below each other for one score, else scores and groups below each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from abstain._result import Column, Estimate, Row, Table, arrow

if TYPE_CHECKING:
    from abstain.evaluation._result import Evaluation, Measurement, ScoreSummary

#: Groups that a table lists, the worst by the first metric; all of them are in the result.
GROUPS = 20
#: Share of all samples that the common threshold accepts, at which groups are compared.
COMMON = 0.8


def tables(evaluation: Evaluation) -> list[Table]:
    """Return the states of answers, if some have none; the table of all samples; one per score for the groups."""
    answers = [evaluation.provenance.answers.table()] if evaluation.provenance.answers else []
    if not evaluation.scores:
        return answers
    groups = [_by_group(evaluation, score) for score in evaluation.scores if len(evaluation.groups) > 1]
    return [*answers, _one(evaluation) if len(evaluation.scores) == 1 else _several(evaluation), *groups]


def brackets(evaluation: Evaluation, together: bool = False) -> list[str]:
    """Return a line that says what the brackets behind a value are, if there are any; ``together``: those of groups."""
    if all(math.isnan(entry.low) or math.isnan(entry.high) for entry in evaluation.measurements):
        return []
    percent = f"{100.0 * evaluation.provenance['level']:g} %"
    if together:
        return [f"In brackets, by group: intervals that hold for all groups of a column together, at {percent}."]
    return [f"In brackets: {percent} confidence interval."]


def _one(evaluation: Evaluation) -> Table:
    """Return one row per metric; ties decide how fine the thresholds can be, so they are always shown."""
    found = [entry for entry in evaluation.measurements if entry.group is None]
    rows: list[Row] = [(arrow(entry.label, entry.direction), _estimate(entry)) for entry in found]
    distinct, largest = _ties(evaluation.summaries[0])
    rows += [("Distinct scores", distinct), ("Largest tie", largest)]
    return Table([Column(), Column(found[0].score or '""', alike=False)], rows, notes=brackets(evaluation))


def _several(evaluation: Evaluation) -> Table:
    whole = [entry for entry in evaluation.summaries if entry.group is None]
    rows: list[Row] = [
        (entry.score, *map(_estimate, _of(evaluation, entry.score, None)), *_ties(entry)) for entry in whole
    ]
    metrics = _metrics(_of(evaluation, whole[0].score, None))
    columns = [Column("Score"), *metrics, Column("Distinct scores"), Column("Largest tie")]
    same = evaluation.provenance["same_samples"]  # no score is the best of several on other samples
    return Table(columns, rows, notes=brackets(evaluation), ranks=1 if same else 0)


def _by_group(evaluation: Evaluation, score: str) -> Table:
    """Return one row per group: its size, what the threshold of all samples does to it, and its metrics."""
    found: dict[str | None, list[Measurement]] = {}
    for entry in evaluation.measurements:
        if entry.score == score:
            found.setdefault(entry.group, []).append(entry)
    metrics = found.pop(None)
    notes = brackets(evaluation, together=True)
    title = f"{score} by group" + (", intervals hold together" if notes else "")
    groups = list(found)
    if len(groups) > GROUPS:
        groups = sorted(groups, key=lambda group: _badness(found[group][0]), reverse=True)[:GROUPS]
        notes.append(f"{GROUPS} of {len(found)} groups, the worst by {metrics[0].label}; .measurements holds all.")
    curves = {entry.group: entry.curve for entry in evaluation.summaries if entry.score == score}
    threshold = curves[None].at(coverage=COMMON).threshold
    columns, points = [Column("Group"), Column("n")], {}
    if not math.isnan(threshold):
        columns += [Column("Coverage at τ"), Column("Risk at τ")]
        notes.append(f"τ of {score}: {threshold!r}, which accepts at least {100 * COMMON:g} % of all samples.")
        points = {group: curve.at(threshold=threshold) for group, curve in curves.items()}
    rows: list[Row] = []
    for group in groups:
        n = curves[group].blocks.n if group in curves else 0
        point = points.get(group)
        at = (math.nan, math.nan) if point is None else (point.coverage, point.selective_risk)
        rows.append((str(group), n, *(at if points else ()), *map(_estimate, found[group])))
    return Table([*columns, *_metrics(metrics)], rows, title=title, notes=notes, ranks=0)


def _of(evaluation: Evaluation, score: str, group: str | None) -> list[Measurement]:
    return [entry for entry in evaluation.measurements if (entry.score, entry.group) == (score, group)]


def _metrics(found: list[Measurement]) -> list[Column]:
    return [Column(entry.label, entry.direction) for entry in found]


def _estimate(entry: Measurement) -> Estimate:
    return Estimate(entry.value, entry.low, entry.high)


def _ties(summary: ScoreSummary) -> tuple[str, int]:
    return f"{100.0 * summary.distinct_share:.1f} %", summary.largest_tie


def _badness(entry: Measurement) -> float:
    if math.isnan(entry.value):
        return -math.inf
    return entry.value if entry.direction == "lower" else -entry.value
