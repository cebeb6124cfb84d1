"""The calibration sample of a threshold: the table of its scores, and its rows in an order that is theirs alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from abstain._checks import positive, to_numpy, vector
from abstain._typing import ArrayLike, FloatArray, IntArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.thresholds._sketches import hashed, sketch

#: Opaque bytes that stay as they are, whatever the package is called: policies carry fingerprints, and other
#: bytes would change them all.
_SALT = b"recuse.calibration/1"
#: Rows that are written out at once from their counts.
PIECE = 1 << 20


@dataclass(frozen=True, eq=False)
class Sample:
    """The table of a sample, its rows by descending score and rising loss, and the place where each was given.

    NaN scores became -inf, which is never accepted. Clusters are numbered from 0. ``times``: how many equal rows an
    entry of the columns stands for, where an engine counted them (None: each is one row).
    """

    blocks: TieBlocks
    score: FloatArray
    loss: FloatArray
    weight: FloatArray | None
    place: IntArray
    cluster: IntArray | None = None
    times: FloatArray | None = None

    @property
    def n(self) -> int:
        """Rows, with those that lack a score."""
        return len(self.score) if self.times is None else int(self.times.sum())

    @cached_property
    def mass(self) -> FloatArray:
        """Weight of each entry: of its rows together."""
        weight = np.ones(len(self.score)) if self.weight is None else self.weight
        return weight if self.times is None else weight * self.times

    @cached_property
    def _before(self) -> IntArray:
        assert self.times is not None
        return np.concatenate([[0], np.cumsum(self.times.astype(np.int64))])

    def rows_of(self, entries: IntArray) -> IntArray:
        """Return how many rows the first so many entries stand for."""
        return entries if self.times is None else self._before[entries]

    def entry(self, rank: IntArray) -> IntArray:
        """Return in which entry the rows of these ranks lie, counted from 0."""
        return rank if self.times is None else np.searchsorted(self._before[1:], rank, side="right")

    def accepted(self, threshold: FloatArray) -> IntArray:
        """Return how many entries have at least these scores."""
        return np.searchsorted(-self.score, -threshold, side="right")

    @property
    def binary(self) -> bool:
        """Whether every loss is 0 or 1."""
        return self.blocks.binary

    @cached_property
    def sketch(self) -> str:
        """By what the rows are known again."""
        return sketch(hashed(self.score, self.loss), rows=self.n)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the sorted scores and losses: the same rows have the same, in any order, weighted or not."""
        digest = hashlib.sha256(_SALT)
        for column in (self.score, self.loss):
            for piece in self._written_out(column):
                digest.update(np.ascontiguousarray(piece + 0.0, dtype="<f8").tobytes())
        return digest.hexdigest()

    def _written_out(self, column: FloatArray) -> Iterator[FloatArray]:
        """Yield a column row by row, in pieces of which no tie makes a large one."""
        if self.times is None:
            yield column
            return
        for start in range(0, self.n, PIECE):
            first, last = self.entry(np.array([start, min(start + PIECE, self.n) - 1]))
            ends = np.clip(self._before[first : last + 2], start, start + PIECE)
            yield np.repeat(column[first : last + 1], np.diff(ends))


def read(
    loss: ArrayLike,
    confidence: ArrayLike,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
    clusters: ArrayLike | None = None,
) -> Sample:
    """Check the columns and sort them; the caller's arrays are never changed."""
    blocks = TieBlocks.from_samples(loss, confidence, sample_weight, nan_policy=nan_policy, keep_samples=True)
    numbers = None if clusters is None else _numbered(clusters, confidence, blocks.n_dropped > 0)
    return of_table(blocks, numbers)


def of_table(blocks: TieBlocks, cluster: IntArray | None = None) -> Sample:
    """Return the sample of a table that kept its rows, without another sort of its scores."""
    samples = blocks.samples
    assert samples is not None
    distinct, sorted_block = samples.before if samples.before is not None else (blocks.score, samples.sorted_block)
    order, losses = to_numpy(samples.order), to_numpy(samples.loss)
    weights = None if samples.sample_weight is None else to_numpy(samples.sample_weight)
    if sorted_block is None:  # nothing is tied: the table is in the order of the rows, and adds nothing up
        score, loss = distinct, blocks.loss if weights is None else losses[order]
    else:
        block = to_numpy(sorted_block)
        keys = (order, losses[order]) if weights is None else (order, weights[order], losses[order])
        order = order[np.lexsort((*keys, block))]
        score, loss = distinct[block], losses[order]
    weight = None if weights is None else weights[order]
    times = None if samples.times is None else samples.times[order]
    return Sample(blocks, score, loss, weight, order, None if cluster is None else cluster[order], times)


def cluster_numbers(clusters: ArrayLike, n: int) -> IntArray:
    """Return the clusters of n rows as numbers from 0."""
    from abstain.inference import codes

    return codes(clusters, "clusters", n)


def _numbered(clusters: ArrayLike, confidence: ArrayLike, drop: bool) -> IntArray:
    """Return clusters as numbers from 0, without rows that were left out for want of a score."""
    scores = vector(confidence, "confidence", np, None)
    numbers = cluster_numbers(clusters, len(scores))
    kept = numbers[~np.isnan(scores)] if drop else numbers
    return np.asarray(np.unique(kept, return_inverse=True)[1])


def largest_loss(sample: Sample, max_loss: float | None) -> float:
    """Return the largest possible loss: 1 for a 0/1 loss, else what the caller knows; what was seen is no bound."""
    seen = float(sample.loss.max())
    if max_loss is None:
        if sample.binary:
            return 1.0
        raise ValueError(
            "a guarantee for a loss that is not 0/1 needs its largest possible value; give max_loss= "
            f"(the largest seen, {seen:g}, is no bound)"
        )
    max_loss = positive(max_loss, "max_loss", "give the largest possible loss")
    if seen > max_loss:
        raise ValueError(f"max_loss={max_loss:g} is below a loss that occurs, {seen:g}; give a true bound")
    return max_loss
