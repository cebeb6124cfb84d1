"""Exact bias and mean squared error of the rank weights with which AURC estimators weigh a loss."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from abstain._checks import one_of, vector, whole
from abstain._harmonic import harmonic_difference
from abstain._typing import ArrayLike, FloatArray

__all__ = ["rank_weight_bias", "rank_weight_mse", "rank_weights"]

WeightEstimator = Literal["harmonic", "log", "sele"]


def rank_weights(n: int, estimator: WeightEstimator = "harmonic") -> FloatArray:
    r"""Return the weights of the losses by ascending rank r = 1..n; the estimate is the mean of weight x loss.

    ``"harmonic"``: :math:`\hat\alpha_r = H_n - H_{n-r}`; ``"log"``: :math:`\hat\alpha'_r = -\ln(1 - r/(n+1))`;
    ``"sele"``: :math:`r/n`. They estimate :math:`\alpha = -\ln(1 - G)` at population rank G.

    Parameters
    ----------
    n : int
        Sample size.
    estimator : {"harmonic", "log", "sele"}

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        A sample size below 1; an unknown estimator.

    References
    ----------
    Zhou et al. (2025), ICML: Eq. 13, 18, 33.

    Examples
    --------
    >>> import abstain
    >>> abstain.rank_weights(2)
    array([0.5, 1.5])
    """
    n = whole(n, "n")
    rank = np.arange(1.0, n + 1.0)
    match one_of(estimator, get_args(WeightEstimator), "estimator"):
        case "harmonic":
            return harmonic_difference(n - rank, np.full(n, float(n)))
        case "log":
            return -np.log1p(-rank / (n + 1.0))
    return rank / n


def rank_weight_bias(n: int, beta: ArrayLike, estimator: WeightEstimator = "harmonic") -> FloatArray:
    r"""Return the exact bias of a weight estimator at population rank percentile beta.

    .. math:: \sum_{r=1}^n \hat\alpha_r \binom{n-1}{r-1}\beta^{r-1}(1-\beta)^{n-r} + \ln(1-\beta)

    Parameters
    ----------
    n : int
        Sample size.
    beta : array-like of float in [0, 1)
        Population rank percentile of the sample that is weighted.
    estimator : {"harmonic", "log", "sele"}

    Returns
    -------
    ndarray
        One bias per beta: positive for small, negative for large ones.

    Raises
    ------
    ValueError
        A sample size below 1, a percentile outside [0, 1), an unknown estimator.

    Notes
    -----
    The sum collapses for two of them: :math:`\frac1n - \sum_{j\ge n}\beta^j/j` (harmonic) and
    :math:`(1 + (n-1)\beta)/n + \ln(1-\beta)` (SELE).

    References
    ----------
    Zhou et al. (2025), ICML: Propositions 3.3, 3.4 and A.2.

    Examples
    --------
    >>> import abstain
    >>> abstain.rank_weight_bias(2, [0.0, 0.5]).round(6)
    array([0.5     , 0.306853])
    """
    n = whole(n, "n")
    percentile = vector(beta, "beta", np, None)
    if not np.all((percentile >= 0.0) & (percentile < 1.0)):
        raise ValueError(f"beta must lie in [0, 1), got values from {percentile.min()} to {percentile.max()}")
    target = np.log1p(-percentile)
    match one_of(estimator, get_args(WeightEstimator), "estimator"):
        case "harmonic":
            powers: FloatArray = percentile[:, None] ** np.arange(1, n) / np.arange(1, n)
            return np.asarray(1.0 / n + powers.sum(axis=1) + target)
        case "sele":
            return np.asarray((1.0 + (n - 1) * percentile) / n + target)
    from scipy.stats import binom

    others_below = np.arange(n)
    chance = binom.pmf(others_below, n - 1, percentile[:, None])
    return np.asarray(chance @ rank_weights(n, "log") + target)


def rank_weight_mse(n: int, rank: ArrayLike, estimator: WeightEstimator = "harmonic") -> FloatArray:
    r"""Return the exact mean squared error of a weight estimator at sample rank r.

    .. math:: \psi'(n + 1 - r) - \psi'(n + 1) + \bigl(\hat\alpha_r - (H_n - H_{n-r})\bigr)^2

    over the population percentile :math:`\beta \sim \text{Beta}(r, n + 1 - r)`.

    Parameters
    ----------
    n : int
        Sample size.
    rank : array-like of int in [1, n]
        Ascending rank: n is the most confident.
    estimator : {"harmonic", "log", "sele"}
        The harmonic weight is the conditional mean, so its second term is 0 and its error the smallest.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        A sample size below 1, a rank outside [1, n], an unknown estimator.

    References
    ----------
    Zhou et al. (2025), ICML: Propositions 3.5 and A.3; the SELE case by the same argument.

    Examples
    --------
    >>> import abstain
    >>> abstain.rank_weight_mse(2, [1, 2])
    array([0.25, 1.25])
    """
    from scipy.special import polygamma

    n = whole(n, "n")
    r = vector(rank, "rank", np, None)
    if not np.all((r >= 1) & (r <= n) & (r == np.floor(r))):
        raise ValueError(f"rank must hold whole numbers from 1 to n = {n}, got values from {r.min()} to {r.max()}")
    index = r.astype(np.intp) - 1
    off_centre = rank_weights(n, estimator)[index] - rank_weights(n, "harmonic")[index]
    return np.asarray(polygamma(1, n + 1.0 - r) - polygamma(1, n + 1.0) + off_centre**2)
