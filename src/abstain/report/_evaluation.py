"""Sections of an evaluation: curves, slider, tests, calibration, groups, failures, checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain import metrics
from abstain._result import Column, Estimate, Row, Status, Table, among, arrow, clean, percent, short
from abstain.curve import RiskCoverageCurve
from abstain.evaluation import RISK, Evaluation, by_column, rows_of
from abstain.inference import clopper_pearson
from abstain.report._compared import scores_of
from abstain.report._curves import both_kinds, curves_section, leading, levels_section, scaled
from abstain.report._lead import slider_numbers
from abstain.report._page import Board, Chart, Charts, Folded, Grid, Part, Prose, Section, Series
from abstain.report._rows import failures
from abstain.report._slider import NO_USE, UNCERTIFIED, Measured, slider_of
from abstain.report._source import Source

if TYPE_CHECKING:
    from abstain._result import Verdict

#: Columns of values that fit on a page, on paper too.
COLUMNS = 4
#: More scores than this have no reliability diagram and histogram each.
PANELS = 4
#: Metrics that are shares of cases, of a 0/1 loss, and headings of such shares.
SHARES = {"accuracy", "risk", "selective_risk", "selective_accuracy", "coverage_at_risk"}
AT = {"Coverage at τ", "Risk at τ"}
#: More groups than this are not drawn; the worst are.
DRAWN = 7


def about(evaluation: Evaluation) -> str:
    """Return how many rows there are, and what answering all of them costs."""
    whole = {each.n: each.curve.blocks for each in evaluation.judged.whole.values()}
    if len(whole) != 1:
        return evaluation.headline()
    ((n, blocks),) = whole.items()
    if not blocks.binary:
        return f"{n:,} rows · mean loss {blocks.mean_loss:.4g} without abstention"
    return f"{n:,} rows · error rate {percent(blocks.mean_loss)} without abstention"


def contents(evaluation: Evaluation, source: Source, verdict: Verdict) -> tuple[Board, list[Section]]:
    """Return what leads the page of an evaluation, and its sections."""
    judged = evaluation.judged
    measured = measured_of(evaluation, verdict)
    level, few = judged.level, "few_labels" in evaluation.provenance
    refused = "No policy is offered where the verdict is no." if verdict.sign == "no" else ""
    # without intervals, which estimates from few labels lack at a threshold, a slider would mislead
    slider = None if few else slider_of(measured, level, source, refused=refused)
    estimate = None
    if few and verdict.risk is not None and verdict.risk_interval is not None:
        estimate = (verdict.risk, *verdict.risk_interval)
    board = Board(leading(measured, level, verdict.limit, estimate), slider=slider) if measured else Board()
    if slider is not None:
        board = replace(board, numbers=slider_numbers(slider))
    return board, [
        *levels_section(verdict, measured, slider),
        *_curves(evaluation, measured),
        *_comparison(evaluation, verdict),
        *_groups(evaluation),
        *_calibration(evaluation),
        *_failures(evaluation, source),
        Section("metrics", "Metrics", _metrics(evaluation)),
        Section("checks", "Data", checks(evaluation, source)),
    ]


def measured_of(evaluation: Evaluation, verdict: Verdict | None = None) -> dict[str, Measured]:
    """Return the curve of each score, the best first, with what is certified and where its slider begins."""
    judged, best = evaluation.judged, evaluation.judged.best
    caveats = () if verdict is None else verdict.caveats
    but = {each.values["limit"]: each.sentence for each in caveats if each.kind == "group_above"}
    useless, found = verdict is not None and verdict.status is Status.NO_USE, {}
    for name in ordered(evaluation):
        curve, spoken = judged.whole[name].curve, judged.place(name)
        starts = [] if spoken is None else [spoken[0].threshold]
        if useless:
            starts = [float(curve.threshold[np.isfinite(curve.threshold)].min(initial=np.inf))]
        starts += [curve.at(risk=RISK).threshold] if starts and curve.blocks.binary else []
        found[name] = Measured(
            curve,
            judged.levels(name),
            counted(evaluation, curve),
            judged.independent,
            tuple(value for value in starts if np.isfinite(value)),
            but=but if name == best else {},
            early=frozenset(but if name == best else ()),
            status=NO_USE if useless else UNCERTIFIED,
        )
    return found


def _curves(evaluation: Evaluation, measured: Mapping[str, Measured]) -> list[Section]:
    if not measured:
        return []
    few = evaluation.provenance.get("few_labels")
    words = (
        []
        if few is None
        else [
            f"Estimated from {few['labelled']:,} labels: the curve has no band, and a risk at a threshold no interval. "
            "Those with an interval are in the section Metrics."
        ]
    )
    return [curves_section(measured, evaluation.judged.level, words)]


def _metrics(evaluation: Evaluation) -> tuple[Part, ...]:
    """Return the tables of all rows, and those of groups, which are long, to be opened."""
    tables = [_in_shares(evaluation, table) for table in evaluation.tables()]
    whole = [table for table in tables if "by group" not in table.title]
    groups = tuple(Grid(table, COLUMNS) for table in tables if "by group" in table.title)
    words = Prose(("Intervals of each number by itself; those under Groups hold together for all groups: wider.",))
    return (
        *(Grid(table, COLUMNS) for table in whole),
        *([Folded("All metrics by group", (words, *groups))] if groups else []),
    )


def _in_shares(evaluation: Evaluation, table: Table) -> Table:
    """Return a table whose shares of cases are in per cent, as everything else of the page says them."""
    if not evaluation.provenance.get("binary_loss"):
        return table
    found = [each for each in evaluation.measurements if each.metric.partition("(")[0] in SHARES]
    rows, columns = {arrow(each.label, each.direction) for each in found}, {each.label for each in found} | AT
    return replace(
        table,
        shares=[k for k, row in enumerate(table.rows) if row[0] in rows],
        columns=[replace(each, share=each.share or each.title in columns) for each in table.columns],
    )


def counted(evaluation: Evaluation, curve: RiskCoverageCurve) -> bool:
    """Whether intervals of a curve are exact: 0/1 losses of independent rows that count once each."""
    blocks = curve.blocks
    return evaluation.judged.independent and blocks.binary and bool(np.array_equal(blocks.weight, blocks.count))


def ordered(evaluation: Evaluation) -> list[str]:
    """Return the scores, that of least AUGRC first."""
    area, whole = metrics.get("augrc"), evaluation.judged.whole
    return sorted(whole, key=lambda name: area(whole[name].curve.blocks))


def chart(evaluation: Evaluation) -> Chart | None:
    """Return the curves of the first scores."""
    measured = dict(list(measured_of(evaluation).items())[:PANELS])
    return both_kinds(measured, evaluation.judged.level)[0] if measured else None


def _comparison(evaluation: Evaluation, verdict: Verdict) -> list[Section]:
    found = evaluation.judged.comparison
    if found is None:
        return []
    better = [] if verdict.comparison is None else [Prose((verdict.comparison.sentence,))]
    return [Section("scores", "Scores compared", (*better, *scores_of(found)))]


def _calibration(evaluation: Evaluation) -> list[Section]:
    judged, names = evaluation.judged, ordered(evaluation)[:PANELS]
    if "few_labels" in evaluation.provenance:  # shares of estimated errors in bins, without intervals, would mislead
        return []
    tables = {name: judged.whole[name].curve.blocks for name in names}
    unit = {name: each for name, each in tables.items() if each.binary and each.score[-1] >= 0 and each.score[0] <= 1}
    charts: list[Chart] = []
    if unit:
        from abstain.plots import ReliabilityDisplay

        level = evaluation.judged.level if judged.independent else None
        for k, (name, panel) in enumerate(ReliabilityDisplay(unit, level=level).panels.items()):
            curve, share = panel.curve, panel.curve.weight / panel.curve.weight.sum()
            series = (
                Series("calibrated", np.array([0.0, 1.0]), np.array([0.0, 1.0]), colour=-1),
                Series("share of rows", curve.confidence, share, kind="line", colour=-2),
                Series("share of right answers", curve.confidence, curve.accuracy, panel.low, panel.high, "dots", 0),
            )
            text = f"A calibrated score lies on the diagonal; ECE {panel.ece:.3f}"
            charts.append(
                Chart(
                    f"reliability-{k}",
                    f"{short(name)}: ECE {panel.ece:.3f}",
                    "Score",
                    "Share",
                    series,
                    (0.0, 1.0),
                    (0.0, 1.0),
                    text,
                )
            )
    for k, (name, blocks) in enumerate(tables.items()):
        if blocks.binary and (drawn := _histogram(f"histogram-{k}", name, blocks)) is not None:
            charts.append(drawn)
    if not charts:
        return []
    words = (
        [
            "Dots: share of right answers in a bin, with exact intervals where rows are independent. Grey: the "
            "diagonal of a calibrated score, and share of the rows in each bin."
        ]
        if unit
        else []
    )
    words.append("Histograms: density of the score among right and among wrong answers, each by itself.")
    return [Section("calibration", "Calibration", (Charts(tuple(charts)), Prose(tuple(words))))]


def _histogram(key: str, name: str, blocks: Any) -> Chart | None:
    finite = np.isfinite(blocks.score)
    score, wrong = blocks.score[finite], blocks.loss[finite]
    right = blocks.weight[finite] - wrong
    if not score.size or score[0] == score[-1]:
        return None
    edges = np.linspace(score[-1], score[0], 41)
    series, most = [], 0.0
    for k, (word, weight) in enumerate((("right", right), ("wrong", wrong))):
        if not weight.sum():
            continue
        height = np.histogram(score, edges, weights=weight)[0] / (weight.sum() * np.diff(edges))
        most = max(most, float(height.max()))
        series.append(Series(word, np.repeat(edges, 2)[1:-1], np.repeat(height, 2), colour=k))
    return Chart(
        key,
        f"{short(name)}: right and wrong answers",
        "Score",
        "Density",
        tuple(series),
        (float(edges[0]), float(edges[-1])),
        (0.0, 1.05 * most),
    )


def _groups(evaluation: Evaluation) -> list[Section]:
    judged = evaluation.judged
    name = judged.best or next(iter(judged.whole), None)
    if name is None:
        return []
    columns = by_column(evaluation, name)
    if not columns:
        return []
    curve = judged.whole[name].curve
    spoken = judged.place(name)
    if spoken is None:
        return []
    point, _ = spoken
    parts: list[Part] = []
    for k, (column, members) in enumerate(columns.items()):
        parts += [
            Grid(_group_table(evaluation, column, members, point.threshold)),
            *_group_chart(k, column, members, curve),
        ]
    said = (
        f"One threshold for all groups: {short(name)} of {among(point.threshold, curve.threshold)} or more, which "
        f"answers {percent(point.coverage)} of all rows. No group has a certificate of its own."
    )
    return [Section("groups", "Groups", (Prose((said,)), *parts))]


def _group_table(evaluation: Evaluation, column: str, members: Any, threshold: float) -> Table:
    tested, level = evaluation.judged.groups.get(column), evaluation.judged.level
    rows: list[tuple[float, Row]] = []
    sure = 1.0 - (1.0 - level) / len(members)  # as the verdict has them
    for value, summary in members.items():
        curve, blocks = summary.curve, summary.curve.blocks
        point = curve.at(threshold=threshold)
        ends = (np.nan, np.nan)
        if counted(evaluation, curve) and point.n_accepted:
            errors = round(point.selective_risk * point.n_accepted)
            ends = clopper_pearson(errors, point.n_accepted, sure)
        whole = tested.intervals.get(value) if tested is not None else None
        full = Estimate(blocks.mean_loss) if whole is None else Estimate(whole.estimate, whole.low, whole.high)
        may = [] if tested is None else ["yes" if value in tested.may_be_worst else "no"]
        row = (value, Estimate(point.selective_risk, *ends), point.coverage, blocks.n, full, *may)
        known = ends[0] if np.isfinite(ends[0]) else point.selective_risk  # few rows are no evidence
        rows.append((1.0 if np.isnan(known) else -known, row))
    counts = all(each.curve.blocks.binary for each in members.values())
    heads = [
        Column(column),
        Column("Risk at it", share=counts),
        Column("Coverage at it", share=True),
        Column("n"),
        Column("Risk, all answered", share=counts),
    ]
    notes = [
        f"In brackets: intervals that hold together for all groups at {100.0 * level:g} %.",
        "Ordered by the lower end of the risk at it, so that few rows do not come first.",
    ]
    if tested is not None:
        heads.append(Column("may be the worst", left=True))
        notes.append("May be the worst: of the risk when everything is answered.")
    shown = [row for _, row in sorted(rows, key=lambda each: each[0])]
    return Table(heads, shown, title=f"Groups of {column}, by the lower end of the risk at it", notes=notes, ranks=0)


def _group_chart(k: int, column: str, members: Any, whole: RiskCoverageCurve) -> list[Part]:
    worst = sorted(members.items(), key=lambda each: -each[1].curve.blocks.mean_loss)[:DRAWN]
    drawn = [Series("all rows", whole.coverage, whole.selective_risk, colour=-1)]
    drawn += [
        Series(value, each.curve.coverage, each.curve.selective_risk, colour=j) for j, (value, each) in enumerate(worst)
    ]
    more = f", the worst {DRAWN} of {len(members)}" if len(members) > DRAWN else ""
    chart = Chart(
        f"groups-{k}",
        f"Selective risk by {column}{more}",
        "Coverage of the group",
        "Selective risk",
        tuple(drawn),
        (0.0, 1.0),
        scaled(drawn),
        shares="xy" if whole.blocks.binary else "x",
    )
    return [Charts((chart,))]


def _failures(evaluation: Evaluation, source: Source) -> list[Section]:
    judged = evaluation.judged
    name = judged.best or next(iter(judged.whole), None)
    rows = None if name is None else rows_of(judged.whole[name].curve.blocks)
    if name is None or rows is None or not judged.whole[name].curve.blocks.binary:
        return []
    parts = failures(name, rows[0], rows[1], judged.whole[name].curve, source)
    return [Section("failures", "Most confident errors", tuple(parts))] if parts else []


def checks(evaluation: Evaluation, source: Source) -> tuple[Part, ...]:
    """Return how columns were read and what is unusual about the rows: ties, missing scores, copies, abstentions."""
    facts, rows = evaluation.provenance, list[Row]()
    for part, words in facts.get("understood", {}).items():
        rows.append((f"read as {part}", clean(words)))
    for name, each in evaluation.judged.whole.items():
        missing = each.n_rejected + each.n_dropped
        outcome = f", {'rejected' if each.n_rejected else 'left out'}" if missing else ""
        rows.append((f"{name}: without a score", f"{missing} of {each.n + each.n_dropped}{outcome}"))
        rows.append(
            (
                f"{name}: ties",
                f"{percent(each.distinct_share)} of the values are distinct; the largest tie "
                f"holds {each.largest_tie} of {each.n} rows",
            )
        )
    rows += [row for row in source.checks() if not str(row[0]).startswith("read as")]
    copies = evaluation.judged.copies
    rows.append(("copies of whole rows", copies[0] if copies else "no unusual number"))
    answers = facts.get("answers")
    if answers is not None:
        rows += [(f"answers {state}", f"{count} of {answers.n}") for state, count in answers.counts.items()]
    else:
        rows.append(("abstained, unscored", "the rows have no such states"))
    rows += [("not certified", evaluation.judged.uncertified)] if evaluation.judged.uncertified else []
    table = Table([Column("Check"), Column("Found", left=True)], rows)
    notes = tuple(
        note for note in evaluation.notes() if not note.startswith("read as: ") and "the largest tie holds" not in note
    )
    return (Grid(table), *([Prose(notes, "note")] if notes else []))
