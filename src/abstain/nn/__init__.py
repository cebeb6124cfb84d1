"""Training with PyTorch: objectives, live metrics, scores of the model itself. Needs the extra ``torch``.

What stands behind it is listed in ``__init__.pyi``, and loaded when it is first used.
"""

from typing import Any

from abstain._extras import need
from abstain._lazy import on_demand

need("abstain.nn", "torch", extra="torch")
__all__ = ["AUGRCLoss", "AURCLoss", "CWSALoss", "ConfidenceHead", "CorrectnessRankingLoss", "DeVriesLoss"]
__all__ += ["DeepGamblersLoss", "SELELoss", "SelectiveCheckpoint", "SelectiveMetrics", "bayesian_aurc_loss"]
__all__ += ["confidnet_loss", "ensemble_logits", "extract", "fit_gram", "gradnorm", "gram_score", "loss_weights"]
__all__ += ["mc_dropout", "odin", "passes_confidence", "rank_weighted_loss", "reservation_confidence"]

#: What a name needs in addition to PyTorch, and the extra that installs it.
_NEEDS = {"SelectiveCheckpoint": ("lightning", "lightning"), "SelectiveMetrics": ("torchmetrics", "torch")}
_load, __dir__ = on_demand(__name__)


def __getattr__(name: str) -> Any:
    """Load a name, or report what to install for it."""
    if name in _NEEDS:
        library, extra = _NEEDS[name]
        need(name, library, extra=extra)
    return _load(name)
