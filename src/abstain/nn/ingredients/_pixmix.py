"""PixMix, and the images of structure without a class that it mixes with."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from abstain._checks import generator, one_of, positive, whole
from abstain._files import write_file
from abstain._typing import Seed
from abstain.nn.ingredients._augmix import ALL_OPERATIONS, Drawn
from abstain.nn.ingredients._terms import Part, check_pictures, cross_entropy

_POINTS, _STEPS, _CHAINS = 20_000, 60, 500

#: Raised whenever a seed gives other images, so that old files are not taken for new ones.
_VERSION = 1


def mixing_set(
    n: int = 2000,
    *,
    size: int = 36,
    channels: int = 3,
    kind: str = "both",
    seed: int = 0,
    cache: str | os.PathLike[str] | None = None,
) -> Tensor:
    """Return images to mix with: fractals and dead leaves, half of each, generated from a seed.

    A fractal is the density of an iterated function system: two to eight affine maps, each a product of rotation,
    contraction (factors .1 to .95) and rotation, applied at random with chances proportional to their determinants; its
    logarithm coloured by a cosine palette. Dead leaves are discs of random size (density r^-3) that hide one another,
    each with a colour and a linear shade; their spectrum falls like that of natural images.

    Parameters
    ----------
    n : int
        Number of images.
    size : int
        Height and width; 36, cropped to 32, as PixMix does.
    channels : int
        1 or 3.
    kind : {"both", "fractals", "leaves", "noise"}
        ``"noise"``, with a 1/f spectrum, has no edges: a control.
    seed : int
        Image i depends on the seed, its number and the kind alone.
    cache : str or path, optional
        Folder in which to keep the images, as bytes, for the next run.

    Returns
    -------
    Tensor of shape (n, channels, size, size)
        Bytes.

    Raises
    ------
    ValueError
        Numbers out of range; an unknown kind.

    Notes
    -----
    A fractal of 64 pixels takes some ms, dead leaves about 20. The authors' set (fractals and feature visualisations)
    has no clear licence and is not part of this library; results with this set are results with this set.

    References
    ----------
    Hendrycks et al. (2022), CVPR. Anderson & Farrell (2022), WACV: fractals. Lee, Mumford & Huang (2001): dead leaves.

    Examples
    --------
    >>> from abstain.nn.ingredients import mixing_set
    >>> pictures = mixing_set(4, size=16, seed=1)
    >>> pictures.shape, pictures.dtype
    (torch.Size([4, 3, 16, 16]), torch.uint8)
    """
    whole(n, "n", usual=2000)
    whole(size, "size", least=4, usual=36)
    whole(seed, "seed", least=0, usual=0)
    one_of(kind, ("both", *_KINDS), "kind")
    if channels not in (1, 3):
        raise ValueError(f"channels must be 1 or 3, got {channels!r}")
    if cache is None:
        return _made(n, size, channels, kind, seed)
    path = Path(cache) / f"mixing-{_VERSION}-{kind}-{n}x{channels}x{size}-seed{seed}.npy"
    if path.exists():
        return torch.from_numpy(np.load(path, allow_pickle=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures = _made(n, size, channels, kind, seed)
    write_file(path, lambda file: np.save(file, pictures.numpy()))
    return pictures


@lru_cache(maxsize=4)
def _made(n: int, size: int, channels: int, kind: str, seed: int) -> Tensor:
    kinds = ("fractals", "leaves") if kind == "both" else (kind,)
    pictures = np.empty((n, size, size, 3), dtype=np.uint8)
    for number in range(n):
        which = kinds[number % len(kinds)]
        rng = np.random.default_rng([seed, number, list(_KINDS).index(which)])
        pictures[number] = np.clip(_KINDS[which](size, rng) * 255.0, 0, 255).round()
    if channels == 1:
        pictures = pictures.mean(axis=3, keepdims=True).round().astype(np.uint8)
    return torch.from_numpy(np.ascontiguousarray(pictures.transpose(0, 3, 1, 2)))


def _system(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Affine maps (k, 2, 2) with translations (k, 2) and chances (k,)."""
    k = int(rng.integers(2, 9))
    turn, back = (_rotations(rng.uniform(0.0, 2.0 * np.pi, k)) for _ in range(2))
    factors = -np.sort(-rng.uniform(0.1, 0.95, (k, 2)), axis=1) * rng.choice([-1.0, 1.0], (k, 2))
    maps = turn @ (factors[:, :, None] * back)
    sizes = np.abs(factors.prod(axis=1))
    return maps, rng.uniform(-1.0, 1.0, (k, 2)), sizes / sizes.sum()


