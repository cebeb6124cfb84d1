"""Fixed score bins: integer images of floating-point scores, so that bins agree on every machine and add up."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Scale = Literal["probability", "real"]
#: Columns of a histogram: what an empty bin holds, and how those of two processes combine.
COLUMNS = {
    "count": (0.0, "sum"),
    "loss_sum": (0.0, "sum"),
    "lowest": (float("inf"), "min"),
    "highest": (float("-inf"), "max"),
    "largest": (0.0, "max"),
}
_ONE = 0x3F800000  # the bits of 1.0f
_SIGN = 0x80000000


def bin_shift(bins: int, scale: Scale) -> int:
    """Return how many low bits of a float32 image are dropped so that it fits into so many bins."""
    images = _ONE + 1 if scale == "probability" else 1 << 32
    shift = 0
    while (images - 1) >> shift >= bins:
        shift += 1
    return shift


def bin_of(score: Tensor, bins: int, scale: Scale) -> Tensor:
    """Return each score's bin; bins ascend as scores descend.

    ``"probability"``: the leading bits of 1 - p as float32, whose spacing is finest near p = 1, where the scores of a
    good classifier are (bits of p itself would be as coarse there as equal widths). ``"real"``: the leading bits of
    the score as float32 in the order of the reals. Rounding to float32 keeps the order.
    """
    shift = bin_shift(bins, scale)
    if scale == "probability":
        image = (1.0 - score).clamp(0.0, 1.0).float().view(torch.int32).to(torch.int64)
        return image >> shift
    bits = (score.float() + 0.0).view(torch.int32).to(torch.int64) & 0xFFFFFFFF
    ascending = torch.where(bits >= _SIGN, 0xFFFFFFFF - bits, bits + _SIGN)
    return (0xFFFFFFFF - ascending) >> shift


def add(columns: dict[str, Tensor], index: Tensor, score: Tensor, loss: Tensor) -> None:
    """Add samples to the columns, in place, without leaving the device."""
    columns["count"].index_add_(0, index, torch.ones_like(loss))
    columns["loss_sum"].index_add_(0, index, loss)
    columns["lowest"].scatter_reduce_(0, index, score, "amin")
    columns["highest"].scatter_reduce_(0, index, score, "amax")
    columns["largest"].scatter_reduce_(0, index, loss, "amax")
