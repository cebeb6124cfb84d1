"""Means, scatter and whitening of features, in float64 and in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from abstain._typing import AnyArray, FloatArray, IntArray
from abstain.outputs import Outputs

#: Directions with less than this share of the largest eigenvalue carry rounding only (dead units, copies).
RELATIVE_FLOOR = 1e-10


def _slices(features: AnyArray) -> Iterator[slice]:
    """Yield pieces of about 16 MB in float64: fewer rows than 1,024 would add up more products than they are."""
    rows = int(np.clip((1 << 21) // max(features.shape[1], 1), 1 << 10, 1 << 13))
    for start in range(0, len(features), rows):
        yield slice(start, start + rows)


def pieces(features: AnyArray) -> Iterator[tuple[slice, FloatArray]]:
    """Yield the rows in float64 pieces."""
    for rows in _slices(features):
        yield rows, np.asarray(features[rows], dtype=np.float64)


def mean(features: AnyArray) -> FloatArray:
    """Return the mean of the rows."""
    total = np.zeros(features.shape[1])
    for _, piece in pieces(features):
        total += piece.sum(axis=0)
    return total / len(features)


def scatter(features: AnyArray, centres: Callable[[slice], FloatArray]) -> FloatArray:
    """Return the mean of (h - c)(h - c)^T; ``centres(rows)`` gives the centres of these rows."""
    total = np.zeros((features.shape[1],) * 2)
    for rows in _slices(features):
        piece = np.subtract(features[rows], centres(rows), dtype=np.float64)
        total += piece.T @ piece
    return total / len(features)


def by_class(outputs: Outputs) -> tuple[FloatArray, IntArray]:
    """Return the mean of each class that occurs, and the position of every sample's class among them."""
    features = outputs.features
    assert features is not None  # what the registry checks before a fit
    _, position = np.unique(np.asarray(outputs.labels), return_inverse=True)
    counts = np.bincount(position)
    total = np.zeros((len(counts), features.shape[1]))
    for rows, piece in pieces(features):
        np.add.at(total, position[rows], piece)
    return total / counts[:, None], position


def whitening(covariance: FloatArray, name: str, remedy: str) -> FloatArray:
    """Return A with A^T A = the pseudo-inverse of the covariance, shape (rank, n_features).

    Directions without variance are left out: a distance there would be 0/0.
    """
    values, vectors = np.linalg.eigh(covariance)
    kept = values > RELATIVE_FLOOR * values[-1]
    if values[-1] <= 0.0 or not kept.any():
        raise ValueError(f"{name}: the features of the fit data do not vary {remedy}")
    return np.ascontiguousarray((vectors[:, kept] / np.sqrt(values[kept])).T)
