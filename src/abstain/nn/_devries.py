"""DeVries & Taylor: a confidence that buys hints about the answer, kept in check by a budget."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from abstain._checks import fraction, positive
from abstain.nn._confidence import at_least_float32
from abstain.nn._confidnet import one_per_sample
from abstain.nn._rank_losses import check_batch, nll


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
            drawn = torch.rand(len(target), generator=self.generator, device=self._draw_device(logits))
            hinted = drawn.to(logits.device) < self.hint_share
        task, price = devries_losses(logits, confidence_logit, target, hinted)
        value = task + self.weight.clone() * price
        if self.training:
            self.weight.mul_(torch.where(price.detach() < self.budget, 1.0 / 1.01, 1.0 / 0.99))
        return value

    def _draw_device(self, logits: Tensor) -> torch.device:
        return logits.device if self.generator is None else self.generator.device

    def extra_repr(self) -> str:
        return f"budget={self.budget}, hint_share={self.hint_share}"
