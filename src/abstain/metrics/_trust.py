"""The CWSA family: confidence-weighted selective accuracy at a threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from abstain._checks import fraction, one_of
from abstain._sums import inner
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics._declare import register
from abstain.metrics._gradient import Attribution, Gradient

__all__ = ["cwsa", "cwsa_plus", "linear_trust"]

Denominator = Literal["accepted", "all"]
#: Weight of an accepted prediction: trust(confidence, threshold) -> array in [0, 1].
Trust: TypeAlias = Callable[[FloatArray, float], FloatArray]


def linear_trust(confidence: FloatArray, threshold: float) -> FloatArray:
    r"""Weight of an accepted prediction: 0 at the threshold, 1 at full confidence.

    .. math:: \phi(c) = \frac{c - \tau}{1 - \tau}

    Parameters
    ----------
    confidence : ndarray
        Confidences in [threshold, 1].
    threshold : float in [0, 1)

    Returns
    -------
    ndarray
        In [0, 1], the same shape.

    References
    ----------
    Shahnazari et al. (2025): Section 3.2.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> abstain.linear_trust(np.array([0.5, 0.75, 1.0]), 0.5)
    array([0. , 0.5, 1. ])
    """
    return 1.0 - (1.0 - confidence) / (1.0 - threshold)


def _terms(
    blocks: TieBlocks, threshold: float, denominator: Denominator, trust: Trust
) -> tuple[FloatArray, FloatArray, float]:
    """Trust of each block (0 where it is rejected), accepted (0/1), and the divisor (0 if nothing is accepted)."""
    tau = fraction(threshold, "threshold", below_one=True)
    one_of(denominator, ("accepted", "all"), "denominator")
    if not callable(trust):
        raise TypeError(f"trust must be a function of (confidence, threshold), got {trust!r}")
    accepted = blocks.score >= tau
    phi = np.zeros(len(blocks))
    phi[accepted] = trust(blocks.score[accepted], tau)
    divisor = float(blocks.weight[accepted].sum())
    if denominator == "all" and divisor > 0.0:
        divisor = blocks.total_weight
    return phi, accepted.astype(np.float64), divisor


def _value(blocks: TieBlocks, penalty: float, threshold: float, denominator: Denominator, trust: Trust) -> float:
    """Sum of phi (m - (1 + penalty) s) over the divisor; penalty 1 = CWSA, 0 = CWSA+."""
    phi, _, divisor = _terms(blocks, threshold, denominator, trust)
    if divisor == 0.0:
        return 0.0  # as the paper's algorithm 1 says
    return inner(phi, blocks.weight - (1.0 + penalty) * blocks.loss) / divisor


def _gradient(blocks: TieBlocks, penalty: float, threshold: float, denominator: Denominator, trust: Trust) -> Gradient:
    phi, accepted, divisor = _terms(blocks, threshold, denominator, trust)
    if divisor == 0.0:
        return Gradient(np.zeros(len(blocks)), np.zeros(len(blocks)))
    shares = accepted if denominator == "accepted" else np.ones(len(blocks))
    value = _value(blocks, penalty, threshold, denominator, trust)
    return Gradient((phi - value * shares) / divisor, -(1.0 + penalty) * phi / divisor)


def _contributions(
    blocks: TieBlocks, penalty: float, threshold: float, denominator: Denominator, trust: Trust
) -> Attribution:
    phi, _, divisor = _terms(blocks, threshold, denominator, trust)
    per_weight = phi / divisor if divisor > 0.0 else phi
    return per_weight, -(1.0 + penalty) * per_weight


def _cwsa(
    blocks: TieBlocks, threshold: float = 0.5, denominator: Denominator = "accepted", trust: Trust = linear_trust
) -> float:
    return _value(blocks, 1.0, threshold, denominator, trust)


def _cwsa_gradient(
    blocks: TieBlocks, threshold: float = 0.5, denominator: Denominator = "accepted", trust: Trust = linear_trust
) -> Gradient:
    return _gradient(blocks, 1.0, threshold, denominator, trust)


def _cwsa_attribution(
    blocks: TieBlocks, threshold: float = 0.5, denominator: Denominator = "accepted", trust: Trust = linear_trust
) -> Attribution:
    return _contributions(blocks, 1.0, threshold, denominator, trust)


@register(
    title=lambda threshold, **_: f"CWSA at {threshold:g}",
    value=_cwsa,
    gradient=_cwsa_gradient,
    attribution=_cwsa_attribution,
    direction="higher",
    range=(-1.0, 1.0),
    needs={"unit_score", "unit_loss"},
    convention="denominator",
    source="Shahnazari et al. 2025, Section 3.2",
)
def cwsa(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    threshold: float = 0.5,
    denominator: Denominator = "accepted",
    trust: Trust = linear_trust,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Confidence-weighted selective accuracy: accepted predictions gain their trust if right and lose it if wrong.

    .. math:: \text{CWSA}(\tau) = \frac{1}{|S_\tau|}\sum_{i \in S_\tau} \phi(c_i)\,(1 - 2\ell_i),
              \qquad S_\tau = \{i : c_i \ge \tau\}

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss in [0, 1]: 0/1, or 1 - kappa for a graded correctness kappa.
    confidence : array-like of shape (n_samples,)
        Confidence in [0, 1]; its values count, not only its order.
    threshold : float in [0, 1)
        Accept confidences >= threshold.
    denominator : {"accepted", "all"}
        Divide by the accepted samples, as the paper's formula says, or by all, as its published tables do.
    trust : callable
        Weight function phi(confidence, threshold) in [0, 1].
    nan_policy : {"raise", "reject", "drop"}
        "reject" gives a sample the score -inf, which is no probability: use "drop" or "raise" here.

    Returns
    -------
    float
        In [-1, 1]; higher is better; 0 if nothing is accepted.

    Notes
    -----
    Ties are accepted together.

    References
    ----------
    Shahnazari et al. (2025): Section 3.2, Algorithm 1; graded correctness A.6.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.cwsa([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.4], threshold=0.5), 6)
    0.333333
    """