def _rotations(angle: np.ndarray) -> np.ndarray:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([np.stack([cos, -sin], axis=1), np.stack([sin, cos], axis=1)], axis=1)


def _fractal(size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw systems until one fills a tenth of the image, ten times at most: some shrink to a few points."""
    for _ in range(10):
        density = _density(size, rng)
        if (density > 0).mean() >= 0.1:
            break
    shade = density / max(density.max(), 1e-9)
    colour = 0.5 + 0.5 * np.cos(2.0 * np.pi * (shade[..., None] * rng.uniform(0.5, 1.5, 3) + rng.random(3)))
    return np.where(density[..., None] > 0, colour, rng.random(3))


def _density(size: int, rng: np.random.Generator) -> np.ndarray:
    """Logarithm of how often the chaos game of a random system comes by."""
    maps, shifts, chances = _system(rng)
    points = rng.uniform(-1.0, 1.0, (_CHAINS, 2))
    kept = []
    for step, which in enumerate(rng.choice(len(maps), p=chances, size=(_STEPS, _CHAINS))):
        points = np.einsum("nij,nj->ni", maps[which], points) + shifts[which]
        if step >= _STEPS - _POINTS // _CHAINS:
            kept.append(points)
    cloud = np.concatenate(kept)
    low, high = np.quantile(cloud, [0.005, 0.995], axis=0)
    place = ((cloud - low) / np.maximum(high - low, 1e-9) * size).astype(np.int64)
    place = place[((place >= 0) & (place < size)).all(axis=1)]
    visits = np.bincount(place[:, 0] * size + place[:, 1], minlength=size * size)
    return np.asarray(np.log1p(visits.reshape(size, size)))


def _leaves(size: int, rng: np.random.Generator) -> np.ndarray:
    """Discs from the front to the back, until all is covered."""
    small, large = 1.5 * size / 64.0, 24.0 * size / 64.0
    rows, columns = np.mgrid[:size, :size]
    picture, free = np.zeros((size, size, 3)), np.ones((size, size), dtype=bool)
    for _ in range(4000):
        radius = (small**-2 - rng.random() * (small**-2 - large**-2)) ** -0.5
        row, column = rng.uniform(-radius, size + radius, 2)
        across, down = columns - column, rows - row
        disc = free & (across**2 + down**2 <= radius**2)
        if not disc.any():
            continue
        angle = rng.uniform(0.0, 2.0 * np.pi)
        shade = rng.uniform(0.0, 0.3) * (np.cos(angle) * across + np.sin(angle) * down) / radius
        picture[disc] = rng.random(3) + shade[disc][:, None]
        free &= ~disc
        if free.mean() < 0.01:
            break
    picture[free] = rng.random(3)
    return np.clip(picture, 0.0, 1.0)


def _noise(size: int, rng: np.random.Generator) -> np.ndarray:
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(size), np.fft.fftfreq(size)))
    frequency[0, 0] = np.inf
    waves = np.fft.fft2(rng.standard_normal((3, size, size))) / frequency
    field = np.real(np.fft.ifft2(waves)).transpose(1, 2, 0)
    return np.asarray(np.clip(0.5 + field / (4.0 * field.std()), 0.0, 1.0))


_KINDS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "fractals": _fractal,
    "leaves": _leaves,
    "noise": _noise,
}


def _shares(beta: float, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Shares (a, b) of both images: a near 1 and b small, or, as often, a above 1 and b below 0."""
    inside = rng.random(n) < 0.5
    a = np.where(inside, rng.beta(beta, 1.0, n), 1.0 + rng.beta(1.0, beta, n))
    b = np.where(inside, rng.beta(1.0, beta, n), -rng.beta(1.0, beta, n))
    return a, b


def mix_add(x: Tensor, other: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Return (a u + b v + 1)/2 with u, v the images in [-1, 1]."""
    return (a * (2.0 * x - 1.0) + b * (2.0 * other - 1.0) + 1.0) / 2.0


def mix_multiply(x: Tensor, other: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Return (2x)^a (2v)^b / 2; black is floored, since it may be raised to a negative power."""
    return (2.0 * x) ** a * (2.0 * other).clamp_min(1e-37) ** b / 2.0


@dataclass(frozen=True)
class PixMix:
    """Cross-entropy of images mixed with others that belong to no class; together with :class:`Clean` it is RegPixMix.

    An image starts as it is, or after a random operation. Then, a random number of times, it is mixed by addition or
    by multiplication (see the source) with an image of the mixing set or with another augmentation of itself, and
    clipped to [0, 1].

    Parameters
    ----------
    pictures : Tensor of shape (n_images, channels, height, width), or int
        The mixing set, bytes or floats in [0, 1], at least as large as the images of the batch, from which it is
        cropped at random. A number: as many of :func:`mixing_set`, an eighth larger than the images, generated once;
        results are then "PixMix with procedural images", not with the authors' set of about 14,000.
    least, most : int
        Bounds of the number of rounds, both included: 0 and 4 in the authors' code; the paper writes 1 to 4.
    beta : float
        The larger, the more of the image stays; 3 in the paper.
    severity : float
        As for :class:`AugMix`.
    weight : float
        In the sum of all terms.
    kind, seed
        Of :func:`mixing_set`.

    Raises
    ------
    ValueError
        Settings out of range; a mixing set smaller than the batch's images or of other channels.

    References
    ----------
    Hendrycks et al. (2022), CVPR: PixMix. "From Misclassifications to Outliers": A.5, RegPixMix.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import PixMix, mixing_set
    >>> term = PixMix(mixing_set(8, size=12, seed=0))
    >>> mixed = term.mixed(torch.rand(2, 3, 8, 8), rng=0)
    >>> mixed.shape, bool((mixed >= 0).all() and (mixed <= 1).all())
    (torch.Size([2, 3, 8, 8]), True)
    """

    pictures: Tensor | int = 2000
    least: int = 0
    most: int = 4
    beta: float = 3.0
    severity: float = 3.0
    weight: float = 1.0
    kind: str = "both"
    seed: int = 0

    def __post_init__(self) -> None:
        positive(self.beta, "beta")
        positive(self.severity, "severity")
        whole(self.least, "least", least=0, usual=0)
        whole(self.most, "most", least=self.least, usual=4)

    def with_images(self, shape: Sequence[int], cache: str | os.PathLike[str] | None = None) -> PixMix:
        """Return the term with its mixing set, for images of a shape (channels, height, width)."""
        if isinstance(self.pictures, Tensor):
            return self
        size = max(shape[1:]) * 9 // 8
        images = mixing_set(self.pictures, size=size, channels=shape[0], kind=self.kind, seed=self.seed, cache=cache)
        return replace(self, pictures=images)

    def rounds(self, n: int, rng: Seed = None) -> np.ndarray:
        """Draw how often each of n images is mixed: uniform over least, ..., most."""
        return generator(rng).integers(self.least, self.most + 1, size=n)

    def mixed(self, x: Tensor, rng: Seed = None) -> Tensor:
        """Return the mixed images (n, channels, height, width)."""
        check_pictures(x, "PixMix")
        source, n = generator(rng), len(x)
        rounds = self.rounds(n, source)
        most = int(rounds.max(initial=0))
        own = Drawn.at_random(n * (most + 1), self.severity, ALL_OPERATIONS, source)
        start, steps = _chance(n, source, x), [self._round(x, source) for _ in range(most)]
        # the start and every round's own augmentation are operations on the image itself: all that count at once
        left = torch.as_tensor(rounds, device=x.device)[:, None, None, None]
        used = torch.cat([start, *(step[1] & (left > done) for done, step in enumerate(steps))])
        changed = own.apply(x.repeat(most + 1, 1, 1, 1), used.flatten()).reshape(most + 1, *x.shape)
        result = torch.where(start, changed[0], x)
        for done, (others, itself, a, b, adds) in enumerate(steps):
            partner = torch.where(itself, changed[done + 1], others)
            goes = left > done
            for who, mix in ((goes & adds, mix_add), (goes & ~adds, mix_multiply)):
                rows = who.flatten().nonzero().flatten()
                result[rows] = mix(result[rows], partner[rows], a[rows], b[rows]).clamp(0.0, 1.0)
        return result

    def _round(self, x: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Draw images of the mixing set, whose turn is the image itself, shares, and who adds."""
        others, itself = self._others(x, rng), _chance(len(x), rng, x)
        a, b = (_column(each, x) for each in _shares(self.beta, len(x), rng))
        return others, itself, a, b, _chance(len(x), rng, x)

    def _others(self, x: Tensor, rng: np.random.Generator) -> Tensor:
        """Draw an image of the mixing set per sample, and a random crop of each."""
        n, channels, height, width = x.shape
        pictures = self.with_images(x.shape[1:]).pictures
        assert isinstance(pictures, Tensor)
        if pictures.ndim != 4 or pictures.shape[1] != channels or min(pictures.shape[2:]) < max(height, width):
            raise ValueError(
                f"the mixing set has shape {tuple(pictures.shape)}; for this batch give (n, {channels}, >= {height}, "
                f">= {width}), e.g. mixing_set(2000, size={height + height // 8}, channels={channels})"
            )
        bounds = (len(pictures), pictures.shape[2] - height + 1, pictures.shape[3] - width + 1)
        index, top, left = (torch.as_tensor(rng.integers(each, size=n), device=pictures.device) for each in bounds)
        found = windows(pictures, index, top, left, (height, width)).to(x.device)
        return found.to(x.dtype) if found.is_floating_point() else found.to(x.dtype) / 255.0

    def draw(self, x: Tensor, y: Tensor, rng: Seed = None) -> tuple[Part, ...]:
        """Return the mixed images with their own labels."""
        return (Part(self.mixed(x, rng), lambda logits: cross_entropy(logits, y)),)


def windows(
    images: Tensor, index: Tensor, top: Tensor, left: Tensor, size: tuple[int, int], flip: Tensor | None = None
) -> Tensor:
    """Return a window of each image that the index names, mirrored where ``flip`` is True."""
    place, (height, width) = images.device, size
    rows = (top[:, None] + torch.arange(height, device=place))[:, None, :, None]
    columns = left[:, None] + torch.arange(width, device=place)
    if flip is not None:
        columns = torch.where(flip[:, None], columns.flip(1), columns)
    channel = torch.arange(images.shape[1], device=place)[None, :, None, None]
    return images[index[:, None, None, None], channel, rows, columns[:, None, None, :]]


def _column(values: np.ndarray, x: Tensor) -> Tensor:
    return torch.as_tensor(values, device=x.device, dtype=x.dtype)[:, None, None, None]


def _chance(n: int, rng: np.random.Generator, x: Tensor) -> Tensor:
    """A fair coin per image."""
    return torch.as_tensor(rng.random(n) < 0.5, device=x.device)[:, None, None, None]
