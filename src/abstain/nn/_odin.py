"""ODIN: temperature, and a step of the input towards the predicted class."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from abstain._checks import positive
from abstain.nn._confidence import at_least_float32, in_float64
from abstain.nn._passes import evaluation_mode


def odin(
    model: nn.Module, inputs: Tensor, *, temperature: float = 1000.0, epsilon: float = 0.0014, std: Any = None
) -> Tensor:
    r"""Return the ODIN score of a batch, as a log-probability.

    .. math:: \tilde x = x - \epsilon\,\text{sign}\bigl(\nabla_x -\ln p_{\hat y}(x; T)\bigr)/\text{std}, \qquad
              s = \ln \max_k p_k(\tilde x; T), \quad p(x; T) = \text{softmax}(z(x)/T)

    Parameters
    ----------
    model : nn.Module
        From inputs to logits; evaluated in evaluation mode. Gradients of its parameters are neither used nor changed.
    inputs : Tensor of shape (n_samples, ...)
        A batch as the model takes it.
    temperature : float
        T > 0.
    epsilon : float
        Size of the step in the units of the picture before normalisation.
    std : float or Tensor, optional
        What inputs were divided by in normalisation, e.g. one number per channel of shape (3, 1, 1).

    Returns
    -------
    Tensor of shape (n_samples,)
        Float64, higher = surer. At T = 1000 probabilities differ by about one per cent of 1/K: a float32 probability
        would tie many of them.

    Raises
    ------
    ValueError
        A temperature that is not positive.

    References
    ----------
    Liang, Li & Srikant (2018), ICLR.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> model = torch.nn.Linear(2, 2, bias=False)
    >>> model.weight.data = torch.eye(2)
    >>> nn.odin(model, torch.tensor([[2.0, 0.0]]), temperature=1.0, epsilon=0.5).exp()  # logits (2.5, -0.5)
    tensor([0.9526], dtype=torch.float64)
    """
    temperature = positive(temperature, "temperature")
    with evaluation_mode(model):
        with torch.enable_grad():
            x = inputs.detach().clone().requires_grad_()
            log_p = (at_least_float32(model(x)) / temperature).log_softmax(dim=-1)
            (gradient,) = torch.autograd.grad(-log_p.amax(dim=-1).sum(), x)
        step = epsilon * gradient.sign()
        with torch.no_grad():
            logits = model(x.detach() - (step if std is None else step / torch.as_tensor(std, device=step.device)))
    score: Tensor = (in_float64(logits) / temperature).log_softmax(dim=-1).amax(dim=-1)
    return score
