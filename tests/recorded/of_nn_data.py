"""Readers of images and tasks, and what is done to images: corruptions, mixtures, augmentations, terms."""

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

from abstain.nn import data, ingredients
from abstain.nn.data import CORRUPTIONS
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
        arrays = {"x_train": _bytes(0, 5, 6, 6, 3), "y_train": labels, "x_test": _bytes(1, 5, 6, 6, 3)}
        arrays |= {"y_test": labels[::-1]}
        np.savez(folder / "both.npz", **arrays, class_names=np.array(["a", "b", "c"]))
        np.savez(folder / "one.npz", x=_bytes(2, 4, 5, 5, 1)[..., 0])
        np.savez(folder / "set_train_.npz", images=_bytes(3, 3, 4, 4, 3), labels=labels[:3])
        np.savez(folder / "set_test_.npz", x=_bytes(4, 3, 4, 4, 3), y=labels[:3])
        np.savez(folder / "wide.npz", x=_bytes(4, 3, 4, 4, 3).astype(float), y=labels[:3])
        for name in ("both", "one", "set_train_", "set_test_", "wide"):
            yield name, _loaded(folder / f"{name}.npz")
        cases = [("train", ("cat", (9, 14))), ("train", ("dog", (11, 8))), ("val", ("cat", (8, 8)))]
        cases += [("val", ("dog", (30, 9)))]
        for (part, (name, sizes)), which in product(cases, range(2)):
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
        yield "files", [lazy.shape, lazy[torch.tensor([3, 0])].double().mean(dim=(1, 2, 3))]
        yield "files 2", [lazy.select(torch.tensor([1])).shape]
        yield "mask", lazy.select(torch.tensor([True, False, True, False])).shape
        others = ["synthetic:n=9,classes=3,size=6,channels=1,seed=2", "synthetic:n=x", "nowhere", "tree:shift"]
        others += [folder / "tree"]
        for name in others:
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
    hub = {"all": {"train": _Split(4), "test": _Split(3)}}
    hub |= {"valid": {"train": _Split(4), "valid": _Split(2), "more": _Split(1)}, "one": {"train": _Split(4)}}
    hub |= {"no pictures": {"train": _Split(4, "Other"), "test": _Split(3)}}
    hub |= {"no labels": {"train": _Split(4, "Image", "Other"), "test": _Split(3)}}
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
        rows = [("train", 2, "0.png"), ("id_test", 0, "1.png"), ("test", 1, "2.png"), ("test", 2, "3.png")]
        rows += [("val", 5, "4.png")]
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
            yield f"{number}", [_few(made.train), _few(made.validation), sets[:5], list(made.splits.values())]
            yield f"{number} 2", [made.statistics()]


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


