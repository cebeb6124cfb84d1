"""Exact binomial intervals for 0/1 losses at a fixed threshold."""

from __future__ import annotations

from typing import Literal

from abstain._checks import inside, one_of, whole

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
    one_of(side, ("two-sided", "upper", "lower"), "side")
    tail = 1.0 - check_level(level)
    errors, n = whole(errors, "errors", 0), whole(n, "n", 1)
    if errors > n:
        raise ValueError(f"errors must be at most n, got errors={errors} and n={n}")
    if side == "two-sided":
        tail /= 2.0
    from scipy.special import betaincinv

    low = 0.0 if errors == 0 or side == "upper" else float(betaincinv(errors, n - errors + 1, tail))
    high = 1.0 if errors == n or side == "lower" else float(betaincinv(errors + 1, n - errors, 1.0 - tail))
    return low, high
