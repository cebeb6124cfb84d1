"""Long simulation of certificates: how often one is violated, and how much coverage it obtains.

    python benchmarks/thresholds.py [--only default graded weighted pairs] [--repetitions 1000] [--sizes 100 1000]

Each study takes up to four minutes on one core:

- ``default``: the default procedure next to the naive rule, 0/1 losses;
- ``graded``: losses that are not 0/1, by betting and by Hoeffding-Bentkus with Bonferroni;
- ``weighted``: 0/1 and graded losses from a shifted sample with known weights;
- ``pairs``: two thresholds through the public functions. In "flat" every pair has a risk just above the limit, so every
  certificate is false; in "flat, prevalence" that holds where OOD rows have their share in the world, while a half of
  the rows in the file is OOD.

Certificates have no seeds. `benchmarks/certificates.py` has rivals, clusters and attacks. Each cell is the mean
coverage (share of repetitions in which the certificate was violated). At the end of a size: the worst share over the
populations, and the mean coverage. It needs the tests' populations, so run it in the checkout.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import abstain
from abstain.thresholds import choose_pair
from abstain.thresholds._certify import Found, Search
from abstain.thresholds._evidence import binomial
from abstain.thresholds._procedures import bonferroni
from abstain.thresholds._sample import read
from tests.thresholds.populations import GRADED, MAX_WEIGHT, POPULATIONS, Population

DELTA = 0.05

#: (population, sample) -> the threshold that a rule chooses.
Rule = Callable[[Population, Any], float]


def naive(population: Population, sample: Any) -> float:
    """Lowest threshold whose own exact upper bound is below the limit."""
    ends = np.append(sample.score[1:] != sample.score[:-1], True)
    count, errors = np.arange(1.0, sample.n + 1.0)[ends], np.cumsum(sample.loss)[ends]
    passed = np.flatnonzero(binomial(count, errors, population.limit) <= DELTA)
    return float(sample.score[ends][passed[-1]]) if passed.size else np.inf


def ours(population: Population, sample: Any, find: Callable[[Search], Found] = Search.default) -> float:
    """A procedure of the library."""
    largest = 1.0 if population.graded else None
    heaviest = None if sample.weight is None else MAX_WEIGHT
    return find(Search(sample, population.limit, DELTA, largest, heaviest)).threshold


BOUNDS = {
    "betting": partial(ours, find=Search.default),
    "bonferroni/hoeffding-bentkus": partial(ours, find=partial(bonferroni, bound="hoeffding-bentkus")),
}
#: Study -> (rules by name, populations).
STUDIES: dict[str, tuple[dict[str, Rule], tuple[Population, ...]]] = {
    "default": ({"naive": naive, "fallback": ours}, POPULATIONS),
    "graded": (BOUNDS, GRADED),
    "weighted": (BOUNDS, tuple(each for each in (*POPULATIONS, *GRADED) if each.name in (
        "middling", "rare errors", "just above the limit", "ten levels", "graded, just above", "graded, bad top"
    ))),
}  # fmt: skip


def samples(population: Population, n: int, repetitions: int, shifted: bool = False) -> Iterator[Any]:
    """Draw the repetitions, the same ones for every rule."""
    rng = np.random.default_rng(n)
    for _ in range(repetitions):
        columns = population.draw_shifted(n, rng) if shifted else population.draw(n, rng)
        yield read(*columns)


def choose(study: str, n: int, repetitions: int) -> None:
    """Print how often the guarantees of a study are violated."""
    rules, populations = STUDIES[study]
    means: dict[str, list[tuple[float, float]]] = {name: [] for name in rules}
    for population in populations:
        found: dict[str, list[float]] = {name: [] for name in rules}
        for sample in samples(population, n, repetitions, study == "weighted"):
            for name, rule in rules.items():
                found[name].append(rule(population, sample))
        cells = []
        for name, values in found.items():
            threshold = np.array(values)
            coverage = population.coverage(threshold)
            broken = float(np.mean(population.violated(threshold)))
            means[name].append((float(coverage.mean()), broken))
            cells.append(f"{name} {coverage.mean():.3f} ({broken:.4f})")
        print(f"n={n} {population.name}, limit {population.limit}: " + "; ".join(cells), flush=True)
    for name, pairs in means.items():
        coverage, broken = np.array(pairs).T
        print(f"n={n} {study} {name}: worst {broken.max():.4f}, mean coverage {coverage.mean():.4f}", flush=True)


# ---------------------------------------------------------------------- two scores

#: Limit, and error probability, of two thresholds.
LIMIT = 0.1
#: Rows in which the risk of a pair is counted, by their chances of an error: some lie less than 0.001 below the limit.
MANY = 1_000_000
#: Chances of an error, or errors drawn from them; confidence; second score; which rows are OOD.
Rows = tuple[Any, Any, Any, Any]


def flat(rng: np.random.Generator, n: int) -> Rows:
    """Scores that say nothing, tied on few levels, at a risk just above the limit."""
    return np.full(n, 1.02 * LIMIT), rng.integers(0, 30, n) / 30.0, rng.integers(0, 30, n) / 30.0, np.zeros(n, bool)


def mixed(rng: np.random.Generator, n: int) -> Rows:
    """An eighth of the rows is OOD, confident, but the second score is low there; ID rows have errors of their own."""
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
    wrong = (1.02 * LIMIT - 0.05) / 0.95
    return np.where(ood, 1.0, wrong), rng.integers(0, 30, n) / 30.0, rng.integers(0, 30, n) / 30.0, ood


def prevalence(rng: np.random.Generator, n: int) -> Rows:
    """Half OOD in the file, a twentieth in the world; both scores say something."""
    ood = np.arange(n) < n // 2
    confidence = np.where(ood, rng.beta(4, 2, n), rng.beta(5, 1.2, n))
    second = rng.normal(2.5 * ~ood, 1.0)
    return np.where(ood, 1.0, 0.5 - 0.5 * confidence), confidence, second, ood


#: Name -> rows, and the share of OOD rows in the world if it is not that of the file.
PAIRS: dict[str, tuple[Callable[..., Rows], float | None]] = {
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
        return abstain.choose_threshold(loss, score, risk=LIMIT, delta=LIMIT)
    weight = np.where(ood, share / ood.mean(), (1 - share) / (~ood).mean())
    return abstain.choose_threshold(
        loss, score, risk=LIMIT, delta=LIMIT, sample_weight=weight, max_weight=float(weight.max())
    )


def of_pairs(name: str, n: int, repetitions: int) -> dict[str, float]:
    """Return how often the guarantee was violated, and mean coverages."""
    make, share = PAIRS[name]
    world = make(np.random.default_rng(99), MANY)
    broken, found = 0, {"pair": 0.0, "confidence": 0.0, "second": 0.0, "best of both": 0.0}
    for seed in range(repetitions):
        lots = np.random.default_rng([seed, n])
        chance, confidence, second, ood = make(lots, n)
        loss = lots.random(n) < chance
        rows = loss, confidence, second, ood
        more: dict[str, Any] = {} if share is None else {"is_ood": ood, "prevalence": share}
        pair = choose_pair(loss, confidence, second, risk=LIMIT, delta=LIMIT, rng=seed, **more)
        if pair.attainable:
            risk, coverage = truth(world, pair.accept(world[1], world[2]), share)
            broken += name.startswith("flat") or risk > LIMIT
            found["pair"] += coverage
        each = []
        for key, column in (("confidence", 1), ("second", 2)):
            one = single(rows, rows[column], share)
            each.append(truth(world, one.accept(world[column]), share)[1] if one.attainable else 0.0)
            found[key] += each[-1]
        found["best of both"] += max(each)
    return {"broken": broken / repetitions} | {key: value / repetitions for key, value in found.items()}


def pairs(sizes: list[int], repetitions: int) -> None:
    """Print how often a pair of thresholds is violated, and what it accepts next to single scores."""
    for name in PAIRS:
        for n in sizes:
            found = of_pairs(name, n, repetitions)
            error = 1.96 * np.sqrt(found["broken"] * (1 - found["broken"]) / repetitions)
            shown = "  ".join(f"{key} {found[key]:.3f}" for key in ("pair", "confidence", "second", "best of both"))
            print(
                f"{name:22} n = {n:5}  broken {100 * found['broken']:4.1f} ± {100 * error:.1f} %  coverage: {shown}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--only", nargs="+", choices=[*STUDIES, "pairs"], default=["default"])
    options = parser.parse_args()
    for study in options.only:
        if study == "pairs":
            pairs(options.sizes, options.repetitions)
            continue
        for n in options.sizes:
            choose(study, n, options.repetitions)


if __name__ == "__main__":
    main()
