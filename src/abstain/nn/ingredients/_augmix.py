"""AugMix, and the thirteen operations on images that it and PixMix are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from abstain._checks import generator, positive, whole
from abstain._typing import Seed
from abstain.nn._confidence import at_least_float32
from abstain.nn.ingredients._terms import Part, check_pictures, cross_entropy

#: Moves: all of them are one resampling, with one matrix per image.
GEOMETRIC = ("rotate", "shear_x", "shear_y", "translate_x", "translate_y")

#: Those of AugMix, which share nothing with the corruptions of the robustness benchmark.
OPERATIONS = ("autocontrast", "equalize", "posterize", "solarize", *GEOMETRIC)

#: Those and four that resemble its corruptions: PixMix uses all.
ALL_OPERATIONS = (*OPERATIONS, "color", "contrast", "brightness", "sharpness")


class Drawn(NamedTuple):
    """Which operation each image gets, how strong (in [0, 1] of its largest) and to which side."""

    which: np.ndarray
    level: np.ndarray
    sign: np.ndarray
    operations: tuple[str, ...]

    @classmethod
    def at_random(cls, n: int, severity: float, operations: tuple[str, ...], rng: np.random.Generator) -> Drawn:
        """Draw one operation for each of n images, at a level uniform in [.1, severity] tenths of its largest."""
        which = rng.integers(len(operations), size=n)
        level = rng.uniform(0.1, severity, size=n) / 10.0
        return cls(which, level, np.where(rng.random(n) < 0.5, -1.0, 1.0), operations)

    def apply(self, x: Tensor, active: Tensor | None = None) -> Tensor:
        """Return the changed images; ``active`` (n,) leaves them as they are where it is False."""
        chosen = np.ones(len(x), dtype=bool) if active is None else active.cpu().numpy()
        result, names_of = x.clone(), np.array(self.operations)[self.which]
        moved = chosen & np.isin(names_of, GEOMETRIC)
        if moved.any():
            rows = torch.as_tensor(np.flatnonzero(moved), device=x.device)
            result[rows] = _move(x[rows], names_of[moved], self.level[moved] * self.sign[moved])
        for name in dict.fromkeys(names_of[chosen & ~moved]):
            rows_of_it = np.flatnonzero(chosen & (names_of == name))
            rows = torch.as_tensor(rows_of_it, device=x.device)
            strength = torch.as_tensor(self.level[rows_of_it], device=x.device, dtype=x.dtype)
            result[rows] = _POINTWISE[name](x[rows], strength[:, None, None, None])
        return result


def _move(x: Tensor, names: Sequence[str], level: np.ndarray) -> Tensor:
    """Rotate by up to 30 degrees, shear by up to .3, or translate by up to a third; black comes in from outside.

    Rotation and shear are about the centre; the authors' code shears about the upper left corner.
    """
    n, _, height, width = x.shape
    matrix = np.tile(np.eye(2, 3), (n, 1, 1))
    for row, (name, each) in enumerate(zip(names, level, strict=True)):
        if name == "rotate":
            angle, slope = np.deg2rad(30.0 * each), height / width
            matrix[row, :, :2] = [[np.cos(angle), -np.sin(angle) * slope], [np.sin(angle) / slope, np.cos(angle)]]
        elif name == "shear_x":
            matrix[row, 0, 1] = 0.3 * each
        elif name == "shear_y":
            matrix[row, 1, 0] = 0.3 * each
        else:  # whole pixels, as the reference does
            axis, size = (0, width) if name == "translate_x" else (1, height)
            matrix[row, axis, 2] = 2.0 * np.trunc(each * size / 3.0) / size
    theta = torch.as_tensor(matrix, dtype=x.dtype, device=x.device)
    grid = nn.functional.affine_grid(theta, list(x.shape), align_corners=False)
    moved: Tensor = nn.functional.grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
    return moved.clamp(0.0, 1.0)


def _bytes(x: Tensor) -> Tensor:
    return (x * 255.0).round().to(torch.int64)


def _autocontrast(x: Tensor, level: Tensor) -> Tensor:
    least, most = x.amin(dim=(2, 3), keepdim=True), x.amax(dim=(2, 3), keepdim=True)
    spread = most - least
    return torch.where(spread > 0, (x - least) / spread.clamp_min(1e-12), x)


def _equalize(x: Tensor, level: Tensor) -> Tensor:
    """Spread the grey levels of each channel evenly, as the Python Imaging Library does."""
    value = _bytes(x).flatten(2)
    counts = torch.zeros(*value.shape[:2], 256, dtype=torch.int64, device=x.device)
    counts.scatter_add_(2, value, torch.ones_like(value))
    last = counts.gather(2, value.amax(dim=2, keepdim=True))
    step = (counts.sum(dim=2, keepdim=True) - last) // 255
    before = counts.cumsum(dim=2) - counts
    table = ((before + step // 2) // step.clamp_min(1)).clamp(0, 255)
    spread = table.gather(2, value).reshape(x.shape).to(x.dtype) / 255.0
    return torch.where(step[..., None] > 0, spread, x)


def _posterize(x: Tensor, level: Tensor) -> Tensor:
    """Keep 4 bits, or up to 4 fewer."""
    size = 2 ** (4 + (4.0 * level).to(torch.int64))
    return (_bytes(x) // size * size).to(x.dtype) / 255.0


def _solarize(x: Tensor, level: Tensor) -> Tensor:
    """Invert what is at least as bright as 256 less the level."""
    value = _bytes(x)
    bound = 256 - (256.0 * level).to(torch.int64)
    return torch.where(value >= bound, 255 - value, value).to(x.dtype) / 255.0


def _grey(x: Tensor) -> Tensor:
    if x.shape[1] != 3:
        return x.mean(dim=1, keepdim=True)
    weights = torch.tensor([0.299, 0.587, 0.114], dtype=x.dtype, device=x.device)
    return (x * weights[:, None, None]).sum(dim=1, keepdim=True)


def _blend(base: Tensor, x: Tensor, level: Tensor) -> Tensor:
    """Go from a base towards the image and beyond it, by a factor that grows with the level."""
    factor = 1.8 * level + 0.1
    return (base * (1.0 - factor) + x * factor).clamp(0.0, 1.0)


def _sharpness(x: Tensor, level: Tensor) -> Tensor:
    """Blend with a smoothed image; its border stays."""
    if min(x.shape[2:]) < 3:
        return x
    channels = x.shape[1]
    kernel = torch.ones(3, 3, dtype=x.dtype, device=x.device)
    kernel[1, 1] = 5.0
    smooth = x.clone()
    weight = (kernel / 13.0).expand(channels, 1, 3, 3)
    smooth[:, :, 1:-1, 1:-1] = nn.functional.conv2d(x, weight, groups=channels)
    return _blend(smooth, x, level)


_POINTWISE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "autocontrast": _autocontrast,
    "equalize": _equalize,
    "posterize": _posterize,
    "solarize": _solarize,
    "color": lambda x, level: _blend(_grey(x), x, level),
    "contrast": lambda x, level: _blend(_grey(x).mean(dim=(2, 3), keepdim=True), x, level),
    "brightness": lambda x, level: _blend(torch.zeros_like(x), x, level),
    "sharpness": _sharpness,
}


def jensen_shannon(*logits: Tensor) -> Tensor:
    r"""Return the Jensen-Shannon divergence of several answers to the same samples.

    .. math:: \frac1M \sum_j \text{KL}(p_j \,\Vert\, \bar p), \qquad \bar p = \frac1M \sum_j p_j

    with the mean clamped to :math:`[10^{-7}, 1]`, as in the authors' code.

    Parameters
    ----------
    *logits : Tensor of shape (n_samples, n_classes)
        At least two.

    Returns
    -------
    Tensor
        Scalar in [0, ln M], the mean over samples.

    References
    ----------
    Hendrycks et al. (2020), ICLR: AugMix, Eq. 1.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import jensen_shannon
    >>> sure = torch.tensor([[50.0, 0.0]])
    >>> jensen_shannon(sure, -sure)  # ln 2
    tensor(0.6931)
    """
    log_p = torch.stack([at_least_float32(each) for each in logits]).log_softmax(dim=-1)
    log_mean = log_p.exp().mean(dim=0).clamp(1e-7, 1.0).log()
    return (log_p.exp() * (log_p - log_mean)).sum(dim=-1).mean()


@dataclass(frozen=True)
class AugMix:
    r"""Cross-entropy of images mixed with augmented copies of themselves.

    .. math:: (1 - m)\,x + m \sum_{j=1}^{3} w_j\,\text{chain}_j(x), \qquad
              w \sim \text{Dirichlet}(1, 1, 1), \quad m \sim \text{Beta}(1, 1)

    each image with its own draws, and chains of one to three random operations.

    Parameters
    ----------
    jsd : bool
        Add the loss of consistency: clean cross-entropy plus ``jsd_weight`` times :func:`jensen_shannon` of the clean
        and two mixed images; three images per sample. False, as in OpenOOD: the mixed image alone.
    jsd_weight : float
        12 in the paper.
    severity : float
        Levels are uniform in [.1, severity] tenths of each operation's largest.
    width : int
        Number of chains.
    depth : int
        Operations per chain; 0: one to three, drawn.
    all_operations : bool
        Also colour, contrast, brightness and sharpness, which resemble test corruptions.
    weight : float
        In the sum of all terms.

    References
    ----------
    Hendrycks et al. (2020), ICLR: Algorithm 1.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import AugMix
    >>> x, y = torch.rand(2, 3, 8, 8), torch.tensor([0, 1])
    >>> [len(AugMix(jsd=jsd).draw(x, y, rng=0)[0].inputs) for jsd in (False, True)]
    [2, 6]
    """

    jsd: bool = False
    jsd_weight: float = 12.0
    severity: float = 3.0
    width: int = 3
    depth: int = 0
    all_operations: bool = False
    weight: float = 1.0

    def __post_init__(self) -> None:
        positive(self.jsd_weight, "jsd_weight")
        positive(self.severity, "severity")
        whole(self.width, "width", usual=3)
        whole(self.depth, "depth", least=0, usual=0)

    def mixed(self, x: Tensor, rng: Seed = None) -> Tensor:
        """Return one mixed image of each."""
        check_pictures(x, "AugMix")
        source, n = generator(rng), len(x)
        weights = torch.as_tensor(source.dirichlet([1.0] * self.width, size=n), dtype=x.dtype, device=x.device)
        share = torch.as_tensor(source.beta(1.0, 1.0, size=n), dtype=x.dtype, device=x.device)
        depth = source.integers(1, 4, size=self.width * n) if self.depth == 0 else [self.depth] * self.width * n
        left = torch.as_tensor(depth)
        chains = x.repeat(self.width, 1, 1, 1)  # all chains side by side
        names = ALL_OPERATIONS if self.all_operations else OPERATIONS
        for done in range(int(left.max())):
            chains = Drawn.at_random(len(chains), self.severity, names, source).apply(chains, left > done)
        sums = (weights.T[:, :, None, None, None] * chains.reshape(self.width, *x.shape)).sum(dim=0)
        share = share[:, None, None, None]
        return (1.0 - share) * x + share * sums

    def draw(self, x: Tensor, y: Tensor, rng: Seed = None) -> tuple[Part, ...]:
        """Return the mixed images, or the clean and two mixed ones."""
        source, n = generator(rng), len(x)
        if not self.jsd:
            return (Part(self.mixed(x, source), lambda logits: cross_entropy(logits, y)),)

        def consistent(logits: Tensor) -> Tensor:
            clean, first, second = logits[:n], logits[n : 2 * n], logits[2 * n :]
            return cross_entropy(clean, y) + self.jsd_weight * jensen_shannon(clean, first, second)

        return (Part(torch.cat([x, self.mixed(x, source), self.mixed(x, source)]), consistent),)
