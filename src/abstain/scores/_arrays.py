"""Row-wise functions of class scores, for NumPy, PyTorch and every other library of the Array API."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._classes import chosen

#: Queries and bank rows per block: their similarities take 64 MB in single precision.
QUERIES, BLOCK = 1 << 10, 1 << 14


def astype(values: Any, dtype: str, xp: Any) -> Any:
    """Return an array of another dtype, or the same array where it has that dtype."""
    return np.asarray(values, dtype=dtype) if xp is np else xp.astype(values, getattr(xp, dtype), copy=False)


def arange(n: int, xp: Any, device: Any) -> Any:
    """Return 0 .. n - 1 where the other arrays live."""
    return np.arange(n) if xp is np else xp.arange(n, dtype=xp.int64, device=device)


def columns_at(index: Any, width: int, xp: Any, device: Any) -> Any:
    """Return a mask of shape (n, width) that is true at one column per row."""
    return arange(width, xp, device)[None, :] == index[:, None]


def logsumexp(values: Any, xp: Any) -> Any:
    """Return log sum_k exp v_k of each row; -inf for a row of -inf."""
    top = xp.max(values, axis=1, keepdims=True)
    shift = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    with np.errstate(divide="ignore"):
        return shift[:, 0] + xp.log(xp.sum(xp.exp(values - shift), axis=1))


def log_softmax(values: Any, xp: Any, device: Any) -> Any:
    """Return log-probabilities that stay exact where the softmax is 1 to the last digit.

    The normaliser is log1p of the sum over all classes but the largest: a probability of 1 - 1e-26 has
    log-probability -1e-26.
    """
    top = xp.argmax(values, axis=1)
    shifted = values - chosen(values, top, xp, device)[:, None]
    others = xp.exp(shifted)
    if xp is np:
        np.put_along_axis(others, top[:, None], 0.0, axis=1)
    else:
        others = xp.where(columns_at(top, values.shape[1], xp, device), xp.zeros_like(others), others)
    return shifted - xp.log1p(xp.sum(others, axis=1))[:, None]


def ascending(values: Any, xp: Any) -> Any:
    """Return the entries of each row in ascending order, rows in one piece: the order of a sum depends on both."""
    if xp is not np:
        return xp.sort(values, axis=-1)
    found = np.array(values, order="C")
    found.sort(axis=-1)
    return found


def largest(values: Any, k: int, xp: Any) -> Any:
    """Return the k largest entries of each row, in no particular order."""
    width = values.shape[1]
    if k >= width:
        return values
    if xp is np:
        return np.partition(values, width - k, axis=1)[:, width - k :]
    if hasattr(xp, "topk"):
        return xp.topk(values, k, dim=1).values
    return xp.sort(values, axis=1)[:, width - k :]


def kth_largest(values: Any, k: int, xp: Any) -> Any:
    """Return the k-th largest entry of each row, counted from 1."""
    if xp is np:
        place = values.shape[1] - k
        return np.partition(values, place, axis=1)[:, place]
    return xp.min(largest(values, k, xp), axis=1)


def row_norms(values: Any, xp: Any) -> Any:
    """Return the Euclidean norm of each row; no row overflows that float32 can hold."""
    return xp.sqrt(xp.sum(values * values, axis=1))


def unit_rows(values: Any, xp: Any) -> Any:
    """Return each row divided by its Euclidean norm; a row of zeros stays zero."""
    norms = row_norms(values, xp)
    return values / xp.where(norms > 0, norms, xp.ones_like(norms))[:, None]


def rows_of(table: Any, classes: Any, xp: Any) -> Any:
    """Return the row of a fitted table that belongs to each predicted class."""
    if bool(xp.any((classes < 0) | (classes >= table.shape[0]))):
        raise ValueError(
            f"a predicted class is not in 0 .. {table.shape[0] - 1}, the classes of the fit data; "
            "use outputs of the same model"
        )
    return xp.take(table, classes, axis=0)


def x_log_y(x: Any, log_y: Any, xp: Any) -> Any:
    """Return x log y with 0 log 0 = 0."""
    return x * xp.where(xp.isfinite(log_y), log_y, xp.zeros_like(log_y))


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
