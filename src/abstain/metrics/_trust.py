"""The CWSA family: confidence-weighted selective accuracy at a threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from abstain._checks import fraction, one_of, vector
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
    tau = fraction(threshold, "threshold", below_one=True)
    if not isinstance(confidence, np.ndarray) or confidence.dtype.kind != "f":
        confidence = vector(confidence, "confidence", np, None)
    return 1.0 - (1.0 - confidence) / (1.0 - tau)


def _terms(
    blocks: TieBlocks, threshold: float = 0.5, denominator: Denominator = "accepted", trust: Trust = linear_trust
) -> tuple[FloatArray, FloatArray, float]:
    """Trust of each block (0 where it is rejected), whether it counts (0/1), and the weight of those that do.

    Where nothing is accepted nothing counts, and all is 0, as the paper's algorithm 1 says.
    """
    tau = fraction(threshold, "threshold", below_one=True)
    one_of(denominator, ("accepted", "all"), "denominator")
    if not callable(trust) or isinstance(trust, type):
        raise TypeError(f"trust must be a function of (confidence, threshold), got {trust!r}")
    accepted = blocks.score >= tau
    phi = np.zeros(len(blocks))
    phi[accepted] = trust(blocks.score[accepted], tau)
    if denominator == "all" and accepted.any():
        return phi, np.ones(len(blocks)), blocks.total_weight
    return phi, accepted.astype(np.float64), float(blocks.weight[accepted].sum())


@dataclass(frozen=True)
class _Family:
    """Sum of phi (m - factor s) over what counts: a wrong prediction loses its trust (2, CWSA) or gains none (1)."""

    factor: float

    def value(
        self,
        blocks: TieBlocks,
        threshold: float = 0.5,
        denominator: Denominator = "accepted",
        trust: Trust = linear_trust,
    ) -> float:
        phi, _, divisor = _terms(blocks, threshold, denominator, trust)
        return inner(phi, blocks.weight - self.factor * blocks.loss) / (divisor or 1.0)

    def gradient(self, blocks: TieBlocks, **options: Any) -> Gradient:
        phi, counted, divisor = _terms(blocks, **options)
        value = self.value(blocks, **options)
        return Gradient(phi - value * counted, -self.factor * phi).scaled(1.0 / (divisor or 1.0))

    def attribution(self, blocks: TieBlocks, **options: Any) -> Attribution:
        phi, _, divisor = _terms(blocks, **options)
        share = phi / (divisor or 1.0)
        return share, -self.factor * share


CWSA, CWSA_PLUS = _Family(2.0), _Family(1.0)


@register(
    title=lambda threshold, **_: f"CWSA at {threshold:g}",
    value=CWSA.value,
    gradient=CWSA.gradient,
    attribution=CWSA.attribution,
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
    threshold : float in [0, 1)
        Accept confidences >= threshold.
    denominator : {"accepted", "all"}
        Divide by the accepted samples, as the paper's formula says, or by all, as its published tables do.
    trust : callable
        Weight function phi(confidence, threshold) in [0, 1].

    Returns
    -------
    float
        In [-1, 1]; higher is better; 0 if nothing is accepted.

    Notes
    -----
    Ties are accepted together. For a graded correctness kappa the loss is 1 - kappa.

    References
    ----------
    Shahnazari et al. (2025): Section 3.2, Algorithm 1; graded correctness A.6.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.cwsa([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.4], threshold=0.5), 6)
    0.333333
    """


@register(
    title=lambda threshold, **_: f"CWSA+ at {threshold:g}",
    value=CWSA_PLUS.value,
    gradient=CWSA_PLUS.gradient,
    attribution=CWSA_PLUS.attribution,
    direction="higher",
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
    denominator : {"accepted", "all"}
        Divide by the accepted samples, as the paper does, or by all.

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
