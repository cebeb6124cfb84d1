"""The calibration sample of a certificate: checked columns, scaled losses, and the split into pilot and rest.

Lots are drawn for the rows as they were given, never for their ranks: the lowest losses among tied scores have the same
ranks in every sample, so a fixed seed would keep the same part of the errors out of sight each time. Rows of a random
sample come in an order that says nothing about them, and are drawn at random whatever the seed. For rows that come
sorted the seed is mixed with their fingerprint, so that another sample has other lots.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from abstain._checks import generator, positive, to_numpy
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray, NanPolicy
from abstain.blocks import TieBlocks

#: Opaque bytes that stay as they are, whatever the package is called: they seed the lots of certificates, and other
#: bytes would move every certified threshold.
_SALT = b"recuse.calibration/1"


@dataclass(frozen=True, eq=False)
class Sample:
    """The table of a sample, its rows by descending score and rising loss, and the place where each was given.

    NaN scores became -inf, which is never accepted.
    """

    blocks: TieBlocks
    score: FloatArray
    loss: FloatArray
    weight: FloatArray | None
    place: IntArray

    @property
    def n(self) -> int:
        """Rows, with those that lack a score."""
        return len(self.score)

    @property
    def binary(self) -> bool:
        """Whether every loss is 0 or 1."""
        return self.blocks.binary

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the sorted scores and losses: the same rows have the same, in any order, weighted or not."""
        digest = hashlib.sha256(_SALT)
        for column in (self.score, self.loss):
            digest.update(np.ascontiguousarray(column + 0.0, dtype="<f8").tobytes())
        return digest.hexdigest()

    def rows(self, index: BoolArray) -> Rows:
        """Return some rows, in their order."""
        return Rows(self.score[index], self.loss[index], None if self.weight is None else self.weight[index])


class Rows(NamedTuple):
    """Some rows of a sample, in its order."""

    score: FloatArray
    loss: FloatArray
    weight: FloatArray | None

    @property
    def n(self) -> int:
        """How many."""
        return len(self.score)


def read(
    loss: ArrayLike, confidence: ArrayLike, sample_weight: ArrayLike | None = None, nan_policy: NanPolicy = "raise"
) -> Sample:
    """Check the columns and sort them; the caller's arrays are never changed."""
    blocks = TieBlocks.from_samples(loss, confidence, sample_weight, nan_policy=nan_policy, keep_samples=True)
    samples = blocks.samples
    assert samples is not None
    distinct, sorted_block = samples.before if samples.before is not None else (blocks.score, samples.sorted_block)
    order, losses = to_numpy(samples.order), to_numpy(samples.loss)
    weights = None if samples.weight is None else to_numpy(samples.weight)
    if sorted_block is None:  # nothing is tied
        block = np.arange(len(order))
    else:
        block = to_numpy(sorted_block)
        keys = (order, losses[order]) if weights is None else (order, weights[order], losses[order])
        order = order[np.lexsort((*keys, block))]
    return Sample(blocks, distinct[block], losses[order], None if weights is None else weights[order], order)


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


def draw(sample: Sample, rng: int | np.random.Generator, *, pilot: bool = True) -> tuple[BoolArray, IntArray]:
    r"""Return :math:`\lceil\sqrt n\rceil` random pilot rows as a mask (or none), and a random order of the others.

    The scores of the pilot rows fix the tests.
    """
    seed = int(generator(rng).integers(2**63))
    lot = np.random.default_rng([seed, int(sample.fingerprint, 16)]).permutation(sample.n)[sample.place]
    mask = lot < (ceil(sqrt(sample.n)) if pilot else 0)
    return mask, np.argsort(lot[~mask])
