"""Which rows to label: designs with exact probabilities, further stages, and what a design is expected to bring."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from abstain._checks import whole
from abstain._typing import ArrayLike, Document, FloatArray, IntArray
from abstain.metrics import Metric
from abstain.pool import _pair
from abstain.pool._estimate import per_row, plain_variance
from abstain.pool._interval import gamma_end
from abstain.pool._labels import sample_of
from abstain.pool._pool import Pool

if TYPE_CHECKING:
    from abstain.pool._plan import LabelPlan

Design = Literal["uniform", "levelled", "adaptive", "planned"]

#: A levelled plan lets no label stand for a weight above so many times that of a usual row.
LEVEL = 2.0
#: Draws per block of neighbours in confidence, inside which the order is random.
SPREAD = 5.0
#: Share of the labels that an adaptive plan asks for first.
FIRST = 0.25
#: An adaptive second stage needs so many errors, and has to reach this ratio of variances.
ERRORS, GAIN = 5, 0.9
#: Share of planned probabilities that is the same for all rows: no row is far from being drawn.
FLOOR = 0.3
#: Errors that count as much as the overall risk where probabilities are planned by a fit.
SHRINK = 5.0
#: From this stated error rate on the first stage too leans to where labels help, but for this share of it.
OFTEN, CAUTIOUS = 0.15, 0.5


def proportional(size: FloatArray, n: int) -> FloatArray:
    """Return probabilities that sum to n, proportional to the sizes but for those at 1."""
    probability = np.zeros(len(size))
    certain = np.zeros(len(size), dtype=bool)
    while True:
        free = (size > 0.0) & ~certain
        left = n - int(certain.sum())
        if not free.any() or left >= free.sum():
            probability[free] = 1.0
            break
        probability[free] = size[free] * (left / size[free].sum())
        over = free & (probability >= 1.0 - 1e-9)
        if not over.any():
            break
        certain |= over
        probability[over] = 1.0
    probability[certain] = 1.0
    return probability


def mixed(size: FloatArray, n: int, floor: float = FLOOR) -> FloatArray:
    """Return probabilities that sum to n: a share alike for all rows, the rest in proportion."""
    even = np.full(len(size), 1.0 / len(size))
    total = float(size.sum())
    return proportional(floor * even + (1.0 - floor) * (size / total if total > 0.0 else even), n)


def sizes(metric: Metric, pool: Pool, risk: FloatArray) -> FloatArray:
    """Return what probabilities should be in proportion to, with little known: the root of the weight tempers it."""
    return np.sqrt(np.abs(weights(metric, pool, risk)) * risk * (1.0 - risk))


def best(metric: Metric, pool: Pool, risk: FloatArray) -> FloatArray:
    """Return what probabilities should be in proportion to if this is the risk (Neyman)."""
    return np.abs(weights(metric, pool, risk)) * np.sqrt(risk * (1.0 - risk))


def levelled(metric: Metric, pool: Pool, risk: FloatArray, among: IntArray) -> FloatArray:
    """Return what probabilities are in proportion to where no label is to stand for much more than another.

    One, or more for the rows of which an error counts above :data:`LEVEL` times the mean: the errors that decide a
    metric are then among the labels as often as others. For AURC these are the most confident 14 % of the rows, which
    get 20 % of the labels; of AUGRC an error counts at most twice the mean, and all rows are alike.
    """
    weight = np.abs(weights(metric, pool, risk)[among])
    return np.asarray(np.maximum(weight / (LEVEL * max(float(weight.mean()), 1e-300)), 1.0))


def early(design: str, error_rate: float | None) -> bool:
    """Whether the first stage of a plan, too, leans to where labels are expected to help."""
    return design == "adaptive" and error_rate is not None and error_rate >= OFTEN


# ---------------------------------------------------------------------- the draw


def seed_of(seed: int | None) -> int:
    """Return a seed that was given, or a new one."""
    return secrets.randbits(32) if seed is None else whole(seed, "seed", least=0)


def generator(seed: int, stage: int, digest: str) -> np.random.Generator:
    """Return a generator of draws: the same seed draws independently in every stage and every pool.

    If it drew the same places, sorted pools of several weeks would be labelled at the same ranks, and all miss the same
    errors.
    """
    return np.random.default_rng([seed, stage, int(digest[:16], 16)])


def drawn(
    pool: Pool, probability: FloatArray, among: IntArray, n: int, rng: np.random.Generator, *, even: bool
) -> IntArray:
    """Return rows drawn with these probabilities."""
    if even:
        return np.sort(rng.choice(among, n, replace=False))
    return spread(np.argsort(pool.block, kind="stable"), probability, rng)


def spread(order: IntArray, probability: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return rows drawn with these probabilities, which sum to a whole number: so many, spread over the confidence.

    Systematic sampling with one random start, of rows by confidence, shuffled among neighbours. Without the shuffle
    there are as few different samples as steps, and no variance formula knows.
    """
    open_rows = order[(probability[order] > 0.0) & (probability[order] < 1.0)]
    certain = np.flatnonzero(probability >= 1.0)
    total = probability[open_rows].sum()
    n = round(float(total))
    if n == 0:
        return certain
    place = np.cumsum(probability[open_rows])
    block = np.floor((place - 0.5 * probability[open_rows]) / SPREAD)
    open_rows = open_rows[np.lexsort((rng.random(len(open_rows)), block))]
    place = np.cumsum(probability[open_rows]) * (n / total)
    place[-1] = n
    drawn = open_rows[np.searchsorted(place, rng.random() + np.arange(n), side="right")]
    return np.sort(np.concatenate([certain, drawn]))


