"""Between the fourth step and the fifth, of pairs: one error that was not seen where two scores or models differ.

Two scores under one loss differ by what the errors do on the rows that they rank differently. Few such rows may hold no
error at all: then both the difference and its spread come from elsewhere, and a test ignores what it has not seen.
So one error is added where the two differ, at a row drawn in proportion to the square of what it would do there.

- *Mostly wrong rows*: where these differ a success may not have been seen. It is added alike; the larger one counts.
- *A loss that is not 0/1*: the error has the mean square of the losses that were seen, drawn in proportion to size.
- *Clusters*: an error comes with so large a share of the other rows of its own cluster as the losses that were seen are
  correlated, beyond what chance puts together.
- *Two models*, whose losses differ: either may err alone, which does more than a change of rank. Where they may do so
  is not known, so the row is drawn from those that they rank differently, or from all, whichever does more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from abstain._checks import to_numpy
from abstain._sums import parts
from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.blocks import TieBlocks
from abstain.inference._unseen import Sizes, sizes_of
from abstain.metrics import Gradient

#: Degrees of freedom of the variance that one unseen error brings to a difference, and errors from which on it is
#: left out.
DF_UNSEEN, DECIDING = 2.0, 10.0
#: Errors, clusters or rows that differ below which it is said what tests assume of those that are not in the sample.
ASSUMED = 100.0


@dataclass(frozen=True, eq=False)
class UnseenPairs:
    """What more loss (or more success) would do, per score: ``rises`` by a unit, on every row or those with ``free``.

    ``free``: rows with hardly any of it, None if ``rises`` are of these alone; ``square``: of an unseen one;
    ``tie``: correlation in a cluster; ``unit``, ``size``: cluster of each row and its rows; ``loss``: of each model, if
    they differ; ``times``: how many rows each of ``rises`` stands for, without clusters (None: one); ``most``: square
    of the largest loss; ``alone``: whether each has losses of its own, though no row of the sample may show it.
    """

    rises: tuple[FloatArray, ...]
    free: tuple[BoolArray, ...] | None
    square: tuple[float, ...]
    tie: tuple[float, ...]
    unit: IntArray | None
    size: FloatArray | None
    loss: tuple[FloatArray, ...] = ()
    times: FloatArray | None = None
    most: float = 1.0
    alone: bool = False

    def of(self, i: int, j: int) -> float:
        """Return the variance that one more error brings to the difference of two scores, wherever it may lie."""
        return max(self._anywhere(i, j), self.directed(i, j))

    def _anywhere(self, i: int, j: int) -> float:
        one, other, unit, size = self.rises[i], self.rises[j], self.unit, self.size
        square, tie = max(self.square[i], self.square[j]), max(self.tie[i], self.tie[j])
        if self.free is None and (unit is None or tie == 0.0):
            return square * _mean_gap(one, other, self.times)
        if self.free is None:
            gap = one - other
            squares = _squares(gap, tie, unit, size)
            return square * _drawn(gap * gap, squares, self.times)
        both = self.free[i] & self.free[j]
        more = self.loss[i] - self.loss[j]  # each has a correlation of its own where it alone errs
        ties = [0.0 if unit is None else _tie(np.maximum(way * more, 0.0), unit) for way in (1.0, -1.0)]
        one, other, times = one[both], other[both], None if self.times is None else self.times[both]
        if unit is not None and size is not None:
            unit, size = unit[both], size[both]
        gap = one - other
        alone = np.maximum(*(_squares(rise, each, unit, size) for rise, each in zip((one, other), ties, strict=True)))
        anywhere = _drawn(np.maximum(np.abs(one), np.abs(other)) ** 2, alone, times)
        return square * max(_drawn(gap * gap, np.maximum(alone, _squares(gap, tie, unit, size)), times), anywhere)

    def largest(self, i: int, j: int) -> float:
        """Return the most that one row, or cluster, which the two rank differently may do to the difference."""
        return (
            math.sqrt(self.most) * self._row(i, j) * (1.0 if self.size is None else float(self.size.max(initial=0.0)))
        )

    def _row(self, i: int, j: int) -> float:
        both = np.concatenate((self.rises[i], self.rises[j], [0.0] if self.alone else []))  # a model may err alone
        return float(np.ptp(both)) if both.size else 0.0

    def hardly(self, i: int, j: int) -> bool:
        """Return whether all that differs in the sample moves less than what one row could.

        Then what was seen, such as rounding, says nothing of rows or clusters that really differ, as if nothing
        differed. Of two models with other losses this is not known.
        """
        gap, times = self.rises[i] - self.rises[j], 1.0 if self.times is None else self.times
        return self.free is None and float(np.sum(gap * gap * times)) < self._row(i, j) ** 2

    def moved(self, i: int, j: int) -> tuple[float, float, float]:
        """Return how many rows, or clusters, decide where two scores under one loss differ, and how far in one way.

        First all that moves: each counts by the square of what an error of all of it would do to the difference. Then
        their effective number. Last how far all goes one way: 0 if as much moves up as down, 1 if nothing moves down.
        What moves these rows alike, since one score ranks errors lower, moves no cluster against another.
        """
        gap = self.rises[i] - self.rises[j]
        if self.unit is not None:
            gap = gap - gap.mean() if gap.size else gap
            gap = np.bincount(self.unit, gap).astype(np.float64)
        return _one_way(gap * gap, gap, self.times) if self.free is None else (0.0, math.inf, 0.0)

    def differing(self, i: int, j: int) -> tuple[float, float, float]:
        """Return the same of rows or clusters whatever their size, since others that differ may be larger.

        Rows that only others are moved past are most, so that their median is that of rows which differ in nothing.
        """
        gap = self.rises[i] - self.rises[j]
        if self.unit is not None and gap.size:
            gap = gap - np.median(gap)
        squares = gap * gap
        if self.unit is not None:
            rows = np.maximum(np.bincount(self.unit), 1)
            squares, gap = (np.bincount(self.unit, each) / rows for each in (squares, gap))
        return _one_way(squares, gap, self.times) if self.free is None else (0.0, math.inf, 0.0)

    def directed(self, i: int, j: int) -> float:
        """Return the same as far as one score ranks higher what the other ranks lower: of two models, all of it.

        Where scores under one loss move rows up as often as down, an unseen error may as well hurt one as the other,
        and hides no difference. Where one of them moves rows in one direction, the errors among these speak against it,
        and all others for it: then what was not seen decides. In a cluster all rows may be wrong at once, by
        as much as the largest loss of all; where all are in [0, 1], by 1.
        """
        if self.free is not None:
            return self._anywhere(i, j)
        gap, times = self.rises[i] - self.rises[j], 1.0 if self.times is None else self.times
        if self.unit is not None:
            gap = np.bincount(self.unit, gap).astype(np.float64)
        squares = gap * gap
        whole, fourth = float(np.sum(squares * times)), float(np.sum(squares * squares * times))
        balance = float(np.sum(squares * np.sign(gap) * times)) ** 2 - 4.0 * fourth  # two standard deviations less
        return self.most * fourth * max(balance, 0.0) / whole**3 if whole > 0.0 else 0.0


def _one_way(squares: FloatArray, gap: FloatArray, times: FloatArray | None) -> tuple[float, float, float]:
    """Return the sum of squares, their effective number, and how far their sum has one sign."""
    times = np.ones(squares.size) if times is None else times
    whole, fourth = float(squares @ times), float((squares * squares) @ times)
    if whole == 0.0:
        return 0.0, math.inf, 0.0
    return whole, whole * whole / fourth, abs(float((squares * np.sign(gap)) @ times)) / whole


def unseen_pairs(
    rises: list[FloatArray],
    tables: Sequence[TieBlocks],
    same_loss: bool,
    unit: IntArray | None,
    times: FloatArray | None = None,
    *,
    alone: bool = False,
) -> tuple[UnseenPairs, ...]:
    """Return what unseen errors, and of 0/1 losses unseen successes, would do to scores or models, one table each."""
    judged = tables[:1] if same_loss else tables
    losses, sizes = [np.asarray(to_numpy(each._kept.loss)) for each in judged], [sizes_of(each) for each in judged]
    kinds = [losses]
    if all(each.binary for each in judged):
        kinds.append([1.0 - loss for loss in losses])
    return tuple(replace(_pairs(rises, kind, sizes, unit, times), alone=alone) for kind in kinds)


def _pairs(
    rises: list[FloatArray],
    losses: list[FloatArray],
    sizes: list[Sizes],
    unit: IntArray | None,
    times: FloatArray | None,
) -> UnseenPairs:
    """Return it for one kind of loss, of these sizes."""
    size = None if unit is None else np.bincount(unit)[unit].astype(np.float64)
    tie = [0.0 if unit is None else _tie(loss, unit) for loss in losses]
    square = [each.square for each in sizes]
    free_rows = [loss < 0.5 * each.mean for loss, each in zip(losses, sizes, strict=True)]
    if len(losses) > 1:
        return UnseenPairs(tuple(rises), tuple(free_rows), tuple(square), tuple(tie), unit, size, tuple(losses), times)
    number, free = len(rises), np.flatnonzero(free_rows[0])  # looked for once
    rises = [each.take(free) for each in rises]
    if unit is not None and size is not None:
        unit, size = unit[free], size[free]
    times = None if times is None else times[free]
    return UnseenPairs(
        tuple(rises),
        None,
        tuple(square * number),
        tuple(tie * number),
        unit,
        size,
        times=times,
        most=max(float(losses[0].max()), 1.0) ** 2,
    )


def _tie(loss: FloatArray, unit: IntArray) -> float:
    """Return the correlation of the losses in a cluster, from how many others a loss finds, drawn by its square.

    With correlation r, and a chance p of an error, it finds (m - 1)(p + r (1 - p)) of m rows: without those of chance
    (m - 1) r, which an unseen one would bring. Where no loss could find another, all may come together.
    """
    total, rows = float(loss @ loss), np.bincount(unit).astype(np.float64)
    possible = float((loss * loss) @ (rows[unit] - 1.0))
    if possible == 0.0:
        return 1.0
    chance = min(float(loss.mean() * loss.sum()) / total, 0.99)
    others = (float(np.sum(np.bincount(unit, loss) ** 2)) - total) / possible
    return min(max(0.0, others - chance) / (1.0 - chance), 1.0)


def rises_of(derivative: Gradient, blocks: TieBlocks) -> FloatArray:
    """Return by how much a unit of loss on each row would raise a metric, to first order."""
    samples = blocks._kept
    order, block = to_numpy(samples.order), samples.sorted_block
    rises = np.empty(order.size)
    rises[order] = derivative.loss if block is None else derivative.loss.take(to_numpy(block))
    if samples.sample_weight is not None:
        rises *= to_numpy(samples.sample_weight)
    return rises


def _squares(rises: FloatArray, tie: float, unit: IntArray | None, size: FloatArray | None) -> FloatArray:
    """Return the mean square of what an error does on each row, with those that come with it anywhere in its cluster.

    What two scores make of them may cancel: of k others with mean m and variance v it is (x + k m)^2 + k v.
    """
    squares = rises * rises
    if unit is None or size is None or tie == 0.0:
        return squares
    rows = np.bincount(unit)[unit]
    others = np.maximum(rows - 1.0, 1.0)
    mean = (np.bincount(unit, rises)[unit] - rises) / others
    variance = (np.bincount(unit, squares)[unit] - squares) / others - mean * mean
    more = np.minimum(tie * (size - 1.0), rows - 1.0)
    return np.asarray((rises + more * mean) ** 2 + more * np.maximum(variance, 0.0))


def _mean_gap(one: FloatArray, other: FloatArray, times: FloatArray | None) -> float:
    """Return the mean square of a gap at a row drawn in proportion to it, without a column of all gaps.

    Without BLAS, whose threads wait for each other longer than such a part of a column takes.
    """
    total = most = 0.0
    for part in parts(one.size):
        squares = one[part] - other[part]
        squares *= squares
        weight = squares if times is None else squares * times[part]
        total += float(np.add.reduce(weight))
        squares *= weight
        most += float(np.add.reduce(squares))
    return most / total if total > 0.0 else 0.0


def _drawn(weight: FloatArray, squares: FloatArray, times: FloatArray | None = None) -> float:
    """Return the mean of ``squares`` at a row drawn in proportion to ``weight``."""
    weight = weight if times is None else weight * times
    total = float(np.add.reduce(weight))
    return float(weight @ squares) / total if total > 0.0 else 0.0


def with_unseen(test: float, df: float, spread_df: float, unseen: float, n_clusters: int | None) -> tuple[float, float]:
    """Return the variance of a difference and its degrees of freedom: with what was not seen, where that matters.

    Where ten errors and more decide, both are as they were, so that the test of AUROC is DeLong's. Where fewer do,
    the degrees of freedom of their own spread count: then equal scores are rejected in about 5 % of samples whether
    0, 1, 3 or 10 errors are expected (one-sided, by summing Poisson chances).
    """
    if unseen <= test / DECIDING:
        return test, df
    total = test + unseen
    mixed = total**2 / (test**2 / max(min(df, spread_df), 1e-9) + unseen**2 / DF_UNSEEN)
    return total, mixed if n_clusters is None else min(mixed, n_clusters - 1.0)


def without_room(method: str, n_runs: Sequence[int]) -> str | None:
    """Return the note of tests that keep no room for what was not seen, None for the others."""
    who = "a bootstrap" if "bootstrap" in method else "several runs" if max(n_runs) > 1 else None
    return None if who is None else f"{who}: no allowance for unseen errors, so a difference on few rows is too certain"


def assumed(numbers: Sequence[float], swapped: bool) -> str | None:
    """Return what tests assume that rest on these numbers of units; None if all rest on many.

    In a sample of n rows those of which the population has a share e are missing with probability (1 - e)^n, and no
    test can know. Swaps take the sample as it is; without them one unseen error is allowed for where few decide.
    """
    if min(numbers, default=math.inf) >= ASSUMED:
        return None
    what = "the tests assume that no important kind of error is missing in this sample"
    return f'{what}; method="influence" allows for one' if swapped else what
