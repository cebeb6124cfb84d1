"""Made-up pictures: for tests, dry runs and examples."""

from __future__ import annotations

import torch

from abstain._checks import whole
from abstain.nn.data._images import Images


def synthetic(
    n: int = 600, classes: int = 4, size: int = 16, channels: int = 3, seed: int = 0
) -> tuple[Images, Images]:
    """Return made-up training and test pictures: a smooth pattern per class, in noise.

    Parameters
    ----------
    n : int
        Pictures in each part.
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
