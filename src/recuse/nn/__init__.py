"""The PyTorch wing: objectives, live metrics, model-based scores. Needs the extra ``torch``.

What stands on torchmetrics or Lightning is loaded when it is first used.
"""

from __future__ import annotations

try:
    import torch as torch
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("recuse.nn needs PyTorch; pip install 'recuse[torch]'", name=error.name) from error

from recuse.nn._bayesian import bayesian_aurc_loss
from recuse.nn._confidnet import ConfidenceHead, confidnet_loss
from recuse.nn._crl import CorrectnessRankingLoss, crl_loss
from recuse.nn._cwsa import CWSALoss, smooth_cwsa
from recuse.nn._deep_gamblers import DeepGamblersLoss, deep_gamblers_loss, reservation_confidence
from recuse.nn._devries import DeVriesLoss, devries_losses
from recuse.nn._rank_losses import AUGRCLoss, AURCLoss, SELELoss, rank_weighted_loss
from recuse.nn._weights import loss_weights

__all__ = ["AUGRCLoss", "AURCLoss", "CWSALoss", "ConfidenceHead", "CorrectnessRankingLoss", "DeVriesLoss"]
__all__ += ["DeepGamblersLoss", "SELELoss", "bayesian_aurc_loss", "confidnet_loss", "crl_loss"]
__all__ += ["deep_gamblers_loss", "devries_losses", "loss_weights", "rank_weighted_loss", "reservation_confidence"]
__all__ += ["smooth_cwsa"]
