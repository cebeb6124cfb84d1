"""The classifier without a reject option: risk and accuracy at full coverage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.metrics._declare import image_of, register
from abstain.metrics._facts import AcceptedLoss, FromSums, Sums
from abstain.metrics._gradient import Gradient
from abstain.metrics._metric import Metric

__all__ = ["accuracy", "risk"]


def _risk(blocks: TieBlocks) -> float:
    return blocks.mean_loss


def _risk_gradient(blocks: TieBlocks) -> Gradient:
    flat = np.full(len(blocks), 1.0 / blocks.total_weight)
    return Gradient(-blocks.mean_loss * flat, flat)


def _of_sums(sums: Sums) -> FloatArray:
    return sums.loss / sums.weight


def mean_of_terms(metric: Metric) -> Metric:
    """Return a mean over predictions as the mean loss of a table that holds their terms."""
    return replace(
        metric, input="blocks", terms=None, options={},
        value=_risk, gradient=_risk_gradient, from_sums=FromSums(_of_sums),
    )  # fmt: skip


@register(
    title="Risk",
    value=_risk,
    gradient=_risk_gradient,
    attribution="losses",
    worst=lambda p: p,
    accepted_loss=AcceptedLoss(),
    from_sums=FromSums(_of_sums),
    direction="lower",
    range=(0.0, 1.0),
    scale="log",
    convention="full-coverage",
    source="mean loss",
)
def risk(loss: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Risk without rejection: the mean loss, :math:`\sum_i w_i\ell_i / \sum_i w_i`.

    Returns
    -------
    float
        In [0, max loss]; lower is better.

    Notes
    -----
    No score is involved, so ties do not matter.

    References
    ----------
    Traub et al. (2024), NeurIPS: Section 2.

    Examples
    --------
    >>> import abstain
    >>> abstain.risk([0, 0, 1, 0])
    0.25
    """


@register(
    title="Accuracy",
    image=image_of(risk, 1.0, -1.0),
    direction="higher",
    range=(0.0, 1.0),
    needs={"unit_loss"},
    source="mean of 1 - loss",
)
def accuracy(loss: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Accuracy without rejection, :math:`1 - \sum_i w_i\ell_i / \sum_i w_i`.

    Notes
    -----
    No score is involved, so ties do not matter.

    References
    ----------
    Traub et al. (2024), NeurIPS: Section 2.

    Examples
    --------
    >>> import abstain
    >>> abstain.accuracy([0, 0, 1, 0])
    0.75
    """
