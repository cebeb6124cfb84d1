"""The PyTorch wing: objectives, live metrics, model-based scores. Needs the extra ``torch``.

What stands on torchmetrics or Lightning is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from abstain._extras import lacking

try:
    import torch as torch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(lacking("abstain.nn", "PyTorch", extra="torch"), name=error.name) from error

from abstain.nn._crl import CorrectnessRankingLoss, crl_loss
from abstain.nn._cwsa import CWSALoss, smooth_cwsa
from abstain.nn._extract import extract, final_linear
from abstain.nn._learned_confidence import (
    ConfidenceHead,
    DeepGamblersLoss,
    DeVriesLoss,
    confidnet_loss,
    deep_gamblers_loss,
    devries_losses,
    reservation_confidence,
)
from abstain.nn._model_scores import GramStatistics, fit_gram, gradnorm, gram_score, odin
from abstain.nn._passes import dropout_active, ensemble_logits, mc_dropout, passes_confidence
from abstain.nn._rank_losses import AUGRCLoss, AURCLoss, SELELoss, bayesian_aurc_loss, rank_weighted_loss
from abstain.nn._rank_weights import loss_weights

if TYPE_CHECKING:
    from abstain.nn._callback import SelectiveCheckpoint as SelectiveCheckpoint
    from abstain.nn._live import SelectiveMetrics as SelectiveMetrics

__all__ = ["AUGRCLoss", "AURCLoss", "CWSALoss", "ConfidenceHead", "CorrectnessRankingLoss", "DeVriesLoss"]
__all__ += ["DeepGamblersLoss", "SELELoss", "bayesian_aurc_loss", "confidnet_loss", "crl_loss"]
__all__ += ["deep_gamblers_loss", "devries_losses", "loss_weights", "rank_weighted_loss", "reservation_confidence"]
__all__ += ["SelectiveCheckpoint", "SelectiveMetrics", "smooth_cwsa"]
__all__ += ["GramStatistics", "dropout_active", "ensemble_logits", "extract", "final_linear", "fit_gram", "gradnorm"]
__all__ += ["gram_score", "mc_dropout", "odin", "passes_confidence"]

#: Names that need another library: their leaf, and what to install.
_LATE = {"SelectiveCheckpoint": ("_callback", "lightning"), "SelectiveMetrics": ("_live", "torchmetrics")}


def __getattr__(name: str) -> Any:
    """Load a name that stands on torchmetrics or Lightning."""
    from importlib import import_module

    if name not in _LATE:
        raise AttributeError(f"module 'abstain.nn' has no attribute {name!r}")
    leaf, library = _LATE[name]
    try:
        value = getattr(import_module(f"abstain.nn.{leaf}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("torchmetrics", "lightning"):
            raise
        extra = "lightning" if library == "lightning" else "torch"
        raise ModuleNotFoundError(lacking(name, library, extra=extra), name=error.name) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
