"""Compare accuracy, AUROC and AURC of real models' outputs with the numbers that came with the data.

    python benchmarks/check_reference_metrics.py [FOLDER]

FOLDER (or the environment variable ABSTAIN_DATA) holds ``outputs/*.npz``, ``outputs/small_msp_sets.parquet`` and
``outputs/reference_metrics.csv``. AURC there is the mean over k of the error rate among the k most confident, in
expectation over the order of ties: ``estimator="harmonic"``. The numbers are printed to ten digits; the command ends
with status 1 if one differs by more than one unit of the tenth.
"""

from __future__ import annotations

import csv
import math
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import abstain

#: Printed name -> what it is here.
COLUMNS: dict[str, Callable[[Any, Any], float]] = {
    "accuracy": lambda loss, confidence: abstain.accuracy(loss),
    "auroc": abstain.auroc_f,
    "aurc_x1000": lambda loss, confidence: 1000.0 * abstain.aurc(loss, confidence, estimator="harmonic"),
    "eaurc_x1000": lambda loss, confidence: 1000.0 * abstain.e_aurc(loss, confidence, estimator="harmonic"),
    "distinct_conf": lambda loss, confidence: float(len(abstain.TieBlocks.from_samples(loss, confidence))),
}


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


def last_digit(value: float) -> float:
    """Return one unit of the tenth significant digit."""
    return 10.0 ** (math.floor(math.log10(abs(value))) - 9) if value else 1e-10


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0] if arguments else os.environ.get("ABSTAIN_DATA", "data")) / "outputs"
    table = folder / "reference_metrics.csv"
    if not table.is_file():
        print(f"{table} does not exist; give the data folder as an argument or in ABSTAIN_DATA")
        return 2
    with table.open(encoding="utf-8") as file:
        expected = {(row["file"], row["item"]): row for row in csv.DictReader(file)}
    print(f"{'file: item':70s} {'n':>6s} " + " ".join(f"{'|d ' + name + '|':>16s}" for name in COLUMNS))
    failures, largest = 0, dict.fromkeys(COLUMNS, 0.0)
    for name in sorted({file for file, _ in expected}):
        for item, loss, confidence in sets_of(folder / name):
            row = expected.pop((name, item), None)
            if row is None:
                continue
            assert len(loss) == int(row["n"])
            cells = []
            for column, function in COLUMNS.items():
                difference = abs(function(loss, confidence) - float(row[column]))
                largest[column] = max(largest[column], difference)
                bad = difference > last_digit(float(row[column]))
                failures += bad
                cells.append(f"{difference:15.1e}" + ("!" if bad else " "))
            print(f"{name + ': ' + item:70s} {len(loss):6d} " + " ".join(cells))
    print("largest difference: " + ", ".join(f"{column} {value:.1e}" for column, value in largest.items()))
    for name, item in expected:
        print(f"not found: {name}: {item}")
    if failures or expected:
        print(f"{failures} numbers differ, {len(expected)} sets are missing")
        return 1
    print("all agree to the printed precision")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
