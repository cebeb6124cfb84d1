"""Long simulation of certificates: how often one is violated, and how much coverage it obtains.

    python benchmarks/thresholds.py [--only default graded weighted] [--repetitions 2000] [--sizes 100 1000 10000]

Each study takes up to four minutes on one core:

- ``default``: the default procedure next to the naive rule, 0/1 losses;
- ``graded``: losses that are not 0/1, by betting and by Hoeffding-Bentkus with Bonferroni;
- ``weighted``: 0/1 and graded losses from a shifted sample with known weights.

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
    """Print how often the thresholds of a study break their promise."""
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--only", nargs="+", choices=STUDIES, default=["default"])
    options = parser.parse_args()
    for study in options.only:
        for n in options.sizes:
            choose(study, n, options.repetitions)


if __name__ == "__main__":
    main()
