"""Tables of tie blocks as what figures need: columns of rows again, and what intervals of them may rest on."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from abstain._checks import UnmetNeed
from abstain._typing import Array, FloatArray
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.evaluation import Evaluation
from abstain.inference import RiskBand, risk_band

#: More points than this cannot be distinguished in a figure.
POINTS = 2000
#: More rows than this get bands from influence functions, which for so many are the exact ones in a tenth of the time.
MANY = 50_000


def tables_of(evaluation: Evaluation, group: str | None = None) -> dict[str, TieBlocks]:
    """Return the table of each score, on all rows or on those of a group."""
    found = {each.score: each.curve.blocks for each in evaluation.summaries if each.group == group}
    if not found:
        raise ValueError(f"there is no curve of group {group!r} in this evaluation")
    return found


def independent(evaluation: Evaluation) -> bool:
    """Whether rows count once each, and none depends on another: what exact intervals of counts need."""
    facts = evaluation.provenance
    return not (facts.get("weighted") or facts.get("clustered") or "few_labels" in facts or "models" in facts)


#: More rows than this are not written out again from the table that counts them.
MOST_ROWS = 10_000_000


def rows_of(blocks: TieBlocks) -> tuple[FloatArray, FloatArray] | None:
    """Return loss and score of each row, or None where the table no longer knows them."""
    if blocks.samples is not None and blocks.samples.sample_weight is blocks.samples.times is None:
        score = blocks.samples.score
        score = blocks.score[np.asarray(blocks.samples.block)] if score is None else score
        return np.asarray(blocks.samples.loss, dtype=np.float64), score
    if blocks.n <= MOST_ROWS and blocks.binary and np.array_equal(blocks.weight, blocks.count):
        count, wrong = blocks.count.astype(np.intp), blocks.loss.astype(np.intp)
        place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        return (place < np.repeat(wrong, count)).astype(np.float64), np.repeat(blocks.score, count)
    return None


def outcomes(blocks: TieBlocks, figure: str) -> tuple[FloatArray, FloatArray]:
    """Return the weight of right and of wrong rows in each block; a graded loss has none of both."""
    if not blocks.binary:
        raise UnmetNeed(f"{figure} needs a 0/1 loss, which says what is right and what is wrong")
    return blocks.weight - blocks.loss, blocks.loss


def chosen(found: dict[str, Any], names: Any) -> dict[str, Any]:
    """Return the entries that are named, all of them if none is."""
    if names is None:
        return found
    names = [names] if isinstance(names, str) else list(names)
    unknown = next((name for name in names if name not in found), None)
    if unknown is not None:
        from abstain._checks import closest

        raise KeyError(f"no score {unknown!r} here; {closest(unknown, found)}")
    return {name: found[name] for name in names}


def band_of(curve: RiskCoverageCurve, level: float, risk: Literal["selective", "generalized"]) -> RiskBand | None:
    """Return the pointwise band of a curve of independent rows, or None where the rows are not known any more."""
    rows = rows_of(curve.blocks)
    if rows is None or len(rows[0]) < 2:
        return None
    exact = curve.blocks.binary and len(rows[0]) <= MANY
    return risk_band(*rows, level=level, risk=risk, method="clopper-pearson" if exact else "influence")


def thinned(coverage: FloatArray) -> Array:
    """Return the places of the points to draw: all, or an even choice with more at the low end."""
    if len(coverage) <= POINTS:
        return slice(None)
    targets = np.union1d(np.linspace(0.0, 1.0, POINTS // 2), np.geomspace(coverage[0], 1.0, POINTS // 2))
    return np.unique(np.minimum(np.searchsorted(coverage, targets), len(coverage) - 1))
