"""Looking again while labels come in: the level at which each look may decide, so that all together keep theirs."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from abstain._checks import inside, whole

#: Points of the grid on which a sum of increments is followed, and looks that are allowed.
_POINTS, _MOST = 801, 50


def look_level(look: int, looks: int, *, level: float = 0.95) -> float:
    r"""Return the level of the interval at a look, for a decision that may come at any of so many looks.

    The bounds of O'Brien and Fleming: at look k of K an interval with the normal quantile :math:`c\sqrt{K/k}`, where c
    makes the chance that a Brownian motion leaves them at any look 1 - level. Early looks need much, the last nearly
    the usual level. ``abstain.evaluate(..., level=look_level(k, K))`` has the interval; decide when it lies on one side
    of the limit. To stop when an interval is *short* enough, no such level is needed.

    Parameters
    ----------
    look : int
        Which look this is, from 1.
    looks : int
        How many there will be at most, with about as many labels each; fixed before the first.
    level : float in (0, 1)
        Chance that no look decides wrongly.

    Returns
    -------
    float
        In (0, 1), above ``level`` at every look.

    Raises
    ------
    ValueError
        A look that is not among the looks.

    References
    ----------
    O'Brien and Fleming (1979); Armitage, McPherson and Rowe (1969) for the recursion.

    Examples
    --------
    >>> import abstain
    >>> [round(abstain.pool.look_level(k, 4), 4) for k in (1, 2, 3, 4)]
    [0.9999, 0.9958, 0.9806, 0.9571]
    """
    looks = whole(looks, "looks")
    look = whole(look, "look")
    if look > looks or looks > _MOST:
        raise ValueError(f"look={look} of looks={looks}: give a look from 1 to looks, and at most {_MOST} looks")
    bound = _constant(looks, inside(level, "level", 0.95)) * math.sqrt(looks / look)
    return math.erf(bound / math.sqrt(2.0))


@lru_cache(maxsize=64)
def _constant(looks: int, level: float) -> float:
    """Return c such that a sum of K increments stays within c sqrt(K) at every look with this chance."""
    low, high = NormalDist().inv_cdf(0.5 + 0.5 * level), 2.0 * NormalDist().inv_cdf(0.5 + 0.5 * level) + 2.0
    if looks == 1:
        return low
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _stays(looks, middle * math.sqrt(looks)) < level else (low, middle)
    return 0.5 * (low + high)


def _stays(looks: int, bound: float) -> float:
    """Return the chance that sums of normal increments stay within a bound, by Simpson's rule."""
    place = np.linspace(-bound, bound, _POINTS)
    weight = np.full(_POINTS, 2.0)
    weight[1::2], weight[[0, -1]] = 4.0, 1.0
    weight *= (place[1] - place[0]) / 3.0
    step = np.exp(-0.5 * (place[:, None] - place[None, :]) ** 2) / math.sqrt(2.0 * math.pi) * weight[None, :]
    density = np.exp(-0.5 * place**2) / math.sqrt(2.0 * math.pi)
    for _ in range(looks - 1):
        density = step @ density
    return float(weight @ density)
