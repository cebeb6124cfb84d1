"""From an evaluation to plain tables: text cells, the best of each row marked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation, Measurement

#: Columns that still fit side by side on a terminal and a page.
COLUMNS = 7
#: Names longer than this lose their middle where they head a column.
LONGEST = 40
#: Coverages whose operating points a report lists.
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)

#: What a report shows first, with a remark; an empty one stands for the best score.
KEY_FIGURES = {
    "accuracy": "nothing rejected",
    "risk": "nothing rejected",
    "coverage_at_risk": "",
    "augrc": "",
}

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
    """Return text with control, formatting and unassigned characters escaped: names come from files."""
    return "".join(c if c.isprintable() else _escaped(ord(c)) for c in str(text))


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def short(name: str, limit: int = LONGEST) -> str:
    """Return a name for a heading or a legend: clean, not empty, and with its middle cut out if it is long."""
    text = clean(name) or '""'
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 3
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def number(value: float) -> str:
    """Return four significant digits; a dash for NaN."""
    return fixed(value, decimals([value]))


def decimals(values: Iterable[float]) -> int | None:
    """Return the decimals that show four digits of the smallest number, but no more than five of the largest.

    Numbers of one column are compared digit by digit, so they share them. None: too small or large for decimals.
    """
    sizes = [abs(value) for value in values if np.isfinite(value) and value != 0.0]
    if not sizes or not 1e-5 <= max(sizes) < 1e6:
        return None
    least, most = (3 - math.floor(math.log10(size)) for size in (min(sizes), max(sizes)))
    return max(0, min(least, most + 1, 8))


def fixed(value: float, places: int | None) -> str:
    """Return a number with so many decimals, zeros at its end included; whole numbers, which are exact, without."""
    if np.isnan(value):
        return "—"
    if abs(value) < 1e6 and value == round(value):
        return f"{value + 0.0:.0f}"
    return f"{value:#.4g}" if places is None else f"{value:.{places}f}"


def cell(entry: Measurement) -> str:
    """Return a value with its interval, if it has one."""
    if np.isnan(entry.low) or np.isnan(entry.high):
        return number(entry.value)
    places = decimals([entry.value or entry.high])
    return f"{fixed(entry.value, places)} [{fixed(entry.low, places)}, {fixed(entry.high, places)}]"


def brackets(evaluation: Evaluation) -> list[str]:
    """Return a line that says what the brackets behind a value are, if there are any."""
    if all(np.isnan(entry.low) or np.isnan(entry.high) for entry in evaluation.measurements):
        return []
    return [f"In brackets: {100.0 * evaluation.provenance['level']:g} % confidence interval."]


def headline(evaluation: Evaluation) -> str:
    """Return one line that says what was evaluated."""
    facts = evaluation.provenance
    loss = "0/1 loss" if facts["binary_loss"] else "mean loss"
    weighted = " · weighted" if facts["weighted"] else ""
    return f"{facts['n']} samples · {loss} {number(facts['mean_loss'])}{weighted}"


def key_figures(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Return a few numbers to read first, as (what, value, remark), as far as they are there."""
    found = [("Samples", str(evaluation.provenance["n"]), "")]
    if not evaluation.provenance["same_samples"]:  # no score is the best of several on other samples
        return found
    for spec, remark in KEY_FIGURES.items():
        row = [entry for entry in evaluation.measurements if entry.group is None and entry.spec == spec]
        values = [entry for entry in row if not np.isnan(entry.value)]
        if not values:
            continue
        best = (min if row[0].direction == "lower" else max)(values, key=lambda entry: entry.value)
        percent = spec == "accuracy" or spec.startswith("coverage_at_risk")
        shown = f"{100.0 * best.value:.1f} %" if percent else number(best.value)
        if not remark and len(evaluation.scores) > 1:
            same = len(values) == len(row) and _best(row) is None
            winners = ", ".join(short(entry.score) for entry in values if entry.value == best.value)
            remark = "all scores" if same else f"best: {winners}"
        found.append((clean(best.metric), shown, remark))
    return found


def tables(evaluation: Evaluation, columns: int = COLUMNS) -> list[Table]:
    """Return the table of all samples (metrics x scores), then one per score for the groups."""
    scores = evaluation.scores
    overall = [entry for entry in evaluation.measurements if entry.group is None]
    keys: list[tuple[str, str | None]] = [(score, None) for score in scores]
    same = evaluation.provenance["same_samples"]
    result = _split("", overall, keys, [short(score) for score in scores], columns, mark=same)
    result = [_with_ties(table, evaluation, columns * i) for i, table in enumerate(result)]
    groups = [group for group in evaluation.groups if group is not None]
    sizes = {(entry.score, entry.group): entry.n for entry in evaluation.summaries}
    for score in scores if groups else []:
        entries = [entry for entry in evaluation.measurements if entry.score == score]
        header = [f"{short(group)} (n = {sizes.get((score, group), 0)})" for group in groups]
        keys = [(score, group) for group in groups]
        result += _split(f"{short(score)} by group", entries, keys, header, columns, mark=False)
    return result


def _with_ties(table: Table, evaluation: Evaluation, start: int) -> Table:
    """Return the table with two more rows: ties decide how fine the thresholds can be, so they are always shown."""
    overall = [entry for entry in evaluation.summaries if entry.group is None]
    shown = overall[start : start + len(table.header)]
    distinct = tuple(f"{100.0 * entry.distinct_share:.1f} %" for entry in shown)
    largest = tuple(str(entry.largest_tie) for entry in shown)
    return replace(table, names=(*table.names, "Distinct scores", "Largest tie"), rows=(*table.rows, distinct, largest))


def _split(
    title: str,
    entries: list[Measurement],
    keys: list[tuple[str, str | None]],
    header: list[str],
    columns: int,
    mark: bool = True,
) -> list[Table]:
    """Return tables of at most so many columns; the best of a row is marked over all of them."""
    cells = {(entry.spec, entry.score, entry.group): entry for entry in entries}
    specs = list(dict.fromkeys(entry.spec for entry in entries))
    best = {spec: _best([cells[spec, *key] for key in keys]) if mark and len(keys) > 1 else None for spec in specs}
    result = []
    for start in range(0, len(keys), columns):
        part = keys[start : start + columns]
        rows = [[cells[spec, *key] for key in part] for spec in specs]
        result.append(
            Table(
                title=title,
                corner="",
                header=tuple(header[start : start + columns]),
                names=tuple(f"{clean(row[0].metric)}  {ARROW[row[0].direction]}" for row in rows),
                rows=tuple(tuple(cell(entry) for entry in row) for row in rows),
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
        columns = [
            [getattr(point, name) for point in points] for name in ("coverage", "selective_risk", "generalized_risk")
        ]
        texts = [[fixed(value, decimals(column)) for value in column] for column in columns]
        result.append(
            Table(
                title=f"Operating points of {short(summary.score)}",
                corner="Coverage of at least",
                header=("Threshold", "Accepted", "Coverage", "Selective risk", "Generalized risk"),
                names=tuple(f"{100.0 * coverage:.0f} %" for coverage in COVERAGES),
                rows=tuple(
                    # the threshold in full: a rounded one accepts other samples
                    (repr(point.threshold), f"{point.n_accepted} of {point.n}", *cells)
                    for point, *cells in zip(points, *texts, strict=True)
                ),
            )
        )
    return result
