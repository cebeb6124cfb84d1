"""Whether new scores lie where those of calibration did."""

from __future__ import annotations

import numpy as np

from abstain.policy import Policy

#: Rows below which it is no news that most scores lie where few did at calibration.
_FEWEST = 20


def usual(policy: Policy) -> tuple[float, float]:
    """Return between which scores about eight in ten calibration rows lie; infinite where that was not kept."""
    each = policy.calibration.get("groups", {"": policy.calibration})
    edges = [edge for one in each.values() for edge, _ in one.get("bins", [])]
    return (min(edges), max(edges)) if edges else (-np.inf, np.inf)


def moved(n: int, below: int, above: int, low: float, high: float) -> list[str]:
    """Say if most scores lie where at most one in ten of the calibration rows did."""
    for count, where, edge in ((below, "below", low), (above, "above", high)):
        if count > n / 2 and n >= _FEWEST:
            return [
                f"{count} of {n} scores are {where} {edge:.6g}, where at most one in ten calibration rows was: is the "
                "score on the scale that it had at calibration (per cent or fractions, temperature, sign)?"
            ]
    return []
