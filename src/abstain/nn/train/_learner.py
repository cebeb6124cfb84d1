"""A network with the branches that objectives add to it, the loss of the clean batch, and what is kept of every set."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor, nn

from abstain._typing import Array, ArrayLike
from abstain.nn._confidence import DROPOUT, evaluation_mode, mc_dropout
from abstain.nn._cwsa import CWSALoss
from abstain.nn._extract import host, joined, layer
from abstain.nn._learned_confidence import (
    ConfidenceHead,
    DeepGamblersLoss,
    DeVriesLoss,
    confidnet_loss,
    reservation_confidence,
)
from abstain.nn._model_scores import GramStatistics, fit_gram, gram_score, odin
from abstain.nn._rank_losses import AUGRCLoss, AURCLoss, SELELoss
from abstain.nn.data import Images
from abstain.nn.ingredients._terms import cross_entropy
from abstain.nn.networks import Network
from abstain.nn.train._recipes import Extract, Objective, Recipe, Stage
from abstain.outputs import Outputs


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
        name = stage.objective.name
        self.requires_grad_(stage.trains == "all")
        if self.body is not None:
            self.body.requires_grad_(stage.trains == "copy")
            if stage.trains == "copy":
                self.body.load_state_dict(self.network.body.state_dict())
        if self.branch is not None:  # without a gradient, DDP would wait for it
            self.branch.requires_grad_(name in _ON_BRANCH)
        if self.reservation is not None:
            self.reservation.requires_grad_(name == "deep_gamblers")

    def mode(self, stage: Stage) -> None:
        """Train what learns; a frozen network stays in evaluation mode, and so does a copy.

        With ``body_dropout`` the frozen network drops units all the same, while the branch alone is trained.
        """
        self.train(stage.trains == "all")
        if self.branch is not None:
            self.branch.train()
        if stage.trains == "confidence" and stage.body_dropout:
            for part in self.network.modules():
                if isinstance(part, DROPOUT):
                    part.train()

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


class Criterion(nn.Module):
    """An objective with its state: the weight of DeVries & Taylor, the epoch of Deep Gamblers."""

    def __init__(self, settings: Objective) -> None:
        super().__init__()
        self.settings = settings
        self.loss: Callable[..., Tensor] = _LOSSES[settings.name](settings)

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins."""
        if isinstance(self.loss, DeepGamblersLoss):
            self.loss.set_epoch(epoch)

    def forward(self, learner: Learner, features: Tensor, logits: Tensor, y: Tensor) -> Tensor:
        """Return the loss of the clean batch."""
        name, branch = self.settings.name, learner.branch
        if name == "deep_gamblers" and learner.reservation is not None:
            logits = torch.cat([logits, learner.reservation(features)], dim=1)
        inputs = (logits, branch(features), y) if branch is not None and name in _ON_BRANCH else (logits, y)
        value: Tensor = self.loss(*inputs)
        return value + self.settings.cross_entropy * cross_entropy(logits, y) if name == "cwsa" else value


#: Objectives that train the confidence branch.
_ON_BRANCH = ("confidnet", "devries")
_LOSSES: dict[str, Callable[[Objective], Callable[..., Tensor]]] = {
    "ce": lambda s: cross_entropy,
    "confidnet": lambda s: lambda logits, confidence, y: confidnet_loss(confidence, logits, y),
    "aurc": lambda s: AURCLoss(s.estimator, unit_mean=s.unit_mean),
    "sele": lambda s: SELELoss(unit_mean=s.unit_mean),
    "augrc": lambda s: AUGRCLoss(unit_mean=s.unit_mean),
    "cwsa": lambda s: CWSALoss(threshold=s.threshold),
    "deep_gamblers": lambda s: DeepGamblersLoss(s.reward, s.warm_up),
    "devries": lambda s: DeVriesLoss(s.budget, hint_share=s.hint_share),
}


#: Images that go through the network at once.
BATCH = 250


class Extractor:
    """Extracts outputs of a trained learner; Gram statistics are fitted once."""

    def __init__(self, learner: Learner, settings: Extract, train: Images, validation: Images, seed: int) -> None:
        self.learner, self.settings, self.seed = learner.eval(), settings, seed
        self.device = next(learner.parameters()).device
        self.plain: Network = learner.network.plain().eval()
        head = self.plain.head
        last = head[-1] if isinstance(head, nn.Sequential) else head
        self.linear = last if isinstance(last, nn.Linear) else None
        self.early, self.late = _split(learner.network)
        self.gram: GramStatistics | None = None
        if settings.gram:
            fitted, scaled = (images.batches(BATCH, self.device) for images in (train, validation))
            self.gram = fit_gram(learner.network, fitted, scaled, n_classes=train.n_classes)

    def outputs(self, images: Images, groups: Mapping[str, ArrayLike] | None = None) -> Outputs:
        """Return the outputs of a set; out-of-distribution images come without labels."""
        parts = [self._batch(x, number) for number, (x, _) in enumerate(images.batches(BATCH, self.device))]
        columns = joined(parts)
        scores = {name.removeprefix("score "): columns.pop(name) for name in list(columns) if name[:6] == "score "}
        ood = bool((images.labels < 0).all())
        return Outputs(
            labels=None if ood else images.labels.numpy(),
            unlabelled=ood,
            head=layer(self.linear),
            scores=scores,
            groups=dict(groups or {}),
            class_names=images.class_names,
            **columns,
        )

    def _batch(self, x: Tensor, number: int) -> dict[str, Array]:
        settings, network = self.settings, self.learner.network
        with torch.no_grad(), evaluation_mode(self.learner):
            features = network.features(x)
            logits = network.head(features)
            head = self.plain.head
            shown = head[0](features) if isinstance(head, nn.Sequential) else features
            row = {"logits": host(logits), "features": host(shown)}
            for name, column in self.learner.columns(x, features, logits):
                row[f"score {name}"] = host(column)
            early = self.early(x) if settings.passes else None
        if early is not None:
            many = mc_dropout(self.late, early, settings.passes, seed=self.seed + number)
            row["passes"] = host(many.softmax(dim=-1))
        if settings.odin:
            scores = odin(network, x, temperature=settings.odin_temperature, epsilon=settings.odin_epsilon)
            row["score odin"] = scores.cpu().numpy()
        if self.gram is not None:
            row["score gram"] = gram_score(network, x, self.gram).cpu().numpy()
        return row

    def judged_on(self) -> dict[str, dict[str, str]]:
        """Return which predictions each kind of score is judged on."""
        named = [name for name, wanted in (("odin", self.settings.odin), ("gram", self.settings.gram)) if wanted]
        named += ["reservation"] if self.learner.reservation is not None else []
        named += ["learned_confidence"] if self.learner.branch is not None else []
        table = {name: {"judged_on": "logits"} for name in ["scores of logits, features and head", *named]}
        if self.settings.passes:
            table["scores of passes"] = {"judged_on": "passes: the largest mean probability"}
        return table


def _split(network: Network) -> tuple[nn.Module, nn.Module]:
    """Return a network in two parts: what comes before the first dropout is the same in every pass."""
    layers = list(network.body) if isinstance(network.body, nn.Sequential) else [network.body]
    drops = [any(isinstance(part, DROPOUT) for part in layer.modules()) for layer in layers]
    if type(network) is not Network or not any(drops):
        return nn.Identity(), network
    first = drops.index(True)
    return nn.Sequential(network.before, *layers[:first]), nn.Sequential(*layers[first:], network.head)
