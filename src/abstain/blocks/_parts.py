"""What a table may hold besides its sums: second moments, and the samples behind it; and the order of the scores.

``np.sort`` is two to four times as fast as ``np.argsort``. So a score and its row share one number of 64 bits: the
upper ones count how many floats the score lies below the highest one, the lower ones hold the row. Scores so close
that the upper bits cannot distinguish are put in order afterwards.

0/1 losses and their scores share a number, too, in the part of Python that numba compiles. The bits of a score, turned
round where it is negative, are its place among all floats. The key of a row says how many places its score lies below
the highest one, and in the lowest bit whether it failed. It has a sign, which NumPy sorts faster, and is not negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import array_api_compat
import numpy as np

from abstain._sums import parts
from abstain._typing import AnyArray, Array, BoolArray, FloatArray, IntArray, Namespace

#: From this many rows on, the additional passes over the numbers cost less than the sort saves.
MINIMUM = 1000


def by_score(xp: Namespace, score: Array) -> tuple[Array, Array]:
    """Return the rows in order of falling scores, and the scores in this order; -0.0 becomes 0.0."""
    if xp is np and score.size >= MINIMUM:
        return _by_one_sort(score)
    score = score + 0.0
    order = xp.flip(xp.argsort(score, stable=False))  # stable, the default of the Array API, is far slower
    if xp is np:  # a view, and gathering backwards is slow
        order = np.ascontiguousarray(order)
    return order, xp.take(score, order)


def _by_one_sort(score: FloatArray) -> tuple[IntArray, FloatArray]:
    """Order scores by sorting (distance from the highest score, row) as one number; ties are in order of rows."""
    place = score.view(np.int64)
    lowest = place.min()
    if lowest < 0:  # negative floats, where larger bits are further down; or -0.0
        score = score + 0.0
        place = score.view(np.int64)
        place = place ^ ((place >> 63) & np.int64(np.iinfo(np.int64).max))
        lowest = place.min()
    highest = place.max()
    row_bits = (score.size - 1).bit_length()
    lost = max(0, (int(highest) - int(lowest)).bit_length() + row_bits - 64)

    key = highest.view(np.uint64) - place.view(np.uint64)
    if lost:
        key >>= np.uint64(lost)
    key <<= np.uint64(row_bits)
    for part in parts(key.size):  # a column of row numbers would be the fourth of this size
        key[part] |= np.arange(part.start, min(part.stop, key.size), dtype=np.uint64)
    key.sort()
    key &= np.uint64((1 << row_bits) - 1)
    order = key.view(np.int64)
    ranked = score.take(order)
    if lost and (ranked[1:] > ranked[:-1]).any():  # nearly in order, which a stable sort turns into speed
        again = np.argsort(-ranked, kind="stable")
        order, ranked = order.take(again), ranked.take(again)
    return order, ranked


# ---------------------------------------------------------------------- 0/1 losses, compiled

#: From so many rows on one table pays for loading numba; where that is done, the kernels pay.
PAYS = (1e8, 1e5)
LOWEST, HIGHEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def pack(bits: AnyArray, failed: BoolArray, key: AnyArray) -> tuple[int, bool]:
    """Write the keys; return the place of the highest score, and whether all keys fit into 63 bits. -0.0 is 0.0."""
    low, high = HIGHEST, LOWEST
    for i in range(bits.size):
        place = 0 if bits[i] == LOWEST else bits[i] ^ ((bits[i] >> 63) & HIGHEST)
        low, high = min(low, place), max(high, place)
    if (high >> 1) - (low >> 1) >= 1 << 60:
        return high, False
    for i in range(bits.size):
        place = 0 if bits[i] == LOWEST else bits[i] ^ ((bits[i] >> 63) & HIGHEST)
        key[i] = ((high - place) << 1) | failed[i]
    return high, True


def unpack(key: AnyArray, high: int, count: FloatArray, failures: FloatArray) -> int:
    """Turn sorted keys into the bits of the distinct scores, with rows and failures; return how many these are."""
    block, before = -1, -1
    for i in range(key.size):
        below, wrong = key[i] >> 1, key[i] & 1
        if below != before:
            block, before = block + 1, below
            place = high - below
            key[block] = place ^ ((place >> 63) & HIGHEST)
            count[block] = failures[block] = 0.0
        count[block] += 1.0
        failures[block] += wrong
    return block + 1


@dataclass(frozen=True, eq=False)
class Moments:
    """Second moments per block, from which standard errors follow without the samples.

    Each is a float array of shape (n_blocks,): ``weight2`` = sum w^2, ``weight2_loss`` = sum w^2 l and
    ``weight2_loss2`` = sum w^2 l^2. A weight is a repetition for values, not for inference.

    Examples
    --------
    >>> import abstain
    >>> abstain.TieBlocks.from_samples([0.5, 1.0], [0.9, 0.9], moments=True).moments.weight2_loss2
    array([1.25])
    """

    weight2: FloatArray
    weight2_loss: FloatArray
    weight2_loss2: FloatArray


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples behind a table, kept on request (``keep_samples=True``), on the caller's device.

    ``order`` sorts the samples by descending score; ``loss`` and ``sample_weight`` (None: all 1) are in the caller's
    order. ``sorted_block`` is the row in the table of each sample in sorted order (None: nothing is tied, the
    position is the row). Samples that ``nan_policy="drop"`` left out are not among them. ``before`` holds the
    distinct scores and ``sorted_block`` before blocks of weight zero were dropped, if there were any: new weights
    may bring them back. ``times``: how many equal rows an entry stands for, where an engine counted them (None: each
    is one row).

    Examples
    --------
    >>> import abstain
    >>> abstain.TieBlocks.from_samples([0, 1, 0], [0.2, 0.9, 0.2], keep_samples=True).samples.block
    array([1, 0, 1])
    """

    order: Array
    loss: Array
    sample_weight: Array | None
    sorted_block: Array | None
    before: tuple[FloatArray, Array | None] | None = None
    times: FloatArray | None = None

    @cached_property
    def block(self) -> Array:
        """Each sample's row in the table, in the caller's order."""
        return self.unsorted(self.sorted_block)

    @property
    def score(self) -> Array | None:
        """The scores in the caller's order, where they are kept; else they follow from the table and ``block``."""
        return None

    def unsorted(self, block: Array | None) -> Array:
        """Return row numbers that are in sorted order (None: 0, 1, 2, ...) in the caller's order."""
        order = self.order
        xp = np if isinstance(order, np.ndarray) else array_api_compat.array_namespace(order)
        if block is None:
            block = xp.arange(order.shape[0], device=array_api_compat.device(order))
        if xp is np or array_api_compat.is_torch_array(order):
            result = xp.empty_like(block)
            result[order] = block
            return result
        return xp.take(block, xp.argsort(order))


class Unsorted(Samples):
    """Unweighted samples in NumPy whose order is found when somebody asks for it: most evaluations never do."""

    def __init__(self, loss: FloatArray, score: FloatArray) -> None:
        self.__dict__.update(loss=loss, sample_weight=None, before=None, times=None, _score=score)

    @property
    def score(self) -> FloatArray:
        """The scores in the caller's order."""
        found: FloatArray = self.__dict__["_score"]
        return found

    @cached_property
    def _places(self) -> tuple[IntArray, IntArray | None]:
        order, ranked = by_score(np, self.score)
        new = ranked[1:] != ranked[:-1]
        return order, None if new.all() else np.concatenate(([0], np.cumsum(new)))

    @property
    def order(self) -> Array:
        """What sorts the samples by descending score."""
        return self._places[0]

    @property
    def sorted_block(self) -> Array | None:
        """The row in the table of each sample in sorted order; None where nothing is tied."""
        return self._places[1]
