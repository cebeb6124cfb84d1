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
