"""Scores that come with the outputs."""

from __future__ import annotations

from typing import Any

from abstain.scores._batch import Batch
from abstain.scores._score import Score


def confidence(batch: Batch) -> Any:
    """The column ``confidence`` of the outputs."""
    return batch.confidence


def column(batch: Batch, *, column: str = "") -> Any:
    """The column of ``outputs.scores`` that ``column`` names: any external score, to be fitted and combined."""
    return batch.scores[column]


SCORES = (
    Score("confidence", "Confidence", confidence, ("confidence",), "given with the outputs", "as given", cost="1"),
    Score("column", "External score", column, ("column",), "given with the outputs", "as given", cost="1"),
)
