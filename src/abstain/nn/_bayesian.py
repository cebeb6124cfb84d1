"""Expected AURC over posterior samples of a model."""

from __future__ import annotations

import math
from typing import Literal

from torch import Tensor

from abstain._checks import one_of
from abstain.nn._confidence import Confidence, at_least_float32, check_confidence, confidence_of
from abstain.nn._rank_losses import rank_weighted_loss
from abstain.nn._weights import RankEstimator, Ties


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
