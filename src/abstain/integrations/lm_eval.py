"""lm-evaluation-harness: AURC, AUGRC and coverage at a risk as aggregations of a task, with abstentions.

``process_results`` of a task returns what :func:`answered` or :func:`chosen` give, and ``metric_list`` names the
aggregations: ``aggregation: !function abstain.integrations.lm_eval.aurc``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from abstain._typing import Document
from abstain.integrations._answers import of_answers

__all__ = ["answered", "augrc", "aurc", "chosen", "coverage_at_risk"]

#: The loss of an answer and its confidence; None where the model abstained.
_Item = Sequence[float] | None


def answered(loss: float | None, confidence: float = math.nan) -> Document:
    """Return the entries of one document: ``aurc``, ``augrc``, ``coverage_at_risk``, and ``answered``, 1 or 0.

    Parameters
    ----------
    loss : float or None
        0 for right, 1 for wrong, or between; None where the model abstained, which these metrics do not count.
    confidence : float
        Higher is more confident; NaN where the answer has none, which is rejected.
    """
    item = None if loss is None else [float(loss), float(confidence)]
    return {"aurc": item, "augrc": item, "coverage_at_risk": item, "answered": float(loss is not None)}


def chosen(results: Sequence[tuple[float, bool]], gold: int) -> Document:
    """Return the entries of a document of ``output_type: multiple_choice``, and ``acc``.

    The confidence is the probability of the chosen answer among the choices, as in the samples file that ``abstain
    evaluate`` reads.
    """
    found = np.array([float(each[0]) for each in results])
    share = np.exp(found - np.logaddexp.reduce(found))
    right = float(np.argmax(found) == gold)
    return {"acc": right, **answered(1.0 - right, float(share.max()))}


def aurc(items: Sequence[_Item]) -> float:
    """Return the area under the risk-coverage curve of the answers, :func:`abstain.aurc`."""
    return _aggregated("aurc", items)


def augrc(items: Sequence[_Item]) -> float:
    """Return the area under the generalized risk-coverage curve of the answers, :func:`abstain.augrc`."""
    return _aggregated("augrc", items)


def coverage_at_risk(items: Sequence[_Item], risk: float = 0.05) -> float:
    """Return which share of the answers a threshold may keep at this error rate, :func:`abstain.coverage_at_risk`."""
    return _aggregated(f"coverage_at_risk(risk={risk!r})", items)


def _aggregated(metric: str, items: Sequence[_Item]) -> float:
    answers = [each for each in items if each is not None]
    return of_answers(metric, [each[0] for each in answers], [each[1] for each in answers])
