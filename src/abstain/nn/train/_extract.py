"""What is kept of every set: logits, features, head, passes and columns of scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from abstain.nn._extract import host, joined, layer
from abstain.nn._model_scores import GramStatistics, fit_gram, gram_score, odin
from abstain.nn._passes import DROPOUT, evaluation_mode, mc_dropout
from abstain.nn.data import Images
from abstain.nn.networks import Network
from abstain.nn.train._learner import Learner
from abstain.nn.train._settings import Extract
from abstain.outputs import Outputs

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

    def outputs(self, images: Images, groups: Mapping[str, Any] | None = None) -> Outputs:
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

    def _batch(self, x: Tensor, number: int) -> dict[str, Any]:
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
