"""The columns that inference takes: a metric on tables with loss and confidence, a score for every sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recuse._checks import UnmetNeed, namespace, refuse, vector
from recuse._typing import ArrayLike, FloatArray
from recuse.metrics import Metric, Predictions, get
from recuse.metrics._predictions import check_predictions


def scored(confidence: ArrayLike) -> ArrayLike:
    """Return the scores; NaN is refused: inference has no rule for a sample without a score."""
    xp, device = namespace(confidence)
    scores = vector(confidence, "confidence", xp, device)
    refuse(xp.isnan(scores), scores, "confidence", "holds NaN", "leave these samples out, or reject them by -inf", xp)
    return scores


def as_risk(metric: Metric, data: Predictions) -> tuple[Metric, FloatArray]:
    """Return a mean over predictions as a metric on tables, and the loss whose mean it is."""
    assert metric.terms is not None
    risk = get("risk")
    on_tables = replace(metric, input="blocks", value=risk.value, gradient=risk.gradient, terms=None, options={})
    return on_tables, metric.terms(data, **metric.options)


def on_columns(metric: Metric, loss: ArrayLike, confidence: ArrayLike) -> tuple[Metric, ArrayLike, ArrayLike]:
    """Return a metric on tables with its columns; a mean over predictions is given labels and probabilities."""
    if metric.terms is None:
        return metric, loss, scored(confidence)
    if np.ndim(confidence) != 2:
        raise UnmetNeed(
            f"{metric.name} depends on no confidence score; in the places of loss and confidence give it the labels "
            "and the class probabilities, of shape (n_samples, n_classes)"
        )
    risk, terms = as_risk(metric, check_predictions(loss, confidence))
    return risk, terms, np.zeros_like(terms)
