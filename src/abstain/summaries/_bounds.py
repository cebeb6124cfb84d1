r"""Certified bounds of the two sums behind all areas: no order of the rows inside the bins can leave them.

Bins k by descending score hold m samples with loss sum s and largest loss M; N0, N1 and S0, S1 are the cumulative
counts and loss sums before and after the bin, and H(x, y) = 1/(x + 1) + ... + 1/y. Order and ties inside a bin are
unknown. With e = min(m, s/M) the number of losses M that the sum is worth, k = floor(e) and c = m - k, bin k adds to
n^2 AUGRC

    m S0 + s m/2  -+  s (m - e)/2

to n AURC at most     [ k S1/(N0 + e)  if M N0 >= S0,  else  M k + (S0 - M N0) H(N0, N0 + k) ] + S1 H(N0 + k, N1)

and at least          c S0/(N0 + m - e) + M k + (S1 - M N1) H(N1 - k, N1)  if M (N0 + m - e) >= S0,  else  m S1/N1.

The worst order is not "errors first, one by one": errors first as one tied group raise the risk of the first of them.
A bin whose lowest and highest score are equal is a tie and adds m S1/N1 and m S0 + s m/2 exactly.

**Operating points and the curve.** Of a bin that is no tie some rows may be accepted and others not. If the j most
confident of its m rows are accepted, their loss lies between max(0, s - (m - j) M) and min(s, j M), and the selective
risk between (S0 + these)/a, where a = N0 + j. Both ends are monotone in a but for one kink, so that extremes over a
range of a lie at its ends or at the kink. What is accepted at the end of a bin is known exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from abstain._checks import UnmetNeed, fraction, not_negative, real
from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.blocks import TieBlocks
from abstain.curve import SLACK
from abstain.metrics import AcceptedLoss, Metric, Sums, harmonic_difference


class Bounds(NamedTuple):
    """A value, and what it cannot leave whatever the order of the rows inside the bins.

    Examples
    --------
    >>> from abstain.summaries import Bounds
    >>> Bounds(0.5, 0.25, 0.75).width
    1.0
    """

    value: float
    low: float
    high: float
    reason: str | None = None

    @property
    def width(self) -> float:
        """From end to end, relative to the value; 0 for an exact one, NaN where that is 0."""
        if self.low == self.high:
            return 0.0
        return (self.high - self.low) / abs(self.value) if self.value else float("nan")


def _quotient(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return top / bottom, and 0 where there is nothing to divide."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0.0)


class Bins:
    """The occupied bins, descending, with their cumulative sums; all columns in float64."""

    def __init__(
        self,
        count: FloatArray,
        loss: FloatArray,
        lowest: FloatArray,
        highest: FloatArray,
        largest: FloatArray,
        binary: bool,
    ) -> None:
        self.m, self.s, self.binary = count, loss, binary
        self.lowest, self.highest = lowest, highest
        self.N1, self.S1 = np.cumsum(count), np.cumsum(loss)
        self.N0, self.S0 = self.N1 - count, np.append(0.0, self.S1[:-1])
        self.n, self.total = float(self.N1[-1]), float(self.S1[-1])
        self.tie: BoolArray = (lowest == highest) | (count == 1.0)
        self.M = largest
        self.e = np.where(largest > 0.0, np.minimum(count, _quotient(loss, largest)), 0.0)
        self.k = np.floor(self.e)

    def table(self) -> TieBlocks:
        """Return the bins as if each were a tie."""
        middle = np.where(self.tie, self.lowest, 0.5 * self.lowest + 0.5 * self.highest)
        return TieBlocks(middle, self.m, self.s, self.m, binary=self.binary)

    def generalized(self) -> FloatArray:
        """Return n^2 AUGRC as value, least, most; the value is the middle, as if the bin were a tie."""
        middle = float(np.sum(self.m * self.S0 + 0.5 * self.s * self.m))
        slack = float(np.sum(np.where(self.tie, 0.0, 0.5 * self.s * (self.m - self.e))))
        return np.array([middle, middle - slack, middle + slack])

    def selective(self) -> FloatArray:
        """Return n AURC ``plugin`` as value, least, most; the value is that of losses spread evenly over the bin."""
        m, s, M, N0, N1, S0, S1, e, k = (
            self.m, self.s, self.M, self.N0, self.N1, self.S0, self.S1, self.e, self.k,
        )  # fmt: skip
        tied = m * S1 / N1
        steps = harmonic_difference(N0, N1)
        point = s + (S0 - s / m * N0) * steps
        first = np.where(
            M * N0 >= S0,
            _quotient(k * S1, N0 + e),
            M * k + (S0 - M * N0) * harmonic_difference(N0, N0 + k),
        )
        high = first + S1 * harmonic_difference(N0 + k, N1)
        late = N0 + m - e
        last = _quotient((m - k) * S0, late) + M * k + (S1 - M * N1) * harmonic_difference(N1 - k, N1)
        low = np.where(M * late >= S0, last, tied)
        point = np.clip(point, low, high)
        return np.array([float(np.sum(np.where(self.tie, tied, part))) for part in (point, low, high)])


# ---------------------------------------------------------------------- operating points and the curve

_NONE = "nothing is accepted, so the selective risk is undefined"


def risk_range(
    bins: Bins, which: IntArray, first: FloatArray, last: FloatArray, per_accepted: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Return least and largest risk at any number of accepted rows from first to last, which lie in (N0, N1].

    Per accepted row, or per row of all.
    """
    m, s, M, N0, N1, S0, e = (column[which] for column in (bins.m, bins.s, bins.M, bins.N0, bins.N1, bins.S0, bins.e))
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
    )
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


