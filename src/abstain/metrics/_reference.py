"""References of the areas: the optimum of an oracle, and what mixing thresholds achieves (lower hull)."""

from __future__ import annotations

from contextlib import suppress
from typing import get_args

import numpy as np

from abstain._checks import Undefined, UnmetNeed, one_of
from abstain._typing import ArrayLike, NanPolicy
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.metrics import _area as area
from abstain.metrics._augrc import augrc_gradient, augrc_value
from abstain.metrics._aurc import Estimator, aurc_gradient, aurc_value
from abstain.metrics._declare import documented, register
from abstain.metrics._gradient import Gradient

__all__ = ["augrc_achievable", "augrc_optimal", "aurc_achievable", "aurc_optimal"]


# ---------------------------------------------------------------------- optimum


def _oracle_estimator(estimator: Estimator) -> Estimator:
    """The estimator that reads the oracle: no attainable curve may beat it, duplication may not move it."""
    return "interpolated" if estimator == "plugin" else estimator


def through_oracle(gradient: Gradient, blocks: TieBlocks) -> Gradient:
    """Return the derivative through ``blocks.oracle`` as one on ``blocks``, with one block where it is that of all.

    A 0/1 loss sends the right samples to the oracle's first block and the wrong ones to its last, so the
    oracle is a function of the table; for any other loss it is a table of its own.
    """
    if not blocks.binary:
        zeros = np.zeros(len(blocks))
        return Gradient(zeros, zeros, gradient)
    right, wrong = gradient.weight[0], gradient.weight[-1] + gradient.loss[-1]
    if len(blocks.oracle) == 1:
        if blocks.total_loss > 0.0:
            raise Undefined("every loss is 1, where the optimum has no derivative")
        wrong = right = gradient.weight[0]
    return Gradient(np.array([right]), np.array([wrong - right]))


def aurc_optimal_value(blocks: TieBlocks, estimator: Estimator = "plugin") -> float:
    """AURC of the oracle's ranking."""
    oracle = blocks.oracle
    if estimator != "trapezoid":
        return aurc_value(oracle, _oracle_estimator(estimator))
    if blocks.binary:
        return aurc_value(oracle, "interpolated")
    area.require_counts(blocks, 'the optimum of estimator="trapezoid"')
    ends = float(oracle.loss[0] / oracle.weight[0]) - oracle.mean_loss  # trapezoid of distinct ranks, from their mean
    return aurc_value(oracle, "harmonic") + ends / (2.0 * oracle.total_weight)


def aurc_optimal_gradient(blocks: TieBlocks, estimator: Estimator = "plugin") -> Gradient:
    """Derivative of the AURC of the oracle's ranking."""
    if estimator == "trapezoid" and not blocks.binary:
        raise UnmetNeed('the optimum of estimator="trapezoid" has no gradient for this loss; use "plugin"')
    reader = _oracle_estimator("plugin" if estimator == "trapezoid" else estimator)
    return through_oracle(aurc_gradient(blocks.oracle, reader), blocks)


def augrc_optimal_value(blocks: TieBlocks) -> float:
    """AUGRC of the oracle's ranking."""
    return augrc_value(blocks.oracle)


def augrc_optimal_gradient(blocks: TieBlocks) -> Gradient:
    """Derivative of the AUGRC of the oracle's ranking."""
    return through_oracle(augrc_gradient(blocks.oracle), blocks)


