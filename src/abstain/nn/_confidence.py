"""Confidence of a batch from its log-probabilities or logits, by name; no softmax in which certainty ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from abstain._checks import closest

#: By name, or a function from logits (..., n, K) to confidences (..., n).
Confidence: TypeAlias = str | Callable[[Tensor], Tensor]


_NO_LABEL = -(2**31)  # cross-entropy would skip -100 in silence


def at_least_float32(tensor: Tensor) -> Tensor:
    """Return all but float64 as float32: a bfloat16 score would tie most of a batch, whole weights would all be 0."""
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()


def largest_and(p: Tensor, target: Tensor) -> Tensor | None:
    """Return the columns (n, 2) of the largest of each row of fresh probabilities, and of its label.

    None where a largest is tied, or finding it takes long: on the CPU, NumPy takes a tenth of PyTorch's time, and a
    gradient through ``gather`` takes a third of that through ``amax``, which divides a tie among its classes.
    """
    if not p.is_cpu or torch.compiler.is_compiling():
        return None
    try:
        values = p.detach().numpy()
    except RuntimeError:  # a tensor without memory of its own, as under torch.func
        return None
    rows, place = np.arange(len(values)), values.argmax(axis=1)
    most = values[rows, place]
    values[rows, place] = -1.0  # the next largest is at most as large; nobody else has seen these numbers
    tied = (values[rows, values.argmax(axis=1)] == most).any()  # argmax takes NumPy less time than max
    values[rows, place] = most
    if tied:
        return None
    if target.dtype is not torch.int64 and not target.is_floating_point():  # stack promotes some of them only
        target = target.long()
    return torch.stack([torch.from_numpy(place), target], dim=1)


def in_float64(tensor: Tensor) -> Tensor:
    """Return a tensor in float64; on the CPU if its device, an Apple GPU, has none."""
    return (tensor.cpu() if tensor.device.type == "mps" else tensor).double()


def _negative_entropy(log_p: Tensor, logits: Tensor) -> Tensor:
    return (log_p.exp() * log_p.clamp_min(torch.finfo(log_p.dtype).min)).sum(dim=-1)


def _margin(log_p: Tensor, logits: Tensor) -> Tensor:
    top = log_p.topk(2, dim=-1).values.exp()
    return top[..., 0] - top[..., 1]


#: function(log_probabilities, logits); "msp" is the log of the maximum probability, which has the same order.
NAMED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "msp": lambda log_p, logits: log_p.amax(dim=-1),
    "neg_entropy": _negative_entropy,
    "softmax_margin": _margin,
    "neg_gini": lambda log_p, logits: (2.0 * log_p).exp().sum(dim=-1) - 1.0,
    "max_logit": lambda log_p, logits: logits.amax(dim=-1),
    "energy": lambda log_p, logits: logits.logsumexp(dim=-1),
}


def check_confidence(confidence: Confidence) -> None:
    """Refuse an unknown name."""
    if not callable(confidence) and confidence not in NAMED:
        raise ValueError(f"confidence={confidence!r} is not known; {closest(str(confidence), NAMED)}, or a function")


def confidence_of(confidence: Confidence, logits: Tensor, log_p: Tensor) -> Tensor:
    """Return one confidence per sample, without gradient."""
    if not callable(confidence):
        return NAMED[confidence](log_p.detach(), logits.detach())
    with torch.no_grad():
        return confidence(logits)


def nll(log_p: Tensor, target: Tensor) -> Tensor:
    """Return -log p of the true class per sample; one kernel, and a label of -100 is out of range like any other."""
    return nn.functional.nll_loss(log_p, target, reduction="none", ignore_index=_NO_LABEL)


def hits(logits: Tensor, target: Tensor) -> Tensor:
    """Return 1 where the largest logit is that of the label, else 0; a label that is no class is out of range."""
    return nn.functional.one_hot(logits.argmax(dim=-1), logits.shape[-1]).gather(1, target[:, None]).squeeze(1)


def check_batch(logits: Tensor, target: Tensor, least: int = 1) -> None:
    """Refuse logits and labels that do not belong together, or are too few for a mean."""
    check_tensors(logits=logits, target=target)
    if logits.ndim != 2 or target.ndim != 1 or logits.shape[0] != target.shape[0]:
        shapes = f"logits: {tuple(logits.shape)}, target: {tuple(target.shape)}"
        raise ValueError(f"shapes do not fit ({shapes}); give logits (n, n_classes) and class indices (n,)")
    if logits.shape[0] < least:
        raise ValueError("logits is empty; at least one sample is needed, so leave this batch out")


def check_pair(**columns: Tensor) -> None:
    """Refuse two vectors of different lengths, and empty ones."""
    one, other = columns.values()
    if one.ndim != 1 or one.shape != other.shape:
        shapes = ", ".join(f"{name}: {tuple(each.shape)}" for name, each in columns.items())
        raise ValueError(f"shapes differ ({shapes}); give one of each per sample")
    if not len(one):
        raise ValueError(f"{next(iter(columns))} is empty; at least one sample is needed, so leave this batch out")


def check_tensors(**given: Any) -> None:
    """Refuse what is no tensor, such as a list of class names."""
    for name, each in given.items():
        if not isinstance(each, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(each).__name__}; labels are class indices from 0 on")
