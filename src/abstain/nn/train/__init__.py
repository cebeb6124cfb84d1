"""Train a recipe of a paper: ``abstain train``, or these functions."""

from typing import TYPE_CHECKING, Any

from abstain._extras import lacking
from abstain.nn.train._plan import Plan, plan
from abstain.nn.train._recipes import names, recipe
from abstain.nn.train._settings import Recipe

if TYPE_CHECKING:
    from abstain.nn.train._run import fit as fit

__all__ = ["Plan", "Recipe", "fit", "names", "plan", "recipe"]


def __getattr__(name: str) -> Any:
    """Load what stands on Lightning when it is first used."""
    if name != "fit":
        raise AttributeError(f"module 'abstain.nn.train' has no attribute {name!r}")
    try:
        from abstain.nn.train._run import fit
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "lightning":
            raise
        raise ModuleNotFoundError(lacking("training", "Lightning", extra="train"), name=error.name) from error
    globals()["fit"] = fit
    return fit
