"""Train a recipe of a paper: ``abstain train``, or these functions."""

from typing import Any

from abstain._extras import need
from abstain._lazy import on_demand

__all__ = ["fit", "names", "plan", "recipe"]

_load, __dir__ = on_demand(__name__)


def __getattr__(name: str) -> Any:
    """Load a name, or report what to install for it."""
    if name == "fit":
        need("training", "lightning", extra="train")
    return _load(name)
