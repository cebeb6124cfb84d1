"""Training with PyTorch: objectives, live metrics, scores of the model itself. Needs the extra ``torch``.

What stands behind it is listed in ``__init__.pyi``, and loaded when it is first used.
"""

from typing import Any

from abstain._extras import need
from abstain._lazy import on_demand

need("abstain.nn", "torch", extra="torch")
__all__ = ["AUGRCLoss", "AURCLoss", "CWSALoss", "ConfidenceHead", "CorrectnessRankingLoss", "DeVriesLoss"]
__all__ += ["DeepGamblersLoss", "SELELoss", "bayesian_aurc_loss", "confidnet_loss", "crl_loss"]
__all__ += ["deep_gamblers_loss", "devries_losses", "loss_weights", "rank_weighted_loss", "reservation_confidence"]
__all__ += ["SelectiveCheckpoint", "SelectiveMetrics", "smooth_cwsa"]
__all__ += ["GramStatistics", "dropout_active", "ensemble_logits", "extract", "final_linear", "fit_gram", "gradnorm"]
__all__ += ["gram_score", "mc_dropout", "odin", "passes_confidence"]

#: What a name needs in addition to PyTorch, and the extra that installs it.
_NEEDS = {"SelectiveCheckpoint": ("lightning", "lightning"), "SelectiveMetrics": ("torchmetrics", "torch")}
_load, __dir__ = on_demand(__name__)


def __getattr__(name: str) -> Any:
    """Load a name, or report what to install for it."""
    if name in _NEEDS:
        library, extra = _NEEDS[name]
        need(name, library, extra=extra)
    return _load(name)
