"""Scores of the logits z themselves, whose scale a softmax would lose."""

from __future__ import annotations

import numpy as np

from recuse._typing import FloatArray
from recuse.outputs import Outputs
from recuse.scores._score import Score


def max_logit(outputs: Outputs) -> FloatArray:
    """max_k z_k."""
    return np.asarray(np.max(outputs.logits, axis=1))


def logit_margin(outputs: Outputs) -> FloatArray:
    """z_(1) - z_(2), the lead of the first class over the second before the softmax."""
    logits = np.asarray(outputs.logits)
    top = np.partition(logits, -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


def energy(outputs: Outputs) -> FloatArray:
    """LSE(z) = log sum_k exp z_k, the negative free energy at temperature 1."""
    largest = np.max(outputs.logits, axis=1)
    return np.asarray(largest + np.log(np.sum(np.exp(np.asarray(outputs.logits) - largest[:, None]), axis=1)))


SCORES = (
    Score(
        "max_logit",
        "Maximum logit",
        max_logit,
        "logits",
        "Hendrycks et al., Scaling out-of-distribution detection for real-world settings, ICML 2022",
        "(-inf, inf)",
    ),
    Score(
        "logit_margin",
        "Logit margin",
        logit_margin,
        "logits",
        "difference of the two largest logits",
        "[0, inf)",
    ),
    Score(
        "energy",
        "Energy",
        energy,
        "logits",
        "Liu et al., Energy-based out-of-distribution detection, NeurIPS 2020",
        "(-inf, inf)",
    ),
)
