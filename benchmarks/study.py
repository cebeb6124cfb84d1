"""Time and memory of a whole study, and the standard errors of means over runs.

python -m benchmarks.study [costs errors] [--full] [--runs 5] [--sets 20]
"""

import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import Form, command, held, say

import abstain
from abstain import Outputs, study
from abstain.inference import terms_of
from abstain.study import StudyResults
from abstain.study._units import GROUPS, _groups


def costs(form: Form, runs: int = 5, sets: int = 20) -> None:
    """Evaluate sets of 10,000 rows with 13 stored scores in two processes, with all default metrics and intervals."""
    rng, n = np.random.default_rng(0), 10_000
    with tempfile.TemporaryDirectory() as folder:
        for each in range(sets):
            truth = rng.normal(size=(n, 10)) * 2
            labels = (truth + rng.gumbel(size=(n, 10))).argmax(1)
            name = ("test", "validation")[each] if each < 2 else f"corruption-{each}"
            for run in range(runs):
                z = truth + rng.normal(size=(n, 10)) * 0.5
                scores = {f"s{k}": z.max(1) + rng.normal(size=n) * 0.3 * k for k in range(13)}
                made = Outputs(labels=labels, predictions=z.argmax(1), scores=scores)
                study.add_outputs(Path(folder), made, model="ce", run=f"seed{run}", set=name)
        for which in ("first", "again"):
            start = time.perf_counter()
            found = study.evaluate(folder, workers=2)
            say(f"{which}: {time.perf_counter() - start:.1f} s, {len(found.rows())} rows")
    most = [resource.getrusage(who).ru_maxrss / 1e3 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    say(f"memory: {most[0]:.0f} MB, and {most[1]:.0f} MB in each of 2 processes")


# ---------------------------------------------------------------------- errors of means over runs

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
    """Return coverage, and the estimated variances over the true ones.

    What two means over other runs vary together is due to the test set, what they differ by to training.
    """
    one, two, test, training = values
    hit = np.abs(one - truth) <= 1.96 * np.sqrt(test + training)
    of_training, of_test = np.mean((one - two) ** 2) / 2.0, np.cov(one, two)[0, 1]
    share = f"training is {of_training / (of_training + of_test):.0%} of both"
    over = f"test set {test.mean() / of_test:.2f}, training {training.mean() / of_training:.2f} ({share})"
    return f"covered {held(hit)}; estimated over true variance: {over}"


def errors(form: Form, rows: int = 1000) -> None:
    """Coverage of 1.96 standard errors for the mean over all runs and all rows."""
    metrics = [abstain.metrics.get(name) for name in METRICS]
    for spread in (0.05, 0.3):
        world = World(spread, 0)
        large = [abstain.TieBlocks.from_samples(*world.run(world.rows(20_000))) for _ in range(100)]
        truth = {metric.spec: np.mean([metric(table) for table in large]) for metric in metrics}
        for size in (2, 3, 5):
            world, found = World(spread, size), {metric.spec: list[Any]() for metric in metrics}
            for _ in range(form(1000, 100)):
                drawn = world.rows(rows)
                each = means([world.run(drawn) for _ in range(size)], rows, metrics)
                tables = [abstain.TieBlocks.from_samples(*world.run(drawn)) for _ in range(size)]
                for metric in metrics:
                    mean, again = each[metric.spec], np.mean([metric(table) for table in tables])
                    found[metric.spec].append((mean.value, again, mean.test_error**2, mean.training_error**2))
            for name, values in found.items():
                say(f"  spread {spread:g}, {size} runs, {name:8s} {said(np.array(values).T, truth[name])}")


if __name__ == "__main__":
    command(__doc__, costs, errors)
