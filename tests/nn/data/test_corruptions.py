"""Every corruption against its definition in NumPy and SciPy, with the same draws."""

import colorsys
import io
import math

import numpy as np
import pytest
import torch
from scipy import ndimage, signal

from abstain.nn import data
from abstain.nn.data import CORRUPTIONS
from abstain.nn.ingredients import mixing_set

#: Images with edges and surfaces, dead leaves, the second one half black; lengths grow with the height from 32 pixels.
HIGH, WIDE, SCALE = 52, 26, 52 / 32
PICTURES = mixing_set(2, size=52, kind="leaves", seed=3)[..., :26].clamp(0, 230).float() / 255.0
PICTURES[1, :, :, :13] = 0.0
ROWS, COLUMNS = np.mgrid[: float(HIGH), : float(WIDE)]
MIDDLE = (HIGH - 1) / 2


def each_channel(x, change):
    """Apply a function of a matrix to every channel of every image."""
    return np.stack([[change(channel) for channel in image] for image in x])


def read(x, rows, columns):
    """Read every image at places between its pixels, each image at its own."""
    parts = [(image[None], [row, column]) for image, row, column in zip(x, rows, columns, strict=True)]
    return np.concatenate(
        [each_channel(x, lambda m, at=at: ndimage.map_coordinates(m, at, order=1, mode="reflect")) for x, at in parts]
    )


def bell(sigma):
    """Gaussian on whole numbers, to four deviations, as a square."""
    side = np.arange(-int(4 * sigma + 0.5), int(4 * sigma + 0.5) + 1)
    square = np.exp(-np.add.outer(side**2, side**2) / (2 * sigma**2))
    return square / square.sum()


def streak(x, radius, sigma, angles):
    """Mean along a line from each pixel, weighed by half a Gaussian as far as it is above 1e-4."""
    total, sums = 0.0, 0.0
    for step in range(2 * math.ceil(radius) + 1):
        weight = math.exp(-0.5 * (step / sigma) ** 2)
        if weight > 1e-4:
            rows = [ROWS + step * math.sin(angle) for angle in angles]
            total = total + weight * read(x, rows, [COLUMNS + step * math.cos(angle) for angle in angles])
            sums += weight
    return total / sums


def enlarged(x, factor):
    """Read at places nearer to the centre."""
    rows, columns = MIDDLE + (ROWS - MIDDLE) / factor, 12.5 + (COLUMNS - 12.5) / factor
    return read(x, [rows] * len(x), [columns] * len(x))


def clouds(g, decay):
    """Noise of 3, 4, 6, 10, 18 places a side (the larger side has 2^5 pixels), each weaker; from 0 to 1, then cut."""
    total = 0.0
    for octave in range(5):
        places = 2**octave + 2
        noise = torch.rand(2, 1, places, places, generator=g) - 0.5
        fine = torch.nn.functional.interpolate(noise, size=(HIGH, HIGH), mode="bicubic", align_corners=True).numpy()
        total = total + fine / decay**octave
    return np.stack([(each - each.min()) / (each.max() - each.min()) for each in total])[..., :WIDE]


def uniform(g, *shape):
    return torch.rand(shape, generator=g).numpy()


def gaussian_noise(x, c, g):
    return x + c * torch.randn(x.shape, generator=g).numpy()


def shot_noise(x, c, g):
    return torch.poisson(torch.tensor(x) * c, generator=g).numpy() / c


def impulse_noise(x, c, g):
    drawn = uniform(g, *x.shape)
    return np.select([drawn < c / 2, drawn < c], [0.0, 1.0], x)


def defocus_blur(x, c, g, mode="mirror"):
    radius = c[0] * SCALE
    side = np.arange(-math.ceil(radius), math.ceil(radius) + 1)
    kernel = signal.convolve2d((np.hypot.outer(side, side) <= radius).astype(float), bell(c[1] * SCALE))
    return each_channel(x, lambda m: ndimage.convolve(m, kernel / kernel.sum(), mode=mode))


def glass_blur(x, c, g):
    def smooth(m):
        return ndimage.gaussian_filter(m, c[0] * SCALE, mode="mirror", truncate=4.0)

    x, reach = each_channel(x, smooth), round(c[1] * SCALE)
    for _ in range(c[2]):
        down, across = (torch.randint(-reach, reach + 1, (2, HIGH, WIDE), generator=g).numpy() for _ in range(2))
        rows, columns = np.clip(ROWS + down, 0, HIGH - 1).astype(int), np.clip(COLUMNS + across, 0, 25).astype(int)
        x = np.stack([image[:, row, column] for image, row, column in zip(x, rows, columns, strict=True)])
    return each_channel(x, smooth)


def motion_blur(x, c, g):
    return streak(x, c[0] * SCALE, c[1] * SCALE, np.radians(90.0 * uniform(g, 2) - 45.0))


def zoom_blur(x, c, g):
    factors = [1 + k / 100 for k in range(round(100 * c) - 99)]
    return np.mean([x, *(enlarged(x, factor) for factor in factors)], axis=0)


