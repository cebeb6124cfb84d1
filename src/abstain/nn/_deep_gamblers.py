"""Deep Gamblers: a class more, on which the model may hedge its bet."""

from __future__ import annotations

import math

from torch import Tensor, nn

from abstain.nn._confidence import at_least_float32
from abstain.nn._rank_losses import check_batch, nll


def deep_gamblers_loss(logits: Tensor, target: Tensor, reward: float) -> Tensor:
    r"""Return the Deep Gamblers loss of logits whose last column is the abstention.

    .. math:: -\frac1n\sum_i \ln\Bigl(p_{i,y_i} + \frac{p_{i,K+1}}{o}\Bigr), \qquad p = \text{softmax over } K + 1

    Parameters
    ----------
    logits : Tensor of shape (n_samples, n_classes + 1)
        The last column is the abstention.
    target : Tensor of shape (n_samples,)
        Class indices below ``n_classes``.
    reward : float
        Pay-off o > 1 of a right bet: abstaining costs as much as being right with probability 1/o. Above ``n_classes``
        a bet on all classes alike pays more; benchmarks have used such values all the same (10 with two classes).

    Returns
    -------
    Tensor
        Scalar >= 0, with gradient.

    Raises
    ------
    ValueError
        Shapes that do not fit; a reward that is not above 1.

    References
    ----------
    Liu et al. (2019), NeurIPS: Deep Gamblers. Computed in logarithms: no probability underflows. Rewards as in Traub et
    al. (2024), NeurIPS: A.2.2.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> logits = torch.log(torch.tensor([[0.5, 0.2, 0.3]]))
    >>> round(nn.deep_gamblers_loss(logits, torch.tensor([0]), reward=1.5).exp().reciprocal().item(), 4)
    0.7
    """
    check_batch(logits, target)
    _check_reward(reward)
    log_p = at_least_float32(logits).log_softmax(dim=-1)
    hedge = log_p[:, -1] - math.log(reward)
    log_true = -nll(log_p[:, :-1], target)  # without its last column, so that abstention is no label
    return -log_true.logaddexp(hedge).mean()


def _check_reward(reward: float) -> None:
    if not reward > 1.0:
        raise ValueError(f"reward must lie above 1, got {reward!r}; at 1 abstaining is free")


def reservation_confidence(logits: Tensor) -> Tensor:
    r"""Return the confidence of a Deep Gamblers model: the logarithm of what it does not put on abstention.

    .. math:: \ln(1 - p_{K+1}) = \operatorname{LSE}_{k \le K} z_k - \operatorname{LSE}_{k \le K+1} z_k

    Parameters
    ----------
    logits : Tensor of shape (..., n_classes + 1)

    Returns
    -------
    Tensor of shape (...)
        In (-inf, 0], higher = surer.

    References
    ----------
    Liu et al. (2019), NeurIPS.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> nn.reservation_confidence(torch.log(torch.tensor([0.5, 0.2, 0.3]))).exp()
    tensor(0.7000)
    """
    logits = at_least_float32(logits)
    reserved = logits[..., -1] - logits[..., :-1].logsumexp(dim=-1)
    return -nn.functional.softplus(reserved)


class DeepGamblersLoss(nn.Module):
    """Deep Gamblers with a warm-up on cross-entropy of the classes alone.

    Parameters
    ----------
    reward : float
        See :func:`deep_gamblers_loss`; 2.2, 3, 6 and 10 are the values usually tried.
    warm_up_epochs : int
        Epochs, counted by ``set_epoch``, that train the first ``n_classes`` logits by cross-entropy.

    Raises
    ------
    ValueError
        See :func:`deep_gamblers_loss`.

    References
    ----------
    Liu et al. (2019), NeurIPS; warm-up and rewards as in Jaeger et al. (2023), ICLR.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> criterion = nn.DeepGamblersLoss(reward=2.0, warm_up_epochs=1)
    >>> logits, target = torch.zeros(1, 3), torch.tensor([0])
    >>> round(criterion(logits, target).item(), 4)  # ln 2: two classes
    0.6931
    >>> criterion.set_epoch(1)
    >>> round(criterion(logits, target).item(), 4)  # ln 2: 1/3 + 1/6
    0.6931
    """

    def __init__(self, reward: float, warm_up_epochs: int = 0) -> None:
        super().__init__()
        _check_reward(reward)
        self.reward, self.warm_up_epochs, self.epoch = reward, warm_up_epochs, 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins, from 0."""
        self.epoch = epoch

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits (n, K + 1) with labels (n,)."""
        if self.epoch < self.warm_up_epochs:
            check_batch(logits, target)
            return nll(at_least_float32(logits[:, :-1]).log_softmax(dim=-1), target).mean()
        return deep_gamblers_loss(logits, target, self.reward)

    def extra_repr(self) -> str:
        return f"reward={self.reward}, warm_up_epochs={self.warm_up_epochs}"
