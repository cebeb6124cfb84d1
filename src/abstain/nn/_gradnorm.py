"""GradNorm over all parameters of a network."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from abstain.nn._confidence import at_least_float32
from abstain.nn._passes import evaluation_mode


def gradnorm(
    model: nn.Module,
    inputs: Tensor,
    *,
    parameters: Callable[[str], bool] | None = None,
    chunk_size: int | None = 16,
) -> Tensor:
    r"""Return the L1 norm of each sample's gradient of the cross-entropy to the uniform distribution.

    .. math:: s = \sum_{\theta} \Bigl|\frac{\partial}{\partial\theta} \sum_{k=1}^K -\ln p_k(x)\Bigr|

    Parameters
    ----------
    model : nn.Module
        From inputs to logits; evaluated in evaluation mode, its gradients are not touched.
    inputs : Tensor of shape (n_samples, ...)
        A batch as the model takes it.
    parameters : callable, optional
        Which parameters count, by name; default all. ``lambda name: name == "fc.weight"`` is the usual GradNorm of
        the last layer, :math:`\|h\|_1 \sum_k |K p_k - 1|`, which needs no model but features and logits.
    chunk_size : int, optional
        Samples whose gradients are held at a time: memory is this many times the parameters.

    Returns
    -------
    Tensor of shape (n_samples,)
        In [0, inf), higher = surer.

    Raises
    ------
    ValueError
        No parameter is left.

    References
    ----------
    Huang, Geng & Li (2021), NeurIPS.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> model = torch.nn.Linear(2, 2, bias=False)
    >>> model.weight.data = torch.eye(2)
    >>> nn.gradnorm(model, torch.tensor([[0.0, 0.0], [2.0, 1.0]])).round(decimals=4)
    tensor([0.0000, 2.7727])
    """
    named = dict(model.named_parameters())
    chosen = {name: value.detach() for name, value in named.items() if parameters is None or parameters(name)}
    if not chosen:
        raise ValueError(f"parameters selects none of {', '.join(named) or 'none at all'}; GradNorm needs one at least")
    rest = {name: value.detach() for name, value in named.items() if name not in chosen}
    fixed = rest | {name: value.detach() for name, value in model.named_buffers()}

    def to_uniform(varied: dict[str, Tensor], x: Tensor) -> Tensor:
        logits = functional_call(model, {**fixed, **varied}, (x[None],))
        value: Tensor = -at_least_float32(logits).log_softmax(dim=-1).sum()
        return value

    def norm(varied: dict[str, Tensor], x: Tensor) -> Tensor:
        return torch.stack([at_least_float32(each).abs().sum() for each in grad(to_uniform)(varied, x).values()]).sum()

    with evaluation_mode(model):
        score: Tensor = vmap(norm, in_dims=(None, 0), chunk_size=chunk_size)(chosen, inputs.detach())
    return score
