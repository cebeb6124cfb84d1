"""Decide many rows at once: the arithmetic of ``_plain``, to the bit, in pieces that stay in the cache."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._classes import probabilities
from abstain._typing import FloatArray, IntArray
from abstain.policy import _plain

#: Numbers that are held at once.
_PIECE = 1 << 14


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
        rows = probabilities(rows, "probabilities", np, None)
    found = np.empty(len(rows))
    piece = max(1, _PIECE // rows.shape[1])
    for start in range(0, len(rows), piece):
        part = slice(start, start + piece)
        found[part] = _piece(score, kind, temperature, np.ascontiguousarray(rows[part].T))
    return found


def _piece(score: str, kind: str, temperature: float | None, values: FloatArray) -> Any:
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


def _total(values: FloatArray, top: FloatArray) -> Any:
    terms = exponential(values - top)
    total = np.zeros_like(top)
    for term in terms:
        total += term
    return total


def no_probabilities(rows: FloatArray) -> None:
    """Refuse what are probabilities in the place of logits."""
    rows = rows[np.isfinite(rows).all(axis=1)]
    n, width = rows.shape
    if not n:
        return
    few = rows[:2]  # of most logits the first row tells
    if n + width <= 3 or few.min() < 0.0 or few.max() > 1.0 or rows.min() < 0.0 or rows.max() > 1.0:
        return
    if (rows != np.round(rows)).any() and (np.abs(rows.sum(axis=1) - 1.0) <= 1e-6).all():
        raise ValueError("these are probabilities, not logits: every row lies in [0, 1] and sums to 1")


def reasons(score: FloatArray, limit: Any, second: FloatArray | None, second_limit: float, declined: Any) -> IntArray:
    """Return the reason of each row, by number; a limit of NaN stands for an unknown group."""
    found = np.where(score >= limit, _plain.ACCEPTED, _plain.BELOW).astype(np.int8)
    missing = np.isnan(score)
    if second is not None:
        found[(found == _plain.ACCEPTED) & ~(second >= second_limit)] = _plain.BELOW_SECOND
        missing |= np.isnan(second)
    found[missing] = _plain.MISSING
    if np.ndim(limit):
        found[limit == np.inf] = _plain.CLOSED
        found[np.isnan(limit)] = _plain.UNKNOWN
    elif limit == np.inf:
        found[:] = _plain.CLOSED
    if declined is not None:
        found[declined] = _plain.DECLINED
    return found  # type: ignore[return-value]
