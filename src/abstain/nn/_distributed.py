"""One vector from the vectors of all processes, which need not be equally long."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor


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
