"""Published networks by name, in any width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import torch
from torch import Tensor, nn

from abstain._checks import one_of, whole
from abstain.nn._libraries import library
from abstain.nn.networks._network import Network, Normalise, adapt


class _Skipping(nn.Conv2d):
    """1 x 1 convolution with a stride that drops the pixels between first: the same values.

    The gradient of such weights for fewer than 16 channels writes past its memory in oneDNN (issue 6035 there, open
    with PyTorch 2.13): wrong values or an abort, on a CPU with two threads or more.
    """

    def forward(self, x: Tensor) -> Tensor:
        down, across = self.stride
        return nn.functional.conv2d(x[..., ::down, ::across], self.weight, self.bias)


def drops(rate: float) -> list[nn.Module]:
    """Dropout, or nothing at a rate of 0."""
    return [nn.Dropout(rate)] if rate else []


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Conv2d:
    """Convolution that keeps the size, without bias."""
    kind = _Skipping if kernel == 1 and stride > 1 and inputs < 16 else nn.Conv2d
    return kind(inputs, outputs, kernel, stride, kernel // 2, bias=False)


class Block(nn.Module):
    """Residual block (He et al. 2016): convolutions of these kernels and widths, the stride at the first 3 x 3."""

    def __init__(self, widths: Sequence[int], kernels: Sequence[int], stride: int, dropout: float) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for place, ((inputs, outputs), kernel) in enumerate(zip(pairwise(widths), kernels, strict=True)):
            layers += [conv(inputs, outputs, kernel, stride if place == kernels.index(3) else 1)]
            layers += [nn.BatchNorm2d(outputs), nn.ReLU(), *drops(dropout)]
        self.path = nn.Sequential(*layers[: -1 - len(drops(dropout))])
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
    """Body of a ResNet; images of less than 64 pixels get a 3 x 3 stem without pooling, as usual.

    Dropout, where FD-Shifts has it: .1 after the stem, inside the blocks of stages 2 to 4, and before the head.
    """
    rate = 0.1 if dropout else 0.0
    small = size < 64
    stem: list[nn.Module] = [conv(channels, width, 3) if small else conv(channels, width, 7, 2)]
    stem += [nn.BatchNorm2d(width), nn.ReLU(), *drops(rate)]
    layers = [*stem, *([] if small else [nn.MaxPool2d(3, 2, 1)])]
    inputs = width
    for stage, depth in enumerate(depths):
        for number in range(depth):
            inner = width << stage
            widths = (inputs, inner, inner, 4 * inner) if bottleneck else (inputs, inner, inner)
            kernels = (1, 3, 1) if bottleneck else (3, 3)
            layers.append(Block(widths, kernels, 2 if stage and not number else 1, rate if stage else 0.0))
            inputs = widths[-1]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), *drops(rate)]
    return nn.Sequential(*layers), inputs


class WideBlock(nn.Module):
    """Residual block of Zagoruyko & Komodakis (2016): normalise and rectify before each convolution."""

    def __init__(self, inputs: int, outputs: int, stride: int, dropout: float) -> None:
        super().__init__()
        self.before = nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU())
        layers = [conv(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs), nn.ReLU()]
        self.path = nn.Sequential(*layers, *drops(dropout), conv(outputs, outputs, 3))
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


def vgg(channels: int, size: int, width: int, dropout: bool, *, depths: Sequence[int]) -> tuple[nn.Module, int]:
    """Body of VGG with batch norm (Simonyan & Zisserman 2015) for 32 x 32 images: widths 1, 2, 4, 8 and 8.

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
        if side > 1:  # smaller images are pooled as often as they can be
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
        layers += [nn.MaxPool2d(2), *drops(0.3 * dropout)]
        side //= 2
    hidden = 16 * width
    layers += [nn.Flatten(), nn.Linear(inputs * side * side, hidden), nn.ReLU(), *drops(0.3 * dropout)]
    return nn.Sequential(*layers), hidden


