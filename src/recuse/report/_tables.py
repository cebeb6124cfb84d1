"""From an evaluation to plain tables: text cells, the best of each row marked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recuse.evaluation import Evaluation, Measurement

#: Columns that still fit side by side on a terminal and a page.
COLUMNS = 7
#: Coverages whose operating points a report lists.
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)

ARROW = {"lower": "↓", "higher": "↑"}


@dataclass(frozen=True)
class Table:
    """Text cells with a title; ``best`` holds the (row, column) of the cells to set in bold."""

    title: str
    corner: str
    header: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[tuple[int, int]] = frozenset()


def clean(text: str) -> str:
    """Return text without control or formatting characters: names come from files and may hold anything."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in str(text))


def number(value: float) -> str:
    """Return four significant digits; a dash for NaN."""
    return "—" if np.isnan(value) else f"{value:.4g}"


def headline(evaluation: Evaluation) -> str:
    """Return one line that says what was evaluated."""
    facts = evaluation.provenance
    loss = "0/1 loss" if facts["binary_loss"] else "mean loss"
    weighted = " · weighted" if facts["weighted"] else ""
    return f"{facts['n']} samples · {loss} {number(facts['mean_loss'])}{weighted}"


def tables(evaluation: Evaluation) -> list[Table]:
    """Return the table of all samples (metrics x scores), then one per score for the groups."""
    overall = [entry for entry in evaluation.measurements if entry.group is None]
    result = _split("", overall, [(score, None) for score in evaluation.scores], list(evaluation.scores))
    result = [_with_ties(table, evaluation) for table in result]
    groups = [group for group in evaluation.groups if group is not None]
    for score in evaluation.scores if groups else []:
        entries = [entry for entry in evaluation.measurements if entry.score == score]
        sizes = {entry.group: entry.n for entry in evaluation.summaries if entry.score == score}
        header = [f"{group} (n = {sizes[group]})" for group in groups]
        result += _split(f"{score} by group", entries, [(score, group) for group in groups], header, mark=False)
    return result


def _with_ties(table: Table, evaluation: Evaluation) -> Table:
    """Return the table with two more rows: ties decide how fine the thresholds can be, so they are always shown."""
    summaries = {clean(entry.score): entry for entry in evaluation.summaries if entry.group is None}
    distinct = tuple(f"{100.0 * summaries[name].distinct_share:.1f} %" for name in table.header)
    largest = tuple(str(summaries[name].largest_tie) for name in table.header)
    return replace(table, names=(*table.names, "Distinct scores", "Largest tie"), rows=(*table.rows, distinct, largest))


def _split(
    title: str, entries: list[Measurement], keys: list[tuple[str, str | None]], header: list[str], mark: bool = True
) -> list[Table]:
    """Return tables of at most COLUMNS columns; the best of a row is marked over all of them."""
    cells = {(entry.spec, entry.score, entry.group): entry for entry in entries}
    specs = list(dict.fromkeys(entry.spec for entry in entries))
    best = {spec: _best([cells[spec, *key] for key in keys]) if mark and len(keys) > 1 else None for spec in specs}
    result = []
    for start in range(0, len(keys), COLUMNS):
        part = keys[start : start + COLUMNS]
        rows = [[cells[spec, *key] for key in part] for spec in specs]
        result.append(
            Table(
                title=clean(title),
                corner="",
                header=tuple(clean(name) for name in header[start : start + COLUMNS]),
                names=tuple(f"{clean(row[0].metric)}  {ARROW[row[0].direction]}" for row in rows),
                rows=tuple(tuple(number(entry.value) for entry in row) for row in rows),
                best=frozenset(
                    (i, j)
                    for i, (spec, row) in enumerate(zip(specs, rows, strict=True))
                    for j, entry in enumerate(row)
                    if best[spec] is not None and entry.value == best[spec]
                ),
            )
        )
    return result


def _best(row: list[Measurement]) -> float | None:
    """The best value of a row, or None if it does not tell scores apart."""
    values = [entry.value for entry in row if not np.isnan(entry.value)]
    if len(set(values)) < 2:
        return None
    return min(values) if row[0].direction == "lower" else max(values)


def operating_points(evaluation: Evaluation) -> list[Table]:
    """Return per score the attainable points at round coverages: threshold, accepted, coverage, risks."""
    result = []
    for summary in evaluation.summaries:
        if summary.group is not None:
            continue
        points = [summary.curve.at(coverage=coverage) for coverage in COVERAGES]
        result.append(
            Table(
                title=f"Operating points of {clean(summary.score)}",
                corner="Coverage of at least",
                header=("Threshold", "Accepted", "Coverage", "Selective risk", "Generalized risk"),
                names=tuple(f"{coverage:.0%}" for coverage in COVERAGES),
                rows=tuple(
                    (
                        repr(point.threshold),  # in full: a rounded threshold accepts other samples
                        f"{point.n_accepted} of {point.n}",
                        number(point.coverage),
                        number(point.selective_risk),
                        number(point.generalized_risk),
                    )
                    for point in points
                ),
            )
        )
    return result
