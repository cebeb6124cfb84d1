"""Several answers per input: Monte Carlo dropout and deep ensembles, and confidences from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from abstain._checks import one_of
from abstain.nn._confidence import in_float64

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
def mc_dropout(model: Callable[..., Tensor], inputs: Any, passes: int = 50, *, seed: int | None = None) -> Tensor:
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
def ensemble_logits(models: Sequence[nn.Module], inputs: Any) -> Tensor:
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
