"""The output unit by which a network abstains (Deep Gamblers): taken off the classes, kept as a score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain._typing import FloatArray
from abstain.outputs._columns import log_softmax


def without_unit(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return checked matrices without their last column, and scores with minus the probability of that column.

    The probabilities of the classes are divided by their sum, which logits do of themselves.
    """
    changed: dict[str, Any] = {}
    scores: dict[str, FloatArray] = {}
    if given["logits"] is not None:
        changed["logits"] = given["logits"][:, :-1]
        scores["neg_reservation"] = -np.exp(log_softmax(given["logits"])[:, -1])
    if given["probabilities"] is not None:
        changed["probabilities"] = _renormalised(given["probabilities"])
        scores.setdefault("neg_reservation", -given["probabilities"][:, -1])
    if given["passes"] is not None:
        changed["passes"] = _renormalised(given["passes"])
        unit: FloatArray = np.mean(given["passes"][..., -1], axis=0, dtype=np.float64)
        scores["pass_neg_reservation"] = -unit
    if not changed:
        raise ValueError("abstention_unit=True needs logits, probabilities or passes, whose last column is the unit")
    return changed | {"scores": scores}


def _renormalised(p: Any) -> Any:
    """Return the other columns divided by their sum; equal shares where nothing is left for them."""
    rest = p[..., :-1]
    total = rest.sum(axis=-1, keepdims=True)
    equal = np.full_like(rest, 1.0 / rest.shape[-1])
    return np.divide(rest, total, out=equal, where=total > 0.0)
