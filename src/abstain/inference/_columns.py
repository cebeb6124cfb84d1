"""First of five steps, columns -> table -> influence -> spread -> interval: a metric and its checked table."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from abstain._checks import UnmetNeed, namespace, refuse, vector
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.metrics import Metric, Predictions, Value, check_predictions, mean_of_terms, parse


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
    if isinstance(given, np.ndarray):
        raise TypeError(f'{name} must be a name such as "augrc" or a list of names, got an array')
    chosen = [as_metric(entry) for entry in given]
    if not chosen:
        raise ValueError(f'{name} is empty; name at least one, such as "augrc"')
    return chosen


def check_scored(metric: Metric) -> None:
    """Refuse a metric of probabilities, which no table of losses and scores gives."""
    if metric.input == "joint":
        raise UnmetNeed(
            f"{metric.name} takes scores of ID and OOD samples; use abstain.joint.evaluate, or {metric.home} itself"
        )
    if metric.input == "probabilities":
        raise UnmetNeed(
            f"{metric.name} takes probabilities, not a loss with a score; for a mean over predictions "
            'give its terms as loss, such as losses.cross_entropy or losses.brier, with metric="risk"'
        )


def evaluated(metric: Metric, blocks: TieBlocks) -> Value:
    """Return the value and why there is none; what no threshold attains has the value that the metric gives it."""
    found = metric.evaluate(blocks)
    return found if found.reason is None or metric.unattained is None else Value(metric.unattained)


def scored(confidence: ArrayLike) -> ArrayLike:
    """Return the scores; NaN is refused: inference has no rule for a sample without a score."""
    xp, device = namespace(confidence)
    scores = vector(confidence, "confidence", xp, device)
    refuse(xp.isnan(scores), scores, "confidence", "holds NaN", "leave these samples out, or reject them by -inf", xp)
    return scores


def as_risk(metric: Metric, data: Predictions) -> tuple[Metric, FloatArray]:
    """Return a mean over predictions as a metric on tables, and the loss whose mean it is."""
    assert metric.terms is not None
    return mean_of_terms(metric), metric.terms(data, **metric.options)


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


def tables(metric: Metric, loss: ArrayLike, confidence: ArrayLike, sample_weight: ArrayLike | None = None) -> TieBlocks:
    """Return the table with samples, and with the oracle's where the metric needs it."""
    return TieBlocks.from_samples(loss, confidence, sample_weight, keep_samples=True, oracle="oracle" in metric.needs)


def is_plain(blocks: TieBlocks) -> bool:
    """Whether the table counts 0/1 losses, each sample once; weights of ties can sum to their number and not be 1."""
    return blocks.once("plain", lambda: _counts(blocks))


def _counts(blocks: TieBlocks) -> bool:
    weight = None if blocks.samples is None else blocks.samples.sample_weight
    ones = blocks.frequencies if weight is None else bool((weight == 1.0).all())
    return blocks.binary and ones and np.array_equal(blocks.weight, blocks.count)
