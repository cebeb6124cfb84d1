"""Closed-form standard errors beside a bootstrap, on every set of real model outputs.

    python benchmarks/standard_errors.py [FOLDER] [--resamples 2000]

FOLDER (or ABSTAIN_DATA) holds ``outputs/*.npz`` and ``outputs/small_msp_sets.parquet``. Prints both errors and their
ratio for AURC and AUGRC; the Monte Carlo error of a bootstrap error is about 1/sqrt(2B) of it (1.6 % for B = 2000),
inflated by the kurtosis of the replicates. The command ends with status 1 if a ratio is further than four of these
from 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain import metrics
from abstain.inference import replicates


def from_probabilities(probabilities: Any, labels: Any) -> tuple[Any, Any]:
    """Return 0/1 loss and maximum probability."""
    return (probabilities.argmax(axis=1) != labels).astype(float), probabilities.max(axis=1)


def sets_of(path: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield (item, loss, confidence) for every set of predictions in a file."""
    if path.suffix == ".parquet":
        import polars

        for (name,), rows in polars.read_parquet(path).group_by(["set"], maintain_order=True):
            wrong = (rows["true_label"] != rows["pred_label"]).to_numpy().astype(float)
            yield str(name), wrong, rows["confidence"].to_numpy()
        return
    with np.load(path, allow_pickle=False) as file:
        data = {name: file[name] for name in file.files}
    labels = data.get("labels")
    if "is_ood" in data:
        loss, confidence = from_probabilities(data["probs"], labels)
        known = ~data["is_ood"]
        yield "ID only", loss[known], confidence[known]
        yield "ID+OOD (OOD counts as error)", np.where(known, loss, 1.0), confidence
    elif "models" in data and "conf" in data:
        for name, predicted, confidence in zip(data["models"], data["pred"], data["conf"], strict=True):
            yield str(name), (predicted != labels).astype(float), confidence
    elif data.get("probs", np.empty(0)).ndim == 3:
        for k, probabilities in enumerate(data["probs"]):
            yield f"prompt{k}", *from_probabilities(probabilities, labels)
        yield f"mean of {len(data['probs'])} prompts", *from_probabilities(data["probs"].mean(axis=0), labels)
    else:
        for name, values in data.items():
            if name.startswith("probs") and labels is not None:
                yield name, *from_probabilities(values, labels)
            elif name.startswith("conf_"):
                item = name.removeprefix("conf_")
                yield item, (data[f"pred_{item}"] != labels).astype(float), values


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
