"""What a training will cost, before it starts."""

from __future__ import annotations

import copy
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from abstain._extras import need
from abstain.nn.data import Task
from abstain.nn.networks import parameters
from abstain.nn.train._learner import Learner
from abstain.nn.train._recipes import Recipe

_REPEATS = 2


@dataclass(frozen=True)
class Plan:
    """Passes, time and disk of one run.

    Parameters
    ----------
    parameters : int
        Trained numbers.
    steps : dict of str to int
        Optimizer steps by stage.
    passes : dict of str to float
        Forward and backward passes of a batch per step, by stage.
    pass_seconds : float
        Time of one, measured on this machine.
    seconds : float
        Of training and extraction; an estimate.
    checkpoint_bytes, output_bytes : int
        On disk while it trains, and for good.

    Examples
    --------
    >>> from abstain.nn import data, train
    >>> plan = train.plan(train.recipe("ce", ["network.name=small", "epochs=2"]), data.task("synthetic"))
    >>> plan.steps, plan.passes
    ({'main': 8}, {'main': 1.0})
    """

    parameters: int
    steps: dict[str, int]
    passes: dict[str, float]
    pass_seconds: float
    seconds: float
    checkpoint_bytes: int
    output_bytes: int

    def check_disk(self, folder: Path) -> None:
        """Refuse to start where the disk is too small."""
        place = folder
        while not place.exists():
            place = place.parent
        free = shutil.disk_usage(place).free
        need = self.checkpoint_bytes + self.output_bytes
        if free < need:
            sizes = f"{need / 1e9:.2g} GB are needed, {free / 1e9:.2g} GB are free"
            raise OSError(f"{place}: {sizes}; free some space, or set extract.train=false")


def plan(recipe: Recipe, task: Task, learner: Learner | None = None, device: torch.device | str = "cpu") -> Plan:
    """Measure one pass and return what a run will cost.

    Parameters
    ----------
    recipe : Recipe
    task : Task
    learner : Learner, optional
        Default: built from the recipe.
    device : torch.device or str

    Returns
    -------
    Plan

    Examples
    --------
    >>> from abstain.nn import data, train
    >>> train.plan(train.recipe("ce", ["network.name=small", "epochs=1"]), data.task("synthetic")).output_bytes > 0
    True
    """
    need("training", "lightning", extra="train")
    from abstain.nn.train._run import learner_of

    learner = learner_of(recipe, task, seed=0) if learner is None else learner
    n, batch = len(task.train), min(recipe.data.batch, len(task.train))
    per_epoch = n // batch
    steps = {name: stage.epochs * per_epoch for name, stage in recipe.stage.items()}
    passes = recipe.passes()
    one = _measured(learner, task, batch, device)
    training = sum(steps[name] * passes[name] * one for name in steps)
    rows = sum(each.n for each in task.sets) + (n if recipe.extract.train else 0)
    forwards = 1 + recipe.extract.passes + 3 * recipe.extract.odin + 3 * recipe.extract.gram
    seconds = training + rows / batch * forwards * one / 3.0
    numbers = parameters(learner)
    copies = (
        int(stage.average.kind != "none") + int(stage.sharpness.kind == "friendly") for stage in recipe.stage.values()
    )
    held = 3 + max(copies, default=0)
    classes, features = task.train.n_classes, learner.network.n_features
    per_row = 8 * (classes + 1) + 4 * features + 4 * recipe.extract.passes * classes
    return Plan(numbers, steps, passes, one, seconds, 4 * held * numbers, 4 * numbers + rows * per_row)


def _measured(learner: Learner, task: Task, batch: int, device: torch.device | str) -> float:
    """Seconds of one forward and backward pass, the best of a few after a first one."""
    network = copy.deepcopy(learner.network).to(device).train()
    rows = np.arange(batch)
    x, y = task.train.take(rows).to(device).float() / 255.0, task.train.labels[rows].to(device)
    best = float("inf")
    with torch.random.fork_rng():
        for _ in range(1 + _REPEATS):
            start = time.perf_counter()
            torch.nn.functional.cross_entropy(network(x), y).backward()  # type: ignore[no-untyped-call]
            if x.device.type == "cuda":
                torch.cuda.synchronize(x.device)
            best = min(best, time.perf_counter() - start)
    return best
