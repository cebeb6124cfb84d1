"""What a metric takes and gives: predictions, a value with its reason, a gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from abstain._checks import check_weight, refuse, same_length, to_numpy, vector
from abstain._classes import ROUNDING, class_labels
from abstain._classes import probabilities as matrix_of
from abstain._typing import ArrayLike, FloatArray, IntArray
from abstain.blocks import TieBlocks

#: How much of two columns, and a number.
Term = tuple[float, float, float]
#: Two numbers per block, (a, b): sample i of block k contributes w_i (a_k + b_k l_i) to the value.
Attribution = tuple[FloatArray, FloatArray]


class Predictions(NamedTuple):
    """Labels and class probabilities, for metrics that a table of scores and losses cannot give.

    ``labels``: integers of shape (n_samples,); ``probabilities``: (n_samples, n_classes); ``confidence`` and
    ``sample_weight``: (n_samples,) or None.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> data = abstain.metrics.Predictions(np.array([0]), np.array([[0.75, 0.25]]))
    >>> abstain.metrics.get("brier_score")(data)
    0.125
    """

    labels: IntArray
    probabilities: FloatArray
    confidence: FloatArray | None = None
    sample_weight: FloatArray | None = None


#: What a metric is called on.
Data: TypeAlias = TieBlocks | Predictions


class Value(NamedTuple):
    """A metric's value, and the reason if it is NaN.

    Examples
    --------
    >>> import abstain
    >>> blocks = abstain.TieBlocks.from_samples([0, 0], [0.9, 0.8])
    >>> abstain.metrics.get("auroc_f").evaluate(blocks)
    Value(value=nan, reason='there is no failure to detect: every loss is 0')
    """

    value: float
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class Gradient:
    r"""Derivative of a metric with respect to the table: two numbers per block.

    Parameters
    ----------
    weight : ndarray of shape (n_blocks,)
        :math:`\alpha_k = \partial\theta/\partial m_k`.
    loss : ndarray of shape (n_blocks,)
        :math:`\beta_k = \partial\theta/\partial s_k`.
    oracle : Gradient, optional
        Derivative with respect to ``blocks.oracle``, where a loss that is not 0/1 makes that a table of its own.

    Notes
    -----
    A metric of degree 0 obeys :math:`\sum_k m_k\alpha_k + s_k\beta_k = 0` (own and oracle part together).
    The influence of sample i in block k is :math:`W(\alpha_k + \beta_k\ell_i)`.

    Examples
    --------
    >>> import abstain
    >>> blocks = abstain.TieBlocks.from_samples([0, 1, 0], [0.9, 0.8, 0.7])
    >>> abstain.metrics.get("augrc").gradient_of(blocks).loss  # weight of a loss at each rank
    array([0.27777778, 0.16666667, 0.05555556])
    """

    weight: FloatArray
    loss: FloatArray
    oracle: Gradient | None = None

    def part(self, rows: slice | IntArray) -> tuple[FloatArray, FloatArray]:
        """Return both numbers of some blocks."""
        return self.weight[rows], self.loss[rows]

    def scaled(self, factor: float) -> Gradient:
        """Return ``factor`` times this gradient."""
        oracle = None if self.oracle is None else self.oracle.scaled(factor)
        return Gradient(factor * self.weight, factor * self.loss, oracle)

    def plus(self, other: Gradient) -> Gradient:
        """Return the sum of two gradients on the same table; a one-block gradient applies to every block."""
        parts = [part for part in (self.oracle, other.oracle) if part is not None]
        oracle = parts[0].plus(parts[1]) if len(parts) == 2 else (parts[0] if parts else None)
        return Gradient(self.weight + other.weight, self.loss + other.loss, oracle)


class Derived(Gradient):
    """A gradient that is read from another one of the same table, whose columns are kept: it takes no memory.

    ``terms``: of a loss of 0 and of a loss of 1 what a unit of weight adds, in multiples of the other gradient's
    numbers per weight and per loss, and besides. Columns are made when they are read.
    """

    own: Gradient
    terms: tuple[Term, Term]

    def __init__(self, own: Gradient, right: Term, per_loss: tuple[float, float]) -> None:
        share, besides = per_loss
        wrong = (right[0], right[1] + share, right[2] + besides)
        self.__dict__.update(own=own, terms=(right, wrong), oracle=None)

    @property
    def weight(self) -> FloatArray:
        """The numbers per weight."""
        return self.part(slice(None))[0]

    @property
    def loss(self) -> FloatArray:
        """The numbers per loss."""
        return self.part(slice(None))[1]

    def part(self, rows: slice | IntArray) -> tuple[FloatArray, FloatArray]:
        """Return both numbers of some blocks."""
        weight, loss = self.own.part(rows)
        (a, b, c), (_, d, e) = self.terms
        return a * weight + b * loss + c, (d - b) * loss + (e - c)

    def moved(self, by: Gradient, factor: float) -> Derived:
        """Return ``factor`` times the sum of this and a one-block gradient."""
        (a, b, c), (_, d, e) = self.terms
        weight, loss = float(by.weight[0]), float(by.loss[0])
        return Derived(
            self.own, (factor * a, factor * b, factor * (c + weight)), (factor * (d - b), factor * (e - c + loss))
        )


def moved(own: Gradient, by: Gradient, factor: float = 1.0) -> Gradient:
    """Return ``factor`` times the sum of a gradient and a one-block one, in the columns of the first unless it is kept.

    For whoever made it and needs it no longer: of millions of blocks another two columns are felt.
    """
    if isinstance(own, Derived) and by.oracle is None:
        return own.moved(by, factor)
    if own.oracle is not None or by.oracle is not None or not own.weight.flags.writeable:
        found = own.plus(by)
        return found if factor == 1.0 else found.scaled(factor)
    for column, constant in ((own.weight, by.weight), (own.loss, by.loss)):
        column += constant
        if factor != 1.0:
            column *= factor
    return own


def kept(own: Gradient) -> Gradient:
    """Return a gradient whose columns nobody may change from now on."""
    own.weight.flags.writeable = own.loss.flags.writeable = False
    return own


#: Where a table keeps the gradient that was made last, with its name.
_LAST = "last gradient"


@contextmanager
def keeping_one(blocks: TieBlocks) -> Iterator[None]:
    """Let a table keep the last of the gradients that :func:`lately` makes: two are felt where it is large."""
    blocks._known[_LAST] = ("", None)
    try:
        yield
    finally:
        blocks._known.pop(_LAST, None)


def lately(blocks: TieBlocks, name: str, make: Callable[[TieBlocks], Gradient]) -> Gradient | None:
    """Return what was made last under this name, or made now; None where a table keeps none."""
    last: tuple[str, Any] | None = blocks._known.get(_LAST)
    if last is None:
        return None
    if last[0] != name:
        blocks._known[_LAST] = last = ("", None)  # the one before goes first
        blocks._known[_LAST] = last = (name, kept(make(blocks)))
    found: Gradient = last[1]
    return found


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

    same = {name: getattr(blocks, name) for name in ("binary", "frequencies", "n_rejected", "n_dropped", "_oracle")}
    table = TieBlocks(0.0 - negative, add(blocks.weight), add(blocks.loss), add(blocks.count), **same)
    return table, block


def check_predictions(
    labels: ArrayLike,
    probabilities: ArrayLike,
    sample_weight: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
) -> Predictions:
    """Return checked arrays: labels 0..K-1, rows of probabilities that sum to one (to 1e-3)."""
    matrix = matrix_of(probabilities, "probabilities", np, None)
    classes = class_labels(to_numpy(labels), "labels", np, None, matrix.shape[1])
    weight = None if sample_weight is None else vector(to_numpy(sample_weight), "sample_weight", np, None)
    score = None if confidence is None else vector(to_numpy(confidence), "confidence", np, None)
    if score is not None:
        refuse(np.isnan(score), score, "confidence", "holds NaN", "leave out these samples", np)
    same_length(labels=classes, probabilities=matrix, sample_weight=weight, confidence=score)
    if weight is not None:
        check_weight(weight, np)
    return Predictions(classes.astype(np.intp), matrix, score, weight)
