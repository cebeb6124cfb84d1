"""How a source was read: which column plays which part, by which arguments, and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.outputs._arguments import Columns

if TYPE_CHECKING:
    from abstain.outputs._outputs import Outputs

_MOST_CLASSES = 4


@dataclass(frozen=True)
class Reading:
    """How a source was read; :func:`read_outputs` makes it, once, and :class:`Outputs` keeps it.

    Parameters
    ----------
    given : Columns
        The arguments that the caller gave.
    single, matrix : dict
        Field -> the name of its column as it stands, and the names of the columns of its matrix.
    scores : dict of str to str
        Score -> its column.
    levels : list of str or None
        By which ``confidence_levels`` a confidence in words or per cent was read.
    words : dict of str to str
        Field of ``Outputs`` -> the column, or how it was made, in words.
    rows : str
        Which rows were read, if not all.
    notes : tuple of str
        What the reader should know.
    unused : tuple of str
        Columns that are not used, but for those of truth values.
    labelled : dict of str to str
        Of a pool of which some rows are labelled: what was understood of these that the others do not have.

    Examples
    --------
    >>> import abstain
    >>> reading = abstain.read_outputs({"y": [0, 1], "pred": [0, 0], "entropy": [0.1, 0.6]}).reading
    >>> reading.single["uncertainty"], reading.words["confidence"]
    ('entropy', 'minus `entropy`')
    """

    given: Columns = field(default_factory=Columns)
    single: Mapping[str, str] = field(default_factory=dict)
    matrix: Mapping[str, list[str]] = field(default_factory=dict)
    scores: Mapping[str, str] = field(default_factory=dict)
    levels: list[str] | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    rows: str = ""
    notes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    labelled: Mapping[str, str] = field(default_factory=dict)

    def column(self, name: str) -> str:
        """Return the column of a field in words."""
        return self.words.get(name, "as given")


def understood(outputs: Outputs, default: str = "", loss: Any = None) -> dict[str, str]:
    """Return part -> what it is, in words.

    ``default`` names the score that stands for the confidence, where that is no column. ``loss``: that of all rows,
    where these are the first.
    """
    reading = outputs.reading or Reading()
    found: dict[str, str] = {}
    if reading.rows:
        found["rows"] = reading.rows
    if outputs.labels is not None:
        found["labels"] = f"{reading.column('labels')} ({_classes(outputs, reading)})"
    found |= reading.labelled
    found["prediction"] = _prediction(outputs, reading) or found.get("prediction", "")
    found["confidence"] = _confidence(outputs, reading, default)
    found["loss"] = _loss(outputs, reading, outputs.loss if loss is None else loss) or found.pop("loss", "")
    one = {"clusters": "cluster", "sample_weight": "weights", "ids": "id", "features": "features", "passes": "passes"}
    for name, called in one.items():
        if getattr(outputs, name) is not None:
            found[called] = reading.column(name)
    for name, called in (("groups", "groups"), ("scores", "other scores")):
        if getattr(outputs, name):
            found[called] = ", ".join(f"`{each}`" for each in list(getattr(outputs, name))[:6])
    return {part: text for part, text in found.items() if text}


def sentence(parts: Mapping[str, str]) -> str:
    """Return what was understood as one line."""
    return " · ".join(f"{part} {text}" for part, text in parts.items())


def _classes(outputs: Outputs, reading: Reading) -> str:
    if outputs.class_names is None:
        columns = reading.matrix.get("logits") or reading.matrix.get("probabilities") or []
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


def _prediction(outputs: Outputs, reading: Reading) -> str:
    if outputs.predictions is not None:
        return reading.column("predictions")
    matrix = _matrix(outputs)
    if matrix and outputs.labels is not None:
        return f"the largest of {reading.words.get(matrix, matrix)}"
    return "the largest mean of the passes" if outputs.passes is not None and outputs.labels is not None else ""


def _confidence(outputs: Outputs, reading: Reading, default: str) -> str:
    if outputs.confidence is not None and default in ("", "confidence"):
        return reading.column("confidence")
    matrix = _matrix(outputs)
    if default not in ("", "msp"):
        return default
    largest = {"logits": "the largest softmax of", "probabilities": "the largest of"}
    return f"{largest[matrix]} {reading.words.get(matrix, matrix)}" if matrix else ""


def _loss(outputs: Outputs, reading: Reading, loss: Any) -> str:
    if outputs.loss is None:
        return "0/1" if outputs.labels is not None else ""
    low, high = float(np.min(loss)), float(np.max(loss))
    return f"{reading.column('loss')} ({low:.4g} to {high:.4g})"


def quoted(names: Any) -> str:
    """Return columns of a matrix as a sentence names them."""
    names = list(names)
    if len(names) <= 3:
        return ", ".join(f"`{name}`" for name in names)
    return f"`{names[0]}` … `{names[-1]}` ({len(names)} columns)"