# ---------------------------------------------------------------------- further stages


def extended(plan: LabelPlan, loss: ArrayLike, n: int | None, seed: int | None) -> LabelPlan:
    """Return a plan with one more stage."""
    sample = sample_of(plan, loss)
    metric, pool, held = plan.measure(), plan.pool, plan.facts.held_back
    if n is None and not held:
        raise TypeError("how many rows more? give n, such as plan.extend(loss, n=200)")
    left = np.flatnonzero((plan.stage == 0) & plan.frame)
    n = enough(held if n is None else n, len(left), pool.n, "are not labelled yet")
    probability, even = np.zeros(pool.n), True
    probability[left] = n / len(left)
    if plan.other is not None and plan.design == "planned":
        size = plan.pair.sizes(metric, plan.facts.error_rate)[left]
        probability[left], even = mixed(size, n, _pair.FLOOR), False
    elif plan.design == "levelled":
        probability[left], even = proportional(levelled(metric, pool, sample.risk, left), n), False
    elif plan.design == "planned":
        probability[left], even = mixed(sizes(metric, pool, sample.risk)[left], n), False
    elif plan.design == "adaptive" and min(sample.errors, sample.n - sample.errors) >= ERRORS:
        per_loss = weights(metric, pool, sample.risk)[left]
        mean = float(sample.risk[left].mean())  # where few errors were seen, the fit is drawn towards its mean
        eta = mean + (sample.risk[left] - mean) * sample.errors / (sample.errors + SHRINK)
        better = mixed(np.abs(per_loss) * np.sqrt(eta * (1.0 - eta)), n)  # other metrics are asked of it, too
        square = per_loss**2 * eta * (1.0 - eta)
        if draw_variance(square, better) <= GAIN * draw_variance(square, probability[left]):
            probability[left], even = better, False
    known = seed_of(seed)
    rows = drawn(pool, probability, left, n, generator(known, plan.n_stages, plan.digest), even=even)
    stage = plan.stage.copy()
    stage[rows] = plan.n_stages + 1
    together = np.where(plan.stage > 0, 1.0, probability)
    facts = replace(
        plan.facts,
        seeds=(*plan.facts.seeds, known),
        held_back=max(held - n, 0),
        expected=expected(metric, pool, sample.risk, np.where(plan.frame, together, 0.0), plan.facts.level),
    )
    return replace(plan, stage=stage, probability=np.vstack([plan.probability, probability]), facts=facts)


def enough(n: Any, rows: int, total: int, which: str = "can be drawn") -> int:
    """Return a number of labels that is at most that of the rows which are there."""
    number = whole(n, "n")
    if number > rows:
        what = f"the pool has {rows} rows" if rows == total else f"{rows} of the {total} rows {which}"
        raise ValueError(f"n={number} labels, but {what}; n={rows} labels them all, and nothing is left to estimate")
    return number


# ---------------------------------------------------------------------- what a design is expected to bring


