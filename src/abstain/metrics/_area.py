"""Areas under risk-coverage curves: the numerics behind aurc, augrc and all that is derived from them.

Notation: block j has weight m_j and loss sum s_j, W_j and L_j are their cumulative sums, T = W_m the total.
The risk curve is read in one of three ways:

step        R(c) = R_j on (c_{j-1}, c_j]: a functional of the empirical distribution ("plugin")
linear      L(w) = L_{j-1} + (s_j / m_j)(w - W_{j-1}): losses mix inside a block, as under random tie breaking
ranks       weights that depend on integer ranks only ("harmonic", "log"), averaged over the ranks of a tie
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from abstain._checks import UnmetNeed, fraction
from abstain._sums import ROOM, inner, mapped, parts
from abstain._typing import FloatArray
from abstain.blocks import TieBlocks
from abstain.metrics._gradient import Derived, Gradient, lately
from abstain.metrics._rank_weights import harmonic_difference, mean_harmonic, mean_log

Range = tuple[float, float]
FULL: Range = (0.0, 1.0)


def check_range(coverage_range: Range) -> Range:
    """Return a coverage range 0 <= low < high <= 1."""
    if coverage_range is FULL:
        return FULL
    try:
        low, high = coverage_range
    except (TypeError, ValueError):
        raise TypeError(f"coverage_range must be a pair (low, high), got {coverage_range!r}") from None
    low, high = fraction(low, "coverage_range[0]"), fraction(high, "coverage_range[1]")
    if low >= high:
        raise ValueError(f"coverage_range must increase, got ({low}, {high})")
    return low, high


def from_below(values: FloatArray) -> FloatArray:
    """Sum of the values of this block and of all less confident ones."""
    return np.cumsum(values[::-1])[::-1]


def _shares_from_below(blocks: TieBlocks, coverage_range: Range) -> tuple[FloatArray, FloatArray]:
    """The sums from_below of the widths / W and of their products with the risk, as the parts of one complex sum.

    Each step of a sum waits for the one before, so that a sum of pairs costs no more than a sum of numbers.
    """
    pairs = np.empty(len(blocks), dtype=np.complex128)
    whole = None if coverage_range == FULL else _width(blocks, coverage_range)
    for part in parts(len(blocks)):
        width = blocks._part("weight", part) if whole is None else whole[part]
        np.divide(width, blocks._part("cumulative_weight", part), out=pairs.real[part])
        np.multiply(pairs.real[part], _risk(blocks, part), out=pairs.imag[part])
    np.cumsum(pairs[::-1], out=pairs[::-1])
    return pairs.real, pairs.imag


#: Tables with more blocks do not keep their risks for the sake of an area: of those the memory counts.
KEPT = 20_000


def _risk(blocks: TieBlocks, part: slice) -> FloatArray:
    """The risks of some blocks, from the table if it keeps them."""
    if len(blocks) <= KEPT or "selective_risk" in blocks.__dict__:
        return blocks.selective_risk[part]
    return blocks._part("cumulative_loss", part) / blocks._part("cumulative_weight", part)


def _weighed(blocks: TieBlocks, column: Callable[[slice], FloatArray]) -> float:
    """Return the sum of the weights times a column, of which parts are made: the sum of their products in parts.

    Of weights that are all 1 there are no products.
    """
    first = blocks._part("weight", slice(0, 1))
    if len(blocks) <= ROOM or not (first.strides[0] or first[0] != 1.0):
        return inner(blocks.weight, column(slice(None)))
    return math.fsum(inner(blocks._part("weight", part), column(part)) for part in parts(len(blocks), ROOM))


def below(values: FloatArray) -> FloatArray:
    """Sum of the values of all less confident blocks."""
    return from_below(values) - values


def _overlap(blocks: TieBlocks, coverage_range: Range) -> tuple[FloatArray, FloatArray]:
    """Ends of each block on the weight axis, clipped to the range."""
    W, T = blocks.cumulative_weight, blocks.total_weight
    low, high = (T * c for c in coverage_range)
    return np.clip(W - blocks.weight, low, high), np.clip(W, low, high)


def _width(blocks: TieBlocks, coverage_range: Range) -> FloatArray:
    """Weight of each block within the range."""
    if coverage_range == FULL:
        return blocks.weight
    start, end = _overlap(blocks, coverage_range)
    return end - start


# ---------------------------------------------------------------------- grown tables


def shared(name: str, gradient: Callable[[TieBlocks], Gradient], blocks: TieBlocks) -> Gradient:
    r"""Return the gradient of an area that is linear in the losses, and the same for all rankings of a constant loss.

    On a table that keeps one for several metrics, that one. On a table with :math:`\lambda` times the weights and
    :math:`\varepsilon` more loss per weight it follows from the one before, :math:`\alpha` and :math:`\beta`:
    :math:`(\alpha - \varepsilon\beta) / \lambda^2` and :math:`\beta / \lambda`. (Of such an area
    :math:`\sum_j m_j \beta_j` is the same number for all weights, so that the derivative of :math:`\beta` sums to
    :math:`-\beta_k`.)
    """
    grown = blocks._grown_from
    before, factor, more = (blocks, 1.0, 0.0) if grown is None else grown
    own = lately(before, name, gradient)
    if own is None:  # every table on its own
        return gradient(blocks)
    return Derived(own, (1.0 / factor**2, -more / factor**2, 0.0), (1.0 / factor, 0.0))


# ---------------------------------------------------------------------- step


def step_area(blocks: TieBlocks, coverage_range: Range = FULL) -> float:
    """Integral of the step curve R_j over coverage: (1/T) sum_j m_j L_j / W_j."""
    if coverage_range != FULL:
        return inner(_width(blocks, coverage_range), blocks.selective_risk) / blocks.total_weight
    return blocks.once("step_area", lambda: _full_step_area(blocks))


def _full_step_area(blocks: TieBlocks) -> float:
    grown = blocks._grown_from
    if grown is not None:
        before, factor, more = grown
        return (step_area(before) + more) / factor
    return _weighed(blocks, lambda part: _risk(blocks, part)) / blocks.total_weight


def step_gradient(blocks: TieBlocks, coverage_range: Range = FULL) -> Gradient:
    """Derivative of step_area: block k moves its own width, every risk from k on, and the total."""
    T = blocks.total_weight
    area = step_area(blocks, coverage_range)
    per_loss, shrink = _shares_from_below(blocks, coverage_range)
    if coverage_range == FULL:
        weight = shrink  # all in the memory of the pairs: a table may have millions of blocks
        for part in parts(len(blocks)):
            np.subtract(_risk(blocks, part), shrink[part], out=weight[part])
        weight -= area
        weight *= 1.0 / T
        per_loss *= 1.0 / T
        return Gradient(weight, per_loss)
    W, R = blocks.cumulative_weight, blocks.selective_risk
    low, high = (T * c for c in coverage_range)
    inside = (low < W) & (high > W)  # block ends that move the border between two steps
    borders = from_below(np.where(inside, R - np.append(R[1:], 0.0), 0.0))
    ends = coverage_range[1] * R[np.searchsorted(W, high)] - coverage_range[0] * R[np.searchsorted(W, low)]
    return Gradient((borders - shrink + ends - area) / T, per_loss / T)


# ---------------------------------------------------------------------- linear

#: (integral of k, integral of (w - W_{j-1}) k) over [start, end]
Kernel = Callable[[FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def uniform(start: FloatArray, end: FloatArray, origin: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Kernel k = 1: areas of the generalized risk."""
    width = end - start
    return width, width * (0.5 * (start + end) - origin)


