"""A network with the branches that objectives add to it."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from abstain.nn._confidnet import ConfidenceHead
from abstain.nn._deep_gamblers import reservation_confidence
from abstain.nn.networks import Network
from abstain.nn.train._settings import Recipe, Stage


class Learner(nn.Module):
    """Network, and where a stage needs it: a reservation, a confidence branch, and a copy of the body for it."""

    def __init__(self, network: Network, recipe: Recipe) -> None:
        super().__init__()
        self.network = network
        objectives = {stage.objective.name for stage in recipe.stage.values()}
        self.reservation = nn.Linear(network.n_features, 1) if "deep_gamblers" in objectives else None
        if self.reservation is not None:
            nn.init.zeros_(self.reservation.weight)
        self.branch: ConfidenceHead | None = None
        if "confidnet" in objectives:
            self.branch = ConfidenceHead(network.n_features)
        elif "devries" in objectives:
            self.branch = ConfidenceHead(network.n_features, hidden=())
        copies = any(stage.trains == "copy" for stage in recipe.stage.values())
        self.body = copy.deepcopy(network.body) if copies else None

    def start(self, stage: Stage) -> None:
        """Say which parameters learn in a stage; the copy of the body begins as the body is."""
        self.requires_grad_(stage.trains == "all")
        if stage.trains == "all":
            if self.body is not None:
                self.body.requires_grad_(False)
            if stage.objective.name in ("ce", "aurc", "sele", "augrc", "cwsa") and self.branch is not None:
                self.branch.requires_grad_(False)  # it comes later: without gradient, DDP would wait for it
            if stage.objective.name != "deep_gamblers" and self.reservation is not None:
                self.reservation.requires_grad_(False)
            return
        assert self.branch is not None
        self.branch.requires_grad_(True)
        if stage.trains == "copy" and self.body is not None:
            self.body.load_state_dict(self.network.body.state_dict())
            self.body.requires_grad_(True)

    def mode(self, stage: Stage) -> None:
        """Train what learns; a frozen network stays in evaluation mode, and so does a copy: no dropout there."""
        self.train(stage.trains == "all")
        if self.branch is not None:
            self.branch.train()

    def features(self, x: Tensor, stage: Stage) -> tuple[Tensor, Tensor]:
        """Return the features that the network's head sees, and those that the branch sees."""
        if stage.trains == "all":
            found = self.network.features(x)
            return found, found
        with torch.no_grad():
            found = self.network.features(x)
        if stage.trains == "copy" and self.body is not None:
            return found, self.body(self.network.before(x))
        return found, found

    def columns(self, x: Tensor, features: Tensor, logits: Tensor) -> Iterable[tuple[str, Tensor]]:
        """Yield the confidences that objectives have learnt, by name."""
        if self.reservation is not None:
            yield "reservation", reservation_confidence(torch.cat([logits, self.reservation(features)], dim=1))
        if self.branch is not None:
            seen = features if self.body is None else self.body(self.network.before(x))
            yield "learned_confidence", self.branch(seen)
