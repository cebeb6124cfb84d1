"""Splits and shifts: corruptions, sub-classes, other data, and folders as WILDS and BREEDS have them."""

import json
import shutil

import numpy as np
import pytest
import torch

from abstain.nn import data
from abstain.nn.data import CLASS_NAMES, SUPER_CLASSES
from tests.refusal import refused


def test_validation_is_carved_out_and_declared():
    """Drawn from the test set, the same for all; the first as published; or from the training set; nothing twice."""
    train, test = data.load("synthetic:n=50")
    everything = {tuple(picture.reshape(-1).tolist()) for picture in test.pixels}
    for how, n_train, n_test in (("test:0.2", 50, 40), ("first:10", 50, 40), ("train:0.2", 40, 50)):
        task = data.task("synthetic:n=50", validation=how)
        assert (len(task.train), len(task.validation), task.sets[1].n) == (n_train, 10, n_test)
        if how != "train:0.2":
            parts = [task.validation, task.sets[1].make()[0]]
            seen = [tuple(picture.reshape(-1).tolist()) for part in parts for picture in part.pixels]
            assert len(seen) == len(set(seen)) == 50
            assert set(seen) == everything
        assert "10 of 50" in task.splits["validation"]
    assert torch.equal(data.task("synthetic:n=50", validation="first:10").validation.pixels, test.pixels[:10])
    assert not torch.equal(train.pixels, test.pixels)
    for how in ("test", "test:0", "test:50", "all:0.1", "test:x"):
        refused(ValueError, "validation=", data.task, "synthetic:n=50", validation=how)


def test_named_super_classes(tmp_path, monkeypatch):
    """CIFAR-10's animals and vehicles, from files without class names."""
    x = np.random.default_rng(0).integers(0, 256, (40, 8, 8, 3), dtype=np.uint8)
    np.savez(tmp_path / "cifar10.npz", x_train=x, y_train=np.arange(40) % 10, x_test=x, y_test=np.arange(40) % 10)
    monkeypatch.setenv("ABSTAIN_DATA", str(tmp_path))
    task = data.task("cifar10", sub_classes=["cat", "truck"])
    assert task.train.class_names == ("animals", "vehicles")
    assert len(task.train) == 32
    assert task.sets[2].shift == {"kind": "sub-class", "held_out": ["cat", "truck"]}
    assert "cat, truck" in task.splits["sub-classes"]
    with pytest.raises(ValueError, match="has no named super-classes; known: cifar10, cifar100, fashion_mnist"):
        data.task("synthetic", sub_classes=["class1"])


def test_super_classes_of_cifar_100():
    """Twenty of five classes each, a hundred different names; indices follow the alphabet."""
    groups = SUPER_CLASSES["cifar100"]
    assert [len(members) for members in groups.values()] == [5] * 20
    assert len(CLASS_NAMES["cifar100"]) == len(set(CLASS_NAMES["cifar100"])) == 100
    assert CLASS_NAMES["cifar100"].index("apple") == 0
    assert CLASS_NAMES["cifar100"].index("worm") == 99
    for data_set in SUPER_CLASSES:
        assert {name for members in SUPER_CLASSES[data_set].values() for name in members} == set(CLASS_NAMES[data_set])


def test_former_names_warn():
    """What had another name works for one more version, and names the new one."""
    with pytest.warns(FutureWarning, match="is now abstain.nn.data.ood"):
        assert data.foreign is data.ood
    with pytest.warns(FutureWarning, match="is now task"):
        task = data.task("synthetic", foreign_data=["synthetic:n=20,seed=1"])
    assert task.sets[-1].n == 20


image = pytest.importorskip("PIL.Image")


