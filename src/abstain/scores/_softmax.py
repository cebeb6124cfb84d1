"""Scores of the softmax probabilities p, computed from log-probabilities so that certainty keeps its order."""

from __future__ import annotations

from typing import Any

from abstain.scores._arrays import logsumexp, x_log_y
from abstain.scores._batch import Batch
from abstain.scores._score import Score


def msp(batch: Batch) -> Any:
    """max_k p_k, the estimated probability of being right.

    For a threshold that people read. It saturates: every logit margin beyond 37 gives 1 in float64 (beyond 17 in
    float32), and such samples tie. ``neg_log_error`` has the same order and keeps them apart.
    """
    return batch.xp.max(batch.p if batch.logits is None else batch.by_size.p, axis=1)


def neg_log_error(batch: Batch) -> Any:
    """-log(1 - max_k p_k): ordered like the MSP, also where that is 1 to the last digit.

    1 - max p is summed from the other classes, as logarithms: a logit margin of 60 gives 60, not infinity.
    Saved probabilities keep their small entries where the largest has saturated, so the ties of a float32 MSP at 1
    are resolved; elsewhere the order is that of the MSP but for the rounding of the saved values. Infinite only where
    all other probabilities are 0.
    """
    return 0.0 - log_error(batch)


def log_error(batch: Batch) -> Any:
    """Return log(1 - max_k p_k)."""
    return logsumexp(batch.by_size.log_p[:, :-1], batch.xp)


def neg_entropy(batch: Batch) -> Any:
    """sum_k p_k log p_k, with 0 log 0 = 0."""
    batch = batch.by_size
    total = batch.xp.sum(x_log_y(batch.p, batch.log_p, batch.xp), axis=1)
    return batch.xp.where(total < 0.0, total, batch.xp.zeros_like(total))


def softmax_margin(batch: Batch) -> Any:
    """p_(1) - p_(2), the lead of the first class over the second.

    Leads that are equal in decimals, as .6 - .5 and .55 - .45, are no ties: such p are rounded before they come here.
    """
    p = batch.by_size.p
    return p[:, -1] - p[:, -2]


def neg_gini(batch: Batch) -> Any:
    """-sum_k p_k (1 - p_k) = sum_k p_k^2 - 1, with 1 - max p summed from the other classes.

    Ordered like DOCTOR's D_alpha = (1 - g)/g with g = sum_k p_k^2, which is accepted where it is low.
    """
    xp, p = batch.xp, batch.by_size.p
    others = p[:, :-1]
    rest = xp.sum(others, axis=1)
    top = p[:, -1]
    return 0.0 - (top * rest + xp.sum(others * (1.0 - others), axis=1))


_HENDRYCKS = "Hendrycks & Gimpel, A baseline for detecting misclassified and out-of-distribution examples, ICLR 2017"

SCORES = (
    Score("msp", "Maximum softmax probability", msp, ("probabilities",), _HENDRYCKS, "[1/K, 1]"),
    Score(
        "neg_log_error",
        "-log(1 - MSP)",
        neg_log_error,
        ("probabilities",),
        "the MSP on a scale that does not saturate; Granese et al., DOCTOR, NeurIPS 2021 (D_beta) has the same order",
        "[-log(1 - 1/K), inf]",
    ),
    Score("neg_entropy", "Negative entropy", neg_entropy, ("probabilities",), "Shannon 1948", "[-log K, 0]"),
    Score(
        "softmax_margin",
        "Softmax margin",
        softmax_margin,
        ("probabilities",),
        "Scheffer et al., Active hidden Markov models for information extraction, IDA 2001",
        "[0, 1]",
    ),
    Score(
        "neg_gini",
        "Negative Gini impurity",
        neg_gini,
        ("probabilities",),
        "Granese et al., DOCTOR: a simple method for detecting misclassification errors, NeurIPS 2021 (D_alpha)",
        "[1/K - 1, 0]",
    ),
)
