"""A classifier that sees directions only."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from abstain.nn.ingredients._terms import check_positive


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
        check_positive(scale=scale)
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