def reciprocal(start: FloatArray, end: FloatArray, origin: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Kernel k = 1/w: areas of the selective risk L(w)/w."""
    width = end - start
    safe = np.where(start > 0.0, start, 1.0)
    logs = np.where(start > 0.0, np.log1p(width / safe), 0.0)  # from zero the risk is constant: no log term
    return logs, width - origin * logs


def linear_area(blocks: TieBlocks, kernel: Kernel, coverage_range: Range = FULL) -> float:
    """Integral of L(w) k(w) over the weights in the range, with L linear inside each block."""
    if kernel is uniform and coverage_range == FULL:
        sums = [_weighed(blocks, partial(blocks._part, column)) for column in ("cumulative_loss", "loss")]
        return sums[0] - 0.5 * sums[1]
    start, end = _overlap(blocks, coverage_range)
    base, slope = kernel(start, end, blocks.cumulative_weight - blocks.weight)
    return inner(blocks.cumulative_loss - blocks.loss, base) + inner(blocks.loss / blocks.weight, slope)


def linear_gradient(blocks: TieBlocks, kernel: Kernel, coverage_range: Range = FULL) -> Gradient:
    """Derivative of linear_area: the slope of block k, the height of all later blocks, and the two limits."""
    W, L, T = blocks.cumulative_weight, blocks.cumulative_loss, blocks.total_weight
    if kernel is uniform and coverage_range == FULL:
        return uniform_gradient(blocks)
    q = blocks.loss / blocks.weight
    base, slope = kernel(*_overlap(blocks, coverage_range), W - blocks.weight)

    def limit(c: float) -> float:
        """Integrand at coverage c times the speed c at which the limit moves."""
        j = min(int(np.searchsorted(W, c * T)), len(blocks) - 1)
        height = L[j] + q[j] * (c * T - W[j])
        return float(c * height if kernel is uniform else height / T) if c > 0.0 else 0.0

    limits = limit(coverage_range[1]) - limit(coverage_range[0])
    shares = slope / blocks.weight
    return Gradient(limits - q * shares - below(base * q), shares + below(base))


def uniform_gradient(blocks: TieBlocks, factor: float = 1.0, less: float = 0.0) -> Gradient:
    """Return a factor times the derivative of the area over all coverages, of which weights take a number off first.

    What the general form comes to, made in parts that fit the processor's cache.
    """
    T, per_weight, per_loss = blocks.total_weight, np.empty(len(blocks)), np.empty(len(blocks))
    for part in parts(len(blocks)):
        own = np.multiply(blocks._part("loss", part), -0.5, out=per_weight[part])
        own += blocks._part("cumulative_loss", part)
        own -= less
        own *= factor
        own = np.subtract(T, blocks._part("cumulative_weight", part), out=per_loss[part])
        own += mapped(blocks._part("weight", part), lambda m: 0.5 * m)
        own *= factor
    return Gradient(per_weight, per_loss)


# ---------------------------------------------------------------------- ranks


def require_counts(blocks: TieBlocks, what: str, instead: str = 'estimator="plugin"') -> None:
    """Refuse real weights where an estimator is defined on counts."""
    if not blocks.frequencies:
        raise UnmetNeed(
            f"{what} is defined on row counts, but sample_weight holds fractions; use {instead} for weights"
        )


def harmonic_weights(blocks: TieBlocks) -> FloatArray:
    """H_n - H_{n-r}, averaged over the ascending ranks r of each block (Zhou et al. 2025, Eq. 13)."""
    end = blocks.cumulative_weight
    start = end - blocks.weight
    return harmonic_difference(start, np.full_like(end, blocks.total_weight)) - mean_harmonic(start, end)


def log_weights(blocks: TieBlocks) -> FloatArray:
    """-ln(1 - r/(n+1)), averaged over the ascending ranks r of each block (Zhou et al. 2025, Eq. 18)."""
    end = blocks.cumulative_weight
    return np.asarray(np.log1p(blocks.total_weight) - mean_log(end - blocks.weight, end))


# ---------------------------------------------------------------------- trapezoid


def _trapezoid_shares(blocks: TieBlocks, coverage_range: Range = FULL) -> FloatArray:
    """How much of the width each risk R_j carries: half of both neighbouring segments, the first to the left end."""
    start, end = _overlap(blocks, coverage_range)
    middle = (0.5 * (start + end) - (blocks.cumulative_weight - blocks.weight)) / blocks.weight
    to_own, to_previous = (end - start) * middle, (end - start) * (1.0 - middle)
    share = np.asarray(to_own + np.append(to_previous[1:], 0.0))
    share[0] += to_previous[0]
    return share


def trapezoid_area(blocks: TieBlocks, coverage_range: Range = FULL) -> float:
    """Integral of R interpolated linearly between the points and constant to the left of the first."""
    R = blocks.selective_risk
    return inner(_trapezoid_shares(blocks, coverage_range), R) / blocks.total_weight


def trapezoid_per_loss(blocks: TieBlocks, coverage_range: Range = FULL) -> FloatArray:
    """Derivative of trapezoid_area with respect to the losses, over any range."""
    return from_below(_trapezoid_shares(blocks, coverage_range) / blocks.cumulative_weight) / blocks.total_weight


def trapezoid_gradient(blocks: TieBlocks) -> Gradient:
    """Derivative of trapezoid_area over the full range."""
    W, T, R, m = blocks.cumulative_weight, blocks.total_weight, blocks.selective_risk, blocks.weight
    heights = 0.5 * (R + np.append(R[0], R[:-1]))
    area = inner(m, heights) / T
    shrink = from_below(_trapezoid_shares(blocks) * R / W)
    return Gradient((heights - shrink - area) / T, trapezoid_per_loss(blocks))
