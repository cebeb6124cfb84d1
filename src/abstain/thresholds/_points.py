"""The operating points of a calibration sample, and the ways to pick one without a promise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain.curve import SLACK, OperatingPoint, RiskCoverageCurve
from abstain.thresholds._sample import Sample


def curve_of(sample: Sample) -> RiskCoverageCurve:
    """Return the curve of a sample, whose thresholds below +inf are all attainable."""
    curve = RiskCoverageCurve(sample.blocks)
    if curve.threshold[0] == np.inf:
        raise ValueError(
            f"confidence holds +inf ({int(curve.n_accepted[0])} such), but a threshold of +inf accepts "
            "nothing; give these rows a finite score above all others"
        )
    return curve


def nearest(curve: RiskCoverageCurve, objective: str) -> OperatingPoint:
    """Return the point of the lowest risk, or of the largest coverage, where what was asked for is not attained."""
    scored = curve.threshold > -np.inf
    if not scored.any() or objective == "metric":
        return curve.at(coverage=0.0)
    risk = curve.selective_risk[scored]
    return curve.at(threshold=float(curve.threshold[np.argmin(risk) if objective == "risk" else len(risk) - 1]))


def at_cost(curve: RiskCoverageCurve, error: float, review: float) -> OperatingPoint:
    r"""Least expected cost :math:`c_e G(\tau) + c_r (1 - C(\tau))`, rejecting everything included (Chow 1970)."""
    cost = error * curve.generalized_risk + review * (1.0 - curve.coverage)
    least = np.flatnonzero((curve.threshold > -np.inf) & (cost <= min(review, cost.min()) * (1.0 + SLACK)))
    return curve.at(threshold=float(curve.threshold[least[-1]])) if least.size else curve.at(coverage=0.0)


def at_trust(sample: Sample, curve: RiskCoverageCurve, metric: str) -> OperatingPoint:
    """Largest CWSA or CWSA+ over the attainable thresholds in [0, 1)."""
    from abstain.metrics import cwsa_sweep

    usable = curve.threshold[(curve.threshold >= 0.0) & (curve.threshold < 1.0)]
    if not usable.size:
        why = f"{metric} needs a threshold in [0, 1), and no score lies there"
        return OperatingPoint(np.nan, np.nan, np.nan, np.nan, 0, sample.n, why)
    scored = sample.score > -np.inf
    weight = None if sample.weight is sample.times is None else sample.mass[scored]
    swept = cwsa_sweep(sample.loss[scored], sample.score[scored], thresholds=usable, sample_weight=weight)
    return curve.at(threshold=float(usable[np.flatnonzero(swept[metric] == swept[metric].max())[-1]]))


def cost_per_case(objective: Mapping[str, Any], coverage: float, risk: float) -> float | None:
    """Return what a case cost by the costs that chose a threshold; None where no costs did."""
    if "cost_error" not in objective or np.isnan(coverage):
        return None
    errors = coverage * risk if coverage > 0.0 else 0.0
    return float(objective["cost_error"] * errors + objective["cost_review"] * (1.0 - coverage))
