"""The metrics that an evaluation is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from abstain import metrics as metrics_
from abstain.metrics import Metric

#: What an evaluation shows unless asked for more: accuracy (or risk), two areas with what they leave above the
#: oracle, the ranking alone, three operating points, and calibration.
DEFAULT_METRICS = (
    "accuracy",
    "augrc",
    "e_augrc",
    "aurc",
    "auroc_f",
    "coverage_at_risk(risk=0.01)",
    "coverage_at_risk(risk=0.05)",
    "selective_risk(coverage=0.8)",
    "ece",
)


@cache
def _defaults() -> tuple[Metric, ...]:
    return tuple(metrics_.parse(spec) for spec in DEFAULT_METRICS)


def choose(metrics: str | Metric | Iterable[str | Metric], loss: Any) -> tuple[list[Metric], bool]:
    """Return the metrics, and whether one that the data do not allow is listed instead of raised."""
    if isinstance(metrics, str) and metrics == "default":
        chosen = list(_defaults())
        if np.max(loss) > 1.0:
            chosen[0] = metrics_.get("risk")
        return chosen, True
    if isinstance(metrics, str) and metrics == "all":
        defaults = list(_defaults())
        shown = {metric.spec for metric in defaults}
        rest = [metrics_.get(name) for name in metrics_.names("blocks", "probabilities")]
        return defaults + [metric for metric in rest if metric.spec not in shown], True
    if isinstance(metrics, str | Metric):
        metrics = [metrics]
    if isinstance(metrics, np.ndarray):
        metrics = metrics.ravel()
    found: list[Metric] = []
    for entry in metrics:
        if not isinstance(entry, str | Metric):
            raise TypeError(f"metrics must be names or Metric objects, got {entry!r} of type {type(entry).__name__}")
        found += metrics_.parse_list(entry) if isinstance(entry, str) else [entry]
    if not found:
        raise ValueError("metrics is empty; give names, 'default' or 'all'")
    return list({metric.spec: metric for metric in found}.values()), False
