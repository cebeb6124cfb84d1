"""The calibration sample of a threshold: the table of its scores, and its rows in an order that is theirs alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from abstain._checks import positive, to_numpy, vector
from abstain._typing import ArrayLike, FloatArray, IntArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.thresholds._sent import hashed, sketch

#: Opaque bytes that stay as they are, whatever the package is called: policies carry fingerprints, and other
#: bytes would change them all.
_SALT = b"recuse.calibration/1"


@dataclass(frozen=True, eq=False)
class Sample:
    """The table of a sample, its rows by descending score and rising loss, and the place where each was given.

    NaN scores became -inf, which is never accepted. Clusters are numbered from 0.
    """

    blocks: TieBlocks
    score: FloatArray
    loss: FloatArray
    weight: FloatArray | None
    place: IntArray
    cluster: IntArray | None = None

    @property
    def n(self) -> int:
        """Rows, with those that lack a score."""
        return len(self.score)

    @property
    def binary(self) -> bool:
        """Whether every loss is 0 or 1."""
        return self.blocks.binary

    @cached_property
    def sketch(self) -> str:
        """By what the rows are known again."""
        return sketch(hashed(self.score, self.loss))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the sorted scores and losses: the same rows have the same, in any order, weighted or not."""
        digest = hashlib.sha256(_SALT)
        for column in (self.score, self.loss):
            digest.update(np.ascontiguousarray(column + 0.0, dtype="<f8").tobytes())
        return digest.hexdigest()


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
    return Sample(blocks, score, loss, weight, order, None if cluster is None else cluster[order])


def cluster_numbers(clusters: ArrayLike, n: int) -> IntArray:
    """Return the clusters of n rows as numbers from 0."""
    from abstain.inference._resample import codes

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
