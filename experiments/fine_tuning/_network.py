"""Networks that give features and logits: a small one for the CPU, and those of Table 1 for 32 x 32 pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import torch
from torch import Tensor, nn


class Network(nn.Module):
    """A body from pictures to features, and a linear head."""

    def __init__(self, body: nn.Module, n_features: int, n_classes: int) -> None:
        super().__init__()
        self.body, self.head, self.n_features = body, nn.Linear(n_features, n_classes), n_features

    def forward(self, x: Tensor) -> Tensor:
        """Return logits."""
        logits: Tensor = self.head(self.body(x))
        return logits


def small(sample: Tensor, n_classes: int) -> Network:
    """Two convolutions with stride 2 and a hidden layer; sized by a sample (1, channels, height, width)."""
    convolutions = nn.Sequential(
        nn.Conv2d(sample.shape[1], 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(), nn.Flatten()
    )
    with torch.no_grad():
        width = convolutions(sample).shape[1]
    return Network(nn.Sequential(convolutions, nn.Linear(width, 64), nn.ReLU()), 64, n_classes)


def _conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


class _Block(nn.Module):
    """Residual block (He et al. 2016): convolutions of these kernels and widths, the stride at the first 3 x 3."""

    def __init__(self, widths: Sequence[int], kernels: Sequence[int], stride: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        at = kernels.index(3)
        for place, ((inputs, outputs), kernel) in enumerate(zip(pairwise(widths), kernels, strict=True)):
            layers += [_conv(inputs, outputs, kernel, stride if place == at else 1), nn.BatchNorm2d(outputs), nn.ReLU()]
        self.path = nn.Sequential(*layers[:-1])
        self.short: nn.Module = nn.Identity()
        if stride > 1 or widths[0] != widths[-1]:
            self.short = nn.Sequential(_conv(widths[0], widths[-1], 1, stride), nn.BatchNorm2d(widths[-1]))

    def forward(self, x: Tensor) -> Tensor:
        total: Tensor = self.path(x) + self.short(x)
        return total.relu()


def resnet(sample: Tensor, n_classes: int, *, depths: Sequence[int], bottleneck: bool = False) -> Network:
    """ResNet with a 3 x 3 stem, as usual for 32 x 32 pictures."""
    layers: list[nn.Module] = [_conv(sample.shape[1], 64, 3), nn.BatchNorm2d(64), nn.ReLU()]
    inputs = 64
    for stage, depth in enumerate(depths):
        for number in range(depth):
            width = 64 << stage
            widths = (inputs, width, width, 4 * width) if bottleneck else (inputs, width, width)
            layers.append(_Block(widths, (1, 3, 1) if bottleneck else (3, 3), 2 if stage and not number else 1))
            inputs = widths[-1]
    return Network(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten()), inputs, n_classes)


class _WideBlock(nn.Module):
    """Residual block of Zagoruyko & Komodakis (2016): normalise and rectify before each convolution."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.before = nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU())
        self.path = nn.Sequential(
            _conv(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs), nn.ReLU(), _conv(outputs, outputs, 3)
        )
        self.short = None if inputs == outputs else _conv(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        activated = self.before(x)
        total: Tensor = self.path(activated) + (x if self.short is None else self.short(activated))
        return total


def wide_resnet(sample: Tensor, n_classes: int, *, blocks: int = 4, factor: int = 10) -> Network:
    """WideResNet-28-10: three stages of four blocks, ten times as wide."""
    layers: list[nn.Module] = [_conv(sample.shape[1], 16, 3)]
    inputs = 16
    for stage in range(3):
        for number in range(blocks):
            width = (16 << stage) * factor
            layers.append(_WideBlock(inputs, width, 2 if stage and not number else 1))
            inputs = width
    layers += [nn.BatchNorm2d(inputs), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return Network(nn.Sequential(*layers), inputs, n_classes)


def vgg(sample: Tensor, n_classes: int, *, depths: Sequence[int]) -> Network:
    """VGG with batch norm (Simonyan & Zisserman 2014), one linear layer at the end, as usual for 32 x 32 pictures."""
    layers: list[nn.Module] = []
    inputs = sample.shape[1]
    for depth, width in zip(depths, (64, 128, 256, 512, 512), strict=True):
        for _ in range(depth):
            layers += [_conv(inputs, width, 3), nn.BatchNorm2d(width), nn.ReLU()]
            inputs = width
        layers.append(nn.MaxPool2d(2))
    return Network(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten()), inputs, n_classes)


NETWORKS: dict[str, Callable[[Tensor, int], Network]] = {
    "small": small,
    "resnet18": partial(resnet, depths=(2, 2, 2, 2)),
    "resnet34": partial(resnet, depths=(3, 4, 6, 3)),
    "resnet50": partial(resnet, depths=(3, 4, 6, 3), bottleneck=True),
    "vgg16bn": partial(vgg, depths=(2, 2, 3, 3, 3)),
    "vgg19bn": partial(vgg, depths=(2, 2, 4, 4, 4)),
    "wideresnet28x10": wide_resnet,
}
