"""SHE: the inner product with the stored pattern of the predicted class."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.outputs import Outputs
from abstain.scores import _moments
from abstain.scores._arrays import rows_of
from abstain.scores._batch import Batch
from abstain.scores._score import Score


def she(batch: Batch, state: dict[str, Any]) -> Any:
    """<h, S_k> of the predicted class k, S_k the mean feature of the correct fit samples of that class.

    A class without a correct sample has the mean of all its samples; a class that the fit data lack, the mean of all
    fit data.
    """
    patterns = rows_of(state["patterns"], batch.predicted, batch.xp)
    return batch.xp.sum(batch.features * patterns, axis=1)


def fit(outputs: Outputs) -> dict[str, Any]:
    """Return one pattern per class."""
    features, labels = outputs.features, np.asarray(outputs.labels)
    assert features is not None
    correct = outputs.predicted() == labels
    width = int(outputs.n_classes or labels.max() + 1)
    patterns = np.tile(_moments.mean(features), (width, 1))
    for k in np.unique(labels):
        own = labels == k
        rows = np.flatnonzero(own & correct)
        patterns[k] = _moments.mean(features[rows if len(rows) else np.flatnonzero(own)])
    return {"patterns": patterns, "n_features": np.int64(features.shape[1]), "n_classes": np.int64(width)}


SCORES = (
    Score(
        "she",
        "Simplified Hopfield energy (SHE)",
        she,
        ("features", "predictions"),
        "Zhang et al., Out-of-distribution detection based on in-distribution data patterns memorization, ICLR 2023",
        "(-inf, inf)",
        fit,
        ("features", "labels", "predictions"),
        "train",
        cost="d",
    ),
)
