"""Standard errors of means over runs, simulated: ``python -m benchmarks.study_errors [--repetitions N] [--rows N]``.

Rows of different difficulty are drawn, and twice R runs of different skill on them; ``StudyResults.means`` sees the
first R. What the two means vary together is due to the test set, what they differ by to training: both are printed
beside the estimates, as are the shares of intervals of 1.96 standard errors that cover the mean over all runs and all
rows. ``+-`` is 1.96 Monte Carlo errors. 1,000 repetitions take some three minutes of an idle core.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import abstain
from abstain.inference import terms_of
from abstain.study import StudyResults
from abstain.study._units import GROUPS, _groups

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


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=1000)
    given = parser.parse_args()
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


if __name__ == "__main__":
    main()
