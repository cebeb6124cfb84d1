"""What JPEG does to a picture, without a file: transform of blocks, rounding, and back."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

#: Rounding tables of the standard (ITU-T T.81, Annex K): brightness and colour.
_LUMA = (
    (16, 11, 10, 16, 24, 40, 51, 61), (12, 12, 14, 19, 26, 58, 60, 55), (14, 13, 16, 24, 40, 57, 69, 56),
    (14, 17, 22, 29, 51, 87, 80, 62), (18, 22, 37, 56, 68, 109, 103, 77), (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101), (72, 92, 95, 98, 112, 100, 103, 99),
)  # fmt: skip
_CHROMA = (
    (17, 18, 24, 47, 99, 99, 99, 99), (18, 21, 26, 66, 99, 99, 99, 99), (24, 26, 56, 99, 99, 99, 99, 99),
    (47, 66, 99, 99, 99, 99, 99, 99), *((99,) * 8,) * 4,
)  # fmt: skip


def jpeg(x: Tensor, quality: int) -> Tensor:
    """Return pictures (n, 1 or 3, height, width) in [0, 1] as JPEG of a quality gives them back.

    Colour is halved in both directions (4:2:0); the entropy coding, which loses nothing, is left out.
    """
    height, width = x.shape[2:]
    if x.shape[1] != 3:
        return torch.cat([_plane(x[:, i : i + 1], _LUMA, quality) for i in range(x.shape[1])], dim=1)
    red, green, blue = (255.0 * x).unbind(dim=1)
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    colours = torch.stack([(blue - luma) / 1.772, (red - luma) / 1.402], dim=1) + 128.0
    luma = 255.0 * _plane(luma[:, None] / 255.0, _LUMA, quality)[:, 0]
    even = nn.functional.pad(colours, (0, width % 2, 0, height % 2), mode="replicate")
    half = nn.functional.avg_pool2d(even, 2)
    half = 255.0 * torch.cat([_plane(half[:, i : i + 1] / 255.0, _CHROMA, quality) for i in range(2)], dim=1)
    colours = nn.functional.interpolate(half, scale_factor=2, mode="bilinear", align_corners=False)
    blueness, redness = (colours[:, :, :height, :width] - 128.0).unbind(dim=1)
    red, blue = luma + 1.402 * redness, luma + 1.772 * blueness
    green = luma - 0.344136 * blueness - 0.714136 * redness
    return (torch.stack([red, green, blue], dim=1).round() / 255.0).clamp(0.0, 1.0)


def _plane(plane: Tensor, table: tuple[tuple[int, ...], ...], quality: int) -> Tensor:
    """Transform 8 x 8 blocks of one plane (n, 1, height, width) in [0, 1], round, and transform back."""
    n, _, height, width = plane.shape
    padded = nn.functional.pad(plane, (0, -width % 8, 0, -height % 8), mode="replicate") * 255.0 - 128.0
    rows, columns = padded.shape[2] // 8, padded.shape[3] // 8
    blocks = padded.reshape(n, rows, 8, columns, 8).permute(0, 1, 3, 2, 4)
    basis = _cosines().to(plane)
    steps = _steps(table, quality).to(plane)
    coefficients = (basis @ blocks @ basis.T / steps).round() * steps
    back = (basis.T @ coefficients @ basis).permute(0, 1, 3, 2, 4).reshape(n, 1, 8 * rows, 8 * columns)
    return ((back[:, :, :height, :width] + 128.0).round() / 255.0).clamp(0.0, 1.0)


def _cosines() -> Tensor:
    """Orthonormal cosine transform of length 8."""
    k, i = torch.arange(8.0)[:, None], torch.arange(8.0)
    basis = torch.cos(math.pi * (2.0 * i + 1.0) * k / 16.0) / 2.0
    basis[0] /= math.sqrt(2.0)
    return basis


def _steps(table: tuple[tuple[int, ...], ...], quality: int) -> Tensor:
    """Rounding steps of a quality, as the usual library scales them."""
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    return ((torch.tensor(table) * scale + 50) // 100).clamp(1, 255).float()