# ---------------------------------------------------------------------- what a metric declares

#: Means of smaller losses than this, over a billion rows, are no numbers of full precision any more.
LEAST = 1e-280


def lacking(metric: Metric, bins: Bins) -> str | None:
    """Return why bins cannot bound a metric, or None if they can.

    A metric survives binning if its module declares that it follows from sums over the table, that it is the loss of
    what is accepted, or that it is the largest coverage within a risk.
    """
    if 0.0 < bins.M.max() < LEAST:
        return f"{metric.name} of losses of at most {bins.M.max():.3g} underflows, so that no bound holds; rescale them"
    if "unit_loss" in metric.needs and bins.M.max() > 1.0:
        return f"{metric.name} needs losses in [0, 1], but the largest is {bins.M.max():.6g}; rescale them"
    if metric.from_sums is not None and not metric.options:
        if metric.from_sums.binary and not bins.binary:
            return f"{metric.name} needs a 0/1 loss, or else the order of the losses, which no summary holds"
        return None
    if metric.accepted_loss is not None or metric.tolerated is not None:
        return None
    return f"{metric.spec} does not follow from a summary, which has no order within its bins; evaluate the rows"


def bounds_of(metric: Metric, bins: Bins) -> Bounds:
    """Return value, least and most; UnmetNeed where a summary cannot say."""
    why = lacking(metric, bins)
    if why is not None:
        raise UnmetNeed(why)
    if metric.from_sums is not None and not metric.options:
        return _of_sums(metric, bins)
    found = _of_points(metric.base, bins)
    if metric.image is None:
        return found
    return Bounds(metric.image(found.value), *metric.image.ends(found.low, found.high), found.reason)


def _of_sums(metric: Metric, bins: Bins) -> Bounds:
    """A closed form is monotone in the one sum that it reads, so the ends of that sum give its ends."""
    form = metric.from_sums
    assert form is not None
    same = np.ones(3)
    selective = bins.selective() if form.selective else 0.0 * same
    with np.errstate(invalid="ignore", divide="ignore"):
        values = form.formula(Sums(bins.n * same, bins.total * same, selective, bins.generalized()))
    value, *ends = (float(each) for each in values)
    if np.isnan(value):
        return Bounds(value, value, value, metric.evaluate(bins.table()).reason)
    return Bounds(value, min(ends), max(ends))


def _of_points(metric: Metric, bins: Bins) -> Bounds:
    loss: AcceptedLoss | None = metric.said(metric.accepted_loss)
    if loss is None:
        assert metric.tolerated is not None
        risk: float = metric.tolerated(**metric.settings)
        return tolerated(bins, not_negative(risk, "risk"))
    if loss.threshold is not None:
        return at_threshold(bins, real(loss.threshold, "threshold", "on the scale of the score"), loss.per)
    assert loss.coverage is not None
    return at_coverage(bins, fraction(loss.coverage, "coverage"), loss.per)
