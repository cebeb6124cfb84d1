"""Confidences that are probabilities: what leaves [0, 1] by rounding counts as 0 or 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstain._classes import ROUNDING
from abstain.blocks import TieBlocks

if TYPE_CHECKING:
    from abstain._typing import FloatArray, IntArray


def outside(score: FloatArray) -> bool:
    """Whether a score leaves [0, 1] by more than rounding."""
    return bool(score.min() < -ROUNDING or score.max() > 1.0 + ROUNDING)


def clipped(blocks: TieBlocks) -> tuple[TieBlocks, IntArray | slice]:
    """Return the table with scores in [0, 1], and where its blocks find theirs there: 1 and 1.0000001 are one tie."""
    if blocks.score[-1] >= 0.0 and blocks.score[0] <= 1.0:
        return blocks, slice(None)
    negative, block = np.unique(-np.clip(blocks.score, 0.0, 1.0), return_inverse=True)

    def add(column: FloatArray) -> FloatArray:
        return np.bincount(block, column).astype(np.float64, copy=False)

    told = {name: getattr(blocks, name) for name in ("binary", "frequencies", "n_rejected", "n_dropped", "_oracle")}
    table = TieBlocks(0.0 - negative, add(blocks.weight), add(blocks.loss), add(blocks.count), **told)
    return table, block