def small(channels: int, size: int, width: int, dropout: bool) -> tuple[nn.Module, int]:
    """Two convolutions with stride 2 and a hidden layer, no normalisation: for the CPU."""
    side = ((size - 3) // 2 + 1 - 3) // 2 + 1
    layers = [nn.Conv2d(channels, width, 3, stride=2), nn.ReLU()]
    layers += [nn.Conv2d(width, 2 * width, 3, stride=2), nn.ReLU(), nn.Flatten()]
    layers += [nn.Linear(2 * width * side * side, 4 * width), nn.ReLU(), *drops(0.3 * dropout)]
    return nn.Sequential(*layers), 4 * width


def plain(channels: int, size: int, width: int, dropout: bool, *, depth: int, padding: int) -> tuple[nn.Module, int]:
    """Body of the networks of the CWSA paper: 3 x 3 convolutions, each pooled, and one hidden layer."""
    layers: list[nn.Module] = []
    inputs, side = channels, size
    for stage in range(depth):
        outputs = width << stage
        layers += [nn.Conv2d(inputs, outputs, 3, padding=padding), nn.ReLU(), nn.MaxPool2d(2)]
        inputs, side = outputs, (side + 2 * padding - 2) // 2
    hidden = 4 * depth * width
    layers += [nn.Flatten(), nn.Linear(inputs * side * side, hidden), nn.ReLU(), *drops(0.3 * dropout)]
    return nn.Sequential(*layers), hidden


#: body(channels, size, width, dropout) -> module and number of features
Body = Callable[[int, int, int, bool], tuple[nn.Module, int]]

#: name -> (body, published width, smallest image)
NETWORKS: dict[str, tuple[Body, int, int]] = {
    "small": (small, 16, 7),
    "svhn_net": (svhn_net, 32, 8),
    "cwsa_mnist": (partial(plain, depth=1, padding=0), 16, 4),
    "cwsa_cifar10": (partial(plain, depth=2, padding=1), 32, 4),
    "vgg11bn": (partial(vgg, depths=(1, 1, 2, 2, 2)), 64, 1),
    "vgg13bn": (partial(vgg, depths=(2, 2, 2, 2, 2)), 64, 1),
    "vgg16bn": (partial(vgg, depths=(2, 2, 3, 3, 3)), 64, 1),
    "vgg19bn": (partial(vgg, depths=(2, 2, 4, 4, 4)), 64, 1),
    # for images of 32 pixels; batch norm behind the convolutions, where PreResNets have it before them
    "resnet20": (partial(resnet, depths=(3, 3, 3), bottleneck=False), 16, 1),
    "resnet56": (partial(resnet, depths=(6, 6, 6), bottleneck=True), 16, 1),
    "resnet110": (partial(resnet, depths=(12, 12, 12), bottleneck=True), 16, 1),
    "resnet164": (partial(resnet, depths=(18, 18, 18), bottleneck=True), 16, 1),
    "resnet18": (partial(resnet, depths=(2, 2, 2, 2), bottleneck=False), 64, 1),
    "resnet34": (partial(resnet, depths=(3, 4, 6, 3), bottleneck=False), 64, 1),
    "resnet50": (partial(resnet, depths=(3, 4, 6, 3), bottleneck=True), 64, 1),
    "wideresnet28x10": (wide_resnet, 160, 1),
}

#: Libraries whose models can be named as ``library:model``.
LIBRARIES = ("timm", "torchvision")


def names() -> list[str]:
    """Return the names of the networks.

    Examples
    --------
    >>> from abstain.nn import networks
    >>> "resnet18" in networks.names()
    True
    """
    return list(NETWORKS)


def build(
    name: str,
    shape: Sequence[int],
    n_classes: int,
    *,
    width: int | None = None,
    dropout: bool = False,
    head: str = "linear",
    scale: float = 8.0,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    pretrained: bool = False,
) -> Network:
    """Build a network by name, for images of a shape.

    Parameters
    ----------
    name : str
        One of :func:`names`, or ``"timm:NAME"`` or ``"torchvision:NAME"`` where the library is installed.
    shape : sequence of int
        (channels, height, width) of the images.
    n_classes : int
    width : int, optional
        Channels of the first stage; default the published number.
    dropout : bool
        With dropout where FD-Shifts has it; networks that it does not use follow its ResNet-50.
    head, scale
        See :class:`Network`.
    mean, std : sequence of float, optional
        Per channel, of images in [0, 1]: the network normalises.
    pretrained : bool
        With the weights that timm or torchvision offer, which may be fetched from their servers; else random ones.

    Returns
    -------
    Network

    Raises
    ------
    ValueError
        An unknown name; images that are not square or too small.

    References
    ----------
    He et al. (2016), Zagoruyko & Komodakis (2016), Simonyan & Zisserman (2015); places and rates of dropout:
    Jaeger et al. (2023), ICLR.

    Examples
    --------
    >>> from abstain.nn import networks
    >>> network = networks.build("resnet18", (3, 32, 32), 100, width=8)
    >>> network.n_features
    64
    """
    before = None if mean is None or std is None else Normalise(mean, std)
    source, _, model = name.partition(":")
    if model and source in LIBRARIES:
        if dropout or head != "linear" or width is not None:
            raise ValueError(f"{name} is built by {source}; width, dropout and head are those of its own")
        return adapt(_of_library(source, model, n_classes, pretrained), torch.zeros(1, *shape), before)
    if pretrained:
        raise ValueError(f"there are no pretrained weights of {name!r}; name a model of timm or torchvision")
    one_of(name, NETWORKS, "network")
    body, published, least = NETWORKS[name]
    channels, size = shape[0], shape[1]
    if shape[1] != shape[2]:
        raise ValueError(f"images are {shape[1]} x {shape[2]}, but {name} wants square ones; crop or resize them")
    if size < least:
        raise ValueError(f"images of {size} pixels are too small for {name}; it needs {least}")
    width = published if width is None else whole(width, "width", usual=published)
    module, n_features = body(channels, size, width, dropout)
    return Network(module, n_features, n_classes, head=head, scale=scale, before=before)


def _of_library(name: str, model: str, n_classes: int, pretrained: bool) -> nn.Module:
    """Build a model of another library."""
    source = library("torchvision.models" if name == "torchvision" else "timm", f"{name}:{model}")
    found: nn.Module
    if name == "torchvision":
        found = source.get_model(model, weights="DEFAULT" if pretrained else None, num_classes=n_classes)
    else:
        found = source.create_model(model, pretrained=pretrained, num_classes=n_classes)
    return found


def parameters(model: nn.Module) -> int:
    """Return the number of trained parameters.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn import networks
    >>> networks.parameters(torch.nn.Linear(3, 2))
    8
    """
    return sum(each.numel() for each in model.parameters() if each.requires_grad)
