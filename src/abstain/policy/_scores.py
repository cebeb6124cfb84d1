r"""The score of a policy that is computed from logits or probabilities: the same at calibration and in deployment.

Many rows are computed with the arithmetic of ``_plain``, to the bit.

A temperature T divides the logits; probabilities become :math:`p_k^{1/T}/\sum_j p_j^{1/T}`, which is the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from abstain._checks import one_of, positive, refuse
from abstain._classes import ROUNDING, both
from abstain._classes import probabilities as checked_probabilities
from abstain._typing import Array, ArrayLike, FloatArray
from abstain.policy import _plain
from abstain.policy._contents import Kind

#: Numbers that are held at once, so that they stay in the cache.
_PIECE = 1 << 14

#: Scores that are computed here, with the arithmetic that exported policies share; others come from ``abstain.scores``.
OWN = {"logits": ("msp", "softmax_margin", "max_logit", "logit_margin"), "probabilities": ("msp", "softmax_margin")}


def is_own(score: str, kind: str, temperature: float | None) -> bool:
    """Whether a score needs sums, products and quotients alone."""
    return score in OWN[kind] and (kind == "logits" or temperature is None)


def inputs_of(
    score: str, logits: str | Sequence[str] | None, probabilities: str | Sequence[str] | None, temperature: float | None
) -> dict[Kind, list[str]] | None:
    """Return the columns from which a score is computed, by kind; None if the score is a column itself."""
    given: dict[Kind, str | Sequence[str] | None] = {"logits": logits, "probabilities": probabilities}
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
        if not is_own(score, kind, temperature):
            compute(score, kind, np.array([[1.0, 0.0]]), temperature)
    return named or None


def compute(score: str, kind: Kind, matrix: ArrayLike, temperature: float | None = None) -> FloatArray:
    """Return the score of each row of classes as a policy computes it, to the last bit: choose the threshold on these.

    Parameters
    ----------
    score : str
        ``msp``, ``softmax_margin``, ``max_logit`` or ``logit_margin``, with the arithmetic that exported policies have;
        or another one of :func:`abstain.scores.names` that needs nothing else.
    kind : {"logits", "probabilities"}
    matrix : array-like of shape (n_samples, n_classes)
        Or (n_samples, 1): probabilities of the second of two classes.
    temperature : float or None
        Divides the logits.

    Returns
    -------
    ndarray of float
        NaN where an entry is missing or not finite.

    Raises
    ------
    ValueError, TypeError
        What are no probabilities, or no numbers; an unknown score or kind.

    Examples
    --------
    >>> import abstain
    >>> abstain.policy.compute("softmax_margin", "probabilities", [[0.75, 0.25], [0.5, 0.5]])
    array([0.5, 0. ])
    """
    if not isinstance(score, str):
        raise TypeError(f"score must be the name of a score, got one of type {type(score).__name__}")
    one_of(kind, OWN, "kind")
    temperature = None if temperature is None else positive(temperature, "temperature", "1 changes nothing")
    try:
        values = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"matrix must hold {kind}, numbers with a row per sample, got {type(matrix).__name__}"
        ) from None
    if values.ndim != 2 or not values.shape[1]:
        raise ValueError(f"matrix: {kind} must have shape (n_samples, n_classes), got {values.shape}")
    if kind == "probabilities" and values.shape[1] == 1:  # that of the second of two classes
        p = values[:, 0]
        remedy = "pass logits as logits, and fractions instead of per cent"
        outside = np.isfinite(p) & ((p < -ROUNDING) | (p > 1.0 + ROUNDING))
        refuse(outside, p, kind, "is outside [0, 1]", remedy, np)
        values = both(p)
    whole = np.isfinite(values).all(axis=1)
    if whole.all() and len(values):
        return _of_whole(score, kind, values, temperature)
    result = np.full(len(values), np.nan)
    if whole.any():
        rows = np.flatnonzero(whole)
        try:
            result[whole] = _of_whole(score, kind, values[whole], temperature)
        except ValueError as error:  # names a row among the whole ones
            raise ValueError(re.sub(r"(?<=\[)\d+", lambda row: str(rows[int(row[0])]), str(error), count=1)) from error
    return result


def _of_whole(score: str, kind: Kind, rows: FloatArray, temperature: float | None) -> FloatArray:
    if rows.shape[1] < 2:
        raise ValueError(f"{kind} need a column per class, got {rows.shape[1]}; for two classes give both, e.g. [0, z]")
    if is_own(score, kind, temperature):
        return formula(score, kind, temperature, rows)
    from abstain import scores
    from abstain.outputs import Outputs

    if temperature is not None and kind == "logits":
        rows = rows / temperature
    elif temperature is not None:
        rows = checked_probabilities(rows, "probabilities", np, None)
        rows = (rows / rows.max(axis=1, keepdims=True)) ** (1.0 / temperature)
        rows = rows / rows.sum(axis=1, keepdims=True)
    columns: dict[str, ArrayLike] = {kind: rows}
    return scores.parse(score)(Outputs(**columns, unlabelled=True))


# ---------------------------------------------------------------------- the arithmetic of _plain, for many rows


def exponential(x: FloatArray) -> FloatArray:
    """Return e**x for x <= 0."""
    x = np.maximum(x, _plain.LEAST - 1.0)
    k = np.rint(x * _plain.LOG2_E)
    r = x - k * _plain.LN2_HIGH
    r -= k * _plain.LN2_LOW
    value = np.full_like(r, _plain.TAYLOR[0])
    for coefficient in _plain.TAYLOR[1:]:
        value *= r
        value += coefficient
    value *= ((k.astype(np.int64) + 1023) << 52).view(np.float64)
    value[x < _plain.LEAST] = 0.0
    return value


def formula(score: str, kind: str, temperature: float | None, rows: FloatArray) -> FloatArray:
    """Return a score of rows of finite class values, as ``_plain.formula`` does."""
    if kind == "probabilities":
        rows = checked_probabilities(rows, "probabilities", np, None)
    found = np.empty(len(rows))
    piece = max(1, _PIECE // rows.shape[1])
    for start in range(0, len(rows), piece):
        part = slice(start, start + piece)
        found[part] = _piece(score, kind, temperature, np.ascontiguousarray(rows[part].T))
    return found


def _piece(score: str, kind: str, temperature: float | None, values: FloatArray) -> Array:
    """Return the score of some rows, which are columns here: sums then run over the classes in their order."""
    if temperature is not None:
        values = values / temperature
    top = values.max(axis=0)
    if score == "max_logit" or (score == "msp" and kind == "probabilities"):
        return top
    if score == "msp":
        return 1.0 / _total(values, top)
    second = np.partition(values, len(values) - 2, axis=0)[-2]
    if score == "logit_margin" or kind == "probabilities":
        return top - second
    return (1.0 - exponential(second - top)) / _total(values, top)


def _total(values: FloatArray, top: FloatArray) -> FloatArray:
    terms = exponential(values - top)
    total = np.zeros_like(top)
    for term in terms:
        total += term
    return total


def refuse_probabilities(rows: FloatArray) -> None:
    """Refuse what are probabilities in the place of logits."""
    rows = rows[np.isfinite(rows).all(axis=1)]
    n, width = rows.shape
    if not n:
        return
    few = rows[:2]  # of most logits the first rows show it
    if n + width <= 3 or few.min() < 0.0 or few.max() > 1.0 or rows.min() < 0.0:
        return
    if (rows != np.round(rows)).any() and (np.abs(rows.sum(axis=1) - 1.0) <= 1e-6).all():
        raise ValueError("these are probabilities, not logits: every row lies in [0, 1] and sums to 1")
