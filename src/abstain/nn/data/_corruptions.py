"""The fifteen common corruptions in five levels, made in code, on batches."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from abstain._checks import one_of, whole
from abstain.nn._libraries import pillow
from abstain.nn.data._images import Images
from abstain.nn.ingredients._terms import check_pictures


def filtered(x: Tensor, kernel: Tensor) -> Tensor:
    """Filter each channel by a kernel (k, k), borders reflected."""
    channels, half = x.shape[1], kernel.shape[-1] // 2
    weight = kernel.to(x).expand(channels, 1, *kernel.shape)
    mode = "reflect" if half < min(x.shape[2:]) else "replicate"
    padded = nn.functional.pad(x, (half, half, half, half), mode=mode)
    result: Tensor = nn.functional.conv2d(padded, weight, groups=channels)
    return result


def gaussian(sigma: float) -> Tensor:
    """Kernel of a Gaussian, cut at four deviations."""
    half = int(4.0 * sigma + 0.5)
    line = torch.exp(-0.5 * (torch.arange(-half, half + 1) / sigma) ** 2)
    kernel = torch.outer(line, line)
    return kernel / kernel.sum()


def disc(radius: float, sigma: float) -> Tensor:
    """Kernel of a disc of pixels within a radius, softened by a Gaussian."""
    half = math.ceil(radius)
    side = torch.arange(-half, half + 1)
    inside = (side[:, None] ** 2 + side**2 <= radius**2).float()
    soft = gaussian(sigma)
    kernel = nn.functional.conv2d(inside[None, None], soft[None, None], padding=soft.shape[-1] - 1)[0, 0]
    return kernel / kernel.sum()


def resampled(x: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Read each image at real pixel positions (n, height, width), bilinearly."""
    height, width = x.shape[2:]
    grid = torch.stack([(2.0 * columns + 1.0) / width - 1.0, (2.0 * rows + 1.0) / height - 1.0], dim=-1)
    found: Tensor = nn.functional.grid_sample(x, grid.to(x), padding_mode="reflection", align_corners=False)
    return found


