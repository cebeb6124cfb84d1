"""Time and memory of a whole study: ``python benchmarks/study.py [--passes] [--runs 5] [--sets 20]``.

Made-up outputs of 10,000 rows and 10 classes with 13 scores: stored ones, or with ``--passes`` computed from logits and
50 passes (20 MB a set). All default metrics with intervals. Processor time is printed beside the clock: on a busy
machine only the former says something.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from abstain import Outputs, study

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


def main() -> None:
    """Fill a folder, evaluate it twice, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        fill(Path(name), options.runs, options.sets, options.passes)
        for which in ("first", "again"):
            start, before = time.perf_counter(), _processor()
            found = study.evaluate(name, SCORES if options.passes else None, workers=options.workers, progress=print)
            passed, worked = time.perf_counter() - start, _processor() - before
            print(f"{which}: {passed:.1f} s, {worked:.1f} s of processors, {len(found.rows())} rows")
    most = [resource.getrusage(who).ru_maxrss / 1e3 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"memory: {most[0]:.0f} MB, and {most[1]:.0f} MB in each of {options.workers} processes")


def _processor() -> float:
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in found)


if __name__ == "__main__":
    main()
