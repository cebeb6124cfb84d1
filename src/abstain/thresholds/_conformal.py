r"""Conformal risk control of the generalized risk: the expected accepted loss per sample of the whole population.

:math:`l\,1[g \ge \tau]` falls as the threshold rises, for every sample, so that the lowest threshold with

.. math:: \frac{n\,\hat G(\tau) + B}{n + 1} \le \alpha

has :math:`E\{l\,1[g \ge \hat\tau]\} \le \alpha` for a new sample, whatever the distribution. The selective risk is not
monotone, and no such statement holds for it. The guarantee is about the average over calibration sets, without a delta.

Source: Angelopoulos, Bates, Fisch, Lei & Schuster (2024), *Conformal risk control*, Theorem 1.
"""

from __future__ import annotations

import numpy as np

from abstain._checks import FRACTION, positive
from abstain._typing import ArrayLike, NanPolicy
from abstain.curve import OperatingPoint
from abstain.thresholds._sample import largest_loss, read


def conformal_threshold(
    loss: ArrayLike,
    confidence: ArrayLike,
    risk: float,
    *,
    max_loss: float | None = None,
    nan_policy: NanPolicy = "raise",
) -> OperatingPoint:
    r"""Return the threshold of conformal risk control: the expected *generalized* risk is at most ``risk``.

    .. math:: \hat\tau = \min\{\tau: (n\,\hat G(\tau) + B)/(n + 1) \le \alpha\}

    Parameters
    ----------
    loss, confidence : array-like of shape (n_samples,)
        Calibration rows.
    risk : float
        Limit of the accepted loss per sample of the whole population, rejected ones included.
    max_loss : float, optional
        Largest possible loss B; needed if the loss is not 0/1.
    nan_policy : {"raise", "reject", "drop"}
        A NaN score: an error; never accepted, stays in n; left out.

    Returns
    -------
    OperatingPoint
        With threshold +inf and a reason if not even rejecting everything meets the bound: B/(n + 1) > risk.

    Raises
    ------
    ValueError, TypeError
        Bad columns; ``max_loss`` missing or below what occurs; a risk that is not positive.

    References
    ----------
    Angelopoulos et al. (2024), Theorem 1.

    Examples
    --------
    >>> import abstain
    >>> abstain.thresholds.conformal_threshold([0, 0, 0, 1, 0, 1, 1] * 10, range(70), 0.2).n_accepted
    29
    """
    sample = read(loss, confidence, None, nan_policy)
    risk = positive(risk, "risk", FRACTION)
    largest = largest_loss(sample, max_loss)
    curve = sample.curve
    bound = (sample.n * curve.generalized_risk + largest) / (sample.n + 1)
    met = np.flatnonzero((curve.threshold > -np.inf) & (bound <= risk * (1.0 + 1e-12)))
    if met.size:
        return curve.at(threshold=float(curve.threshold[met[-1]]))
    why = (
        f"{sample.n} rows cannot show a generalized risk of {risk:g}: "
        f"at least {np.ceil(largest / risk - 1.0):.15g} are needed"
    )
    if largest / (sample.n + 1) <= risk:
        why = "already the most confident rows carry too much loss"
    return OperatingPoint(np.inf, 0.0, np.nan, 0.0, 0, sample.n, why)
