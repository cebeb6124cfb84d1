r"""A p-value for the mean of bounded values by betting: it profits from a small variance.

Somebody who doubts that the mean is above m bets on it. Starting from 1, the capital after t values is

.. math:: K_t = \prod_{i \le t} \bigl(1 + \lambda_i (m - Y_i)\bigr), \qquad 0 \le \lambda_i < \tfrac{1}{1 - m},

where the stake :math:`\lambda_i` may use the values before i only. If the mean is above m, the capital is a nonnegative
supermartingale, and by Ville's inequality :math:`1/\max_t K_t` is a p-value, at any time and for any stakes. The
stakes are the predictable plug-in of Waudby-Smith & Ramdas (2024), Eq. 26:
:math:`\lambda_i = \sqrt{2\ln(1/\alpha)/(n\hat\sigma^2_{i-1})}`, truncated.

The values have to come in an order that does not depend on them; the caller shuffles.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from abstain._typing import FloatArray

#: Share of the largest legal stake that is never exceeded, so that one bad value cannot ruin the bettor.
_LARGEST = 0.75
#: Share of the level below which a p-value need not be known: no level is divided among more tests.
_ENOUGH = 1e-6


def betting(parts: Iterable[FloatArray], n: int, limit: float, level: float) -> float:
    """Return a p-value for "the mean of these n [0, 1] values is above ``limit``"; ``level`` tunes the stakes.

    The values come in parts; none is taken after a capital that is beyond all doubt.
    """
    if limit >= 1.0:
        return 1.0
    count, total, square, capital, highest = 0, 0.0, 0.0, 0.0, 0.0
    for values in parts:
        before = count + np.arange(len(values), dtype=np.float64)
        sums = total + np.cumsum(values)
        own = (0.5 + sums) / (before + 2.0)  # the mean that includes the value itself
        squares = np.append(square, square + np.cumsum((values - own) ** 2))
        variance = (0.25 + squares[:-1]) / (before + 1.0)
        stake = np.minimum(np.sqrt(2.0 * np.log(1.0 / level) / (n * variance)), _LARGEST / (1.0 - limit))
        path = capital + np.cumsum(np.log1p(stake * (limit - values)))
        highest = max(highest, float(path.max(initial=0.0)))
        if highest >= -np.log(_ENOUGH * level):
            break
        if len(values):
            count, total, square, capital = count + len(values), sums[-1], squares[-1], path[-1]
    return float(np.exp(-highest))
