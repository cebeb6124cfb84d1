"""The classifier without a reject option: risk and accuracy at full coverage."""

from __future__ import annotations

import numpy as np

from abstain._typing import ArrayLike
from abstain.blocks import TieBlocks
from abstain.metrics._metric import METRICS, Attribution, Gradient, Metric

__all__ = ["accuracy", "risk"]


def _risk(blocks: TieBlocks) -> float:
    return blocks.mean_loss


def _risk_gradient(blocks: TieBlocks) -> Gradient:
    flat = np.full(len(blocks), 1.0 / blocks.total_weight)
    return Gradient(-blocks.mean_loss * flat, flat)


def _risk_attribution(blocks: TieBlocks) -> Attribution:
    return np.zeros(len(blocks)), _risk_gradient(blocks).loss


def risk(loss: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Risk without rejection: the mean loss, :math:`\sum_i w_i\ell_i / \sum_i w_i`.

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss per sample, >= 0.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; default 1 each.

    Returns
    -------
    float
        In [0, max loss]; lower is better.

    Raises
    ------
    ValueError, TypeError
        Bad columns.

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
    return RISK.of(loss, np.zeros(np.shape(loss)), sample_weight)


def _accuracy(blocks: TieBlocks) -> float:
    return 1.0 - blocks.mean_loss


def _accuracy_gradient(blocks: TieBlocks) -> Gradient:
    return _risk_gradient(blocks).scaled(-1.0)


def accuracy(loss: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Accuracy without rejection, :math:`1 - \sum_i w_i\ell_i / \sum_i w_i`.

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss per sample in [0, 1].
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; default 1 each.

    Returns
    -------
    float
        In [0, 1]; higher is better.

    Raises
    ------
    UnmetNeed
        A loss above 1.
    ValueError, TypeError
        Bad columns.

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
    return ACCURACY.of(loss, np.zeros(np.shape(loss)), sample_weight)


ACCURACY = METRICS.register(
    Metric(
        name="accuracy",
        title="Accuracy",
        function=accuracy,
        value=_accuracy,
        gradient=_accuracy_gradient,
        direction="higher",
        range=(0.0, 1.0),
        needs=frozenset({"unit_loss"}),
        scale="logit",
        convention="full-coverage",
        source="mean of 1 - loss",
    )
)
RISK = METRICS.register(
    Metric(
        name="risk",
        title="Risk",
        function=risk,
        value=_risk,
        gradient=_risk_gradient,
        attribution=_risk_attribution,
        direction="lower",
        range=(0.0, 1.0),
        scale="log",
        convention="full-coverage",
        source="mean loss",
    )
)