def snow(x, c, g):
    mean, spread, zoom, bound, radius, sigma, scene = c
    flakes = enlarged(mean + spread * torch.randn(2, 1, HIGH, WIDE, generator=g).numpy(), zoom)
    flakes = np.where(flakes < bound, 0.0, np.clip(flakes, 0.0, 1.0))
    flakes = streak(flakes, radius * SCALE, sigma * SCALE, np.radians(-135.0 + 90.0 * uniform(g, 2)))
    pale = np.maximum(x, 1.5 * x.mean(axis=1, keepdims=True) + 0.5)
    return scene * x + (1 - scene) * pale + flakes + flakes[:, :, ::-1, ::-1]


def frost(x, c, g):
    ridges = 1 - np.abs(2 * clouds(g, 1.5) - 1)
    return c[0] * x + c[1] * ridges**2 * np.array([0.85, 0.95, 1.0]).reshape(1, 3, 1, 1)


def fog(x, c, g):
    most = x.max(axis=(1, 2, 3), keepdims=True)
    return (x + c[0] * clouds(g, c[1])) * most / (most + c[0])


def brightness(x, c, g):
    def brighter(pixel):
        hue, saturation, value = colorsys.rgb_to_hsv(*pixel)
        return colorsys.hsv_to_rgb(hue, saturation, min(value + c, 1.0))

    return np.apply_along_axis(brighter, 1, x)


def contrast(x, c, g):
    return each_channel(x, lambda m: m.mean() + c * (m - m.mean()))


def elastic_transform(x, c, g):
    strength, smooth, affine = (HIGH * each for each in c)
    places = np.array([[1, 1], [1, -1], [-1, -1]]) * HIGH / 3
    moved = places + affine * (2 * uniform(g, 2, 3, 2) - 1)
    field = 2 * uniform(g, 2, 2, HIGH, WIDE) - 1
    rows, columns = [], []
    for ends, shifts in zip(moved, field, strict=True):
        plane = np.linalg.solve(np.column_stack([places, np.ones(3)]), ends)
        at = np.stack([ROWS - MIDDLE, COLUMNS - MIDDLE, np.ones_like(ROWS)], axis=-1) @ plane + MIDDLE
        down, across = (ndimage.gaussian_filter(each, smooth, mode="mirror", truncate=4.0) for each in shifts)
        rows.append(at[..., 0] + strength * down)
        columns.append(at[..., 1] + strength * across)
    return read(x, rows, columns)


def pixelate(x, c, g):
    def coarse(m):
        (height, width), (few, narrow) = m.shape, (int(side * c) for side in m.shape)
        small = np.empty((few, narrow))
        for i, j in np.ndindex(few, narrow):
            down = slice(i * height // few, -(-(i + 1) * height // few))
            small[i, j] = m[down, j * width // narrow : -(-(j + 1) * width // narrow)].mean()
        return small[np.arange(height) * few // height][:, np.arange(width) * narrow // width]

    return each_channel(x, coarse)


def jpeg_compression(x, c, g):
    image = pytest.importorskip("PIL.Image")
    pictures = []
    for picture in np.round(255.0 * x).astype(np.uint8):
        stream = io.BytesIO()
        image.fromarray(picture.transpose(1, 2, 0)).save(stream, "JPEG", quality=c)
        pictures.append(np.asarray(image.open(stream)).transpose(2, 0, 1) / 255.0)
    return np.stack(pictures)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_corruptions_are_as_defined(name):
    """Values at two levels, of colours; what an image holds decides nothing about the other one but by its draws."""
    for level in (2, 5):
        g = torch.Generator().manual_seed(9)
        expected = globals()[name](PICTURES.double().numpy(), CORRUPTIONS[name][1][level - 1], g)
        found = data.corrupt(PICTURES, name, level, seed=9)
        np.testing.assert_allclose(found, np.clip(expected, 0.0, 1.0), atol=2e-4)


def test_sets_of_corrupted_images_repeat():
    """The same images under each corruption, in their order, in blocks of 500 with draws of their own."""
    images = data.Images(torch.full((700, 1, 2, 2), 128, dtype=torch.uint8), torch.arange(700) % 7)
    names = ["gaussian_noise", "contrast"]
    found, which = data.corrupted(images, 2, names, per=600, seed=4)
    kept = sorted(torch.randperm(700, generator=torch.Generator().manual_seed(4))[:600].tolist())
    assert which == ["gaussian_noise"] * 600 + ["contrast"] * 600
    assert found.labels.tolist() == [k % 7 for k in kept] * 2
    grey = torch.full((500, 1, 2, 2), 128 / 255)
    seeds = {0: 4 + 1_000_003 * 2, 500: 4 + 1_000_003 * 2 + 3500}
    for start, seed in seeds.items():
        expected = data.corrupt(grey[: 600 - start], "gaussian_noise", 2, seed)
        assert torch.equal(found.pixels[start : min(start + 500, 600)], (expected * 255).round().byte())
    again = data.corrupted(images, 2, ["contrast", "gaussian_noise"], per=600, seed=4)[0].pixels[600:]
    assert torch.equal(again[:500], (data.corrupt(grey, "gaussian_noise", 2, 4 + 1_000_003 * 12) * 255).round().byte())
