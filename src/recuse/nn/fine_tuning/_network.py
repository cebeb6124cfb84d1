"""Two networks that give features and logits: a small one for the CPU, and ResNet-18 for 32 x 32 pictures."""

from __future__ import annotations

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


class _Block(nn.Module):
    """Basic residual block (He et al. 2016)."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs),
        )  # fmt: skip
        self.short: nn.Module = nn.Identity()
        if stride > 1 or inputs != outputs:
            self.short = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        total: Tensor = self.path(x) + self.short(x)
        return total.relu()


def resnet18(sample: Tensor, n_classes: int) -> Network:
    """ResNet-18 with a 3 x 3 stem, as usual for 32 x 32 pictures."""
    layers: list[nn.Module] = [
        nn.Conv2d(sample.shape[1], 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()
    ]  # fmt: skip
    width = 64
    for outputs, stride in [(64, 1), (128, 2), (256, 2), (512, 2)]:
        layers += [_Block(width, outputs, stride), _Block(outputs, outputs, 1)]
        width = outputs
    return Network(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten()), 512, n_classes)


NETWORKS = {"small": small, "resnet18": resnet18}
