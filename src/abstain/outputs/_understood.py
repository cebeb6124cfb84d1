"""What outputs were understood to be: which column plays which part, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from abstain.outputs._outputs import Outputs

#: Fields that hold a column or matrix, and what they are called in a sentence.
_CALLED = {
    "labels": "labels", "predictions": "prediction", "confidence": "confidence", "loss": "loss",
    "sample_weight": "weights",    "clusters": "cluster", "ids": "id", "features": "features", "passes": "passes",
}  # fmt: skip
_MOST_CLASSES = 4


@dataclass(frozen=True)
class Origin:
    """Where the columns of outputs came from, and what was noted on the way.

    Parameters
    ----------
    columns : dict of str to str
        Field of ``Outputs`` -> the column, or how it was made, in words.
    rows : str
        Which rows were read, if not all.
    notes : tuple of str
        What the reader should know.
    single, matrix : dict
        Field -> the name of its column as it stands, and the names of the columns of its matrix.
    rest : tuple of str
        Columns that are not used, but for those of truth values.
    levels : list of str or None
        By which ``confidence_levels`` a confidence in words or per cent was read.
    truth : dict of str to str
        Of a pool of which some rows are labelled: what was understood of these that the others do not have.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    rows: str = ""
    notes: tuple[str, ...] = ()
    single: Mapping[str, str] = field(default_factory=dict)
    matrix: Mapping[str, list[str]] = field(default_factory=dict)
    rest: tuple[str, ...] = ()
    levels: list[str] | None = None
    truth: Mapping[str, str] = field(default_factory=dict)


def understood(outputs: Outputs, default: str = "", loss: Any = None) -> dict[str, str]:
    """Return part -> what it is, in words.

    ``default`` names the score that stands for the confidence, where that is no column. ``loss``: that of all rows,
    where these are the first.
    """
    origin = outputs.origin or Origin()
    found: dict[str, str] = {}
    if origin.rows:
        found["rows"] = origin.rows
    if outputs.labels is not None:
        found["labels"] = f"{_column(origin, 'labels')} ({_classes(outputs, origin)})"
    found |= origin.truth
    found["prediction"] = _prediction(outputs, origin) or found.get("prediction", "")
    found["confidence"] = _confidence(outputs, origin, default)
    found["loss"] = _loss(outputs, origin, outputs.loss if loss is None else loss) or found.pop("loss", "")
    for name in ("clusters", "sample_weight", "ids", "features", "passes"):
        if getattr(outputs, name) is not None:
            found[_CALLED[name]] = _column(origin, name)
    for name, called in (("groups", "groups"), ("scores", "other scores")):
        if getattr(outputs, name):
            found[called] = ", ".join(f"`{each}`" for each in list(getattr(outputs, name))[:6])
    return {part: text for part, text in found.items() if text}


def sentence(parts: Mapping[str, str]) -> str:
    """Return what was understood as one line."""
    return " · ".join(f"{part} {text}" for part, text in parts.items())


def _column(origin: Origin, name: str) -> str:
    return origin.columns.get(name, "as given")


def _classes(outputs: Outputs, origin: Origin) -> str:
    if outputs.class_names is None:
        columns = origin.matrix.get("logits") or origin.matrix.get("probabilities") or []
        if len(columns) != outputs.n_classes or all(name.endswith(str(k)) for k, name in enumerate(columns)):
            return f"{outputs.n_classes} classes"
        order = ", ".join(f"{k} is `{name}`" for k, name in enumerate(columns[:_MOST_CLASSES]))
        return (
            f"{outputs.n_classes} classes by the order of the columns: {order}{', …' * (len(columns) > _MOST_CLASSES)}"
        )
    names = list(outputs.class_names)
    shown = ", ".join(names[:_MOST_CLASSES]) + (", …" if len(names) > _MOST_CLASSES else "")
    return f"{len(names)} classes: {shown}"


def _matrix(outputs: Outputs) -> str:
    return "logits" if outputs.logits is not None else "probabilities" if outputs.probabilities is not None else ""


def _prediction(outputs: Outputs, origin: Origin) -> str:
    if outputs.predictions is not None:
        return _column(origin, "predictions")
    matrix = _matrix(outputs)
    if matrix and outputs.labels is not None:
        return f"the largest of {origin.columns.get(matrix, matrix)}"
    return "the largest mean of the passes" if outputs.passes is not None and outputs.labels is not None else ""


def _confidence(outputs: Outputs, origin: Origin, default: str) -> str:
    if outputs.confidence is not None and default in ("", "confidence"):
        return _column(origin, "confidence")
    matrix = _matrix(outputs)
    if default not in ("", "msp"):
        return default
    largest = {"logits": "the largest softmax of", "probabilities": "the largest of"}
    return f"{largest[matrix]} {origin.columns.get(matrix, matrix)}" if matrix else ""


def _loss(outputs: Outputs, origin: Origin, loss: Any) -> str:
    if outputs.loss is None:
        return "0/1" if outputs.labels is not None else ""
    low, high = float(np.min(loss)), float(np.max(loss))
    return f"{_column(origin, 'loss')} ({low:.4g} to {high:.4g})"


def quoted(names: Any) -> str:
    """Return columns of a matrix as a sentence names them."""
    names = list(names)
    if len(names) <= 3:
        return ", ".join(f"`{name}`" for name in names)
    return f"`{names[0]}` … `{names[-1]}` ({len(names)} columns)"
