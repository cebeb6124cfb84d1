"""GradNorm of the last layer, in closed form."""

from __future__ import annotations

from typing import Any

from abstain.scores._batch import Batch
from abstain.scores._score import Score


def gradnorm(batch: Batch) -> Any:
    """||h||_1 sum_k |K p_k - 1|, the L1 norm of d/dW of sum_k -log p_k.

    The gradient is the outer product of (K p - 1) and h, whose L1 norm is a product of two norms: no backward pass.
    The target is uniform and not normalised, so the value is K times that of a mean over classes.
    """
    xp = batch.xp
    p = batch.by_size.p
    return xp.sum(xp.abs(batch.features), axis=1) * xp.sum(xp.abs(p.shape[1] * p - 1.0), axis=1)


SCORES = (
    Score(
        "gradnorm",
        "Gradient norm of the last layer (GradNorm)",
        gradnorm,
        ("probabilities", "features"),
        "Huang, Geng & Li, On the importance of gradients for detecting distributional shifts in the wild, "
        "NeurIPS 2021",
        "[0, inf)",
        cost="d + K",
    ),
)
