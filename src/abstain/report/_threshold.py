"""Sections of a threshold: its curve and slider, what was chosen, and the rows that it was chosen on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._result import Column, Row, Status, Table, percent
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.inference import clopper_pearson
from abstain.report._charts import ROWS, named_intervals
from abstain.report._curves import curves_section, leading, levels_section
from abstain.report._lead import slider_numbers
from abstain.report._live import reach_section
from abstain.report._page import Board, Controls, Folded, Grid, Part, Prose, Rule, Section
from abstain.report._rows import failures
from abstain.report._slider import NO_USE, UNCERTIFIED, Measured, slider_of
from abstain.report._source import Source
from abstain.thresholds import (
    CertifiedThreshold,
    EmpiricalThreshold,
    GroupThresholds,
    RiskLevel,
    certified_instead,
    each_errs,
)

if TYPE_CHECKING:
    from abstain._result import Verdict

#: Groups to slide over.
MOST = 40
#: Why no policy is saved from the slider of one group.
WHOLE = "The policy holds the thresholds of all groups: abstain threshold --groups -o FILE"


def about(found: EmpiricalThreshold | CertifiedThreshold | GroupThresholds) -> str:
    """Return how many rows it was chosen on."""
    if isinstance(found, GroupThresholds):
        return f"{found.calibration['n']:,} rows in {len(found.groups)} groups"
    return f"{found.calibration['n']:,} rows · error rate {percent(found.full_risk)} without abstention"


def contents(found: Any, source: Source, verdict: Verdict) -> tuple[Board, list[Section]]:
    """Return the curve with its slider where the rows are given, and the sections."""
    if isinstance(found, GroupThresholds):
        return _of_groups(found, source)
    chosen = [Section("chosen", "What was chosen", _chosen(found, source))]
    if isinstance(found, CertifiedThreshold) and found.attainable:
        chosen.append(reach_section(found.reach))
    if source.loss is None or source.confidence is None:
        return Board(), chosen
    name = next(iter(source.policies), "confidence")
    loss, score = (np.asarray(each, dtype=np.float64) for each in (source.loss, source.confidence))
    measured = {name: _measured(found, loss, score, source)}
    curve = measured[name].curve
    blocks = curve.blocks
    refused = "No policy is offered where the verdict is no." if verdict.sign == "no" else ""
    slider = slider_of(measured, found.level, source, refused=refused)
    board = Board(leading(measured, found.level, verdict.limit), slider=slider)
    if slider is not None:
        board = replace(board, numbers=slider_numbers(slider))
    wrong = failures(name, loss, np.where(np.isnan(score), -np.inf, score), curve, source) if blocks.binary else []
    last = [Section("failures", "Most confident errors", tuple(wrong))] if wrong else []
    return board, [
        *levels_section(verdict, measured, slider),
        curves_section(measured, found.level),
        *chosen,
        *last,
        Section("checks", "Data", _checks(name, blocks, source)),
    ]


def _measured(found: Any, loss: Any, score: Any, source: Source, *, tried: int = 1) -> Measured:
    """Return the curve of the rows that a threshold was chosen on; ``tried``: certificates of which it is one."""
    blocks = TieBlocks.from_samples(loss, score, nan_policy="reject", keep_samples=True)
    curve = RiskCoverageCurve(blocks)
    certified = tuple(replace(each, tried=tried) for each in _certified(found))
    but = {}
    if not certified and isinstance(found, CertifiedThreshold) and tried == 1:
        certified = certified_instead(found, curve)
        but = {each.risk: f"By a second certificate, at fixed ranks: {each_errs(found.delta)}." for each in certified}
    starts = (found.threshold,) if found.attainable else tuple(each.threshold for each in certified[:1])
    useless = found.verdict.status is Status.NO_USE
    if useless:
        starts = (float(curve.threshold[np.isfinite(curve.threshold)].min(initial=np.inf)),)  # answer all
    exact = blocks.binary and not source.dependent
    return Measured(
        curve, certified, exact, not source.dependent, starts, but=but, status=NO_USE if useless else UNCERTIFIED
    )


def _certified(found: EmpiricalThreshold | CertifiedThreshold) -> tuple[RiskLevel, ...]:
    """Return the guarantee of a threshold, if it has one, as the slider marks it."""
    if not isinstance(found, CertifiedThreshold) or not found.attainable:
        return ()
    return (RiskLevel(found.risk_limit, found.delta, True, found.threshold, found.coverage, lambda: found),)


def _of_groups(found: GroupThresholds, source: Source) -> tuple[Board, list[Section]]:
    """Return the error rate of each group at its threshold, and each group by itself to slide over."""
    rows = [
        (name, one.risk, *one.risk_interval) if one.attainable else (name, np.nan, np.nan, np.nan)
        for name, one in found.groups.items()
    ]
    of = "the answers in each group"
    if not any(one.attainable for one in found.groups.values()):
        rows, of = _unanswered(found, source), "each group without abstention"
    if len(rows) > ROWS:  # else in the order of all that is said of groups
        rows.sort(key=lambda each: (np.isfinite(each[1]), -each[1]))
    limit = next((one.risk_limit for one in found.groups.values() if isinstance(one, CertifiedThreshold)), None)
    rules = () if limit is None else (Rule(limit, f"limit {percent(limit)}"),)
    more = f", the worst {ROWS} of {len(rows)}" if len(rows) > ROWS else ""
    title = f"Error rate of {of}{more}, with intervals"
    absent = "no threshold: all referred for review"
    chart = named_intervals("groups", title, f"Error rate of {of}", rows, rules=rules, shares="y", absent=absent)
    chosen = Section("chosen", "Thresholds of the groups", _chosen(found, source))
    board = Board(chart)
    if source.loss is None or source.confidence is None or source.groups is None:
        return board, [chosen]
    loss, score = (np.asarray(each, dtype=np.float64) for each in (source.loss, source.confidence))
    column = np.asarray(source.groups).astype(str)
    tried = len(found.groups) if found.multiplicity == "all" else 1
    order = sorted(found.groups, key=lambda name: (not found.groups[name].attainable, -_worst(found.groups[name])))
    measured: dict[str, Measured] = {}
    for name in order[:MOST]:
        mine = column == name
        if mine.any():
            one = found.groups[name]
            found_here = _measured(one, loss[mine], score[mine], source, tried=tried)
            measured[name] = replace(found_here, rejected=not one.attainable)
    level = next(iter(found.groups.values())).level
    slider = slider_of(measured, level, source, of="Group", refused=WHOLE)
    if slider is None:
        return board, [chosen]
    explored = Board(leading(measured, level, limit), slider_numbers(slider), slider)
    rest = len(found.groups) - len(measured)
    said = (Prose((f"{rest} more groups are in the table only.",)),) if rest else ()
    return board, [chosen, Section("explore", "Each group by itself", (Controls(slider), explored, *said))]


def _unanswered(found: GroupThresholds, source: Source) -> list[tuple[str, float, float, float]]:
    """Return the risk of each group when everything is answered, with its exact interval where errors are counted."""
    counts = source.loss is not None and set(np.unique(source.loss)) <= {0.0, 1.0} and not source.dependent
    rows = []
    for name, one in found.groups.items():
        ends = (np.nan, np.nan)
        if counts and one.n:
            ends = clopper_pearson(round(one.full_risk * one.n), one.n, one.level)
        rows.append((name, one.full_risk, *ends))
    return rows


def _worst(one: EmpiricalThreshold | CertifiedThreshold) -> float:
    """Return by what groups are ordered, the worst first: the lowest risk that its rows leave open."""
    low = one.risk_interval[0] if one.attainable else one.full_risk
    return low if low == low else one.risk


def _chosen(found: Any, source: Source) -> tuple[Part, ...]:
    """Return tables and notes; those of groups without a threshold are to be opened."""
    tables = list(found.tables())
    if source.loss is not None and set(np.unique(source.loss)) <= {0.0, 1.0}:
        tables = [_in_shares(table) for table in tables]
    notes = tuple(found.notes())
    if not isinstance(found, GroupThresholds):
        return (*map(Grid, tables), *([Prose(notes, "note")] if notes else []))
    lost = sum(not one.attainable for one in found.groups.values())
    guaranteed = tuple(note for note in notes if note.startswith("guarantee: "))
    more = tuple(note for note in notes if note not in guaranteed)
    parts: list[Part] = [Grid(tables[0]), *([Prose(guaranteed, "note")] if guaranteed else [])]
    if lost:
        rest: tuple[Part, ...] = (*map(Grid, tables[1:]), Prose(more))
        parts.append(Folded(f"What the rows of groups without a threshold do certify ({lost})", rest))
    return tuple(parts)


def _in_shares(table: Table) -> Table:
    """Return a table whose risks and coverages are in per cent, as everything else of the page says them."""
    if not table.columns[0].title and table.rows and isinstance(table.rows[0][0], str):  # names of rows, and values
        return replace(table, columns=[table.columns[0], replace(table.columns[1], share=True)])
    names = {"Coverage", "Risk", "coverage", "risk", "risk at most"}
    return replace(table, columns=[replace(each, share=each.title in names) for each in table.columns])


def _checks(name: str, blocks: TieBlocks, source: Source) -> tuple[Part, ...]:
    computed = (source.policies or {}).get(name, {}).keys() & {"logits", "probabilities"}
    rows: list[Row] = source.checks(name if computed else "")
    if source.outputs is not None and (states := source.outputs.states) is not None:
        rows += [(f"answers {state}", f"{count} of {states.n}") for state, count in states.counts.items()]
    rows.append((f"{name}: without a score", f"{blocks.n_rejected} of {blocks.n}"))
    ties = f"{percent(blocks.distinct_share)} of the values are distinct; the largest tie holds "
    rows.append((f"{name}: ties", f"{ties}{blocks.largest_tie} of {blocks.n} rows"))
    note = "The threshold was chosen on these rows; 'abstain audit' says what it does on others."
    return Grid(Table([Column("Check"), Column("Found", left=True)], rows)), Prose((note,))
