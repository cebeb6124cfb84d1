r"""Quantiles of many beta distributions at one probability, for the price of an exponential each.

SciPy's inverse takes 4 microseconds, two of which for each of a million thresholds are an evaluation of a minute. But
at one probability the quantile is a smooth function of two numbers. With :math:`\rho^2 = 1/a + 1/b` and
:math:`w = (1/a - 1/b)/\rho^2` the logarithm of its odds is

.. math:: \ln\frac{x}{1 - x} = \ln\frac ab + \rho\,z(\rho, w),

and z hardly bends: the cumulants of the log odds are polynomials in :math:`\rho` and w to first order, so that z tends
to a normal quantile as :math:`\rho \to 0` (Cornish and Fisher). It is interpolated between Chebyshev points, at which
SciPy's inverse is asked, in two patches of :math:`\rho`; outside of them every quantile is asked for.
"""

from __future__ import annotations

import numpy as np

from abstain._typing import FloatArray

#: Ends of the patches of rho: a, b >= 32, and >= 2 where they are equal; Chebyshev points in rho and w for each.
PATCHES = ((0.25, 12, 12), (1.0, 24, 20))
#: Fewer quantiles are asked for one by one, and so are those at probabilities further out.
FEWEST, OUTERMOST = 20_000, 1e-6
#: Quantiles at once: their polynomials stay in the processor's cache.
CHUNK = 4096


def beta_quantiles(a: FloatArray, b: FloatArray, p: float) -> FloatArray:
    """Return the quantile at p of each beta distribution, a and b > 0, to 10 digits."""
    from scipy.special import betaincinv

    if a.size < FEWEST or not OUTERMOST <= p <= 1.0 - OUTERMOST:
        return np.asarray(betaincinv(a, b, p))
    result = np.empty(a.size)
    rho = np.sqrt(1.0 / a + 1.0 / b)
    least = float(rho.min())
    for most, *points in PATCHES:
        inside = np.flatnonzero((rho >= least) & (rho < most))
        if inside.size >= FEWEST // 10:
            patch = _Patch(p, least, most, *points)
            for start in range(0, inside.size, CHUNK):
                rows = inside[start : start + CHUNK]
                result[rows] = patch(a[rows], b[rows], rho[rows])
        else:
            result[inside] = betaincinv(a[inside], b[inside], p)
        least = max(least, most)
    outside = np.flatnonzero(rho >= least)
    result[outside] = betaincinv(a[outside], b[outside], p)
    return result


class _Patch:
    """The function z between its values at Chebyshev points."""

    def __init__(self, p: float, low: float, high: float, n_rho: int, n_w: int) -> None:
        from scipy.special import betaincinv

        self.low, self.width = low, high - low
        x, y = _points(n_rho), _points(n_w)
        rho, w = np.meshgrid(low + 0.5 * (x + 1.0) * self.width, y, indexing="ij")
        a, b = 2.0 / (rho**2 * (1.0 + w)), 2.0 / (rho**2 * (1.0 - w))
        odds = np.log(betaincinv(a, b, p)) - np.log(betaincinv(b, a, 1.0 - p))
        z = (odds - np.log(a / b)) / rho
        self.coefficients = np.linalg.solve(_basis(x, n_rho).T, np.linalg.solve(_basis(y, n_w).T, z.T).T)

    def __call__(self, a: FloatArray, b: FloatArray, rho: FloatArray) -> FloatArray:
        n_rho, n_w = self.coefficients.shape
        w = (1.0 / a - 1.0 / b) / rho**2
        z = self.coefficients @ _basis(w, n_w)
        z *= _basis(2.0 * (rho - self.low) / self.width - 1.0, n_rho)
        odds = np.log(a / b) + rho * z.sum(axis=0)
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


def _points(n: int) -> FloatArray:
    return np.cos(np.pi * (np.arange(n) + 0.5) / n)


def _basis(x: FloatArray, n: int) -> FloatArray:
    """Return the Chebyshev polynomials of x, one row each."""
    rows = np.empty((n, x.size))
    rows[0], rows[1] = 1.0, x
    twice = 2.0 * x
    for k in range(2, n):
        np.multiply(twice, rows[k - 1], out=rows[k])
        rows[k] -= rows[k - 2]
    return rows
