"""Weighted scans: AURC and AUGRC of many bootstrap replicates from one sort, in NumPy or compiled by numba.

A replicate is a set of counts c on the sorted samples. With block weights M, their cumulative sums N and
S (of the losses), both areas are sums over the samples with a loss,

    G = sum_k M_k (S_k - s_k / 2) = sum_i s_i (T - N_k(i) + M_k(i) / 2)            AUGRC = G / T^2
    A = sum_k M_k S_k / N_k       = sum_i s_i sum_{j >= k(i)} M_j / N_j            AURC  = A / T

NumPy reads the second forms, which touch the errors only. numba reads the first ones with 32 replicates side by
side, so that one row of counts is one cache line and every operation works on whole vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from abstain._checks import one_of, to_numpy
from abstain._extras import lacking
from abstain._fast import compiled
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray
from abstain.blocks import TieBlocks
from abstain.inference._resample import BLOCK, LANES, Counts
from abstain.metrics import FromSums, Metric, Sums

Backend = Literal["auto", "numpy", "numba"]

#: Weight before the first draw, next to weights of mean 1: 0/0 cannot occur, and the first count absorbs it. The
#: compiled kernel multiplies four of them.
TINY = 1e-30
#: Fixed point for sums of shares, which are at most 1 + ln(n), to the last bit of a float64 near 1.
FIXED = 2.0**57
#: Counts that NumPy scans at once, if one replicate has no more: what is made of them stays in the cache.
TOGETHER = 1 << 14
#: Loading the compiled kernels takes as long as NumPy needs for so many samples x replicates x columns.
WORTHWHILE = 2e8


@dataclass(frozen=True, eq=False)
class Column:
    """One score, sorted once: what every replicate of it needs.

    ``blocks`` is the table with its samples; ``score`` the distinct scores; ``order`` sorts the rows by
    descending score; ``starts`` is the first sorted position of each block (None: nothing is tied); ``weight``
    (None: all 1) and ``loss`` are in sorted order; ``oracle`` is the column of the loss-ordered table, where a
    loss that is not 0/1 needs one.
    """

    blocks: TieBlocks
    score: FloatArray
    order: IntArray
    starts: IntArray | None
    weight: FloatArray | None
    loss: FloatArray
    oracle: Column | None

    @classmethod
    def of(cls, loss: ArrayLike, confidence: ArrayLike, sample_weight: ArrayLike | None, oracle: bool) -> Column:
        """Check and sort one column."""
        return cls._of(TieBlocks.from_samples(loss, confidence, sample_weight, keep_samples=True, oracle=oracle))

    @classmethod
    def _of(cls, blocks: TieBlocks) -> Column:
        samples = blocks._kept
        order = np.ascontiguousarray(to_numpy(samples.order), dtype=np.intp)
        score, block = samples.before if samples.before is not None else (blocks.score, samples.sorted_block)
        starts = None if block is None else np.flatnonzero(np.diff(to_numpy(block), prepend=-1))
        weight = None if samples.sample_weight is None else to_numpy(samples.sample_weight)[order]
        deeper = None if blocks._oracle is None else cls._of(blocks._oracle)
        return cls(blocks, score, order, starts, weight, to_numpy(samples.loss)[order], deeper)

    @cached_property
    def block(self) -> IntArray:
        """Block of each sorted sample."""
        n = self.order.size
        if self.starts is None:
            return np.arange(n)
        return np.repeat(np.arange(self.starts.size), np.diff(self.starts, append=n))

    @cached_property
    def errors(self) -> Errors:
        """The samples with a loss, in sorted order."""
        at = np.flatnonzero(self.loss)
        weighted = self.loss if self.even is None else self.loss * self.even
        return Errors(self.order[at], self.block[at], weighted[at])

    @cached_property
    def even(self) -> FloatArray | None:
        """Weights of mean 1, in sorted order."""
        return None if self.weight is None else self.weight * (self.weight.size / self.weight.sum())

    @cached_property
    def last(self) -> BoolArray:
        """Whether a sorted sample is the last of its block."""
        return np.append(np.diff(self.block) > 0, True)

    def table(self, count: npt.NDArray[np.uint8]) -> TieBlocks | None:
        """Return the table of one replicate without its empty blocks; None if nothing with a weight was drawn."""
        rows = count[self.order].astype(np.float64)
        weight = rows if self.weight is None else rows * self.weight
        loss = weight * self.loss
        if self.starts is not None:
            rows, loss = np.add.reduceat(rows, self.starts), np.add.reduceat(loss, self.starts)
            weight = rows if self.weight is None else np.add.reduceat(weight, self.starts)
        kept = weight > 0.0
        if not kept.any():
            return None
        return TieBlocks(
            self.score[kept],
            weight[kept],
            loss[kept],
            rows[kept],
            binary=self.blocks.binary,
            frequencies=self.blocks.frequencies,
            _oracle=None if self.oracle is None else self.oracle.table(count),
        )


class Errors(NamedTuple):
    """Row in the caller's order, block, and weighted loss of each sample with a loss."""

    row: IntArray
    block: IntArray
    loss: FloatArray


