"""Closed-form standard errors beside a bootstrap, on every set of real model outputs.

    python benchmarks/standard_errors.py [FOLDER] [--resamples 2000]

FOLDER (or ABSTAIN_DATA) as in check_reference_metrics.py. Prints both errors and their ratio for AURC and AUGRC; the
Monte Carlo error of a bootstrap error is about 1/sqrt(2B) of it (1.6 % for B = 2000), inflated by the kurtosis of the
replicates. The command ends with status 1 if a ratio is further than four of these from 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

import abstain
from abstain import metrics
from abstain.inference import replicates
from check_reference_metrics import sets_of

METRICS = [metrics.get("aurc"), metrics.get("augrc")]


def main() -> int:
    """Run over all sets; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=os.environ.get("ABSTAIN_DATA"))
    parser.add_argument("--resamples", type=int, default=2000)
    arguments = parser.parse_args()
    if arguments.folder is None:
        parser.error("give the data folder, or set ABSTAIN_DATA")
    outputs = Path(arguments.folder) / "outputs"
    files = sorted([*outputs.glob("*.npz"), *outputs.glob("small_msp_sets.parquet")])
    worst, n_sets = 0.0, 0
    print(f"{'set':<66} {'n':>6}  AURC: closed  bootstrap  ratio  AUGRC: closed  bootstrap  ratio")
    for file in files:
        for name, loss, confidence in sets_of(file):
            loss, confidence = np.asarray(loss, dtype=float), np.asarray(confidence, dtype=float)
            drawn = replicates(METRICS, [(loss, confidence)], n_resamples=arguments.resamples, rng=0)[:, 0, :]
            cells = []
            for k, metric in enumerate(METRICS):
                closed, resampled = abstain.standard_error(metric, loss, confidence), float(np.std(drawn[:, k], ddof=1))
                z = (drawn[:, k] - drawn[:, k].mean()) / resampled
                noise = np.sqrt((np.mean(z**4) - 1.0) / (4.0 * arguments.resamples))
                worst = max(worst, abs(resampled / closed - 1.0) / noise)
                cells.append(f"{closed:12.4g} {resampled:10.4g} {resampled / closed:6.3f}")
            n_sets += 1
            print(f"{f'{file.name}: {name}':<66} {loss.size:>6}  {cells[0]}  {cells[1]}", flush=True)
    seconds = time.process_time()
    print(f"{n_sets} sets; largest deviation {worst:.1f} Monte Carlo errors; {seconds:.0f} s of processor time")
    return int(worst > 4.0)


if __name__ == "__main__":
    sys.exit(main())
