"""Averages of weights along the training: EMA, SWA; and batch norm's statistics for weights that it never saw."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from abstain._checks import fraction
from abstain.nn._confidence import device_of, evaluation_mode
from abstain.nn._extract import Batch
from abstain.nn.ingredients._sam import batch_norm_layers, frozen_statistics


class _Average(nn.Module):
    """A copy of a model whose parameters are a running mean; other buffers are the model's latest."""

    updates: Tensor

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.register_buffer("updates", torch.zeros((), dtype=torch.int64))

    def forward(self, *inputs: Any) -> Any:
        """Return what the averaged model says."""
        return self.model(*inputs)

    def _keep(self) -> float:
        """How much of the mean so far stays in the next update."""
        raise NotImplementedError

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Take in the model as it is now."""
        keep = self._keep()
        for mine, its in zip(self.model.parameters(), model.parameters(), strict=True):
            mine.mul_(keep).add_(its.detach().to(mine.device), alpha=1.0 - keep)
        for held, latest in zip(self.model.buffers(), model.buffers(), strict=True):
            held.copy_(latest)
        self.updates += 1


class EMA(_Average):
    r"""Exponential moving average of the weights, one update per step.

    .. math:: \bar w_{t+1} = \tau_t \bar w_t + (1 - \tau_t) w_t, \qquad
              \tau_t = \min\Bigl(\tau, \frac{1 + t}{10 + t}\Bigr)

    Parameters
    ----------
    model : nn.Module
        It is copied: the copy is ``model`` of the average, and is the one to evaluate.
    tau : float in [0, 1]
        .999 remembers about 1,000 steps: 2.6 epochs of CIFAR in batches of 128. The papers do not give it.
    warm_up : bool
        Begin with a shorter memory, so that random initial weights are soon forgotten; False: always tau.

    Raises
    ------
    ValueError
        A tau outside [0, 1].

    Notes
    -----
    Parameters are averaged; running statistics of batch norm are copied and belong to other weights:
    call :func:`reestimate_batch_norm` before evaluation.

    References
    ----------
    Polyak & Juditsky (1992). "From Misclassifications to Outliers": A.5.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import EMA
    >>> layer = torch.nn.Linear(1, 1)
    >>> average = EMA(layer, tau=0.9, warm_up=False)
    >>> start = layer.bias.item()
    >>> _ = torch.nn.init.constant_(layer.bias, start + 1.0)
    >>> average.update(layer)
    >>> round(average.model.bias.item() - start, 4)
    0.1
    """

    def __init__(self, model: nn.Module, tau: float = 0.999, *, warm_up: bool = True) -> None:
        fraction(tau, "tau")
        super().__init__(model)
        self.tau, self.warm_up = tau, warm_up

    def _keep(self) -> float:
        done = int(self.updates)
        return min(self.tau, (1 + done) / (10 + done)) if self.warm_up else self.tau


class SWA(_Average):
    r"""Stochastic weight averaging: the plain mean of the weights at every update, usually once per epoch.

    .. math:: \bar w_T = \frac1T \sum_{t=1}^{T} w_t

    Parameters
    ----------
    model : nn.Module
        It is copied; before the first update the copy is the model.

    Notes
    -----
    Call :func:`reestimate_batch_norm` before evaluation, as for :class:`EMA`.

    References
    ----------
    Izmailov et al. (2018), UAI.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import SWA
    >>> layer = torch.nn.Linear(1, 1)
    >>> average = SWA(layer)
    >>> for value in (1.0, 2.0, 6.0):
    ...     _ = torch.nn.init.constant_(layer.bias, value)
    ...     average.update(layer)
    >>> round(average.model.bias.item(), 4)
    3.0
    """

    def _keep(self) -> float:
        done = int(self.updates)
        return done / (done + 1)


class _Moments:
    """Mean and variance of each channel over all batches, pooled exactly."""

    def __init__(self) -> None:
        self.n = 0
        self.mean: Any = 0.0
        self.squares: Any = 0.0

    def add(self, _: nn.Module, given: tuple[Tensor, ...]) -> None:
        x = given[0].detach()
        x = x.transpose(0, 1).reshape(x.shape[1], -1).double()
        n, mean = x.shape[1], x.mean(dim=1)
        squares = (x - mean[:, None]).square().sum(dim=1)
        step = mean - self.mean
        total = self.n + n
        self.squares = self.squares + squares + step.square() * (self.n * n / total)
        self.mean = self.mean + step * (n / total)
        self.n = total


@torch.no_grad()
def reestimate_batch_norm(
    model: nn.Module, batches: Iterable[Batch], *, read: Callable[[Batch], Any] = lambda batch: batch[0]
) -> nn.Module:
    r"""Compute the running statistics of batch norm anew, from one pass over the data.

    Every layer normalises by its batch, as in training, and gets the mean and the (unbiased) variance of all that it
    saw: those of the full data set, whatever the sizes of the batches. A mean of the batches' variances, which a
    cumulative running average gives, would miss the spread of their means.

    Parameters
    ----------
    model : nn.Module
        Changed in place; all other layers stand in evaluation mode, so that dropout does not inflate the variance.
    batches : iterable
        The training set in clean images, in batches as in training.
    read : callable
        ``read(batch) -> inputs``; default: the first of a pair.

    Returns
    -------
    nn.Module
        The model.

    Raises
    ------
    ValueError
        No batch.

    References
    ----------
    Izmailov et al. (2018), UAI: Section 3.2. "From Misclassifications to Outliers": A.5, where it is called ReBN.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import reestimate_batch_norm
    >>> layer = torch.nn.BatchNorm1d(1)
    >>> data = torch.tensor([[0.0], [1.0], [2.0], [9.0]])
    >>> _ = reestimate_batch_norm(layer, [(data[:3],), (data[3:],)])
    >>> layer.running_mean, layer.running_var
    (tensor([3.]), tensor([16.6667]))
    """
    layers = batch_norm_layers(model)
    if not layers:
        return model
    moments = {layer: _Moments() for layer in layers}
    handles = [layer.register_forward_pre_hook(moments[layer].add) for layer in layers]
    place, seen = device_of(model), 0
    try:
        with evaluation_mode(model), frozen_statistics(model):
            for batch in batches:
                inputs = read(batch)
                for layer in layers:  # a batch of one image without area has no variance
                    layer.train(len(inputs) > 1 or seen == 0)
                model(inputs.to(place) if hasattr(inputs, "to") else inputs)
                seen += 1
    finally:
        for handle in handles:
            handle.remove()
    if not seen:
        raise ValueError("batches holds none; give the training set, clean, in batches")
    for layer in layers:
        found = moments[layer]
        if found.n:
            layer.running_mean.copy_(found.mean)
            layer.running_var.copy_(found.squares / max(found.n - 1, 1))
    return model
