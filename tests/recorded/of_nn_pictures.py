"""What is done to images: corruptions, mixtures, augmentations, and the terms of a loss that they give."""

from itertools import product

import numpy as np
import torch

from abstain.nn import data, ingredients
from abstain.nn.data import CORRUPTIONS
from tests.recorded import tried

TOLERANCE = 1e-4


def _images(n, channels, size, seed=0):
    """Return images with smooth and with flat parts, one of them black."""
    values = np.random.default_rng([31, seed]).random((n, channels, size, size)) * np.linspace(0.2, 1.0, size)
    values[0, :, : size // 2] = 0.5
    values[-1] *= 0.0
    return torch.as_tensor(values, dtype=torch.float32)


def _few(x):
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
        row = [_few(data.corrupt(_images(3, 3, 16), name, level, seed=level))[2]]
        if level in (2, 5):
            row += [_few(data.corrupt(_images(2, 1, 9, 1), name, level, seed=7))[2]]
        if level == 4:
            row += [_few(data.corrupt(_images(2, 3, 40, 2), name, level))[2:]]
        yield f"{name} {level}", row


def corrupted_sets():
    """Return sets under corruptions with and without a number of images for each."""
    images = data.synthetic(30, 3, 8)[1]
    for level, names, per, seed in (
        (1, ["fog", "gaussian_noise"], None, 0),
        (5, ["shot_noise", "snow"], 7, 3),
        (3, ["contrast"], 40, 1),
    ):
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
        for seed, images in (
            (0, x),
            (1, x[:, :1] if number < 3 else x[:4]),
            (2, _images(8, 3, 14, 3) if number < 3 else x),
        ):
            yield f"{type(term).__name__} {number} {seed}", _few(tried(term.mixed, images, seed))[2:]
    yield "rounds", [ingredients.PixMix(pictures, least=k, most=3).rounds(20, 4) for k in (0, 1, 3)]


def terms():
    """Return the losses of all terms of a batch with a linear network, and how many passes they take."""
    x, y = _images(5, 3, 8), torch.tensor([0, 1, 2, 2, 1])
    weight = torch.as_tensor(np.random.default_rng(2).normal(0.0, 0.1, (192, 3)), dtype=torch.float32)
    every = {
        "clean": ingredients.Clean(weight=0.5),
        "mixup": ingredients.Mixup(1.0, weight=2.0),
        "regmixup": ingredients.RegMixup(10.0, 0.7),
        "apart": ingredients.RegMixup(10.0, 0.7, joined=False, weight=3.0),
        "cutmix": ingredients.CutMix(1.0, 1.0),
        "seldom": ingredients.CutMix(0.5, 0.4),
        "augmix": ingredients.AugMix(),
        "jsd": ingredients.AugMix(jsd=True, jsd_weight=5.0),
        "pixmix": ingredients.PixMix(ingredients.mixing_set(4, size=9, seed=3), weight=0.25),
    }
    found = {}
    for (name, term), seed in product({**every, "all": list(every.values())}.items(), range(4)):
        drawn = ingredients.draw(term if name == "all" else [term], x, y, seed)
        loss = drawn.loss(lambda images: images.flatten(1) @ weight)
        found[f"{name} {seed}"] = [loss, drawn.passes(5), [[part.weight, part.clean] for part in drawn.parts]]
    logits = [torch.as_tensor(np.random.default_rng(k).normal(size=(4, 3))) for k in range(3)]
    return [found, ingredients.jensen_shannon(*logits), ingredients.jensen_shannon(60.0 * logits[0], -60.0 * logits[0])]


def synthetic_images():
    """Return synthetic images, their selections and their batches."""
    for options in (
        {},
        {"n": 7, "classes": 2, "size": 5, "channels": 1, "seed": 3},
        {"n": 9, "classes": 9, "size": 32, "seed": 1},
    ):
        train, test = data.synthetic(**options)
        for each in (train, test):
            yield from [_few(each.pixels)[2][:6], each.labels[:9], each.shape, each.n_classes, repr(each)]
        yield from [
            [[_few(x)[2][:2], y[:2]] for x, y in train.select(torch.arange(5)).batches(2)],
            train.select([1, 0]).labels,
        ]
