"""How often a certified pair of thresholds breaks its promise, and what it accepts beside single scores.

``python benchmarks/pairs.py --repetitions 1000``: four populations with known risk, through the public functions. In
"flat" every pair has a risk just above the limit, so every certificate is false; in "flat, prevalence" that holds where
OOD rows have their share in the world, while a half of the rows in the file is OOD.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import abstain
from abstain.thresholds import choose_pair

RISK, DELTA = 0.1, 0.1
#: Rows in which the risk of a pair is counted, by their chances of an error: some lie less than 0.001 below the limit.
MANY = 1_000_000
#: Chances of an error, or errors drawn from them; confidence; second score; which rows are OOD.
Rows = tuple[Any, Any, Any, Any]


def flat(rng: np.random.Generator, n: int) -> Rows:
    """Scores that say nothing, tied on few levels, at a risk just above the limit."""
    return np.full(n, 1.02 * RISK), rng.integers(0, 30, n) / 30.0, rng.integers(0, 30, n) / 30.0, np.zeros(n, bool)


def mixed(rng: np.random.Generator, n: int) -> Rows:
    """An eighth of the rows is OOD: confident, but told by the second score; ID rows have errors of their own."""
    ood = rng.random(n) < 0.125
    confidence = np.where(ood, rng.beta(4, 2, n), rng.beta(5, 1.2, n))
    return np.where(ood, 1.0, 0.5 - 0.5 * confidence), confidence, rng.normal(2.5 * ~ood, 1.0), ood


def inside(rng: np.random.Generator, n: int) -> Rows:
    """ID rows alone, and a second score that says nothing: the price of asking."""
    confidence = rng.beta(3, 1.2, n)
    return 0.4 - 0.4 * confidence, confidence, rng.random(n), np.zeros(n, bool)


def flat_prevalence(rng: np.random.Generator, n: int) -> Rows:
    """Half OOD in the file, a twentieth in the world, where the risk is just above the limit at every pair."""
    ood = np.arange(n) < n // 2
    wrong = (1.02 * RISK - 0.05) / 0.95
    return np.where(ood, 1.0, wrong), rng.integers(0, 30, n) / 30.0, rng.integers(0, 30, n) / 30.0, ood


def prevalence(rng: np.random.Generator, n: int) -> Rows:
    """Half OOD in the file, a twentieth in the world; both scores say something."""
    ood = np.arange(n) < n // 2
    confidence = np.where(ood, rng.beta(4, 2, n), rng.beta(5, 1.2, n))
    second = rng.normal(2.5 * ~ood, 1.0)
    return np.where(ood, 1.0, 0.5 - 0.5 * confidence), confidence, second, ood


#: Name -> rows, and the share of OOD rows in the world if it is not that of the file.
POPULATIONS: dict[str, tuple[Callable[..., Rows], float | None]] = {
    "flat": (flat, None),
    "ID and OOD as drawn": (mixed, None),
    "ID alone": (inside, None),
    "flat, prevalence 5 %": (flat_prevalence, 0.05),
    "prevalence 5 %": (prevalence, 0.05),
}


def truth(rows: Rows, accepted: Any, share: float | None) -> tuple[float, float]:
    """Return risk and coverage of an accept mask in the world."""
    loss, _, _, ood = rows
    weight = np.ones(len(loss)) if share is None else np.where(ood, share / ood.mean(), (1 - share) / (~ood).mean())
    mass = float(weight[accepted].sum())
    return (float(weight[accepted] @ loss[accepted]) / mass if mass else 0.0), mass / float(weight.sum())


def single(rows: Rows, score: Any, share: float | None) -> Any:
    """Return the certified threshold of one score, with weights where the world has another share."""
    loss, _, _, ood = rows
    if share is None:
        return abstain.choose_threshold(loss, score, risk=RISK, delta=DELTA)
    weight = np.where(ood, share / ood.mean(), (1 - share) / (~ood).mean())
    return abstain.choose_threshold(
        loss, score, risk=RISK, delta=DELTA, sample_weight=weight, max_weight=float(weight.max())
    )


def study(name: str, n: int, repetitions: int) -> dict[str, float]:
    """Return how often the promise was broken, and mean coverages."""
    make, share = POPULATIONS[name]
    world = make(np.random.default_rng(99), MANY)
    broken, found = 0, {"pair": 0.0, "confidence": 0.0, "second": 0.0, "best of both": 0.0}
    for seed in range(repetitions):
        lots = np.random.default_rng([seed, n])
        chance, confidence, second, ood = make(lots, n)
        loss = lots.random(n) < chance
        rows = loss, confidence, second, ood
        more: dict[str, Any] = {} if share is None else {"is_ood": ood, "prevalence": share}
        pair = choose_pair(loss, confidence, second, risk=RISK, delta=DELTA, rng=seed, **more)
        if pair.attainable:
            risk, coverage = truth(world, pair.accept(world[1], world[2]), share)
            broken += name.startswith("flat") or risk > RISK
            found["pair"] += coverage
        each = []
        for key, column in (("confidence", 1), ("second", 2)):
            one = single(rows, rows[column], share)
            each.append(truth(world, one.accept(world[column]), share)[1] if one.attainable else 0.0)
            found[key] += each[-1]
        found["best of both"] += max(each)
    return {"broken": broken / repetitions} | {key: value / repetitions for key, value in found.items()}


def main() -> None:
    """Print a line per population and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 4000])
    parser.add_argument("--only", nargs="*", default=list(POPULATIONS))
    given = parser.parse_args()
    for name in given.only:
        for n in given.sizes:
            found = study(name, n, given.repetitions)
            error = 1.96 * np.sqrt(found["broken"] * (1 - found["broken"]) / given.repetitions)
            shown = "  ".join(f"{key} {found[key]:.3f}" for key in ("pair", "confidence", "second", "best of both"))
            print(
                f"{name:22} n = {n:5}  broken {100 * found['broken']:4.1f} ± {100 * error:.1f} %  coverage: {shown}",
                flush=True,
            )


if __name__ == "__main__":
    main()
