r"""Evidence against "the mean is above the limit": p-values of one threshold, and one bet against all at once.

Of n independent values in [0, 1] with mean :math:`\mu` the sum S was seen. The hypothesis is :math:`\mu > m`; a small
p-value speaks for :math:`\mu \le m`.

- 0/1 values: :math:`p = P(\mathrm{Bin}(n, m) \le S)`, exact.
- any values in [0, 1]: :math:`p = \min\{e^{-n\,\mathrm{kl}(S/n, m)},\ e\,P(\mathrm{Bin}(n, m) \le \lceil S\rceil)\}`,
  the better of Hoeffding's and Bentkus' bounds.

Sources: Clopper & Pearson (1934); Hoeffding (1963), Theorem 1; Bentkus (2004), in the form of Bates et al. (2021).

**Bets**, for losses that are not 0/1, and for weights. The values Y in [0, 1] have a mean above m where the guarantee
is violated. Somebody who believes that it is satisfied bets, at every threshold :math:`\tau` with the same stakes
:math:`\lambda_j < 1/(1 - m)`, on all rows that it accepts:

.. math:: L(\tau) = \frac1J \sum_j \prod_{g_i \ge \tau} \bigl(1 + \lambda_j (m - Y_i)\bigr).

**The probability that** :math:`L(\tau) \ge 1/\delta` **at any threshold that violates the guarantee is at most**
:math:`\delta`. So the lowest threshold that reaches :math:`1/\delta` is certified: no starts, no shares, no order of
the rows, no randomization.

**Why.** Order the population from the most confident on, ties split by randomization; A(u) is the integral of (mean of
Y - m) over the most confident share u, and a guarantee is violated where A > 0. With N(u) of n rows above, and z the
next zero of A, the rows below u are independent, so that

.. math:: E[L_j(z) \mid \text{rows above } u] = L_j(u) \Bigl(1 + \frac{\lambda_j A(u)}{1 - u}\Bigr)^{n - N(u)}.

As u grows this is a nonnegative martingale that starts at 1, and where A(u) > 0 it is at least :math:`L_j(u)`;
Ville's inequality bounds how often it ever reaches :math:`1/\delta`. If A stays above 0 to the end, lower the losses of
the last rows such that it returns to 0: L only grows. An average of such martingales is one.

**Which test a loss gets may not depend on its rows either.** A graded loss can look like 0/1 in a sample. Whoever then
takes the exact binomial test, and this one otherwise, has two chances to be wrong: the binomial one is valid for that
part (it counts losses above 0, whose mean is no smaller than the risk), and each alone is wrong with probability
:math:`\delta` at most, but of both together only :math:`2 \delta` is proved. So ``max_loss=``, which says that a loss
may be graded, always means this test, and a loss without it has to be 0/1.

The stakes may not depend on the rows. With weights up to V the values are (w (l - r) + V r)/(V B).

Source: betting on means, Waudby-Smith & Ramdas (2024); Ville (1939). The bet over all thresholds at once is ours.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, e, log, log1p

import numpy as np

from abstain._typing import FloatArray, IntArray

#: Sums of real losses carry rounding errors; a sum this little above a whole number is that number.
_ROUNDING = 1e-9
#: Stakes, as parts of the largest legal one; fixed (benchmarks/certificates.py).
STAKES = (0.98, 0.6, 0.35, 0.2, 0.1)


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


def evidence(values: FloatArray, count: IntArray, limit: float, times: FloatArray | None = None) -> FloatArray:
    """Return the log of L for the sets of the first ``count`` values; 0 where there are none, or nothing to bet on.

    ``times``: how many rows each value stands for (None: one).
    """
    if limit >= 1.0:
        return np.zeros(len(count))
    stake = np.array(STAKES)[:, np.newaxis] / (1.0 - limit)
    gain = np.log1p(stake * (limit - values))
    path = np.cumsum(gain if times is None else gain * times, axis=1)
    path = np.concatenate([np.zeros((len(STAKES), 1)), path], axis=1)[:, count]
    return np.asarray(np.logaddexp.reduce(path, axis=0) - np.log(len(STAKES)))
