"""KL matching: how far the softmax is from the mean softmax of each predicted class."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._checks import not_negative
from abstain.outputs import Outputs
from abstain.scores._arrays import x_log_y
from abstain.scores._batch import Batch
from abstain.scores._score import Score


def klm(batch: Batch, state: dict[str, Any]) -> Any:
    """-min_k KL(p || q_k), q_k the mean softmax of the fit samples that are predicted as class k.

    KL(p || q_k) = sum_j p_j log p_j - sum_j p_j log q_kj for all k is one matrix product. The minimum is over all
    classes. Templates are clipped at 1e-12 and normalised, so the divergence stays finite; the template of a class
    that is never predicted is that class alone. ``shrinkage=a`` replaces q_k by (m_k q_k + a q)/(m_k + a), with m_k
    samples and the mean softmax q of all: worth a try where a class has few.
    """
    xp = batch.xp
    own = xp.sum(x_log_y(batch.p, batch.log_p, xp), axis=1)
    cross = xp.max(batch.p @ state["log_templates"].T, axis=1)
    value = cross - own
    return xp.where(value < 0.0, value, xp.zeros_like(value))


def fit(outputs: Outputs, *, shrinkage: float = 0.0) -> dict[str, Any]:
    """Average the softmax by predicted class."""
    shrinkage = not_negative(shrinkage, "shrinkage")
    p = np.exp(outputs.log_probabilities())
    width = p.shape[1]
    predicted = outputs.predicted()
    counts = np.bincount(predicted, minlength=width).astype(np.float64)[:, None]
    sums = np.zeros((width, width))
    np.add.at(sums, predicted, p)
    if shrinkage > 0:
        templates = (sums + shrinkage * p.mean(axis=0)) / (counts + shrinkage)
    else:
        templates = np.where(counts > 0, sums / np.maximum(counts, 1.0), np.eye(width))
    templates = np.maximum(templates, 1e-12)
    templates /= templates.sum(axis=1, keepdims=True)
    return {"log_templates": np.log(templates), "n_classes": np.int64(width)}


SCORES = (
    Score(
        "klm",
        "KL matching",
        klm,
        ("probabilities",),
        "Hendrycks et al., Scaling out-of-distribution detection for real-world settings, ICML 2022",
        "(-inf, 0]",
        fit,
        ("probabilities",),
        "validation",
        grid={"shrinkage": (0.0, 1.0, 10.0)},
        cost="K^2",
    ),
)
