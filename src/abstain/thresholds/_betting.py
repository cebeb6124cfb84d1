r"""Certificates for losses that are not 0/1, and for weights: one bet against every threshold at once.

The values Y in [0, 1] have a mean above m where the guarantee is violated. Somebody who believes that it is satisfied
bets, at every threshold :math:`\tau` with the same stakes :math:`\lambda_j < 1/(1 - m)`, on all rows that it accepts:

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

import numpy as np

from abstain._typing import FloatArray, IntArray

#: Stakes, as parts of the largest legal one; fixed (benchmarks/certificates.py).
STAKES = (0.98, 0.6, 0.35, 0.2, 0.1)


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
