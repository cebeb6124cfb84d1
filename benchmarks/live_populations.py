"""Streams for ``live.py``: populations whose risk is known, and uses of a live certificate that might violate it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain.live import LiveCertificate

LIMIT, DELTA = 0.05, 0.05
Draw = Callable[[int, np.random.Generator], dict[str, Any]]


@dataclass(frozen=True)
class Population:
    """A stream: ``draw`` gives score, loss and what else a row has; ``risk(threshold, group)`` is the truth.

    ``by_day``: rows of a day have an order of their own, so days of several streams cannot be drawn at once.
    """

    draw: Draw
    risk: Callable[[float, str], float]
    thresholds: np.ndarray
    options: dict[str, Any]
    by_day: bool = False


def by_steps(levels: list[float], share: list[float], error: list[float], draw_loss: Any = None) -> Population:
    """Return a population with a few score levels, each with its share and error rate."""
    level, part, wrong = np.array(levels), np.array(share) / np.sum(share), np.array(error)

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        at = rng.choice(len(level), n, p=part)
        return {"confidence": level[at], "loss": (rng.random(n) < wrong[at]).astype(float)}

    def risk(threshold: float, group: str = "") -> float:
        mine = level >= threshold
        return float((part * wrong)[mine].sum() / part[mine].sum())

    return Population(draw, risk, level, {})


def smooth(scale: float = 0.3, power: float = 1.5) -> Population:
    """Return uniform scores whose error rate is scale * (1 - score) ** power."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        return {"confidence": score, "loss": (rng.random(n) < scale * (1 - score) ** power).astype(float)}

    return Population(draw, lambda t, group="": scale * (1 - t) ** power / (power + 1), np.linspace(1, 0, 61)[1:], {})


def plateau() -> Population:
    """Return a risk that is the limit exactly at every threshold below the median of the scores."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
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

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        rows = base.draw(n, rng)
        order = np.argsort(rows["loss"], kind="stable")
        return {name: column[order] for name, column in rows.items()}

    return Population(draw, base.risk, base.thresholds, {}, by_day=True)


def graded() -> Population:
    """Return losses in [0, 2] with a mean at the limit below the median score."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        mean = np.where(score > 0.5, 0.5 * LIMIT, 1.5 * LIMIT)
        return {"confidence": score, "loss": 2 * rng.beta(mean, 2 - mean)}

    def risk(t: float, group: str = "") -> float:
        return (0.5 * LIMIT * 0.5 + 1.5 * LIMIT * (0.5 - t)) / (1 - t) if t < 0.5 else 0.5 * LIMIT

    return Population(draw, risk, np.linspace(1, 0, 61)[1:], {"max_loss": 2.0})


def weighted() -> Population:
    """Return weights that go with errors, so that only the weighted risk is at the limit."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
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

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        names = rng.choice(list(rate), n)
        wrong = rng.random(n) < np.array([rate[name] for name in names])
        return {"confidence": rng.random(n), "loss": wrong.astype(float), "groups": names}

    return Population(draw, lambda t, group="": rate[group], np.linspace(1, 0, 21)[1:], {"groups": ("a", "b", "c")})


def clustered() -> Population:
    """Return clusters of 1 or 20 rows, in whole right or wrong: the risk of rows is at the limit."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        size = np.where(rng.random(n) < 0.05, 20, 1)
        size = size[: int(np.searchsorted(np.cumsum(size), n)) + 1]
        wrong = rng.random(len(size)) < LIMIT
        number = np.repeat(np.arange(len(size)), size)
        name = [f"{rng.integers(1 << 60)}-{k}" for k in range(len(size))]
        return {
            "confidence": rng.random(len(number)),
            "loss": wrong[number].astype(float),
            "clusters": np.array(name)[number],
        }

    return Population(draw, lambda t, group="": LIMIT, np.linspace(1, 0, 21)[1:], {"max_cluster": 20})


# ---------------------------------------------------------------------- chosen against the certificate


def tiny_group() -> Population:
    """Return errors of one row in a hundred alone, the most confident ones: above the limit, then at it exactly."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        wrong = (score > 0.99) | ((score < 0.8) & (rng.random(n) < LIMIT))
        return {"confidence": score, "loss": wrong.astype(float)}

    def risk(t: float, group: str = "") -> float:
        return 1.0 if t >= 0.99 else max(LIMIT, 0.01 / (1 - t))

    return Population(draw, risk, np.append(np.linspace(1, 0, 61)[1:], 0.99), {})


def safe_top() -> Population:
    """Return a safe upper fifth, whose answers are audited, and a risk at the limit from two fifths on."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        rate = np.where(score > 0.8, 0.01, np.where(score > 0.6, 0.09, LIMIT))
        return {"confidence": score, "loss": (rng.random(n) < rate).astype(float)}

    def risk(t: float, group: str = "") -> float:
        return LIMIT if t <= 0.6 else 0.01 if t >= 0.8 else (0.002 + 0.09 * (0.8 - t)) / (1 - t)

    return Population(draw, risk, np.linspace(1, 0, 61)[1:], {})


