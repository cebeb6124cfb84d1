"""Populations whose values are recorded: losses, scores, weights, groups and clusters, with and without ties."""

from __future__ import annotations

from typing import Any

import numpy as np


def rows(seed: int, n: int, *, steps: int = 0, graded: bool = False) -> dict[str, Any]:
    """Return columns of n rows; ``steps``: scores lie on so many values; ``graded``: losses are not only 0 and 1."""
    rng = np.random.default_rng([20261126, seed])
    ease = rng.random(n)
    loss = (rng.random(n) < 0.6 * (1.0 - ease) ** 2).astype(float)
    loss = np.where(loss > 0.0, rng.integers(1, 4, n) / 3.0, loss) if graded else loss
    noisy = np.clip(ease + rng.normal(0.0, 0.2, n), 0.0, 1.0)
    return {
        "loss": loss,
        "confidence": np.round(noisy * steps) / steps if steps else noisy,
        "other": np.clip(ease + rng.normal(0.0, 0.4, n), 0.0, 1.0),
        "sample_weight": rng.gamma(2.0, 1.0, n),
        "groups": np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
        "clusters": np.sort(rng.integers(0, max(1, n // 4), n)),
        "labels": rng.integers(0, 4, n),
        "probabilities": rng.dirichlet(np.ones(4), n),
    }
