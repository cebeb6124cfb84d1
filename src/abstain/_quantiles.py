"""Quantiles of the normal, Student's t and the beta distribution, one number at a time.

``scipy.special`` has them all, but importing it costs more than a whole evaluation of a file of predictions.
One function, the regularised incomplete beta, gives the last two; tests hold it against scipy.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist

#: What rounding leaves of a distribution function, relative to it; a step from less goes nowhere.
ROUNDING = 1e-15
#: A step of third order that is as small as this, beside all scales of the density, lands on the quantile.
NEAR = 1e-6


def normal_quantile(p: float) -> float:
    """Return the quantile of the standard normal distribution."""
    return NormalDist().inv_cdf(p)


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction (modified Lentz)."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1.0) / (a + b + 2.0):  # where the fraction of the mirrored function converges faster
        return 1.0 - beta_cdf(1.0 - x, b, a)
    front = exp(_log_density(x, a, b) + log(x) + log1p(-x)) / a
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    fraction = d
    for m in range(1, 100_000):
        even = a + 2 * m
        step = m * (b - m) * x / ((even - 1.0) * even)
        d, c = 1.0 / (1.0 + step * d or 1e-300), 1.0 + step / c or 1e-300  # away from zero
        fraction *= d * c
        step = -(a + m) * (a + b + m) * x / (even * (even + 1.0))
        d, c = 1.0 / (1.0 + step * d or 1e-300), 1.0 + step / c or 1e-300
        factor = d * c
        fraction *= factor
        if -1e-16 < factor - 1.0 < 1e-16:
            break
    return front * fraction


def _away(value: float) -> float:
    """Keep a denominator away from zero."""
    return value if abs(value) > 1e-300 else 1e-300


def _log_density(x: float, a: float, b: float) -> float:
    return (a - 1.0) * log(x) + (b - 1.0) * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)


@lru_cache(maxsize=1024)  # the scores of one model often share their errors
def beta_quantile(p: float, a: float, b: float, start: float | None = None) -> float:
    """Return the quantile of the beta distribution: Halley's steps kept inside a shrinking bracket."""
    p, a, b = float(p), float(a), float(b)  # numbers of NumPy are three times as slow
    low, high = 0.0, 1.0
    mean = a / (a + b)
    spread = sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    if start is None:
        start = _carter(p, a, b) if min(a, b) > 1.0 else mean + normal_quantile(p) * spread
    x = min(max(start, 1e-300), 1.0 - 1e-16)
    for _ in range(1100):  # halving 1 takes 1,074 steps to the smallest double
        if not 0.0 < x < 1.0:  # nearer to an end than a double can be
            return x
        error = beta_cdf(x, a, b) - p
        if abs(error) <= ROUNDING * p:
            return x
        low, high = (low, x) if error > 0.0 else (x, high)
        density = _log_density(x, a, b)
        slope = (a - 1.0) / x - (b - 1.0) / (1.0 - x)
        following = x - _halley(error * exp(-density), slope) if density > -600.0 else -1.0
        if not low < following < high:
            following = 0.5 * (low + high)
        elif abs(following - x) <= NEAR * min(x, 1.0 - x, spread, 1.0 / (abs(slope) + 1e-300)):
            return following
        if abs(following - x) <= 1e-15 * x:
            return following
        x = following
    return x


def _halley(newton: float, slope: float) -> float:
    """Return the step of third order from Newton's and the slope of the logarithm of the density."""
    return newton / (1.0 - 0.5 * max(min(newton * slope, 1.0), -1.0))


def _carter(p: float, a: float, b: float) -> float:
    """Return about the quantile of a beta distribution with a, b > 1 (Abramowitz and Stegun 26.5.22)."""
    y = -normal_quantile(p)
    third, u, v = (y * y - 3.0) / 6.0, 1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0)
    h = 2.0 / (u + v)
    w = y * sqrt(h + third) / h - (v - u) * (third + 5.0 / 6.0 - 2.0 / (3.0 * h))
    return a / (a + b * exp(min(2.0 * w, 700.0)))


def gamma_cdf(x: float, shape: float) -> float:
    """Return the regularised lower incomplete gamma function: its series below the mean, its fraction above."""
    if x <= 0.0:
        return 0.0
    front = exp(shape * log(x) - x - lgamma(shape))
    if x < shape + 1.0:
        term = total = 1.0 / shape
        k = shape
        while term > 1e-17 * total:
            k += 1.0
            term *= x / k
            total += term
        return front * total
    b = x + 1.0 - shape
    c, d = 1e300, 1.0 / b
    fraction = d
    for m in range(1, 100_000):
        step = m * (shape - m)
        b += 2.0
        d, c = 1.0 / (b + step * d or 1e-300), b + step / c or 1e-300  # away from zero
        factor = d * c
        fraction *= factor
        if -1e-16 < factor - 1.0 < 1e-16:
            break
    return 1.0 - front * fraction


def gamma_quantile(p: float, shape: float) -> float:
    """Return the quantile of the gamma distribution of scale 1: Halley's steps kept inside a bracket."""
    p, shape = float(p), float(shape)
    z = normal_quantile(p)
    root = 1.0 - 1.0 / (9.0 * shape) + z / (3.0 * sqrt(shape))  # Wilson and Hilferty
    if shape > 1e5:  # the series would have as many terms; their form has 8 digits and more by then
        return shape * root**3
    small = exp(max((log(p) + lgamma(shape + 1.0)) / shape, -600.0))  # the leading term, for small shapes
    x = shape * root**3 if root > 0.3 else small
    low, high = 0.0, inf
    for _ in range(200):
        error = gamma_cdf(x, shape) - p
        if abs(error) <= ROUNDING * p:
            return x
        low, high = (low, x) if error > 0.0 else (x, high)
        density, slope = (shape - 1.0) * log(x) - x - lgamma(shape), (shape - 1.0) / x - 1.0
        following = x - _halley(error * exp(-density), slope) if density > -600.0 else -1.0
        if not low < following < high:
            following = 0.5 * (low + high) if high < inf else 2.0 * x + 1.0
        elif abs(following - x) <= NEAR * min(x, sqrt(shape), 1.0 / (abs(slope) + 1e-300)):
            return following
        if abs(following - x) <= 1e-14 * x:
            return following
        x = following
    return x


@lru_cache(maxsize=1024)
def t_quantile(level: float, df: float) -> float:
    """Return the two-sided quantile of Student's t; normal for many degrees of freedom."""
    if df > 1e6 or df == inf:
        return normal_quantile(0.5 * (1.0 + level))
    df = max(df, 0.5)
    x = beta_quantile(1.0 - level, 0.5 * df, 0.5, _cornish(level, df) if df > 3.0 else None)
    return sqrt(df * (1.0 - x) / x)


def _cornish(level: float, df: float) -> float:
    """Return about df / (df + t^2) at the two-sided quantile t (Abramowitz and Stegun 26.7.5)."""
    z = normal_quantile(0.5 * (1.0 + level))
    first, second = (z**3 + z) / 4.0, (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0
    t = z + first / df + second / df**2
    return df / (df + t * t)
