"""Exact binomial intervals for 0/1 losses at a fixed threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from abstain._checks import inside, one_of, whole
from abstain._typing import FloatArray, IntArray

__all__ = ["clopper_pearson"]


def check_level(level: float) -> float:
    """Return a confidence level inside (0, 1)."""
    return inside(level, "level", 0.95)


def clopper_pearson(
    errors: int,
    n: int,
    level: float = 0.95,
    *,
    side: Literal["two-sided", "upper", "lower"] = "two-sided",
) -> tuple[float, float]:
    r"""Return the exact binomial interval of a risk: Clopper and Pearson's, from the tails of the binomial.

    .. math:: \text{high} = B^{-1}(1 - a;\ k + 1,\ n - k),\qquad \text{low} = B^{-1}(a;\ k,\ n - k + 1)

    with :math:`a = (1 - \text{level})/2`, or :math:`1 - \text{level}` for a one-sided bound.

    Parameters
    ----------
    errors : int
        Errors k among the accepted.
    n : int
        Accepted samples.
    level : float in (0, 1)
    side : {"two-sided", "upper", "lower"}
        A one-sided bound leaves the other end at 0 or 1.

    Returns
    -------
    (float, float)
        Low and high. Without errors low is 0 and the one-sided upper bound is 1 - (1 - level)^(1/n).

    Raises
    ------
    ValueError
        ``errors`` or n no whole number, ``errors`` outside [0, n], n below 1, a level outside (0, 1).

    Notes
    -----
    Covers at least at its level for every risk and n, if the threshold was fixed before the data were seen.

    References
    ----------
    Clopper & Pearson (1934), Biometrika.

    Examples
    --------
    >>> import abstain
    >>> low, high = abstain.inference.clopper_pearson(0, 291, side="upper")
    >>> low, round(high, 4)
    (0.0, 0.0102)
    """
    from scipy.special import betaincinv

    one_of(side, ("two-sided", "upper", "lower"), "side")
    tail = 1.0 - check_level(level)
    errors, n = whole(errors, "errors", 0), whole(n, "n", 1)
    if errors > n:
        raise ValueError(f"errors must be at most n, got errors={errors} and n={n}")
    if side == "two-sided":
        tail /= 2.0
    low = 0.0 if errors == 0 or side == "upper" else float(betaincinv(errors, n - errors + 1, tail))
    high = 1.0 if errors == n or side == "lower" else float(betaincinv(errors + 1, n - errors, 1.0 - tail))
    return low, high


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
        from numpy.polynomial.chebyshev import chebpts1, chebvander
        from scipy.special import betaincinv

        self.low, self.width = low, high - low
        x, y = chebpts1(n_rho), chebpts1(n_w)
        rho, w = np.meshgrid(low + 0.5 * (x + 1.0) * self.width, y, indexing="ij")
        a, b = 2.0 / (rho**2 * (1.0 + w)), 2.0 / (rho**2 * (1.0 - w))
        odds = np.log(betaincinv(a, b, p)) - np.log(betaincinv(b, a, 1.0 - p))
        z = (odds - np.log(a / b)) / rho
        self.coefficients = np.linalg.solve(chebvander(x, n_rho - 1), np.linalg.solve(chebvander(y, n_w - 1), z.T).T)

    def __call__(self, a: FloatArray, b: FloatArray, rho: FloatArray) -> FloatArray:
        from numpy.polynomial.chebyshev import chebvander

        n_rho, n_w = self.coefficients.shape
        w = (1.0 / a - 1.0 / b) / rho**2
        z = self.coefficients @ chebvander(w, n_w - 1).T
        z *= chebvander(2.0 * (rho - self.low) / self.width - 1.0, n_rho - 1).T
        odds = np.log(a / b) + rho * z.sum(axis=0)
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


def stands_out(errors: Sequence[int], counts: Sequence[int]) -> tuple[int, float]:
    r"""Return the part against which most speaks, and the p-value of "no part has a higher risk than the others".

    Of each part with :math:`k` errors in :math:`m` rows, Fisher's exact one-sided test against all others together:
    given :math:`K` errors in all :math:`N` rows, :math:`p = P\{H(N, K, m) \ge k\}` with :math:`H` hypergeometric; the
    smallest, times the number of parts (Bonferroni). The largest rate of several is no evidence by itself: a part of
    few rows is high by chance. Of equal p-values the part with the higher rate is named.

    Parameters
    ----------
    errors, counts : sequence of int, of shape (n_parts,)
        Wrong rows, and all rows, at least one, of each part; rows independent.

    Returns
    -------
    int, float

    Examples
    --------
    >>> from abstain.inference import stands_out
    >>> part, p = stands_out([1, 30, 2], [4, 100, 90])  # 25 % of 4 rows say less than 30 % of 100
    >>> part, p < 1e-6
    (1, True)
    """
    wrong, rows = (np.asarray(each, dtype=np.int64) for each in (errors, counts))
    total, every = int(wrong.sum()), int(rows.sum())
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1.0, every + 1.0)))))  # of factorials

    def chosen(n: int, k: IntArray) -> FloatArray:
        return np.asarray(logs[n] - logs[k] - logs[n - k])

    found = []
    for k, m in zip(wrong.tolist(), rows.tolist(), strict=True):
        more = np.arange(max(k, total + m - every), min(m, total) + 1)
        terms = chosen(m, more) + chosen(every - m, total - more) - (logs[every] - logs[total] - logs[every - total])
        found.append((min(1.0, float(np.exp(terms).sum())), -k / m))
    best = min(range(len(found)), key=found.__getitem__)
    return best, min(1.0, len(found) * found[best][0])
