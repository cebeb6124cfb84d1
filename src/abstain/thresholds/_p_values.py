r"""P-values for "the mean is above the limit", from a count and a sum: exact binomial and Hoeffding-Bentkus.

Of n independent values in [0, 1] with mean :math:`\mu` the sum S was seen. The hypothesis is :math:`\mu > m`; a small
p-value speaks for :math:`\mu \le m`.

- 0/1 values: :math:`p = P(\mathrm{Bin}(n, m) \le S)`, exact.
- any values in [0, 1]: :math:`p = \min\{e^{-n\,\mathrm{kl}(S/n, m)},\ e\,P(\mathrm{Bin}(n, m) \le \lceil S\rceil)\}`,
  the better of Hoeffding's and Bentkus' bounds.

Sources: Clopper & Pearson (1934); Hoeffding (1963), Theorem 1; Bentkus (2004), in the form of Bates et al. (2021).
"""

from __future__ import annotations

from math import ceil, e, log, log1p

import numpy as np

from abstain._typing import FloatArray

#: Sums of real losses carry rounding errors; a sum this little above a whole number is that number.
_ROUNDING = 1e-9


def binomial(count: FloatArray, total: FloatArray, limit: float, surely: float = 0.0) -> FloatArray:
    """Return the exact p-value of each (count, sum of 0/1 values); 1 where the count is 0.

    Where Hoeffding's bound on it is at most ``surely``, that is returned: who asks for no smaller level, decides alike,
    and a bound takes a thirtieth of the time of a sum of binomials.
    """
    from scipy.special import bdtr

    n, errors = np.maximum(count, 1.0), np.floor(total + 0.5)
    if surely <= 0.0 or limit >= 1.0:
        return np.where(count > 0, bdtr(errors, n.astype(np.int64), limit), 1.0)
    p = np.where(errors < limit * n, np.exp(-n * _divergence(errors / n, limit)), 1.0)
    open_ = np.flatnonzero(p > surely * (1.0 - _ROUNDING))
    p[open_] = bdtr(errors[open_], n[open_].astype(np.int64), limit)
    return np.where(count > 0, p, 1.0)


def _divergence(mean: FloatArray, limit: float | FloatArray) -> FloatArray:
    """Return kl(mean, limit), in nats."""
    from scipy.special import xlogy

    return np.asarray(xlogy(mean, mean / limit) + xlogy(1.0 - mean, (1.0 - mean) / (1.0 - limit)))


def hoeffding_bentkus(count: FloatArray, total: FloatArray, limit: float | FloatArray) -> FloatArray:
    """Return a valid p-value of each (count, sum of values in [0, 1]); 1 where the count is 0."""
    from scipy.special import bdtr

    n = np.maximum(count, 1.0)
    mean = np.clip(total / n, 0.0, 1.0)
    hoeffding = np.where(mean < limit, np.exp(-n * _divergence(mean, limit)), 1.0)
    bentkus = e * bdtr(np.minimum(np.ceil(total - _ROUNDING), n), n.astype(np.int64), limit)
    return np.where(count > 0, np.minimum(np.minimum(hoeffding, bentkus), 1.0), 1.0)


def fewest(limit: float, level: float, errors: int = 0) -> int:
    r"""Return how many rows a certificate needs at least: :math:`\ln\delta / \ln(1 - m)` without an error, rounded up.

    59 at 5 % risk and 5 % error probability; 93 with one error among them.
    """
    if limit >= 1.0:
        return errors + 1
    least = ceil(log(level) / log1p(-limit) - _ROUNDING)
    if errors == 0:
        return least
    from scipy.special import bdtr

    if least > 1e12:  # beyond any sample, and beyond the binomial of SciPy
        return least
    low, high = least, 2 * least + 10 * errors
    while bdtr(errors, high, limit) > level:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if bdtr(errors, middle, limit) <= level else (middle + 1, high)
    return low
