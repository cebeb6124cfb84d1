"""Fields that several corruptions need: blurs, resampling, clouds. All in batches."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


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
    half = max(int(4.0 * sigma + 0.5), 1)
    line = torch.exp(-0.5 * (torch.arange(-half, half + 1) / max(sigma, 1e-6)) ** 2)
    kernel = torch.outer(line, line)
    return kernel / kernel.sum()


def disc(radius: float, sigma: float) -> Tensor:
    """Kernel of a disc of pixels within a radius, softened by a Gaussian."""
    half = max(math.ceil(radius), 1)
    side = torch.arange(-half, half + 1)
    inside = (side[:, None] ** 2 + side**2 <= radius**2).float()
    soft = gaussian(sigma)
    kernel = nn.functional.conv2d(inside[None, None], soft[None, None], padding=soft.shape[-1] - 1)[0, 0]
    return kernel / kernel.sum()


def resampled(x: Tensor, rows: Tensor, columns: Tensor, border: str = "reflection") -> Tensor:
    """Read each picture at real pixel positions (n, height, width), bilinearly."""
    height, width = x.shape[2:]
    grid = torch.stack([(2.0 * columns + 1.0) / width - 1.0, (2.0 * rows + 1.0) / height - 1.0], dim=-1)
    found: Tensor = nn.functional.grid_sample(x, grid.to(x), mode="bilinear", padding_mode=border, align_corners=False)
    return found


def positions(x: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and columns of all pixels, (1, height, width)."""
    height, width = x.shape[2:]
    rows, columns = torch.meshgrid(
        torch.arange(height, dtype=torch.float32), torch.arange(width, dtype=torch.float32), indexing="ij"
    )
    return rows[None], columns[None]


def streaked(x: Tensor, radius: float, sigma: float, angle: Tensor) -> Tensor:
    """Motion blur: a mean along a line from each pixel, its weights half a Gaussian; an angle per picture."""
    rows, columns = positions(x)
    steps = range(2 * math.ceil(radius) + 1)
    weights = [math.exp(-(step**2) / (2.0 * sigma**2)) for step in steps]
    down, across = torch.sin(angle)[:, None, None], torch.cos(angle)[:, None, None]
    total = torch.zeros_like(x)
    for step, weight in zip(steps, weights, strict=True):
        if weight > 1e-4:
            total += weight * resampled(x, rows + step * down, columns + step * across)
    return total / sum(weight for weight in weights if weight > 1e-4)


def zoomed(x: Tensor, factor: float) -> Tensor:
    """Enlarge about the centre."""
    rows, columns = positions(x)
    middle_row, middle_column = (x.shape[2] - 1) / 2.0, (x.shape[3] - 1) / 2.0
    rows, columns = (rows - middle_row) / factor + middle_row, (columns - middle_column) / factor + middle_column
    return resampled(x, rows.expand(len(x), -1, -1), columns.expand(len(x), -1, -1))


def clouds(n: int, size: int, decay: float, generator: torch.Generator) -> Tensor:
    """Random clouds in [0, 1], (n, 1, size, size): octaves of noise, each weaker by ``decay`` and twice as fine."""
    total = torch.zeros(n, 1, size, size)
    for octave in range(max(int(math.log2(size)), 1)):
        coarse = torch.rand(n, 1, (1 << octave) + 2, (1 << octave) + 2, generator=generator) - 0.5
        fine = nn.functional.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=True)
        total += fine / decay**octave
    low, high = total.amin(dim=(1, 2, 3), keepdim=True), total.amax(dim=(1, 2, 3), keepdim=True)
    return (total - low) / (high - low).clamp_min(1e-9)