def choose(backend: Backend, work: float) -> bool:
    """Return whether to use numba: as asked, or by what the work is worth."""
    one_of(backend, ("auto", "numpy", "numba"), "backend")
    if backend == "numpy":
        return False
    from importlib.util import find_spec

    found = find_spec("numba") is not None
    if backend == "numba" and not found:
        raise ImportError(lacking('backend="numba"', "numba", extra="fast", instead=', or use backend="numpy"'))
    return found and (backend == "numba" or work >= WORTHWHILE)


# ---------------------------------------------------------------------- NumPy


def scan(column: Column, counts: Counts, selective: bool) -> Sums:
    """Return the sums of each replicate; without ``selective`` the AURC part stays NaN.

    Of few rows several replicates are scanned at once. What is large is written again and again into one piece of
    memory: new ones the C library may ask of the system each time, and give back.
    """
    k, n = counts.shape
    result = Sums(*np.full((4, k), np.nan))
    dense = column.starts is None and column.errors.row.size == n  # every block is an error
    size = n if column.starts is None else column.starts.size
    step = min(k, max(1, TOGETHER // n))
    buffers = np.empty((5 if dense else 2, step, size))
    for first in range(0, k, step):
        some = slice(first, first + step)
        _scan(column, counts[some], buffers[:, : k - first], Sums(*(each[some] for each in result)), selective)
    return result


def _scan(column: Column, counts: Counts, buffers: Any, result: Sums, selective: bool) -> None:
    """Write the sums of some replicates, in buffers of one float per replicate and block.

    Without weights everything that is accumulated is an integer: exact, and a sixth of the time of floats, whose
    additions wait for each other. Products are summed without BLAS, whose threads cost more than they bring.
    """
    errors, starts, even, dense = column.errors, column.starts, column.even, len(buffers) > 2
    buffer, share = buffers[:2]
    cumulative = buffer if even is not None else buffer.view(np.int32)[:, : buffer.shape[1]]  # of less than 2e9 draws
    terms = buffers[2:] if dense else np.empty((3, len(counts), errors.row.size))

    def at_errors(values: Any) -> Any:
        return values if dense else values.take(errors.block, axis=1, mode="clip")

    weight: Any = counts.take(column.order, axis=1, mode="clip")  # of bytes, which the fastest cache holds
    np.multiply(weight if dense else counts.take(errors.row, axis=1, mode="clip"), errors.loss, out=terms[0])
    if even is not None:
        weight = np.multiply(weight, even, out=share if starts is None else None)
    if starts is not None:
        weight = np.add.reduceat(weight, starts, axis=1, dtype=cumulative.dtype)
    cumulative[:] = weight
    np.add.accumulate(cumulative, axis=1, out=cumulative)
    result.weight[:] = cumulative[:, -1]
    np.multiply(at_errors(weight), 0.5, out=terms[1])
    terms[1] += cumulative[:, -1:] - at_errors(cumulative)
    if selective:
        if even is None:
            early = cumulative[:, :8]
            while not early[:, -1].all() and early.shape[1] < cumulative.shape[1]:
                early = cumulative[:, : 2 * early.shape[1]]
            np.maximum(early, 1, out=early)  # before the first draw, where all weights are 0
            np.multiply(np.divide(weight, cumulative, out=share), FIXED, out=share)
            running = buffer.view(np.int64)
            np.rint(share, out=running, casting="unsafe")
        else:
            running = buffer
            running[:] = np.divide(weight, np.add(cumulative, TINY, out=cumulative), out=share)
        np.add.accumulate(running, axis=1, out=running)
        np.add(running[:, -1:] - at_errors(running), at_errors(share), out=terms[2])
    terms = terms[: 2 + selective]
    terms[1:] *= terms[0]
    result.loss[:], result.generalized[:], *areas = np.add.reduce(terms, axis=2)
    if selective:
        result.selective[:] = areas[0] / (FIXED if even is None else 1.0)


# ---------------------------------------------------------------------- numba


def scan_lanes(column: Column, counts: Counts) -> Sums:
    """Return the sums of replicates whose counts lie side by side, in memory of shape (n, LANES)."""
    k, lanes = len(counts), counts.base
    weight, loss = np.full(LANES, TINY), np.zeros(LANES)
    areas = np.zeros((2, LANES))
    if column.starts is None and column.even is None:
        compiled(_untied)(lanes, column.order, column.loss, weight, loss, areas[0], areas[1])
    else:
        even = np.ones(column.order.size) if column.even is None else column.even
        compiled(_tied)(lanes, column.order, even, column.loss, column.last, weight, loss, areas[0], areas[1])
    return Sums(weight[:k], loss[:k], areas[0, :k], areas[1, :k])


def tally(inside: IntArray, place: Counts, count: Counts) -> None:
    """Write how often each row of some blocks was drawn, compiled."""
    compiled(_tally)(inside, place, count, BLOCK)


def _tally(inside: Any, place: Any, count: Any, size: Any) -> None:
    """Count block by block: what is counted stays in the fastest cache."""
    i, last = 0, np.uint8(size - 1)
    for k in range(inside.size):
        own = count[k * size : (k + 1) * size]
        for _ in range(inside[k]):
            own[place[i] & last] += np.uint8(1)
            i += 1


def _untied(lanes: Any, order: Any, loss: Any, N: Any, S: Any, A: Any, G: Any) -> None:
    """Scan an unweighted column without ties, four samples at a time: one division and one load of N, S, A, G each.

    With N1..N4 the weights after each sample, c1/N1 + .. + c4/N4 is one fraction over N1 N2 N3 N4.
    """
    n = order.size
    fours = n - n % 4
    for i in range(0, fours, 4):
        row1, row2, row3, row4 = lanes[order[i]], lanes[order[i + 1]], lanes[order[i + 2]], lanes[order[i + 3]]
        l1, l2, l3, l4 = loss[i], loss[i + 1], loss[i + 2], loss[i + 3]
        for r in range(LANES):
            c1, c2, c3, c4 = np.float64(row1[r]), np.float64(row2[r]), np.float64(row3[r]), np.float64(row4[r])
            n1 = N[r] + c1
            n2 = n1 + c2
            n3 = n2 + c3
            n4 = n3 + c4
            e1, e2, e3, e4 = l1 * c1, l2 * c2, l3 * c3, l4 * c4
            s1 = S[r] + e1
            s2 = s1 + e2
            s3 = s2 + e3
            s4 = s3 + e4
            n12, n34 = n1 * n2, n3 * n4
            above = (c1 * s1 * n2 + c2 * s2 * n1) * n34 + (c3 * s3 * n4 + c4 * s4 * n3) * n12
            A[r] += above / (n12 * n34)
            G[r] += c1 * (s1 - 0.5 * e1) + c2 * (s2 - 0.5 * e2) + c3 * (s3 - 0.5 * e3) + c4 * (s4 - 0.5 * e4)
            N[r] = n4
            S[r] = s4
    for i in range(fours, n):
        row = lanes[order[i]]
        for r in range(LANES):
            c = np.float64(row[r])
            N[r] += c
            S[r] += c * loss[i]
            A[r] += c * S[r] / N[r]
            G[r] += c * (S[r] - 0.5 * c * loss[i])


def _tied(lanes: Any, order: Any, weight: Any, loss: Any, last: Any, N: Any, S: Any, A: Any, G: Any) -> None:
    """Scan a column with weights or ties: a block is added when its last sample has been read."""
    M, s = np.zeros(LANES), np.zeros(LANES)
    for i in range(order.size):
        row, w, l = lanes[order[i]], weight[i], loss[i]  # noqa: E741
        if last[i]:
            for r in range(LANES):
                c = w * np.float64(row[r])
                m = M[r] + c
                e = s[r] + c * l
                M[r] = 0.0
                s[r] = 0.0
                N[r] += m
                S[r] += e
                A[r] += m * S[r] / N[r]
                G[r] += m * (S[r] - 0.5 * e)
        else:
            for r in range(LANES):
                c = w * np.float64(row[r])
                M[r] += c
                s[r] += c * l


# ---------------------------------------------------------------------- closed forms


def formula(metric: Metric, column: Column) -> FromSums | None:
    """Return how a metric with default options follows from the sums of a column, or None."""
    form = metric.from_sums
    if form is None or metric.options or (form.binary and not column.blocks.binary):
        return None
    return None if form.counts and column.weight is not None else form  # on counts, so not from weights of mean 1
