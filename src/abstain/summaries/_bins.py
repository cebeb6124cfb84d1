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
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from abstain._typing import BoolArray, FloatArray
from abstain.blocks import TieBlocks
from abstain.metrics import harmonic_difference


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
