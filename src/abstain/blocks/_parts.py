"""What a table may hold beside its sums: second moments, and the samples behind it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat
import numpy as np

from abstain._typing import FloatArray, IntArray
from abstain.blocks._order import by_score


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

    order: Any
    loss: Any
    sample_weight: Any | None
    sorted_block: Any | None
    before: tuple[FloatArray, Any | None] | None = None
    times: FloatArray | None = None

    @cached_property
    def block(self) -> Any:
        """Each sample's row in the table, in the caller's order."""
        return self.unsorted(self.sorted_block)

    @cached_property
    def kind(self) -> Any:
        """Twice its row in the table, plus 1 where the loss is 1: what distinguishes samples of 0/1 losses."""
        block = self.__dict__.get("block")  # whoever asks for kinds seldom asks for blocks: one column of two is kept
        found = 2 * (self.unsorted(self.sorted_block) if block is None else block)
        found += self.loss == 1.0
        return found

    @property
    def score(self) -> Any | None:
        """The scores in the caller's order, where they are kept; else they follow from the table and ``block``."""
        return None

    def unsorted(self, block: Any | None) -> Any:
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
    def order(self) -> Any:
        """What sorts the samples by descending score."""
        return self._places[0]

    @property
    def sorted_block(self) -> Any | None:
        """The row in the table of each sample in sorted order; None where nothing is tied."""
        return self._places[1]
