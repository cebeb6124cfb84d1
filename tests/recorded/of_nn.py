"""Images and tasks, what is done to images, scores of tensors, and options at their edges, for PyTorch."""

import json
import os
import sys
import warnings
from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

import numpy as np
import torch
from PIL import Image

from abstain import nn, scores
from abstain.nn import data, ingredients, networks, train
from tests.recorded import of_scores, tried
from tests.recorded.of_option_edges import _edges, _outcome
from tests.recorded.sources import folder

TOLERANCE = 1e-4


def _bytes(seed, *shape):
    """Return smooth images in bytes."""
    rng = np.random.default_rng([71, seed])
    return (255.0 * rng.random(shape) * np.linspace(0.3, 1.0, shape[-2])[:, None]).astype(np.uint8)


def _picture(path, seed, height, width, grey=False):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pixels = _bytes(seed, height, width, 3)
    Image.fromarray(pixels[..., 0] if grey else pixels).save(path)


def _few(x):
    """Return of every image a sum with weights that differ, and its extremes; of a set the first sums and its facts."""
    if x is None or isinstance(x, str):
        return x
    if not isinstance(x, torch.Tensor):
        pixels = x.take(range(min(len(x), 8))).double().flatten(1)
        sums = (pixels * torch.linspace(1.0, 2.0, pixels.shape[1], dtype=torch.float64)).mean(dim=1)
        return [len(x), x.shape, sums, x.labels[:12], x.class_names, x.name, x.n_classes]
    flat = x.detach().double().flatten(1)
    weight = torch.linspace(1.0, 2.0, flat.shape[1], dtype=torch.float64) / flat.shape[1]
    sums = (flat * weight).sum(dim=1).round(decimals=7)
    return [list(x.shape), str(x.dtype), sums, flat.amin(dim=1), flat.amax(dim=1)]


def _loaded(name, **options):
    found = tried(data.load, str(name), **options)
    return found if isinstance(found, str) else [_few(each) for each in found]


def files():
    """Return what is read from archives, folders and lists, with sizes given and not."""
    labels = np.array([0, 2, 1, 2, 0])
    with folder():
        arrays = {"x_train": _bytes(0, 5, 6, 6, 3), "y_train": labels, "x_test": _bytes(1, 5, 6, 6, 3)}
        np.savez("both.npz", **arrays, y_test=labels[::-1], class_names=np.array(["a", "b", "c"]))
        np.savez("one.npz", x=_bytes(2, 4, 5, 5, 1)[..., 0])
        np.savez("set_train_.npz", images=_bytes(3, 3, 4, 4, 3), labels=labels[:3])
        for name, kind in (("set_test_", np.uint8), ("wide", float)):
            np.savez(f"{name}.npz", x=_bytes(4, 3, 4, 4, 3).astype(kind), y=labels[:3])
        yield [_loaded(f"{name}.npz") for name in ("both", "one", "set_train_", "set_test_", "wide")]
        sizes = {"train/cat": (9, 14), "train/dog": (11, 8), "val/cat": (8, 8), "val/dog": (30, 9)}
        for (place, size), which in product(sizes.items(), range(2)):
            _picture(f"tree/{place}/{which}.png", which, *size, grey=which == 1)
        for which, size in enumerate(((100, 140), (150, 101), (97, 97), (200, 300))):
            _picture(f"large/x/{which}.png", which, *size)
        Path("test.txt").write_text("large/x/0.png 3\n\ntree/train/dog/0.png -1\ntree/val/cat/1.png 0\n")
        _picture("listed/0.png", 5, 8, 8)
        for part, label in (("train", 1), ("val", 0)):
            Path(f"listed/{part}.txt").write_text(f"0.png {label}\n")
        asked = {"tree": (None, 5, 12), "large": (None, 65, 96, 64), "test.txt": (7, 70), "tree:shift": (None,)}
        others = ("listed", "synthetic:n=9,classes=3,size=6,channels=1,seed=2", "synthetic:n=x", "nowhere")
        asked |= dict.fromkeys(others, (None,))
        yield [_loaded(name, size=size) for name, sizes in asked.items() for size in sizes]
        lazy = data.Files([Path(f"large/x/{k}.png") for k in range(4)], 10, 20, 1)
        yield [lazy.shape, lazy[torch.tensor([3, 0])].double().mean(dim=(1, 2, 3))]
        yield [lazy.select(torch.tensor(each)).shape for each in ([1], [True, False, True, False])]


