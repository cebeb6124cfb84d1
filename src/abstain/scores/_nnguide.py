"""NNGuide: energy times the mean similarity to energy-weighted neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.outputs import Outputs
from abstain.scores._arrays import logsumexp
from abstain.scores._batch import Batch
from abstain.scores._neighbours import bank_of, check_k, subset
from abstain.scores._score import Score


def nnguide(batch: Batch, state: dict[str, Any], *, neighbours: int = 10) -> Any:
    """LSE(z) times the mean of the k largest <g_i, h'>, with the bank g_i = LSE(z_i) h'_i and h' = h/||h||.

    ``fraction`` keeps a random share of the fit data (the authors: 1 % for ImageNet, all for CIFAR), drawn with
    ``seed``. Where LSE(z) < 0 the product turns around: the score is meant for logits of trained networks, whose
    energies are positive.
    """
    xp, bank = batch.xp, state["bank"]
    neighbours = check_k(neighbours, bank.shape[0], "nnguide")
    return logsumexp(batch.by_size.logits, xp) * xp.mean(batch.top_products(bank, neighbours), axis=1)


def fit(outputs: Outputs, *, fraction: float = 1.0, seed: int = 0, dtype: str = "float32") -> dict[str, Any]:
    """Return the bank of energy-weighted unit vectors."""
    features: Any = outputs.features
    rows = subset(len(features), fraction, seed)
    energy = logsumexp(np.asarray(outputs.logits)[rows], np)
    bank = bank_of(features[rows], energy, dtype)
    return {"bank": bank, "n_features": np.int64(features.shape[1])}


SCORES = (
    Score(
        "nnguide",
        "Nearest-neighbour guidance (NNGuide)",
        nnguide,
        ("logits", "features"),
        "Park, Jung & Teoh, Nearest neighbor guidance for out-of-distribution detection, ICCV 2023",
        "(-inf, inf)",
        fit,
        ("logits", "features"),
        "train",
        grid={"neighbours": (10, 100), "fraction": (0.01, 1.0)},
        cost="n d",
    ),
)
