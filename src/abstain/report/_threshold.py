"""Sections of a threshold: what was chosen, the slider and curves of the rows that it was chosen on."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._result import Column, Row, Table, percent
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.report import _any
from abstain.report._curves import measured
from abstain.report._page import Grid, Part, Prose, Section
from abstain.report._rows import failures
from abstain.report._source import Source
from abstain.thresholds import CertifiedThreshold, EmpiricalThreshold, GroupThresholds, Promise

#: Groups with a line, and groups to slide over.
DRAWN, MOST = 7, 40


def sections(found: Any, source: Source) -> list[Section]:
    """Return what was chosen, then what its rows show, where they are given."""
    chosen = Section("result", "What was chosen", _any.sections(found, source)[0].parts)
    if source.loss is None or source.confidence is None:
        return [chosen]
    if isinstance(found, GroupThresholds):
        return [chosen, *_by_group(found, source)]
    name = next(iter(source.policies), "confidence")
    loss, score = (np.asarray(each, dtype=np.float64) for each in (source.loss, source.confidence))
    blocks = TieBlocks.from_samples(loss, score, nan_policy="reject", keep_samples=True)
    curve = RiskCoverageCurve(blocks)
    exact = blocks.binary and not source.dependent
    promises = _promised(found)
    stops = (found.threshold,) if found.attainable else ()
    said = [f"Ring: the certified threshold, for a risk of at most {percent(each.risk)}." for each in promises]
    shown = measured({name: curve}, {name: promises}, found.level, {name: exact}, not source.dependent, source,
                     {name: stops}, said)  # fmt: skip
    wrong = failures(name, loss, np.where(np.isnan(score), -np.inf, score), curve, source) if blocks.binary else []
    last = [Section("failures", "The most confident failures", tuple(wrong))] if wrong else []
    return [chosen, *shown, *last, Section("checks", "Data checks", _checks(name, blocks, source))]


def _promised(found: EmpiricalThreshold | CertifiedThreshold) -> tuple[Promise, ...]:
    """Return the promise of a threshold, if it has one, as the slider marks it."""
    if not isinstance(found, CertifiedThreshold) or not found.attainable:
        return ()
    return (Promise(found.risk_limit, found.delta, True, found.threshold, found.coverage, lambda: found),)


def _by_group(found: GroupThresholds, source: Source) -> list[Section]:
    """Return slider and curves of each group by itself: none of them stands for a policy of all."""
    if source.groups is None:
        return []
    loss, score = (np.asarray(each, dtype=np.float64) for each in (source.loss, source.confidence))
    column = np.asarray(source.groups).astype(str)
    order = sorted(found.groups, key=lambda name: (found.groups[name].attainable, -found.groups[name].risk))
    curves: dict[str, RiskCoverageCurve] = {}
    for name in order[:MOST]:
        mine = column == name
        if mine.any():
            blocks = TieBlocks.from_samples(loss[mine], score[mine], nan_policy="reject", keep_samples=True)
            curves[name] = RiskCoverageCurve(blocks)
    each = {name: found.groups[name] for name in curves}
    promises = {name: _promised(one) for name, one in each.items()}
    stops = {name: (one.threshold,) if one.attainable else () for name, one in each.items()}
    exact = {name: curve.blocks.binary and not source.dependent for name, curve in curves.items()}
    more = len(found.groups) - len(curves)
    said = [f"The first {DRAWN} groups are drawn, those without a threshold first."] if len(curves) > DRAWN else []
    said += [f"{more} more groups are in the table only."] if more else []
    said.append("Ring: the threshold of a group. The policy holds all of them, and rejects what has none.")
    level = next(iter(each.values())).level
    return measured(curves, promises, level, exact, not source.dependent, source, stops, said, "Group", DRAWN)


def _checks(name: str, blocks: TieBlocks, source: Source) -> tuple[Part, ...]:
    rows: list[Row] = []
    if source.outputs is not None:
        rows += [(f"read as {part}", words) for part, words in source.outputs.understood().items()]
        if source.outputs.ids is not None:
            ids = np.asarray(source.outputs.ids)
            rows.append(("repeated identifiers", f"{len(ids) - len(np.unique(ids))} of {len(ids)}"))
        states = source.outputs.states
        if states is not None:
            rows += [(f"answers {state}", f"{count} of {states.n}") for state, count in states.counts.items()]
    rows.append((f"{name}: without a score", f"{blocks.n_rejected} of {blocks.n}"))
    ties = f"{percent(blocks.distinct_share)} of the values are distinct; the largest tie holds "
    rows.append((f"{name}: ties", f"{ties}{blocks.largest_tie} of {blocks.n} rows"))
    note = "These are the rows on which the threshold was chosen; what it does on others, 'abstain audit' says."
    return Grid(Table([Column("Check"), Column("Found", left=True)], rows)), Prose((note,))