class _Split:
    """A part of a data set as a library has it."""

    def __init__(self, n, picture="Image", label="ClassLabel"):
        kinds = {name: type(name, (), {"names": ["a", "b", "c"]})() for name in ("Value", picture, label)}
        self.features = {"id": kinds["Value"], "photo": kinds[picture], "kind": kinds[label]}
        pictures = [Image.fromarray(_bytes(k, 8 + k, 9, 3)) for k in range(n)]
        self.columns = {"photo": pictures, "kind": [k % 3 for k in range(n)]}
        self.data, self.targets, self.classes = _bytes(n, n, 6, 6, 3), self.columns["kind"], ["a", "b", "c"]

    def __getitem__(self, key):
        return self.columns[key] if isinstance(key, str) else {k: column[key] for k, column in self.columns.items()}


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
        yield from [(name, [_loaded(f"hf:{name}", size=size) for size in (None, 6)]) for name in hub]
        yield "torchvision", [_loaded(f"torchvision:{name}") for name in ("Some", "Same")]


def sets_with_shifts():
    """Return the parts of sets as WILDS and BREEDS have them."""
    with folder():
        for k in range(5):
            _picture(f"cam/train/{k}.png", k, 8, 8)
        rows = ["0.png,2,train", "1.png,0,id_test", "2.png,1,test", "3.png,2,test", "4.png,5,val"]
        Path("cam/metadata.csv").write_text("\n".join(["filename,y,split", *rows, ""]))
        edges, leaves = [("root", "b"), ("root", "top"), ("top", "mid")], []
        for node in range(3):
            here = [f"n{node}-{leaf:02}" for leaf in range(20 + node - (node == 2) * 4)]
            edges += [("mid", f"n{node}"), ("top", f"n{node}"), *((f"n{node}", leaf) for leaf in here)]
            leaves += here
        for part, (k, leaf) in product(("train", "val"), enumerate(leaves)):
            _picture(f"breeds/{part}/{leaf}/0.png", k, 6, 6)
        Path("breeds/class_hierarchy.txt").write_text("\n".join(" ".join(edge) for edge in edges) + "\n")
        Path("breeds/dataset_class_info.json").write_text(json.dumps([[k, each, "x"] for k, each in enumerate(leaves)]))
        Path("breeds/node_names.txt").write_text("n0\tsmall things\nn1\tlarge things\n")
        return [_loaded("cam"), _loaded("cam:shift", size=6), _loaded("./breeds"), _loaded("./breeds:shift")]


def tasks():
    """Return splits, statistics and test sets of tasks by their options."""
    with folder():
        for name, k in product(("class0", "class2", "class1"), range(3)):
            _picture(f"else/test/{name}/{k}.png", k, 10, 12)
        more = ["synthetic:n=5,size=20,channels=1,seed=3:semantic", "synthetic:n=4,size=8,seed=9:non-semantic"]
        shares = ("first:7", "train:0.25", "test:9", "test:1.0", "test:60", "middle:3", "test:0")
        every = [{}, *({"validation": each} for each in shares), {"corruptions": ["fog", "contrast"]}]
        every += [{"ood_data": more}, {"ood_data": more[1:], "statistics": "own"}, {"corruptions": ["x"]}]
        every += [{"statistics": "none", "ood_data": ["synthetic"]}, {"shifted_data": ["else"]}]
        for options in [*every, {"sub_classes": ["class1"]}]:
            made = tried(data.task, "synthetic:n=60,size=12", **options)
            if not isinstance(made, str):
                sets = [(each, *each.make()) for each in made.sets[:5]]
                sets = [[a.role, a.n, a.shift, _few(x), b.get("corruption", [])[::9]] for a, x, b in sets]
                made = [_few(made.train), _few(made.validation), sets, list(made.splits.values()), made.statistics()]
            yield made


