"""Long simulation of every certificate: how often a promise is broken, and how much coverage it obtains.

    python benchmarks/thresholds.py --only default [--repetitions 2000] [--sizes 100 1000 10000]
    python benchmarks/thresholds.py --only constant constant-graded band --sizes 71 197

``--only`` picks studies; each takes up to four minutes on one core:

- ``default``: the default procedure beside the naive rule, 0/1 losses;
- ``others``: a fixed sequence, Bonferroni and SGR;
- ``graded``: losses that are not 0/1, by betting and by Hoeffding-Bentkus with Bonferroni;
- ``weighted``: 0/1 and graded losses from a shifted sample with known weights;
- ``band``: the simultaneous band; broken if it fails at any threshold;
- ``constant``, ``constant-graded``: every procedure and bound where all rows have one score;
- ``conformal``: conformal risk control, whose promise is about the mean over repetitions;
- ``mapie``: MAPIE's Learn-then-Test (1.6, in an environment that has it) beside the default and SGR. "The model is
  right" is its positive class, so that precision is one minus the selective risk. Scores are uniform on [0, 1], as its
  grids want them: its default grid of 100 thresholds with Bonferroni-Holm, and a fixed sequence from coverage 0.1
  upwards in steps of 0.01. Where a threshold of the grid accepts nothing (tied scores), its p-value is NaN and Holm
  stops there.

Certificates draw no lots, so there are no seeds. `benchmarks/certificates.py` has rivals, clusters and attacks.

Each cell is the mean coverage (share of repetitions in which the promise was broken). At the end of a size: the worst
share over the populations, and the mean coverage. It needs the tests' populations, so run it in the checkout.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from abstain.thresholds import certified_band, conformal_threshold
from abstain.thresholds._certify import Found, Search
from abstain.thresholds._evidence import binomial
from abstain.thresholds._procedures import bonferroni, fixed_sequence, sgr
from abstain.thresholds._sample import read
from tests.thresholds.populations import CONSTANT, GRADED, MAX_WEIGHT, POPULATIONS, Population

DELTA = 0.05
#: Where the band is compared with the truth: between its own thresholds, at them, and at every tied score.
THRESHOLDS = -np.linspace(0.005, 1.0, 200)

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


def conformal(population: Population, sample: Any) -> float:
    """Conformal risk control with half the overall loss as its limit."""
    limit = 0.5 * float(population.risk(1.0))
    return conformal_threshold(sample.loss, sample.score, limit, max_loss=1.0).threshold


def mapie(population: Population, sample: Any, fwer: str) -> float:
    """Lowest threshold that MAPIE's controller holds valid, or +inf."""
    from mapie.risk_control import BinaryClassificationController, precision

    right = 1.0 + sample.score  # u in [0, 1], most confident 0; the controller's grid is on [0, 0.99]
    controller = BinaryClassificationController(
        predict_function=lambda x: np.column_stack([1.0 - x[:, 0], x[:, 0]]),
        risk=precision,
        target_level=1.0 - population.limit,
        confidence_level=1.0 - DELTA,
        fwer_method=fwer,
        list_predict_params=np.linspace(0.0, 0.99, 100) if fwer != "fixed_sequence" else np.linspace(0.9, 0.0, 91),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(right[:, None], (sample.loss == 0).astype(int))
    valid = np.asarray(controller.valid_predict_params, dtype=float)
    return float(valid.min()) - 1.0 if valid.size else np.inf


PROCEDURES = {each.__name__: partial(ours, find=each) for each in (fixed_sequence, bonferroni, sgr)}
BOUNDS = {
    "betting": partial(ours, find=Search.bet),
    "bonferroni/hoeffding-bentkus": partial(ours, find=partial(bonferroni, bound="hoeffding-bentkus")),
}
#: Study -> (rules by name, populations).
STUDIES: dict[str, tuple[dict[str, Rule], tuple[Population, ...]]] = {
    "default": ({"naive": naive, "fallback": ours}, POPULATIONS),
    "others": (PROCEDURES, POPULATIONS),
    "graded": (BOUNDS, GRADED),
    "constant": ({"fallback": ours} | PROCEDURES | BOUNDS, CONSTANT[:1]),
    "constant-graded": (BOUNDS, CONSTANT[1:]),
    "weighted": (BOUNDS, tuple(each for each in (*POPULATIONS, *GRADED) if each.name in (
        "middling", "rare errors", "just above the limit", "ten levels", "graded, just above", "graded, bad top"
    ))),
    "conformal": ({"conformal": conformal}, (*POPULATIONS, *GRADED, *CONSTANT)),
    "mapie": (
        {"fallback": ours, "sgr": PROCEDURES["sgr"]}
        | {f"mapie/{fwer}": partial(mapie, fwer=fwer) for fwer in ("bonferroni_holm", "fixed_sequence")},
        POPULATIONS,
    ),
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
            if study == "conformal":  # the promise is about the mean: the ratio to its limit, with its standard error
                risk = np.where(coverage > 0.0, coverage * population.risk(coverage), 0.0)
                ratio = risk / (0.5 * float(population.risk(1.0)))
                broken, more = float(ratio.mean()), f" +- {ratio.std() / len(ratio) ** 0.5:.4f}"
            else:
                broken, more = float(np.mean(population.violated(threshold))), ""
            means[name].append((float(coverage.mean()), broken))
            cells.append(f"{name} {coverage.mean():.3f} ({broken:.4f}{more})")
        print(f"n={n} {population.name}, limit {population.limit}: " + "; ".join(cells), flush=True)
    for name, pairs in means.items():
        coverage, broken = np.array(pairs).T
        print(f"n={n} {study} {name}: worst {broken.max():.4f}, mean coverage {coverage.mean():.4f}", flush=True)


def band(n: int, repetitions: int) -> None:
    """Print how often the simultaneous band fails anywhere."""
    worst = 0.0
    for population in (*POPULATIONS, *GRADED, *CONSTANT):
        coverage = population.coverage(THRESHOLDS)
        truth = np.where(coverage > 0.0, population.risk(coverage), 0.0)
        failed, width = 0, []
        for sample in samples(population, n, repetitions):
            found = certified_band(sample.loss, sample.score, delta=DELTA, max_loss=1.0)
            upper = found.upper_at(THRESHOLDS)
            failed += int(np.any(truth > upper + 1e-9))
            width.append(upper[100] - truth[100])
        worst = max(worst, failed / repetitions)
        print(f"n={n} {population.name}: band fails {failed / repetitions:.4f}, room at coverage 1/2 "
              f"{np.mean(width):.4f}", flush=True)  # fmt: skip
    print(f"n={n} band: worst {worst:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--only", nargs="+", choices=[*STUDIES, "band"], default=["default"])
    options = parser.parse_args()
    for study in options.only:
        for n in options.sizes:
            if study == "band":
                band(n, options.repetitions)
            else:
                choose(study, n, options.repetitions)


if __name__ == "__main__":
    main()
