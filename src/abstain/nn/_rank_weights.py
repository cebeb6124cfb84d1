"""Training weights: how much each sample's loss counts in a rank metric, from the ranks of the confidences.

For a metric that is linear in the losses, the derivative with respect to loss i is a weight that depends on the rank
of sample i alone. Ranks are piecewise constant, so the weights are constants for autograd.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from abstain._checks import one_of


def gather_vector(vector: Tensor) -> tuple[Tensor, list[int]]:
    """Return the vectors of all processes one after the other, and their lengths; no gradient passes."""
    if vector.ndim != 1:
        raise ValueError(f"distributed ranks need one dimension, got shape {tuple(vector.shape)}; use .ravel()")
    world = dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1
    if world == 1:
        return vector, [len(vector)]
    own = torch.tensor([len(vector)], device=vector.device)
    lengths = [torch.zeros_like(own) for _ in range(world)]
    dist.all_gather(lengths, own)
    sizes = [int(length) for length in lengths]
    padded = vector.new_zeros(max(sizes))
    padded[: len(vector)] = vector
    parts = [torch.empty_like(padded) for _ in sizes]
    dist.all_gather(parts, padded)
    return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)]), sizes


def own_part(everything: Tensor, sizes: list[int]) -> Tensor:
    """Return this process's part of a gathered vector."""
    rank = dist.get_rank() if len(sizes) > 1 else 0
    start = sum(sizes[:rank])
    return everything[start : start + sizes[rank]]


RankEstimator = Literal["harmonic", "log", "plugin", "sele", "augrc"]
Ties = Literal["order", "exact"]
_ESTIMATORS, _TIES = get_args(RankEstimator), get_args(Ties)
_CPU = torch.device("cpu")
_TABLES: dict[tuple[object, ...], Tensor] = {}
_MOST_TABLES = 64  # batch sizes are few; a caller with changing sizes must not collect tables for ever


def _build(estimator: RankEstimator, n: int, cumulative: bool, device: torch.device) -> Tensor:
    """Weights by ascending rank r = 1..n, or their cumulative sums from 0, in float64."""
    rank = torch.arange(1, n + 1, dtype=torch.float64, device=device)
    match estimator:
        case "harmonic" | "plugin":
            weights = (1.0 / (n + 1.0 - rank)).cumsum(0)
        case "log":
            weights = -torch.log1p(-rank / (n + 1.0))
        case "sele":
            weights = rank / n
        case "augrc":
            weights = (rank - 0.5) / n
    return torch.cat([weights.new_zeros(1), weights.cumsum(0)]) if cumulative else weights


def _table(
    estimator: RankEstimator,
    n: int,
    dtype: torch.dtype,
    device: torch.device,
    cumulative: bool = False,
    per: float = 1.0,
) -> Tensor:
    """What ``_build`` gives over ``per``, remembered: building it costs more than the loss.

    It is built on the CPU for every device: there are float64 and a deterministic ``cumsum``.
    """
    if torch.compiler.is_compiling():  # a constant of the graph; a lookup would only guard on the dictionary
        place = _CPU if device.type == "mps" else device
        return _build(estimator, n, cumulative, place).to(device, dtype) * (1.0 / per)
    key = (estimator, n, dtype, device, cumulative, per)
    table = _TABLES.get(key)
    if table is None:
        with torch.inference_mode(False):  # else the table could never serve a training step
            table = _build(estimator, n, cumulative, _CPU).to(device, dtype) * (1.0 / per)
        if type(table) is not Tensor:  # fake tensors of a dry run must not serve real steps
            return table
        if len(_TABLES) >= _MOST_TABLES:
            _TABLES.clear()
        _TABLES[key] = table
    return table


def _exact(confidence: Tensor, estimator: RankEstimator, dtype: torch.dtype) -> Tensor:
    """Weights from the ranks lo + 1 .. hi that each tie spans; no loop and no data-dependent shape."""
    n = confidence.shape[-1]
    confidence = confidence.contiguous()
    ascending = confidence.sort(dim=-1).values
    high = torch.searchsorted(ascending, confidence, right=True)
    if estimator == "sele":
        return high.to(dtype) / n
    wide = dtype if confidence.device.type == "mps" else torch.float64
    if estimator == "plugin":  # sum over this block and those below of m_j / W_j, with W_j = n - lo_j accepted
        start = torch.searchsorted(ascending, ascending)
        steps = (n - start).to(wide).reciprocal_().cumsum(dim=-1)
        return steps.gather(-1, high - 1).to(dtype)
    low = torch.searchsorted(ascending, confidence)
    if estimator == "augrc":
        return (low + high).to(dtype) / (2 * n)
    total = _table(estimator, n, wide, confidence.device, cumulative=True)
    return ((total.take(high) - total.take(low)) / (high - low)).to(dtype)