def rare_and_large() -> Population:
    """Return losses of 20, the largest possible, in one row of 400, and 0 in all others: a mean at the limit."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        return {"confidence": rng.random(n), "loss": 20.0 * (rng.random(n) < LIMIT / 20)}

    return Population(draw, lambda t, group="": LIMIT, np.linspace(1, 0, 21)[1:], {"max_loss": 20.0})


def rare_weights() -> Population:
    """Return one row in a hundred with a weight of 50, among which are all errors: a weighted risk at the limit."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        heavy = rng.random(n) < 0.01
        wrong = heavy & (rng.random(n) < LIMIT * (0.99 + 0.5) / 0.5)
        weight = np.where(heavy, 50.0, 1.0)
        return {"confidence": rng.random(n), "loss": wrong.astype(float), "sample_weight": weight}

    return Population(draw, lambda t, group="": LIMIT, np.linspace(1, 0, 21)[1:], {"max_weight": 50.0})


def twelve_groups() -> Population:
    """Return twelve groups at the limit, of which each has twelve thresholds and a twelfth of delta."""
    names = tuple("abcdefghijkl")

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
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


def violated(live: LiveCertificate, risk: Callable[[float, str], float]) -> bool:
    """Return whether a threshold was declared whose risk is not below the limit."""
    return any(risk(t, name) >= LIMIT * (1 - 1e-9) for name, found in live.certified.items() for t in found)


def drawn_by_policy(audit: float, days: int, rows: int, rng: np.random.Generator) -> bool:
    """Audit as the package draws, by names, with a chance that is chosen anew each day from what was seen."""
    population = plateau()
    live = LiveCertificate(risk=LIMIT, delta=DELTA, scores=rng.random(500))
    seed = int(rng.integers(1 << 60))
    for k in range(days):
        policy = live.policy(score="s", audit=audit if live.groups[""].labels % 2 else min(1.0, 2 * audit))
        day = population.draw(rows, rng)
        smallest = live.groups[""].smallest
        names = [f"{k}-{row}" for row in range(rows)]
        found = policy.decide(day["confidence"], ids=names, audit=smallest, seed=seed)
        loss = np.where(found.drawn, day["loss"], np.nan)
        live.update(day["confidence"], loss, label_probability=found.label_probability, ids=names)
    return violated(live, population.risk)


def late_labels(audit: float, days: int, rows: int, rng: np.random.Generator) -> bool:
    """Errors are known on the day, what is right after three: rows come again until their labels are due."""
    live = LiveCertificate(risk=LIMIT, delta=DELTA, thresholds=np.linspace(1, 0, 21)[1:], maturity=3)
    waiting: list[dict[str, np.ndarray]] = []
    for k in range(days):
        score, wrong = rng.random(rows), (rng.random(rows) < LIMIT).astype(float)
        chance = np.where(score >= live.threshold, audit, 1.0)
        loss = np.where(rng.random(rows) < chance, wrong, np.nan)
        waiting.append({"confidence": score, "loss": loss, "label_probability": chance, "time": np.full(rows, k)})
        known = {name: np.concatenate([one[name] for one in waiting]) for name in waiting[0]}
        young = (known["time"] > k - 3) & (known["loss"] == 0)
        live.update(**(known | {"loss": np.where(young, np.nan, known["loss"])}), as_of=k, again=True)
        waiting = waiting[-3:]
        live._issue(audit)
    return violated(live, lambda t, group: LIMIT)


def late_change(audit: float, days: int, rows: int, rng: np.random.Generator) -> bool:
    """Half of the days right wherever it counts, then at the limit; the certificate is begun anew at the change."""
    live = LiveCertificate(risk=LIMIT, delta=DELTA, thresholds=np.linspace(1, 0, 21)[1:], restarts=1)
    before = False
    for k in range(days):
        if k == days // 2:
            before = violated(live, lambda t, group: (0.005 + 0.09 * (0.5 - t)) / (1 - t) if t < 0.5 else 0.01)
            live.restart()
        score = rng.random(rows)
        rate = np.where((score > 0.5) & (k < days // 2), 0.01, np.where(k < days // 2, 0.09, LIMIT))
        chance = np.where(score >= live.threshold, audit, 1.0)
        wrong = (rng.random(rows) < rate).astype(float)
        loss = np.where(rng.random(rows) < chance, wrong, np.nan)
        live.update(score, loss, label_probability=chance, again=True)
        if k + 1 != days // 2:
            live._issue(audit)
    return before or violated(live, lambda t, group: LIMIT)


def joining_groups(audit: float, days: int, rows: int, rng: np.random.Generator) -> bool:
    """Groups at the limit that join one after the other, each of which takes half of what is left of the reserve."""
    live = LiveCertificate(risk=LIMIT, delta=DELTA, thresholds=np.linspace(1, 0, 11)[1:], groups=["0"], reserve=0.6)
    for k in range(days):
        if k and k % max(1, days // 5) == 0:
            live.add_group(str(len(live.groups)))
        score, names = rng.random(rows), rng.choice(list(live.groups), rows)
        found = live.result().thresholds
        chance = np.where(score >= np.array([found[name] for name in names]), audit, 1.0)
        wrong = (rng.random(rows) < LIMIT).astype(float)
        loss = np.where(rng.random(rows) < chance, wrong, np.nan)
        live.update(score, loss, label_probability=chance, groups=names, again=True)
        live._issue(audit)
    return violated(live, lambda t, group: LIMIT)


#: Streams that use the certificate in ways of their own.
WAYS: dict[str, Callable[[float, int, int, np.random.Generator], bool]] = {
    "audits by name, chances chosen daily": drawn_by_policy,
    "late labels, errors first": late_labels,
    "a change and a restart": late_change,
    "groups that join": joining_groups,
}
