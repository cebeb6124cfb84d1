r"""Between the fourth step and the fifth, of pairs in clusters of unequal size: how well their spread is known.

A difference is a sum of one term per cluster, and its variance the sum of their squares. Where a few clusters hold
most of the rows, these few decide that sum, and K - 1 degrees of freedom are far too many: two equal models in 60
clusters, one in twenty of them twenty times as large, differed in 9 % of samples at a nominal 5 %. So the terms are
taken as residuals :math:`r_g = e_g - h_g \sum_k e_k` of independent normal sums :math:`e_g` with variances in
proportion to

.. math:: \tau_g = q_g + \rho\,(h_g^2 - q_g),

with the share :math:`h_g` of all weight in cluster g, :math:`q_g` the sum of its rows' squared shares, and one
correlation :math:`\rho` of the rows of a cluster: that with which the sum of the squared terms is as large as it is
next to that of the rows. Each squared residual is divided by what it lacks,

.. math:: c_g = \left(1 - 2 h_g + h_g^2 \sum_k \tau_k / \tau_g\right)^{-1}.

The statistic exceeds x where a quadratic form in the sums is positive, :math:`(\sum e_g)^2 - x^2 \sum c_g r_g^2`. That
has one positive eigenvalue :math:`\lambda` among :math:`\lambda_k`, so (by Craig's integral of the normal tail) with
the probability

.. math:: \frac2\pi \int_0^{\pi/2} \prod_k \left(1 + \frac{|\lambda_k|}{\lambda \sin^2\theta}\right)^{-1/2} d\theta,

a determinant of a diagonal matrix plus one of rank two. The degrees of freedom are those of Student's t with the
same critical value, at most K - 1. With equal clusters all is as it was, K/(K - 1) and K - 1, whatever the correlation.
Satterthwaite's degrees of freedom are far fewer (2 instead of 8 where two clusters hold two fifths of the rows).

Sources: the factors: Bell & McCaffrey (2002), Survey Methodology 28; a correlation from the residuals: Imbens &
Kolesár (2016); Craig (1991).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from abstain._quantiles import t_quantile
from abstain._typing import FloatArray, IntArray

#: Satterthwaite's degrees of freedom above which Student's t is as good as normal, and these will do.
MANY = 200.0


@dataclass(frozen=True, eq=False)
class Unequal:
    """Shares of the clusters, sums of their rows' squared shares, and products of the rows' terms of all scores."""

    share: FloatArray
    own: FloatArray
    products: FloatArray

    def of(self, apart: FloatArray, i: int, j: int, level: float) -> tuple[FloatArray, float]:
        """Return by what the terms of a difference, one per cluster, are multiplied, and the degrees of freedom."""
        share, own, products = self.share, self.own, self.products
        together, plain = share * share - own, 1.0 - 1.0 / share.size
        rows = float(products[i, i] + products[j, j] - 2.0 * products[i, j])
        level_of, slope = _expected(share, own), _expected(share, together)
        found = plain * float(apart @ apart) * float(own.sum())
        rho = min(max((found / rows - level_of) / slope, 0.0), 1.0) if rows > 0.0 and slope > 0.0 else 1.0
        sums = Sums.of(share, own + rho * together)
        return np.sqrt(plain * sums.factor), sums.degrees_of_freedom(level)


def unequal(rows: FloatArray, weight: FloatArray | None, cluster: IntArray) -> Unequal | None:
    """Return what clusters of unequal size do to pairs, None for equal ones; ``rows``: terms, one column per score."""
    weight = np.ones(len(rows)) if weight is None else weight
    kept = weight > 0.0
    weight, cluster = weight[kept] / float(weight.sum()), np.unique(cluster[kept], return_inverse=True)[1]
    share, own = (np.bincount(cluster, each).astype(np.float64) for each in (weight, weight * weight))
    if np.ptp(share) <= 1e-9 * share.max() and np.ptp(own) <= 1e-9 * own.max():
        return None
    rows = rows[kept]
    rows = rows - weight[:, None] * rows.sum(axis=0)
    return Unequal(share, own, rows.T @ rows)


def _expected(share: FloatArray, variance: FloatArray) -> float:
    """Return the mean of the sum of squared residuals."""
    return float(np.sum(variance * (1.0 - 2.0 * share)) + variance.sum() * (share @ share))


def _zero(of: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes its sign; the nearer end, if it does not."""
    from scipy.optimize import brentq

    first, last = of(low), of(high)
    if first * last > 0.0:
        return low if abs(first) < abs(last) else high
    return float(brentq(of, low, high, xtol=1e-7))


