"""NLL and Brier score of the probability vector as what they are: the risk of a loss per sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recuse._checks import UnmetNeed
from recuse._typing import ArrayLike, FloatArray
from recuse.metrics import Metric, Predictions, get
from recuse.metrics._predictions import check_predictions


def as_risk(metric: Metric, data: Predictions) -> tuple[Metric, FloatArray]:
    """Return a mean over predictions as a metric on tables, and the loss whose mean it is."""
    assert metric.terms is not None
    risk = get("risk")
    on_tables = replace(metric, input="blocks", value=risk.value, gradient=risk.gradient, terms=None, options={})
    return on_tables, metric.terms(data, **metric.options)


def on_columns(metric: Metric, loss: ArrayLike, confidence: ArrayLike) -> tuple[Metric, ArrayLike, ArrayLike]:
    """Return a metric on tables with its columns; a mean over predictions is given labels and probabilities."""
    if metric.terms is None:
        return metric, loss, confidence
    if np.ndim(confidence) != 2:
        raise UnmetNeed(
            f"{metric.name} depends on no confidence score; in the places of loss and confidence give it the labels "
            "and the class probabilities, of shape (n_samples, n_classes)"
        )
    risk, terms = as_risk(metric, check_predictions(loss, confidence))
    return risk, terms, np.zeros_like(terms)
