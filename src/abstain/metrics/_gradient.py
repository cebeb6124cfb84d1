"""What a metric takes and gives: predictions, a value with its reason, a gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from abstain._typing import FloatArray

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

    labels: Any
    probabilities: FloatArray
    confidence: FloatArray | None = None
    sample_weight: FloatArray | None = None


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

    def scaled(self, factor: float) -> Gradient:
        """Return ``factor`` times this gradient."""
        oracle = None if self.oracle is None else self.oracle.scaled(factor)
        return Gradient(factor * self.weight, factor * self.loss, oracle)

    def plus(self, other: Gradient) -> Gradient:
        """Return the sum of two gradients on the same table; a one-block gradient applies to every block."""
        parts = [part for part in (self.oracle, other.oracle) if part is not None]
        oracle = parts[0].plus(parts[1]) if len(parts) == 2 else (parts[0] if parts else None)
        return Gradient(self.weight + other.weight, self.loss + other.loss, oracle)


def moved(own: Gradient, by: Gradient, factor: float = 1.0) -> Gradient:
    """Return ``factor`` times the sum of a gradient and a one-block one, in the columns of the first unless it is kept.

    For whoever made it and needs it no longer: of millions of blocks another two columns are felt.
    """
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