@documented
def aurc_optimal(loss: ArrayLike, *, estimator: Estimator = "plugin", sample_weight: ArrayLike | None = None) -> float:
    r"""AURC of the best possible ranking of these losses.

    For ``"plugin"`` and ``"interpolated"`` the interpolated area of the loss-ordered table; for a 0/1 loss with
    error rate :math:`\mu` that is :math:`\mu + (1-\mu)\ln(1-\mu)`.

    Parameters
    ----------
    estimator : {"plugin", "interpolated", "trapezoid", "harmonic", "log"}
        ``"harmonic"`` and ``"log"`` read the oracle by their own weights. ``"trapezoid"`` reproduces the mixed
        optimum of the fd-shifts code, from which the excess can come out negative.

    Returns
    -------
    float
        In [0, mean loss].

    Raises
    ------
    ValueError, TypeError
        Bad columns; real weights for an estimator on counts.

    Notes
    -----
    Equal losses are tied, so that duplicating every row changes nothing and no attainable curve is better.

    References
    ----------
    Geifman, Uziel & El-Yaniv (2019), ICLR: the closed form.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.aurc_optimal([0, 0, 1, 0]), 6)
    0.034238
    """
    one_of(estimator, get_args(Estimator), "estimator")
    return aurc_optimal_value(_loss_only(loss, sample_weight), estimator)


@documented
def augrc_optimal(loss: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""AUGRC of the best possible ranking of these losses; :math:`\mu^2/2` for a 0/1 loss with error rate :math:`\mu`.

    Returns
    -------
    float
        In [0, mean loss / 2].

    References
    ----------
    Traub et al. (2024), NeurIPS: Eq. 7, second term.

    Examples
    --------
    >>> import abstain
    >>> abstain.augrc_optimal([0, 0, 1, 0])
    0.03125
    """
    return augrc_optimal_value(_loss_only(loss, sample_weight))


def _loss_only(loss: ArrayLike, sample_weight: ArrayLike | None) -> TieBlocks:
    constant: ArrayLike = loss
    with suppress(TypeError):  # a single number: the table says what is wrong with it
        constant = np.zeros(len(loss))
    return TieBlocks.from_samples(loss, constant, sample_weight, oracle=True)


# ---------------------------------------------------------------------- achievable


@register(
    title="AURC (achievable)",
    value=lambda blocks: aurc_value(RiskCoverageCurve(blocks).hull().blocks, "interpolated"),
    direction="lower",
    inference="none",
    multi_threshold=True,
    convention="lower-hull",
    source="Traub et al. 2024, code",
)
def aurc_achievable(
    loss: ArrayLike, confidence: ArrayLike, *, sample_weight: ArrayLike | None = None, nan_policy: NanPolicy = "raise"
) -> float:
    r"""AURC of the lower convex hull: what the score achieves if thresholds may be mixed at random.

    .. math:: \int_0^1 \frac{\text{hull}_G(c)}{c}\,dc

    with the lower convex hull of the generalized-risk curve.

    Returns
    -------
    float
        Between the optimum and the interpolated AURC; lower is better.

    Notes
    -----
    Ties are one point of the curve. No interval by default: the hull is biased downwards at every sample size.

    References
    ----------
    Traub et al. (2024): code, for 0/1 losses by the ROC hull; the hull of G serves any loss and is never above it.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.aurc_achievable([1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6]), 6)
    0.356159
    """


@register(
    title="AUGRC (achievable)",
    value=lambda blocks: augrc_value(RiskCoverageCurve(blocks).hull().blocks),
    direction="lower",
    range=(0.0, 0.5),
    inference="none",
    multi_threshold=True,
    convention="lower-hull",
    source="after Traub et al. 2024",
)
def augrc_achievable(
    loss: ArrayLike, confidence: ArrayLike, *, sample_weight: ArrayLike | None = None, nan_policy: NanPolicy = "raise"
) -> float:
    r"""AUGRC of the lower convex hull: what the score achieves if thresholds may be mixed at random.

    .. math:: \int_0^1 \text{hull}_G(c)\,dc

    Returns
    -------
    float
        Between the optimum and the AUGRC; lower is better.

    Notes
    -----
    Ties are one point of the curve. No interval by default: the hull is biased downwards at every sample size.

    References
    ----------
    The hull of :func:`aurc_achievable` applied to Traub et al. (2024), Eq. 6.

    Examples
    --------
    >>> import abstain
    >>> abstain.augrc_achievable([1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6])
    0.1875
    """
