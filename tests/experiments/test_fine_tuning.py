"""Fine-tuning: every objective takes a step on every network, seeds repeat, the table has paired intervals."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from experiments.fine_tuning import _data as data
from experiments.fine_tuning import _train as train
from experiments.fine_tuning.__main__ import main
from experiments.fine_tuning._network import NETWORKS
from experiments.fine_tuning._objectives import OBJECTIVES

torch.set_num_threads(1)  # tests run side by side
TRAIN, TEST = data.synthetic(n=80)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objective_learns(name):
    """A few epochs change what the objective trains, lower its loss, and leave finite metrics."""
    torch.manual_seed(0)
    network = NETWORKS["small"](TRAIN.x[:1], 4)
    prepared = OBJECTIVES[name](network, len(TRAIN.y))
    index = torch.arange(len(TRAIN.y))

    def loss():
        torch.manual_seed(1)  # DeVries draws its hints
        features = network.body(TRAIN.x)
        return prepared.loss(features, network.head(features), TRAIN.y, index).item()

    before, state = loss(), [parameter.clone() for parameter in prepared.parameters]
    train._fit(network, prepared, TRAIN, 3, 0.02, train.Settings(batch=32), seed=0)
    assert any(not torch.equal(a, b) for a, b in zip(state, prepared.parameters, strict=True))
    if name not in ("CE + CRL", "DeVries"):  # their losses change with their memory and their lambda
        assert loss() < before
    assert all(np.isfinite(value) for value in train.evaluate(network, prepared, TEST).values())


def test_confidnet_leaves_the_classifier_alone():
    """Only the branch is trained: the predictions are those of the cross-entropy model."""
    settings = train.Settings(epochs=1, tuning_epochs=1)
    records = list(train.run(TRAIN, TEST, settings, seeds=1, objectives=["ConfidNet"]))
    assert records[0]["error"] == records[1]["error"]


def test_seeds_repeat_and_objectives_share_the_start():
    """The same numbers twice; cross-entropy before fine-tuning is one model per seed."""
    settings = train.Settings(epochs=1, tuning_epochs=1)
    first, again = (list(train.run(TRAIN, TEST, settings, seeds=2, objectives=["CE", "AUGRC"])) for _ in range(2))
    assert first == again
    assert [record["objective"] for record in first] == ["before", "CE", "AUGRC"] * 2
    assert first[0] != first[3]


def test_table_has_paired_intervals():
    """Differences from CE per seed: mean and t interval, worked by hand for two seeds."""
    rows = [("CE", 0.1), ("A", 0.2), ("CE", 0.3), ("A", 0.5)]
    records = [{"objective": name, **dict.fromkeys(train.METRICS, value)} for name, value in rows]
    line = train.table(records).splitlines()[-1]
    assert "0.35000 (+0.15000 ± 0.63531)" in line  # t(0.975, 1) = 12.7062; sd / sqrt(2) = 0.05


def test_resnet18_takes_a_step_with_augmentation():
    """The recipe for a GPU, on the CPU for one batch in bfloat16."""
    x = torch.randn(8, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    split = data.Split(x, torch.arange(8) % 4)
    settings = replace(train.TABLE_1, epochs=1, tuning_epochs=1, batch=8, device="cpu")
    records = list(train.run(split, split, settings, seeds=1, objectives=["AURC harmonic"]))
    assert len(records) == 2


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("resnet18", 11_220_132),
        ("resnet34", 21_328_292),
        ("resnet50", 23_705_252),
        ("vgg16bn", 14_770_212),
        ("vgg19bn", 20_081_188),
        ("wideresnet28x10", 36_536_884),
    ],
)
def test_networks_of_table_1(name, parameters):
    """Sizes as published for CIFAR-100 pictures and classes; logits of that shape."""
    with torch.device("meta"):
        network = NETWORKS[name](torch.zeros(1, 3, 32, 32), 100)
        assert network(torch.zeros(2, 3, 32, 32)).shape == (2, 100)
    assert sum(each.numel() for each in network.parameters()) == parameters


def test_shifts_and_flips_are_crops():
    """Every result is one of the 81 crops of the padded picture, flipped or not."""
    x = torch.arange(2 * 3 * 5 * 5, dtype=torch.float32).reshape(2, 3, 5, 5) + 1
    moved = data.shifted_and_flipped(x, torch.Generator().manual_seed(0))
    padded = torch.nn.functional.pad(x, (4, 4, 4, 4))
    for picture, whole in zip(moved, padded, strict=True):
        crops = [whole[:, i : i + 5, j : j + 5] for i in range(9) for j in range(9)]
        assert any(torch.equal(picture, crop) or torch.equal(picture, crop.flip(2)) for crop in crops)


def test_reads_arrays_and_jpeg_archives(tmp_path):
    """Both kinds of file, normalised by the training set; something else is an error that names what is wanted."""
    image = pytest.importorskip("PIL.Image")
    import io

    rng = np.random.default_rng(0)
    arrays = {"x_train": rng.integers(0, 256, (6, 8, 8)), "x_test": rng.integers(0, 256, (4, 8, 8))}
    np.savez(tmp_path / "grey.npz", **arrays, y_train=np.arange(6), y_test=np.arange(4))
    grey, test = data.load(tmp_path / "grey.npz")
    assert grey.x.shape == (6, 1, 8, 8)
    assert float(grey.x.mean()) == pytest.approx(0.0, abs=1e-6)
    assert test.y.tolist() == [0, 1, 2, 3]
    rgb = {name: rng.integers(0, 256, (*array.shape, 3)) for name, array in arrays.items()}
    np.savez(tmp_path / "rgb.npz", **rgb, y_train=np.arange(6), y_test=np.arange(4))
    colours = data.load(tmp_path / "rgb.npz")[1].x
    assert colours.shape == (4, 3, 8, 8)
    assert np.corrcoef(colours[:, 2].ravel(), rgb["x_test"][..., 2].ravel())[0, 1] == pytest.approx(1.0)
    for part in ("train", "test"):
        files = []
        for _ in range(3):
            stream = io.BytesIO()
            image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)).save(stream, "JPEG")
            files.append(np.frombuffer(stream.getvalue(), dtype=np.uint8))
        offsets = np.concatenate([[0], np.cumsum([len(file) for file in files])])
        name = tmp_path / f"cifar10_{part}_jpeg90.npz"
        np.savez(name, jpeg=np.concatenate(files), offsets=offsets, y=np.arange(3))
    colour, _ = data.load(tmp_path)
    assert colour.x.shape == (3, 3, 8, 8)
    with pytest.raises(FileNotFoundError, match="cifar10_train_jpeg90"):
        data.load(tmp_path / "nothing")


def test_the_command(tmp_path, capsys, monkeypatch):
    """Made-up pictures, two seeds: records and table."""
    monkeypatch.setattr("experiments.fine_tuning.__main__.synthetic", lambda: data.synthetic(n=60))
    command = ["--output", str(tmp_path), "--seeds", "2", "--objectives", "AUGRC", "--epochs", "1"]
    assert main([*command, "--tuning-epochs", "1", "--tuning-rate", "0.01", "--device", "cpu"]) == 0
    saved = json.loads((tmp_path / "records.json").read_text(encoding="utf-8"))
    assert [record["objective"] for record in saved["records"]] == ["before", "CE", "AUGRC"] * 2
    assert "| AUGRC |" in capsys.readouterr().out
