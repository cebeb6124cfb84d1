"""ConfidNet: learn the probability of the true class, which is not known when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn

from abstain.nn._confidence import at_least_float32
from abstain.nn._rank_losses import check_batch


def confidnet_loss(confidence_logit: Tensor, logits: Tensor, target: Tensor) -> Tensor:
    r"""Return the squared error of a learned confidence against the true class probability.

    .. math:: \frac1n\sum_i \bigl(\sigma(c_i) - p_{i,y_i}\bigr)^2

    Parameters
    ----------
    confidence_logit : Tensor of shape (n_samples,) or (n_samples, 1)
        Output c of the confidence branch before the sigmoid.
    logits : Tensor of shape (n_samples, n_classes)
        Of the classifier; no gradient passes, it stays as it is.
    target : Tensor of shape (n_samples,)
        Class indices.

    Returns
    -------
    Tensor
        Scalar in [0, 1].

    Raises
    ------
    ValueError
        Shapes that do not fit.

    References
    ----------
    Corbiere et al. (2019), NeurIPS: Eq. 6.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> nn.confidnet_loss(torch.zeros(1), torch.zeros(1, 4), torch.tensor([2]))  # (1/2 - 1/4)^2
    tensor(0.0625)
    """
    check_batch(logits, target)
    confidence_logit = at_least_float32(one_per_sample(confidence_logit, len(logits)))
    probability = at_least_float32(logits.detach()).softmax(dim=-1)
    true = probability.gather(1, target[:, None]).squeeze(1)
    return (confidence_logit.sigmoid() - true).square().mean()


def one_per_sample(column: Tensor, n: int) -> Tensor:
    """Return a confidence branch's output as (n,)."""
    if column.shape not in ((n,), (n, 1)):
        raise ValueError(f"confidence_logit has shape {tuple(column.shape)}; give one value per sample, ({n},)")
    return column.reshape(n)


class ConfidenceHead(nn.Module):
    """A small network from features to one confidence logit, for ConfidNet or DeVries & Taylor.

    Parameters
    ----------
    n_features : int
        Length of the classifier's penultimate features.
    hidden : sequence of int
        Widths of the hidden layers; empty for the single linear layer of DeVries & Taylor.

    Raises
    ------
    ValueError
        In the call: features of another length (from PyTorch).

    References
    ----------
    Corbiere et al. (2019), NeurIPS: five layers of width 400 on the features of the trained classifier.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> nn.ConfidenceHead(16, hidden=(8,))(torch.zeros(5, 16)).shape
    torch.Size([5])
    """

    def __init__(self, n_features: int, hidden: Sequence[int] = (400, 400, 400, 400)) -> None:
        super().__init__()
        widths = [n_features, *hidden]
        layers: list[nn.Module] = []
        for first, second in pairwise(widths):
            layers += [nn.Linear(first, second), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(widths[-1], 1))

    def forward(self, features: Tensor) -> Tensor:
        """Return confidence logits (n,) of features (n, n_features)."""
        column: Tensor = self.layers(features)
        return column.squeeze(-1)
