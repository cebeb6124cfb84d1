"""Each objective as: what it adds to the network, its loss of a batch, and the confidence that it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from abstain.nn import (
    AUGRCLoss,
    AURCLoss,
    ConfidenceHead,
    CorrectnessRankingLoss,
    CWSALoss,
    DeVriesLoss,
    SELELoss,
    confidnet_loss,
    deep_gamblers_loss,
    reservation_confidence,
)
from abstain.nn._confidence import in_float64
from experiments.fine_tuning._network import Network

#: loss(features, logits, target, index of the samples)
BatchLoss = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
#: confidence(features, logits)
Score = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Prepared:
    """An objective on one network: parameters to train, loss, confidence, and what to do after a step."""

    parameters: list[nn.Parameter]
    loss: BatchLoss
    confidence: Score
    after: Callable[[Tensor, Tensor, Tensor], None] | None = None


def msp(features: Tensor, logits: Tensor) -> Tensor:
    """Maximum log-probability."""
    return in_float64(logits).log_softmax(dim=1).amax(dim=1)


def _plain(criterion: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Network, int], Prepared]:
    """An objective of logits and labels."""

    def prepare(network: Network, n_samples: int) -> Prepared:
        return Prepared(list(network.parameters()), lambda features, logits, y, index: criterion(logits, y), msp)

    return prepare


def _crl(network: Network, n_samples: int) -> Prepared:
    ranking = CorrectnessRankingLoss(n_samples).to(network.head.weight.device)

    def loss(features: Tensor, logits: Tensor, y: Tensor, index: Tensor) -> Tensor:
        total: Tensor = nn.functional.cross_entropy(logits, y) + ranking(logits, index)
        return total

    return Prepared(list(network.parameters()), loss, msp, ranking.update)


def _cwsa(network: Network, n_samples: int) -> Prepared:
    criterion = CWSALoss(threshold=0.5)

    def loss(features: Tensor, logits: Tensor, y: Tensor, index: Tensor) -> Tensor:
        total: Tensor = nn.functional.cross_entropy(logits, y) + criterion(logits, y)
        return total

    return Prepared(list(network.parameters()), loss, msp)


def _deep_gamblers(network: Network, n_samples: int) -> Prepared:
    reservation = nn.Linear(network.n_features, 1).to(network.head.weight.device)
    nn.init.zeros_(reservation.weight)

    def both(features: Tensor, logits: Tensor) -> Tensor:
        return torch.cat([logits, reservation(features)], dim=1)

    def loss(features: Tensor, logits: Tensor, y: Tensor, index: Tensor) -> Tensor:
        return deep_gamblers_loss(both(features, logits), y, reward=2.2)

    def confidence(features: Tensor, logits: Tensor) -> Tensor:
        return reservation_confidence(both(features, logits))

    return Prepared([*network.parameters(), *reservation.parameters()], loss, confidence)


def _devries(network: Network, n_samples: int) -> Prepared:
    branch = ConfidenceHead(network.n_features, hidden=()).to(network.head.weight.device)
    criterion = DeVriesLoss().to(network.head.weight.device)

    def loss(features: Tensor, logits: Tensor, y: Tensor, index: Tensor) -> Tensor:
        total: Tensor = criterion(logits, branch(features), y)
        return total

    return Prepared([*network.parameters(), *branch.parameters()], loss, lambda features, logits: branch(features))


def _confidnet(network: Network, n_samples: int) -> Prepared:
    branch = ConfidenceHead(network.n_features, hidden=(100, 100)).to(network.head.weight.device)

    def loss(features: Tensor, logits: Tensor, y: Tensor, index: Tensor) -> Tensor:
        return confidnet_loss(branch(features.detach()), logits, y)

    return Prepared(list(branch.parameters()), loss, lambda features, logits: branch(features))


#: Rank losses with unit mean weight, so that one learning rate is right for all of them.
OBJECTIVES: dict[str, Callable[[Network, int], Prepared]] = {
    "CE": _plain(nn.functional.cross_entropy),
    "AURC harmonic": _plain(AURCLoss(unit_mean=True)),
    "AURC log": _plain(AURCLoss("log", unit_mean=True)),
    "SELE": _plain(SELELoss(unit_mean=True)),
    "AUGRC": _plain(AUGRCLoss(unit_mean=True)),
    "CE + CRL": _crl,
    "CE + CWSA": _cwsa,
    "Deep Gamblers": _deep_gamblers,
    "DeVries": _devries,
    "ConfidNet": _confidnet,
}
