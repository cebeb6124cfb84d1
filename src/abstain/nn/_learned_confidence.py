"""Losses of models that learn their confidence: ConfidNet, Deep Gamblers, DeVries and Taylor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from abstain._checks import fraction, positive
from abstain.nn._confidence import at_least_float32, check_batch, nll


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
        In (-inf, 0], higher = more confident.

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


def devries_losses(
    logits: Tensor, confidence_logit: Tensor, target: Tensor, hinted: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    r"""Return the two parts of the loss of DeVries & Taylor: task loss with hints, and the price of hints.

    .. math:: \frac1n\sum_i -\ln\bigl(c'_i\,p_{i,y_i} + 1 - c'_i\bigr), \qquad \frac1n\sum_i -\ln c_i

    with :math:`c' = c = \sigma(\cdot)` where a hint is on offer and :math:`c' = 1` elsewhere.

    Parameters
    ----------
    logits : Tensor of shape (n_samples, n_classes)
    confidence_logit : Tensor of shape (n_samples,) or (n_samples, 1)
        Output of the confidence branch before the sigmoid.
    target : Tensor of shape (n_samples,)
        Class indices.
    hinted : bool Tensor of shape (n_samples,), optional
        Samples that are offered a hint; default all.

    Returns
    -------
    task, price : Tensor
        Two scalars >= 0, with gradient.

    Raises
    ------
    ValueError
        Shapes that do not fit.

    References
    ----------
    DeVries & Taylor (2018), arXiv:1802.04865: Eq. 2-5. Computed in logarithms: nothing is clamped.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> task, price = nn.devries_losses(torch.zeros(1, 2), torch.zeros(1), torch.tensor([0]))
    >>> task.neg().exp(), price.neg().exp()  # 1/2 * 1/2 + 1/2, and c = 1/2
    (tensor(0.7500), tensor(0.5000))
    """
    check_batch(logits, target)
    branch = at_least_float32(one_per_sample(confidence_logit, len(logits)))
    log_true = -nll(at_least_float32(logits).log_softmax(dim=-1), target)
    log_sure = nn.functional.logsigmoid(branch)
    helped = (log_sure + log_true).logaddexp(nn.functional.logsigmoid(-branch))
    if hinted is not None:
        helped = torch.where(hinted, helped, log_true)
    return -helped.mean(), -log_sure.mean()


class DeVriesLoss(nn.Module):
    r"""Loss of DeVries & Taylor with its budget: task loss plus lambda times the price of hints.

    Lambda follows the price: :math:`\lambda \leftarrow \lambda/1.01` after a step whose price was below the budget,
    :math:`\lambda \leftarrow \lambda/0.99` after any other.

    Parameters
    ----------
    budget : float
        Target of the mean price :math:`-\ln c`.
    weight : float
        Lambda at the start; kept in the state dict.
    hint_share : float in [0, 1]
        Chance of a sample to be offered a hint. Without hints for all, the network must still learn.
    generator : torch.Generator, optional
        Draws the hints.

    Raises
    ------
    ValueError
        Numbers out of range; in the call, shapes that do not fit.

    Notes
    -----
    In evaluation mode all samples are offered hints and lambda stands still. Under DDP each process moves its own.

    References
    ----------
    DeVries & Taylor (2018), arXiv:1802.04865.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> criterion = nn.DeVriesLoss(budget=0.3)
    >>> value = criterion(torch.zeros(4, 2), torch.zeros(4), torch.tensor([0, 1, 0, 1]))
    >>> round(float(criterion.weight), 5)  # -ln(1/2) is above the budget
    0.10101
    """

    weight: Tensor

    def __init__(
        self,
        budget: float = 0.3,
        weight: float = 0.1,
        hint_share: float = 0.5,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.budget, self.hint_share = positive(budget, "budget"), fraction(hint_share, "hint_share")
        self.generator, weight = generator, positive(weight, "weight")
        self.register_buffer("weight", torch.tensor(float(weight), dtype=torch.float32))

    def forward(self, logits: Tensor, confidence_logit: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits (n, K) and confidence logits (n,) with labels (n,), and move lambda."""
        hinted = None
        if self.training:
            device = logits.device if self.generator is None else self.generator.device
            drawn = torch.rand(len(target), generator=self.generator, device=device)
            hinted = drawn.to(logits.device) < self.hint_share
        task, price = devries_losses(logits, confidence_logit, target, hinted)
        value = task + self.weight.clone() * price
        if self.training:
            self.weight.mul_(torch.where(price.detach() < self.budget, 1.0 / 1.01, 1.0 / 0.99))
        return value

    def extra_repr(self) -> str:
        return f"budget={self.budget}, hint_share={self.hint_share}"
