"""Sections of a monitoring: whether the promise held, by period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from abstain._result import Column, Estimate, Row, Table, readable
from abstain.monitoring import Monitoring, Period
from abstain.report._page import Chart, Charts, Grid, Part, Prose, Section, Series
from abstain.report._source import Source

#: The evidence is drawn on a logarithmic scale from here on.
LEAST = 1e-3
#: So many periods are named in the charts.
NAMED = 4
#: Names from so many letters on, such as dates, have more room.
LONG = 8
#: Evidence above this is told as that: more digits say nothing.
PLENTY = 1e6


#: What the verdict says to answering on, in a word.
SIGN = {"yes": "Go on: no alarm", "care": "Go on with care: a warning", "no": "Stop: the promise is broken"}


def headline(seen: Monitoring) -> str:
    """Return how many rows were watched, and whether the promise is shown to be broken."""
    rows = f"{seen.n:,} rows since deployment, {seen.n_accepted:,} answered"
    if not seen.promised:
        return f"{rows} · this policy promises nothing"
    if seen.promise_broken is None:
        return f"{rows} · whether the promise is kept cannot be told"
    state = "is broken" if seen.promise_broken else "is not shown to be broken"
    return (
        f"{rows} · the promise {state}: largest evidence so far {_size(seen.evidence)}, alarm at {1.0 / seen.delta:.3g}"
    )


def _whole(seen: Monitoring, source: Source) -> list[Section]:
    """Return tables and notes, and by group the thresholds, with the rows of groups that have none."""
    parts: list[Part] = []
    for table in seen.tables():
        plain = not table.columns[0].title
        if plain and seen.cost is None:
            table = replace(table, columns=[table.columns[0], replace(table.columns[1], share=True)])
        if not plain and not table.title:
            table = _periods(table, seen.periods if table.columns[0].title == "Period" else seen.by_group)
        parts.append(Grid(table))
    if seen.by_group:
        parts.insert(1, Grid(_thresholds(seen)))
    found = [Section("result", "Result", (*parts, Prose(tuple(seen.notes()), "note")))]
    if source.outputs is None:
        return found
    rows: list[Row] = [(f"read as {part}", words) for part, words in source.outputs.understood().items()]
    table = Table([Column("Check"), Column("Found", left=True)], [*rows, *source.unread()])
    return [*found, Section("checks", "Data checks", (Grid(table),))]


def _periods(table: Table, lines: Sequence[Period]) -> Table:
    """Return the table of periods, or groups, with risk and coverage in per cent."""
    lines = lines[-len(table.rows) :]
    rows: list[Row] = []
    for row, one in zip(table.rows, lines, strict=True):
        drift = float(np.nanmax([0.0, one.coverage_drift, one.score_drift]))
        signs = _size(one.evidence), _size(one.change) + "!" * bool(one.signals), _size(drift)
        rows.append((row[0], row[1], one.coverage, Estimate(one.risk, one.risk_low, one.risk_high), *signs))
    columns = [replace(each, share=each.title in ("Coverage", "Risk")) for each in table.columns]
    return replace(table, columns=columns, rows=rows)


def _size(value: float) -> str:
    """Return a quantity with an alarm as people read it, without powers of ten."""
    if value > PLENTY:
        return f">{PLENTY:,.0f}"
    return "<0.001" if 0.0 < value < 0.001 else f"{value:,.0f}" if value >= 100.0 else f"{value:.3g}"


def _thresholds(seen: Monitoring) -> Table:
    """Return the threshold of each group, and what became of all rows."""
    known = {one.period: one for one in seen.by_group}
    rows: list[Row] = []
    for name, limit in seen.thresholds.items():
        one = known.get(name)
        if one is None:
            rows.append((name, "none: all passed on", "", ""))
        else:
            rows.append((name, readable(limit), f"{one.n:,}", f"{one.n_accepted:,}"))
    rest = seen.n - sum(one.n for one in seen.by_group)
    lost = [name for name, limit in seen.thresholds.items() if limit == np.inf]
    if len(lost) == 1:
        rows = [(*row[:2], f"{rest:,}", "0") if row[0] == lost[0] else row for row in rows]
    elif rest or lost:
        rows.append(("groups without a threshold", "none: all passed on", f"{rest:,}", "0"))
    rows.append(("all", "", f"{seen.n:,}", f"{seen.n_accepted:,}"))
    columns = [Column("Group", left=True), Column("Answered from"), Column("Rows"), Column("Answered")]
    return Table(columns, rows, title="The policy, and where the rows went")


def sections(seen: Monitoring, source: Source) -> list[Section]:
    """Return the numbers, and risk, coverage and evidence by period."""
    whole = _whole(seen, source)
    if len(seen.periods) < 2:
        return whole
    x = np.arange(1.0, len(seen.periods) + 1.0)
    names = ("risk_low", "risk_high", "risk", "coverage", "evidence")
    low, high, risk, coverage, evidence = (
        np.array([getattr(each, name) for each in seen.periods], dtype=np.float64) for name in names
    )
    span = (0.5, len(x) + 0.5)
    step = -(-len(x) // (NAMED if max(len(one.period) for one in seen.periods) < LONG else NAMED - 1))
    labels = tuple(str(each.period) if k % step == 0 else "" for k, each in enumerate(seen.periods))
    axis = "Period, by its first day or number"
    ends = np.concatenate([high, risk])
    top = 1.05 * float(ends[np.isfinite(ends)].max(initial=seen.limit or 0.0)) or 1.0
    drawn = np.log10(np.clip(evidence, LEAST, PLENTY))
    alarm = float(np.log10(1.0 / seen.delta))
    beyond = f", drawn up to {PLENTY:,.0f}" if evidence.max() > PLENTY else ""
    edge, most = np.array([0.5, len(x) + 0.5]), max(alarm, float(drawn.max())) + 0.5
    risks = [Series("", x, risk, low, high, "dots", 0)]
    covered = [Series("", x, coverage, kind="dots", colour=2)]
    if seen.limit is not None:
        risks.append(Series("", edge, np.full(2, seen.limit), colour=-1))
    if seen.calibrated is not None:
        covered.append(Series("", edge, np.full(2, seen.calibrated), colour=-1))
    charts = (
        Chart("risk", "Risk of each period alone, with its 95 % interval; dashed: the promise", axis, "Risk",
              tuple(risks), span, (0.0, top), labels=labels, shares="y"),
        Chart("coverage", "Coverage by period; dashed: at calibration", axis, "Coverage", tuple(covered),
              span, (0.0, 1.0), labels=labels, shares="y"),
        Chart("evidence", f"Evidence against the promise{beyond}; dashed: the alarm", axis, "Evidence, powers of ten",
              (Series("", edge, np.array([alarm, alarm]), colour=-1), Series("", x, drawn, colour=0)), span,
              (min(-1.0, float(drawn.min())), most), labels=labels),
    )  # fmt: skip
    words = "The promise is broken where the evidence reaches the alarm; it may be looked at as often as one likes."
    parts: tuple[Part, ...] = (Charts(charts), Prose((words,)))
    return [Section("periods", "Period by period", parts), *whole]
