r"""Lower tails of binomial distributions, summed here where they are few: loading SciPy's would cost more than they do.

A sum runs from its last term down, each term a ratio times the one before. The last is a saddle-point form,

.. math:: \ln P(X = k) = \tfrac12\ln\frac{n}{2\pi k(n - k)} + \delta_n - \delta_k - \delta_{n-k}
    - n\,\mathrm{kl}(k/n, m),

with :math:`\delta_x` what Stirling's formula lacks of :math:`\ln x!`: nothing large cancels, so that it is exact to 13
digits where a difference of log factorials of a million keeps nine.
"""

from __future__ import annotations

from functools import lru_cache
from math import lgamma, log, pi

import numpy as np

from abstain._typing import FloatArray

#: At most so many terms, in all tails that are asked for at once, are summed here.
TERMS = 100_000
#: From here on a series gives what Stirling's formula lacks, to 16 digits.
NEAR = 16


def lower_tail(errors: FloatArray, n: FloatArray, limit: float | FloatArray) -> FloatArray:
    """Return the probability of at most ``errors`` among n trials, each of which fails with probability ``limit``."""
    if not errors.size:
        return np.zeros(errors.shape)
    if errors.ndim != 1 or not isinstance(limit, float) or not 0.0 < limit < 1.0:
        return _of_scipy(errors, n, limit)
    if (float(errors.max()) + 1.0) * errors.size > TERMS or errors.min() < 0.0:
        return _of_scipy(errors, n, limit)
    every = errors >= n
    n = np.where(every, errors + 1.0, n)
    last = _last(errors, n, limit)
    steps = np.arange(float(errors.max()))  # from the last term, k errors, to the one of k - 1, and so on to none
    left = np.maximum(errors[:, np.newaxis] - steps, 0.0)
    terms = left * ((1.0 - limit) / limit) / (n[:, np.newaxis] - left + 1.0)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        result = last * (1.0 + terms.cumprod(axis=1).sum(axis=1))
    beyond = (errors >= n * limit) & ~(last > 1e-200)  # so far above the mean that none of the upper tail is left
    return np.where(every | beyond, 1.0, np.minimum(result, 1.0))


def _of_scipy(errors: FloatArray, n: FloatArray, limit: float | FloatArray) -> FloatArray:
    from scipy.special import bdtr

    return np.asarray(bdtr(errors, n.astype(np.int64), limit))


def divergence(mean: FloatArray, limit: float | FloatArray) -> FloatArray:
    """Return kl(mean, limit), in nats."""
    right = 1.0 - mean
    above = np.where(right > 0.0, (limit - mean) / (1.0 - limit), 0.0)  # a difference of what is near 1 would be lost
    wrong = mean * np.log(np.where(mean > 0.0, mean, limit) / limit)
    return np.asarray(wrong + right * np.log1p(above))


def _last(k: FloatArray, n: FloatArray, limit: float) -> FloatArray:
    """Return the probability of exactly k < n errors."""
    some = np.maximum(k, 1.0)
    with np.errstate(under="ignore"):
        root = np.sqrt(n / (2.0 * pi * some * (n - k)))
        inside = root * np.exp(_lacking(n) - _lacking(some) - _lacking(n - k) - n * divergence(k / n, limit))
        return np.where(k > 0.0, inside, np.exp(n * np.log1p(-limit)))


def _lacking(x: FloatArray) -> FloatArray:
    """Return ln x! - [ln(2 pi x)/2 + x ln x - x] of whole numbers from 1 on."""
    z = 1.0 / (np.maximum(x, NEAR) ** 2)
    far = (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * 691 / 360360))))) / x
    return np.where(x < NEAR, _table()[np.minimum(x, NEAR - 1).astype(np.intp)], far)


@lru_cache(maxsize=1)
def _table() -> FloatArray:
    near = [lgamma(x + 1.0) - (0.5 * log(2.0 * pi * x) + x * log(x) - x) for x in range(1, NEAR)]
    return np.array([0.0, *near])


def fewest_trials(errors: int, limit: float, level: float, least: int) -> int:
    """Return the least n >= ``least`` with a probability of at most ``level`` of so few errors as ``errors``."""
    low, high = least, 2 * least + 10 * errors
    while _one(errors, high, limit) > level:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _one(errors, middle, limit) <= level else (middle + 1, high)
    return low


def _one(errors: int, n: int, limit: float) -> float:
    return float(lower_tail(np.array([float(errors)]), np.array([float(n)]), limit)[0])
