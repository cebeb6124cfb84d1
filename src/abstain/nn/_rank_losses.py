"""Losses whose value is a rank metric of the batch: AURC, SELE and AUGRC; and AURC expected over models."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn

from abstain._checks import one_of
from abstain.nn._confidence import Confidence, at_least_float32, check_batch, check_confidence, confidence_of, nll
from abstain.nn._rank_weights import RankEstimator, Ties, gather_vector, own_part, weights_per

Reduction = Literal["mean", "none"]
_REDUCTIONS = get_args(Reduction)

#: From logits (n, K) and labels (n,) to losses (n,) with gradient.
SampleLoss: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def rank_weighted_loss(
    loss: Tensor,
    confidence: Tensor,
    estimator: RankEstimator = "harmonic",
    *,
    ties: Ties = "order",
    unit_mean: bool = False,
    distributed: bool = False,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Return a rank metric of a batch as a training loss: any per-sample loss times detached rank weights.

    .. math:: \frac1n \sum_i \hat\alpha_{r_i}\,\ell_i, \qquad
              \frac{\partial}{\partial\theta} = \frac1n \sum_i \hat\alpha_{r_i} \frac{\partial\ell_i}{\partial\theta}

    Parameters
    ----------
    loss : Tensor of shape (..., n)
        Loss per sample, with gradient.
    confidence : Tensor of shape (..., n)
        Confidence scores, higher = more confident, from anything; no gradient passes. NaN is not looked for.
    estimator : {"harmonic", "log", "plugin", "sele", "augrc"}
        Whose weights, see :func:`loss_weights`.
    ties : {"order", "exact"}
        ``"exact"``: the core's metric to rounding, whatever ties.
    unit_mean : bool
        Divide by the mean weight, so that a learning rate tuned for the plain loss stays right. The value is then
        no longer the metric: AUGRC's weights have mean 1/2.
    distributed : bool
        Rank over the batches of all processes. Under DDP, which averages gradients, the gradient is that of the
        metric of the global batch, also with batches of different size; a process may have none left.
    reduction : {"mean", "none"}
        ``"none"`` returns weight times loss per sample.

    Returns
    -------
    Tensor
        Scalar, or of the shape of ``loss``; float32 at least. Range [0, largest loss times largest weight].

    Raises
    ------
    ValueError
        Shapes that differ; no samples; unknown options.

    Notes
    -----
    The weights follow the batch that is given, so a smaller last batch gets its own.

    References
    ----------
    Zhou et al. (2025), ICML: Eq. 11 with the weights of Eq. 13, 18 and 33. Traub et al. (2024), NeurIPS: Eq. 6.

    Examples
    --------
    >>> import abstain, torch
    >>> loss, confidence = torch.tensor([0.0, 0.0, 1.0, 0.0]), torch.tensor([0.9, 0.8, 0.7, 0.6])
    >>> abstain.nn.rank_weighted_loss(loss, confidence), abstain.aurc(loss, confidence)
    (tensor(0.1458), 0.14583333333333331)
    """
    if reduction not in _REDUCTIONS:
        one_of(reduction, _REDUCTIONS, "reduction")
    if loss.shape != confidence.shape:
        shapes = f"loss: {tuple(loss.shape)}, confidence: {tuple(confidence.shape)}"
        raise ValueError(f"shapes differ ({shapes}); give one of each per sample")
    loss = at_least_float32(loss)
    ranked, sizes = gather_vector(confidence.detach()) if distributed else (confidence, [loss.shape[-1]])
    summed = reduction == "mean" and loss.ndim == 1
    # so that a dot product, one operation with a gradient, is the mean; DDP averages over processes with their sizes
    per = sum(sizes) / len(sizes) if summed else 1.0
    weights = weights_per(ranked, estimator, ties, loss.dtype, per)
    if unit_mean:
        weights = weights / (per * weights.mean(dim=-1, keepdim=True))
    if distributed:
        weights = own_part(weights, sizes)
    if summed:
        return torch.dot(weights, loss)
    weighted = weights * loss
    return weighted if reduction == "none" else weighted.mean()