@dataclass(frozen=True, eq=False)
class Sums:
    """Shares and variances of independent normal sums, and the factors of their squared residuals."""

    share: FloatArray
    variance: FloatArray
    factor: FloatArray

    @classmethod
    def of(cls, share: FloatArray, variance: FloatArray) -> Sums:
        """Return them with the factors that make the mean of the squared residuals right."""
        lacking = 1.0 - 2.0 * share + share * share * float(variance.sum()) / variance
        return cls(share, variance, 1.0 / lacking)

    def degrees_of_freedom(self, level: float) -> float:
        """Return those with which Student's t has the critical value of this statistic; at most clusters less one."""
        most, rough = self.share.size - 1.0, self.satterthwaite()
        if rough > MANY or self.beyond(t_quantile(level, most)) <= 1.0 - level:
            return min(rough, most) if rough > MANY else most
        return math.exp(
            _zero(lambda log: self.beyond(t_quantile(level, math.exp(log))) - 1.0 + level, 0.0, math.log(most))
        )

    def satterthwaite(self) -> float:
        """Return Satterthwaite's, from the squares of a diagonal matrix plus one of rank two."""
        share, variance, total = self.share, self.variance, float(self.variance.sum())
        diagonal, root = self.factor * variance, np.sqrt(self.factor)
        sides = np.stack([root * share, root * variance], axis=1)
        middle = np.array([[total, -1.0], [-1.0, 0.0]])
        inner, crossed = middle @ (sides.T @ sides), middle @ (sides.T @ (diagonal[:, None] * sides))
        squares = float(diagonal @ diagonal) + 2.0 * float(np.trace(crossed)) + float(np.trace(inner @ inner))
        return total * total / squares

    def beyond(self, x: float) -> float:
        """Return the probability that the statistic is beyond x, on either side."""
        total, least = float(self.variance.sum()), 1.0 / float(np.sum(self.share**2 / self.variance))
        low, high = math.log(least) - 1e-9, math.log(total) + 1e-9  # of the positive eigenvalue
        largest = _zero(lambda log: float(self._determinant(x, np.array([math.exp(-log)]))[1][0]), low, high)
        nodes, weights = np.polynomial.legendre.leggauss(48)
        angle = (nodes + 1.0) * math.pi / 4.0
        log, rest = self._determinant(x, math.exp(-largest) / np.sin(angle) ** 2)
        product = log + np.log(np.maximum(-rest * np.tan(angle) ** 2, 1e-300))
        return float(0.5 * weights @ np.exp(-0.5 * product))

    def _determinant(self, x: float, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the determinant of 1 less ``scale`` times the form: its diagonal part as logarithm, and the rest."""
        inverse = 1.0 / (1.0 + scale[:, None] * (x * x * self.factor * self.variance))
        pull = self.factor * self.share
        a, b, c = (inverse @ (self.variance * each) for each in (1.0, pull, pull * pull))
        square = x * x
        corner = square * float(pull @ self.share) - 1.0
        first = 1.0 + scale * (corner * a - square * b)
        rest = first * (1.0 - scale * square * b) + scale * square * a * scale * (corner * b - square * c)
        return -np.log(inverse).sum(axis=1), rest
