"""Student's t, two-sided, for any number of degrees of freedom: the critical value and the p-value."""

from __future__ import annotations

#: SciPy's function takes no infinite number of degrees of freedom in all of its releases; these differ by 1e-12.
MANY = 1e12


def t_quantile(level: float, df: float) -> float:
    """Return the value within which Student's t lies with this probability; at least half a degree of freedom."""
    from scipy.special import ndtri, stdtrit

    upper = 0.5 * (1.0 + level)
    return float(ndtri(upper) if df > MANY else stdtrit(max(df, 0.5), upper))


def t_tails(statistic: float, df: float) -> float:
    """Return the two-sided p-value of a statistic."""
    from scipy.special import ndtr, stdtr

    below = -abs(statistic)
    return 2.0 * float(ndtr(below) if df > MANY else stdtr(df, below))
