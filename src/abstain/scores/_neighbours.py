"""Scores of the nearest fit samples: kNN and NNGuide, in blocks, so that memory does not grow with the bank."""

from __future__ import annotations

import numpy as np

from abstain import _checks
from abstain._typing import AnyArray, Array, FloatArray, IntArray
from abstain.outputs import Outputs
from abstain.scores import _moments
from abstain.scores._batch import Batch, State, logsumexp


def bank_of(features: AnyArray, scale: FloatArray | None, dtype: str) -> AnyArray:
    """Return the rows at unit length, times ``scale``, in one array of the given precision; zero rows stay zero."""
    bank = np.empty(features.shape, dtype=_checks.one_of(dtype, ("float16", "float32", "float64"), "dtype"))
    largest_scale = 1.0 if scale is None else float(np.abs(scale).max())
    if largest_scale > float(np.finfo(bank.dtype).max):
        raise ValueError(f"dtype={dtype!r} cannot hold energies of up to {largest_scale:.3g}; use another")
    for rows, piece in _moments.pieces(features):
        norms = np.linalg.norm(piece, axis=1, keepdims=True)
        piece = piece / np.where(norms > 0, norms, 1.0)
        bank[rows] = piece if scale is None else piece * scale[rows, None]
    return bank


def subset(n: int, fraction: float, seed: int) -> IntArray | slice:
    """Return the rows of a random share of the fit data, in their order; all rows if the share is 1."""
    share = _checks.fraction(fraction, "fraction")
    if share == 0.0:
        raise ValueError("fraction=0.0 keeps no fit data; give a share in (0, 1]")
    if share == 1.0:
        return slice(None)
    size = max(1, round(share * n))
    return np.sort(_checks.generator(seed, "seed").choice(n, size=size, replace=False))


def check_k(neighbours: int, n: int, name: str) -> int:
    """Return the number of neighbours: at least one, and no more than the bank holds."""
    neighbours = _checks.whole(neighbours, "neighbours")
    if neighbours > n:
        raise ValueError(
            f"{name} needs 1 <= neighbours <= {n}, the rows of its bank, got neighbours={neighbours}; "
            "lower neighbours or fit on more rows"
        )
    return neighbours


def knn(batch: Batch, state: State, *, neighbours: int = 50) -> Array:
    """-||h' - h'_(k)||^2 = 2 cos_(k) - 2, the k-th nearest fit sample after scaling all features to length 1.

    Features of length 0 count as at right angles to all others (cos = 0).
    The bank is kept in ``dtype`` (float32; float16 halves it) and compared block by block: memory is that of the
    bank and a few hundred MB. ``fraction`` keeps a random share of the fit data, drawn with ``seed``. Products in
    float32 move a score by about 1e-7.
    """
    bank = state["bank"]
    neighbours = check_k(neighbours, bank.shape[0], "knn")
    value = 2.0 * batch.xp.min(batch.top_products(bank, neighbours), axis=1) - 2.0
    return batch.xp.where(value < 0.0, value, batch.xp.zeros_like(value))


def fit_knn(outputs: Outputs, *, dtype: str = "float32", fraction: float = 1.0, seed: int = 0) -> State:
    """Return the bank of unit vectors."""
    features: Array = outputs.features
    rows = subset(len(features), fraction, seed)
    return {"bank": bank_of(features[rows], None, dtype), "n_features": np.int64(features.shape[1])}


def nnguide(batch: Batch, state: State, *, neighbours: int = 10) -> Array:
    """LSE(z) times the mean of the k largest <g_i, h'>, with the bank g_i = LSE(z_i) h'_i and h' = h/||h||.

    ``fraction`` keeps a random share of the fit data (the authors: 1 % for ImageNet, all for CIFAR), drawn with
    ``seed``. Where LSE(z) < 0 the product turns around: the score is meant for logits of trained networks, whose
    energies are positive.
    """
    xp, bank = batch.xp, state["bank"]
    neighbours = check_k(neighbours, bank.shape[0], "nnguide")
    return logsumexp(batch.by_size.logits, xp) * xp.mean(batch.top_products(bank, neighbours), axis=1)


def fit_nnguide(outputs: Outputs, *, fraction: float = 1.0, seed: int = 0, dtype: str = "float32") -> State:
    """Return the bank of energy-weighted unit vectors."""
    features: Array = outputs.features
    rows = subset(len(features), fraction, seed)
    energy = logsumexp(np.asarray(outputs.logits)[rows], np)
    bank = bank_of(features[rows], energy, dtype)
    return {"bank": bank, "n_features": np.int64(features.shape[1])}