def held_out_classes():
    """Return what is left to learn, and the shift of classes that are held out."""
    train, test = data.synthetic(30, 5, 6)
    groups, found = {"low": ["class0", "class3"], "high": ["class4", "class1"]}, []
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


def corruptions():
    """Return every corruption at every level, in colour and in grey, and one of larger images."""
    for name, level in product(data.CORRUPTIONS, (1, 2, 3, 4, 5)):
        row = [_few(data.corrupt(_images(3, 3, 16), name, level, seed=level))[2]]
        if level in (2, 5):
            row += [_few(data.corrupt(_images(2, 1, 9, 1), name, level, seed=7))[2]]
        if level == 4:
            row += [_few(data.corrupt(_images(2, 3, 40, 2), name, level))[2:]]
        yield f"{name} {level}", row


def corrupted_sets():
    """Return sets under corruptions with and without a number of images for each."""
    images = data.synthetic(30, 3, 8)[1]
    cases = [(1, ["fog", "gaussian_noise"], None, 0), (5, ["shot_noise", "snow"], 7, 3), (3, ["contrast"], 40, 1)]
    for level, names, per, seed in cases:
        made, which = data.corrupted(images, level, names, per=per, seed=seed)
        yield from [_few(made.pixels)[2][:8], made.labels, which[::5], made.name]


def mixing_sets():
    """Return procedural images of each kind."""
    for kind, channels, size in (("both", 3, 12), ("fractals", 1, 20), ("leaves", 3, 24), ("noise", 3, 9)):
        yield f"{kind} {channels}", _few(ingredients.mixing_set(5, size=size, channels=channels, kind=kind, seed=2))


def mixtures():
    """Return mixed batches, their labels and shares, by seed and parameter."""
    x, y = _images(6, 3, 10), torch.tensor([0, 1, 2, 0, 1, 2])
    for seed, alpha, mix in product(range(3), (0.2, 1.0, 10.0), (ingredients.mixup, ingredients.cutmix)):
        mixed, other, share = mix(x, y, alpha, seed)
        yield f"{mix.__name__} {seed} {alpha}", [_few(mixed)[2], other, share]
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
            yield f"{type(term).__name__} {number} {seed}", _few(tried(term.mixed, images, seed))[2:]
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
    large = {"n": 9, "classes": 9, "size": 32, "seed": 1}
    for options in ({}, {"n": 7, "classes": 2, "size": 5, "channels": 1, "seed": 3}, large):
        train, test = data.synthetic(**options)
        for each in (train, test):
            yield [_few(each.pixels)[2][:6], each.labels[:9], each.shape, each.n_classes, repr(each)]
        yield [[_few(x)[2][:2], y[:2]] for x, y in train.select(torch.arange(5)).batches(2)]
        yield train.select([1, 0]).labels


