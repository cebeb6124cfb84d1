"""Long simulation of certificates: how often a promise is broken, and how much coverage each procedure obtains.

    python benchmarks/thresholds.py [--repetitions 2000] [--mapie]

Each cell: mean coverage (share of repetitions in which the promise was broken). It needs the tests' populations, so run
it in the checkout. ``--mapie`` adds MAPIE's Learn-then-Test (1.6, in an environment that has it): "the model is right"
is the positive class, so that precision is one minus the selective risk. Scores are uniform on [0, 1], as its grids
want them: its default grid of 100 thresholds with Bonferroni-Holm, and a fixed sequence from coverage 0.1 upwards in
steps of 0.01. Where a threshold of the grid accepts nothing (tied scores), its p-value is NaN and Holm stops there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from recuse.thresholds._certify import search
from recuse.thresholds._p_values import binomial
from recuse.thresholds._sample import read
from tests.thresholds.populations import GRADED, POPULATIONS, Population

DELTA = 0.05


def naive(loss: Any, score: Any, limit: float) -> float:
    """Lowest threshold whose own exact upper bound is below the limit."""
    sample = read(loss, score)
    ends = np.append(sample.score[1:] != sample.score[:-1], True)
    count, errors = np.arange(1.0, sample.n + 1.0)[ends], np.cumsum(sample.loss)[ends]
    passed = np.flatnonzero(binomial(count, errors, limit) <= DELTA)
    return float(sample.score[ends][passed[-1]]) if passed.size else np.inf


def mapie(loss: Any, score: Any, limit: float, fwer: str) -> float:
    """Lowest threshold that MAPIE's controller holds valid, or +inf."""
    import warnings

    from mapie.risk_control import BinaryClassificationController, precision

    right = 1.0 + score  # u in [0, 1], most confident 0; the controller's grid is on [0, 0.99]
    controller = BinaryClassificationController(
        predict_function=lambda x: np.column_stack([1.0 - x[:, 0], x[:, 0]]),
        risk=precision,
        target_level=1.0 - limit,
        confidence_level=1.0 - DELTA,
        fwer_method=fwer,
        list_predict_params=np.linspace(0.0, 0.99, 100) if fwer != "fixed_sequence" else np.linspace(0.9, 0.0, 91),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(right[:, None], (loss == 0).astype(int))
    valid = np.asarray(controller.valid_predict_params, dtype=float)
    return float(valid.min()) - 1.0 if valid.size else np.inf


def rules(population: Population, with_mapie: bool) -> dict[str, Any]:
    """Return the procedures that apply."""
    if population.graded:
        return {
            f"fallback/{bound}": lambda a, g, i, bound=bound: (
                search(read(a, g), population.limit, DELTA, "fallback", bound, 1.0, None, None, i).threshold
            )
            for bound in ("betting", "hoeffding-bentkus")
        }
    found: dict[str, Any] = {"naive": lambda a, g, i: naive(a, g, population.limit)}
    for name in ("fallback", "fixed_sequence", "bonferroni", "sgr"):
        found[name] = lambda a, g, i, name=name: (
            search(read(a, g), population.limit, DELTA, name, None, None, None, None, i).threshold
        )
    if with_mapie:
        for fwer in ("bonferroni_holm", "fixed_sequence"):
            found[f"mapie/{fwer}"] = lambda a, g, i, fwer=fwer: mapie(a, g, population.limit, fwer)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--mapie", action="store_true")
    parser.add_argument("--only", nargs="+", help="names of procedures")
    options = parser.parse_args()
    for n in options.sizes:
        means: dict[str, list[float]] = {}
        for population in (*POPULATIONS, *GRADED):
            found: dict[str, list[float]] = {}
            rng = np.random.default_rng(n)
            for i in range(options.repetitions):
                loss, score = population.draw(n, rng)
                for name, rule in rules(population, options.mapie).items():
                    if options.only and name.split("/")[0] not in options.only:
                        continue
                    found.setdefault(name, []).append(rule(loss, score, i))
            cells = []
            for name, values in found.items():
                coverage = float(np.mean(population.coverage(np.array(values))))
                cells.append(f"{name} {coverage:.3f} ({np.mean(population.violated(np.array(values))):.4f})")
                if not population.graded:
                    means.setdefault(name, []).append(coverage)
            print(f"n={n} {population.name}, limit {population.limit}: " + "; ".join(cells), flush=True)
        print(f"n={n} MEAN COVERAGE: " + "; ".join(f"{k} {np.mean(v):.4f}" for k, v in means.items()), flush=True)


if __name__ == "__main__":
    main()