class _RankLoss(nn.Module):
    """What the three losses share: options, one log-softmax for loss and confidence."""

    estimator: RankEstimator

    def __init__(
        self,
        *,
        confidence: Confidence = "msp",
        loss: SampleLoss | None = None,
        ties: Ties = "order",
        unit_mean: bool = False,
        distributed: bool = False,
    ) -> None:
        super().__init__()
        check_confidence(confidence)
        self.ties: Ties = one_of(ties, get_args(Ties), "ties")  # type: ignore[assignment]
        self.confidence, self.loss = confidence, loss
        self.unit_mean, self.distributed = unit_mean, distributed

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits (n, K) with labels (n,)."""
        check_batch(logits, target)
        logits = at_least_float32(logits)
        log_p = logits.log_softmax(dim=-1)
        given = self.loss
        loss = nll(log_p, target) if given is None else given(logits, target)
        return rank_weighted_loss(
            loss,
            confidence_of(self.confidence, logits, log_p),
            self.estimator,
            ties=self.ties,
            unit_mean=self.unit_mean,
            distributed=self.distributed,
        )

    def extra_repr(self) -> str:
        return f"estimator={self.estimator!r}, confidence={self.confidence!r}, ties={self.ties!r}"


class AURCLoss(_RankLoss):
    r"""AURC of the batch as a loss: cross-entropy times the detached weight of the sample's confidence rank.

    .. math:: \frac1n\sum_i \hat\alpha_{r_i}\,\bigl(-\ln p_{i,y_i}\bigr), \qquad \hat\alpha_r = H_n - H_{n-r}

    Parameters
    ----------
    estimator : {"harmonic", "log", "plugin"}
        Weights :math:`H_n - H_{n-r}`, :math:`-\ln(1 - r/(n+1))`, or those of the plug-in, whose ties are always exact.
    confidence : str or callable
        What ranks the samples: ``"msp"`` (the maximum of the same log-softmax), ``"neg_entropy"``,
        ``"softmax_margin"``, ``"neg_gini"``, ``"max_logit"``, ``"energy"``, or a function of the logits.
    loss : callable, optional
        ``loss(logits, target)`` per sample; default cross-entropy.
    ties : {"order", "exact"}
        See :func:`loss_weights`.
    unit_mean, distributed : bool
        See :func:`rank_weighted_loss`.

    Raises
    ------
    ValueError
        Unknown options; in the call, shapes that do not fit.

    See Also
    --------
    AUGRCLoss, SELELoss

    References
    ----------
    Zhou et al. (2025), ICML: Eq. 11, 13, 18 and Table 1.

    Examples
    --------
    >>> import abstain, torch
    >>> logits = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 0.5]], requires_grad=True)
    >>> value = abstain.nn.AURCLoss()(logits, torch.tensor([0, 1, 0]))
    >>> value.backward()
    >>> round(value.item(), 4), logits.grad.shape
    (0.2728, torch.Size([3, 2]))
    """

    def __init__(
        self,
        estimator: Literal["harmonic", "log", "plugin"] = "harmonic",
        *,
        confidence: Confidence = "msp",
        loss: SampleLoss | None = None,
        ties: Ties = "order",
        unit_mean: bool = False,
        distributed: bool = False,
    ) -> None:
        ties = "exact" if estimator == "plugin" else ties
        super().__init__(confidence=confidence, loss=loss, ties=ties, unit_mean=unit_mean, distributed=distributed)
        one_of(estimator, ("harmonic", "log", "plugin"), "estimator")
        self.estimator = estimator


class SELELoss(_RankLoss):
    r"""SELE score of the batch as a loss: cross-entropy times the detached relative rank of the confidence.

    .. math:: \frac1n\sum_i \frac{r_i}{n}\,\bigl(-\ln p_{i,y_i}\bigr)

    Parameters
    ----------
    confidence, loss, ties, unit_mean, distributed
        As in :class:`AURCLoss`.

    Raises
    ------
    ValueError
        Unknown options; in the call, shapes that do not fit.

    References
    ----------
    Franc, Prusa & Voracek (2023), JMLR 24(11). Zhou et al. (2025), ICML: Eq. 33.

    Examples
    --------
    >>> import abstain, torch
    >>> logits = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 0.5]])
    >>> round(abstain.nn.SELELoss()(logits, torch.tensor([0, 1, 0])).item(), 4)
    0.2202
    """

    estimator: RankEstimator = "sele"


class AUGRCLoss(_RankLoss):
    r"""AUGRC of the batch as a loss: cross-entropy times the detached mid-rank of the confidence.

    .. math:: \frac1n\sum_i \frac{r_i - \frac12}{n}\,\bigl(-\ln p_{i,y_i}\bigr)

    Parameters
    ----------
    confidence, loss, ties, unit_mean, distributed
        As in :class:`AURCLoss`.

    Raises
    ------
    ValueError
        Unknown options; in the call, shapes that do not fit.

    References
    ----------
    Traub et al. (2024), NeurIPS: Eq. 6, whose derivative with respect to the losses these weights are.

    Examples
    --------
    >>> import abstain, torch
    >>> logits = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 0.5]])
    >>> round(abstain.nn.AUGRCLoss()(logits, torch.tensor([0, 1, 0])).item(), 4)
    0.1416
    """

    estimator: RankEstimator = "augrc"


def bayesian_aurc_loss(
    logits: Tensor,
    target: Tensor,
    estimator: RankEstimator = "harmonic",
    *,
    confidence: Confidence = "msp",
    ranking: Literal["own", "predictive"] = "own",
    ties: Ties = "order",
) -> Tensor:
    r"""Return the AURC expected over posterior samples of the model, E_f[AURC(f)], by Monte Carlo.

    .. math:: \mathbb E_{f \sim P(f \mid D)}[\text{AURC}(f)] \approx
              \frac1S\sum_{s=1}^S \frac1n\sum_{i=1}^n \hat\alpha_{r_{is}}\,\bigl(-\ln p^{(s)}_{i,y_i}\bigr)

    Parameters
    ----------
    logits : Tensor of shape (n_models, n_samples, n_classes)
        One slice per posterior sample (dropout mask, ensemble member, ...).
    target : Tensor of shape (n_samples,)
        Class indices.
    estimator : {"harmonic", "log", "plugin", "sele", "augrc"}
        Whose weights, see :func:`loss_weights`.
    confidence : str or callable
        As in :class:`AURCLoss`.
    ranking : {"own", "predictive"}
        ``"own"``: each model ranks by its own confidence, as the formula says. ``"predictive"``: all are ranked by
        the confidence of the mean probabilities, which is the reject option that a deployed ensemble has.
    ties : {"order", "exact"}

    Returns
    -------
    Tensor
        Scalar with gradient to all slices; lower is better.

    Raises
    ------
    ValueError
        Shapes that do not fit, unknown options.

    References
    ----------
    Zhou et al. (2025), ICML: Eq. 37 and 38.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> one = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 0.5]])
    >>> target = torch.tensor([0, 1, 0])
    >>> nn.bayesian_aurc_loss(torch.stack([one, one]), target) == nn.AURCLoss()(one, target)
    tensor(True)
    """
    check_confidence(confidence)
    one_of(ranking, ("own", "predictive"), "ranking")
    if logits.ndim != 3 or target.ndim != 1 or logits.shape[1] != len(target):
        shapes = f"logits: {tuple(logits.shape)}, target: {tuple(target.shape)}"
        raise ValueError(f"shapes do not fit ({shapes}); give logits (n_models, n, n_classes) and class indices (n,)")
    logits = at_least_float32(logits)
    log_p = logits.log_softmax(dim=-1)
    loss = -log_p.gather(-1, target[None, :, None].expand(len(logits), -1, 1)).squeeze(-1)
    if ranking == "own":
        score = confidence_of(confidence, logits, log_p)
    else:
        mean = log_p.detach().logsumexp(dim=0) - math.log(len(logits))
        score = confidence_of(confidence, mean, mean).expand_as(loss)
    return rank_weighted_loss(loss, score, estimator, ties=ties)
