"""A metric of the answers of a language model, for tools that evaluate them."""

from __future__ import annotations

import math

from abstain._typing import ArrayLike
from abstain.blocks import TieBlocks
from abstain.metrics import parse


def of_answers(metric: str, loss: ArrayLike, confidence: ArrayLike) -> float:
    """Return a metric of answers, of which one without a confidence (NaN) is rejected; NaN if there is no answer."""
    if not len(loss):
        return math.nan
    return parse(metric)(TieBlocks.from_samples(loss, confidence, nan_policy="reject", oracle=True))
