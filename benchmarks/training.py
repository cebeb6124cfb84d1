"""Cost of the objectives over cross-entropy, and of training steps over their forward and backward passes.

    python -m benchmarks.training objectives [--rounds 200]
    OMP_NUM_THREADS=1 python -m benchmarks.training steps [--recipes ce sure ...]

One round runs every objective for a few steps, in random order. Every recipe's step is measured in turn with as many
passes of a clean batch through the same network (ResNet-18 of width 16) as the recipe counts.
"""

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from benchmarks.harness import Form, command, say

from abstain import nn
from abstain.nn import data, train
from abstain.nn.train._run import learner_of

STEPS = 5


def measured(n: int, classes: int, rounds: int) -> dict[str, float]:
    """Return the median seconds per step of each objective over interleaved rounds, after one warm round."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(n, classes, generator=generator).requires_grad_()
    target = torch.randint(classes, (n,), generator=generator)
    jobs: dict[str, Callable[..., Any]] = {
        "cross-entropy": torch.nn.functional.cross_entropy,
        "AURCLoss": nn.AURCLoss(),
        "AURCLoss log": nn.AURCLoss("log"),
        "AURCLoss tie-exact": nn.AURCLoss(ties="exact"),
        "AURCLoss plugin (tie-exact)": nn.AURCLoss("plugin"),
        "SELELoss": nn.SELELoss(),
        "AUGRCLoss": nn.AUGRCLoss(),
        "AUGRCLoss tie-exact": nn.AUGRCLoss(ties="exact"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    np.empty(31 << 20, dtype=np.uint8).fill(1)  # glibc then keeps freed memory: else page faults decide who is slow
    order, shuffle = list(jobs.items()), random.Random(0).shuffle
    for turn in range(rounds + 1):
        shuffle(order)  # whoever follows the most wasteful one finds a cold cache
        for name, job in order:
            start = time.process_time()
            for _ in range(STEPS):
                logits.grad = None
                job(logits, target).backward()
            if turn:
                seconds[name].append((time.process_time() - start) / STEPS)
    return {name: statistics.median(each) for name, each in seconds.items()}


def objectives(form: Form, rounds: int = 200) -> None:
    """The cost of each objective over that of cross-entropy, forward and backward, 128 rows and 1,000 classes."""
    torch.set_num_threads(1)
    found = measured(128, 1000, rounds)
    for name, value in found.items():
        say(f"  {name:32s} {value / found['cross-entropy']:5.2f}")


class Alone:
    """The passes of one step: clean batches, forward and backward, nothing else."""

    def __init__(self, recipe: Any, task: Any) -> None:
        self.network = learner_of(recipe, task, 0).network.train()
        self.passes = int(recipe.passes()["main"])
        self.x = task.train.take(range(recipe.data.batch)).float() / 255.0
        self.y = task.train.labels[: recipe.data.batch]

    def __call__(self) -> float:
        """Return the seconds that they take."""
        start = time.process_time()
        for _ in range(self.passes):
            torch.nn.functional.cross_entropy(self.network(self.x), self.y).backward()
        return time.process_time() - start


def in_turn(recipe: Any, task: Any) -> list[tuple[float, float]]:
    """Return the seconds of every step in the trainer, and of the passes alone right after it."""
    import lightning.pytorch as pl

    alone, pairs = Alone(recipe, task), []
    for _ in range(2):
        alone()

    class Clock(pl.Callback):
        start = None

        def on_train_batch_end(self, *_: Any) -> None:
            if self.start is not None:
                pairs.append((time.process_time() - self.start, alone()))
            self.start = time.process_time()

    with tempfile.TemporaryDirectory() as folder:
        train.fit(recipe, task, folder, callbacks=[Clock()], accelerator="cpu", enable_progress_bar=False)
    return pairs[2:]


RECIPES = ("ce", "mixup", "cutmix", "augmix", "pixmix", "regmixup", "sure", "sure_plus")


def steps(form: Form, recipes: tuple[str, ...] = RECIPES) -> None:
    """The ratio of a step of each recipe to its passes alone: the median over steps."""
    task = data.task(f"synthetic:n={128 * form(12, 12)},size=32,classes=10")
    say("| recipe | passes | passes alone | step | ratio |\n" + "|---" * 5 + "|")
    for name in recipes:
        settings = ["network.width=16", "epochs=1", "extract.train=false", "network.name=resnet18"]
        recipe = train.recipe(name, settings)
        settings += ["pictures=200"] if "pixmix" in recipe.stage["main"].terms else []
        settings += ["average.start=0"] if recipe.stage["main"].average.kind == "swa" else []
        recipe = train.recipe(name, settings)
        pairs = in_turn(recipe, task)
        step, alone = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        say(f"| {name} | {recipe.passes()['main']:g} | {alone:.3f} s | {step:.3f} s | {ratio:.3f} |")


if __name__ == "__main__":
    command(__doc__, objectives, steps)
