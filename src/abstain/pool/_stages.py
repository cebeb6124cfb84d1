"""Stages of a plan: what is checked, which rows can be drawn, and with which probabilities."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from abstain._checks import vector, whole
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray
from abstain.metrics import Metric
from abstain.pool import _design, _expect, _labelled, _pair, _risk
from abstain.pool._pool import Pool

if TYPE_CHECKING:
    from abstain.pool._plan import LabelPlan

Design = Literal["uniform", "adaptive", "planned"]

#: Share of the labels that an adaptive plan asks for first.
FIRST = 0.25
#: An adaptive second stage needs so many errors, and has to promise this ratio of variances.
ERRORS, GAIN = 5, 0.9
#: Share of planned probabilities that is the same for all rows: no row is far from being drawn.
FLOOR = 0.3
#: From this stated error rate on the first stage too leans to where labels help, but for this share of it.
OFTEN, CAUTIOUS = 0.15, 0.5
#: What a judge is taken to be before any label: the risk where it says wrong, and where it says right.
ACCUSED, CLEARED = 0.5, 0.1


def extended(plan: LabelPlan, loss: Any, n: int | None, seed: int | None) -> LabelPlan:
    """Return a plan with one more stage."""
    sample = _labelled.sample_of(plan, loss)
    metric, pool, level = plan.measure(), plan.pool, plan.facts["level"]
    held = int(plan.facts.get("held_back", 0))
    if n is None and not held:
        raise TypeError("how many rows more? give n, such as plan.extend(loss, n=200)")
    left = np.flatnonzero((plan.stage == 0) & plan.frame)
    n = enough(held if n is None else n, len(left), pool.n, "are not labelled yet")
    probability, even = np.zeros(pool.n), True
    probability[left] = n / len(left)
    if plan.other is not None and plan.design == "planned":
        size = plan.pair.sizes(metric, plan.facts["error_rate"])[left]
        probability[left], even = mixed(size, n, _pair.FLOOR), False
    elif plan.design == "planned":
        probability[left], even = mixed(sizes(metric, pool, sample.risk)[left], n), False
    elif plan.design == "adaptive" and min(sample.errors, sample.n - sample.errors) >= ERRORS:
        per_loss = _expect.weights(metric, pool, sample.risk)[left]
        eta = _risk.shrunk(sample.risk[left], sample.errors)
        better = mixed(np.abs(per_loss) * np.sqrt(eta * (1.0 - eta)), n)  # other metrics are asked of it, too
        square = per_loss**2 * eta * (1.0 - eta)
        if np.all(better[square > 0.0] > 0.0) and _stage(square, better) <= GAIN * _stage(square, probability[left]):
            probability[left], even = better, False
    known = seed_of(seed)
    rows = drawn(pool, probability, left, n, known, even=even, stage=plan.n_stages, digest=plan.digest)
    stage = plan.stage.copy()
    stage[rows] = plan.n_stages + 1
    together = np.where(plan.stage > 0, 1.0, probability)
    hope = _expect.expected(metric, pool, sample.risk, np.where(plan.frame, together, 0.0), level)
    facts = dict(plan.facts) | {
        "seeds": [*plan.facts["seeds"], known], "held_back": max(held - n, 0), **hope.facts(),
    }  # fmt: skip
    return replace(plan, stage=stage, probability=np.vstack([plan.probability, probability]), facts=facts)


# ---------------------------------------------------------------------- what is given


def scores(confidence: ArrayLike, nan_policy: str) -> FloatArray:
    """Return the scores of a pool; one that is missing is refused or ranked last."""
    column: FloatArray = np.array(vector(confidence, "confidence", np, None), dtype=np.float64) + 0.0
    missing = np.isnan(column)
    if missing.any() and nan_policy == "raise":
        raise ValueError(
            f"confidence is NaN in {int(missing.sum())} of {len(column)} rows (first: row {int(np.argmax(missing)) + 1}"
            "); "
            'give nan_policy="reject" to rank these last, or leave them out of the pool'
        )
    column[missing] = -np.inf
    return column


def judged(judge: ArrayLike, n: int) -> FloatArray:
    """Return what a judge says of every row."""
    word: FloatArray = np.array(vector(judge, "judge", np, None), dtype=np.float64)
    if len(word) != n:
        raise ValueError(f"judge must hold one value per row: {n} rows, but {len(word)} values")
    bad = ~((word >= 0.0) & (word <= 1.0))
    if bad.any():
        raise ValueError(
            f"judge is no number in [0, 1] in {int(bad.sum())} of {n} rows (first: row {int(np.argmax(bad)) + 1}); ask "
            "it of every row: 1 = the model is wrong, 0 = right"
        )
    return word


def drawable(metric: Metric, pool: Pool, risk: FloatArray, zone: float | None) -> IntArray:
    """Return the rows that the metric counts, or the most confident ones where a zone is named."""
    if zone is None:
        return np.flatnonzero(_expect.weights(metric, pool, risk) != 0.0)
    if not isinstance(zone, int | float) or not 0.0 < zone <= 1.0:
        raise ValueError(f"zone must lie in (0, 1], the most confident share of the pool, got {zone!r}")
    inside_zone = pool.blocks.cumulative_weight <= zone * pool.n + 1e-9
    if not inside_zone.any():
        first = pool.blocks.cumulative_weight[0] / pool.n
        raise ValueError(
            f"zone={zone:g} holds no whole tie: the most confident {first:.4g} of the rows share one score; give at "
            "least that"
        )
    return np.flatnonzero(inside_zone[pool.block])


def guessed(pool: Pool, error_rate: float | None) -> FloatArray:
    """Return the risk of each row before any label."""
    if pool.judge is None:
        return _risk.generic(pool.rank, error_rate)
    accused = CLEARED + (ACCUSED - CLEARED) * pool.judge
    if error_rate is None:
        return accused
    odds = accused / (1.0 - accused)
    low, high = -40.0, 40.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        moved = odds * np.exp(middle)
        low, high = (middle, high) if float(np.mean(moved / (1.0 + moved))) < error_rate else (low, middle)
    moved = odds * np.exp(0.5 * (low + high))
    return np.asarray(moved / (1.0 + moved))


def enough(n: Any, rows: int, total: int, which: str = "can be drawn") -> int:
    number = whole(n, "n")
    if number > rows:
        what = f"the pool has {rows} rows" if rows == total else f"{rows} of the {total} rows {which}"
        raise ValueError(f"n={number} labels, but {what}; n={rows} labels them all, and nothing is left to estimate")
    return number


def seed_of(seed: int | None) -> int:
    return secrets.randbits(32) if seed is None else whole(seed, "seed", least=0)


def early(design: str, error_rate: float | None) -> bool:
    """Whether the first stage of a plan, too, leans to where labels are expected to help."""
    return design == "adaptive" and error_rate is not None and error_rate >= OFTEN


def sizes(metric: Metric, pool: Pool, risk: FloatArray) -> FloatArray:
    """Return what probabilities should be in proportion to, with little known: the root of the weight tempers it."""
    return np.sqrt(np.abs(_expect.weights(metric, pool, risk)) * risk * (1.0 - risk))


def best(metric: Metric, pool: Pool, risk: FloatArray) -> FloatArray:
    """Return what probabilities should be in proportion to if this is the risk (Neyman)."""
    return np.abs(_expect.weights(metric, pool, risk)) * np.sqrt(risk * (1.0 - risk))


def mixed(size: FloatArray, n: int, floor: float = FLOOR) -> FloatArray:
    """Return probabilities that sum to n: a share alike for all rows, the rest in proportion."""
    even = np.full(len(size), 1.0 / len(size))
    total = float(size.sum())
    return _design.proportional(floor * even + (1.0 - floor) * (size / total if total > 0.0 else even), n)


def second(compare: Any, n: int, nan_policy: str) -> tuple[FloatArray, BoolArray]:
    """Return the second score, and where the predictions differ: nowhere, if they are those of one model."""
    three = isinstance(compare, tuple) and len(compare) == 3
    column = scores(compare[0] if three else compare, nan_policy)
    if len(column) != n:
        raise ValueError(f"compare must hold one score per row: {n} rows, but {len(column)} scores")
    if not three:
        return column, np.zeros(n, dtype=bool)
    first, other = (np.asarray(each) for each in compare[1:])
    if first.shape != (n,) or other.shape != (n,):
        raise ValueError(f"compare=(confidence, predictions, predictions) needs {n} predictions of each model, got "
                         f"{first.shape} and {other.shape}")  # fmt: skip
    return column, np.asarray(first != other)


def _stage(square: FloatArray, probability: FloatArray) -> float:
    return float(np.sum(square[square > 0.0] * (1.0 / probability[square > 0.0] - 1.0)))


def digest(confidence: FloatArray, judge: Any, other: Any, differs: Any, ids: Any) -> str:
    """Return the SHA-256 (hex) of what is known of a pool before any label."""
    found = hashlib.sha256(np.ascontiguousarray(confidence + 0.0).tobytes())
    if judge is not None:
        found.update(b"judge" + np.ascontiguousarray(judge).tobytes())
    if other is not None and differs is not None:
        found.update(b"other" + np.ascontiguousarray(other + 0.0).tobytes() + differs.tobytes())
    if ids is not None:
        found.update("\x1f".join(map(str, ids)).encode())
    return found.hexdigest()


def drawn(
    pool: Pool, probability: FloatArray, among: IntArray, n: int, seed: int, *, even: bool, stage: int = 0,
    digest: str = "0",
) -> IntArray:  # fmt: skip
    """Return rows drawn with these probabilities; the same seed draws independently in every stage and every pool.

    If it drew the same places, sorted pools of several weeks would be labelled at the same ranks, and all miss the same
    errors.
    """
    rng = np.random.default_rng([seed, stage, int(digest[:16], 16)])
    if even:
        return _design.uniform(among, n, rng)
    return _design.spread(np.argsort(pool.block, kind="stable"), probability, rng)
