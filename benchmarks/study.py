"""Time and memory of a whole study, and the standard errors of means over runs.

    python benchmarks/study.py costs [--passes] [--runs 5] [--sets 20]
    python benchmarks/study.py errors [--repetitions 1000] [--rows 1000]

``costs``: synthetic outputs of 10,000 rows and 10 classes with 13 scores: stored ones, or with ``--passes`` computed
from logits and 50 passes. All default metrics with intervals. Processor time is printed next to the clock.

``errors``: rows of different difficulty are drawn, and twice R runs of different skill on them; ``StudyResults.means``
sees the first R. What the two means vary together is due to the test set, what they differ by to training: both are
printed next to the estimates, as are the shares of intervals of 1.96 standard errors that cover the mean over all runs
and all rows. ``+-`` is 1.96 Monte Carlo errors.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain import Outputs, study
from abstain.inference import terms_of
from abstain.study import StudyResults
from abstain.study._units import GROUPS, _groups

N, K, PASSES = 10_000, 10, 50
SCORES = [
    "msp", "max_logit", "neg_entropy", "energy", "softmax_margin", "neg_gini", "logit_margin", "gen", "temp_msp",
    "pass_msp", "pass_neg_predictive_entropy", "pass_neg_expected_entropy", "pass_neg_mutual_information",
]  # fmt: skip


def fill(folder: Path, runs: int, sets: int, passes: bool) -> None:
    """Write the outputs."""
    rng = np.random.default_rng(0)
    for each in range(sets):
        truth = rng.normal(size=(N, K)) * 2
        labels = (truth + rng.gumbel(size=(N, K))).argmax(1)
        name = ("test", "validation")[each] if each < 2 else f"corruption-{each}"
        for run in range(runs):
            z = truth + rng.normal(size=(N, K)) * 0.5
            if passes:
                noisy = z[None] + rng.standard_normal((PASSES, N, K), dtype=np.float32) * 0.7
                p = np.exp(noisy - noisy.max(-1, keepdims=True))
                made = Outputs(labels=labels, logits=z, passes=(p / p.sum(-1, keepdims=True)).astype(np.float32))
            else:
                scores = {f"s{k}": z.max(1) + rng.normal(size=N) * 0.3 * k for k in range(len(SCORES))}
                made = Outputs(labels=labels, predictions=z.argmax(1), scores=scores)
            study.add_outputs(folder, made, model="ce", run=f"seed{run}", set=name)


def _processor() -> float:
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in found)


def costs(options: argparse.Namespace) -> None:
    """Fill a folder, evaluate it twice, and print what it took."""
    with tempfile.TemporaryDirectory() as name:
        fill(Path(name), options.runs, options.sets, options.passes)
        for which in ("first", "again"):
            start, before = time.perf_counter(), _processor()
            found = study.evaluate(name, SCORES if options.passes else None, workers=2, progress=print)
            passed, worked = time.perf_counter() - start, _processor() - before
            print(f"{which}: {passed:.1f} s, {worked:.1f} s of processors, {len(found.rows())} rows")
    most = [resource.getrusage(who).ru_maxrss / 1e3 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"memory: {most[0]:.0f} MB, and {most[1]:.0f} MB in each of 2 processes")


METRICS = ("accuracy", "augrc", "auroc_f")


class World:
    """Rows and runs: how likely a row is wrong in a run, shared luck, and a confidence that knows part of it."""

    def __init__(self, spread: float, seed: int) -> None:
        self.spread, self.rng = spread, np.random.default_rng(seed)

    def rows(self, n: int) -> Any:
        """Return difficulty and shared luck of rows."""
        return self.rng.normal(size=n), self.rng.normal(size=n)

    def run(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return losses and confidences of one run."""
        difficulty, luck = rows
        skill = self.rng.normal(1.2, self.spread)
        own = self.rng.normal(size=difficulty.size)
        wrong = 0.8 * luck + 0.6 * own > skill - 0.8 * difficulty
        confidence = -difficulty + self.rng.normal(0.0, 0.7 + 0.5 * abs(skill - 1.2), difficulty.size)
        return wrong.astype(float), confidence


def means(runs: list[Any], n: int, metrics: list[Any]) -> dict[str, Any]:
    """Return the means of a study of these runs, without its files."""
    numbers, sums = [], []
    for k, (loss, confidence) in enumerate(runs):
        blocks = abstain.TieBlocks.from_samples(loss, confidence, keep_samples=True)
        for metric in metrics:
            terms = terms_of(metric, blocks)
            sums.append(np.bincount(_groups(n), terms, GROUPS))
            numbers.append({
                "data": "", "model": "m", "run": f"seed{k}", "set": "test", "role": "test", "shift": "",
                "id_failures": "", "score": "s", "metric": metric.spec, "label": metric.label, "n": n,
                "direction": metric.direction, "value": metric.evaluate(blocks).value,
                "standard_error": float(np.linalg.norm(terms)),
            })  # fmt: skip
    results = StudyResults(tuple(numbers), (), 0.95, (), np.array(sums))
    return {each.metric: each for each in results.means()}


def said(values: np.ndarray, truth: float) -> str:
    """Return coverage, and the estimated variances over the true ones."""
    one, two, test, training = values
    hit = np.abs(one - truth) <= 1.96 * np.sqrt(test + training)
    error = 196 * np.sqrt(hit.mean() * (1 - hit.mean()) / hit.size)
    of_training, of_test = np.mean((one - two) ** 2) / 2.0, np.cov(one, two)[0, 1]
    share = of_training / (of_training + of_test)
    return (
        f"covered {100 * hit.mean():.1f} +-{error:.1f} %; estimated over true variance: test set "
        f"{test.mean() / of_test:.2f}, training {training.mean() / of_training:.2f} (training is {share:.0%} of both)"
    )


def errors(given: argparse.Namespace) -> None:
    """Simulate means over runs and print."""
    metrics = [abstain.metrics.get(name) for name in METRICS]
    for spread in (0.05, 0.3):
        world = World(spread, 0)
        large = [abstain.TieBlocks.from_samples(*world.run(world.rows(20_000))) for _ in range(100)]
        truth = {metric.spec: np.mean([metric(table) for table in large]) for metric in metrics}
        for size in (2, 3, 5):
            world, found = World(spread, size), {metric.spec: list[Any]() for metric in metrics}
            for _ in range(given.repetitions):
                rows = world.rows(given.rows)
                each = means([world.run(rows) for _ in range(size)], given.rows, metrics)
                tables = [abstain.TieBlocks.from_samples(*world.run(rows)) for _ in range(size)]
                for metric in metrics:
                    mean, again = each[metric.spec], np.mean([metric(table) for table in tables])
                    found[metric.spec].append((mean.value, again, mean.test_error**2, mean.training_error**2))
            for name, values in found.items():
                print(
                    f"  spread {spread:g}, {size} runs, {name:8s} {said(np.array(values).T, truth[name])}", flush=True
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["costs", "errors"])
    parser.add_argument("--passes", action="store_true", help="costs: from logits and 50 passes (20 MB a set)")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--repetitions", type=int, default=1000, help="errors")
    parser.add_argument("--rows", type=int, default=1000, help="errors")
    options = parser.parse_args()
    costs(options) if options.part == "costs" else errors(options)


if __name__ == "__main__":
    main()
