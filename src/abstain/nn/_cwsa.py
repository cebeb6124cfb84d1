"""A smooth surrogate of CWSA and CWSA+."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from abstain._checks import fraction, not_negative, one_of, positive
from abstain.nn._confidence import at_least_float32, check_batch, check_pair, hits, largest_and

Denominator = Literal["accepted", "all"]
Correctness = Literal["soft", "hard"]


def smooth_cwsa(
    loss: Tensor,
    confidence: Tensor,
    *,
    threshold: float = 0.5,
    temperature: float = 0.05,
    penalty: float = 1.0,
    denominator: Denominator = "accepted",
) -> Tensor:
    r"""Return CWSA with a soft threshold: differentiable in the confidences and in the losses.

    .. math:: \frac{\sum_i \phi_t(c_i)\,\bigl(1 - (1 + \pi)\ell_i\bigr)}{\sum_i s_t(c_i)}, \qquad
              \phi_t(c) = \frac{t \ln(1 + e^{(c - \tau)/t})}{1 - \tau}, \quad
              s_t(c) = \frac{1}{1 + e^{-(c - \tau)/t}}

    As t goes to 0 the trust :math:`\phi_t` becomes :math:`\max(0, c - \tau)/(1 - \tau)` and the acceptance
    :math:`s_t` (its derivative, up to the factor) the step at :math:`\tau`: the value becomes CWSA for
    :math:`\pi = 1`, CWSA+ for :math:`\pi = 0`.

    Parameters
    ----------
    loss : Tensor of shape (n_samples,)
        In [0, 1].
    confidence : Tensor of shape (n_samples,)
        Probabilities in [0, 1].
    threshold : float in [0, 1)
    temperature : float
        Width t > 0 of the threshold; differences from CWSA are of its order.
    penalty : float
        1 for CWSA, 0 for CWSA+.
    denominator : {"accepted", "all"}
        Divide by the (soft) number of accepted samples, or by all. ``"accepted"`` can be driven up by accepting next
        to nothing: as a training loss pair it with another, or use ``"all"``.

    Returns
    -------
    Tensor
        Scalar, about in [-1, 1]; higher is better.

    Raises
    ------
    ValueError
        Shapes that differ, no sample, a threshold outside [0, 1), a temperature that is not positive, a
        negative penalty.
    TypeError
        An option that is no number.

    References
    ----------
    Shahnazari et al. (2025): Section 3.2 and A.3, which states that a surrogate is possible and gives none.

    Examples
    --------
    >>> import abstain, torch
    >>> loss, confidence = torch.tensor([0.0, 0.0, 1.0, 0.0]), torch.tensor([0.9, 0.8, 0.7, 0.4])
    >>> round(abstain.nn.smooth_cwsa(loss, confidence, temperature=1e-3).item(), 5)
    0.33333
    >>> round(abstain.cwsa(loss, confidence), 5)
    0.33333
    """
    tau, temperature, penalty = _checked(threshold, temperature, penalty, denominator)
    check_pair(loss=loss, confidence=confidence)
    share = _share(len(loss), tau, denominator)
    loss = loss if loss.is_floating_point() else loss.to(confidence.dtype)
    gain = torch.rsub(at_least_float32(loss), share, alpha=share * (1.0 + penalty))
    return _smooth(gain, at_least_float32(confidence), tau, temperature, denominator)


def _share(n: int, tau: float, denominator: Denominator) -> float:
    """Return what a sample's trust and gain are multiplied by; how many are accepted divides their sum."""
    return 1.0 / ((1.0 - tau) * (n if denominator == "all" else 1))


def _smooth(gain: Tensor, confidence: Tensor, tau: float, temperature: float, denominator: Denominator) -> Tensor:
    """Return the sum of trust times gain, over how many are accepted if this is the denominator.

    A step on 128 samples costs as much as it has operations: five of PyTorch's own are cheaper than one written in
    Python, there and back.
    """
    above = confidence - tau
    trust = nn.functional.softplus(above, beta=1.0 / temperature)
    if trust.dtype != gain.dtype:
        trust, gain = trust.double(), gain.double()
    total = torch.dot(trust, gain)
    if denominator == "all":
        return total
    # where all is rejected, trust and acceptance vanish together: their ratio must not become 0 / 0
    return total / (above / temperature).sigmoid().sum().clamp_min(1e-12)


def _checked(
    threshold: float, temperature: float, penalty: float, denominator: Denominator
) -> tuple[float, float, float]:
    """Return threshold, temperature and penalty as numbers, or name the option that cannot serve."""
    one_of(denominator, get_args(Denominator), "denominator")
    width = positive(temperature, "temperature", "0 is abstain.cwsa, which has no gradient")
    weight = not_negative(penalty, "penalty", "1 is CWSA, 0 is CWSA+")
    return fraction(threshold, "threshold", below_one=True), width, weight


class CWSALoss(nn.Module):
    """Negative smooth CWSA of a batch as a loss, from logits and labels.

    Parameters
    ----------
    threshold, temperature, penalty, denominator
        As in :func:`smooth_cwsa`.
    correctness : {"soft", "hard"}
        ``"soft"``: 1 - probability of the true class as the loss, so that answers can improve. ``"hard"``: 0/1, so
        that only confidences do.

    Raises
    ------
    ValueError, TypeError
        See :func:`smooth_cwsa`; bad options are refused at once, bad batches in the call.

    References
    ----------
    Shahnazari et al. (2025): A.3; graded correctness A.6.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> logits = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 0.5]], requires_grad=True)
    >>> nn.CWSALoss()(logits, torch.tensor([0, 1, 0])).backward()
    >>> bool((logits.grad.abs().sum(dim=1) > 0).all())
    True
    """

    def __init__(
        self,
        threshold: float = 0.5,
        temperature: float = 0.05,
        *,
        penalty: float = 1.0,
        denominator: Denominator = "all",
        correctness: Correctness = "soft",
    ) -> None:
        super().__init__()
        self.threshold, self.temperature, self.penalty = _checked(threshold, temperature, penalty, denominator)
        one_of(correctness, get_args(Correctness), "correctness")
        self.denominator: Denominator = denominator
        self.correctness = correctness

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return minus the smooth CWSA of logits (n, K) with labels (n,)."""
        check_batch(logits, target)
        p = at_least_float32(logits).softmax(dim=-1)
        soft = self.correctness == "soft"
        place = largest_and(p, target) if soft else None
        if place is not None:  # both by one kernel, and back by one
            confidence, right = p.gather(1, place).unbind(1)
        else:
            confidence = p.amax(dim=-1)
            right = p.gather(1, target[:, None])[:, 0] if soft else hits(logits, target).to(p.dtype)
        share = _share(logits.shape[0], self.threshold, self.denominator)
        # minus the gain of the loss 1 - right
        lost = torch.rsub(right, share * self.penalty, alpha=share * (1.0 + self.penalty))
        return _smooth(lost, confidence, self.threshold, self.temperature, self.denominator)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, temperature={self.temperature}, penalty={self.penalty}"


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
