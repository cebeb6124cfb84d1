"""Between the fourth step and the fifth: one error that was not seen, and how far an interval must reach for it.

Where most rows are confident and nearly flawless, the few confident errors decide an area, and a sample often lacks
them; its own spread cannot say so. So one more error is added to the sample, spread evenly over the population it
speaks for: at each row with that row's share of all weight. The estimate moves, and its variance grows by the mean
square of what one error at a random place does. For Poisson counts with weights these are the moments behind Fay and
Feuer's gamma interval; a random instead of the largest weight is Tiwari, Clegg and Zou's change to it. With equal
weights the end is the exact Poisson (Garwood) end. For unequal weights it is not proved: docs/interval-coverage.md
shows where it holds. An unseen success, on which a ranking of mostly wrong predictions rests, is treated alike.

**At the top.** A random row is an assumption. Of n rows, x errors may be missed with probability e^-x; if they are the
most confident x rows, AURC moves by (x / n)(log(n / x) + 1), where x errors at random rows move it by x / n. No sample
can show which: where none of the most confident rows is wrong, populations with and without such errors make the same
samples, up to that probability. So no warning distinguishes them, and an interval that holds in one is as wide in the
other. It is offered: one error in all, spread over the most confident x rows with e^-x the error of the end, moves the
estimate by c, and the end is the gamma's (beta's) whose mean grows by c and whose variance by c^2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from abstain._checks import Undefined, to_numpy
from abstain._sums import inner, mapped, over_rows, parts
from abstain._typing import FloatArray, IntArray
from abstain.blocks import TieBlocks
from abstain.inference._influence import counted_terms, gradient
from abstain.inference._resample import INDEPENDENT, Sampling
from abstain.inference._spread import Scatter, counted_powers, limit_of, scatters
from abstain.metrics import Derived, Gradient, Metric, Relative, keeping_one


class OneMore(NamedTuple):
    """Estimate and variance of a sample with one more loss, on the scale of the metric's base.

    ``mirrored``: one more success where most samples are wrong, and the few that are right decide the better end.
    """

    estimate: float
    variance: float
    mirrored: bool = False


class Sizes(NamedTuple):
    """Mean and mean square of an unseen loss, and how many of them come at once (in a cluster, more than one)."""

    mean: float
    square: float
    number: float


def one_more(
    metrics: Sequence[tuple[Metric, float]],
    blocks: TieBlocks,
    sampling: Sampling = INDEPENDENT,
    units: float = 0.0,
) -> list[tuple[OneMore, ...]]:
    """Return the sample with one more error, and for a 0/1 loss with one more success; () where they do not serve.

    For each metric with its estimate; the table with one more is built once for all of them. ``units``: so many of the
    most confident samples may all be errors that were not seen; then one more error at these, too.
    """
    found: list[tuple[OneMore, ...]] = [()] * len(metrics)
    serving = {
        k: (metric.base, _offset(metric, blocks, estimate))
        for k, (metric, estimate) in enumerate(metrics)
        if metric.base.inference_kind == "smooth" and metric.base.scale != "identity"
    }
    if not serving:
        return found
    sizes = [sizes_of(blocks, sampling.clusters)]
    if blocks.binary:
        sizes.append(Sizes(0.0, 0.0, 1.0))
    large = len(blocks) > MOST_KEPT
    if large:
        blocks._let_go(sums=False)
    rows = _Rows(blocks, sampling)
    tables = [(size, *augmented(blocks, size)) for size in sizes]
    with keeping_one(blocks) if large else nullcontext():
        for k, (metric, offset) in sorted(serving.items(), key=lambda each: each[1][0].convention):  # share a curve
            found[k] = tuple(_with(metric, offset, rows, *each) for each in tables)
            if units:
                with suppress(Undefined):  # of a table whose losses are all 1 then
                    found[k] += (_at_top(metric, offset, rows, sizes[0], units),)
    if large:
        blocks._let_go()
    return found


#: Of tables with more blocks, columns that can be computed again are not kept: memory is dearer then than the time.
MOST_KEPT = 100_000


def _offset(metric: Metric, blocks: TieBlocks, estimate: float) -> float:
    """Return how far the estimate lies from the smooth form, on the scale of the metric's base."""
    base = metric.base
    if base is metric and base.smooth is base:
        return 0.0
    return (estimate if metric.image is None else metric.image.back(estimate)) - base.smooth(blocks)


def _with(metric: Metric, offset: float, rows: _Rows, size: Sizes, more: TieBlocks, cubes: FloatArray) -> OneMore:
    """Return what the unseen loss makes of a metric, to whose smooth form its offset is added."""
    blocks, derivative = rows.blocks, gradient(metric, more)
    seen, moved = rows.squares(derivative, size, cubes)
    variance = (seen + size.number**2 * moved / blocks.total_weight) * _few(metric, blocks)
    mirrored = size.mean == 0.0 and blocks.mean_loss > 0.5 and metric.scale == "log" and metric.range[1] < np.inf
    return OneMore(metric.smooth(more) + offset, variance, mirrored)


