"""The bins of a summary as tensors: the same key and columns, added up without leaving the device."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from abstain.summaries import COLUMNS as OF_SUMMARY
from abstain.summaries import Key

_REDUCTIONS = {np.add: "sum", np.minimum: "min", np.maximum: "max"}
#: Columns of a histogram: what an empty bin holds, and how those of two processes combine.
COLUMNS = {name: (float(empty), _REDUCTIONS[combine]) for name, (_, empty, combine) in OF_SUMMARY.items()}


def bin_of(score: Tensor, key: Key) -> Tensor:
    """Return each score's bin, as :meth:`Key.of` does; a score that is no probability gets some bin of them."""
    missing = score == -torch.inf
    magnitude = 1.0 - score.clamp(0.0, 1.0) if key.scale == "probability" else score.abs()
    found = (magnitude.view(torch.int64) >> (52 - key.steps)) - ((1023 - key.orders) << key.steps)
    if key.scale == "probability":
        found = (found + 1).clamp(min=0)
    else:
        half = key.bins >> 1
        found = found.clamp(0, half - 1)
        found = torch.where(score > 0.0, half - 1 - found, (half + found).clamp(max=key.bins - 2))
    return found.masked_fill(missing, key.bins - 1)


def add(columns: dict[str, Tensor], index: Tensor, score: Tensor, loss: Tensor) -> None:
    """Add samples to the columns, in place, without leaving the device."""
    columns["n"].index_add_(0, index, torch.ones_like(loss))
    columns["loss_sum"].index_add_(0, index, loss)
    columns["other_losses"].index_add_(0, index, ((loss != 0.0) & (loss != 1.0)).double())
    columns["lowest"].scatter_reduce_(0, index, score, "amin")
    columns["highest"].scatter_reduce_(0, index, score, "amax")
    columns["largest_loss"].scatter_reduce_(0, index, loss, "amax")
