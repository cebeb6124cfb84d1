"""What metrics are called on, checked: confidences that are probabilities, labels with class probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstain._classes import ROUNDING
from abstain.blocks import TieBlocks

if TYPE_CHECKING:
    from abstain._typing import FloatArray, IntArray

from abstain._checks import check_weight, refuse, same_length, to_numpy, vector
from abstain._classes import class_labels
from abstain._classes import probabilities as matrix_of
from abstain._typing import ArrayLike
from abstain.metrics._gradient import Predictions


def outside(score: FloatArray) -> bool:
    """Whether a score leaves [0, 1] by more than rounding."""
    return bool(score.min() < -ROUNDING or score.max() > 1.0 + ROUNDING)


def clipped(blocks: TieBlocks) -> tuple[TieBlocks, IntArray | slice]:
    """Return the table with scores in [0, 1], and where its blocks find theirs there: 1 and 1.0000001 are one tie."""
    if blocks.score[-1] >= 0.0 and blocks.score[0] <= 1.0:
        return blocks, slice(None)
    negative, block = np.unique(-np.clip(blocks.score, 0.0, 1.0), return_inverse=True)

    def add(column: FloatArray) -> FloatArray:
        return np.bincount(block, column).astype(np.float64, copy=False)

    same = {name: getattr(blocks, name) for name in ("binary", "frequencies", "n_rejected", "n_dropped", "_oracle")}
    table = TieBlocks(0.0 - negative, add(blocks.weight), add(blocks.loss), add(blocks.count), **same)
    return table, block


def check_predictions(
    labels: ArrayLike,
    probabilities: ArrayLike,
    sample_weight: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
) -> Predictions:
    """Return checked arrays: labels 0..K-1, rows of probabilities that sum to one (to 1e-3)."""
    matrix = matrix_of(probabilities, "probabilities", np, None)
    classes = class_labels(to_numpy(labels), "labels", np, None, matrix.shape[1])
    weight = None if sample_weight is None else vector(to_numpy(sample_weight), "sample_weight", np, None)
    score = None if confidence is None else vector(to_numpy(confidence), "confidence", np, None)
    if score is not None:
        refuse(np.isnan(score), score, "confidence", "holds NaN", "leave out these samples", np)
    same_length(labels=classes, probabilities=matrix, sample_weight=weight, confidence=score)
    if weight is not None:
        check_weight(weight, np)
    return Predictions(classes.astype(np.intp), matrix, score, weight)