def _at_top(metric: Metric, offset: float, rows: _Rows, size: Sizes, units: float) -> OneMore:
    """Return what the unseen loss makes of a metric if it is spread over so many of the most confident samples."""
    blocks = rows.blocks
    mass = units * blocks.total_weight / blocks.n
    there = np.clip(mass - (blocks.cumulative_weight - blocks.weight), 0.0, blocks.weight) / units
    oracle = None if blocks.binary else blocks._oracle
    more = replace(blocks, loss=blocks.loss + size.mean * size.number * there, moments=None, _oracle=oracle)
    seen, _ = rows.squares(gradient(metric, more), size, blocks.weight)
    shift = metric.smooth(more) - metric.smooth(blocks)
    return OneMore(metric.smooth(more) + offset, (seen + shift**2) * _few(metric, blocks))


class _Rows:
    """The rows that were seen, and how the gradient scatters over them that several metrics are derived from."""

    def __init__(self, blocks: TieBlocks, sampling: Sampling) -> None:
        self.blocks, self.sampling = blocks, sampling
        self.counted = blocks.binary and blocks._kept.sample_weight is None and sampling.independent
        self._last: tuple[ref[Gradient], tuple[Scatter, Scatter]] | None = None  # its columns are not kept for it

    def squares(self, derivative: Gradient, size: Sizes, cubes: FloatArray) -> tuple[float, float]:
        """Return the variance of the rows, and the sum of squares of what an unseen loss at each of them does."""
        if not self.counted:
            terms, times = counted_terms(derivative, self.blocks, self.sampling)
            return over_rows(terms**2, times), _moved(derivative, size, cubes)
        if not isinstance(derivative, Derived):
            return counted_powers(derivative, self.blocks).square, _moved(derivative, size, cubes)
        if self._last is None or self._last[0]() is not derivative.own:
            self._last = ref(derivative.own), scatters(derivative.own, self.blocks)
        (right, wrong), (success, error) = self._last[1], derivative.terms
        everywhere = success if size.mean == 0.0 else error
        return right.square(*success) + wrong.square(*error), right.square(*everywhere) + wrong.square(*everywhere)


def _moved(derivative: Gradient, size: Sizes, cubes: FloatArray) -> float:
    """Return the sum of squares of what one unseen loss at each row does, times the row's share of all weight."""
    total = 0.0
    for part in parts(cubes.size):
        a, b = derivative.part(part)
        if size.mean == size.square:  # 0 or 1, as 0/1 losses are
            moved = (a if size.mean == 0.0 else a + b) ** 2
        else:
            moved = a * a + 2.0 * size.mean * a * b + size.square * b * b
        total += inner(cubes[part], moved)
    return total


def augmented(blocks: TieBlocks, size: Sizes) -> tuple[TieBlocks, FloatArray]:
    """Return the table with the unseen loss spread over its rows, and per block the sum of w^3.

    The optimum of a loss that is not 0/1 keeps its table: its small change would make excess areas smaller.
    """
    samples = blocks._kept
    if samples.sample_weight is None and len(blocks) > MOST_KEPT:
        return _WithOneMore.of(blocks, size), blocks.weight
    second: Any = blocks.weight
    third = second
    if samples.sample_weight is not None:
        weight, block = to_numpy(samples.sample_weight), to_numpy(samples.block)
        times = 1.0 if samples.times is None else samples.times
        second, third = (np.bincount(block, times * weight**k, len(blocks)) for k in (2, 3))
    added = second / blocks.total_weight * size.number
    weight, loss = blocks.weight + added, blocks.loss + size.mean * added
    oracle = None if blocks.binary else blocks._oracle
    return replace(blocks, weight=weight, loss=loss, frequencies=False, moments=None, _oracle=oracle), third


