"""Build the table from samples: one sort, written against the Array API, with NumPy short cuts.

The traps that the code below avoids: scores become float64 before anything else, and -0.0 becomes 0.0; block sums
are added up block by block, because differences of cumulative sums lose small losses next to large ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import array_api_compat
import numpy as np

from abstain import _fast
from abstain._checks import (
    SWAPPED,
    check_loss,
    check_weight,
    namespace,
    refuse,
    same_length,
    swapped,
    to_numpy,
    vector,
)
from abstain._sums import ones, turned
from abstain._typing import Array, ArrayLike, BoolArray, FloatArray, Namespace, NanPolicy
from abstain.blocks import _parts
from abstain.blocks._parts import Moments, Samples, Unsorted, by_score

if TYPE_CHECKING:
    from abstain.blocks._table import TieBlocks

#: Whether a table keeps its samples; ``"unsorted"``: of 0/1 losses without weights, their order only when asked for.
Keep = bool | Literal["unsorted"]


def build(
    make: type[TieBlocks],
    loss: ArrayLike,
    confidence: ArrayLike,
    sample_weight: ArrayLike | None,
    nan_policy: NanPolicy,
    keep_samples: Keep,
    oracle: bool,
    moments: bool,
) -> TieBlocks:
    """Check the columns, apply the NaN policy, and group by score; see ``TieBlocks.from_samples``."""
    xp, device = namespace(loss, confidence, sample_weight)
    losses = vector(loss, "loss", xp, device)
    scores = vector(confidence, "confidence", xp, device)
    weights = None if sample_weight is None else vector(sample_weight, "sample_weight", xp, device)
    same_length(loss=losses, confidence=scores, sample_weight=weights)
    failed = failures(losses, xp)
    if failed is None:  # every row, as in a frame; after "drop" the positions would no longer be the caller's
        check_loss(losses, xp)
        if xp is np and swapped(losses, scores):
            warnings.warn(SWAPPED, UserWarning, stacklevel=4)  # whoever called the metric
    if weights is not None:
        check_weight(weights, xp)
    return of_columns(make, xp, losses, scores, weights, nan_policy, keep_samples, oracle, moments, failed)


def of_columns(
    make: type[TieBlocks],
    xp: Namespace,
    losses: Array,
    scores: Array,
    weights: Array | None,
    nan_policy: NanPolicy,
    keep_samples: Keep,
    oracle: bool,
    moments: bool,
    failed: Array | None,
    times: FloatArray | None = None,
) -> TieBlocks:
    """Apply the NaN policy to checked columns, and group by score; ``failed``: which losses are 1 of 0/1 losses.

    ``times``: how many equal rows an entry stands for, where an engine counted them (None: each is one row).
    """
    if weights is not None:
        failed = _failures_that_count(losses, weights, xp) if failed is None else failed

    unscored = xp.isnan(scores)
    if weights is not None:  # a row of weight 0 is none, and needs no score
        scores = xp.where(unscored & (weights == 0.0), -xp.inf, scores)
        unscored = unscored & (weights > 0.0)
    n_unscored = int(xp.count_nonzero(unscored) if times is None else times[unscored].sum())
    if n_unscored and nan_policy == "raise":
        remedy = 'pass nan_policy="reject" (ranked last, never accepted) or nan_policy="drop" (left out)'
        if times is not None:  # no position of a row is known
            raise ValueError(f"it is null or NaN in {n_unscored} rows; {remedy}")
        refuse(unscored, scores, "confidence", "holds NaN", remedy, xp)
    if n_unscored and nan_policy == "drop":
        if bool(xp.all(unscored)):
            raise ValueError('confidence is NaN for every sample; nan_policy="drop" leaves nothing to evaluate')
        losses, scores = losses[~unscored], scores[~unscored]
        times = None if times is None else times[~unscored]
        failed = failures(losses, xp)
        if weights is not None:
            weights = weights[~unscored]
            check_weight(weights, xp)
            failed = _failures_that_count(losses, weights, xp) if failed is None else failed
    elif n_unscored:
        scores = xp.where(unscored, -xp.inf, scores)

    if keep_samples and times is None:  # what is kept must not change with the caller's arrays
        losses = _fixed(losses, xp)
        weights = None if weights is None else _fixed(weights, xp)
    if times is not None and bool((times == 1.0).all()):  # nothing is repeated: these are the rows themselves
        times = None
    table = _group(make, xp, losses, failed, scores, weights, keep_samples, oracle, moments, times)
    if not n_unscored:
        return table
    rejected = nan_policy == "reject"
    return replace(table, n_rejected=n_unscored) if rejected else replace(table, n_dropped=n_unscored)


def _fixed(column: Array, xp: Namespace) -> Array:
    """Return a column that will not change: as it is where nobody can write to it, as in ``Outputs``; else a copy."""
    root = column
    while isinstance(root, np.ndarray) and isinstance(root.base, np.ndarray) and not root.flags.writeable:
        root = root.base
    if isinstance(root, np.ndarray) and root.base is None and not root.flags.writeable and column.flags.c_contiguous:
        return column
    return xp.asarray(column, copy=True)


def _group(
    make: type[TieBlocks],
    xp: Namespace,
    loss: Array,
    failed: Array | None,
    score: Array,
    weight: Array | None,
    keep_samples: Keep,
    oracle: bool,
    moments: bool,
    times: FloatArray | None = None,
) -> TieBlocks:
    """Group checked columns by score; ``failed`` says which losses are 1, where all others are 0."""
    alike = weight is None and times is None
    if xp is np and failed is not None and alike and (not keep_samples or keep_samples == "unsorted"):
        samples = Unsorted(loss, _fixed(score, xp)) if keep_samples else None
        values, count, loss_sum = _packed_failures(score, failed) or _sorted_failures(score + 0.0, failed)
        second = Moments(count, loss_sum, loss_sum) if moments else None
        table = make(values, count, loss_sum, count, binary=True, moments=second, samples=samples)
        return _whole(table, score.size)

    order, ranked = by_score(xp, score)
    plain = loss if failed is None else failed  # truth values are gathered several times faster
    mass = weight if times is None else times if weight is None else times * weight
    columns = [plain] if mass is None else [mass * loss, mass]
    columns += [] if times is None else [times]
    if moments:  # of rows that are given one by one
        columns += [loss**2] if weight is None else [weight**2, weight**2 * loss, (weight * loss) ** 2]
    values, block, count, sums = _sorted_blocks(xp, order, ranked, columns)
    second = None
    if moments:
        second = Moments(count, *sums) if weight is None else Moments(*sums[2:])
    best = None
    if oracle and not _stays_binary(xp, loss, failed, weight, keep_samples):
        best = _group(make, xp, loss, failed, -loss, weight, keep_samples, False, moments, times)
    table = make(
        score=values,
        weight=count if mass is None else sums[1],
        loss=sums[0],
        count=count if times is None else sums[2],
        binary=failed is not None,
        frequencies=weight is None or bool(xp.all(weight == xp.floor(weight))),
        moments=second,
        samples=Samples(order, loss, weight, block, times=times) if keep_samples else None,
        _oracle=best,
    )
    return _whole(table, loss.shape[0]) if alike else without_empty(table)


def failures(loss: Array, xp: Namespace) -> Array | None:
    """Return which losses are 1; None unless all others are 0."""
    if xp is np and loss[0] not in (0.0, 1.0):  # most columns of other losses show it at once
        return None
    failed = loss == 1.0
    whole = int(xp.count_nonzero(failed)) + int(xp.count_nonzero(loss == 0.0)) == loss.shape[0]
    return failed if whole else None


def _stays_binary(xp: Namespace, loss: Array, failed: Array | None, weight: Array | None, keep_samples: Keep) -> bool:
    """Whether losses are 0 or 1 under all weights that rows may be given, so that the totals give the optimum."""
    if failed is None or not keep_samples or weight is None:
        return failed is not None
    return failures(loss, xp) is not None


def _failures_that_count(loss: Array, weight: Array, xp: Namespace) -> Array | None:
    """Return the same where rows of weight 0, which are none, hold other losses."""
    nothing = weight == 0.0
    return failures(xp.where(nothing, xp.zeros_like(loss), loss), xp) if bool(xp.any(nothing)) else None


def _whole(table: TieBlocks, n: int) -> TieBlocks:
    """Fill in the number of rows of an unweighted table."""
    table.__dict__.update(n=n, total_weight=float(n))
    return table


def _packed_failures(score: FloatArray, failed: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Group 0/1 losses as :func:`_sorted_failures` does, by one sort between compiled loops; None where none pays."""
    pack, unpack = (_fast.kernel(each, score.size, _parts.PAYS) for each in (_parts.pack, _parts.unpack))
    if pack is None or unpack is None:
        return None
    key = np.empty(score.size, dtype=np.int64)
    highest, fits = pack(score.view(np.int64), failed, key)
    if not fits:  # very large scores of both signs
        return None
    key.sort()
    count, loss_sum = np.empty(key.size), np.empty(key.size)
    n = unpack(key, highest, count, loss_sum)
    if n == key.size:
        return key.view(np.float64), ones(n), loss_sum
    for column in (key, count, loss_sum):
        column.resize(n, refcheck=False)
    return key.view(np.float64), count, loss_sum


