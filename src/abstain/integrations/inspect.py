"""Inspect: AURC, AUGRC and coverage at a risk as metrics of a scorer, with the model's own abstentions.

A scorer gives the confidence of an answer in ``Score.metadata["confidence"]``, as a number or in words such as
``"90 %"``; higher is more confident, and an answer without one is rejected. The value of a score is "C" for correct,
"I" for incorrect, "P" for half, a quality from 0 to 1, or "N" for an abstention. Metrics are about the answers: an
abstention is not counted, but by :func:`answered`. Epochs are not averaged first, so each answer keeps its confidence.
The numbers are those of ``abstain.evaluate("run.eval")``, which reads the log.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from abstain.integrations._answers import of_answers
from abstain.outputs.readers import spoken

__all__ = ["answered", "augrc", "aurc", "coverage_at_risk"]

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0}


def _registered(build: Callable[..., Any]) -> Callable[..., Any]:
    """Give a metric its place in the registry of Inspect, which finds it there by the name in a log."""
    if find_spec("inspect_ai") is None:
        return build
    from inspect_ai.scorer import metric

    registered: Callable[..., Any] = metric(scores="unreduced")(build)
    return registered


@_registered
def aurc() -> Any:
    """Return the area under the risk-coverage curve of the answers, :func:`abstain.aurc`."""
    return _metric("aurc")


@_registered
def augrc() -> Any:
    """Return the area under the generalized risk-coverage curve of the answers, :func:`abstain.augrc`."""
    return _metric("augrc")


@_registered
def coverage_at_risk(risk: float = 0.05) -> Any:
    """Return which share of the answers a threshold may keep at this error rate, :func:`abstain.coverage_at_risk`."""
    return _metric(f"coverage_at_risk(risk={risk!r})")


@_registered
def answered() -> Any:
    """Return which share of the questions the model answered; at the others it abstained."""

    def share(scores: list[Any]) -> float:
        return float(np.mean([not _abstained(each.score) for each in scores])) if scores else math.nan

    return share


def _abstained(score: Any) -> bool:
    return bool(score.value == "N")


def _metric(metric: str) -> Callable[[list[Any]], float]:
    """Return a metric of Inspect: a number of the scores of all samples."""

    def value(scores: list[Any]) -> float:
        answers = [each.score for each in scores if not _abstained(each.score)]
        given = [(each.metadata or {}).get("confidence") for each in answers]
        if answers and all(each is None for each in given):
            raise ValueError("no score has a confidence; let the scorer give Score(metadata={'confidence': ...})")
        quality = np.array([_LETTERS.get(each.value, each.value) for each in answers], dtype=np.float64)
        return of_answers(metric, 1.0 - quality, spoken([each if each is None else str(each) for each in given]))

    return value
