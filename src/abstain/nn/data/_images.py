"""Images with labels: in memory as bytes, in files that are decoded on demand, or synthetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from abstain._checks import whole
from abstain._typing import AnyArray, ArrayLike

if TYPE_CHECKING:
    from PIL.Image import Image

from abstain.nn._libraries import pillow

#: Label of an image that belongs to none of the model's classes.
OOD = -1


@dataclass(frozen=True, eq=False)
class Images:
    """Images as bytes, with class indices.

    Parameters
    ----------
    pixels : Tensor of shape (n, channels, height, width)
        Bytes, or a :class:`Files` that decodes them on demand.
    labels : Tensor of shape (n,)
        Class indices; -1 for images that belong to no class of the model.
    class_names : tuple of str, optional
    name : str

    Raises
    ------
    ValueError
        Shapes that do not fit; no image; labels beyond the class names.
    TypeError
        Pixels that are no bytes.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.data import Images
    >>> images = Images(torch.zeros(4, 3, 8, 8, dtype=torch.uint8), torch.arange(4) % 2, ("cat", "dog"), "toy")
    >>> images
    Images(toy: 4 x 3 x 8 x 8, 2 classes)
    """

    pixels: Tensor | Files
    labels: Tensor
    class_names: tuple[str, ...] | None = None
    name: str = "pictures"

    def __post_init__(self) -> None:
        if len(self.pixels.shape) != 4 or len(self.labels) != self.pixels.shape[0]:
            shapes = f"pixels: {tuple(self.pixels.shape)}, labels: {tuple(self.labels.shape)}"
            raise ValueError(f"{self.name}: shapes do not fit ({shapes}); give (n, channels, height, width) and (n,)")
        if not len(self.labels):
            raise ValueError(f"{self.name}: holds no image; at least one is needed")
        if isinstance(self.pixels, Tensor) and self.pixels.dtype != torch.uint8:
            raise TypeError(f"{self.name}: pixels are {self.pixels.dtype}; give bytes from 0 to 255")
        if int(self.labels.min()) < OOD:
            raise ValueError(f"{self.name}: label {int(self.labels.min())} is no class; classes count from 0")
        if self.class_names is not None and int(self.labels.max()) >= len(self.class_names):
            raise ValueError(f"{self.name}: label {int(self.labels.max())} has no name among {len(self.class_names)}")

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(channels, height, width)."""
        channels, height, width = self.pixels.shape[1:]
        return int(channels), int(height), int(width)

    @property
    def n_classes(self) -> int:
        """Number of classes: of the names, else the largest label plus 1."""
        return len(self.class_names) if self.class_names is not None else int(self.labels.max()) + 1

    def take(self, index: ArrayLike) -> Tensor:
        """Return the bytes of some images."""
        found: Tensor = self.pixels[torch.as_tensor(index)]
        return found

    def batches(self, size: int, device: torch.device | str = "cpu") -> Iterator[tuple[Tensor, Tensor]]:
        """Yield images in [0, 1] and labels, in order."""
        for rows in torch.split(torch.arange(len(self)), size):
            yield self.take(rows).to(device).float() / 255.0, self.labels[rows].to(device)

    def select(self, index: ArrayLike, name: str | None = None) -> Images:
        """Return some of the images."""
        rows = torch.as_tensor(index)
        pixels = self.pixels.select(rows) if isinstance(self.pixels, Files) else self.pixels[rows]
        return Images(pixels, self.labels[rows], self.class_names, name or self.name)

    def __repr__(self) -> str:
        sizes = " x ".join(map(str, self.pixels.shape))
        classes = "OOD" if bool((self.labels == OOD).all()) else f"{self.n_classes} classes"
        return f"Images({self.name}: {sizes}, {classes})"


class Files:
    """Images in files, decoded when rows are asked for: resized on the shorter side, cut in the centre.

    Parameters
    ----------
    paths : sequence of Path
    size : int
        Height and width.
    resize : int, optional
        Shorter side before the cut; default ``size``. 256 for 224, as usual.
    channels : int
        1 (grey) or 3.

    Examples
    --------
    >>> from abstain.nn.data import Files
    >>> Files(["a.png", "b.png"], size=32).shape
    (2, 3, 32, 32)
    """

    def __init__(self, paths: Sequence[str | Path], size: int, resize: int | None = None, channels: int = 3) -> None:
        self.paths, self.size, self.resize = [Path(path) for path in paths], size, resize or size
        self.shape = (len(self.paths), channels, size, size)

    def __getitem__(self, rows: Tensor) -> Tensor:
        found = [self._decode(self.paths[int(row)]) for row in rows.reshape(-1)]
        return torch.from_numpy(np.stack(found)) if found else torch.empty((0, *self.shape[1:]), dtype=torch.uint8)

    def select(self, rows: Tensor) -> Files:
        """Return some of the files; a mask or positions."""
        index = rows.nonzero().reshape(-1) if rows.dtype == torch.bool else rows
        return Files([self.paths[int(row)] for row in index], self.size, self.resize, self.shape[1])

    def _decode(self, path: Path) -> AnyArray:
        image = pillow(f"{path}: decoding an image")
        try:
            with image.open(path) as opened:
                picture = opened.convert("RGB" if self.shape[1] == 3 else "L")
        except (OSError, ValueError, SyntaxError) as error:
            raise ValueError(f"{path}: is no readable image ({error}); remove it or restore it") from None
        return fitted(picture, self.size, self.resize, image)


def fitted(picture: Image, size: int, resize: int, image: ModuleType) -> AnyArray:
    """Resize the shorter side, cut the centre, and return bytes (channels, size, size)."""
    width, height = picture.size
    if (width, height) != (size, size):
        factor = resize / min(width, height)
        wide, high = max(round(width * factor), size), max(round(height * factor), size)
        picture = picture.resize((wide, high), image.Resampling.BILINEAR)
        left, top = (wide - size) // 2, (high - size) // 2
        picture = picture.crop((left, top, left + size, top + size))
    values = np.array(picture, dtype=np.uint8)
    return values[None] if values.ndim == 2 else np.ascontiguousarray(values.transpose(2, 0, 1))


def synthetic(
    n: int = 600, classes: int = 4, size: int = 16, channels: int = 3, seed: int = 0
) -> tuple[Images, Images]:
    """Return synthetic training and test images: a smooth pattern per class, in noise.

    Parameters
    ----------
    n : int
        Images in each part.
    classes, size, channels : int
        A paper's shapes, for a dry run: 32 and 3 with 100 classes for CIFAR-100.
    seed : int

    Returns
    -------
    train, test : Images

    Examples
    --------
    >>> from abstain.nn.data import synthetic
    >>> synthetic(n=20, classes=2, size=8)[1]
    Images(synthetic test: 20 x 3 x 8 x 8, 2 classes)
    """
    for name, value in (("n", n), ("classes", classes), ("size", size), ("channels", channels)):
        whole(value, name)
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.randn(classes, channels, 4, 4, generator=generator)
    patterns = torch.nn.functional.interpolate(coarse, size=(size, size), mode="bilinear", align_corners=False)
    names = tuple(f"class{number}" for number in range(classes))

    def part(which: str) -> Images:
        labels = torch.randint(classes, (n,), generator=generator)
        values = patterns[labels] + 1.5 * torch.randn(n, channels, size, size, generator=generator)
        pixels = (127.5 + 45.0 * values).clamp(0, 255).to(torch.uint8)
        return Images(pixels, labels, names, f"synthetic {which}")

    return part("train"), part("test")
