"""fDBD: the distance to the decision boundaries, relative to the distance from the mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._checks import one_of
from abstain._classes import chosen
from abstain.outputs import Outputs
from abstain.scores import _moments
from abstain.scores._arrays import row_norms, rows_of
from abstain.scores._batch import Batch
from abstain.scores._score import Score


def fdbd(batch: Batch, state: dict[str, Any], *, normaliser: str = "distance_to_mean") -> Any:
    """sum_{k != y} |z_y - z_k| / ||w_y - w_k||, y the predicted class, divided by ||h - mean(h)|| over the fit data.

    ``normaliser="norm"`` divides by ||h|| instead. Classes with identical weights have no boundary between them and
    do not count. A sample at the mean itself is divided by 1e-12 instead of 0.
    """
    xp = batch.xp
    one_of(normaliser, ("distance_to_mean", "norm"), "normaliser")
    inverse = rows_of(state["inverse_distances"], batch.predicted, xp)
    own = chosen(batch.logits, batch.predicted, xp, batch.device)[:, None]
    boundary = xp.sum(xp.abs(own - batch.logits) * inverse, axis=1)
    centred = batch.features if normaliser == "norm" else batch.features - state["mean"][None, :]
    norms = row_norms(centred, xp)
    return boundary / xp.where(norms > 1e-12, norms, xp.zeros_like(norms) + 1e-12)


def fit(outputs: Outputs) -> dict[str, Any]:
    """Return the mean of the features and 1/||w_y - w_k|| for all pairs of classes, 0 where the weights are equal."""
    weight = np.asarray(outputs.head[0])
    squares = np.sum(weight**2, axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2.0 * weight @ weight.T, 0.0))
    floor = 1e-7 * np.sqrt(max(float(squares.max()), 1e-300))
    inverse = np.where(distances > floor, 1.0 / np.maximum(distances, floor), 0.0)
    return {
        "mean": _moments.mean(outputs.features),
        "inverse_distances": inverse,
        "n_features": np.int64(weight.shape[1]),
        "n_classes": np.int64(weight.shape[0]),
    }


SCORES = (
    Score(
        "fdbd",
        "Distance to decision boundaries (fDBD)",
        fdbd,
        ("logits", "features"),
        "Liu & Qin, Fast decision boundary based out-of-distribution detector, ICML 2024",
        "[0, inf)",
        fit,
        ("features", "head"),
        "train",
        grid={"normaliser": ("distance_to_mean", "norm")},
        cost="d + K",
    ),
)
