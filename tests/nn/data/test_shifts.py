"""Splits and shifts: corruptions, sub-classes, out-of-distribution data."""

import numpy as np
import pytest
import torch

from abstain.nn import data
from abstain.nn.data import CLASS_NAMES, SUPER_CLASSES
from tests.refusal import refused


def test_levels_are_sets_of_their_own():
    """Five sets, every corruption of the same images, and the corruption of each row."""
    task = data.task("synthetic:n=50", corruptions=["fog", "snow"])
    levels = [each for each in task.sets if each.role == "shift"]
    assert [each.shift["level"] for each in levels] == [1, 2, 3, 4, 5]
    images, groups = levels[3].make()
    assert len(images) == levels[3].n == 90
    assert torch.equal(images.labels[:45], images.labels[45:])
    assert groups["corruption"] == ["fog"] * 45 + ["snow"] * 45


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


def test_sub_class_shift():
    """Labels are super-classes; held-out classes are in no training image and all in the shift."""
    train, test = data.synthetic(n=80, classes=6)
    groups = {"low": ["class0", "class1", "class2"], "high": ["class3", "class4"]}
    learnt, tested, shifted = data.hold_out(train, test, groups, ["class1", "class3"])
    assert len(shifted) == sum(int((images.labels == k).sum()) for images in (train, test) for k in (1, 3))
    assert len(learnt) == int(((train.labels == 0) | (train.labels == 2) | (train.labels == 4)).sum())
    assert set(tested.labels.tolist()) == {0, 1}
    at = (shifted.pixels == train.pixels[int((train.labels == 3).nonzero()[0])]).flatten(1).all(dim=1)
    assert shifted.labels[at].tolist() == [1]
    for held, message in (
        (["class9"], "class 'class9' is not in"),
        (["class3", "class4"], "super-class 'high' has no class left"),
        (["class5"], "only classes of a super-class"),
        ([], "give at least one class"),
    ):
        refused(ValueError, message, data.hold_out, train, test, groups, held)


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


def test_foreign_data_in_both_normalisations():
    """Brought to the model's shape without labels; by their own statistics they get the mean of the training set."""
    train, _ = data.synthetic(n=100, channels=3)
    dark = data.Images((data.synthetic(n=60, channels=1, size=20)[1].pixels // 4), torch.zeros(60, dtype=torch.int64))
    plain, own = (data.ood(dark, train, how) for how in ("id", "own"))
    assert plain.shape == own.shape == train.shape
    assert bool((plain.labels == -1).all())
    assert abs(float(plain.pixels.float().mean() - train.pixels.float().mean())) > 50
    assert abs(float(own.pixels.float().mean() - train.pixels.float().mean())) < 5
    task = data.task("synthetic", ood_data=["synthetic:n=30,seed=5:semantic"])
    assert task.sets[-1].shift == {"kind": "new-class", "statistics": "id", "semantic": True}
    assert task.sets[-1].role == "ood"


def test_the_same_classes_from_elsewhere(tmp_path):
    """Labels go by names of folders, whatever their order; unknown classes and other shapes are refused."""
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)

    def folder(name, classes, size=8):
        for label in classes:
            (tmp_path / name / label).mkdir(parents=True)
            for number in range(3):
                pixels = rng.integers(0, 256, (size, size, 3), dtype=np.uint8)
                image.fromarray(pixels).save(tmp_path / name / label / f"{number}.png")
        return str(tmp_path / name)

    for part in ("train", "test"):
        folder(f"here/{part}", ("bird", "cat", "dog"))
    elsewhere = folder("elsewhere", ("cat", "dog"))
    found = data.task(str(tmp_path / "here"), validation="test:0.5", shifted_data=[elsewhere]).sets[-1]
    images, _ = found.make()
    assert (found.name, found.role, found.shift["kind"]) == ("shifted-elsewhere", "shift", "sub-class")
    assert images.labels.tolist() == [1, 1, 1, 2, 2, 2]
    assert images.class_names == ("bird", "cat", "dog")
    with pytest.raises(ValueError, match="class 'cow' is not in"):
        data.task(str(tmp_path / "here"), validation="test:0.5", shifted_data=[folder("farm", ("cow",))])


def test_former_names_warn():
    """What had another name works for one more version, and names the new one."""
    with pytest.warns(FutureWarning, match="is now abstain.nn.data.ood"):
        assert data.foreign is data.ood
    with pytest.warns(FutureWarning, match="is now task"):
        task = data.task("synthetic", foreign_data=["synthetic:n=20,seed=1"])
    assert task.sets[-1].n == 20
