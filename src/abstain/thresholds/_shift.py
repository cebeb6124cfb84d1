"""Whether new scores lie where those of calibration did."""

from __future__ import annotations

import numpy as np

from abstain.inference import clopper_pearson
from abstain.policy import Policy

#: Rows below which it is no news that most scores lie where few did at calibration.
_FEWEST = 20
#: A smaller difference between the shares of accepted rows is none to act on.
_LEAST = 0.01


def usual_scores(policy: Policy) -> tuple[float, float]:
    """Return between which scores about eight in ten calibration rows lie; infinite where that was not kept."""
    edges = [edge for one in policy.calibration.each.values() for edge, _ in one.bins]
    return (min(edges), max(edges)) if edges else (-np.inf, np.inf)


def other_share(policy: Policy, n: int, n_accepted: int) -> list[str]:
    """Say if the share of accepted rows is not that of calibration: their exact 99.9 % intervals do not meet."""
    known = policy.calibration
    plain = policy.group is None and policy.second is None and known.weighted is False and not known.clustered
    if not n or not plain or known.n_accepted is None:
        return []
    before = clopper_pearson(known.n_accepted, known.n, 0.999)
    low, high = clopper_pearson(n_accepted, n, 0.999)
    share, usual = n_accepted / n, known.n_accepted / known.n
    if (low <= before[1] and before[0] <= high) or abs(share - usual) < _LEAST:
        return []
    return [
        f"{share:.4g} of the rows are accepted, {usual:.4g} of the calibration rows were, and chance does not explain "
        "it (exact 99.9 % intervals that do not meet): are rows and model those that the policy was made for?"
    ]


def moved(n: int, below: int, above: int, low: float, high: float) -> list[str]:
    """Say if most scores lie where at most one in ten of the calibration rows did."""
    for count, where, edge in ((below, "below", low), (above, "above", high)):
        if count > n / 2 and n >= _FEWEST:
            return [
                f"{count} of {n} scores are {where} {edge:.6g}, where at most one in ten calibration rows was: is the "
                "score on the scale that it had at calibration (per cent or fractions, temperature, sign)?"
            ]
    return []
