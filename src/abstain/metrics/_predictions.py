"""Checks of labels and class probabilities for the metrics that need them."""

from __future__ import annotations

import numpy as np

from abstain._checks import check_weight, refuse, same_length, to_numpy, vector
from abstain._classes import class_labels, probabilities
from abstain._typing import ArrayLike
from abstain.metrics._gradient import Predictions


def check_predictions(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    sample_weight: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
) -> Predictions:
    """Return checked arrays: labels 0..K-1, rows of probabilities that sum to one (to 1e-3)."""
    proba = probabilities(y_proba, "y_proba", np, None)
    labels = class_labels(to_numpy(y_true), "y_true", np, None, proba.shape[1])
    weight = None if sample_weight is None else vector(to_numpy(sample_weight), "sample_weight", np, None)
    score = None if confidence is None else vector(to_numpy(confidence), "confidence", np, None)
    if score is not None:
        refuse(np.isnan(score), score, "confidence", "holds NaN", "leave out these samples", np)
    same_length(y_true=labels, y_proba=proba, sample_weight=weight, confidence=score)
    if weight is not None:
        check_weight(weight, np)
    return Predictions(labels.astype(np.intp), proba, score, weight)
