"""Accuracy, AUROC and AURC of real models' outputs against the numbers that came with them."""

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abstain

FOLDER = Path(os.environ.get("ABSTAIN_DATA", "nowhere")) / "outputs"


def losses(name: str) -> dict[str, tuple[Any, Any]]:
    """Return 0/1 loss and confidence of each model of a file, by the names of the reference."""
    with np.load(FOLDER / name, allow_pickle=False) as file:
        data = {key: file[key] for key in file.files}
    labels = data["labels"]
    found = {key: ((p.argmax(axis=1) != labels) * 1.0, p.max(axis=1)) for key, p in data.items() if key[:5] == "probs"}
    hard = [key.removeprefix("conf_") for key in data if key.startswith("conf_")]
    return found | {key: ((data[f"pred_{key}"] != labels) * 1.0, data[f"conf_{key}"]) for key in hard}


def test_reference_numbers_of_real_models():
    """To the ten digits that are printed; AURC there is the expectation over the order of ties, times 1,000."""
    if not (FOLDER / "reference_metrics.csv").is_file():
        pytest.skip("reference_metrics.csv is not here (ABSTAIN_DATA)")
    with (FOLDER / "reference_metrics.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["file"].startswith(("cifar", "mnist", "20news"))]
    assert len(rows) >= 10
    for row in rows:
        loss, confidence = losses(row["file"])[row["item"]]
        found = {
            "n": len(loss),
            "accuracy": abstain.accuracy(loss),
            "auroc": abstain.auroc_f(loss, confidence),
            "aurc_x1000": 1e3 * abstain.aurc(loss, confidence, estimator="harmonic"),
            "eaurc_x1000": 1e3 * abstain.e_aurc(loss, confidence, estimator="harmonic"),
            "distinct_conf": len(abstain.TieBlocks.from_samples(loss, confidence)),
        }
        assert found == pytest.approx({key: float(row[key]) for key in found}, rel=1.01e-9), row["item"]
