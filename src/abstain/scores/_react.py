"""ReAct: energy after clipping the features."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._checks import fraction
from abstain.outputs import Outputs
from abstain.scores._arrays import logsumexp
from abstain.scores._batch import Batch
from abstain.scores._score import Score


def react(batch: Batch, state: dict[str, Any]) -> Any:
    """LSE(W min(h, c) + b), c the quantile ``quantile`` of all entries of all fit features together."""
    xp = batch.xp
    clipped = xp.where(batch.features < state["clip"], batch.features, xp.zeros_like(batch.features) + state["clip"])
    return logsumexp(batch.logits_of(clipped), xp)


def fit(outputs: Outputs, *, quantile: float = 0.9) -> dict[str, Any]:
    """Return the value at which features are clipped."""
    features: Any = outputs.features
    level = fraction(quantile, "quantile")
    clip = np.quantile(np.asarray(features, dtype=np.float64), level)
    return {"clip": np.float64(clip), "n_features": np.int64(features.shape[1])}


SCORES = (
    Score(
        "react",
        "Rectified activations (ReAct)",
        react,
        ("features", "head"),
        "Sun, Guo & Li, ReAct: out-of-distribution detection with rectified activations, NeurIPS 2021",
        "(-inf, inf)",
        fit,
        ("features",),
        "validation",
        grid={"quantile": (0.85, 0.9, 0.95, 0.99)},
        cost="d K",
    ),
)
