"""TensorBoard: log a result next to the curves of a training."""

from __future__ import annotations

from typing import Any

from abstain._result import Result
from abstain.integrations._logged import logged

__all__ = ["log_result"]


def log_result(writer: Any, result: Result, *, name: str = "abstain", step: int = 0) -> None:
    """Log a result to a ``SummaryWriter``: its numbers as scalars, verdict and tables as text.

    Parameters
    ----------
    writer : torch.utils.tensorboard.SummaryWriter
        Or another writer with ``add_scalar`` and ``add_text``; of Lightning it is ``logger.experiment``.
    result : Result
    name : str
        Scalars are called ``abstain/augrc/msp``, ``abstain/augrc/msp/low``, ``abstain/verdict/coverage``, ..., and the
        text ``abstain``.
    step : int
        Of the training.
    """
    for key, value in logged(result, name)[0].items():
        writer.add_scalar(key, value, step)
    writer.add_text(name, result.to_markdown(), step)
