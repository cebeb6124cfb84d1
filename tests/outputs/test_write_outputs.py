"""``write_outputs``: what is read back is what was written, and a failure leaves nothing behind."""

import numpy as np
import pytest

from abstain.outputs import Outputs, read_outputs, write_outputs

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


@pytest.fixture(params=["npz", "parquet"])
def kind(request):
    if request.param == "parquet":
        pytest.importorskip("polars")
    return request.param


@pytest.mark.parametrize(
    "fields",
    [
        FULL,
        {"labels": [0, 1], "probabilities": [[0.25, 0.75], [1.0, 0.0]]},
        {"labels": ["b", "a"], "predictions": ["b", "b"], "confidence": [0.5, 0.25]},
        {"loss": [0.5, 0.0], "confidence": [1.0, 2.0]},
    ],
)
def test_round_trip(tmp_path, kind, fields):
    outputs = Outputs(**fields)
    path = tmp_path / f"model.{kind}"
    write_outputs(outputs, path)
    back = read_outputs(path)
    assert repr(back) == repr(outputs)
    assert back.fingerprint == outputs.fingerprint
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_head_goes_into_an_archive_only(tmp_path):
    outputs = Outputs(**FULL, head=(np.ones((3, 2)), np.arange(3.0)))
    write_outputs(outputs, tmp_path / "a.npz")
    assert read_outputs(tmp_path / "a.npz").fingerprint == outputs.fingerprint
    pytest.importorskip("polars")
    with pytest.raises(ValueError, match=r"a.parquet: Parquet has no place for head; write .npz"):
        write_outputs(outputs, tmp_path / "a.parquet")
    nameless = Outputs(loss=[1.0], logits=[[0.0, 1.0]], class_names=["a", "b"])
    with pytest.raises(ValueError, match="no place for class_names without labels"):
        write_outputs(nameless, tmp_path / "a.parquet")
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    old = Outputs(labels=[0], predictions=[0])
    write_outputs(old, path)

    def full_disk(file, **arrays):
        file.write(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="no space"):
        write_outputs(Outputs(**FULL), path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]
    assert read_outputs(path).fingerprint == old.fingerprint


def test_messages(tmp_path):
    outputs = Outputs(labels=[0], predictions=[0])
    with pytest.raises(ValueError, match=r"a.csv: extension '.csv' cannot be written; use .npz or .parquet"):
        write_outputs(outputs, tmp_path / "a.csv")
    with pytest.raises(FileNotFoundError, match="the folder does not exist"):
        write_outputs(outputs, tmp_path / "nowhere" / "a.npz")
