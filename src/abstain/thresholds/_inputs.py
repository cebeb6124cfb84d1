r"""The score of a policy that is computed from logits or probabilities: the same at calibration and in deployment.

A temperature T divides the logits; probabilities become :math:`p_k^{1/T}/\sum_j p_j^{1/T}`, which is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from abstain._checks import positive
from abstain._typing import ArrayLike, FloatArray
from abstain.outputs import Outputs, both

Kind = Literal["logits", "probabilities"]


def inputs_of(
    score: str, logits: str | Sequence[str] | None, probabilities: str | Sequence[str] | None, temperature: float | None
) -> dict[str, list[str]] | None:
    """Return the columns from which a score is computed, by kind; None if the score is a column itself."""
    given: dict[Kind, Any] = {"logits": logits, "probabilities": probabilities}
    named = {kind: [names] if isinstance(names, str) else list(names) for kind, names in given.items() if names}
    if len(named) > 1:
        raise TypeError("give logits= or probabilities=, not both: the score is computed from one of them")
    temperature = None if temperature is None else positive(temperature, "temperature", "1 changes nothing")
    if temperature is not None and not named:
        raise ValueError(
            f"temperature={temperature:g} applies to logits or probabilities, but the score {score!r} is a finished "
            "column; name the columns of the classes with logits= or probabilities=, or leave the temperature out"
        )
    for kind in named:  # an unknown score, a fitted one, or one that needs more is refused here
        compute(score, kind, np.array([[1.0, 0.0]]), temperature)
    return {str(kind): names for kind, names in named.items()} or None


def compute(score: str, kind: Kind, matrix: ArrayLike, temperature: float | None) -> FloatArray:
    """Return the score of each row of classes; NaN where an entry is missing or not finite."""
    from abstain import scores

    values = np.asarray(matrix, dtype=np.float64)
    if kind == "probabilities" and values.ndim == 2 and values.shape[1] == 1:  # that of the second of two classes
        values = both(values[:, 0])
    whole = np.isfinite(values).all(axis=1)
    result = np.full(len(values), np.nan)
    if not whole.any():
        return result
    rows = values[whole]
    if temperature is not None and kind == "logits":
        rows = rows / temperature
    elif temperature is not None:
        Outputs(probabilities=rows, unlabelled=True)  # refuses what are no probabilities, before they are scaled
        rows = (rows / rows.max(axis=1, keepdims=True)) ** (1.0 / temperature)
        rows = rows / rows.sum(axis=1, keepdims=True)
    columns: dict[str, Any] = {kind: rows}
    result[whole] = scores.parse(score)(Outputs(**columns, unlabelled=True))
    return result
