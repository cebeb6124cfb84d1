"""The columns that inference takes: a metric on tables with loss and confidence, a score for every sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from abstain._checks import UnmetNeed, namespace, refuse, vector
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.metrics import Metric, Predictions, Value, get, parse
from abstain.metrics._predictions import check_predictions


def as_metric(metric: str | Metric) -> Metric:
    """Return a metric given by name, with options in parentheses if wanted, or as it is."""
    if isinstance(metric, str):
        return parse(metric)
    if not isinstance(metric, Metric):
        raise TypeError(f'metric must be a name such as "augrc", or a Metric from abstain.metrics.get, got {metric!r}')
    return metric


def as_metrics(given: str | Metric | Iterable[str | Metric], name: str) -> list[Metric]:
    """Return at least one metric, from one or several."""
    if isinstance(given, str | Metric) or not isinstance(given, Iterable):
        given = [given]
    chosen = [as_metric(entry) for entry in given]
    if not chosen:
        raise ValueError(f'{name} is empty; name at least one, such as "augrc"')
    return chosen


def check_scored(metric: Metric) -> None:
    """Refuse a metric of probabilities, which no table of losses and scores gives."""
    if metric.input != "blocks":
        raise UnmetNeed(
            f"{metric.name} takes probabilities, not a loss with a score; for a mean over predictions "
            'give its terms as loss, such as losses.cross_entropy or losses.brier, with metric="risk"'
        )


def evaluated(metric: Metric, blocks: TieBlocks) -> Value:
    """Return the value and why there is none; a risk that no threshold attains is attained at coverage 0."""
    found = metric.evaluate(blocks)
    return Value(0.0) if found.reason is not None and metric.name == "coverage_at_risk" else found


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
        check_scored(metric)
        return metric, loss, scored(confidence)
    if np.ndim(confidence) != 2:
        raise UnmetNeed(
            f"{metric.name} depends on no confidence score; in the places of loss and confidence give it the labels "
            "and the class probabilities, of shape (n_samples, n_classes)"
        )
    risk, terms = as_risk(metric, check_predictions(loss, confidence))
    return risk, terms, np.zeros_like(terms)
