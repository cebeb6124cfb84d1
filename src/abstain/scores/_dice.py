"""DICE: energy of the logits that the strongest weights alone give."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._checks import fraction
from abstain.outputs import Outputs
from abstain.scores import _moments
from abstain.scores._arrays import logsumexp
from abstain.scores._batch import Batch
from abstain.scores._score import Score


def dice(batch: Batch, state: dict[str, Any]) -> Any:
    """LSE((W * M) h + b), M = 1 where the mean contribution V_kj = W_kj mean(h_j) is above its ``sparsity`` quantile.

    ``sparsity=0.9`` keeps the tenth of the weights that contribute most; the quantile is that of all entries of V.
    """
    return logsumexp(batch.logits_of(batch.features, (state["weight"], state["bias"])), batch.xp)


def fit(outputs: Outputs, *, sparsity: float = 0.9) -> dict[str, Any]:
    """Return the weights that are kept."""
    weight, bias = (np.asarray(part) for part in outputs.head)
    contribution = weight * _moments.mean(outputs.features)[None, :]
    kept = contribution > np.quantile(contribution, fraction(sparsity, "sparsity"))
    return {"weight": weight * kept, "bias": bias.copy(), "n_features": np.int64(weight.shape[1])}


SCORES = (
    Score(
        "dice",
        "Directed sparsification (DICE)",
        dice,
        ("features",),
        "Sun & Li, DICE: leveraging sparsification for out-of-distribution detection, ECCV 2022",
        "(-inf, inf)",
        fit,
        ("features", "head"),
        "train",
        grid={"sparsity": (0.9,)},
        cost="d K",
    ),
)
