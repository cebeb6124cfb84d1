"""Confidence of a batch from its log-probabilities or logits, by name, and of several passes: dropout and ensembles."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from abstain._checks import closest, one_of

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


def check_tensors(**given: object) -> None:
    """Refuse what is no tensor, such as a list of class names."""
    for name, each in given.items():
        if not isinstance(each, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(each).__name__}; labels are class indices from 0 on")


DROPOUT = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode, and every module back into its own mode afterwards."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def device_of(model: nn.Module) -> torch.device:
    """Return where the first parameter lies; the CPU if there is none."""
    return next((parameter.device for parameter in model.parameters()), torch.device("cpu"))


@contextmanager
def dropout_active(model: nn.Module) -> Iterator[None]:
    """Evaluation mode with live dropout: only dropout layers train, so batch norm keeps its statistics.

    Parameters
    ----------
    model : nn.Module
        Every module's mode is restored afterwards.

    Raises
    ------
    ValueError
        There is no dropout layer with a positive rate: all passes would be the same. Functional dropout cannot be
        seen from outside.

    References
    ----------
    Gal & Ghahramani (2016), ICML.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> model = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Dropout(0.5))
    >>> with nn.dropout_active(model):
    ...     [module.training for module in model]
    [False, True]
    """
    layers = [module for module in model.modules() if isinstance(module, DROPOUT) and module.p > 0.0]
    if not layers:
        raise ValueError(f"{type(model).__name__} has no dropout layer with p > 0; all passes would be the same")
    with evaluation_mode(model):
        for layer in layers:
            layer.training = True
        yield


@torch.no_grad()
def mc_dropout(model: Callable[..., Tensor], inputs: object, passes: int = 50, *, seed: int | None = None) -> Tensor:
    """Return the logits of several passes with random dropout masks.

    Parameters
    ----------
    model : nn.Module
        With dropout layers; see :func:`dropout_active`.
    inputs : Tensor
        One batch.
    passes : int
        Number of passes, at least 1.
    seed : int, optional
        Of the masks. The generators of the CPU and of CUDA are as before afterwards.

    Returns
    -------
    Tensor of shape (passes, n_samples, n_classes)
        Logits, float32.

    Raises
    ------
    ValueError
        No dropout layer; no pass.

    References
    ----------
    Gal & Ghahramani (2016), ICML.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(4, 3))
    >>> nn.mc_dropout(model, torch.ones(2, 4), passes=5, seed=0).shape
    torch.Size([5, 2, 3])
    """
    if passes < 1:
        raise ValueError(f"passes must be at least 1, got {passes!r}")
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be an nn.Module, whose dropout layers can be found, got {type(model).__name__}")
    devices = {parameter.device for parameter in model.parameters() if parameter.device.type == "cuda"}
    with dropout_active(model), torch.random.fork_rng(list(devices), enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        return torch.stack([model(inputs).float() for _ in range(passes)])


@torch.no_grad()
def ensemble_logits(models: Sequence[nn.Module], inputs: object) -> Tensor:
    """Return the logits of the members of an ensemble, each in evaluation mode.

    Parameters
    ----------
    models : sequence of nn.Module
        At least one; their modes are restored.
    inputs : Tensor
        One batch.

    Returns
    -------
    Tensor of shape (n_models, n_samples, n_classes)
        Logits, float32.

    Raises
    ------
    ValueError
        No model.

    References
    ----------
    Lakshminarayanan et al. (2017), NeurIPS.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> nn.ensemble_logits([torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)], torch.ones(2, 4)).shape
    torch.Size([2, 2, 3])
    """
    if not models:
        raise ValueError("models is empty; an ensemble has at least one member")
    found = []
    for model in models:
        with evaluation_mode(model):
            found.append(model(inputs).float())
    return torch.stack(found)


def _entropy(log_p: Tensor) -> Tensor:
    entropy: Tensor = torch.special.entr(log_p.exp()).sum(dim=-1)
    return entropy


def passes_confidence(logits: Tensor, kind: str = "msp") -> Tensor:
    r"""Return a confidence from several answers per input, with :math:`\bar p = \frac1S\sum_s p^{(s)}`.

    ``"msp"``: :math:`\max_k \bar p_k`. ``"neg_entropy"``: :math:`-H(\bar p)`. ``"neg_expected_entropy"``:
    :math:`-\frac1S\sum_s H(p^{(s)})`. ``"neg_mutual_information"``: :math:`-(H(\bar p) - \frac1S\sum_s H(p^{(s)}))`,
    the disagreement of the answers alone.

    Parameters
    ----------
    logits : Tensor of shape (n_passes, n_samples, n_classes)
        From :func:`mc_dropout`, :func:`ensemble_logits` or a file.
    kind : {"msp", "neg_entropy", "neg_expected_entropy", "neg_mutual_information"}

    Returns
    -------
    Tensor of shape (n_samples,)
        Float64, higher = more confident.

    Raises
    ------
    ValueError
        Another shape or kind.

    References
    ----------
    Gal (2016), thesis: Section 3.3. Traub et al. (2024), NeurIPS: A.2.1 (MCD-MSR, MCD-PE, MCD-MI).

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> agree, differ = torch.tensor([[2.0, 0.0]] * 2), torch.tensor([[2.0, 0.0], [0.0, 2.0]])
    >>> logits = torch.stack([agree, differ], dim=1)
    >>> nn.passes_confidence(logits, "neg_mutual_information").round(decimals=3).abs()
    tensor([0.0000, 0.3280], dtype=torch.float64)
    """
    kinds = ("msp", "neg_entropy", "neg_expected_entropy", "neg_mutual_information")
    one_of(kind, kinds, "kind")
    if logits.ndim != 3:
        raise ValueError(f"logits has shape {tuple(logits.shape)}; give (n_passes, n_samples, n_classes)")
    log_p = in_float64(logits).log_softmax(dim=-1)
    mean = log_p.logsumexp(dim=0) - math.log(len(logits))
    if kind == "msp":
        return mean.amax(dim=-1).exp()
    if kind == "neg_entropy":
        return -_entropy(mean)
    expected = _entropy(log_p).mean(dim=0)
    return -expected if kind == "neg_expected_entropy" else expected - _entropy(mean)