def picture(path, value, size=8):
    """Write an image of one grey."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image.fromarray(np.full((size, size, 3), value, dtype=np.uint8)).save(path)


def table(path, head, rows):
    """Write a table of WILDS, whose first column has no name."""
    lines = ["," + ",".join(head), *(f"{k}," + ",".join(map(str, row)) for k, row in enumerate(rows))]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def greys(images):
    """Return the grey of each image."""
    return images.take(range(len(images)))[:, 0, 0, 0].tolist()


@pytest.fixture
def camelyon(tmp_path):
    """Five hospitals; the column ``split`` of the second and third does not count."""
    head = ["patient", "node", "x_coord", "y_coord", "tumor", "slide", "center", "split"]
    rows = [(f"{patient:03}", 1, 10 * patient, 7, patient % 2, patient, patient % 5, patient // 5 % 2)
            for patient in range(20)]  # fmt: skip
    folder = tmp_path / "camelyon17_v1.0"
    table(folder / "metadata.csv", head, rows)
    for number, (patient, node, x, y, *_) in enumerate(rows):
        place = f"patches/patient_{patient}_node_{node}/patch_patient_{patient}_node_{node}_x_{x}_y_{y}.png"
        picture(folder / place, 10 * number)
    return folder


def test_hospitals_of_camelyon(camelyon, monkeypatch):
    """Hospital 2 is the shift, hospital 1 is in no part, the others are divided by the column."""
    monkeypatch.setenv("ABSTAIN_DATA", str(camelyon.parent))
    train, test = data.load("camelyon17")
    nothing, shift = data.load("camelyon17:shift")
    assert nothing is None
    assert greys(shift) == [10 * k for k in range(20) if k % 5 == 2]
    for images, split in ((train, 0), (test, 1)):
        assert greys(images) == [10 * k for k in range(20) if k % 5 not in (1, 2) and k // 5 % 2 == split]
    assert train.class_names == ("normal", "tumor")
    assert shift.labels.tolist() == [k % 2 for k in range(20) if k % 5 == 2]
    task = data.task("camelyon17", validation="test:0.5", shifted_data=["camelyon17:shift"])
    assert (task.sets[-1].name, task.sets[-1].role) == ("shifted-camelyon17-shift", "shift")
    assert task.sets[-1].shift == {"kind": "sub-class"}
    shutil.rmtree(camelyon / "patches" / "patient_017_node_1")
    refused(FileNotFoundError, r"patient_017.*unpack the images", lambda: data.load(str(camelyon) + ":shift"))
    table(camelyon / "metadata.csv", ["split", "where"], [("train", 1)])
    refused(ValueError, "has the columns , split, where; known are patient", data.load, str(camelyon))
    picture(camelyon / "other" / "class2" / "0.png", 0)
    shift = data.task("synthetic", shifted_data=[str(camelyon / "other")]).sets[-1].make()[0]
    assert shift.labels.tolist() == [2]  # by its name, although it is the only class there
    picture(camelyon / "farm" / "cow" / "0.png", 0)
    with pytest.raises(ValueError, match="class 'cow' is not in"):
        data.task("synthetic", shifted_data=[str(camelyon / "farm")])


def test_hierarchies_of_breeds_that_cannot_serve(tmp_path):
    """A class without images, and no super-class with twenty classes."""
    names = [f"n{k:02}" for k in range(20)]
    info = json.dumps([[k, name, "in words"] for k, name in enumerate(names)])
    for k, (classes, error, message) in enumerate((
        (names, FileNotFoundError, "but ENTITY-13 has the class; complete ImageNet"),
        (names[1:], ValueError, "no node at level 3 has 20 classes below"),
    )):  # fmt: skip
        folder = tmp_path / str(k)
        picture(folder / "train" / "n01" / "0.png", 0)
        edges = "root things\nthings kinds\nkinds top\n" + "".join(f"top {name}\n" for name in classes)
        for file, text in (("class_hierarchy", edges), ("node_names", "top\tbirds\n"), ("dataset_class_info", info)):
            (folder / f"{file}.{'json' if text == info else 'txt'}").write_text(text)
        refused(error, message, data.load, str(folder))


def test_a_set_without_a_shift(tmp_path, monkeypatch):
    """The sets that have one are named."""
    np.savez(tmp_path / "a.npz", x=np.zeros((4, 8, 8), dtype=np.uint8), y=np.arange(4))
    with pytest.raises(ValueError, match="has no shift of its own; camelyon17, iwildcam and breeds have one"):
        data.load(f"{tmp_path / 'a.npz'}:shift")
    monkeypatch.setenv("ABSTAIN_DATA", str(tmp_path))
    refused(FileNotFoundError, r"none of camelyon17_v1\.0, camelyon17 lies in", data.load, "camelyon17:shift")
