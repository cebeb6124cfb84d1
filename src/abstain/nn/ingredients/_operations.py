"""The thirteen picture operations of AugMix and PixMix, on batches, each picture with its own operation and level."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

#: Moves: all of them are one resampling, with one matrix per picture.
GEOMETRIC = ("rotate", "shear_x", "shear_y", "translate_x", "translate_y")
#: Those of AugMix, which share nothing with the corruptions of the robustness benchmark.
OPERATIONS = ("autocontrast", "equalize", "posterize", "solarize", *GEOMETRIC)
#: Those and four that resemble its corruptions: PixMix uses all.
ALL_OPERATIONS = (*OPERATIONS, "color", "contrast", "brightness", "sharpness")


class Drawn(NamedTuple):
    """Which operation each picture gets, how strong (in [0, 1] of its largest) and to which side."""

    which: np.ndarray
    level: np.ndarray
    sign: np.ndarray
    operations: tuple[str, ...]

    @classmethod
    def at_random(cls, n: int, severity: float, operations: tuple[str, ...], rng: np.random.Generator) -> Drawn:
        """Draw one operation for each of n pictures, at a level uniform in [.1, severity] tenths of its largest."""
        which = rng.integers(len(operations), size=n)
        level = rng.uniform(0.1, severity, size=n) / 10.0
        return cls(which, level, np.where(rng.random(n) < 0.5, -1.0, 1.0), operations)

    def apply(self, x: Tensor, active: Tensor | None = None) -> Tensor:
        """Return the changed pictures; ``active`` (n,) leaves them as they are where it is False."""
        chosen = np.ones(len(x), dtype=bool) if active is None else active.cpu().numpy()
        result = x.clone()
        moved = chosen & np.isin(self.which, [k for k, name in enumerate(self.operations) if name in GEOMETRIC])
        if moved.any():
            rows = torch.as_tensor(np.flatnonzero(moved), device=x.device)
            names = [self.operations[index] for index in self.which[moved]]
            result[rows] = _move(x[rows], names, self.level[moved] * self.sign[moved])
        for index, name in enumerate(self.operations):
            rows_of_it = np.flatnonzero(chosen & (self.which == index))
            if name in GEOMETRIC or not len(rows_of_it):
                continue
            rows = torch.as_tensor(rows_of_it, device=x.device)
            strength = torch.as_tensor(self.level[rows_of_it], device=x.device, dtype=x.dtype)
            result[rows] = _POINTWISE[name](x[rows], strength[:, None, None, None])
        return result


def apply_operation(x: Tensor, name: str, level: float, sign: float = 1.0) -> Tensor:
    """Apply one operation to all pictures, at a level in [0, 1] of its largest."""
    if name in GEOMETRIC:
        return _move(x, [name] * len(x), np.full(len(x), sign * level))
    return _POINTWISE[name](x, torch.full((len(x), 1, 1, 1), level, dtype=x.dtype, device=x.device))


def _move(x: Tensor, names: list[str], level: np.ndarray) -> Tensor:
    """Rotate by up to 30 degrees, shear by up to .3, or translate by up to a third; black comes in from outside."""
    n, _, height, width = x.shape
    matrix = np.tile(np.eye(2, 3), (n, 1, 1))
    for row, (name, each) in enumerate(zip(names, level, strict=True)):
        if name == "rotate":
            angle = np.deg2rad(30.0 * each)
            slope = height / width
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


def _factor(level: Tensor) -> Tensor:
    return 1.8 * level + 0.1


def _grey(x: Tensor) -> Tensor:
    if x.shape[1] != 3:
        return x.mean(dim=1, keepdim=True)
    weights = torch.tensor([0.299, 0.587, 0.114], dtype=x.dtype, device=x.device)
    return (x * weights[:, None, None]).sum(dim=1, keepdim=True)


def _blend(base: Tensor, x: Tensor, level: Tensor) -> Tensor:
    factor = _factor(level)
    return (base * (1.0 - factor) + x * factor).clamp(0.0, 1.0)


def _color(x: Tensor, level: Tensor) -> Tensor:
    return _blend(_grey(x), x, level)


def _contrast(x: Tensor, level: Tensor) -> Tensor:
    return _blend(_grey(x).mean(dim=(2, 3), keepdim=True), x, level)


def _brightness(x: Tensor, level: Tensor) -> Tensor:
    return _blend(torch.zeros_like(x), x, level)


def _sharpness(x: Tensor, level: Tensor) -> Tensor:
    """Blend with a smoothed picture; its border stays."""
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
    "color": _color,
    "contrast": _contrast,
    "brightness": _brightness,
    "sharpness": _sharpness,
}
