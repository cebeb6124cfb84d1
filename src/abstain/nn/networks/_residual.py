"""Residual networks: ResNet-18, -34 and -50, and WideResNet-28-10."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn


class _Skipping(nn.Conv2d):
    """1 x 1 convolution with a stride that drops the pixels between first: the same values.

    The gradient of such weights for fewer than 16 channels writes past its memory in oneDNN (issue 6035 there, open
    with PyTorch 2.13): wrong values or an abort, on a CPU with two threads or more.
    """

    def forward(self, x: Tensor) -> Tensor:
        down, across = self.stride
        return nn.functional.conv2d(x[..., ::down, ::across], self.weight, self.bias)


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Conv2d:
    """Convolution that keeps the size, without bias."""
    kind = _Skipping if kernel == 1 and stride > 1 and inputs < 16 else nn.Conv2d
    return kind(inputs, outputs, kernel, stride, kernel // 2, bias=False)


class Block(nn.Module):
    """Residual block (He et al. 2016): convolutions of these kernels and widths, the stride at the first 3 x 3."""

    def __init__(self, widths: Sequence[int], kernels: Sequence[int], stride: int, dropout: float) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        at, last = kernels.index(3), len(kernels) - 1
        for place, ((inputs, outputs), kernel) in enumerate(zip(pairwise(widths), kernels, strict=True)):
            layers += [conv(inputs, outputs, kernel, stride if place == at else 1), nn.BatchNorm2d(outputs)]
            if place < last:
                layers += [nn.ReLU(), *([nn.Dropout(dropout)] if dropout else [])]
        self.path = nn.Sequential(*layers)
        self.short: nn.Module = nn.Identity()
        if stride > 1 or widths[0] != widths[-1]:
            self.short = nn.Sequential(conv(widths[0], widths[-1], 1, stride), nn.BatchNorm2d(widths[-1]))
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        total: Tensor = self.relu(self.path(x) + self.short(x))
        return total


def resnet(
    channels: int, size: int, width: int, dropout: bool, *, depths: Sequence[int], bottleneck: bool
) -> tuple[nn.Module, int]:
    """Body of a ResNet; pictures of less than 64 pixels get a 3 x 3 stem without pooling, as usual.

    Dropout, where FD-Shifts has it: .1 after the stem, inside the blocks of stages 2 to 4, and before the head.
    """
    rate = 0.1 if dropout else 0.0
    small = size < 64
    stem: list[nn.Module] = [conv(channels, width, 3) if small else conv(channels, width, 7, 2)]
    stem += [nn.BatchNorm2d(width), nn.ReLU(), *([nn.Dropout(rate)] if rate else [])]
    layers = [*stem, *([] if small else [nn.MaxPool2d(3, 2, 1)])]
    inputs = width
    for stage, depth in enumerate(depths):
        for number in range(depth):
            inner = width << stage
            widths = (inputs, inner, inner, 4 * inner) if bottleneck else (inputs, inner, inner)
            kernels = (1, 3, 1) if bottleneck else (3, 3)
            layers.append(Block(widths, kernels, 2 if stage and not number else 1, rate if stage else 0.0))
            inputs = widths[-1]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), *([nn.Dropout(rate)] if rate else [])]
    return nn.Sequential(*layers), inputs


class WideBlock(nn.Module):
    """Residual block of Zagoruyko & Komodakis (2016): normalise and rectify before each convolution."""

    def __init__(self, inputs: int, outputs: int, stride: int, dropout: float) -> None:
        super().__init__()
        self.before = nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU())
        self.path = nn.Sequential(
            conv(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs), nn.ReLU(),
            *([nn.Dropout(dropout)] if dropout else []), conv(outputs, outputs, 3),
        )  # fmt: skip
        self.short = None if inputs == outputs else conv(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        activated = self.before(x)
        total: Tensor = self.path(activated) + (x if self.short is None else self.short(activated))
        return total


def wide_resnet(channels: int, size: int, width: int, dropout: bool) -> tuple[nn.Module, int]:
    """Body of WideResNet-28: three stages of four blocks, of 1, 2 and 4 times the width; dropout .3 inside them."""
    layers: list[nn.Module] = [conv(channels, 16, 3)]
    inputs = 16
    for stage in range(3):
        for number in range(4):
            outputs = width << stage
            layers.append(WideBlock(inputs, outputs, 2 if stage and not number else 1, 0.3 if dropout else 0.0))
            inputs = outputs
    layers += [nn.BatchNorm2d(inputs), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers), inputs
