"""Tie blocks and influence."""

from __future__ import annotations

from typing import Any

import abstain
from tests.recorded import tried
from tests.recorded.populations import rows

ALL = ("aurc", "augrc", "auroc_f", "risk", "e_aurc", "naurc", "coverage_at_risk", "risk_at_coverage")


def influence_of_ranked_metrics() -> Any:
    """Return the influence of each row, by metric, with and without ties and weights."""
    found = {}
    for steps in (0, 5):
        p = rows(steps, 40, steps=steps)
        for weight in (None, p["sample_weight"]):
            columns = {"loss": p["loss"], "confidence": p["confidence"], "sample_weight": weight}
            for name in ALL:
                found[f"{name} {steps} {weight is None}"] = tried(abstain.inference.influence, name, **columns)
    return found