def of_classes_and_functions():
    """Return which options objectives, ingredients, networks and scores of tensors take."""
    logits, target = torch.eye(3), torch.arange(3)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 3))
    plain, x = torch.optim.SGD(model.parameters(), lr=0.1), _images(3, 3, 4)
    calls = {name: getattr(nn, name) for name in ("AURCLoss", "SELELoss", "CWSALoss", "DeVriesLoss")}
    calls |= {"live": nn.SelectiveMetrics, "checkpoint": nn.SelectiveCheckpoint}
    calls |= {name: getattr(ingredients, name) for name in ("AugMix", "Clean", "CutMix", "Mixup", "RegMixup")}
    calls |= {name: partial(getattr(ingredients, name), plain) for name in ("SAM", "FriendlySAM", "MixedSAM")}
    calls |= {"EMA": partial(ingredients.EMA, model), "head": partial(nn.ConfidenceHead, 3)}
    calls |= {"PixMix": partial(ingredients.PixMix, 4), "mixing": partial(ingredients.mixing_set, n=1, size=4)}
    calls |= {"cutmix": partial(ingredients.cutmix, x, target), "synthetic": partial(data.synthetic, n=3, size=4)}
    calls |= {"build": partial(networks.build, "small", (3, 8, 8), 3), "odin": partial(nn.odin, model, x)}
    calls |= {"weights": partial(nn.loss_weights, target / 3.0), "dropout": partial(nn.mc_dropout, model, x, passes=2)}
    calls |= {"smooth": partial(nn.smooth_cwsa, target / 2.0, target / 3.0), "gradnorm": partial(nn.gradnorm, model, x)}
    yield from [(name, _edges(call)) for name, call in calls.items()]
    cosine = partial(ingredients.CosineClassifier, n_features=3, n_classes=2)
    only = {"n_samples": nn.CorrectnessRankingLoss, "n_features n_classes scale": cosine}
    only |= {"reward warm_up_epochs": partial(nn.DeepGamblersLoss, reward=3.0)}
    only |= {"alpha": partial(ingredients.mixup, x, target), "level": partial(data.corrupt, x, "fog")}
    only |= {"reward": partial(nn.deep_gamblers_loss, logits, target - 1)}
    yield from ((names, _edges(call, names.split())) for names, call in only.items())


def _leaves(settings, at=""):
    for name, value in settings.items():
        yield from _leaves(value, f"{at}{name}.") if isinstance(value, dict) else [(f"{at}{name}", value)]


def of_recipes():
    """Return which words and numbers the settings of recipes take."""
    for name, value in _leaves(asdict(train.recipe("sure_plus"))):
        edges = ("0", "x", *(("true", "[]") if isinstance(value, str | bool) else ("-1", "1.5")))
        yield name, [_outcome(partial(train.recipe, "sure_plus", [f"{name}={each}"])) for each in edges]


def of_plans():
    """Return the sizes of runs by classes, passes, averages and sets."""
    small = ["network.name=small", "network.width=3", "data.batch=16", "epochs=2"]
    cases = [("ce", 3, []), ("ce", 7, ["extract.passes=3", "network.dropout=true", "extract.train=true"])]
    cases += [("sure", 3, ["extract.odin=true", "extract.gram=true"]), ("sure_fsam", 4, []), ("confidnet", 3, [])]
    cases += [("devries", 3, ["data.batch=1000"])]
    for recipe, classes, more in cases:
        plan = train.plan(train.recipe(recipe, [*small, *more]), data.task(f"synthetic:n=48,size=8,classes={classes}"))
        yield [plan.parameters, plan.steps, plan.passes, plan.checkpoint_bytes, plan.output_bytes]


def larger_images():
    """Return augmentations of images of more pixels than grey levels, one operation at a time, and of empty sets."""
    x = _images(24, 3, 34)
    x[3], x[4, 0] = 0.7, 0.1
    found = []
    for options in ({"all_operations": True}, {"severity": 10.0, "all_operations": True}, {"severity": 1.0}):
        term = ingredients.AugMix(width=1, depth=1, **options)
        found += [_few(term.mixed(each, seed))[2:4] for seed, each in enumerate((x, x[:, :1], x[..., :30]))]
    empty = data.Files(["none.png"], 10, 12, 1)[torch.zeros(0, dtype=torch.int64)]
    return [found, list(empty.shape), str(empty.dtype), _few(data.synthetic(5, 2, 33)[0].pixels)]


