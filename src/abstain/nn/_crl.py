"""Correctness-ranking loss: confidences in the order of how often each sample was classified correctly so far."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from abstain.nn._confidence import at_least_float32, check_batch, check_pair, hits


def crl_loss(confidence: Tensor, correctness: Tensor) -> Tensor:
    r"""Return the correctness-ranking loss over neighbouring pairs (i, j = i + 1, cyclic) of a batch.

    .. math:: \frac1n\sum_i 1[\hat c_i \ne \hat c_j]\,
              \max\bigl(0, -\text{sign}(\hat c_i - \hat c_j)(\kappa_i - \kappa_j) + |\hat c_i - \hat c_j|\bigr)

    Parameters
    ----------
    confidence : Tensor of shape (n_samples,)
        :math:`\kappa`, with gradient, usually the maximum probability.
    correctness : Tensor of shape (n_samples,)
        :math:`\hat c` in [0, 1]: share of earlier epochs in which the sample was classified correctly.

    Returns
    -------
    Tensor
        Scalar in [0, 2].

    Raises
    ------
    ValueError
        Shapes that differ; no sample.

    References
    ----------
    Moon et al. (2020), ICML: Eq. 1 and 2.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> nn.crl_loss(torch.tensor([0.5, 0.75]), torch.tensor([1.0, 0.0]))  # should differ by 1 the other way
    tensor(1.2500)
    """
    check_pair(confidence=confidence, correctness=correctness)
    confidence, correctness = at_least_float32(confidence), at_least_float32(correctness)
    ahead, lead = correctness - correctness.roll(-1), confidence - confidence.roll(-1)
    hinge = (ahead.abs() - ahead.sign() * lead).relu()
    return torch.where(ahead == 0.0, 0.0, hinge).mean()


class CorrectnessRankingLoss(nn.Module):
    r"""Correctness-ranking loss with its memory of which training samples were classified correctly, how often.

    .. math:: \hat c_i = \frac{c_i - \min c}{E - \min c}

    with the number :math:`c_i` of epochs so far, out of E, in which sample i was right.

    Parameters
    ----------
    n_samples : int
        Size of the training set. The memory is in the state dict.

    Raises
    ------
    ValueError
        Shapes that do not fit, a size below 1.

    Notes
    -----
    Call it with the batch's indices into the training set, add ``weight * value`` to the task loss, and call
    ``update`` after the step. While every sample has always been right, there is nothing to rank: 0. Under DDP each
    process remembers only what it has seen itself.

    References
    ----------
    Moon et al. (2020), ICML.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> criterion = nn.CorrectnessRankingLoss(n_samples=2)
    >>> logits, index = torch.tensor([[2.0, 0.0], [3.0, 0.0]]), torch.tensor([0, 1])
    >>> criterion.update(logits, torch.tensor([0, 1]), index)
    >>> round(criterion(logits, index).item(), 4)
    1.0718
    """

    right: Tensor
    seen: Tensor

    def __init__(self, n_samples: int) -> None:
        super().__init__()
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, got {n_samples!r}; give the size of the training set")
        self.register_buffer("right", torch.zeros(n_samples, dtype=torch.int64))
        self.register_buffer("seen", torch.zeros(n_samples, dtype=torch.int64))

    def correctness(self, index: Tensor) -> Tensor:
        """Return the normalised share of right answers so far of these samples."""
        least = self.right.min()
        span = self.seen[index].max() - least
        return torch.where(span > 0, (self.right[index] - least) / span.clamp_min(1), 0.0)

    def forward(self, logits: Tensor, index: Tensor) -> Tensor:
        """Return the loss of logits (n, K) of the samples at these indices."""
        check_batch(logits, index)
        return crl_loss(at_least_float32(logits).softmax(dim=-1).amax(dim=-1), self.correctness(index))

    @torch.no_grad()
    def update(self, logits: Tensor, target: Tensor, index: Tensor) -> None:
        """Remember which of these samples were classified correctly in this epoch."""
        check_batch(logits, target)
        self.right.index_add_(0, index, hits(logits, target))
        self.seen.index_add_(0, index, torch.ones_like(index, dtype=torch.int64))
