"""Populations for ``benchmarks.live`` whose risk is known. Shapes are numbers of rows, or (streams, rows)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LIMIT, DELTA = 0.05, 0.05
Rng = np.random.Generator
Shape = int | tuple[int, int]
Draw = Callable[[Shape, Rng], dict[str, Any]]
SIXTY, TWENTY = np.linspace(1, 0, 61)[1:], np.linspace(1, 0, 21)[1:]


def at_the_limit(threshold: float, group: str = "") -> float:
    """Return the risk at every threshold of populations that stay at the limit."""
    return LIMIT


@dataclass(frozen=True)
class Population:
    """A stream: ``draw`` gives score, loss and what else a row has; ``risk(threshold, group)`` is the truth."""

    draw: Draw
    risk: Callable[[float, str], float] = at_the_limit
    thresholds: np.ndarray = field(default_factory=lambda: SIXTY)
    options: dict[str, Any] = field(default_factory=dict)


def by_steps(levels: Any, share: Any, error: Any) -> Population:
    """Return a population with a few score levels, each with its share and error rate."""
    level, part, wrong = np.array(levels), np.array(share) / np.sum(share), np.array(error)

    def draw(n: Shape, rng: Rng) -> dict[str, Any]:
        at = rng.choice(len(level), n, p=part)
        return {"confidence": level[at], "loss": (rng.random(n) < wrong[at]).astype(float)}

    def risk(threshold: float, group: str = "") -> float:
        mine = level >= threshold
        return float((part * wrong)[mine].sum() / part[mine].sum())

    return Population(draw, risk, level)


def by_rate(rate: Callable[[Any], Any], risk: Callable[[float], float], more: tuple[float, ...] = ()) -> Population:
    """Return uniform scores with an error rate for each; ``more``: additional thresholds."""

    def draw(n: Shape, rng: Rng) -> dict[str, Any]:
        score = rng.random(n)
        return {"confidence": score, "loss": (rng.random(n) < rate(score)).astype(float)}

    return Population(draw, lambda threshold, group="": risk(threshold), np.append(SIXTY, more))


def plateau() -> Population:
    """Return a risk that is the limit exactly at every threshold below the median of the scores."""
    return by_rate(lambda score: LIMIT, at_the_limit)


def like_mmlu() -> Population:
    """Return scores that crowd near one, with errors among the most confident."""
    return by_steps(1 - np.geomspace(1e-7, 0.7, 60), np.ones(60), 0.025 + 0.45 * np.linspace(0, 1, 60) ** 2.2)


def confident_errors() -> Population:
    """Return errors that lie in the most confident fiftieth and in the lower half."""
    error = np.where(np.arange(50) == 0, 0.6, np.where(np.arange(50) < 25, 0.02, 0.15))
    return by_steps(np.linspace(0.99, 0.01, 50), np.ones(50), error)


def sorted_days(n: Shape, rng: Rng) -> dict[str, Any]:
    """Draw the plateau with the right rows of each day first."""
    rows = plateau().draw(n, rng)
    order = np.argsort(rows["loss"], axis=-1, kind="stable")
    return {name: np.take_along_axis(column, order, axis=-1) for name, column in rows.items()}


def graded() -> Population:
    """Return losses in [0, 2] with a mean at the limit below the median score."""

    def draw(n: Shape, rng: Rng) -> dict[str, Any]:
        score = rng.random(n)
        mean = np.where(score > 0.5, 0.5 * LIMIT, 1.5 * LIMIT)
        return {"confidence": score, "loss": 2 * rng.beta(mean, 2 - mean)}

    def risk(t: float, group: str = "") -> float:
        return (0.5 * LIMIT * 0.5 + 1.5 * LIMIT * (0.5 - t)) / (1 - t) if t < 0.5 else 0.5 * LIMIT

    return Population(draw, risk, options={"max_loss": 2.0})


def weighted() -> Population:
    """Return weights that go with errors, so that only the weighted risk is at the limit."""

    def draw(n: Shape, rng: Rng) -> dict[str, Any]:
        score, heavy = rng.random(n), rng.random(n) < 0.2
        wrong = rng.random(n) < np.where(heavy, 0.1, 0.0375)  # (4 * .1 * .2 + .0375 * .8) / (4 * .2 + .8) = .06875
        fine = score > 0.4
        wrong &= ~fine | (rng.random(n) < LIMIT / 0.06875)
        return {"confidence": score, "loss": wrong.astype(float), "sample_weight": np.where(heavy, 4.0, 1.0)}

    def risk(t: float, group: str = "") -> float:
        return LIMIT if t >= 0.4 else (0.6 * LIMIT + (0.4 - t) * 0.06875) / (1 - t)

    return Population(draw, risk, options={"max_weight": 4.0})


def grouped() -> Population:
    """Return three groups: below, at and above the limit."""
    rate = {"a": 0.02, "b": LIMIT, "c": 0.08}

    def draw(n: Shape, rng: Rng) -> dict[str, Any]:
        at = rng.integers(0, 3, n)
        wrong = rng.random(n) < np.array(list(rate.values()))[at]
        return {"confidence": rng.random(n), "loss": wrong.astype(float), "groups": np.array(list(rate))[at]}

    return Population(draw, lambda t, group="": rate[group], TWENTY, {"groups": ("a", "b", "c")})


def clustered(n: Shape, rng: Rng) -> dict[str, Any]:
    """Draw clusters of 1 or 20 rows, in whole right or wrong: the risk of rows is at the limit.

    The last cluster may go beyond the rows that were asked for. Streams end with rows that have no cluster (-1).
    """
    assert isinstance(n, tuple)
    streams, rows = n
    size = np.where(rng.random(n) < 0.05, 20, 1)
    size[np.cumsum(size, axis=1) - size >= rows] = 0
    wrong = rng.random(n) < LIMIT
    number = np.full((streams, rows + 19), -1)
    each = np.repeat(np.tile(np.arange(rows), streams), size.ravel())
    number[np.arange(rows + 19) < size.sum(axis=1)[:, np.newaxis]] = each
    loss = np.take_along_axis(wrong, np.maximum(number, 0), axis=1).astype(float)
    score = np.where(number < 0, np.nan, rng.random(number.shape))
    return {"confidence": score, "loss": loss, "clusters": number}


# ---------------------------------------------------------------------- chosen against the certificate


def tiny_group() -> Population:
    """Return errors of one row in a hundred alone, the most confident ones: above the limit, then at it exactly."""
    rate = lambda score: np.where(score > 0.99, 1.0, np.where(score < 0.8, LIMIT, 0.0))  # noqa: E731
    return by_rate(rate, lambda t: 1.0 if t >= 0.99 else max(LIMIT, 0.01 / (1 - t)), (0.99,))


def safe_top() -> Population:
    """Return a safe upper fifth, whose answers are audited, and a risk at the limit from two fifths on."""

    def risk(t: float) -> float:
        return LIMIT if t <= 0.6 else 0.01 if t >= 0.8 else (0.002 + 0.09 * (0.8 - t)) / (1 - t)

    return by_rate(lambda score: np.where(score > 0.8, 0.01, np.where(score > 0.6, 0.09, LIMIT)), risk)


def rare_and_large(n: Shape, rng: Rng) -> dict[str, Any]:
    """Draw losses of 20, the largest possible, in one row of 400, and 0 in all others: a mean at the limit."""
    return {"confidence": rng.random(n), "loss": 20.0 * (rng.random(n) < LIMIT / 20)}


def rare_weights(n: Shape, rng: Rng) -> dict[str, Any]:
    """Draw one row in a hundred with a weight of 50, among which are all errors: a weighted risk at the limit."""
    heavy = rng.random(n) < 0.01
    wrong = heavy & (rng.random(n) < LIMIT * (0.99 + 0.5) / 0.5)
    return {"confidence": rng.random(n), "loss": wrong.astype(float), "sample_weight": np.where(heavy, 50.0, 1.0)}


TWELVE = tuple("abcdefghijkl")


def twelve_groups(n: Shape, rng: Rng) -> dict[str, Any]:
    """Draw twelve groups at the limit, of which each has twelve thresholds and a twelfth of delta."""
    group, wrong = rng.choice(TWELVE, n), rng.random(n) < LIMIT
    return {"confidence": rng.random(n), "loss": wrong.astype(float), "groups": group}


POPULATIONS: dict[str, Population] = {
    "smooth": by_rate(lambda score: 0.3 * (1 - score) ** 1.5, lambda t: 0.3 * (1 - t) ** 1.5 / 2.5),
    "like MMLU": like_mmlu(),
    "two levels": by_steps([0.9, 0.4], [1, 1], [0.03, 0.07]),
    "six levels": by_steps(
        [0.99, 0.95, 0.9, 0.8, 0.6, 0.3], [1, 1.5, 1.5, 2, 2, 2], [0.01, 0.03, 0.05, 0.09, 0.2, 0.4]
    ),
    "plateau at the limit": plateau(),
    "sorted within days": Population(sorted_days),
    "confident errors": confident_errors(),
    "graded losses": graded(),
    "weights": weighted(),
    "groups": grouped(),
    "clusters": Population(clustered, thresholds=TWENTY, options={"max_cluster": 20}),
    "one level at the limit": by_steps([0.9], [1.0], [LIMIT]),
    "first of three levels": by_steps([0.9, 0.5, 0.1], [0.05, 0.05, 0.9], [LIMIT, LIMIT, LIMIT]),
    "errors of a tiny group": tiny_group(),
    "safe top, then at the limit": safe_top(),
    "rare and large losses": Population(rare_and_large, thresholds=TWENTY, options={"max_loss": 20.0}),
    "rare large weights": Population(rare_weights, thresholds=TWENTY, options={"max_weight": 50.0}),
    "twelve groups at the limit": Population(
        twelve_groups, thresholds=np.linspace(1, 0, 13)[1:], options={"groups": TWELVE}
    ),
}