class Expected(NamedTuple):
    """Half-width that a plan expects, and how many labels plain evaluation would need for it.

    ``errors``: how many the labels are expected to show; ``room``: the share of the half-width that is kept for one
    that none of them shows.
    """

    halfwidth: float
    plain: float
    errors: float
    room: float


@dataclass(frozen=True)
class PlanFacts:
    """What a plan was made from, and what is expected of it.

    Parameters
    ----------
    seeds : tuple of int
        Of the draws of all stages.
    level : float
        Of the interval that is planned for.
    error_rate : float or None
        The expected one, if it was stated.
    held_back : int
        Labels of the budget that no stage has asked for yet.
    region : float or None
        Share of the pool, the most confident rows, that labels are drawn from.
    expected : Expected
        Half-width of the interval, and what it is compared with.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> abstain.plan_labels(np.linspace(0, 1, 1000), n=50, seed=7).facts.seeds
    (7,)
    """

    seeds: tuple[int, ...]
    level: float
    error_rate: float | None
    held_back: int
    region: float | None
    expected: Expected

    def to_dict(self) -> Document:
        """Return these as a file has them."""
        own = {name: value for name, value in vars(self).items() if name != "expected"}
        return own | {f"expected_{name}": value for name, value in self.expected._asdict().items()}

    @classmethod
    def of_dict(cls, found: Document) -> PlanFacts:
        """Return the facts of a file; those of older versions call the region a zone and lack the last two numbers."""
        hope = [found["expected_halfwidth"], found["expected_plain"]]
        hope += [found.get("expected_errors", math.inf), found.get("expected_room", 0.0)]
        region = found["region"] if "region" in found else found["zone"]
        held = int(found.get("held_back", 0))
        return cls(tuple(found["seeds"]), found["level"], found["error_rate"], held, region, Expected(*hope))


def draw_variance(square: FloatArray, probability: FloatArray) -> float:
    """Return the variance of the estimate of a sum whose terms have these mean squares, drawn with these chances."""
    counted = (square > 0.0) & (probability > 0.0)
    return float(np.sum(square[counted] * (1.0 / probability[counted] - 1.0)))


def weights(metric: Metric, pool: Pool, risk: FloatArray) -> FloatArray:
    """Return what an error in each row adds to the metric, where the risk is as guessed."""
    return per_row(metric, pool.table(pool.sums(risk)), pool)


def expected(metric: Metric, pool: Pool, risk: FloatArray, probability: FloatArray, level: float) -> Expected:
    """Return the half-width that rows drawn with these probabilities are expected to give."""
    per_loss = weights(metric, pool, risk)
    inside = probability > 0.0
    w, r, pi = per_loss[inside], risk[inside], probability[inside]
    variance = draw_variance(w * w * r * (1.0 - r), pi)
    n, room = float(pi.sum()), 0.0
    tail = 0.5 + 0.5 * level
    if metric.base.scale == "log" and metric.attribution is not None and metric.image is None:
        value = float(per_loss @ risk)
        unseen = float(np.sum(w * (1.0 - pi))) / n
        square = float(np.sum(pi * (w * (1.0 / pi - 1.0)) ** 2)) / n
        low, high = gamma_end(value, variance, 1.0 - tail), gamma_end(value, variance, tail)
        more = max(gamma_end(value + unseen, variance + square, tail) - high, 0.0)
        halfwidth = 0.5 * (high + more - low)
        room = 0.5 * more / halfwidth if halfwidth > 0.0 else 0.0
    else:
        halfwidth = NormalDist().inv_cdf(tail) * math.sqrt(variance)
    one = plain_variance(metric, pool, risk)
    return Expected(halfwidth, one / variance if variance > 0.0 else math.inf, float(pi @ r), room)


def needed(
    metric: Metric, pool: Pool, risk: FloatArray, among: IntArray, halfwidth: float, level: float, size: FloatArray
) -> int:
    """Return the fewest rows, drawn in proportion to sizes, whose expected half-width is at most this one."""
    low, high = 0, len(among)
    while high - low > 1:
        middle = (low + high) // 2
        probability = np.zeros(pool.n)
        probability[among] = proportional(size, middle)
        if expected(metric, pool, risk, probability, level).halfwidth <= halfwidth:
            high = middle
        else:
            low = middle
    return high
