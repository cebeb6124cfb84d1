"""Networks by name, each with its published width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import nn

from abstain._checks import one_of, whole
from abstain.nn.networks._network import Network, Normalise, adapt
from abstain.nn.networks._residual import resnet, wide_resnet
from abstain.nn.networks._stacked import small, svhn_net, vgg

#: body(channels, size, width, dropout) -> module and number of features
Body = Callable[[int, int, int, bool], tuple[nn.Module, int]]

#: name -> (body, published width, smallest picture)
NETWORKS: dict[str, tuple[Body, int, int]] = {
    "small": (small, 16, 7),
    "svhn_net": (svhn_net, 32, 8),
    "vgg11bn": (partial(vgg, depths=(1, 1, 2, 2, 2)), 64, 1),
    "vgg13bn": (partial(vgg, depths=(2, 2, 2, 2, 2)), 64, 1),
    "vgg16bn": (partial(vgg, depths=(2, 2, 3, 3, 3)), 64, 1),
    "vgg19bn": (partial(vgg, depths=(2, 2, 4, 4, 4)), 64, 1),
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
    """Build a network by name, for pictures of a shape.

    Parameters
    ----------
    name : str
        One of :func:`names`, or ``"timm:NAME"`` or ``"torchvision:NAME"`` where the library is installed.
    shape : sequence of int
        (channels, height, width) of the pictures.
    n_classes : int
    width : int, optional
        Channels of the first stage; default the published number.
    dropout : bool
        With dropout where FD-Shifts has it; networks that it does not use follow its ResNet-50.
    head, scale
        See :class:`Network`.
    mean, std : sequence of float, optional
        Per channel, of pictures in [0, 1]: the network normalises.
    pretrained : bool
        With the weights that timm or torchvision offer, which may be fetched from their servers; else random ones.

    Returns
    -------
    Network

    Raises
    ------
    ValueError
        An unknown name; pictures that are not square or too small.

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
    library, _, model = name.partition(":")
    if model and library in LIBRARIES:
        if dropout or head != "linear" or width is not None:
            raise ValueError(f"{name} is built by {library}; width, dropout and head are those of its own")
        return adapt(_foreign(library, model, n_classes, pretrained), torch.zeros(1, *shape), before)
    if pretrained:
        raise ValueError(f"there are no pretrained weights of {name!r}; name a model of timm or torchvision")
    one_of(name, NETWORKS, "network")
    body, published, least = NETWORKS[name]
    channels, size = shape[0], shape[1]
    if shape[1] != shape[2]:
        raise ValueError(f"pictures are {shape[1]} x {shape[2]}, but {name} wants square ones; crop or resize them")
    if size < least:
        raise ValueError(f"pictures of {size} pixels are too small for {name}; it needs {least}")
    width = published if width is None else whole(width, "width", usual=published)
    module, n_features = body(channels, size, width, dropout)
    return Network(module, n_features, n_classes, head=head, scale=scale, before=before)


def _foreign(library: str, model: str, n_classes: int, pretrained: bool) -> nn.Module:
    """A model of another library."""
    from importlib import import_module

    try:
        source = import_module("torchvision.models" if library == "torchvision" else "timm")
    except ImportError as error:
        raise ModuleNotFoundError(f"{library}:{model} needs {library}; pip install {library}", name=library) from error
    except RuntimeError as error:  # torchvision that was built for another PyTorch
        raise ImportError(
            f"{library} is installed but cannot be loaded ({error}); install that of this PyTorch"
        ) from None
    found: nn.Module
    if library == "torchvision":
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
