"""Speed of the bootstrap, as cost per sample, replicate and score, and the whole study of the AUGRC paper.

    python benchmarks/bootstrap.py                   # both backends beside np.argsort
    python benchmarks/bootstrap.py --study           # 21 test sets, 13 scores, 5 runs: analytic and bootstrap
    python benchmarks/bootstrap.py --study --sets 3  # every seventh test set of it only

All times are processor time of this process. Compilation is measured apart.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import numpy as np

from abstain.inference import replicates
from abstain.inference._influence import tables, terms_of
from abstain.metrics import get

METRICS = ("aurc", "augrc")
SCORES, RUNS, RESAMPLES = 13, 5, 500
TEST_SETS = [10_000] * 12 + [26_000] * 3 + [45_000] * 3 + [75_000] * 3


def columns(n: int, runs: int, kind: str, rng: np.random.Generator) -> list[tuple[Any, Any]]:
    """Losses and scores of several runs of a classifier with about 8 % errors; margins plus noise per score."""
    made = []
    for _ in range(runs):
        margin = rng.normal(4.0, 3.0, n)
        wrong = (rng.random(n) > 1.0 / (1.0 + np.exp(-np.abs(margin)))).astype(np.float64)
        loss = wrong if kind != "real" else rng.exponential(0.1, n) + wrong
        for _ in range(SCORES):
            score = np.abs(margin) + rng.normal(0.0, 0.5, n)
            made.append((loss, np.round(score, 2) if kind == "ties" else score))
    return made


def timed(job: Any, rounds: int) -> float:
    """Median processor seconds."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        job()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def compile_time() -> tuple[float, float]:
    """Seconds until numba's kernels have run once, and once more."""
    loss, score = np.arange(300) % 2.0, np.arange(300.0)

    def run() -> None:
        for column in ((loss, score), (loss, np.round(score / 9.0))):
            replicates(METRICS, [column], n_resamples=32, backend="numba")

    start = time.perf_counter()
    run()
    first = time.perf_counter() - start
    return first, timed(run, 5)


def kernels(backends: list[str]) -> dict[str, dict[str, float]]:
    """Cost per sample, replicate and score in nanoseconds, sort and counts included, and np.argsort beside it."""
    figures = {}
    for n, n_resamples in ((10_000, 160), (75_000, 64)):
        for kind in ("binary", "ties", "real"):
            made = columns(n, 1, kind, np.random.default_rng(0))
            row = {"np.argsort": 1e9 * timed(lambda made=made: np.argsort(made[0][1]), 21) / n}
            for backend in backends:

                def job(made: Any = made, backend: Any = backend, n_resamples: int = n_resamples) -> None:
                    replicates(METRICS, made, n_resamples=n_resamples, backend=backend)

                sort = timed(
                    lambda made=made, backend=backend: replicates(METRICS, made, n_resamples=2, backend=backend), 3
                )
                row[backend] = 1e9 * (timed(job, 5) - sort) / (n * n_resamples * SCORES)
            figures[f"{kind} n={n}"] = row
    return figures


def study(backends: list[str], sets: int) -> dict[str, float]:
    """Processor seconds of the whole study: analytic standard errors, and B = 500 resamples per backend."""
    sizes = TEST_SETS if sets >= len(TEST_SETS) else TEST_SETS[:: len(TEST_SETS) // sets]
    seconds = dict.fromkeys(["analytic", *backends], 0.0)
    for number, n in enumerate(sizes):
        made = columns(n, RUNS, "binary", np.random.default_rng(number))
        start = time.process_time()
        for column in made:
            blocks = tables(get("aurc"), *column)  # one sort for both metrics
            for metric in METRICS:
                np.sqrt(np.sum(terms_of(get(metric), blocks) ** 2))
        seconds["analytic"] += time.process_time() - start
        for backend in backends:
            start = time.process_time()
            replicates(METRICS, made, n_resamples=RESAMPLES, rng=number, backend=backend)  # type: ignore[arg-type]
            seconds[backend] += time.process_time() - start
    seconds["samples"] = float(sum(sizes))
    return seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", action="store_true", help="the whole study instead of the kernels")
    parser.add_argument("--sets", type=int, default=len(TEST_SETS), help="evenly spaced test sets of the study")
    parser.add_argument("--backends", nargs="*", default=["numpy", "numba"], choices=["numpy", "numba"])
    parser.add_argument("--json", help="write all figures here")
    arguments = parser.parse_args()
    figures: dict[str, Any] = {}
    if "numba" in arguments.backends:
        first, later = figures["compile"] = compile_time()
        print(f"numba: {first:.2f} s until the kernels have run once, {1e3 * later:.1f} ms from then on")
    if arguments.study:
        figures["study"] = found = study(arguments.backends, arguments.sets)
        samples = found.pop("samples")
        print(f"{arguments.sets} test sets, {samples:,.0f} samples, {SCORES} scores x {RUNS} runs, AURC and AUGRC")
        for name, seconds in found.items():
            what = "standard errors" if name == "analytic" else f"B = {RESAMPLES} resamples"
            print(f"  {name:<9} {what:<18} {seconds:7.1f} s")
    else:
        figures["kernels"] = kernels(arguments.backends)
        for name, row in figures["kernels"].items():
            yard = row["np.argsort"]
            costs = "  ".join(f"{key} {value:.2f} ns ({value / yard:.3f} x)" for key, value in row.items())
            print(f"{name:<16} {costs}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=2)


if __name__ == "__main__":
    main()