def _sums(values):
    """Return a tensor in few numbers: its size, its sum with weights that differ, and its extremes."""
    if isinstance(values, str):
        return values
    flat = values.detach().double().reshape(-1)
    weight = torch.linspace(1.0, 2.0, len(flat), dtype=torch.float64)
    return [tuple(values.shape), str(values.dtype), (flat * weight).sum(), flat.min(), flat.max()]


def scores_of_tensors():
    """Return every score of tensors, fitted on NumPy's arrays where it has to be."""
    train, validation, _ = of_scores._parts()
    names = ("logits", "features", "passes", "head")
    for single, name in product((False, True), scores.names()):
        rows = of_scores._outputs(15, 3, 1.0, single=single)
        columns = {each: getattr(rows, each) for each in names}
        columns = {k: tuple(map(torch.as_tensor, v)) if k == "head" else torch.as_tensor(v) for k, v in columns.items()}
        options = of_scores.OPTIONS.get(name, ({},))[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            entry = scores.get(name, **options)
            fitted = tried(entry.fit, validation if entry.fit_split == "validation" else train)
            yield f"{name} {single}", fitted if isinstance(fitted, str) else tried(fitted.score_arrays, **columns)


def _model(seed=0, channels=2):
    """Return a small network with convolutions, dropout and batch norm, its weights drawn by NumPy."""
    layers = [torch.nn.Conv2d(channels, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten()]
    layers += [torch.nn.Dropout(0.3), torch.nn.Linear(64, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)]
    model, rng = torch.nn.Sequential(*layers), np.random.default_rng([3, seed])
    for value in model.parameters():
        value.data = torch.as_tensor(rng.normal(0.0, 0.3, tuple(value.shape)), dtype=torch.float32)
    return model


def _noise(n, seed):
    return torch.as_tensor(np.random.default_rng([4, seed]).random((n, 2, 4, 4)), dtype=torch.float32)


def scores_of_the_model():
    """Return GradNorm, ODIN and Gram scores with their options, and what the latter keeps."""
    model, x = _model(), _noise(7, 0)
    yield from [nn.gradnorm(model, x), nn.gradnorm(model, x, chunk_size=2), nn.gradnorm(model.double(), x.double())]
    model = _model()
    yield nn.gradnorm(model, x, parameters=lambda name: name.startswith("7"))
    cases = [(1000.0, 0.0014, None), (2.0, 0.1, None), (1.0, 0.05, 0.5), (5.0, 0.2, torch.tensor([[[0.2]], [[2.0]]]))]
    for temperature, epsilon, std in cases:
        yield nn.odin(model, x, temperature=temperature, epsilon=epsilon, std=std)
    batches = [(_noise(9, k), torch.arange(9) % 3) for k in range(3)]
    for orders, layers in (((1, 2, 3, 4, 5), None), ((1, 3), ("2",)), ((2,), ("0", "6"))):
        kept = nn.fit_gram(model, batches[:2], batches[2:], n_classes=3, orders=orders, layers=layers)
        yield from [kept.layers, kept.orders, kept.scale, [_sums(each) for each in (*kept.low, *kept.high)]]
        yield from [nn.gram_score(model, 3.0 * x - 1.0, kept), nn.gram_score(model, x, kept)]


def scores_of_passes():
    """Return confidences of dropout and ensembles, and the masks of a seed."""
    models, x = [_model(k) for k in range(3)], _noise(6, 1)
    for logits in (nn.ensemble_logits(models, x), nn.mc_dropout(models[0], x, 4, seed=3)):
        yield _sums(logits)
        for kind in ("msp", "neg_entropy", "neg_expected_entropy", "neg_mutual_information"):
            yield nn.passes_confidence(logits, kind)


def reservations():
    """Return the confidence of a reservation, of plain, large and half-precise logits."""
    logits = torch.as_tensor(np.random.default_rng(5).normal(0.0, 3.0, (6, 4)))
    several = (logits, 300.0 * logits, logits.float(), logits.bfloat16().float())
    return [nn.reservation_confidence(each) for each in several]
