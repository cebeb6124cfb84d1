"""Checks of labels and class probabilities for the metrics that need them."""

from __future__ import annotations

import numpy as np

from abstain._checks import check_weight, refuse, same_length, to_numpy, vector
from abstain._classes import class_labels
from abstain._classes import probabilities as matrix_of
from abstain._typing import ArrayLike
from abstain.metrics._gradient import Predictions


def check_predictions(
    labels: ArrayLike,
    probabilities: ArrayLike,
    sample_weight: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
) -> Predictions:
    """Return checked arrays: labels 0..K-1, rows of probabilities that sum to one (to 1e-3)."""
    matrix = matrix_of(probabilities, "probabilities", np, None)
    classes = class_labels(to_numpy(labels), "labels", np, None, matrix.shape[1])
    weight = None if sample_weight is None else vector(to_numpy(sample_weight), "sample_weight", np, None)
    score = None if confidence is None else vector(to_numpy(confidence), "confidence", np, None)
    if score is not None:
        refuse(np.isnan(score), score, "confidence", "holds NaN", "leave out these samples", np)
    same_length(labels=classes, probabilities=matrix, sample_weight=weight, confidence=score)
    if weight is not None:
        check_weight(weight, np)
    return Predictions(classes.astype(np.intp), matrix, score, weight)