def positions(x: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and columns of all pixels, (1, height, width)."""
    height, width = x.shape[2:]
    rows, columns = torch.meshgrid(torch.arange(float(height)), torch.arange(float(width)), indexing="ij")
    return rows[None], columns[None]


def streaked(x: Tensor, radius: float, sigma: float, angle: Tensor) -> Tensor:
    """Motion blur: a mean along a line from each pixel, its weights half a Gaussian; an angle per image."""
    rows, columns = positions(x)
    weights = [math.exp(-(step**2) / (2.0 * sigma**2)) for step in range(2 * math.ceil(radius) + 1)]
    weights = [weight for weight in weights if weight > 1e-4]
    down, across = torch.sin(angle)[:, None, None], torch.cos(angle)[:, None, None]
    total = torch.zeros_like(x)
    for step, weight in enumerate(weights):
        total += weight * resampled(x, rows + step * down, columns + step * across)
    return total / sum(weights)


def zoomed(x: Tensor, factor: float) -> Tensor:
    """Enlarge about the centre."""
    rows, columns = positions(x)
    middle_row, middle_column = (x.shape[2] - 1) / 2.0, (x.shape[3] - 1) / 2.0
    rows, columns = (rows - middle_row) / factor + middle_row, (columns - middle_column) / factor + middle_column
    return resampled(x, rows.expand(len(x), -1, -1), columns.expand(len(x), -1, -1))


def _clouds(x: Tensor, decay: float, generator: torch.Generator) -> Tensor:
    """Random clouds in [0, 1] for every image: octaves of noise, each weaker by ``decay`` and twice as fine."""
    n, _, height, width = x.shape
    size = max(height, width)
    total = torch.zeros(n, 1, size, size)
    for octave in range(max(int(math.log2(size)), 1)):
        coarse = torch.rand(n, 1, (1 << octave) + 2, (1 << octave) + 2, generator=generator) - 0.5
        fine = nn.functional.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=True)
        total += fine / decay**octave
    low, high = total.amin(dim=(1, 2, 3), keepdim=True), total.amax(dim=(1, 2, 3), keepdim=True)
    return ((total - low) / (high - low).clamp_min(1e-9))[..., :height, :width]


_CHUNK = 500


def _gaussian_noise(x: Tensor, c: float, g: torch.Generator) -> Tensor:
    return x + c * torch.randn(x.shape, generator=g).to(x)


def _shot_noise(x: Tensor, c: float, g: torch.Generator) -> Tensor:
    return (torch.poisson((c * x).cpu(), generator=g) / c).to(x)


def _impulse_noise(x: Tensor, c: float, g: torch.Generator) -> Tensor:
    """Salt and pepper: each value with chance c becomes 0 or 1."""
    drawn = torch.rand(x.shape, generator=g).to(x)
    return torch.where(drawn < c / 2.0, 0.0, torch.where(drawn < c, 1.0, x))


def _defocus_blur(x: Tensor, c: tuple[float, ...], g: torch.Generator) -> Tensor:
    return filtered(x, disc(c[0] * _unit(x), c[1] * _unit(x)))


def _glass_blur(x: Tensor, c: tuple[float, int, int], g: torch.Generator) -> Tensor:
    """Blur, read every pixel from a random neighbour, several times, and blur again."""
    sigma, reach, times = c
    kernel = gaussian(sigma * _unit(x))
    x = filtered(x, kernel)
    n, channels, height, width = x.shape
    reach = max(round(reach * _unit(x)), 1)
    rows, columns = (each.long() for each in positions(x))
    for _ in range(times):
        down, across = (torch.randint(-reach, reach + 1, (n, height, width), generator=g) for _ in range(2))
        index = (rows + down).clamp(0, height - 1) * width + (columns + across).clamp(0, width - 1)
        index = index.reshape(n, 1, -1).expand(-1, channels, -1).to(x.device)
        x = x.flatten(2).gather(2, index).reshape(x.shape)
    return filtered(x, kernel)


def _motion_blur(x: Tensor, c: tuple[float, ...], g: torch.Generator) -> Tensor:
    angle = (torch.rand(len(x), generator=g) - 0.5) * (math.pi / 2.0)
    return streaked(x, c[0] * _unit(x), c[1] * _unit(x), angle)


def _zoom_blur(x: Tensor, c: float, g: torch.Generator) -> Tensor:
    """Mean of the image and of its enlargements by 1, 1.01, ... up to c."""
    factors = [1.0 + 0.01 * step for step in range(round((c - 1.0) * 100.0) + 1)]
    return torch.stack([x, *(zoomed(x, factor) for factor in factors)]).mean(dim=0)


def _snow(x: Tensor, c: tuple[float, ...], g: torch.Generator) -> Tensor:
    """Flakes from noise, enlarged, cut off below a bound and blown; the scene behind is paler."""
    mean, spread, zoom, bound, radius, sigma, scene = c
    flakes = mean + spread * torch.randn(len(x), 1, *x.shape[2:], generator=g)
    flakes = zoomed(flakes, zoom)
    flakes = torch.where(flakes < bound, 0.0, flakes).clamp(0.0, 1.0)
    angle = -(0.75 - 0.5 * torch.rand(len(x), generator=g)) * math.pi
    flakes = streaked(flakes, radius * _unit(x), sigma * _unit(x), angle).to(x)
    grey = x.mean(dim=1, keepdim=True)
    x = scene * x + (1.0 - scene) * torch.maximum(x, 1.5 * grey + 0.5)
    return x + flakes + flakes.flip(2, 3)


def _frost(x: Tensor, c: tuple[float, float], g: torch.Generator) -> Tensor:
    """Ice from the ridges of random clouds, bluish; the benchmark pastes photographs, which are not part of this."""
    ridges = 1.0 - (2.0 * _clouds(x, 1.5, g) - 1.0).abs()
    tint = torch.tensor([0.85, 0.95, 1.0]) if x.shape[1] == 3 else torch.ones(x.shape[1])
    return c[0] * x + c[1] * (ridges**2 * tint[:, None, None]).to(x)


def _fog(x: Tensor, c: tuple[float, float], g: torch.Generator) -> Tensor:
    most = x.amax(dim=(1, 2, 3), keepdim=True)
    foggy = x + c[0] * _clouds(x, c[1], g).to(x)
    return foggy * most / (most + c[0])


def _brightness(x: Tensor, c: float, g: torch.Generator) -> Tensor:
    """Add to the value of hue, saturation and value."""
    value = x.amax(dim=1, keepdim=True)
    brighter = (value + c).clamp_max(1.0)
    return torch.where(value > 0.0, x * brighter / value, brighter)


def _contrast(x: Tensor, c: float, g: torch.Generator) -> Tensor:
    mean = x.mean(dim=(2, 3), keepdim=True)
    return c * (x - mean) + mean


def _elastic_transform(x: Tensor, c: tuple[float, ...], g: torch.Generator) -> Tensor:
    """A random affine map of three points, then a smooth field of displacements; lengths as shares of the side."""
    strength, smooth, affine = (each * x.shape[2] for each in c)
    n = len(x)
    rows, columns = positions(x)
    middle = (x.shape[2] - 1) / 2.0
    third = x.shape[2] / 3.0
    corners = torch.tensor([[third, third, 1.0], [third, -third, 1.0], [-third, -third, 1.0]])
    moved = corners[:, :2] + affine * (2.0 * torch.rand(n, 3, 2, generator=g) - 1.0)
    maps = torch.linalg.solve(corners.expand(n, 3, 3), moved)
    place = torch.stack([rows - middle, columns - middle, torch.ones_like(rows)], dim=-1).expand(n, -1, -1, -1)
    target = torch.einsum("nhwk,nkj->nhwj", place, maps) + middle
    field = 2.0 * torch.rand(n, 2, *x.shape[2:], generator=g) - 1.0
    target = target + strength * filtered(field, gaussian(smooth)).permute(0, 2, 3, 1)
    return resampled(x, target[..., 0], target[..., 1])


def _pixelate(x: Tensor, c: float, g: torch.Generator) -> Tensor:
    small = nn.functional.interpolate(x, size=[max(int(side * c), 1) for side in x.shape[2:]], mode="area")
    result: Tensor = nn.functional.interpolate(small, size=x.shape[2:], mode="nearest")
    return result


def _jpeg_compression(x: Tensor, c: int, g: torch.Generator) -> Tensor:
    """Encode and decode; other numbers of channels than 3 are grey images of their own."""
    image = pillow("JPEG compression")
    layers = x if x.shape[1] == 3 else x.flatten(0, 1)[:, None]
    found = []
    for values in (255.0 * layers).round().byte().cpu().permute(0, 2, 3, 1).numpy():
        stream = io.BytesIO()
        image.fromarray(values.squeeze(2) if values.shape[2] == 1 else values).save(stream, "JPEG", quality=c)
        found.append(np.asarray(image.open(stream)).reshape(values.shape))
    return torch.from_numpy(np.stack(found)).permute(0, 3, 1, 2).reshape(x.shape).to(x) / 255.0


def _unit(x: Tensor) -> float:
    """Lengths are those of images of 32 pixels, and grow with the image."""
    return x.shape[2] / 32.0


#: name -> (function, setting per level).
CORRUPTIONS: dict[str, tuple[Callable[[Tensor, Any, torch.Generator], Tensor], Sequence[Any]]] = {
    "gaussian_noise": (_gaussian_noise, (0.04, 0.06, 0.08, 0.09, 0.10)),
    "shot_noise": (_shot_noise, (500, 250, 100, 75, 50)),
    "impulse_noise": (_impulse_noise, (0.01, 0.02, 0.03, 0.05, 0.07)),
    "defocus_blur": (_defocus_blur, ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1.0, 0.2), (1.5, 0.1))),
    "glass_blur": (_glass_blur, ((0.4, 1, 1), (0.4, 1, 2), (0.4, 1, 3), (0.4, 1, 4), (0.4, 1, 6))),
    "motion_blur": (_motion_blur, ((6, 1.0), (6, 1.5), (6, 2.0), (8, 2.5), (9, 3.0))),
    "zoom_blur": (_zoom_blur, (1.05, 1.10, 1.15, 1.20, 1.25)),
    "snow": (
        _snow,
        (
            (0.1, 0.2, 1.0, 0.6, 8, 3, 0.95), (0.1, 0.2, 1.0, 0.5, 10, 4, 0.9), (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9),
            (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85), (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8),
        ),
    ),
    "frost": (_frost, ((1.0, 0.2), (1.0, 0.3), (0.9, 0.5), (0.85, 0.65), (0.75, 0.8))),
    "fog": (_fog, ((0.2, 3.0), (0.5, 3.0), (0.75, 2.5), (1.0, 2.0), (1.5, 1.75))),
    "brightness": (_brightness, (0.05, 0.1, 0.15, 0.2, 0.3)),
    "contrast": (_contrast, (0.75, 0.5, 0.4, 0.3, 0.15)),
    "elastic_transform": (
        _elastic_transform,
        ((0.04, 0.05, 0.02), (0.06, 0.05, 0.03), (0.08, 0.045, 0.04), (0.1, 0.04, 0.06), (0.12, 0.035, 0.08)),
    ),
    "pixelate": (_pixelate, (0.9, 0.85, 0.65, 0.6, 0.4)),
    "jpeg_compression": (_jpeg_compression, (80, 65, 58, 50, 40)),
}  # fmt: skip
LEVELS = (1, 2, 3, 4, 5)


@torch.no_grad()
def corrupt(x: Tensor, name: str, level: int, seed: int = 0) -> Tensor:
    """Return a corrupted batch.

    Parameters
    ----------
    x : Tensor of shape (n, channels, height, width)
        Images in [0, 1].
    name : str
        One of the fifteen: noise (``gaussian_noise``, ``shot_noise``, ``impulse_noise``), blur (``defocus_blur``,
        ``glass_blur``, ``motion_blur``, ``zoom_blur``), weather (``snow``, ``frost``, ``fog``, ``brightness``), digital
        (``contrast``, ``elastic_transform``, ``pixelate``, ``jpeg_compression``).
    level : int
        1 (mild) to 5.
    seed : int

    Returns
    -------
    Tensor
        Of the same shape, in [0, 1].

    Raises
    ------
    ValueError
        An unknown name or level; images out of range.

    Notes
    -----
    Settings are those of the benchmark's version for CIFAR, lengths grow with the image. Our own are: frost, which
    is generated instead of pasted from photographs; clouds of fog, from octaves of noise; glass, where a pixel is read
    from a neighbour instead of changing places with it; and the settings of glass, motion, frost, elastic and pixelate,
    so that every level changes images more than the one before. Numbers are comparable among models here, not with
    published ones for CIFAR-10-C.

    References
    ----------
    Hendrycks & Dietterich (2019), ICLR.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.data import corrupt
    >>> corrupt(torch.full((1, 1, 8, 8), 0.5), "brightness", level=3).unique()
    tensor([0.6500])
    """
    one_of(name, CORRUPTIONS, "corruption")
    if whole(level, "level", usual=3) not in LEVELS:
        raise ValueError(f"level must be 1, 2, 3, 4 or 5, got {level!r}")
    check_pictures(x, f"corruption {name!r}")
    function, settings = CORRUPTIONS[name]
    generator = torch.Generator().manual_seed(seed)
    return function(x, settings[level - 1], generator).clamp(0.0, 1.0)


def corrupted(
    images: Images, level: int, names: Sequence[str] | None = None, *, per: int | None = None, seed: int = 0
) -> tuple[Images, list[str]]:
    """Return a set of images under all corruptions of one level, and the corruption of each.

    Parameters
    ----------
    images : Images
        The test set.
    level : int
        1 to 5. A metric is computed per level; the mean of the five is what FD-Shifts calls "cor".
    names : sequence of str, optional
        Default all fifteen.
    per : int, optional
        Images per corruption, the same ones for each: 1,000 in FD-Shifts (its first block of each class is meant
        to be stratified, but is not; here the choice is drawn). Default all.
    seed : int

    Returns
    -------
    images : Images
        Corruptions one after the other.
    corruption : list of str

    Raises
    ------
    ValueError
        As for :func:`corrupt`.

    Examples
    --------
    >>> from abstain.nn import data
    >>> shifted, corruption = data.corrupted(data.synthetic(n=20)[1], level=2, names=["fog", "contrast"], per=10)
    >>> shifted, corruption[0], corruption[-1]
    (Images(synthetic test corrupted 2: 20 x 3 x 16 x 16, 4 classes), 'fog', 'contrast')
    """
    names = list(CORRUPTIONS) if names is None else list(names)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))
    kept = order[: per or len(images)].sort().values
    parts = []
    for number, name in enumerate(names):
        for start in range(0, len(kept), _CHUNK):
            x = images.take(kept[start : start + _CHUNK]).float() / 255.0
            key = seed + 1_000_003 * (level + 10 * number) + 7 * start
            parts.append((corrupt(x, name, level, key) * 255.0).round().to(torch.uint8))
    labels = images.labels[kept].repeat(len(names))
    which = [name for name in names for _ in range(len(kept))]
    return Images(torch.cat(parts), labels, images.class_names, f"{images.name} corrupted {level}"), which
