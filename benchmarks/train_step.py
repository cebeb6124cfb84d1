"""Time and memory of a training step beside its forward and backward passes alone.

Run ``python benchmarks/train_step.py``; times are the processor's, which other work on the machine disturbs less.

Every recipe's step is compared with as many passes of a clean batch through the same network as the recipe counts; what
is above 1 are augmentation, mixing, sharpness-aware arithmetic, averages and Lightning. Both are measured in turn, step
by step, and the ratio is the median over steps. Each recipe runs in a process of its own, for its peak of memory.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from abstain.nn import data, train
from abstain.nn.train._run import learner_of

NAMES = ("ce", "mixup", "cutmix", "augmix", "pixmix", "regmixup", "sure", "sure_plus")


class Alone:
    """The passes of one step: clean batches, forward and backward, nothing else."""

    def __init__(self, recipe, task, device):
        self.network = learner_of(recipe, task, 0).network.to(device).train()
        self.passes = int(recipe.passes()["main"])
        self.x = task.train.take(range(recipe.data.batch)).to(device).float() / 255.0
        self.y = task.train.labels[: recipe.data.batch].to(device)

    def __call__(self):
        """Return the seconds that they take."""
        start = time.process_time()
        for _ in range(self.passes):
            torch.nn.functional.cross_entropy(self.network(self.x), self.y).backward()
        return time.process_time() - start


def in_turn(recipe, task, device):
    """Seconds of every step in the trainer, and of the passes alone right after it."""
    import lightning.pytorch as pl

    alone, pairs = Alone(recipe, task, device), []
    for _ in range(2):
        alone()
    before = peak()

    class Clock(pl.Callback):
        start = None

        def on_train_batch_end(self, *_):
            if self.start is not None:
                pairs.append((time.process_time() - self.start, alone()))
            self.start = time.process_time()

    with tempfile.TemporaryDirectory() as folder:
        train.fit(recipe, task, folder, callbacks=[Clock()], accelerator=device, enable_progress_bar=False)
    return pairs[2:], before


def peak():
    """Gigabytes at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def row(name, options):
    """Measure one recipe."""
    task = data.task(f"synthetic:n={128 * options.steps},size=32,classes=10")
    settings = [f"network.width={options.width}", "epochs=1", "extract.train=false", f"network.name={options.network}"]
    recipe = train.recipe(name)
    settings += ["pictures=200"] if "pixmix" in recipe.stage["main"].terms else []
    settings += ["average.start=0"] if recipe.stage["main"].average.kind == "swa" else []
    recipe = train.recipe(name, settings)
    pairs, before = in_turn(recipe, task, options.device)
    step, lone = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"| {name} | {recipe.passes()['main']:g} | {lone:.3f} s | {step:.3f} s | {ratio:.3f} | "
          f"{before:.2f} GB | {peak():.2f} GB |", flush=True)  # fmt: skip


def main() -> None:
    """Print a row per recipe."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="resnet18")
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--recipes", nargs="+", default=NAMES)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--one", action="store_true", help="in this process")
    options = parser.parse_args()
    if options.one:
        row(options.recipes[0], options)
        return
    print(f"{options.network}, width {options.width}, batch 128, {torch.get_num_threads()} threads\n")
    print(
        "| recipe | passes | passes alone | step | ratio | peak of the passes | peak |\n" + "|---" * 7 + "|", flush=True
    )
    same = ["--network", options.network, "--width", str(options.width), "--steps", str(options.steps)]
    for name in options.recipes:
        subprocess.run(
            [sys.executable, __file__, "--one", *same, "--device", options.device, "--recipes", name], check=True
        )


if __name__ == "__main__":
    main()
