r"""Certified bounds of AURC and AUGRC from a histogram of scores: no order inside a bin can leave them.

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

from abstain._harmonic import harmonic_difference
from abstain._typing import FloatArray


class Bounds(NamedTuple):
    """A value and what it cannot leave."""

    value: float
    low: float
    high: float


def _quotient(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return top / bottom, and 0 where there is nothing to divide."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0.0)


class Bins:
    """The occupied bins of a histogram, descending, with their cumulative sums."""

    def __init__(
        self, count: FloatArray, loss: FloatArray, lowest: FloatArray, highest: FloatArray, largest: FloatArray
    ) -> None:
        self.m, self.s = count, loss
        self.N1, self.S1 = np.cumsum(count), np.cumsum(loss)
        self.N0, self.S0 = self.N1 - count, self.S1 - loss
        self.n, self.total = float(self.N1[-1]), float(self.S1[-1])
        self.tie = (lowest == highest) | (count == 1.0)
        self.M = largest
        self.e = np.where(largest > 0.0, np.minimum(count, _quotient(loss, largest)), 0.0)
        self.k = np.floor(self.e)

    def augrc(self) -> Bounds:
        """AUGRC: the middle of each bin's range, which is its value if the bin were a tie."""
        middle = float(np.sum(self.m * self.S0 + 0.5 * self.s * self.m))
        slack = float(np.sum(np.where(self.tie, 0.0, 0.5 * self.s * (self.m - self.e))))
        return Bounds(*((middle + part) / self.n**2 for part in (0.0, -slack, slack)))

    def aurc(self) -> Bounds:
        """AURC ``plugin``; the point is that of losses spread evenly over the bin."""
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
        sums = (float(np.sum(np.where(self.tie, tied, part))) / self.n for part in (point, low, high))
        return Bounds(*sums)


def certified(bins: Bins, binary: bool) -> dict[str, Bounds]:
    """Return the bounds of every metric that follows from AUGRC and AURC, by the metric's name."""
    augrc, aurc = bins.augrc(), bins.aurc()
    found = {"augrc": augrc, "aurc": aurc}
    wrong = bins.total / bins.n
    if binary:  # optima and AUROC_f follow from the error rate
        best = wrong + (1.0 - wrong) * np.log1p(-wrong) if wrong < 1.0 else 1.0
        found["e_augrc"] = Bounds(*(part - 0.5 * wrong**2 for part in augrc))
        found["e_aurc"] = Bounds(*(part - best for part in aurc))
        if 0.0 < wrong < 1.0:
            value, low, high = (1.0 - (part - 0.5 * wrong**2) / (wrong * (1.0 - wrong)) for part in augrc)
            found["auroc_f"] = Bounds(value, high, low)
    return found
