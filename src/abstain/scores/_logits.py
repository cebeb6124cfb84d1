"""Scores of the logits z themselves, whose scale a softmax would lose."""

from __future__ import annotations

from typing import Any

from abstain._checks import positive
from abstain.scores._arrays import largest, logsumexp
from abstain.scores._batch import Batch
from abstain.scores._score import Score


def max_logit(batch: Batch) -> Any:
    """max_k z_k."""
    return batch.xp.max(batch.logits, axis=1)


def logit_margin(batch: Batch) -> Any:
    """z_(1) - z_(2), the lead of the first class over the second before the softmax."""
    top = largest(batch.logits, 2, batch.xp)
    return batch.xp.max(top, axis=1) - batch.xp.min(top, axis=1)


def energy(batch: Batch, *, temperature: float = 1.0) -> Any:
    """T log sum_k exp(z_k / T), the negative free energy at temperature T."""
    temperature = positive(temperature, "temperature")
    return temperature * logsumexp(batch.by_size.logits / temperature, batch.xp)


SCORES = (
    Score(
        "max_logit",
        "Maximum logit",
        max_logit,
        ("logits",),
        "Hendrycks et al., Scaling out-of-distribution detection for real-world settings, ICML 2022",
        "(-inf, inf)",
    ),
    Score(
        "logit_margin", "Logit margin", logit_margin, ("logits",), "difference of the two largest logits", "[0, inf)"
    ),
    Score(
        "energy",
        "Energy",
        energy,
        ("logits",),
        "Liu et al., Energy-based out-of-distribution detection, NeurIPS 2020",
        "(-inf, inf)",
        grid={"temperature": (1.0,)},
    ),
)
