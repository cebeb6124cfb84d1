"""Sections of a live certificate, call by call, and how far any certificate reaches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._result import Column, Row, Table, percent, readable
from abstain.live import LiveCertification
from abstain.report._lead import share
from abstain.report._page import Board, Chart, Charts, Grid, Number, Part, Prose, Rule, Section, Series
from abstain.report._source import Source
from abstain.thresholds import Reach

if TYPE_CHECKING:
    from abstain._result import Verdict

#: So many calls are named below a chart; a chart of the reach ends at so many times the share that is borne; evidence
#: is drawn up to so many powers of ten above the alarm.
NAMED, BEYOND, PLENTY = 8, 3.0, 3.0


def about(live: LiveCertification) -> str:
    """Return how much was counted."""
    rows, labels = (sum(getattr(one, name) for one in live.groups.values()) for name in ("rows", "labels"))
    return f"{rows:,} rows and {labels:,} labels so far"


def contents(live: LiveCertification, source: Source, verdict: Verdict) -> tuple[Board, list[Section]]:
    """Return the coverage that is certified over time, thresholds and labels, the reach, and the table."""
    charts = _over_time(live)
    words = (
        "No threshold that was ever declared exceeds the limit, with this confidence over all days together, if all "
        "rows come from one population."
    )
    drawn = [Section("time", "Threshold and labels", (Charts(charts[1:]), Prose((words,))))] if charts[1:] else []
    return Board(charts[0] if charts else None, _numbers(live, verdict.score)), [
        *drawn,
        *([] if live.reach is None else [reach_section(live.reach)]),
        Section(
            "result", "Groups" if list(live.groups) != [""] else "Batches of rows", tuple(map(Grid, live.tables()))
        ),
    ]


def _numbers(live: LiveCertification, score: str) -> tuple[Number, ...]:
    """Return what is certified now, and what it cost."""
    rows, labels = (sum(getattr(one, name) for one in live.groups.values()) for name in ("rows", "labels"))
    one = live.groups.get("")
    limit = f"limit {live.risk:g}" if live.graded else f"limit {percent(live.risk)}"
    violated = any(each.violated_at is not None for each in live.groups.values())
    covered = "Coverage until the violation" if violated else "Coverage at the certified threshold"
    found = [Number(covered, share(live.coverage))]
    if one is not None and not math.isnan(one.risk):
        what = "Mean loss of answers" if live.graded else "Error rate of answers"
        risk = f"{one.risk:.4g}" if live.graded else share(one.risk)
        found.append(Number(what, risk, f"{limit} ({percent(1.0 - live.delta)} confidence)"))
    if one is not None:
        where = "Threshold until the violation" if violated else "Threshold"
        known = one.threshold < math.inf
        of = f"of {score}" if score and known else ""
        found.append(Number(where, readable(one.threshold) if known else "none yet", of))
    return (*found, Number("Labels", f"{labels:,}", f"of {rows:,} rows"))


def _over_time(live: LiveCertification) -> tuple[Chart, ...]:
    """Return coverage, threshold and labels after each call; after a violation first the evidence of it.

    Nothing after the first call.
    """
    lines = live.history
    if len(lines) < 2:
        return ()
    place, span = np.arange(1.0, len(lines) + 1.0), (0.5, len(lines) + 0.5)
    step = -(-len(lines) // NAMED)
    labels = tuple(line.when if k % step == 0 else "" for k, line in enumerate(lines))
    axis = "Batches of rows, oldest first →"
    changed = [k + 1.0 for k, line in enumerate(lines) if line.changed][:1]
    changes = tuple(Rule(each, "change", "x") for each in changed)
    coverage = np.array([line.coverage for line in lines])
    last = ("",) * (len(lines) - 1) + (share(float(coverage[-1])),)
    rows, spent = (np.array([getattr(line, name) for line in lines], dtype=np.float64) for name in ("rows", "labels"))

    def chart(
        name: str, title: str, y: str, drawn: tuple[Series, ...], ends: tuple[float, float], **more: Any
    ) -> Chart:
        return Chart(name, title, axis, f"↑ {y}", drawn, span, ends, labels=labels, **more)

    title = f"Coverage at the certified threshold, limit {percent(live.risk)}"
    covered = (Series("", place, coverage, kind="dots", words=last),)
    charts = [chart("coverage", title, "Coverage", covered, (0.0, 1.0), shares="y", rules=changes)]
    known = [line.threshold for line in lines if line.threshold is not None]
    if known:
        values = np.array([math.nan if line.threshold is None else line.threshold for line in lines])
        room = 0.1 * (max(known) - min(known)) or 0.05 * max(1.0, abs(known[0]))
        ends = (min(known) - room, max(known) + room)
        series = (Series("", place, values, kind="step"),)
        charts.append(chart("threshold", "Threshold in force", "Answered from", series, ends))
    counted = (Series("labels", place, spent), Series("rows", place, rows, colour=-1))
    top = (0.0, 1.05 * float(rows.max()) or 1.0)
    charts.append(chart("labels", "Labels that were spent, of all rows", "So far", counted, top))
    if any(each.violated_at is not None for each in live.groups.values()):
        values, alarm = np.array([line.log_evidence for line in lines]) / math.log(10.0), -math.log10(live.delta)
        values = np.minimum(values, alarm + PLENTY)
        ends = (min(-1.0, float(values.min())), max(alarm, float(values.max())) + 0.5)
        words = "Evidence against the guarantee, a betting score: 1 is none"
        drawn, rules = (Series("", place, values, kind="dots"),), (Rule(alarm, "violated"), *changes)
        title = "Evidence against the guarantee after each call"
        charts.insert(0, chart("evidence", title, words, drawn, ends, rules=rules, powers=True))
    return tuple(charts)


def reach_section(reach: Reach) -> Section:
    """Return how far a guarantee reaches: a sentence, the worst risk over the share of unseen cases, and a table."""
    if not reach.slack:
        return Section("reach", "How far it reaches", (Prose((reach.sentence,)),))
    rows: list[Row] = [
        ("share of the answers that is of an unseen kind, all wrong", share(reach.ood_share)),
        ("share of all cases that is of an unseen kind, all answered, all wrong", share(reach.ood_cases())),
        ("density ratio of the answered cases", f"{reach.density_ratio:.3g}"),
        ("total variation distance of the answered cases", f"{reach.total_variation:.3g}"),
        ("chi-square divergence of the answered cases", f"{reach.chi_square:.3g}"),
        ("smallest subgroup of the answers that satisfies twice the limit", share(reach.smallest_subgroup)),
    ]
    table = Grid(Table([Column("What may differ from calibration", left=True), Column("Until")], rows))
    end = min(1.0, BEYOND * reach.ood_share)
    unseen = np.linspace(0.0, end, 2)
    worst = np.array([reach.with_ood(each) for each in unseen])
    chart = Chart(
        "reach",
        "Worst risk, if a part of the answers is of a kind never seen",
        "Share of the answers that is unseen and wrong →",
        "↑ Worst risk",
        (Series("", unseen, worst),),
        (0.0, end),
        (0.0, 1.1 * float(worst.max())),
        shares="xy",
        rules=(Rule(reach.limit, f"limit {percent(reach.limit)}"), Rule(reach.ood_share, "", "x")),
    )
    parts: tuple[Part, ...] = (Prose((reach.sentence,)), Charts((chart,)), table)
    return Section("reach", "How far it reaches", parts)
