"""Scores that need the model itself: GradNorm over all parameters, ODIN, Gram matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from abstain._checks import positive
from abstain.nn._confidence import at_least_float32, device_of, evaluation_mode, in_float64


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
        In [0, inf), higher = more confident.

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


def odin(
    model: nn.Module,
    inputs: Tensor,
    *,
    temperature: float = 1000.0,
    epsilon: float = 0.0014,
    std: Tensor | Sequence[float] | float | None = None,
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
        Size of the step in the units of the image before normalisation.
    std : float or Tensor, optional
        What inputs were divided by in normalisation, e.g. one number per channel of shape (3, 1, 1).

    Returns
    -------
    Tensor of shape (n_samples,)
        Float64, higher = more confident. At T = 1000 probabilities differ by about one per cent of 1/K: a float32
        probability would tie many of them.

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


@dataclass(frozen=True, eq=False)
class GramStatistics:
    """What :func:`fit_gram` learnt: per layer the range of every statistic per class, and the usual deviation.

    Parameters
    ----------
    layers : tuple of str
        Names of the modules that are recorded.
    orders : tuple of int
    low, high : tuple of Tensor of shape (n_classes, n_orders, n_channels)
        One per call of a layer.
    scale : Tensor of shape (n_calls,)
        Mean deviation on held-out data, which makes layers comparable.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> batch = (torch.randn(20, 4, generator=torch.Generator().manual_seed(0)), torch.arange(20) % 2)
    >>> nn.fit_gram(model, [batch], [batch], n_classes=2).layers
    ('1',)
    """

    layers: tuple[str, ...]
    orders: tuple[int, ...]
    low: tuple[Tensor, ...]
    high: tuple[Tensor, ...]
    scale: Tensor


def _statistics(activation: Tensor, orders: Sequence[int]) -> Tensor:
    """Row sums of the Gram matrices of all orders, (n, n_orders, n_channels), without forming a Gram matrix.

    sum_d (F^p F^pT)_cd = F^p_c . sum_d F^p_d, then the signed p-th root.
    """
    values = in_float64(activation.detach())
    channels = values.flatten(2) if values.ndim > 2 else values[..., None]
    found = []
    for order in orders:
        powers = channels**order
        rows = torch.einsum("ncl,nl->nc", powers, powers.sum(dim=1))
        found.append(rows.sign() * rows.abs() ** (1.0 / order))
    return torch.stack(found, dim=1)


@contextmanager
def _recorded(model: nn.Module, names: Sequence[str], orders: Sequence[int]) -> Iterator[list[Tensor]]:
    """Collect statistics of what the named modules return, in order of their calls: one ReLU may serve a whole block.

    They are computed at once, since an activation that works in place overwrites what came before it.
    """
    seen: list[Tensor] = []

    def keep(module: nn.Module, inputs: object, output: Tensor) -> None:
        seen.append(_statistics(output, orders))

    modules = dict(model.named_modules())
    handles = [modules[name].register_forward_hook(keep) for name in names]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def _deviation(stats: GramStatistics, which: int, values: Tensor, predicted: Tensor) -> Tensor:
    """Relative distance from the range of the predicted class, summed over orders and channels."""
    low, high = (bound[which].to(values.device)[predicted.to(values.device)] for bound in (stats.low, stats.high))
    below = (low - values).relu() / (low + 1e-6).abs()
    above = (values - high).relu() / (high + 1e-6).abs()
    return (below + above).sum(dim=(1, 2))


@torch.no_grad()
def fit_gram(
    model: nn.Module,
    train: Iterable[tuple[Tensor, Tensor]],
    held_out: Iterable[tuple[Tensor, Tensor]],
    *,
    n_classes: int,
    orders: Sequence[int] = (1, 2, 3, 4, 5),
    layers: Sequence[str] | None = None,
) -> GramStatistics:
    """Learn the ranges of Gram statistics per class, streaming: memory does not grow with the data.

    Parameters
    ----------
    model : nn.Module
        From inputs to logits; evaluated in evaluation mode on the device where it lies.
    train, held_out : iterable of (inputs, labels)
        Ranges come from the first (by true label), the scale of each layer from the second (by predicted class).
    n_classes : int
    orders : sequence of int
        Powers of the activations.
    layers : sequence of str, optional
        Names of modules to record; default all ``Conv2d`` and ``ReLU`` modules. Functional ReLUs cannot be recorded.

    Returns
    -------
    GramStatistics

    Raises
    ------
    ValueError
        No layer to record, or an unknown one; no batch; a class without a training sample.

    References
    ----------
    Sastry & Oore (2020), ICML.

    Examples
    --------
    See :class:`GramStatistics` and :func:`gram_score`.

    >>> from abstain import nn
    >>> callable(nn.fit_gram)
    True
    """
    modules = dict(model.named_modules())
    names = tuple(layers or (name for name, module in modules.items() if isinstance(module, (nn.Conv2d, nn.ReLU))))
    unknown = [name for name in names if name not in modules]
    if unknown or not names:
        problem = f"layers {unknown} are not modules of the model" if unknown else "there is no Conv2d or ReLU module"
        raise ValueError(f"{problem}; give layers=, some of {', '.join(name for name in modules if name)}")
    low: list[Tensor] = []
    high: list[Tensor] = []
    device = device_of(model)
    with evaluation_mode(model), _recorded(model, names, orders) as seen:
        for inputs, labels in train:
            seen.clear()
            model(inputs.to(device))
            for which, values in enumerate(seen):
                if len(low) <= which:
                    low.append(values.new_full((n_classes, *values.shape[1:]), torch.inf))
                    high.append(values.new_full((n_classes, *values.shape[1:]), -torch.inf))
                index = labels.to(values.device)[:, None, None].expand_as(values)
                low[which].scatter_reduce_(0, index, values, "amin")
                high[which].scatter_reduce_(0, index, values, "amax")
        if not low:
            raise ValueError("train holds no batch; give at least one")
        absent = low[0].flatten(1)[:, 0].isinf().nonzero().flatten().tolist()
        if absent:
            raise ValueError(f"train holds no sample of the classes {absent}; without a range nothing can leave it")
        stats = GramStatistics(names, tuple(orders), tuple(low), tuple(high), low[0].new_ones(len(low)))
        total, n = low[0].new_zeros(len(low)), 0
        for inputs, _ in held_out:
            seen.clear()
            predicted = model(inputs.to(device)).argmax(dim=-1)
            for which, values in enumerate(seen):
                total[which] += _deviation(stats, which, values, predicted).sum()
            n += len(predicted)
    if not n:
        raise ValueError("held_out holds no sample; without any, layers cannot be made comparable")
    scale = torch.where(total > 0.0, total / n, 1.0)
    return GramStatistics(names, tuple(orders), tuple(low), tuple(high), scale)


@torch.no_grad()
def gram_score(model: nn.Module, inputs: Tensor, statistics: GramStatistics) -> Tensor:
    r"""Return the Gram-matrix score of a batch.

    .. math:: s = -\frac{1}{\max_k p_k}\sum_{l} \frac{\delta_l(x)}{\bar\delta_l}, \qquad
              \delta_l = \sum_{p, c} \frac{(\text{low} - g)_+}{|\text{low}|} + \frac{(g - \text{high})_+}{|\text{high}|}

    with the row sums g of layer l's Gram matrix of order p and their range over training data of the predicted class.

    Parameters
    ----------
    model : nn.Module
    inputs : Tensor of shape (n_samples, ...)
    statistics : GramStatistics
        From :func:`fit_gram`.

    Returns
    -------
    Tensor of shape (n_samples,)
        Float64 in (-inf, 0], higher = more confident; 0: inside all ranges.

    References
    ----------
    Sastry & Oore (2020), ICML.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> _ = torch.manual_seed(6)
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> x = torch.randn(200, 4, generator=torch.Generator().manual_seed(0))
    >>> data = [(x, model(x).argmax(1))]
    >>> statistics = nn.fit_gram(model, data, data, n_classes=2)
    >>> near, far = nn.gram_score(model, x, statistics), nn.gram_score(model, 50 * x, statistics)
    >>> bool((near == 0).all()), bool((far < 0).all())
    (True, True)
    """
    with evaluation_mode(model), _recorded(model, statistics.layers, statistics.orders) as seen:
        logits = in_float64(model(inputs.to(device_of(model))))
    predicted = logits.argmax(dim=-1)
    total = torch.zeros_like(logits[:, 0])
    for which, values in enumerate(seen):
        total += _deviation(statistics, which, values, predicted) / statistics.scale[which].to(total.device)
    return -total / logits.softmax(dim=-1).amax(dim=-1)
