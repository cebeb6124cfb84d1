"""The attainable points of a calibration sample, and the five ways to pick one without a promise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstain._typing import FloatArray
from abstain.curve import SLACK, OperatingPoint
from abstain.thresholds._sample import Sample


@dataclass(frozen=True, eq=False)
class Points:
    """Every attainable threshold, descending, with coverage, selective and generalized risk; one array each."""

    threshold: FloatArray
    coverage: FloatArray
    risk: FloatArray
    generalized: FloatArray
    n_accepted: FloatArray
    n: int

    @classmethod
    def of(cls, sample: Sample) -> Points:
        """Sum the sample above each distinct score; rows without a score are never accepted but stay in n."""
        if sample.score[0] == np.inf:
            raise ValueError(
                f"confidence holds +inf ({int(np.sum(sample.score == np.inf))} such), but a threshold of +inf accepts "
                "nothing; give these rows a finite score above all others"
            )
        weight = np.ones(sample.n) if sample.weight is None else sample.weight
        finite = sample.score > -np.inf
        last = np.append(sample.score[1:] != sample.score[:-1], True) & finite
        weights, losses = np.cumsum(weight), np.cumsum(weight * sample.loss)
        last &= weights > 0.0
        kept = np.flatnonzero(last)
        total = float(weights[-1])
        return cls(
            sample.score[kept], weights[kept] / total, losses[kept] / weights[kept], losses[kept] / total,
            kept.astype(np.float64) + 1.0, sample.n,
        )  # fmt: skip

    def point(self, j: int) -> OperatingPoint:
        """Return one point; -1 rejects everything."""
        if j < 0:
            return OperatingPoint(np.inf, 0.0, np.nan, 0.0, 0, self.n, "nothing is accepted")
        return OperatingPoint(
            float(self.threshold[j]), float(self.coverage[j]), float(self.risk[j]), float(self.generalized[j]),
            int(self.n_accepted[j]), self.n,
        )  # fmt: skip

    def nearest(self, threshold: float) -> OperatingPoint:
        """Return the point that a threshold makes."""
        return self.point(int(np.searchsorted(-self.threshold, -threshold, side="right")) - 1)

    # ------------------------------------------------------------------ objectives: (position, reason)

    def at_risk(self, risk: float) -> tuple[int, str | None]:
        """Largest coverage with a selective risk of at most ``risk``."""
        attained = np.flatnonzero(self.risk <= risk * (1.0 + SLACK))
        if attained.size:
            return int(attained[-1]), None
        j = int(np.argmin(self.risk)) if self.risk.size else -1
        lowest = f"{self.risk[j]:.4g}" if j >= 0 else "undefined: no row has a score"
        return j, f"no threshold has a selective risk of {risk:g} or less; the lowest is {lowest}"

    def at_coverage(self, coverage: float) -> tuple[int, str | None]:
        """Smallest coverage of at least ``coverage``."""
        if coverage <= 0.0:
            return -1, None
        j = int(np.searchsorted(self.coverage, coverage - SLACK))
        if j < len(self.coverage):
            return j, None
        largest = float(self.coverage[-1]) if self.coverage.size else 0.0
        return len(self.coverage) - 1, f"a coverage of {coverage:g} is not reached: at most {largest:.4g} have scores"

    def at_cost(self, error: float, review: float) -> int:
        r"""Least expected cost :math:`c_e G(\tau) + c_r (1 - C(\tau))`, rejecting everything included (Chow 1970)."""
        cost = np.append(error * self.generalized + review * (1.0 - self.coverage), review)
        least = np.flatnonzero(cost[:-1] <= cost.min() * (1.0 + SLACK))
        return int(least[-1]) if least.size else -1
