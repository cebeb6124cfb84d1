"""``write_outputs``: what is read back is what was written, and a failure leaves nothing behind."""

import numpy as np
import pytest

from abstain.outputs import Outputs, read_outputs, write_outputs
from tests.refusal import refused

LOGITS = np.random.default_rng(0).normal(size=(6, 3))
FULL = {
    "labels": ["a", "c", "b", "a", "a", "b"],
    "logits": LOGITS,
    "predictions": [0, 2, 1, 1, 0, 0],
    "confidence": [0.1, np.nan, np.inf, 0.4, 0.5, 0.6],
    "scores": {"votes": [1, 2, 3, 4, 5, 6], "energy": LOGITS[:, 0]},
    "loss": [0.0, 1.0, 0.5, 0.25, 0.0, 2.0],
    "sample_weight": [1, 2, 3, 0, 1, 1],
    "groups": {"site": ["x", "y", "x", "y", "x", "y"], "age": [1, 2, 3, 4, 5, 6]},
    "ids": ["é1", "2", "3", "4", "5", "6"],
    "clusters": [1, 1, 2, 2, 3, 3],
    "features": LOGITS[:, :2],
    "class_names": ["b", "c", "a"],
}
SMALL = {"labels": ["b", "a"], "predictions": ["b", "b"], "confidence": [0.5, 0.25]}
PROBABILITIES = {"labels": [0, 1], "probabilities": [[0.25, 0.75], [1.0, 0.0]]}


@pytest.mark.parametrize("kind", ["npz", "parquet"])
@pytest.mark.parametrize("fields", [FULL, SMALL, PROBABILITIES, FULL | {"head": (np.ones((3, 2)), np.arange(3.0))}])
def test_round_trip(tmp_path, kind, fields):
    if kind == "parquet":
        pytest.importorskip("polars")
    outputs, path = Outputs(**fields), tmp_path / f"model.{kind}"
    if kind == "parquet" and "head" in fields:
        refused(ValueError, "Parquet has no place for head; write .npz", write_outputs, outputs, path)
        assert list(tmp_path.iterdir()) == []
        return
    write_outputs(outputs, path)
    back = read_outputs(path)
    assert (repr(back), back.fingerprint) == (repr(outputs), outputs.fingerprint)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    old = Outputs(**SMALL)
    write_outputs(old, path)

    def full_disk(file, **arrays):
        file.write(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    refused(OSError, "no space", write_outputs, Outputs(**FULL), path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]
    assert read_outputs(path).fingerprint == old.fingerprint


def test_messages(tmp_path):
    nameless = Outputs(loss=[1.0], logits=[[0.0, 1.0]], class_names=["a", "b"])
    for name, error, message in (
        ("a.csv", ValueError, r"a.csv: extension '.csv' cannot be written; use .npz or .parquet"),
        ("nowhere/a.npz", FileNotFoundError, "the folder does not exist"),
        ("a.parquet", ValueError, "no place for class_names without labels"),
    ):
        refused(error, message, write_outputs, nameless, tmp_path / name)
