"""Readers of images and tasks: files and folders of every kind, splits, shifts, statistics."""

import json
import os
import sys
import tempfile
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

import numpy as np
import torch
from PIL import Image

from abstain.nn import data
from tests.recorded import tried

TOLERANCE = 1e-4


@contextmanager
def _folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def _bytes(seed, *shape):
    """Return smooth images in bytes."""
    rng = np.random.default_rng([71, seed])
    return (255.0 * rng.random(shape) * np.linspace(0.3, 1.0, shape[-2])[:, None]).astype(np.uint8)


def _picture(path, seed, height, width, grey=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(_bytes(seed, height, width, 3)[..., 0] if grey else _bytes(seed, height, width, 3)).save(path)


def _few(images):
    """Return a set in few numbers: weighted sums of the first images, labels, names, shape."""
    if images is None or isinstance(images, str):
        return images
    pixels = images.take(range(min(len(images), 8))).double().flatten(1)
    sums = (pixels * torch.linspace(1.0, 2.0, pixels.shape[1], dtype=torch.float64)).mean(dim=1)
    return [len(images), images.shape, sums, images.labels[:12], images.class_names, images.name, images.n_classes]


def _loaded(name, **options):
    found = tried(data.load, str(name), **options)
    return found if isinstance(found, str) else [_few(each) for each in found]


def files():
    """Return what is read from archives, folders and lists, with sizes given and not."""
    labels = np.array([0, 2, 1, 2, 0])
    with _folder() as folder:
        arrays = {
            "x_train": _bytes(0, 5, 6, 6, 3),
            "y_train": labels,
            "x_test": _bytes(1, 5, 6, 6, 3),
            "y_test": labels[::-1],
        }
        np.savez(folder / "both.npz", **arrays, class_names=np.array(["a", "b", "c"]))
        np.savez(folder / "one.npz", x=_bytes(2, 4, 5, 5, 1)[..., 0])
        np.savez(folder / "set_train_.npz", images=_bytes(3, 3, 4, 4, 3), labels=labels[:3])
        np.savez(folder / "set_test_.npz", x=_bytes(4, 3, 4, 4, 3), y=labels[:3])
        np.savez(folder / "wide.npz", x=_bytes(4, 3, 4, 4, 3).astype(float), y=labels[:3])
        for name in ("both", "one", "set_train_", "set_test_", "wide"):
            yield name, _loaded(folder / f"{name}.npz")
        for part, (name, sizes) in (
            ("train", ("cat", (9, 14))),
            ("train", ("dog", (11, 8))),
            ("val", ("cat", (8, 8))),
            ("val", ("dog", (30, 9))),
        ):
            for which in range(2):
                _picture(folder / "tree" / part / name / f"{which}.png", which, *sizes, grey=which == 1)
        for size in (None, 5, 12):
            yield f"tree {size}", _loaded(folder / "tree", size=size)
        for which, sizes in enumerate(((100, 140), (150, 101), (97, 97), (200, 300))):
            _picture(folder / "large" / "x" / f"{which}.png", which, *sizes)
        for size in (None, 65, 96, 64):
            yield f"large {size}", _loaded(folder / "large", size=size)
        (folder / "test.txt").write_text("large/x/0.png 3\n\ntree/train/dog/0.png -1\ntree/val/cat/1.png 0\n")
        yield "list", [_loaded(folder / "test.txt", size=size) for size in (7, 70)]
        (folder / "listed").mkdir()
        for part, label in (("train", 1), ("val", 0)):
            (folder / "listed" / f"{part}.txt").write_text(f"0.png {label}\n")
        _picture(folder / "listed" / "0.png", 5, 8, 8)
        yield "lists", _loaded(folder / "listed")
        lazy = data.Files([folder / "large" / "x" / f"{k}.png" for k in range(4)], 10, 20, 1)
        yield (
            "files",
            [lazy.shape, lazy[torch.tensor([3, 0])].double().mean(dim=(1, 2, 3)), lazy.select(torch.tensor([1])).shape],
        )
        yield "mask", lazy.select(torch.tensor([True, False, True, False])).shape
        for name in (
            "synthetic:n=9,classes=3,size=6,channels=1,seed=2",
            "synthetic:n=x",
            "nowhere",
            "tree:shift",
            folder / "tree",
        ):
            yield Path(str(name)).name, _loaded(name)
        yield "shift", _loaded(f"{folder / 'tree'}:shift")


class _Split:
    """A part of a data set as a library has it."""

    def __init__(self, n, picture="Image", label="ClassLabel"):
        kinds = {name: type(name, (), {"names": ["a", "b", "c"]})() for name in ("Value", picture, label)}
        self.features = {"id": kinds["Value"], "photo": kinds[picture], "kind": kinds[label]}
        self.columns = {
            "photo": [Image.fromarray(_bytes(k, 8 + k, 9, 3)) for k in range(n)],
            "kind": [k % 3 for k in range(n)],
        }
        self.data, self.targets, self.classes = _bytes(n, n, 6, 6, 3), self.columns["kind"], ["a", "b", "c"]

    def __getitem__(self, key):
        return (
            self.columns[key] if isinstance(key, str) else {name: column[key] for name, column in self.columns.items()}
        )


def sets_of_libraries():
    """Return data sets as other libraries give them, and what is missing in them."""
    hub = {
        "all": {"train": _Split(4), "test": _Split(3)},
        "valid": {"train": _Split(4), "valid": _Split(2), "more": _Split(1)},
        "one": {"train": _Split(4)},
        "no pictures": {"train": _Split(4, "Other"), "test": _Split(3)},
        "no labels": {"train": _Split(4, "Image", "Other"), "test": _Split(3)},
    }
    modules = {"datasets": SimpleNamespace(load_dataset=hub.__getitem__), "torchvision": ModuleType("torchvision")}
    vision = SimpleNamespace(Some=lambda root, train, download: _Split(5 if train else 2), __all__=["Some"])
    modules["torchvision.datasets"] = vision
    with patch.dict(sys.modules, modules), patch.dict(os.environ, {"ABSTAIN_DATA": "here"}):
        for name in hub:
            yield name, [_loaded(f"hf:{name}", size=size) for size in (None, 6)]
        yield "torchvision", [_loaded(f"torchvision:{name}") for name in ("Some", "Same")]


def sets_with_shifts():
    """Return the parts of sets as WILDS and BREEDS have them."""
    with _folder() as folder:
        rows = [
            ("train", 2, "0.png"),
            ("id_test", 0, "1.png"),
            ("test", 1, "2.png"),
            ("test", 2, "3.png"),
            ("val", 5, "4.png"),
        ]
        lines = ["filename,y,split", *(f"{file},{label},{split}" for split, label, file in rows)]
        for k in range(5):
            _picture(folder / "cam" / "train" / f"{k}.png", k, 8, 8)
        (folder / "cam" / "metadata.csv").write_text("\n".join(lines) + "\n")
        yield "traps", [_loaded(folder / "cam"), _loaded(f"{folder / 'cam'}:shift", size=6)]
        breeds = folder / "breeds"
        edges, leaves = [("root", "b"), ("root", "top"), ("top", "mid")], []
        for node in range(3):
            edges += [("mid", f"n{node}"), ("top", f"n{node}")]
            for leaf in range(20 + node - (node == 2) * 4):
                leaves.append(f"n{node}-{leaf:02}")
                edges.append((f"n{node}", leaves[-1]))
        breeds.mkdir()
        (breeds / "class_hierarchy.txt").write_text("\n".join(" ".join(edge) for edge in edges) + "\n")
        (breeds / "dataset_class_info.json").write_text(json.dumps([[k, leaf, "x"] for k, leaf in enumerate(leaves)]))
        (breeds / "node_names.txt").write_text("n0\tsmall things\nn1\tlarge things\n")
        for part, (k, leaf) in product(("train", "val"), enumerate(leaves)):
            _picture(breeds / part / leaf / "0.png", k, 6, 6)
        yield "breeds", [_loaded(breeds), _loaded(f"{breeds}:shift")]


def tasks():
    """Return splits, statistics and test sets of tasks by their options."""
    with _folder() as folder:
        for name, k in product(("class0", "class2", "class1"), range(3)):
            _picture(folder / "else" / "test" / name / f"{k}.png", k, 10, 12)
        more = ["synthetic:n=5,size=20,channels=1,seed=3:semantic", "synthetic:n=4,size=8,seed=9:non-semantic"]
        shares = ("first:7", "train:0.25", "test:9", "test:1.0", "test:60", "middle:3", "test:0")
        every = [{}, *({"validation": each} for each in shares)]
        every += [{"corruptions": ["fog", "contrast"]}, {"corruptions": ["x"]}, {"ood_data": more}]
        every += [{"ood_data": more[1:], "statistics": "own"}, {"statistics": "none", "ood_data": ["synthetic"]}]
        every += [{"shifted_data": [str(folder / "else")]}, {"sub_classes": ["class1"]}]
        for number, options in enumerate(every):
            made = tried(data.task, "synthetic:n=60,size=12", **options)
            if isinstance(made, str):
                yield f"{number}", made
                continue
            sets = [
                [each.role, each.n, each.shift, _few(each.make()[0]), each.make()[1].get("corruption", [])[::9]]
                for each in made.sets
            ]
            yield (
                f"{number}",
                [_few(made.train), _few(made.validation), sets[:5], list(made.splits.values()), made.statistics()],
            )


def held_out_classes():
    """Return what is left to learn, and the shift of classes that are held out."""
    train, test = data.synthetic(30, 5, 6)
    groups = {"low": ["class0", "class3"], "high": ["class4", "class1"]}
    found = []
    for held in (["class3"], ["class1", "class0"], ["class0", "class3"], ["class2"], [], ["nothing"]):
        made = tried(data.hold_out, train, test, groups, held)
        found.append(made if isinstance(made, str) else [_few(each) for each in made])
    constant = data.Images(torch.full((4, 1, 6, 6), 7, dtype=torch.uint8), torch.arange(4))
    for like, other in product((train, constant), (test, constant, data.synthetic(4, 2, 13, 1)[0])):
        found += [_few(tried(data.ood, other, like, statistics)) for statistics in ("id", "own", "x")]
    return [*found, sorted(data.known()), {name: len(each) for name, each in data.CLASS_NAMES.items()}]
