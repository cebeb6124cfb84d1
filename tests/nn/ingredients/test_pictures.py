"""Mixed images and the sets they are mixed with, against loops over images and pixels with the same draws."""

import numpy as np
import pytest
import torch

from abstain.nn import ingredients
from abstain.nn.ingredients import _augmix as operations

X = torch.rand((5, 3, 8, 7), generator=torch.Generator().manual_seed(1))
X[0, :, :3] = 0.0


def changed(image, names, which, level, sign):
    """One operation on one image."""
    one = operations.Drawn(np.array([which]), np.array([level]), np.array([sign]), names)
    return one.apply(image[None])[0].numpy()


def operations_of(rng, n, severity, names):
    """Which, how strong, to which side: for n images."""
    which, level = rng.integers(len(names), size=n), rng.uniform(0.1, severity, n) / 10
    return list(zip(which, level, np.where(rng.random(n) < 0.5, -1.0, 1.0), strict=True))


@pytest.mark.parametrize("settings", [{}, {"least": 1, "most": 2, "beta": 2.0, "severity": 8.0}])
def test_pixmix_image_by_image(settings):
    """Start, rounds, partners and shares of each image, mixed pixel for pixel."""
    term = ingredients.PixMix(ingredients.mixing_set(6, size=10, seed=0), **settings)
    found = term.mixed(X, rng=3).numpy()
    rng, n, pictures = np.random.default_rng(3), len(X), term.pictures.numpy() / 255.0
    rounds = rng.integers(term.least, term.most + 1, n)
    most = max(rounds)
    assert len(set(rounds)) > 1
    drawn = operations_of(rng, n * (most + 1), term.severity, operations.ALL_OPERATIONS)
    results = [
        changed(image, operations.ALL_OPERATIONS, *drawn[i]) if begins else image.numpy()
        for i, (image, begins) in enumerate(zip(X, rng.random(n) < 0.5, strict=True))
    ]
    for step in range(1, most + 1):
        numbers, tops, lefts = rng.integers(6, size=n), rng.integers(3, size=n), rng.integers(4, size=n)
        itself, inside, beta = rng.random(n) < 0.5, rng.random(n) < 0.5, term.beta
        a = np.where(inside, rng.beta(beta, 1, n), 1 + rng.beta(1, beta, n))
        b = np.where(inside, rng.beta(1, beta, n), -rng.beta(1, beta, n))
        adds = rng.random(n) < 0.5
        for i in range(n):
            u, v = results[i], pictures[numbers[i], :, tops[i] : tops[i] + 8, lefts[i] : lefts[i] + 7]
            if itself[i]:
                v = changed(X[i], operations.ALL_OPERATIONS, *drawn[step * n + i])
            if step > rounds[i]:
                continue
            if adds[i]:
                mixed = (a[i] * (2 * u - 1) + b[i] * (2 * v - 1) + 1) / 2
            else:
                mixed = (2 * u) ** a[i] * np.maximum(2 * v, 1e-37) ** b[i] / 2
            results[i] = np.clip(mixed, 0, 1)
    np.testing.assert_allclose(found, results, atol=1e-5)


@pytest.mark.parametrize("settings", [{}, {"width": 2, "depth": 2, "all_operations": True, "severity": 9.0}])
def test_augmix_chain_by_chain(settings):
    """Each chain of operations on each image, their weighted sum, and the share of the image itself."""
    term = ingredients.AugMix(**settings)
    rng, n, width = np.random.default_rng(4), len(X), term.width
    names = operations.ALL_OPERATIONS if term.all_operations else operations.OPERATIONS
    weights, shares = rng.dirichlet(np.ones(width), n), rng.beta(1, 1, n)
    lengths = np.full(width * n, term.depth) if term.depth else rng.integers(1, 4, width * n)
    drawn = [operations_of(rng, width * n, term.severity, names) for _ in range(max(lengths))]
    expected = []
    for i, image in enumerate(X):
        total = (1 - shares[i]) * image.numpy()
        for j in range(width):
            chain = image
            for step in range(lengths[j * n + i]):
                chain = torch.tensor(changed(chain, names, *drawn[step][j * n + i]))
            total = total + shares[i] * weights[i, j] * chain.numpy()
        expected.append(total)
    np.testing.assert_allclose(term.mixed(X, rng=4), expected, atol=1e-5)
    first, _, third = ingredients.AugMix(jsd=True).draw(X, torch.arange(5), rng=4)[0].inputs.split(5)
    assert torch.equal(first, X)
    assert not torch.equal(third, X)


def test_operations_agree_with_pillow():
    """All thirteen on a random image that is wider than high, weak and strong, to both sides."""
    image, ops = pytest.importorskip("PIL.Image"), pytest.importorskip("PIL.ImageOps")
    enhance = pytest.importorskip("PIL.ImageEnhance")
    values = (np.random.default_rng(0).beta(2, 5, (16, 20, 3)) * 255).astype(np.uint8)
    picture = image.fromarray(values)
    x = torch.tensor(values).permute(2, 0, 1)[None] / 255.0

    def moved(*matrix):
        return picture.transform(picture.size, image.Transform.AFFINE, matrix, resample=image.Resampling.BILINEAR)

    for level, sign in ((0.2, 1.0), (0.7, -1.0)):
        shear, across, down = 0.3 * level * sign, sign * int(level * 20 / 3), sign * int(level * 16 / 3)
        factor = 1.8 * level + 0.1
        expected = {
            "autocontrast": ops.autocontrast(picture),
            "equalize": ops.equalize(picture),
            "posterize": ops.posterize(picture, 4 - int(4 * level)) if level < 0.25 else None,
            "solarize": ops.solarize(picture, 256 - int(256 * level)),
            "rotate": picture.rotate(30 * level * sign, resample=image.Resampling.BILINEAR),
            # about the centre, in units of half the sides
            "shear_x": moved(1, shear * 20 / 16, -shear * 20 / 16 * 8, 0, 1, 0),
            "shear_y": moved(1, 0, 0, shear * 16 / 20, 1, -shear * 16 / 20 * 10),
            "translate_x": moved(1, 0, across, 0, 1, 0),
            "translate_y": moved(1, 0, 0, 0, 1, down),
            "color": enhance.Color(picture).enhance(factor),
            "contrast": enhance.Contrast(picture).enhance(factor),
            "brightness": enhance.Brightness(picture).enhance(factor),
            "sharpness": enhance.Sharpness(picture).enhance(factor),
        }
        assert list(expected) == list(operations.ALL_OPERATIONS)
        for number, (name, reference) in enumerate(expected.items()):
            if reference is not None:
                ours = changed(x[0], operations.ALL_OPERATIONS, number, level, sign).transpose(1, 2, 0) * 255
                assert np.abs(ours - np.asarray(reference, dtype=float))[3:-3, 3:-3].max() <= 1.6, name
    thirds = changed(x[0], ("posterize",), 0, 0.7, 1.0) * 255  # 6 bits: 2 finer than 4
    np.testing.assert_allclose(thirds, values.transpose(2, 0, 1) // 64 * 64, atol=1e-4)
    for height, moves in ((2, 0), (3, 3)):  # the border stays, and of less than three rows all
        small = X[1, :, :height, :3]
        assert (np.abs(changed(small, ("sharpness",), 0, 1.0, 1.0) - small.numpy()) > 1e-3).sum() == moves
