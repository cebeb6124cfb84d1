"""Temperature scaling that converges, and the scores of the scaled softmax."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from abstain._checks import positive
from abstain._typing import FloatArray, IntArray
from abstain.outputs import Outputs
from abstain.scores import _softmax
from abstain.scores._batch import Batch
from abstain.scores._score import Score

#: Temperatures are looked for between exp(-4) and exp(4).
LOG_RANGE = 4.0


def temp_msp(batch: Batch, state: dict[str, Any]) -> Any:
    """max_k softmax(z/T)_k with the temperature T of the least cross-entropy on the fit data.

    Tables of failure detection call this score TEMP-MLS; it is no maximum logit (max z/T has the order of max z).
    T changes the order of the samples as soon as there are more than two classes. ``temperature=`` fixes it. The
    optimum is found by Newton steps in a bracket, T in [exp(-4), exp(4)]; where it lies at an end, as for fit data
    without errors, there is a warning.
    """
    return _softmax.msp(_scaled(batch, state))


def temp_neg_log_error(batch: Batch, state: dict[str, Any]) -> Any:
    """-log(1 - max_k softmax(z/T)_k): ordered like ``temp_msp``, also where that is 1 to the last digit."""
    return _softmax.neg_log_error(_scaled(batch, state))


def fit(outputs: Outputs, *, temperature: float | None = None) -> dict[str, Any]:
    """Return the temperature."""
    logits = np.asarray(outputs.logits)
    if temperature is None:
        temperature = best_temperature(logits, np.asarray(outputs.labels))
        if abs(np.log(temperature)) > LOG_RANGE - 1e-9:
            warnings.warn(
                f"the temperature stopped at the end of its range, {temperature:.4g}: the fit data have no errors, or "
                "their logits say nothing; give more fit data or temperature=",
                stacklevel=5,
            )
    return {"temperature": np.float64(positive(temperature, "temperature")), "n_classes": np.int64(logits.shape[1])}


def best_temperature(logits: FloatArray, labels: IntArray) -> float:
    """Return argmin_T mean cross-entropy of softmax(z/T).

    The cross-entropy is convex in b = 1/T with derivative mean(E_p[z] - z_y) and second derivative mean(Var_p[z]),
    p = softmax(b z).
    """
    centred = logits - logits.max(axis=1, keepdims=True)
    hit = centred[np.arange(len(labels)), labels].mean()
    centred = np.sort(np.ascontiguousarray(centred), axis=1)  # sums over classes in one order, whatever theirs
    low, high = np.exp(-LOG_RANGE), np.exp(LOG_RANGE)
    if _slope(centred, hit, low)[0] >= 0.0:
        return float(1.0 / low)
    if _slope(centred, hit, high)[0] <= 0.0:
        return float(1.0 / high)
    b = 1.0
    for _ in range(200):
        slope, curvature = _slope(centred, hit, b)
        low, high = (b, high) if slope < 0.0 else (low, b)
        step = b - slope / curvature if curvature > 0.0 else low
        new = step if low < step < high else float(np.sqrt(low * high))
        if abs(new - b) <= 1e-14 * b:
            break
        b = new
    return float(1.0 / b)


def _slope(centred: FloatArray, hit: float, b: float) -> tuple[float, float]:
    p = np.exp(b * centred)
    p /= p.sum(axis=1, keepdims=True)
    mean = np.sum(p * centred, axis=1)
    return float(mean.mean() - hit), float(np.mean(np.sum(p * centred**2, axis=1) - mean**2))


def _scaled(batch: Batch, state: dict[str, Any]) -> Batch:
    return replace(batch, logits=batch.logits / float(state["temperature"]))


_GUO = "Guo et al., On calibration of modern neural networks, ICML 2017"

SCORES = (
    Score(
        "temp_msp", "Temperature-scaled MSP", temp_msp, ("logits",), _GUO, "[1/K, 1]", fit, ("logits", "labels"),
        "validation",
    ),
    Score(
        "temp_neg_log_error", "-log(1 - temperature-scaled MSP)", temp_neg_log_error, ("logits",), _GUO,
        "[-log(1 - 1/K), inf]", fit, ("logits", "labels"), "validation",
    ),
)  # fmt: skip