def _by_numpy(confidence: Tensor, weights: Tensor) -> Tensor | None:
    """Return the weights by rank of a batch on the CPU, which NumPy sorts in a third of PyTorch's time.

    None for several batches, on a device, while compiling and where no memory is its own.
    """
    if confidence.ndim != 1 or not confidence.is_cpu or torch.compiler.is_compiling():
        return None
    try:
        scores, ascending = confidence.numpy(), weights.numpy()
    except (RuntimeError, TypeError):  # as under torch.func, or bfloat16
        return None
    ranked = np.empty_like(ascending)
    ranked[scores.argsort()] = ascending
    return torch.from_numpy(ranked)


def _refuse(confidence: Tensor, estimator: str, ties: str) -> None:
    """Refuse unknown options and what has no ranks."""
    if estimator not in _ESTIMATORS or ties not in _TIES:  # one_of in every step costs as much as a kernel
        one_of(estimator, _ESTIMATORS, "estimator")
        one_of(ties, _TIES, "ties")
    if confidence.ndim == 0 or confidence.shape[-1] == 0:
        raise ValueError(f"confidence has shape {tuple(confidence.shape)}; at least one sample is needed")


def weights_per(
    confidence: Tensor, estimator: RankEstimator, ties: Ties, dtype: torch.dtype, per: float = 1.0
) -> Tensor:
    """Return :func:`loss_weights` over ``per``, such as the number of samples, for which a table costs nothing."""
    _refuse(confidence, estimator, ties)
    confidence = confidence.detach()
    if ties == "exact":
        return _exact(confidence, estimator, dtype).mul_(1.0 / per)
    weights = _table(estimator, confidence.shape[-1], dtype, confidence.device, per=per)
    ranked = _by_numpy(confidence, weights)
    if ranked is not None:
        return ranked
    order = confidence.argsort(dim=-1)
    result = torch.empty_like(confidence, dtype=dtype)
    return result.scatter_(-1, order, weights if order.ndim == 1 else weights.expand(order.shape))


def loss_weights(
    confidence: Tensor,
    estimator: RankEstimator = "harmonic",
    *,
    ties: Ties = "order",
    distributed: bool = False,
    dtype: torch.dtype | None = None,
) -> Tensor:
    r"""Weight of each sample's loss in a rank metric of its batch; the metric is the mean of weight times loss.

    With ascending rank :math:`r_i` among n samples (n = most confident):

    ==========  ==================================  ==========================================
    estimator   weight                              mean of weight x loss is
    ==========  ==================================  ==========================================
    harmonic    :math:`H_n - H_{n-r}`               ``aurc(estimator="harmonic")``
    log         :math:`-\ln(1 - r/(n+1))`           ``aurc(estimator="log")``
    plugin      :math:`\sum_{j\ge k} m_j/W_j`       ``aurc(estimator="plugin")``
    sele        :math:`r/n`                         ``sele``
    augrc       :math:`(r - \frac12)/n`             ``augrc``
    ==========  ==================================  ==========================================

    Parameters
    ----------
    confidence : Tensor of shape (..., n)
        Confidence scores, higher = more confident; each row of the last dimension is a batch of its own.
    estimator : {"harmonic", "log", "plugin", "sele", "augrc"}
    ties : {"order", "exact"}
        ``"order"`` gives tied samples neighbouring ranks in no particular order. ``"exact"`` gives them the weight
        that the core's metric gives: mean of their ranks' weights (harmonic, log, augrc), the weight of the block
        (plugin), the largest rank (sele). Without ties both are the same.
    distributed : bool
        Rank among the batches of all processes of the default process group; sizes may differ. 1-d only.
    dtype : torch.dtype, optional
        Of the result; default float64 for float64 confidences, else float32.

    Returns
    -------
    Tensor of shape (..., n)
        Weights >= 0, without gradient, on the device of ``confidence``. Their mean is 1 (harmonic, plugin), a little
        less (log), (n + 1)/(2n) (sele) or 1/2 (augrc); with ``distributed`` the mean over all processes.

    Raises
    ------
    ValueError
        No samples; an unknown estimator or tie rule; ``distributed`` with more than one dimension.

    References
    ----------
    Zhou et al. (2025), ICML: Eq. 12, 13, 18, 33. Franc et al. (2023), JMLR 24(11). Traub et al. (2024), NeurIPS: Eq. 6.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> nn.loss_weights(torch.tensor([0.9, 0.5, 0.5, 0.1]), "augrc")
    tensor([0.8750, 0.3750, 0.6250, 0.1250])
    >>> nn.loss_weights(torch.tensor([0.9, 0.5, 0.5, 0.1]), "augrc", ties="exact")
    tensor([0.8750, 0.5000, 0.5000, 0.1250])
    """
    if dtype is None:
        dtype = torch.float64 if confidence.dtype == torch.float64 else torch.float32
    if not distributed:
        return weights_per(confidence, estimator, ties, dtype)
    _refuse(confidence, estimator, ties)
    everything, sizes = gather_vector(confidence.detach())
    return own_part(weights_per(everything, estimator, ties, dtype), sizes)
