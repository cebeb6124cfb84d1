"""Build the table from samples: one sort, written against the Array API, with two NumPy short cuts.

The traps that the code below avoids: scores become float64 before anything else, and -0.0 becomes 0.0;
``argsort`` is asked for ``stable=False`` (the default of the Array
API is two to five times slower); block sums are added up block by block, because differences of cumulative
sums lose small losses beside large ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import array_api_compat
import numpy as np

from recuse._checks import (
    UnmetNeed,
    check_loss,
    check_weight,
    namespace,
    refuse,
    same_length,
    to_numpy,
    vector,
)
from recuse._typing import ArrayLike, FloatArray, NanPolicy
from recuse.blocks._table import Moments, Samples, TieBlocks


def build(
    loss: ArrayLike,
    confidence: ArrayLike,
    sample_weight: ArrayLike | None,
    nan_policy: NanPolicy,
    keep_samples: bool,
    oracle: bool,
    moments: bool,
) -> TieBlocks:
    """Check the columns, apply the NaN policy, and group by score; see ``TieBlocks.from_samples``."""
    xp, device = namespace(loss, confidence, sample_weight)
    losses = vector(loss, "loss", xp, device)
    scores = vector(confidence, "confidence", xp, device)
    weights = None if sample_weight is None else vector(sample_weight, "sample_weight", xp, device)
    same_length(loss=losses, confidence=scores, sample_weight=weights)
    check_loss(losses, xp)  # every row, as in a frame; after "drop" the positions would no longer be the caller's
    if weights is not None:
        check_weight(weights, xp)

    unscored = xp.isnan(scores)
    n_unscored = int(xp.count_nonzero(unscored))
    if n_unscored and nan_policy == "raise":
        remedy = 'pass nan_policy="reject" (accepted last) or nan_policy="drop" (left out)'
        refuse(unscored, scores, "confidence", "holds NaN", remedy, xp)
    if n_unscored and nan_policy == "drop":
        if n_unscored == scores.shape[0]:
            raise ValueError('confidence is NaN for every sample; nan_policy="drop" leaves nothing to evaluate')
        losses, scores = losses[~unscored], scores[~unscored]
        if weights is not None:
            weights = weights[~unscored]
            check_weight(weights, xp)
    elif n_unscored:
        scores = xp.where(unscored, -xp.inf, scores)

    if keep_samples:  # what is kept must not change with the caller's arrays
        losses = xp.asarray(losses, copy=True)
        weights = None if weights is None else xp.asarray(weights, copy=True)
    return _group(
        xp, losses, scores, weights, keep_samples, oracle, moments,
        n_rejected=n_unscored if nan_policy == "reject" else 0,
        n_dropped=n_unscored if nan_policy == "drop" else 0,
    )  # fmt: skip


def _group(
    xp: Any,
    loss: Any,
    score: Any,
    weight: Any | None,
    keep_samples: bool,
    oracle: bool,
    moments: bool,
    **unscored: Any,
) -> TieBlocks:
    """Group checked columns by score."""
    binary = bool(xp.all((loss == 0.0) | (loss == 1.0)))
    key = score + 0.0  # a new array, in which -0.0 is 0.0
    if xp is np and binary and weight is None and not keep_samples:
        values, count, loss_sum = _sorted_failures(key, loss)
        second = Moments(count, loss_sum, loss_sum) if moments else None
        return _counted(TieBlocks(values, count, loss_sum, count, binary=True, moments=second, **unscored))

    columns = [loss] if weight is None else [weight * loss, weight]
    if moments:
        square = loss**2 if weight is None else (weight * loss) ** 2
        columns += [square] if weight is None else [square, weight**2, weight**2 * loss]
    order, values, block, count, sums = _sorted_blocks(xp, key, columns)
    samples = None
    if keep_samples:
        samples = Samples(order, _unsorted(xp, block, order, len(values)), loss, weight)
    loss_sum, weight_sum = sums[0], count if weight is None else sums[1]
    second = None
    if moments:
        second = Moments(count, loss_sum, sums[1]) if weight is None else Moments(sums[3], sums[4], sums[2])
    table = TieBlocks(
        values, weight_sum, loss_sum, count,
        binary=binary,
        frequencies=weight is None or bool(xp.all(weight == xp.floor(weight))),
        moments=second,
        samples=samples,
        _oracle=_group(xp, loss, -loss, weight, keep_samples, False, moments)
        if oracle and (keep_samples or not binary) else None,
        **unscored,
    )  # fmt: skip
    return _counted(table) if weight is None else without_empty(table)


def _counted(table: TieBlocks) -> TieBlocks:
    """Fill in the cumulative weight of an unweighted table without ties, which is 1, 2, 3, ...: a sum saved."""
    if table.weight.max() == 1.0:
        table.__dict__["cumulative_weight"] = np.arange(1.0, len(table) + 1.0)
    return table


def _sorted_failures(key: FloatArray, loss: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Group 0/1 losses by two plain sorts (all keys, in place; keys of the failures): cheaper than one argsort."""
    failures = np.sort(key[loss == 1.0])
    key.sort()
    new = key[1:] != key[:-1]
    if new.all():
        count, loss_sum = np.ones(key.size), np.zeros(key.size)
        loss_sum[key.size - 1 - np.searchsorted(key, failures)] = 1.0
        return _descending(key), count, loss_sum
    starts = np.flatnonzero(np.concatenate(([True], new)))
    count = np.diff(starts, append=key.size).astype(np.float64)
    key = key[starts]
    loss_sum = np.bincount(np.searchsorted(key, failures), minlength=key.size).astype(np.float64)
    return _descending(key), _descending(count), _descending(loss_sum)


