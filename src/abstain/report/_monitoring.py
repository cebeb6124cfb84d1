"""Sections of a monitoring: whether the guarantee held, period by period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._result import Column, Estimate, Row, Table, percent, readable
from abstain._typing import FloatArray
from abstain.monitoring import Monitoring, Period
from abstain.report._charts import named_intervals
from abstain.report._lead import share
from abstain.report._page import Board, Chart, Charts, Grid, Number, Part, Prose, Rule, Section, Series
from abstain.report._source import Source

if TYPE_CHECKING:
    from abstain._result import Verdict

#: Evidence is drawn on a logarithmic scale between these, and not printed with more digits above.
LEAST, PLENTY = 1e-3, 1e6
#: So many periods are named in the charts.
NAMED = 6


def about(seen: Monitoring) -> str:
    """Return how many rows were monitored."""
    return f"{seen.n:,} rows since deployment, {seen.n_accepted:,} answered"


def contents(seen: Monitoring, source: Source, verdict: Verdict) -> tuple[Board, list[Section]]:
    """Return the risk by period with its limit and the alarm, and coverage, evidence and all tables."""
    periods = _periods(seen, verdict) if len(seen.periods) > 1 else []
    board = Board(periods[0] if periods else _by_group(seen), _numbers(seen))
    words = "The guarantee is violated where the evidence reaches the alarm; it may be evaluated as often as one likes."
    drawn = [Section("periods", "Coverage and evidence", (Charts(tuple(periods[1:])), Prose((words,))))]
    rows = source.checks()
    table = Table([Column("Check"), Column("Found", left=True)], rows)
    return board, [
        *(drawn if periods else []),
        Section("result", "Periods and groups" if seen.by_group else "Periods", _tables(seen)),
        *([Section("checks", "Data", (Grid(table),))] if rows else []),
    ]


def _numbers(seen: Monitoring) -> tuple[Number, ...]:
    """Return the risk against its limit, the coverage against calibration, the evidence against its alarm."""
    graded = any(one.errors is None for one in seen.periods)
    risk = f"{seen.risk:.4g}" if graded else share(seen.risk)
    limit = "" if seen.limit is None else f"limit {seen.limit:g}" if graded else f"limit {percent(seen.limit)}"
    limit += f" ({percent(1.0 - seen.delta)} confidence)" if limit and seen.guaranteed else ""
    calibrated = "" if seen.calibrated is None else f"{share(seen.calibrated)} at calibration"
    evidence = [
        Number(
            "Evidence against the guarantee",
            _size(seen.evidence),
            f"a betting score: 1 is none, alarm at {1.0 / seen.delta:.3g}",
        )
    ]
    return (
        Number("Mean loss of answers" if graded else "Error rate of answers", risk, limit),
        *(evidence if seen.guaranteed else []),
        Number("Coverage", share(seen.coverage), calibrated),
        Number("Answered rows", f"{seen.n_accepted:,}", f"of {seen.n:,}"),
    )


def _by_group(seen: Monitoring) -> Chart | None:
    """Return the risk by group, where there is one period only."""
    rows = [(one.period, one.risk, one.risk_low, one.risk_high) for one in seen.by_group]
    rules = () if seen.limit is None else (Rule(seen.limit, f"limit {percent(seen.limit)}"),)
    if not rows:
        return None
    title = "Error rate of the answers by group, with 95 % intervals"
    return named_intervals("groups", title, "Error rate of the answers", rows, rules=rules, shares="y")


def _periods(seen: Monitoring, verdict: Verdict) -> list[Chart]:
    """Return risk, coverage and evidence by period: time runs to the right."""
    lines = seen.periods
    place = np.arange(1.0, len(lines) + 1.0)
    span = (0.5, len(lines) + 0.5)
    named = np.linspace(0.0, len(lines) - 1.0, min(NAMED, len(lines))).round()  # the first, the last, and some between
    labels = tuple(str(one.period) if k in named else "" for k, one in enumerate(lines))
    axis = "Periods, by their first day or number →"

    def column(name: str) -> FloatArray:
        return np.array([getattr(one, name) for one in lines], dtype=np.float64)

    tested = sum(one.risk == one.risk for one in lines) > 1 and all(one.errors is not None for one in lines)
    found = (each.values for each in verdict.caveats if each.kind == "stands_out")
    worse = next((str(each["name"]) for each in found if each["kind"] == "Period"), "")
    alike = "; none is significantly worse than the others" if tested and not worse else ""
    low, high, risk, evidence = column("risk_low"), column("risk_high"), column("risk"), column("evidence")
    highest = lines[int(np.nanargmax(risk))].period if tested else ""
    alike += "; worse: judged by rate and number of answers" if worse not in ("", highest) else ""
    marked = {worse: "worse"} if worse else {highest: f"{highest}: highest, perhaps by chance"}
    words = [marked.get(one.period, "") if tested else "" for one in lines]
    ends = np.concatenate([high, risk, [seen.limit or 0.0]])
    top = 1.05 * float(ends[np.isfinite(ends)].max()) or 1.0
    rules = [] if seen.limit is None else [Rule(seen.limit, f"limit {percent(seen.limit)}")]
    known = [one.period for one in lines]
    alarms = sorted({known.index(one.period) for one in seen.violations if one.period in known})
    rules += [Rule(k + 1.0, f"alarm {known[k]}" if k == alarms[0] else "", "x") for k in alarms]
    calibrated = () if seen.calibrated is None else (Rule(seen.calibrated, "at calibration"),)
    drawn, alarm = np.log10(np.clip(evidence, LEAST, PLENTY)), float(np.log10(1.0 / seen.delta))
    top_evidence = max(alarm, float(drawn.max())) + 0.5
    beyond = f", drawn up to {PLENTY:,.0f}" if evidence.max() > PLENTY else ""

    def chart(name: str, title: str, y: str, drawn: Series, ends: tuple[float, float], **more: Any) -> Chart:
        return Chart(name, title, axis, f"↑ {y}", (drawn,), span, ends, labels=labels, **more)

    said = f"Error rate of the answers, by period, with 95 % intervals{alike}"
    rates = Series("", place, risk, low, high, "dots", words=tuple(words))
    covered = Series("", place, column("coverage"), kind="dots")
    title = "Error rate of each period alone, with its 95 % interval"
    against, least = f"Evidence against the guarantee{beyond}", min(-1.0, float(drawn.min()))
    alarmed = (Rule(alarm, "alarm"),)
    return [
        chart("risk", title, said, rates, (0.0, top), shares="y", rules=tuple(rules)),
        chart("coverage", "Coverage by period", "Coverage", covered, (0.0, 1.0), shares="y", rules=calibrated),
        chart(
            "evidence", against, "Evidence", Series("", place, drawn), (least, top_evidence), rules=alarmed, powers=True
        ),
    ]


def _tables(seen: Monitoring) -> tuple[Part, ...]:
    """Return tables and notes, and by group the thresholds, with the rows of groups that have none."""
    parts: list[Part] = []
    for table in seen.tables():
        plain = not table.columns[0].title
        if plain and seen.cost is None:
            table = replace(table, columns=[table.columns[0], replace(table.columns[1], share=True)])
        if not plain and not table.title:
            table = _in_shares(table, seen.periods if table.columns[0].title == "Period" else seen.by_group)
        parts.append(Grid(table))
    if seen.by_group:
        parts.insert(1, Grid(_thresholds(seen)))
    return (*parts, Prose(tuple(seen.notes()), "note"))


def _in_shares(table: Table, lines: Sequence[Period]) -> Table:
    """Return the table of periods, or groups, with risk and coverage in per cent."""
    rows: list[Row] = []
    for row, one in zip(table.rows, lines[-len(table.rows) :], strict=True):
        drift = float(np.nanmax([0.0, one.coverage_drift, one.score_drift]))
        signs = _size(one.evidence), _size(one.change) + "!" * bool(one.signals), _size(drift)
        rows.append((row[0], row[1], one.coverage, Estimate(one.risk, one.risk_low, one.risk_high), *signs))
    columns = [replace(each, share=each.title in ("Coverage", "Risk")) for each in table.columns]
    return replace(table, columns=columns, rows=rows)


def _size(value: float) -> str:
    """Return a quantity with an alarm without powers of ten."""
    if value > PLENTY:
        return f"> {PLENTY:,.0f}"
    return "< 0.001" if 0.0 < value < 0.001 else f"{value:,.0f}" if value >= 100.0 else f"{value:.3g}"


def _thresholds(seen: Monitoring) -> Table:
    """Return the threshold of each group, and the outcome of all rows."""
    known = {one.period: one for one in seen.by_group}
    rows: list[Row] = []
    for name, limit in seen.thresholds.items():
        one = known.get(name)
        if one is None:
            rows.append((name, "none: all referred for review", "", ""))
        else:
            rows.append((name, readable(limit), f"{one.n:,}", f"{one.n_accepted:,}"))
    rest = seen.n - sum(one.n for one in seen.by_group)
    lost = [name for name, limit in seen.thresholds.items() if limit == np.inf]
    if len(lost) == 1:
        rows = [(*row[:2], f"{rest:,}", "0") if row[0] == lost[0] else row for row in rows]
    elif rest or lost:
        rows.append(("groups without a threshold", "none: all referred for review", f"{rest:,}", "0"))
    rows.append(("all", "", f"{seen.n:,}", f"{seen.n_accepted:,}"))
    columns = [Column("Group", left=True), Column("Answered from"), Column("Rows"), Column("Answered")]
    return Table(columns, rows, title="The policy, and the outcome of the rows")
