"""Sections of a threshold: what was chosen, the slider and curves of the rows that it was chosen on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from abstain._result import Column, Row, Table, percent
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.report._curves import measured
from abstain.report._page import Folded, Grid, Part, Prose, Section
from abstain.report._rows import failures
from abstain.report._source import Source
from abstain.thresholds import (
    CertifiedThreshold,
    EmpiricalThreshold,
    GroupThresholds,
    Promise,
    certified_instead,
    each_errs,
)

#: Groups with a line, and groups to slide over.
DRAWN, MOST = 7, 40


def headline(found: Any) -> str:
    """Return what was asked for, of how many rows."""
    grouped = isinstance(found, GroupThresholds)
    one = next(iter(found.groups.values())) if grouped else found
    n = found.calibration["n"]
    many = f"{n:,} rows in {len(found.groups)} groups" if grouped else f"{n:,} rows"
    shares = ("risk", "coverage", "capacity")
    said = {name: percent(value) if name in shares and isinstance(value, float) else value
            for name, value in one.objective.items() if name != "delta"}  # fmt: skip
    asked = ", ".join(f"{name} {value}" for name, value in said.items())
    delta = found.delta if grouped else getattr(one, "delta", None)
    sure = "no promise" if delta is None else f"{percent(1.0 - delta)} sure"
    together = "" if not grouped else " in each" if delta is None or found.multiplicity == "each" else " of all at once"
    return f"{many} · asked for: {asked}{' in each group' * grouped} · {sure}{together * (delta is not None)}"


def sections(found: Any, source: Source) -> list[Section]:
    """Return what was chosen, then what its rows show, where they are given."""
    chosen = Section(
        "result", "What was chosen" if _any(found) else "What was asked for, and why not", _chosen(found, source)
    )
    if source.loss is None or source.confidence is None:
        return [chosen]
    if isinstance(found, GroupThresholds):
        return [chosen, *_by_group(found, source)]
    name = next(iter(source.policies), "confidence")
    loss, score = (np.asarray(each, dtype=np.float64) for each in (source.loss, source.confidence))
    blocks = TieBlocks.from_samples(loss, score, nan_policy="reject", keep_samples=True)
    curve = RiskCoverageCurve(blocks)
    exact = blocks.binary and not source.dependent
    promises = _promised(found) or certified_instead(found, curve)
    stops = (found.threshold,) if found.attainable else tuple(each.threshold for each in promises[:1])
    risks = ", ".join(percent(each.risk) for each in promises)
    said = [f"{'Rings' if len(promises) > 1 else 'Ring'}: certified, for a risk of at most {risks}."] * bool(promises)
    but = {} if found.attainable else {
        (name, each.risk): f"By a second certificate, at fixed ranks: {each_errs(each.delta)}." for each in promises
    }  # fmt: skip
    shown = measured({name: curve}, {name: promises}, found.level, {name: exact}, not source.dependent, source,
                     {name: stops}, said, but=but)  # fmt: skip
    wrong = failures(name, loss, np.where(np.isnan(score), -np.inf, score), curve, source) if blocks.binary else []
    last = [Section("failures", "The most confident failures", tuple(wrong))] if wrong else []
    return [chosen, *shown, *last, Section("checks", "Data checks", _checks(name, blocks, source))]


def _any(found: Any) -> bool:
    """Whether anything was chosen."""
    return any(one.attainable for one in (found.groups.values() if isinstance(found, GroupThresholds) else [found]))


def _chosen(found: Any, source: Source) -> tuple[Part, ...]:
    """Return tables and notes; those of groups without a threshold are to be opened, and alike ones are said once."""
    tables = list(found.tables())
    if source.loss is not None and set(np.unique(source.loss)) <= {0.0, 1.0}:
        tables = [_in_shares(table) for table in tables]
    notes = tuple(found.notes())
    if not isinstance(found, GroupThresholds):
        return (*map(Grid, tables), *([Prose(notes, "note")] if notes else []))
    lost = [name for name, one in found.groups.items() if not one.attainable]
    promised = tuple(note for note in notes if note.startswith("promise: "))
    more = tuple(note for note in notes if note not in promised)
    parts: list[Part] = [Grid(tables[0]), *([Prose(promised, "note")] if promised else [])]
    if lost:
        parts.append(Folded(f"What the rows of groups without a threshold do certify ({len(lost)})",
                            (*map(Grid, tables[1:]), Prose(more))))  # fmt: skip
    return tuple(parts)


def _in_shares(table: Table) -> Table:
    """Return a table whose risks and coverages are in per cent, as everything else of the page says them."""
    if not table.columns[0].title and table.rows and isinstance(table.rows[0][0], str):  # names of rows, and values
        return replace(table, columns=[table.columns[0], replace(table.columns[1], share=True)])
    names = {"Coverage", "Risk", "coverage", "risk", "risk at most"}
    return replace(table, columns=[replace(each, share=each.title in names) for each in table.columns])


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
    rejected = {name for name, one in found.groups.items() if not one.attainable}
    order = sorted(found.groups, key=lambda name: (name in rejected, -_worst(found.groups[name])))
    curves: dict[str, RiskCoverageCurve] = {}
    for name in order[:MOST]:
        mine = column == name
        if mine.any():
            blocks = TieBlocks.from_samples(loss[mine], score[mine], nan_policy="reject", keep_samples=True)
            curves[name] = RiskCoverageCurve(blocks)
    each = {name: found.groups[name] for name in curves}
    tried = len(found.groups) if found.multiplicity == "all" else 1
    promises = {name: tuple(replace(one, tried=tried) for one in _promised(chosen)) for name, chosen in each.items()}
    stops = {name: (one.threshold,) if one.attainable else () for name, one in each.items()}
    exact = {name: curve.blocks.binary and not source.dependent for name, curve in curves.items()}
    more = len(found.groups) - len(curves)
    said = [f"The first {DRAWN} groups are drawn: those with a threshold, of highest risk first, then those that the "
            "policy rejects."] if len(curves) > DRAWN else []  # fmt: skip
    said += [f"{more} more groups are in the table only."] if more else []
    said.append("Ring: the threshold of a group. The policy holds all of them, and rejects what has none.")
    level = next(iter(each.values())).level
    return measured(curves, promises, level, exact, not source.dependent, source, stops, said, "Group", DRAWN,
                    rejected)  # fmt: skip


def _worst(one: EmpiricalThreshold | CertifiedThreshold) -> float:
    """Return by what groups are ordered, the worst first: the least risk that its rows leave open."""
    low = one.risk_interval[0] if one.attainable else one.full_risk
    return low if low == low else one.risk


def _checks(name: str, blocks: TieBlocks, source: Source) -> tuple[Part, ...]:
    rows: list[Row] = []
    if source.outputs is not None:
        computed = (source.policies or {}).get(name, {}).keys() & {"logits", "probabilities"}
        read = source.outputs.understood(name if computed else "")
        rows += [(f"read as {part}", words) for part, words in read.items()]
        if source.outputs.ids is not None:
            ids = np.asarray(source.outputs.ids)
            rows.append(("repeated identifiers", f"{len(ids) - len(np.unique(ids))} of {len(ids)}"))
        states = source.outputs.states
        if states is not None:
            rows += [(f"answers {state}", f"{count} of {states.n}") for state, count in states.counts.items()]
    rows += source.unread()
    rows.append((f"{name}: without a score", f"{blocks.n_rejected} of {blocks.n}"))
    ties = f"{percent(blocks.distinct_share)} of the values are distinct; the largest tie holds "
    rows.append((f"{name}: ties", f"{ties}{blocks.largest_tie} of {blocks.n} rows"))
    note = "These are the rows on which the threshold was chosen; what it does on others, 'abstain audit' says."
    return Grid(Table([Column("Check"), Column("Found", left=True)], rows)), Prose((note,))
