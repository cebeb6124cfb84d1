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
from abstain.thresholds import Promise


def sections(found: Any, source: Source) -> list[Section]:
    """Return what was chosen, then what its rows show, where they are given."""
    chosen = Section("result", "What was chosen", _any.sections(found, source)[0].parts)
    if source.loss is None or source.confidence is None:
        return [chosen]
    name = next(iter(source.policies), "confidence")
    loss, score = (np.asarray(each, dtype=np.float64) for each in (source.loss, source.confidence))
    blocks = TieBlocks.from_samples(loss, score, nan_policy="reject", keep_samples=True)
    curve, single = RiskCoverageCurve(blocks), hasattr(found, "threshold")
    exact = blocks.binary and not source.dependent
    promises: tuple[Promise, ...] = ()
    stops: tuple[float, ...] = ()
    said = []
    if single and found.attainable:
        stops = (found.threshold,)
        if found.guarantee() is not None:
            limit = found.risk_limit
            promises = (Promise(limit, found.delta, True, found.threshold, found.coverage, lambda: found),)
            said = [f"Ring: the certified threshold, for a risk of at most {percent(limit)}."]
    level = found.level if single else 0.95
    shown = measured(
        {name: curve},
        {name: promises},
        level,
        {name: exact},
        not source.dependent,
        source,
        {name: stops},
        said,
        start=True,
    )
    wrong = failures(name, loss, np.where(np.isnan(score), -np.inf, score), curve, source) if blocks.binary else []
    last = [Section("failures", "The most confident failures", tuple(wrong))] if wrong else []
    return [chosen, *shown, *last, Section("checks", "Data checks", _checks(name, blocks, source))]


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
    note = (
        "These are the rows on which the threshold was chosen; what it does on others, abstain.thresholds.audit says."
    )
    return Grid(Table([Column("Check"), Column("Found", left=True)], rows)), Prose((note,))
