"""Networks without short cuts: VGG with batch norm, FD-Shifts' net for SVHN, and a small one for the CPU."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from abstain.nn.networks._residual import conv


def vgg(channels: int, size: int, width: int, dropout: bool, *, depths: Sequence[int]) -> tuple[nn.Module, int]:
    """Body of VGG with batch norm (Simonyan & Zisserman 2015) for 32 x 32 pictures: widths 1, 2, 4, 8 and 8.

    With dropout, as in FD-Shifts: .3 after the first convolution, .4 after the first of every other block, and
    dropout .5, a hidden layer and dropout .5 before the head, which the net without dropout does not have.
    """
    layers: list[nn.Module] = []
    inputs, side = channels, size
    for stage, depth in enumerate(depths):
        outputs = width * min(1 << stage, 8)
        for number in range(depth):
            layers += [conv(inputs, outputs, 3), nn.BatchNorm2d(outputs), nn.ReLU()]
            if dropout and number == 0:
                layers.append(nn.Dropout(0.4 if stage else 0.3))
            inputs = outputs
        if side > 1:  # smaller pictures are pooled as often as they can be
            layers.append(nn.MaxPool2d(2))
            side //= 2
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    if dropout:
        layers += [nn.Dropout(0.5), nn.Linear(inputs, inputs), nn.ReLU(), nn.Dropout(0.5)]
    return nn.Sequential(*layers), inputs


def svhn_net(channels: int, size: int, width: int, dropout: bool) -> tuple[nn.Module, int]:
    """FD-Shifts' small net: three blocks of two 3 x 3 convolutions (reflected borders), 512 hidden units.

    ReLU comes before batch norm. Dropout .3 after each block and after the hidden layer.
    """
    layers: list[nn.Module] = []
    inputs, side = channels, size
    for stage in range(3):
        outputs = width << stage
        for _ in range(2):
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1, padding_mode="reflect"), nn.ReLU()]
            layers.append(nn.BatchNorm2d(outputs))
            inputs = outputs
        layers += [nn.MaxPool2d(2), *([nn.Dropout(0.3)] if dropout else [])]
        side //= 2
    hidden = 16 * width
    layers += [
        nn.Flatten(),
        nn.Linear(inputs * side * side, hidden),
        nn.ReLU(),
        *([nn.Dropout(0.3)] if dropout else []),
    ]
    return nn.Sequential(*layers), hidden


def small(channels: int, size: int, width: int, dropout: bool) -> tuple[nn.Module, int]:
    """Two convolutions with stride 2 and a hidden layer, no normalisation: for the CPU."""
    side = ((size - 3) // 2 + 1 - 3) // 2 + 1
    layers: list[nn.Module] = [nn.Conv2d(channels, width, 3, stride=2), nn.ReLU()]
    layers += [nn.Conv2d(width, 2 * width, 3, stride=2), nn.ReLU(), nn.Flatten()]
    layers += [nn.Linear(2 * width * side * side, 4 * width), nn.ReLU(), *([nn.Dropout(0.3)] if dropout else [])]
    return nn.Sequential(*layers), 4 * width
