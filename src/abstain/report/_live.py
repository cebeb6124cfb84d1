"""Sections of a live certificate, call by call, and how far any certificate reaches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

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
    risk = () if one is None or math.isnan(one.risk) else (f"{one.risk:.4g}" if live.graded else share(one.risk),)
    violated = any(each.violated_at is not None for each in live.groups.values())
    covered = "Coverage until the violation" if violated else "Coverage at the certified threshold"
    return (
        Number(covered, share(live.coverage)),
        *(
            Number(
                "Mean loss of answers" if live.graded else "Error rate of answers",
                each,
                f"{limit} ({percent(1.0 - live.delta)} confidence)",
            )
            for each in risk
        ),
        *(
            ()
            if one is None
            else (
                Number(
                    "Threshold until the violation" if violated else "Threshold",
                    "none yet" if one.threshold == math.inf else readable(one.threshold),
                    f"of {score}" if score and one.threshold < math.inf else "",
                ),
            )
        ),
        Number("Labels", f"{labels:,}", f"of {rows:,} rows"),
    )


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
    title = f"Coverage at the certified threshold, limit {percent(live.risk)}"
    covered = Series("", place, coverage, kind="dots", words=last)
    charts = [
        Chart(
            "coverage",
            title,
            axis,
            "↑ Coverage",
            (covered,),
            span,
            (0.0, 1.0),
            labels=labels,
            shares="y",
            rules=changes,
        )
    ]
    known = [line.threshold for line in lines if line.threshold is not None]
    if known:
        values = np.array([math.nan if line.threshold is None else line.threshold for line in lines])
        room = 0.1 * (max(known) - min(known)) or 0.05 * max(1.0, abs(known[0]))
        ends = (min(known) - room, max(known) + room)
        series = (Series("", place, values, kind="step"),)
        charts.append(
            Chart("threshold", "Threshold in force", axis, "↑ Answered from", series, span, ends, labels=labels)
        )
    counted = (Series("labels", place, spent), Series("rows", place, rows, colour=-1))
    top = (0.0, 1.05 * float(rows.max()) or 1.0)
    charts.append(
        Chart("labels", "Labels that were spent, of all rows", axis, "↑ So far", counted, span, top, labels=labels)
    )
    if any(each.violated_at is not None for each in live.groups.values()):
        values, alarm = np.array([line.log_evidence for line in lines]) / math.log(10.0), -math.log10(live.delta)
        values = np.minimum(values, alarm + PLENTY)
        ends = (min(-1.0, float(values.min())), max(alarm, float(values.max())) + 0.5)
        words = "↑ Evidence against the guarantee, a betting score: 1 is none"
        drawn, rules = Series("", place, values, kind="dots"), (Rule(alarm, "violated"), *changes)
        title = "Evidence against the guarantee after each call"
        charts.insert(
            0, Chart("evidence", title, axis, words, (drawn,), span, ends, labels=labels, rules=rules, powers=True)
        )
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
