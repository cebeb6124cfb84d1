"""Pictures as tensors: from a file of arrays, CIFAR-10 from JPEG archives, or made-up ones."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor


class Split(NamedTuple):
    """Normalised pictures (n, channels, height, width) and labels (n,)."""

    x: Tensor
    y: Tensor


def _normalised(train: Tensor, test: Tensor) -> tuple[Tensor, Tensor]:
    """Both with the training set's mean and standard deviation per channel."""
    mean, std = train.mean(dim=(0, 2, 3), keepdim=True), train.std(dim=(0, 2, 3), keepdim=True)
    return (train - mean) / std, (test - mean) / std


def _scaled(pictures: np.ndarray) -> Tensor:
    """From bytes (n, height, width) or (n, height, width, channels) to (n, channels, height, width) in [0, 1]."""
    x = torch.tensor(pictures, dtype=torch.float32) / 255.0
    return x[:, None] if x.ndim == 3 else x.permute(0, 3, 1, 2).contiguous()


def _arrays(path: Path) -> tuple[Split, Split]:
    with np.load(path, allow_pickle=False) as arrays:
        train, test = _normalised(_scaled(arrays["x_train"]), _scaled(arrays["x_test"]))
        y = [torch.tensor(arrays[name].astype(np.int64)) for name in ("y_train", "y_test")]
    return Split(train, y[0]), Split(test, y[1])


def _decoded(path: Path) -> tuple[Tensor, Tensor]:
    """An archive of JPEG files: picture i is jpeg[offsets[i]:offsets[i + 1]]."""
    from PIL import Image

    with np.load(path, allow_pickle=False) as arrays:
        jpeg, offsets, labels = arrays["jpeg"], arrays["offsets"], arrays["y"]
    pictures = [np.asarray(Image.open(io.BytesIO(jpeg[start:stop].tobytes()))) for start, stop in pairwise(offsets)]
    return _scaled(np.stack(pictures)), torch.tensor(labels.astype(np.int64))


def load(path: Path) -> tuple[Split, Split]:
    """Return training and test set of a file (x_train, y_train, x_test, y_test) or of a folder of CIFAR-10 archives."""
    if path.is_file():
        return _arrays(path)
    files = [path / f"cifar10_{part}_jpeg90.npz" for part in ("train", "test")]
    if not all(file.exists() for file in files):
        raise FileNotFoundError(
            f"{path} is neither a file of arrays nor a folder with {files[0].name}, {files[1].name}"
        )
    (train, y_train), (test, y_test) = (_decoded(file) for file in files)
    train, test = _normalised(train, test)
    return Split(train, y_train), Split(test, y_test)


def synthetic(n: int = 600, classes: int = 4, size: int = 12, seed: int = 0) -> tuple[Split, Split]:
    """Return made-up pictures: a noisy pattern per class."""
    generator = torch.Generator().manual_seed(seed)
    patterns = torch.randn(classes, 1, size, size, generator=generator)
    y = torch.randint(classes, (2 * n,), generator=generator)
    x = patterns[y] + 4.0 * torch.randn(2 * n, 1, size, size, generator=generator)
    return Split(x[:n], y[:n]), Split(x[n:], y[n:])


def shifted_and_flipped(x: Tensor, generator: torch.Generator) -> Tensor:
    """Random crops after padding by 4, and random flips: one draw per picture."""
    n, _, height, width = x.shape
    padded = torch.nn.functional.pad(x, (4, 4, 4, 4))
    top, left = (torch.randint(9, (n, 1), generator=generator).to(x.device) for _ in range(2))
    rows = (top + torch.arange(height, device=x.device))[:, None, :, None]
    columns = left + torch.arange(width, device=x.device)
    flip = (torch.rand(n, 1, generator=generator) < 0.5).to(x.device)
    columns = torch.where(flip, columns.flip(1), columns)[:, None, None, :]
    sample = torch.arange(n, device=x.device)[:, None, None, None]
    channel = torch.arange(x.shape[1], device=x.device)[None, :, None, None]
    return padded[sample, channel, rows, columns]