def _sorted_blocks(xp: Any, key: Any, columns: list[Any]) -> tuple[Any, FloatArray, Any, FloatArray, list[FloatArray]]:
    """Sort by key, descending; return order, distinct keys, block per sorted sample, rows and sums per block.

    Order and blocks stay on the device; what has one entry per block comes back as NumPy. ``block`` is
    None where nothing is tied: the position is the block.
    """
    order = xp.argsort(key, stable=False)  # ascending: gathering forwards is four times faster than backwards
    key = xp.take(key, order)
    columns = [xp.take(column, order) for column in columns]
    order = xp.flip(order)
    new = key[1:] != key[:-1]
    if bool(xp.all(new)):
        values = _descending(key)
        return order, values, None, np.ones(values.shape[0]), [_descending(column) for column in columns]

    start = xp.concat([xp.ones_like(new[:1]) if new.shape[0] else new, new])
    starts = np.flatnonzero(to_numpy(start))
    count = np.diff(starts, append=key.shape[0]).astype(np.float64)
    block = xp.cumulative_sum(xp.astype(start, xp.int64)) - 1
    if array_api_compat.is_torch_array(key):
        sums = [xp.zeros_like(key[: starts.size]).index_add(0, block, column) for column in columns]
    else:  # the standard has no scatter-add: NumPy adds up the sorted columns, its own or brought to the host
        sums = [np.add.reduceat(to_numpy(column), starts) for column in columns]
    block = xp.flip(starts.size - 1 - block)
    return (
        order,
        _descending(to_numpy(key)[starts]),
        block,
        _descending(count),
        [_descending(column) for column in sums],
    )


def _descending(ascending: Any) -> FloatArray:
    """Read backwards; a view, because a fresh copy costs as much as an eighth of the sort."""
    result: FloatArray = to_numpy(ascending)[::-1]
    return result


def _unsorted(xp: Any, block: Any | None, order: Any, n_blocks: int) -> Any:
    """Return the block of each sample in the caller's order, given the blocks in sorted order."""
    if block is None:
        block = xp.arange(n_blocks, device=None if xp is np else array_api_compat.device(order))
    if xp is np or array_api_compat.is_torch_array(order):
        result = xp.empty_like(block)
        result[order] = block
        return result
    return xp.take(block, xp.argsort(order))


def without_empty(table: TieBlocks) -> TieBlocks:
    """Drop blocks of weight zero: no threshold can be told apart by them."""
    kept = table.weight > 0.0
    if kept.all():
        return table
    second, samples = table.moments, table.samples
    if second is not None:
        second = Moments(second.weight2[kept], second.weight2_loss[kept], second.weight2_loss2[kept])
    if samples is not None:  # samples of a dropped block weigh nothing; they point at the block above
        before = samples.before if samples.before is not None else (table.score, samples.block)
        xp = array_api_compat.array_namespace(samples.block)
        renumbered = np.maximum(np.cumsum(kept) - 1, 0)
        renumbered = xp.asarray(renumbered, device=array_api_compat.device(samples.block))
        samples = replace(samples, block=xp.take(renumbered, samples.block), before=before)
    return TieBlocks(
        table.score[kept], table.weight[kept], table.loss[kept], table.count[kept],
        binary=table.binary, frequencies=table.frequencies, moments=second, samples=samples,
        n_rejected=table.n_rejected, n_dropped=table.n_dropped, _oracle=table._oracle,
    )  # fmt: skip


def reweight(table: TieBlocks, sample_weight: ArrayLike) -> TieBlocks:
    """Sum the kept samples again under new weights; see ``TieBlocks.reweight``."""
    if table.samples is None:
        raise UnmetNeed("reweight needs the samples: build TieBlocks with keep_samples=True")
    old = table.samples
    xp = array_api_compat.array_namespace(old.block)
    weight = vector(sample_weight, "sample_weight", xp, array_api_compat.device(old.block))
    same_length(sample_weight=weight, loss=old.loss)
    check_weight(weight, xp)
    weight = xp.asarray(weight, copy=True)
    score, grid = old.before if old.before is not None else (table.score, old.block)
    block = to_numpy(grid)

    def add(column: Any) -> FloatArray:
        return np.bincount(block, to_numpy(column), minlength=len(score)).astype(np.float64, copy=False)

    second = None
    if table.moments is not None:
        second = Moments(add(weight**2), add(weight**2 * old.loss), add((weight * old.loss) ** 2))
    fresh = TieBlocks(
        score, add(weight), add(weight * old.loss), np.bincount(block, minlength=len(score)).astype(np.float64),
        binary=table.binary,
        frequencies=bool(xp.all(weight == xp.floor(weight))),
        moments=second,
        samples=Samples(old.order, grid, old.loss, weight),
        n_rejected=table.n_rejected,
        n_dropped=table.n_dropped,
        _oracle=None if table._oracle is None else reweight(table._oracle, weight),
    )  # fmt: skip
    return without_empty(fresh)