class _WithOneMore(TieBlocks):
    """The same of unweighted rows, whose columns are made when they are read, from those of the table without it.

    Of a table of millions of blocks four more columns are felt.
    """

    _without: TieBlocks
    _size: Sizes

    def __new__(cls, *columns: Any, **named: Any) -> TieBlocks:  # type: ignore[misc]
        """Return a plain table of new columns, as ``replace`` and ``merge`` make one."""
        return TieBlocks(*columns, **named) if columns or named else super().__new__(cls)

    @classmethod
    def of(cls, without: TieBlocks, size: Sizes) -> TieBlocks:
        """Return the table that makes its columns."""
        table = cls.__new__(cls)
        kept = ("score", "count", "binary", "samples", "n_rejected", "n_dropped", "n")
        table.__dict__.update({name: getattr(without, name) for name in kept}, _without=without, _size=size)
        table.__dict__.update(frequencies=False, moments=None, _oracle=None if without.binary else without._oracle)
        return table

    def _part(self, column: str, part: slice) -> FloatArray:
        without, (mean, _, number) = self._without, self._size
        if mean == 0.0 and column in ("loss", "cumulative_loss"):
            return without._part(column, part)
        total, accepted = without.total_weight, without.cumulative_weight
        if column == "cumulative_weight":
            return np.asarray(accepted[part] * (1.0 + number / total))
        if column == "cumulative_loss":
            more = accepted[part] * (mean * (number / total))
            more += without.cumulative_loss[part]
            return more

        def added(weight: FloatArray, *factors: float) -> FloatArray:
            more = weight / total
            for factor in factors:
                if factor != 1.0:  # as for each error of a 0/1 loss
                    more *= factor
            return more

        if column == "weight":
            return mapped(without.weight[part], lambda weight: weight + added(weight, number))
        return np.asarray(without.loss[part] + mapped(without.weight[part], lambda weight: added(weight, number, mean)))

    def _whole(self, column: str) -> FloatArray:
        found = self._part(column, slice(None))
        found.flags.writeable = False
        return found

    @property
    def _grown_from(self) -> tuple[TieBlocks, float, float]:
        each = self._size.number / self._without.total_weight
        return self._without, 1.0 + each, self._size.mean * each

    @property
    def weight(self) -> FloatArray:
        return self._whole("weight")

    @property
    def loss(self) -> FloatArray:
        return self._whole("loss")

    @property
    def cumulative_weight(self) -> FloatArray:
        return self._whole("cumulative_weight")

    @property
    def cumulative_loss(self) -> FloatArray:
        return self._whole("cumulative_loss")

    @property
    def total_weight(self) -> float:
        return float(self._part("cumulative_weight", slice(-1, None))[0])

    @property
    def total_loss(self) -> float:
        return float(self._part("cumulative_loss", slice(-1, None))[0])


def sizes_of(blocks: TieBlocks, clusters: IntArray | None = None) -> Sizes:
    """Return the unseen loss: of the sizes that were seen, drawn in proportion to size. An error of a 0/1 loss is 1.

    In a cluster, as many come at once as in the clusters that were seen, again drawn in proportion; where no error was
    seen, all rows of a cluster.
    """
    if blocks.binary and clusters is None:
        return Sizes(1.0, 1.0, 1.0)
    samples = blocks._kept
    loss, weight = to_numpy(samples.loss), 1.0 if samples.sample_weight is None else to_numpy(samples.sample_weight)
    times = 1.0 if samples.times is None else samples.times
    loss = loss if loss.any() else np.ones_like(loss)
    first, second, third = (float(np.sum(times * weight * loss**k)) for k in (1, 2, 3))
    number = 1.0
    if clusters is not None:
        sums = np.bincount(clusters, times * weight * loss)
        number = max(1.0, float(np.sum(sums**2)) / float(np.sum(times * (weight * loss) ** 2)))
    return Sizes(second / first, third / first, number)


def _few(metric: Metric, blocks: TieBlocks) -> float:
    """Return what few errors make of the variance, now that they are one more."""
    if not isinstance(metric.said(metric.few_errors), Relative):
        return 1.0
    number = max(limit_of(metric, blocks).df + 1.0, 1.0)
    return ((number + 1.0) / number) ** 2


def worse_ends(metric: Metric, unseen: tuple[OneMore, ...], level: float) -> Iterator[float]:
    """Yield the ends that reserve room for what was not seen: towards the worse, for most metrics.

    On the log scale the quantile of a gamma distribution of that mean and variance, on the logit scale that of a beta
    distribution of the distance from the best value. Where a metric averages over the errors, an unseen one can also
    speak for the ranking: it has both ends. Where most samples are wrong the better end is the gamma's below the worst
    value, from the successes.
    """
    base, tail = metric.base, 0.5 + 0.5 * level
    tails = (tail, 1.0 - tail) if isinstance(metric.said(metric.few_errors), Relative) else (tail,)
    for estimate, variance, mirrored in unseen:
        if mirrored:
            worst = base.range[1] if base.worst is None else base.worst(1.0, **base.settings)
            end = _gamma(worst - estimate, variance, tail)
            if end is not None:
                yield worst - end if metric.image is None else metric.image(worst - end)
        for each in tails:
            end = _gamma(estimate, variance, each) if base.scale == "log" else _beta(base, estimate, variance, each)
            if end is not None:
                yield end if metric.image is None else metric.image(end)


def _gamma(estimate: float, variance: float, tail: float) -> float | None:
    if estimate <= 0.0 or variance <= 1e-24 * estimate**2:
        return None
    from scipy.special import gammaincinv

    return float(gammaincinv(estimate**2 / variance, tail)) * variance / estimate


def _beta(metric: Metric, estimate: float, variance: float, tail: float) -> float | None:
    least, most = metric.range
    best, worst = (least, most) if metric.direction == "lower" else (most, least)
    mean, square = (estimate - best) / (worst - best), variance / (worst - best) ** 2
    if not 0.0 < mean < 1.0 or square <= 1e-24:
        return None
    size = mean * (1.0 - mean) / square - 1.0
    if size <= 0.0:
        return worst if tail > 0.5 else best
    from scipy.special import betaincinv

    return best + (worst - best) * float(betaincinv(mean * size, (1.0 - mean) * size, tail))
