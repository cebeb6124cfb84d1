"""Scores of the softmax probabilities p, computed from log-probabilities so that certainty keeps its order."""

from __future__ import annotations

import numpy as np

from recuse._typing import FloatArray
from recuse.outputs import Outputs
from recuse.scores._score import Score


def msp(outputs: Outputs) -> FloatArray:
    """max_k p_k, the estimated probability of being right."""
    if outputs.logits is None:
        return np.asarray(np.max(outputs.probabilities, axis=1))
    return np.asarray(np.exp(np.max(outputs.log_probabilities(), axis=1)))


def neg_log_error(outputs: Outputs) -> FloatArray:
    """-log(1 - max_k p_k): ordered like the MSP, also where that is 1 to the last digit.

    1 - max p is summed from the other classes, as logarithms: a logit margin of 60 gives 60, not infinity.
    Saved probabilities keep their small entries where the largest has saturated, so the ties of a float32 MSP at 1
    are resolved; elsewhere the order is that of the MSP but for the rounding of the saved values.
    """
    others = _without_top(outputs.log_probabilities())
    largest = np.max(others, axis=1)
    shift = np.where(np.isfinite(largest), largest, 0.0)  # all other probabilities 0: infinitely sure
    with np.errstate(divide="ignore"):
        return np.asarray(0.0 - (shift + np.log(np.sum(np.exp(others - shift[:, None]), axis=1))))


def neg_entropy(outputs: Outputs) -> FloatArray:
    """sum_k p_k log p_k, with 0 log 0 = 0."""
    log_p = outputs.log_probabilities()
    terms = np.exp(log_p) * np.where(np.isfinite(log_p), log_p, 0.0)
    return np.asarray(np.minimum(np.sum(terms, axis=1), 0.0))


def softmax_margin(outputs: Outputs) -> FloatArray:
    """p_(1) - p_(2), the lead of the first class over the second."""
    log_p = outputs.log_probabilities()
    first, second = np.max(log_p, axis=1), np.max(_without_top(log_p), axis=1)
    return np.asarray(np.exp(first) - np.exp(second))


def neg_gini(outputs: Outputs) -> FloatArray:
    """-sum_k p_k (1 - p_k) = sum_k p_k^2 - 1, with 1 - max p summed from the other classes."""
    log_p = outputs.log_probabilities()
    others = np.exp(_without_top(log_p))
    rest = np.sum(others, axis=1)
    top = np.exp(np.max(log_p, axis=1))
    return np.asarray(0.0 - (top * rest + np.sum(others * (1.0 - others), axis=1)))


def _without_top(log_p: FloatArray) -> FloatArray:
    """Return log-probabilities with -inf for the (first) most probable class."""
    others = log_p.copy()
    np.put_along_axis(others, np.argmax(log_p, axis=1)[:, None], -np.inf, axis=1)
    return others


_HENDRYCKS = "Hendrycks & Gimpel, A baseline for detecting misclassified and out-of-distribution examples, ICLR 2017"

SCORES = (
    Score("msp", "Maximum softmax probability", msp, "probabilities", _HENDRYCKS, "[1/K, 1]"),
    Score(
        "neg_log_error",
        "-log(1 - MSP)",
        neg_log_error,
        "probabilities",
        "the MSP on a scale that does not saturate; Granese et al., DOCTOR, NeurIPS 2021 (D_beta) has the same order",
        "[-log(1 - 1/K), inf]",
    ),
    Score("neg_entropy", "Negative entropy", neg_entropy, "probabilities", "Shannon 1948", "[-log K, 0]"),
    Score(
        "softmax_margin",
        "Softmax margin",
        softmax_margin,
        "probabilities",
        "Scheffer et al., Active hidden Markov models for information extraction, IDA 2001",
        "[0, 1]",
    ),
    Score(
        "neg_gini",
        "Negative Gini impurity",
        neg_gini,
        "probabilities",
        "Granese et al., DOCTOR: a simple method for detecting misclassification errors, NeurIPS 2021 (D_alpha)",
        "[1/K - 1, 0]",
    ),
)
