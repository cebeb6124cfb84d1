r"""P-values for "the mean is above the limit", from a count and a sum: exact binomial and Hoeffding-Bentkus.

Of n independent values in [0, 1] with mean :math:`\mu` the sum S was seen. The hypothesis is :math:`\mu > m`; a small
p-value speaks for :math:`\mu \le m`.

- 0/1 values: :math:`p = P(\mathrm{Bin}(n, m) \le S)`, exact.
- any values in [0, 1]: :math:`p = \min\{e^{-n\,\mathrm{kl}(S/n, m)},\ e\,P(\mathrm{Bin}(n, m) \le \lceil S\rceil)\}`,
  the better of Hoeffding's and Bentkus' bounds.

Sources: Clopper & Pearson (1934); Hoeffding (1963), Theorem 1; Bentkus (2004), in the form of Bates et al. (2021).
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, e, log, log1p

import numpy as np

from abstain._typing import FloatArray

#: Sums of real losses carry rounding errors; a sum this little above a whole number is that number.
_ROUNDING = 1e-9


def binomial(count: FloatArray, total: FloatArray, limit: float, surely: float = 0.0) -> FloatArray:
    """Return the exact p-value of each (count, sum of 0/1 values); 1 where the count is 0.

    Where Hoeffding's bound on it is at most ``surely``, that is returned: who asks for no smaller level, decides alike,
    and a bound takes a thirtieth of the time of a tail.
    """
    n, errors = np.maximum(count, 1.0), np.floor(total + 0.5)
    p = _hoeffding(n, errors / n, limit)
    open_ = np.flatnonzero(p > surely * (1.0 - _ROUNDING))
    p[open_] = _lower_tail(errors[open_], n[open_], limit)
    return np.where(count > 0, p, 1.0)


def hoeffding_bentkus(count: FloatArray, total: FloatArray, limit: float | FloatArray) -> FloatArray:
    """Return a valid p-value of each (count, sum of values in [0, 1]); 1 where the count is 0."""
    n = np.maximum(count, 1.0)
    hoeffding = _hoeffding(n, np.clip(total / n, 0.0, 1.0), limit)
    bentkus = e * _lower_tail(np.minimum(np.ceil(total - _ROUNDING), n), n, limit)
    return np.where(count > 0, np.minimum(np.minimum(hoeffding, bentkus), 1.0), 1.0)


@lru_cache(maxsize=256)  # a plan asks again and again
def fewest(limit: float, level: float, errors: int = 0) -> int:
    r"""Return how many rows a certificate needs at least: :math:`\ln\delta / \ln(1 - m)` without an error, rounded up.

    59 at 5 % risk and 5 % error probability; 93 with one error among them.
    """
    if limit >= 1.0:
        return errors + 1
    least = ceil(log(level) / log1p(-limit) - _ROUNDING)
    if errors == 0 or least > 1e12:  # beyond any sample
        return least
    from scipy.special import bdtrin

    return ceil(float(bdtrin(errors, level, limit)) - _ROUNDING)


def _hoeffding(n: FloatArray, mean: FloatArray, limit: float | FloatArray) -> FloatArray:
    """Return exp(-n kl(mean, limit)), Hoeffding's bound on the lower tail; 1 from the limit on."""
    below = mean < limit
    mean = np.where(below, mean, 0.0)
    wrong = mean * np.log(np.where(mean > 0.0, mean, limit) / limit)
    with np.errstate(divide="ignore"):  # at a limit of 1 the bound is 0
        right = (1.0 - mean) * np.log1p((limit - mean) / (1.0 - limit))
    return np.where(below, np.exp(-n * (wrong + right)), 1.0)


def _lower_tail(errors: FloatArray, n: FloatArray, limit: float | FloatArray) -> FloatArray:
    """Return the probability of at most ``errors`` among n trials, each of which fails with probability ``limit``."""
    from scipy.special import betaincc

    every = errors >= n
    return np.where(every, 1.0, betaincc(errors + 1.0, np.where(every, 1.0, n - errors), limit))
