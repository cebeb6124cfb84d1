"""Distance to the k-th nearest fit sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.outputs import Outputs
from abstain.scores._batch import Batch
from abstain.scores._neighbours import bank_of, check_k, subset
from abstain.scores._score import Score


def knn(batch: Batch, state: dict[str, Any], *, neighbours: int = 50) -> Any:
    """-||h' - h'_(k)||^2 = 2 cos_(k) - 2, the k-th nearest fit sample after scaling all features to length 1.

    Features of length 0 count as at right angles to all others (cos = 0).
    The bank is kept in ``dtype`` (float32; float16 halves it) and compared block by block: memory is that of the
    bank and a few hundred MB. ``fraction`` keeps a random share of the fit data, drawn with ``seed``. Products in
    float32 move a score by about 1e-7.
    """
    bank = state["bank"]
    neighbours = check_k(neighbours, bank.shape[0], "knn")
    value = 2.0 * batch.xp.min(batch.top_products(bank, neighbours), axis=1) - 2.0
    return batch.xp.where(value < 0.0, value, batch.xp.zeros_like(value))


def fit(outputs: Outputs, *, dtype: str = "float32", fraction: float = 1.0, seed: int = 0) -> dict[str, Any]:
    """Return the bank of unit vectors."""
    features: Any = outputs.features
    rows = subset(len(features), fraction, seed)
    return {"bank": bank_of(features[rows], None, dtype), "n_features": np.int64(features.shape[1])}


SCORES = (
    Score(
        "knn",
        "Distance to the k-th neighbour (kNN)",
        knn,
        ("features",),
        "Sun et al., Out-of-distribution detection with deep nearest neighbors, ICML 2022",
        "[-4, 0]",
        fit,
        ("features",),
        "train",
        grid={"neighbours": (50, 100, 200, 500, 1000)},
        cost="n d",
    ),
)
