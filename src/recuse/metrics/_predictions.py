"""Checks of labels and class probabilities for the metrics that need them."""

from __future__ import annotations

import numpy as np

from recuse._checks import check_weight, matrix, refuse, same_length, to_numpy, vector
from recuse._typing import ArrayLike
from recuse.metrics._metric import Predictions


def check_predictions(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    sample_weight: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
) -> Predictions:
    """Return checked arrays: labels 0..K-1, rows of probabilities that sum to one (to 1e-3)."""
    labels = vector(to_numpy(y_true), "y_true", np, None)
    probabilities = matrix(y_proba, "y_proba")
    weight = None if sample_weight is None else vector(to_numpy(sample_weight), "sample_weight", np, None)
    score = None if confidence is None else vector(to_numpy(confidence), "confidence", np, None)
    if score is not None:
        refuse(np.isnan(score), score, "confidence", "holds NaN", "leave out these samples", np)
    same_length(y_true=labels, y_proba=probabilities, sample_weight=weight, confidence=score)
    if weight is not None:
        check_weight(weight, np)
    n_classes = probabilities.shape[1]
    foreign = ~((labels >= 0) & (labels < n_classes) & (labels == np.floor(labels)))
    refuse(foreign, labels, "y_true", f"must hold labels 0 to {n_classes - 1}", "renumber the classes", np)
    outside = ~np.all((probabilities >= 0.0) & (probabilities <= 1.0 + 1e-6), axis=1)
    extremes = np.max(np.abs(probabilities), axis=1)
    refuse(outside, extremes, "y_proba", "must hold probabilities in [0, 1]", "apply a softmax to logits first", np)
    sums = probabilities.sum(axis=1)
    refuse(np.abs(sums - 1.0) > 1e-3, sums, "y_proba", "has rows that do not sum to 1", "normalise the rows", np)
    return Predictions(labels.astype(np.intp), np.minimum(probabilities, 1.0), score, weight)