def _images(n, channels, size, seed=0):
    """Return images with smooth and with flat parts, one of them black."""
    values = np.random.default_rng([31, seed]).random((n, channels, size, size)) * np.linspace(0.2, 1.0, size)
    values[0, :, : size // 2] = 0.5
    values[-1] *= 0.0
    return torch.as_tensor(values, dtype=torch.float32)


def _few_of_nn_pictures(x):
    """Return of every image a sum with weights that differ, and its extremes."""
    if isinstance(x, str):
        return x
    flat = x.detach().double().flatten(1)
    weight = torch.linspace(1.0, 2.0, flat.shape[1], dtype=torch.float64) / flat.shape[1]
    return [
        list(x.shape),
        str(x.dtype),
        (flat * weight).sum(dim=1).round(decimals=7),
        flat.amin(dim=1),
        flat.amax(dim=1),
    ]


def corruptions():
    """Return every corruption at every level, in colour and in grey, and one of larger images."""
    for name, level in product(CORRUPTIONS, (1, 2, 3, 4, 5)):
        row = [_few_of_nn_pictures(data.corrupt(_images(3, 3, 16), name, level, seed=level))[2]]
        if level in (2, 5):
            row += [_few_of_nn_pictures(data.corrupt(_images(2, 1, 9, 1), name, level, seed=7))[2]]
        if level == 4:
            row += [_few_of_nn_pictures(data.corrupt(_images(2, 3, 40, 2), name, level))[2:]]
        yield f"{name} {level}", row


def corrupted_sets():
    """Return sets under corruptions with and without a number of images for each."""
    images = data.synthetic(30, 3, 8)[1]
    cases = [(1, ["fog", "gaussian_noise"], None, 0), (5, ["shot_noise", "snow"], 7, 3), (3, ["contrast"], 40, 1)]
    for level, names, per, seed in cases:
        made, which = data.corrupted(images, level, names, per=per, seed=seed)
        yield from [_few_of_nn_pictures(made.pixels)[2][:8], made.labels, which[::5], made.name]


def mixing_sets():
    """Return procedural images of each kind."""
    for kind, channels, size in (("both", 3, 12), ("fractals", 1, 20), ("leaves", 3, 24), ("noise", 3, 9)):
        found = _few_of_nn_pictures(ingredients.mixing_set(5, size=size, channels=channels, kind=kind, seed=2))
        yield f"{kind} {channels}", found


def mixtures():
    """Return mixed batches, their labels and shares, by seed and parameter."""
    x, y = _images(6, 3, 10), torch.tensor([0, 1, 2, 0, 1, 2])
    for seed, alpha, mix in product(range(3), (0.2, 1.0, 10.0), (ingredients.mixup, ingredients.cutmix)):
        mixed, other, share = mix(x, y, alpha, seed)
        yield f"{mix.__name__} {seed} {alpha}", [_few_of_nn_pictures(mixed)[2], other, share]
    pictures = ingredients.mixing_set(6, size=14, seed=1)
    for number, term in enumerate((
        ingredients.AugMix(), ingredients.AugMix(severity=9.0, width=2, depth=3, all_operations=True),
        ingredients.AugMix(width=1, depth=1, severity=10.0, all_operations=True),
        ingredients.PixMix(pictures), ingredients.PixMix(pictures, least=1, most=6, beta=1.0, severity=9.0),
        ingredients.PixMix(pictures.float() / 255.0, least=2, most=2, beta=8.0),
        ingredients.PixMix(4, kind="noise", seed=5), ingredients.PixMix(pictures, most=0),
    )):  # fmt: skip
        cases = [(0, x), (1, x[:, :1] if number < 3 else x[:4]), (2, _images(8, 3, 14, 3) if number < 3 else x)]
        for seed, images in cases:
            yield f"{type(term).__name__} {number} {seed}", _few_of_nn_pictures(tried(term.mixed, images, seed))[2:]
    yield "rounds", [ingredients.PixMix(pictures, least=k, most=3).rounds(20, 4) for k in (0, 1, 3)]


def terms():
    """Return the losses of all terms of a batch with a linear network, and how many passes they take."""
    x, y = _images(5, 3, 8), torch.tensor([0, 1, 2, 2, 1])
    weight = torch.as_tensor(np.random.default_rng(2).normal(0.0, 0.1, (192, 3)), dtype=torch.float32)
    every = {"clean": ingredients.Clean(weight=0.5), "mixup": ingredients.Mixup(1.0, weight=2.0)}
    every |= {"regmixup": ingredients.RegMixup(10.0, 0.7)}
    every |= {"apart": ingredients.RegMixup(10.0, 0.7, joined=False, weight=3.0)}
    every |= {"cutmix": ingredients.CutMix(1.0, 1.0), "seldom": ingredients.CutMix(0.5, 0.4)}
    every |= {"augmix": ingredients.AugMix(), "jsd": ingredients.AugMix(jsd=True, jsd_weight=5.0)}
    every |= {"pixmix": ingredients.PixMix(ingredients.mixing_set(4, size=9, seed=3), weight=0.25)}
    found = {}
    for (name, term), seed in product({**every, "all": list(every.values())}.items(), range(4)):
        drawn = ingredients.draw(term if name == "all" else [term], x, y, seed)
        loss = drawn.loss(lambda images: images.flatten(1) @ weight)
        found[f"{name} {seed}"] = [loss, drawn.passes(5), [[part.weight, part.clean] for part in drawn.parts]]
    logits = [torch.as_tensor(np.random.default_rng(k).normal(size=(4, 3))) for k in range(3)]
    return [found, ingredients.jensen_shannon(*logits), ingredients.jensen_shannon(60.0 * logits[0], -60.0 * logits[0])]


def synthetic_images():
    """Return synthetic images, their selections and their batches."""
    cases = [{}, {"n": 7, "classes": 2, "size": 5, "channels": 1, "seed": 3}]
    cases += [{"n": 9, "classes": 9, "size": 32, "seed": 1}]
    for options in cases:
        train, test = data.synthetic(**options)
        for each in (train, test):
            yield from [_few_of_nn_pictures(each.pixels)[2][:6], each.labels[:9], each.shape, each.n_classes]
            yield repr(each)
        yield [[_few_of_nn_pictures(x)[2][:2], y[:2]] for x, y in train.select(torch.arange(5)).batches(2)]
        yield train.select([1, 0]).labels
