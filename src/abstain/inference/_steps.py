"""What a comparison says to going live: what its winner does on these rows, and what it leaves to other commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from abstain._result import among
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.inference._beside import Asked, Beside


def steps(
    asked: Asked | None, known: Beside | None, best: str, what: str, *, apart: bool = True, few: bool = False
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield the operating point of the winner, what a perfect ranking would do, and what is not told here.

    ``apart``: whether a test tells the winner from the next; ``few``: whether only some rows have labels.
    """
    several = known is not None and not known.same_loss
    yield {"about": "no threshold", "what": what, "of": best, "others": True, "how": "", "apart": apart, "few": few}
    yield {"about": "groups elsewhere", "of": best, "how": ""}
    if known is None or asked is None or known.risk is None or max(asked.panel.n_runs) > 1:
        return
    k = asked.panel.names.index(best)
    blocks = TieBlocks.from_samples(asked.panel.loss[k][0], asked.panel.score[k][0], asked.panel.weight)
    curve = RiskCoverageCurve(blocks)
    point = curve.at(risk=known.risk)
    coverage = 0.0 if point.reason is not None else point.coverage
    yield {
        "about": "measured", "score": f"the score of {best}" if several else best, "risk": known.risk,
        "full": blocks.mean_loss, "lowest": float(np.nanmin(curve.selective_risk)), "coverage": coverage,
        "threshold": among(point.threshold, curve.threshold),
    }  # fmt: skip
    right = 1.0 - blocks.mean_loss
    yield {"about": "ranking perfected", "of": best, "risk": known.risk, "full": blocks.mean_loss,
           "coverage": coverage, "perfect": min(1.0, right / (1.0 - known.risk))}  # fmt: skip
