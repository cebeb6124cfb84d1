"""Add up tables over disjoint rows: the same table as that of all rows together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from abstain._typing import FloatArray
from abstain.blocks._parts import Moments

if TYPE_CHECKING:
    from abstain.blocks._table import TieBlocks


def merge(parts: Sequence[TieBlocks]) -> TieBlocks:
    """Concatenate the parts, sort stably (they are sorted runs) and add neighbours of equal score."""
    scores = np.concatenate([part.score for part in parts])
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))

    def add(columns: list[FloatArray]) -> FloatArray:
        return np.add.reduceat(np.concatenate(columns)[order], starts)

    moments = [part.moments for part in parts if part.moments is not None]
    oracles: list[TieBlocks] = []
    if any(part._oracle is not None for part in parts):  # that of a part with 0/1 losses follows from its totals
        oracles = [part.oracle for part in parts if part.binary or part._oracle is not None]
    merged = replace(
        parts[0],
        score=scores[starts],
        weight=add([part.weight for part in parts]),
        loss=add([part.loss for part in parts]),
        count=add([part.count for part in parts]),
        binary=all(part.binary for part in parts),
        frequencies=all(part.frequencies for part in parts),
        n_rejected=sum(part.n_rejected for part in parts),
        n_dropped=sum(part.n_dropped for part in parts),
        moments=None,
        samples=None,
        _oracle=merge(oracles) if len(oracles) == len(parts) else None,
    )
    if len(moments) < len(parts):
        return merged
    return replace(
        merged,
        moments=Moments(
            add([part.weight2 for part in moments]),
            add([part.weight2_loss for part in moments]),
            add([part.weight2_loss2 for part in moments]),
        ),
    )
