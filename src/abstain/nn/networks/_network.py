"""What every network of a recipe is: normalisation, a body that gives features, and a head."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from abstain._checks import positive
from abstain.nn._extract import final_linear


class Normalise(nn.Module):
    """Subtract a mean and divide by a standard deviation, per channel: a part of the model, as it has to be in use.

    Parameters
    ----------
    mean, std : sequence of float
        Of images in [0, 1].

    Raises
    ------
    ValueError
        A standard deviation that is not positive.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.networks import Normalise
    >>> Normalise([0.5], [0.25])(torch.ones(1, 1, 1, 1)).item()
    2.0
    """

    mean: Tensor
    std: Tensor

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__()
        if not all(each > 0.0 for each in std):
            raise ValueError(f"std must be positive, got {list(std)!r}; a constant channel has none: give 1")
        self.register_buffer("mean", torch.tensor(mean)[:, None, None])
        self.register_buffer("std", torch.tensor(std)[:, None, None])

    def forward(self, x: Tensor) -> Tensor:
        """Return normalised images."""
        return (x - self.mean) / self.std


class UnitLength(nn.Module):
    """Brings each row to Euclidean length 1; zero stays zero.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import UnitLength
    >>> UnitLength()(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """

    def forward(self, features: Tensor) -> Tensor:
        """Return rows of length 1."""
        return nn.functional.normalize(features, dim=-1)


class CosineClassifier(nn.Module):
    r"""Logits :math:`z_k = s\,\cos(w_k, h)`: no bias, and a scale that is not trained.

    Parameters
    ----------
    n_features, n_classes : int
    scale : float
        8 in SURE. The maximum probability stays below :math:`1/(1 + (K-1)e^{-2s})`, in practice near
        :math:`1/(1 + (K-1)e^{-s})`: .97 with 100 classes.

    Raises
    ------
    ValueError
        A scale that is not positive.

    Notes
    -----
    Scores that use the last layer see it after :meth:`plain`: weights :math:`s\,w_k/\lVert w_k\rVert`, bias 0 and
    features :math:`h/\lVert h\rVert`. Scores of the features' norm then mean nothing: all norms are 1.

    References
    ----------
    Gidaris & Komodakis (2018), CVPR. Li et al. (2024), CVPR: SURE.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import CosineClassifier
    >>> classifier = CosineClassifier(2, 3)
    >>> _ = torch.nn.init.eye_(classifier.weight)
    >>> classifier(torch.tensor([[3.0, 4.0]]))
    tensor([[4.8000, 6.4000, 0.0000]], grad_fn=<...>)
    """

    def __init__(self, n_features: int, n_classes: int, scale: float = 8.0) -> None:
        super().__init__()
        positive(scale, "scale")
        self.in_features, self.out_features, self.scale = n_features, n_classes, scale
        self.weight = nn.Parameter(torch.empty(n_classes, n_features))
        nn.init.kaiming_uniform_(self.weight, a=5**0.5)

    def forward(self, features: Tensor) -> Tensor:
        """Return logits (n, n_classes) of features (n, n_features)."""
        normalize = nn.functional.normalize
        return self.scale * nn.functional.linear(normalize(features, dim=-1), normalize(self.weight, dim=-1))

    @torch.no_grad()
    def plain(self) -> nn.Sequential:
        """Return the same function as a normalisation and a linear layer, for extraction and head scores."""
        layer = nn.Linear(self.in_features, self.out_features).to(self.weight.device, self.weight.dtype)
        layer.weight.copy_(self.scale * nn.functional.normalize(self.weight, dim=-1))
        layer.bias.zero_()
        return nn.Sequential(UnitLength(), layer)

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, scale={self.scale}"


class Network(nn.Module):
    """Normalisation, a body from images to features, and a head from features to logits.

    Parameters
    ----------
    body : nn.Module
        From images (n, channels, height, width) to features (n, n_features).
    n_features, n_classes : int
    head : {"linear", "cosine"} or nn.Module
        :class:`abstain.nn.ingredients.CosineClassifier` for ``"cosine"``; or any module from features to logits.
    scale : float
        Of the cosine head.
    before : nn.Module, optional
        What comes first, such as :class:`Normalise`.

    Raises
    ------
    ValueError
        An unknown head.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.networks import Network
    >>> network = Network(torch.nn.Flatten(), 12, 3)
    >>> network(torch.zeros(2, 3, 2, 2)).shape, network.features(torch.zeros(2, 3, 2, 2)).shape
    (torch.Size([2, 3]), torch.Size([2, 12]))
    """

    def __init__(
        self,
        body: nn.Module,
        n_features: int,
        n_classes: int,
        *,
        head: str | nn.Module = "linear",
        scale: float = 8.0,
        before: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.before = nn.Identity() if before is None else before
        self.body, self.n_features, self.n_classes = body, n_features, n_classes
        if isinstance(head, nn.Module):
            self.head = head
        elif head == "linear":
            self.head = nn.Linear(n_features, n_classes)
        elif head == "cosine":
            self.head = CosineClassifier(n_features, n_classes, scale)
        else:
            raise ValueError(f"head={head!r} is not known; known: cosine, linear")

    def features(self, x: Tensor) -> Tensor:
        """Return features (n, n_features)."""
        found: Tensor = self.body(self.before(x))
        return found

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (n, n_classes)."""
        logits: Tensor = self.head(self.features(x))
        return logits

    def plain(self) -> Network:
        """Return a copy whose head is a linear layer on its inputs: what scores of the last layer need."""
        network = copy.deepcopy(self)
        if isinstance(network.head, CosineClassifier):
            network.head = network.head.plain()
        return network


def adapt(model: nn.Module, sample: Tensor, before: nn.Module | None = None) -> Network:
    """Return any classifier that ends in a linear layer as a :class:`Network`; the layer becomes the head.

    Parameters
    ----------
    model : nn.Module
        From images to logits, for instance of torchvision or timm. Its final linear layer is replaced in place.
    sample : Tensor
        A batch to find that layer with.
    before : nn.Module, optional
        See :class:`Network`.

    Returns
    -------
    Network

    Raises
    ------
    ValueError
        The output of the model is not that of a linear layer.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.networks import adapt
    >>> model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> network = adapt(model, torch.zeros(1, 3, 2, 2))
    >>> network.n_features, network.head
    (8, Linear(in_features=8, out_features=3, bias=True))
    """
    inputs = sample if before is None else before(sample)
    last = final_linear(model, inputs)
    if last is None:
        raise ValueError(
            f"{type(model).__name__} does not end in a linear layer, so features and head cannot be distinguished; "
            "build a Network(body, n_features, n_classes, head=...)"
        )
    name = next(name for name, module in model.named_modules() if module is last)
    body: nn.Module = nn.Identity()
    if name:
        parent, _, child = name.rpartition(".")
        setattr(model.get_submodule(parent), child, nn.Identity())
        body = model
    return Network(body, last.in_features, last.out_features, head=last, before=before)
