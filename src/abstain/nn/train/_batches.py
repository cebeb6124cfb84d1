"""Batches that depend on seed, stage and epoch alone, so that a resumed training sees the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from abstain.nn.data import Images
from abstain.nn.train._settings import DataSettings


class Pictures(torch.utils.data.Dataset[Any]):
    """A set of pictures that gives whole batches: bytes, labels and positions."""

    def __init__(self, images: Images) -> None:
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, rows: Any) -> dict[str, Tensor]:
        index = torch.as_tensor(rows)
        return {"pixels": self.images.take(index), "labels": self.images.labels[index], "index": index}


class Order(torch.utils.data.Sampler[Any]):
    """Batches of positions: a new order per epoch, and of every batch the share of one process."""

    def __init__(self, n: int, batch: int, key: tuple[int, ...], rank: int = 0, world: int = 1) -> None:
        if batch % world:
            raise ValueError(f"batch={batch} cannot be shared by {world} processes; give a multiple")
        self.n, self.batch, self.key, self.rank, self.world, self.epoch = n, min(batch, n), key, rank, world, 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self.n // self.batch

    def __iter__(self) -> Iterator[Any]:
        order = np.random.default_rng([*self.key, self.epoch]).permutation(self.n)
        for start in range(0, len(self) * self.batch, self.batch):
            yield order[start : start + self.batch][self.rank :: self.world]


def augmented(pixels: Tensor, settings: DataSettings, rng: np.random.Generator) -> Tensor:
    """Return pictures in [0, 1], cropped, flipped and cut as the settings say, one draw per picture."""
    x = pixels.float() / 255.0
    n, _, height, width = x.shape
    device = x.device
    if settings.crop or settings.flip:
        pad = settings.crop
        padded = torch.nn.functional.pad(x, (pad, pad, pad, pad))
        top, left = (torch.as_tensor(rng.integers(2 * pad + 1, size=(n, 1)), device=device) for _ in range(2))
        flip = torch.as_tensor(rng.random((n, 1)) < (0.5 if settings.flip else 0.0), device=device)
        rows = (top + torch.arange(height, device=device))[:, None, :, None]
        columns = left + torch.arange(width, device=device)
        columns = torch.where(flip, columns.flip(1), columns)[:, None, None, :]
        sample = torch.arange(n, device=device)[:, None, None, None]
        channel = torch.arange(x.shape[1], device=device)[None, :, None, None]
        x = padded[sample, channel, rows, columns]
    return _cut(x, settings, rng) if settings.cutout else x


def _cut(x: Tensor, settings: DataSettings, rng: np.random.Generator) -> Tensor:
    """Grey out a square around a random centre, clipped at the border, with a chance."""
    n, _, height, width = x.shape
    half = settings.cutout // 2
    row, column = (torch.as_tensor(rng.integers(size, size=n), device=x.device)[:, None] for size in (height, width))
    chosen = torch.as_tensor(rng.random(n) < settings.cutout_chance, device=x.device)[:, None, None]
    rows, columns = torch.arange(height, device=x.device), torch.arange(width, device=x.device)
    inside = (rows >= row - half) & (rows < row + half)
    across = (columns >= column - half) & (columns < column + half)
    hidden = (inside[:, :, None] & across[:, None, :] & chosen)[:, None]
    return torch.where(hidden, x.mean(dim=(0, 2, 3), keepdim=True), x)
