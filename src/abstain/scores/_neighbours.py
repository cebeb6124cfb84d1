"""The k largest inner products with a bank of vectors, in blocks: memory stays bounded whatever the bank."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain import _checks
from abstain._typing import FloatArray
from abstain.scores import _moments
from abstain.scores._arrays import astype, largest

#: Queries and bank rows per block: their similarities take 64 MB in single precision.
QUERIES, BLOCK = 1 << 10, 1 << 14


def top_products(queries: Any, bank: Any, k: int, xp: Any) -> Any:
    """Return the k largest of <query, row of the bank> for each query, shape (n_queries, k), in no order.

    Products are computed in the bank's precision (a float16 bank: in float32) and returned as float64.
    """
    width = "float64" if bank.dtype == xp.float64 else "float32"
    queries = astype(queries, width, xp)
    starts = range(0, queries.shape[0], QUERIES)
    found = [_top(queries[start : min(start + QUERIES, queries.shape[0]), ...], bank, k, width, xp) for start in starts]
    return astype(xp.concat(found, axis=0), "float64", xp)


def _top(queries: Any, bank: Any, k: int, width: str, xp: Any) -> Any:
    """Return the same for a few queries, in their precision."""
    best = None
    for start in range(0, bank.shape[0], BLOCK):
        block = queries @ astype(bank[start : min(start + BLOCK, bank.shape[0]), ...], width, xp).T
        found = largest(block, k, xp)
        best = found if best is None else largest(xp.concat([best, found], axis=1), k, xp)
    return best


def bank_of(features: Any, scale: FloatArray | None, dtype: str) -> Any:
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


def subset(n: int, fraction: float, seed: int) -> Any:
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
