"""The pool: the scores of all rows as one table, each row's place in it, and what is known of a row besides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from abstain._checks import to_numpy
from abstain._typing import ArrayLike, FloatArray, IntArray, NanPolicy
from abstain.blocks import TieBlocks


@dataclass(frozen=True, eq=False)
class Pool:
    """All rows of a pool: their table without losses, and of each row its block and its features for the risk model."""

    blocks: TieBlocks
    block: IntArray
    judge: FloatArray | None = None

    @classmethod
    def of(cls, confidence: ArrayLike, judge: FloatArray | None = None, nan_policy: NanPolicy = "raise") -> Pool:
        """Return the pool of these scores."""
        n = len(confidence)
        blocks = TieBlocks.from_samples(np.zeros(n), confidence, nan_policy=nan_policy, keep_samples=True)
        assert blocks.samples is not None
        return cls(blocks, to_numpy(blocks.samples.block), judge)

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.block)

    @cached_property
    def rank(self) -> FloatArray:
        """Normal score of each block's ascending mid-rank, per row."""
        from scipy.special import ndtri

        blocks = self.blocks
        below = 1.0 - (blocks.cumulative_weight - 0.5 * blocks.weight) / blocks.total_weight
        return np.asarray(ndtri(below)[self.block])

    @cached_property
    def features(self) -> FloatArray:
        """Columns of the risk model: 1, z, z^2 - 1, and for a judge j its word and j z; shape (n, 3 or 5)."""
        z = self.rank
        columns = [np.ones(self.n), z, z * z - 1.0]
        if self.judge is not None:
            columns += [self.judge, self.judge * z]
        return np.stack(columns, axis=1)

    def sums(self, column: FloatArray, rows: IntArray | None = None) -> FloatArray:
        """Return the sums of a column over blocks."""
        block = self.block if rows is None else self.block[rows]
        return np.bincount(block, column, len(self.blocks)).astype(np.float64)

    def table(self, loss: FloatArray) -> TieBlocks:
        """Return the table of the pool with these sums of 0/1 losses, which may be estimates."""
        return replace(self.blocks, loss=loss, samples=None)
