"""The k largest inner products with a bank of vectors, in blocks: memory stays bounded whatever the bank."""

from __future__ import annotations

from typing import Any

import numpy as np

from recuse._typing import FloatArray
from recuse.scores import _moments
from recuse.scores._arrays import astype, largest

#: Bank rows per block: a block of similarities of 1000 queries takes 64 MB in single precision.
BLOCK = 1 << 14


def top_products(queries: Any, bank: Any, k: int, xp: Any) -> Any:
    """Return the k largest of <query, row of the bank> for each query, shape (n_queries, k), in no order.

    Products are computed in the bank's precision (a float16 bank: in float32) and returned as float64.
    """
    width = "float64" if bank.dtype == xp.float64 else "float32"
    queries = astype(queries, width, xp)
    best = None
    for start in range(0, bank.shape[0], BLOCK):
        block = queries @ astype(bank[start : min(start + BLOCK, bank.shape[0]), ...], width, xp).T
        found = largest(block, k, xp)
        best = found if best is None else largest(xp.concat([best, found], axis=1), k, xp)
    return astype(best, "float64", xp)


def bank_of(features: Any, scale: FloatArray | None, dtype: str) -> Any:
    """Return the rows at unit length, times ``scale``, in one array of the given precision; zero rows stay zero."""
    if dtype not in ("float16", "float32", "float64"):
        raise ValueError(f"dtype={dtype!r} is not known; use float16, float32 or float64")
    bank = np.empty(features.shape, dtype=dtype)
    for rows, piece in _moments.pieces(features):
        norms = np.linalg.norm(piece, axis=1, keepdims=True)
        piece = piece / np.where(norms > 0, norms, 1.0)
        bank[rows] = piece if scale is None else piece * scale[rows, None]
    return bank


def subset(n: int, fraction: float, seed: int) -> Any:
    """Return the rows of a random share of the fit data, in their order; all rows if the share is 1."""
    if not 0.0 < fraction <= 1.0:
        raise ValueError(f"fraction must lie in (0, 1], got {fraction!r}")
    if fraction == 1.0:
        return slice(None)
    size = max(1, round(fraction * n))
    return np.sort(np.random.default_rng(seed).choice(n, size=size, replace=False))


def check_k(neighbours: int, n: int, name: str) -> None:
    """Refuse fewer than one neighbour, and more than the bank holds."""
    if not 1 <= neighbours <= n:
        raise ValueError(
            f"{name} needs 1 <= neighbours <= {n}, the rows of its bank, got neighbours={neighbours}; "
            "lower neighbours or fit on more rows"
        )
