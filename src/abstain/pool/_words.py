"""What plans and estimates say in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from abstain.pool._interval import FEW

if TYPE_CHECKING:
    from abstain.pool._plan import LabelPlan


def of_plan(plan: LabelPlan) -> list[str]:
    """Return what is expected of the labels, from what, and how to draw the same rows again."""
    facts = plan.facts
    lines = []
    width, plain = facts["expected_halfwidth"], facts["expected_plain"]
    if plan.n_stages > 1:
        source = "by the labels so far"
    elif facts["error_rate"] is not None:
        source = f"at an error rate of {facts['error_rate']:.3g} and a usual score"
    else:
        source = "for a usual score (state the error rate if it is known)"
    total = int(plan.planned.size) + int(facts["held_back"])
    need = "" if not math.isfinite(plain) else f"; plain evaluation would need about {plain:,.0f} labels for it"
    lines.append(f"expected half-width with {total} labels: {width:.3g} at level {facts['level']:g}, {source}{need}")
    errors, room = facts.get("expected_errors", math.inf), facts.get("expected_room", 0.0)  # older plans have none
    if errors < FEW - 0.05 and room > 0.0:
        more = math.ceil(total * FEW / errors - 1e-6)
        remedy = f"; {more:,} labels would show {FEW}" if more <= np.count_nonzero(plan.frame) else ""
        lines.append(
            f"about {errors:.2g} errors are expected among {total} labels: {100 * room:.0f} % of this half-width is "
            f"room for one that none of them shows{remedy}"
        )
    if facts["held_back"]:
        lines.append(f"{facts['held_back']} labels are held back: extend the plan once these rows have their losses")
    if len(plan.pool.blocks) == 1:
        lines.append("all scores are equal: they say nothing of the rows, and ranks save no label")
    left_out = plan.n - int(np.count_nonzero(plan.frame))
    if left_out:
        zone, label = facts["zone"], plan.measure().label
        why = f"are never drawn: {label} does not count them" if zone is None else f"lie outside the zone of {zone:g}"
        lines.append(f"{left_out} rows {why}")
    lines.append(f"seed {', '.join(map(str, facts['seeds']))} · pool {plan.digest[:12]}")
    return lines
