"""Populations for ``live.py`` whose risk is known. Shapes are numbers of rows, or (streams, rows)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

LIMIT, DELTA = 0.05, 0.05
Shape = int | tuple[int, int]
Draw = Callable[[Shape, np.random.Generator], dict[str, Any]]


@dataclass(frozen=True)
class Population:
    """A stream: ``draw`` gives score, loss and what else a row has; ``risk(threshold, group)`` is the truth."""

    draw: Draw
    risk: Callable[[float, str], float]
    thresholds: np.ndarray
    options: dict[str, Any]


def by_steps(levels: list[float], share: list[float], error: list[float], draw_loss: Any = None) -> Population:
    """Return a population with a few score levels, each with its share and error rate."""
    level, part, wrong = np.array(levels), np.array(share) / np.sum(share), np.array(error)

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        at = rng.choice(len(level), n, p=part)
        return {"confidence": level[at], "loss": (rng.random(n) < wrong[at]).astype(float)}

    def risk(threshold: float, group: str = "") -> float:
        mine = level >= threshold
        return float((part * wrong)[mine].sum() / part[mine].sum())

    return Population(draw, risk, level, {})


def smooth(scale: float = 0.3, power: float = 1.5) -> Population:
    """Return uniform scores whose error rate is scale * (1 - score) ** power."""

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        return {"confidence": score, "loss": (rng.random(n) < scale * (1 - score) ** power).astype(float)}

    return Population(draw, lambda t, group="": scale * (1 - t) ** power / (power + 1), np.linspace(1, 0, 61)[1:], {})


def plateau() -> Population:
    """Return a risk that is the limit exactly at every threshold below the median of the scores."""

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        return {"confidence": score, "loss": (rng.random(n) < LIMIT).astype(float)}

    return Population(draw, lambda t, group="": LIMIT, np.linspace(1, 0, 61)[1:], {})


def like_mmlu() -> Population:
    """Return scores that crowd near one, with errors among the most confident."""
    levels = 1 - np.geomspace(1e-7, 0.7, 60)
    error = 0.025 + 0.45 * np.linspace(0, 1, 60) ** 2.2
    return by_steps(levels.tolist(), np.ones(60).tolist(), error.tolist())


def confident_errors() -> Population:
    """Return errors that lie in the most confident fiftieth and in the lower half."""
    level = np.linspace(0.99, 0.01, 50)
    error = np.where(np.arange(50) == 0, 0.6, np.where(np.arange(50) < 25, 0.02, 0.15))
    return by_steps(level.tolist(), [1.0] * 50, error.tolist())


def sorted_days() -> Population:
    """Return the plateau with the right rows of each day first."""
    base = plateau()

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        rows = base.draw(n, rng)
        order = np.argsort(rows["loss"], axis=-1, kind="stable")
        return {name: np.take_along_axis(column, order, axis=-1) for name, column in rows.items()}

    return Population(draw, base.risk, base.thresholds, {})


def graded() -> Population:
    """Return losses in [0, 2] with a mean at the limit below the median score."""

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        mean = np.where(score > 0.5, 0.5 * LIMIT, 1.5 * LIMIT)
        return {"confidence": score, "loss": 2 * rng.beta(mean, 2 - mean)}

    def risk(t: float, group: str = "") -> float:
        return (0.5 * LIMIT * 0.5 + 1.5 * LIMIT * (0.5 - t)) / (1 - t) if t < 0.5 else 0.5 * LIMIT

    return Population(draw, risk, np.linspace(1, 0, 61)[1:], {"max_loss": 2.0})


def weighted() -> Population:
    """Return weights that go with errors, so that only the weighted risk is at the limit."""

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        score, heavy = rng.random(n), rng.random(n) < 0.2
        wrong = rng.random(n) < np.where(heavy, 0.1, 0.0375)  # (4 * .1 * .2 + .0375 * .8) / (4 * .2 + .8) = .06875
        fine = score > 0.4
        wrong &= ~fine | (rng.random(n) < LIMIT / 0.06875)
        return {"confidence": score, "loss": wrong.astype(float), "sample_weight": np.where(heavy, 4.0, 1.0)}

    def risk(t: float, group: str = "") -> float:
        return LIMIT if t >= 0.4 else (0.6 * LIMIT + (0.4 - t) * 0.06875) / (1 - t)

    return Population(draw, risk, np.linspace(1, 0, 61)[1:], {"max_weight": 4.0})


def grouped() -> Population:
    """Return three groups: below, at and above the limit."""
    rate = {"a": 0.02, "b": LIMIT, "c": 0.08}

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        at = rng.integers(0, 3, n)
        wrong = rng.random(n) < np.array(list(rate.values()))[at]
        return {"confidence": rng.random(n), "loss": wrong.astype(float), "groups": np.array(list(rate))[at]}

    return Population(draw, lambda t, group="": rate[group], np.linspace(1, 0, 21)[1:], {"groups": ("a", "b", "c")})


def clustered() -> Population:
    """Return clusters of 1 or 20 rows, in whole right or wrong: the risk of rows is at the limit.

    The last cluster may go beyond the rows that were asked for. Streams end with rows that have no cluster (-1).
    """

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        assert isinstance(n, tuple)
        streams, rows = n
        size = np.where(rng.random(n) < 0.05, 20, 1)
        size[np.cumsum(size, axis=1) - size >= rows] = 0
        wrong = rng.random(n) < LIMIT
        number = np.full((streams, rows + 19), -1)
        number[np.arange(rows + 19) < size.sum(axis=1)[:, np.newaxis]] = np.repeat(
            np.tile(np.arange(rows), streams), size.ravel()
        )
        loss = np.take_along_axis(wrong, np.maximum(number, 0), axis=1).astype(float)
        score = np.where(number < 0, np.nan, rng.random(number.shape))
        return {"confidence": score, "loss": loss, "clusters": number}

    return Population(draw, lambda t, group="": LIMIT, np.linspace(1, 0, 21)[1:], {"max_cluster": 20})


# ---------------------------------------------------------------------- chosen against the certificate


def tiny_group() -> Population:
    """Return errors of one row in a hundred alone, the most confident ones: above the limit, then at it exactly."""

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        wrong = (score > 0.99) | ((score < 0.8) & (rng.random(n) < LIMIT))
        return {"confidence": score, "loss": wrong.astype(float)}

    def risk(t: float, group: str = "") -> float:
        return 1.0 if t >= 0.99 else max(LIMIT, 0.01 / (1 - t))

    return Population(draw, risk, np.append(np.linspace(1, 0, 61)[1:], 0.99), {})


def safe_top() -> Population:
    """Return a safe upper fifth, whose answers are audited, and a risk at the limit from two fifths on."""

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        rate = np.where(score > 0.8, 0.01, np.where(score > 0.6, 0.09, LIMIT))
        return {"confidence": score, "loss": (rng.random(n) < rate).astype(float)}

    def risk(t: float, group: str = "") -> float:
        return LIMIT if t <= 0.6 else 0.01 if t >= 0.8 else (0.002 + 0.09 * (0.8 - t)) / (1 - t)

    return Population(draw, risk, np.linspace(1, 0, 61)[1:], {})


def rare_and_large() -> Population:
    """Return losses of 20, the largest possible, in one row of 400, and 0 in all others: a mean at the limit."""

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        return {"confidence": rng.random(n), "loss": 20.0 * (rng.random(n) < LIMIT / 20)}

    return Population(draw, lambda t, group="": LIMIT, np.linspace(1, 0, 21)[1:], {"max_loss": 20.0})


def rare_weights() -> Population:
    """Return one row in a hundred with a weight of 50, among which are all errors: a weighted risk at the limit."""

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        heavy = rng.random(n) < 0.01
        wrong = heavy & (rng.random(n) < LIMIT * (0.99 + 0.5) / 0.5)
        weight = np.where(heavy, 50.0, 1.0)
        return {"confidence": rng.random(n), "loss": wrong.astype(float), "sample_weight": weight}

    return Population(draw, lambda t, group="": LIMIT, np.linspace(1, 0, 21)[1:], {"max_weight": 50.0})


def twelve_groups() -> Population:
    """Return twelve groups at the limit, of which each has twelve thresholds and a twelfth of delta."""
    names = tuple("abcdefghijkl")

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
        group, wrong = rng.choice(names, n), rng.random(n) < LIMIT
        return {"confidence": rng.random(n), "loss": wrong.astype(float), "groups": group}

    return Population(draw, lambda t, group="": LIMIT, np.linspace(1, 0, 13)[1:], {"groups": names})


POPULATIONS: dict[str, Callable[[], Population]] = {
    "smooth": smooth,
    "like MMLU": like_mmlu,
    "two levels": lambda: by_steps([0.9, 0.4], [1, 1], [0.03, 0.07]),
    "six levels": lambda: by_steps(
        [0.99, 0.95, 0.9, 0.8, 0.6, 0.3], [1, 1.5, 1.5, 2, 2, 2], [0.01, 0.03, 0.05, 0.09, 0.2, 0.4]
    ),
    "plateau at the limit": plateau,
    "sorted within days": sorted_days,
    "confident errors": confident_errors,
    "graded losses": graded,
    "weights": weighted,
    "groups": grouped,
    "clusters": clustered,
    "one level at the limit": lambda: by_steps([0.9], [1.0], [LIMIT]),
    "first of three levels": lambda: by_steps([0.9, 0.5, 0.1], [0.05, 0.05, 0.9], [LIMIT, LIMIT, LIMIT]),
    "errors of a tiny group": tiny_group,
    "safe top, then at the limit": safe_top,
    "rare and large losses": rare_and_large,
    "rare large weights": rare_weights,
    "twelve groups at the limit": twelve_groups,
}
