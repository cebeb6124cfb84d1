"""The weights by rank with which AURC estimators weigh a loss: exact at any rank, with exact bias and error.

The obvious differences (b H_b - a H_a, lgamma(b) - lgamma(a)) cancel: at rank 1e6 they keep six digits.
Both expansions below are written in x = rank + 1/2, where their odd terms vanish.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from abstain._checks import one_of, vector, whole
from abstain._typing import ArrayLike, FloatArray

__all__ = ["rank_weight_bias", "rank_weight_mse", "rank_weights"]

_NEAR = 16  # below this rank: exact tables; from it on: series, good to 1e-17
_HARMONIC = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, _NEAR + 1))))  # H_0 .. H_16
_LOG_FACTORIAL = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, _NEAR + 1)))))  # ln 0! .. ln 16!


def _harmonic_tail(n: FloatArray) -> FloatArray:
    """H_n - ln(n + 1/2) - gamma."""
    z = 1.0 / (n + 0.5) ** 2
    return z * (1 / 24 + z * (-7 / 960 + z * (31 / 8064 + z * (-127 / 30720 + z * 511 / 67584))))


def _stirling_tail(n: FloatArray) -> FloatArray:
    """Ln n! - [x ln x - x + ln(2 pi)/2] with x = n + 1/2."""
    z = 1.0 / (n + 0.5) ** 2
    series = -1 / 24 + z * (7 / 2880 + z * (-31 / 40320 + z * (127 / 215040 - z * 511 / 608256)))
    return series / (n + 0.5)


def _far(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.maximum(low, _NEAR), np.maximum(high, _NEAR)


def _near(table: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    return table[np.minimum(high, _NEAR).astype(np.intp)] - table[np.minimum(low, _NEAR).astype(np.intp)]


def harmonic_difference(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return H_high - H_low = 1/(low + 1) + ... + 1/high, elementwise."""
    start, stop = _far(low, high)
    far = np.log1p((stop - start) / (start + 0.5)) + _harmonic_tail(stop) - _harmonic_tail(start)
    return _near(_HARMONIC, low, high) + far


def mean_harmonic(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the mean of H_n - H_low over n = low, ..., high - 1."""
    return high * harmonic_difference(low, high) / (high - low) - 1.0


def mean_log(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the mean of ln n over n = low + 1, ..., high."""
    start, stop = _far(low, high)
    width, y = stop - start, start + 0.5
    far = width * np.log(stop + 0.5) + (y * np.log1p(width / y) - width) + _stirling_tail(stop) - _stirling_tail(start)
    return (_near(_LOG_FACTORIAL, low, high) + far) / (high - low)


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