def _cwsa_plus(
    blocks: TieBlocks, threshold: float = 0.5, denominator: Denominator = "accepted", trust: Trust = linear_trust
) -> float:
    return _value(blocks, 0.0, threshold, denominator, trust)


def _cwsa_plus_gradient(
    blocks: TieBlocks, threshold: float = 0.5, denominator: Denominator = "accepted", trust: Trust = linear_trust
) -> Gradient:
    return _gradient(blocks, 0.0, threshold, denominator, trust)


def _cwsa_plus_attribution(
    blocks: TieBlocks, threshold: float = 0.5, denominator: Denominator = "accepted", trust: Trust = linear_trust
) -> Attribution:
    return _contributions(blocks, 0.0, threshold, denominator, trust)


@register(
    title=lambda threshold, **_: f"CWSA+ at {threshold:g}",
    value=_cwsa_plus,
    gradient=_cwsa_plus_gradient,
    attribution=_cwsa_plus_attribution,
    direction="higher",
    range=(0.0, 1.0),
    needs={"unit_score", "unit_loss"},
    convention="denominator",
    source="Shahnazari et al. 2025, Section 3.3",
)
def cwsa_plus(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    threshold: float = 0.5,
    denominator: Denominator = "accepted",
    trust: Trust = linear_trust,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""CWSA+: accepted predictions gain their trust if right and nothing if wrong.

    .. math:: \text{CWSA}^+(\tau) = \frac{1}{|S_\tau|}\sum_{i \in S_\tau} \phi(c_i)\,(1 - \ell_i)

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss in [0, 1]: 0/1, or 1 - kappa for a graded correctness kappa.
    confidence : array-like of shape (n_samples,)
        Confidence in [0, 1]; its values count, not only its order.
    threshold : float in [0, 1)
        Accept confidences >= threshold.
    denominator : {"accepted", "all"}
        Divide by the accepted samples, as the paper does, or by all.
    trust : callable
        Weight function phi(confidence, threshold) in [0, 1].
    nan_policy : {"raise", "reject", "drop"}
        As in :func:`cwsa`.

    Returns
    -------
    float
        In [0, 1]; higher is better; 0 if nothing is accepted.

    Notes
    -----
    Ties are accepted together. A confident failure costs nothing here: CWSA shows it.

    References
    ----------
    Shahnazari et al. (2025): Section 3.3, Algorithm 1; graded correctness A.6.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.cwsa_plus([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.4], threshold=0.5), 6)
    0.466667
    """