def _sorted_failures(key: FloatArray, failed: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Group 0/1 losses by two plain sorts (all keys, in place; keys of the failures): cheaper than one argsort.

    Highest first in memory, not as views that run backwards: those are summed in another order, to other last digits.
    """
    failures = np.sort(key[failed])
    key.sort()
    new = key[1:] != key[:-1]
    if new.all():
        loss_sum = np.zeros(key.size)
        loss_sum[key.size - 1 - np.searchsorted(key, failures)] = 1.0
        return turned(key), ones(key.size), loss_sum
    edges = np.flatnonzero(np.concatenate(([True], new, [True])))
    count = (edges[1:] - edges[:-1]).astype(np.float64)
    key = key[edges[:-1]]
    loss_sum = np.bincount(np.searchsorted(key, failures), minlength=key.size).astype(np.float64)
    return turned(key), turned(count), turned(loss_sum)


def _sorted_blocks(
    xp: Namespace, order: Array, ranked: Array, columns: list[Array]
) -> tuple[FloatArray, Array, FloatArray, list[FloatArray]]:
    """Group sorted samples; return distinct scores, block per sorted sample, rows and sums per block.

    The blocks of samples stay on the device; what has one entry per block comes back as NumPy. They are None
    where nothing is tied: the position is the block.
    """
    columns = [xp.take(column, order) for column in columns]
    new = ranked[1:] != ranked[:-1]
    if bool(xp.all(new)):
        values = to_numpy(ranked)
        return values, None, ones(values.shape[0]), [_floats(column) for column in columns]

    edges = np.flatnonzero(np.concatenate(([True], to_numpy(new), [True])))
    starts, count = edges[:-1], edges[1:] - edges[:-1]
    if xp is np and 8 * starts.size < ranked.size:  # few wide blocks are written faster than counted
        block = np.repeat(np.arange(starts.size), count)
    else:
        block = xp.cumulative_sum(xp.astype(xp.concat([xp.zeros_like(new[:1]), new]), xp.int64))
    if array_api_compat.is_torch_array(ranked):
        zeros = xp.zeros_like(ranked[: starts.size])
        sums = [to_numpy(zeros.index_add(0, block, column.to(zeros.dtype))) for column in columns]
    else:  # the standard has no scatter-add: NumPy adds up the sorted columns, its own or brought to the host
        sums = [np.add.reduceat(_floats(column), starts) for column in columns]
    return to_numpy(ranked)[starts], block, count.astype(np.float64), sums


def _floats(column: Array) -> FloatArray:
    """Return a column on the host, truth values as 0.0 and 1.0."""
    return np.asarray(to_numpy(column).astype(np.float64, copy=False))


def without_empty(table: TieBlocks) -> TieBlocks:
    """Drop blocks of weight zero: no threshold can be distinguished by them."""
    kept = table.weight > 0.0
    if kept.all():
        return table
    second, samples = table.moments, table.samples
    if second is not None:
        second = Moments(second.weight2[kept], second.weight2_loss[kept], second.weight2_loss2[kept])
    if samples is not None:  # samples of a dropped block weigh nothing; they point at the block above
        before = samples.before if samples.before is not None else (table.score, samples.sorted_block)
        xp = array_api_compat.array_namespace(samples.order)
        renumbered = np.maximum(np.cumsum(kept) - 1, 0)
        renumbered = xp.asarray(renumbered, device=array_api_compat.device(samples.order))
        block = renumbered if samples.sorted_block is None else xp.take(renumbered, samples.sorted_block)
        samples = replace(samples, sorted_block=block, before=before)
    columns = {name: getattr(table, name)[kept] for name in ("score", "weight", "loss", "count")}
    return replace(table, **columns, moments=second, samples=samples)


def reweight(table: TieBlocks, sample_weight: ArrayLike) -> TieBlocks:
    """Sum the kept samples again under new weights; see ``TieBlocks.reweight``."""
    old = table._kept
    xp = array_api_compat.array_namespace(old.order)
    weight = vector(sample_weight, "sample_weight", xp, array_api_compat.device(old.order))
    same_length(sample_weight=weight, loss=old.loss)
    check_weight(weight, xp)
    weight = xp.asarray(weight, copy=True)
    score, sorted_block = old.before if old.before is not None else (table.score, old.sorted_block)
    block = to_numpy(old.unsorted(sorted_block))

    def add(column: Array) -> FloatArray:
        return np.bincount(block, to_numpy(column), minlength=len(score)).astype(np.float64, copy=False)

    second = None
    if table.moments is not None:
        second = Moments(add(weight**2), add(weight**2 * old.loss), add((weight * old.loss) ** 2))
    fresh = replace(
        table,
        score=score,
        weight=add(weight),
        loss=add(weight * old.loss),
        count=np.bincount(block, minlength=len(score)).astype(np.float64),
        binary=failures(old.loss, xp) is not None or _failures_that_count(old.loss, weight, xp) is not None,
        frequencies=bool(xp.all(weight == xp.floor(weight))),
        moments=second,
        samples=Samples(old.order, old.loss, weight, sorted_block),
        _oracle=None if table._oracle is None else reweight(table._oracle, weight),
    )
    return without_empty(fresh)


def merge(parts: Sequence[TieBlocks]) -> TieBlocks:
    """Concatenate the parts, sort stably (they are sorted runs) and add neighbours of equal score."""
    scores = np.concatenate([part.score for part in parts])
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))

    def add(columns: list[FloatArray]) -> FloatArray:
        return np.add.reduceat(np.concatenate(columns)[order], starts)

    moments = [part.moments for part in parts if part.moments is not None]
    oracles: list[TieBlocks] = []
    if any(part._oracle is not None for part in parts):  # that of a part with 0/1 losses follows from its totals
        oracles = [part.oracle for part in parts if part.binary or part._oracle is not None]
    merged = replace(
        parts[0],
        score=scores[starts],
        weight=add([part.weight for part in parts]),
        loss=add([part.loss for part in parts]),
        count=add([part.count for part in parts]),
        binary=all(part.binary for part in parts),
        frequencies=all(part.frequencies for part in parts),
        n_rejected=sum(part.n_rejected for part in parts),
        n_dropped=sum(part.n_dropped for part in parts),
        moments=None,
        samples=None,
        _oracle=merge(oracles) if len(oracles) == len(parts) else None,
    )
    if len(moments) < len(parts):
        return merged
    names = ("weight2", "weight2_loss", "weight2_loss2")
    return replace(merged, moments=Moments(*(add([getattr(part, name) for part in moments]) for name in names)))
