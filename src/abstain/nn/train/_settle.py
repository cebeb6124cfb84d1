"""Which weights a stage leaves: the last or the best, averaged where the recipe says so, batch norm re-estimated."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from abstain.nn._passes import evaluation_mode
from abstain.nn.data import Images
from abstain.nn.ingredients import EMA, reestimate_batch_norm
from abstain.nn.train._batches import augmented
from abstain.nn.train._learner import Learner

if TYPE_CHECKING:
    from abstain.nn.train._module import StageModule

_REBN_BATCH = 128
_BATCH = 500


def settle(learner: Learner, module: StageModule) -> None:
    """Give a learner the weights that the stage leaves."""
    if module.best is not None:
        learner.load_state_dict(module.best["weights"])
    elif module.average is not None:
        learner.load_state_dict(module.average.model.state_dict())
        _reestimate(learner, module)


def candidate(module: StageModule) -> Learner:
    """Return a copy of what would be left if the training ended now."""
    found = copy.deepcopy(module.learner)
    average = module.average
    if average is not None and (isinstance(average, EMA) or int(average.updates) > 0):
        found.load_state_dict(average.model.state_dict())
        _reestimate(found, module)
    return found


@torch.no_grad()
def accuracy(learner: Learner, images: Images) -> float:
    """Return the share of pictures that the network classifies right."""
    device, right = next(learner.parameters()).device, 0
    with evaluation_mode(learner):
        for start in range(0, len(images), _BATCH):
            rows = torch.arange(start, min(start + _BATCH, len(images)))
            logits = learner.network(images.take(rows).to(device).float() / 255.0)
            right += int((logits.argmax(dim=1).cpu() == images.labels[rows]).sum())
    return right / len(images)


def _reestimate(learner: Learner, module: StageModule) -> None:
    """Batch norm of averaged weights, from one pass over the training set in clean pictures."""
    if not module.stage.average.reestimate:
        return
    rng = np.random.default_rng([*module.key, 999])
    device, train = next(learner.parameters()).device, module.images

    def clean() -> Iterator[tuple[torch.Tensor]]:
        order = torch.as_tensor(rng.permutation(len(train)))
        for start in range(0, len(order), _REBN_BATCH):
            rows = order[start : start + _REBN_BATCH]
            if len(rows) > 1:
                yield (augmented(train.take(rows).to(device), replace(module.data, cutout=0), rng),)

    reestimate_batch_norm(learner.network, clean())
