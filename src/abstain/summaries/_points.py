r"""Certified bounds of operating points and of the curve from bins.

Of a bin that is no tie some rows may be accepted and others not. If the j most confident of its m rows are accepted,
their loss lies between max(0, s - (m - j) M) and min(s, j M), and the selective risk between (S0 + these)/a, where
a = N0 + j. Both ends are monotone in a but for one kink, so that extremes over a range of a lie at its ends or at
the kink. What is accepted at the end of a bin is known exactly.
"""

from __future__ import annotations

import numpy as np

from abstain._typing import FloatArray, IntArray
from abstain.curve import SLACK
from abstain.summaries._bins import Bins, Bounds

_NONE = "nothing is accepted, so the selective risk is undefined"


def risk_range(
    bins: Bins, which: IntArray, first: FloatArray, last: FloatArray, per_accepted: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Return least and largest risk at any number of accepted rows from first to last, which lie in (N0, N1].

    Per accepted row, or per row of all.
    """
    m, s, M, N0, N1, S0, e = (
        column[which] for column in (bins.m, bins.s, bins.M, bins.N0, bins.N1, bins.S0, bins.e)
    )  # fmt: skip
    low, high = np.full(len(first), np.inf), np.full(len(first), -np.inf)
    for kink in (N0 + np.floor(e), N0 + np.ceil(e), N1 - np.floor(e), N1 - np.ceil(e), first, last):
        a = np.clip(kink, first, last)
        most = np.where(a - N0 >= m, s, np.minimum(s, (a - N0) * M))
        least = np.where(a - N0 >= m, s, np.maximum(0.0, s - (N1 - a) * M))
        per = a if per_accepted else bins.n
        low, high = np.minimum(low, (S0 + least) / per), np.maximum(high, (S0 + most) / per)
    return low, high


def _scored(bins: Bins) -> int:
    """Return the number of bins that a threshold may lie in: all but that of -inf."""
    return len(bins.m) - int(bins.lowest[-1] == -np.inf)


def _between(bins: Bins, k: int, first: float, last: float, at: float, per: str) -> Bounds:
    """Return the risk when from first to last rows are accepted, the last of them of bin k; the value is at ``at``."""
    accepted = per == "accepted"
    per_rows = at if accepted else bins.n
    if bins.tie[k]:
        value = float(bins.S1[k]) / (float(bins.N1[k]) if accepted else bins.n)
        return Bounds(value, value, value)
    ends = risk_range(bins, np.array([k]), np.array([first]), np.array([last]), accepted)
    low, high = (float(end[0]) for end in ends)
    value = float(bins.S0[k] + bins.s[k] * (at - bins.N0[k]) / bins.m[k]) / per_rows
    return Bounds(min(max(value, low), high), low, high)


def at_coverage(bins: Bins, coverage: float, per: str) -> Bounds:
    """Return the risk at the attainable point of smallest coverage that is at least this."""
    least = max(1.0, float(np.ceil((coverage - SLACK) * bins.n))) if coverage > 0.0 else 0.0
    if least == 0.0:
        return Bounds(np.nan, np.nan, np.nan, _NONE) if per == "accepted" else Bounds(0.0, 0.0, 0.0)
    k = int(np.searchsorted(bins.N1, least))
    scored = _scored(bins)
    if k >= scored:
        largest = float(bins.N1[scored - 1]) / bins.n if scored else 0.0
        return Bounds(
            np.nan, np.nan, np.nan, f"a coverage of {coverage:g} is not reached: at most {largest:.4g} have scores"
        )
    return _between(bins, k, least, float(bins.N1[k]), least, per)


def at_threshold(bins: Bins, threshold: float, per: str) -> Bounds:
    """Return the risk when scores of at least the threshold are accepted."""
    k = int(np.searchsorted(-bins.highest, -threshold, side="right")) - 1  # the last bin that is accepted, in part
    if k < 0:
        return Bounds(np.nan, np.nan, np.nan, _NONE) if per == "accepted" else Bounds(0.0, 0.0, 0.0)
    if bins.lowest[k] >= threshold:
        value = float(bins.S1[k]) / (float(bins.N1[k]) if per == "accepted" else bins.n)
        return Bounds(value, value, value)
    first, last = float(bins.N0[k]) + 1.0, float(bins.N1[k]) - 1.0  # the highest score and not the lowest
    spread = float(bins.highest[k]) - float(bins.lowest[k])
    part = (float(bins.highest[k]) - threshold) / spread if np.isfinite(spread) else 0.5
    at = float(np.clip(bins.N0[k] + part * bins.m[k], first, last))
    return _between(bins, k, first, last, at, per)


def tolerated(bins: Bins, risk: float) -> Bounds:
    """Return the largest coverage whose selective risk is at most this; 0 where no threshold attains it."""
    limit = risk * (1.0 + SLACK)
    scored = _scored(bins)
    m, s, M, N0, N1, S0, S1 = (
        column[:scored] for column in (bins.m, bins.s, bins.M, bins.N0, bins.N1, bins.S0, bins.S1)
    )  # fmt: skip
    surely = limit >= S1 / N1  # bins end where a threshold can lie
    low = float(N1[surely][-1]) if surely.any() else 0.0

    def most(slope: FloatArray) -> float:
        """Return the largest number of rows accepted within limit if the last losses of a bin fall by this slope."""
        gap = slope - limit
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inside = np.where(gap > 0.0, np.floor((N1 * slope - S1) / gap * (1.0 + SLACK)), 0.0)
            inside = np.minimum(inside, N1)
            enough = np.maximum(0.0, S1 - S0 - (N1 - inside) * slope) + S0 <= limit * inside + 1e-12 * (S0 + s)
        inside = np.where(~bins.tie[:scored] & (inside > N0) & enough, inside, 0.0)
        return max(low, float(np.max(inside, initial=0.0)))

    value, high = most(s / m), most(M)
    if high == 0.0:
        lowest = f"the lowest attainable is {float(np.min(S1 / N1)):.6g} or less" if scored else "no row has a score"
        why = f"no threshold attains a selective risk of {risk:g} or less; {lowest}"
        return Bounds(np.nan, np.nan, np.nan, why)
    return Bounds(max(value, low) / bins.n, low / bins.n, high / bins.n)
