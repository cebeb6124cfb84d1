"""The loss of the clean batch, for each objective of a recipe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from abstain.nn._confidnet import confidnet_loss
from abstain.nn._cwsa import CWSALoss
from abstain.nn._deep_gamblers import DeepGamblersLoss
from abstain.nn._devries import DeVriesLoss
from abstain.nn._rank_losses import AUGRCLoss, AURCLoss, SELELoss
from abstain.nn.ingredients._terms import cross_entropy
from abstain.nn.train._learner import Learner
from abstain.nn.train._settings import Objective

#: loss(learner, features of the branch, logits, labels)
CleanLoss = Callable[[Learner, Tensor, Tensor, Tensor], Tensor]


class Criterion(nn.Module):
    """An objective with its state: the weight of DeVries & Taylor, the epoch of Deep Gamblers."""

    def __init__(self, settings: Objective) -> None:
        super().__init__()
        self.settings = settings
        self.loss: Any = _MADE[settings.name](settings)

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins."""
        if isinstance(self.loss, DeepGamblersLoss):
            self.loss.set_epoch(epoch)

    def forward(self, learner: Learner, features: Tensor, logits: Tensor, y: Tensor) -> Tensor:
        """Return the loss of the clean batch."""
        name = self.settings.name
        value: Tensor
        if name == "ce":
            return cross_entropy(logits, y)
        if name == "deep_gamblers":
            assert learner.reservation is not None
            value = self.loss(torch.cat([logits, learner.reservation(features)], dim=1), y)
        elif name == "devries":
            assert learner.branch is not None
            value = self.loss(logits, learner.branch(features), y)
        elif name == "confidnet":
            assert learner.branch is not None
            value = confidnet_loss(learner.branch(features), logits, y)
        else:
            value = self.loss(logits, y)
        if name == "cwsa":
            value = value + self.settings.cross_entropy * cross_entropy(logits, y)
        return value


_MADE: dict[str, Callable[[Objective], Any]] = {
    "ce": lambda s: None,
    "confidnet": lambda s: None,
    "aurc": lambda s: AURCLoss(s.estimator, unit_mean=s.unit_mean),  # type: ignore[arg-type]
    "sele": lambda s: SELELoss(unit_mean=s.unit_mean),
    "augrc": lambda s: AUGRCLoss(unit_mean=s.unit_mean),
    "cwsa": lambda s: CWSALoss(threshold=s.threshold),
    "deep_gamblers": lambda s: DeepGamblersLoss(s.reward, s.warm_up),
    "devries": lambda s: DeVriesLoss(s.budget, hint_share=s.hint_share),
}
