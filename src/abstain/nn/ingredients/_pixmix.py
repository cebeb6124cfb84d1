"""PixMix: pictures mixed again and again with pictures of structure that belong to no class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from abstain._checks import generator, whole
from abstain.nn.ingredients._mixing_set import mixing_set
from abstain.nn.ingredients._operations import ALL_OPERATIONS, Drawn
from abstain.nn.ingredients._terms import Part, Seed, check_pictures, check_positive, cross_entropy


def _shares(beta: float, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Shares (a, b) of both pictures: a near 1 and b small, or, as often, a above 1 and b below 0."""
    inside = rng.random(n) < 0.5
    a = np.where(inside, rng.beta(beta, 1.0, n), 1.0 + rng.beta(1.0, beta, n))
    b = np.where(inside, rng.beta(1.0, beta, n), -rng.beta(1.0, beta, n))
    return a, b


def mix_add(x: Tensor, other: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Return (a u + b v + 1)/2 with u, v the pictures in [-1, 1]."""
    return (a * (2.0 * x - 1.0) + b * (2.0 * other - 1.0) + 1.0) / 2.0


def mix_multiply(x: Tensor, other: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Return (2x)^a (2v)^b / 2; black is floored, since it may be raised to a negative power."""
    return (2.0 * x) ** a * (2.0 * other).clamp_min(1e-37) ** b / 2.0


@dataclass(frozen=True)
class PixMix:
    """Cross-entropy of pictures mixed with others that belong to no class; beside :class:`Clean` it is RegPixMix.

    A picture starts as it is, or after a random operation. Then, a random number of times, it is mixed by addition or
    by multiplication (see the source) with a picture of the mixing set or with another augmentation of itself, and
    clipped to [0, 1].

    Parameters
    ----------
    pictures : Tensor of shape (n_pictures, channels, height, width), optional
        The mixing set, bytes or floats in [0, 1], at least as large as the batch's pictures, from which it is cropped
        at random. Default: :func:`mixing_set` of size 36 for 32 and seed 0, generated once; results are then
        "PixMix with procedural pictures", not with the authors' set.
    least, most : int
        Bounds of the number of rounds, both included: 0 and 4 in the authors' code; the paper writes 1 to 4.
    beta : float
        The larger, the more of the picture stays; 3 in the paper.
    severity : float
        As for :class:`AugMix`.
    weight : float
        In the sum of all terms.

    Raises
    ------
    ValueError
        Settings out of range; a mixing set smaller than the batch's pictures or of other channels.

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

    pictures: Tensor | None = None
    least: int = 0
    most: int = 4
    beta: float = 3.0
    severity: float = 3.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_positive(beta=self.beta, severity=self.severity)
        whole(self.least, "least", least=0, usual=0)
        whole(self.most, "most", least=self.least, usual=4)

    def rounds(self, n: int, rng: Seed = None) -> np.ndarray:
        """Draw how often each of n pictures is mixed: uniform over least, ..., most."""
        return generator(rng).integers(self.least, self.most + 1, size=n)

    def mixed(self, x: Tensor, rng: Seed = None) -> Tensor:
        """Return the mixed pictures (n, channels, height, width)."""
        check_pictures(x, "PixMix")
        source, n = generator(rng), len(x)
        rounds = self.rounds(n, source)
        most = int(rounds.max(initial=0))
        own = Drawn.at_random(n * (most + 1), self.severity, ALL_OPERATIONS, source)
        start, steps = _chance(n, source, x), [self._round(x, source) for _ in range(most)]
        # the start and every round's own augmentation are operations on the picture itself: all that count at once
        left = torch.as_tensor(rounds, device=x.device)[:, None, None, None]
        used = torch.cat([start, *(step.own & (left > done) for done, step in enumerate(steps))])
        changed = own.apply(x.repeat(most + 1, 1, 1, 1), used.flatten()).reshape(most + 1, *x.shape)
        result = torch.where(start, changed[0], x)
        for done, step in enumerate(steps):
            partner = torch.where(step.own, changed[done + 1], step.others)
            goes = left > done
            for who, mix in ((goes & step.adds, mix_add), (goes & ~step.adds, mix_multiply)):
                rows = who.flatten().nonzero().flatten()
                result[rows] = mix(result[rows], partner[rows], step.a[rows], step.b[rows]).clamp(0.0, 1.0)
        return result

    def _round(self, x: Tensor, rng: np.random.Generator) -> _Round:
        """Draw what one round needs."""
        others, own = self._others(x, rng), _chance(len(x), rng, x)
        a, b = (_column(each, x) for each in _shares(self.beta, len(x), rng))
        return _Round(others, own, a, b, _chance(len(x), rng, x))

    def _others(self, x: Tensor, rng: np.random.Generator) -> Tensor:
        """Draw a picture of the mixing set per sample, and a random crop of each."""
        pictures = self.pictures
        n, channels, height, width = x.shape
        if pictures is None:
            pictures = mixing_set(2000, size=height + height // 8, seed=0, channels=channels)
        if pictures.ndim != 4 or pictures.shape[1] != channels or min(pictures.shape[2:]) < max(height, width):
            raise ValueError(
                f"pictures has shape {tuple(pictures.shape)}; for this batch give (n, {channels}, >= {height}, "
                f">= {width}), e.g. mixing_set(2000, size={height + height // 8}, channels={channels})"
            )
        index = torch.as_tensor(rng.integers(len(pictures), size=n), device=pictures.device)
        top = torch.as_tensor(rng.integers(pictures.shape[2] - height + 1, size=n), device=pictures.device)
        left = torch.as_tensor(rng.integers(pictures.shape[3] - width + 1, size=n), device=pictures.device)
        rows = (top[:, None] + torch.arange(height, device=pictures.device))[:, None, :, None]
        columns = (left[:, None] + torch.arange(width, device=pictures.device))[:, None, None, :]
        channel = torch.arange(channels, device=pictures.device)[None, :, None, None]
        found = pictures[index[:, None, None, None], channel, rows, columns].to(x.device)
        return found.to(x.dtype) if found.is_floating_point() else found.to(x.dtype) / 255.0

    def draw(self, x: Tensor, y: Tensor, rng: Seed = None) -> tuple[Part, ...]:
        """Return the mixed pictures with their own labels."""
        return (Part(self.mixed(x, rng), lambda logits: cross_entropy(logits, y)),)


class _Round(NamedTuple):
    """Draws of one round: pictures of the mixing set, whose turn is the picture itself, shares, and who adds."""

    others: Tensor
    own: Tensor
    a: Tensor
    b: Tensor
    adds: Tensor


def _column(values: np.ndarray, x: Tensor) -> Tensor:
    return torch.as_tensor(values, device=x.device, dtype=x.dtype)[:, None, None, None]


def _chance(n: int, rng: np.random.Generator, x: Tensor) -> Tensor:
    """A fair coin per picture."""
    return torch.as_tensor(rng.random(n) < 0.5, device=x.device)[:, None, None, None]
