"""A class that means "I abstain" (Deep Gamblers): removed from what predicts, and kept as a score."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._checks import closest
from abstain.outputs._columns import log_softmax
from abstain.outputs._names import Plan

#: Name of the score that is kept: one minus the probability of the class.
SCORE = "reservation"


def without_class(fields: dict[str, Any], which: int | str, plan: Plan) -> None:
    """Remove the class from logits, probabilities and passes, in place of the fields; keep 1 - its probability."""
    matrix = next((name for name in ("logits", "probabilities") if fields.get(name) is not None), None)
    if matrix is None:
        raise ValueError("abstain_class needs logits or probabilities with a column for it; give them")
    values = np.asarray(fields[matrix], dtype=np.float64)
    names = None if fields.get("class_names") is None else list(fields["class_names"])
    column = _place(which, names, values.shape[1])
    rest = [k for k in range(values.shape[1]) if k != column]
    chance = np.exp(log_softmax(values)) if matrix == "logits" else values
    if SCORE in fields["scores"]:
        raise ValueError(
            f"abstain_class keeps its score as {SCORE!r}, which the file has already; leave one of them out"
        )
    fields["scores"] = {**fields["scores"], SCORE: 1.0 - chance[:, column]}
    for name in ("logits", "probabilities"):
        if fields.get(name) is not None:
            kept = np.asarray(fields[name], dtype=np.float64)[:, rest]
            fields[name] = kept if name == "logits" else _again(kept, name)
    if fields.get("passes") is not None and np.shape(fields["passes"])[2] == values.shape[1]:
        fields["passes"] = _again(np.asarray(fields["passes"], dtype=np.float64)[:, :, rest], "passes")
    if names is not None:
        fields["class_names"] = [names[k] for k in rest]
    if fields.get("head") is not None:
        weight, bias = fields["head"]
        fields["head"] = np.asarray(weight)[rest], np.asarray(bias)[rest]


def _place(which: int | str, names: list[str] | None, width: int) -> int:
    if names is not None and str(which) in names:
        return names.index(str(which))
    try:
        place = int(which)
    except ValueError:
        hint = closest(str(which), names) if names else f"give its place, 0 to {width - 1}"
        raise ValueError(f"abstain_class={which!r} is no class; {hint}") from None
    if not -width <= place < width or width < 3:
        raise ValueError(f"abstain_class={which!r} must be one of {width} classes beside at least two others")
    return place % width


def _again(values: Any, name: str) -> Any:
    """Return probabilities of the other classes, rescaled to sum to 1."""
    total = values.sum(axis=-1, keepdims=True)
    if (total <= 0.0).any():
        row = int(np.argmax((total <= 0.0).ravel()))
        raise ValueError(f"{name}: row {row} puts all probability on the abstaining class; give logits instead")
    return values / total
