"""Time of a training step beside its forward and backward passes alone.

Run ``python benchmarks/train_step.py``; times are the processor's, which other work on the machine disturbs less.

Every recipe's step is compared with as many passes of a clean batch through the same network as the recipe counts; what
is above 1 are augmentation, mixing, sharpness-aware arithmetic, averages and Lightning.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
import warnings
from itertools import pairwise

import torch

from abstain.nn import data, train
from abstain.nn.train._run import learner_of

NAMES = ("ce", "mixup", "cutmix", "augmix", "pixmix", "regmixup", "sure", "sure_plus")


def alone(recipe, task, device, repeats):
    """Seconds of the passes of one step: clean batches, forward and backward, nothing else."""
    network = learner_of(recipe, task, 0).network.to(device).train()
    x = task.train.take(range(recipe.data.batch)).to(device).float() / 255.0
    y = task.train.labels[: recipe.data.batch].to(device)
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(int(recipe.passes()["main"])):
            torch.nn.functional.cross_entropy(network(x), y).backward()
        times.append(time.process_time() - start)
    return statistics.median(times)


def step(recipe, task, device):
    """Median seconds from one step's end to the next, in the trainer."""
    import lightning.pytorch as pl

    ends = []

    class Clock(pl.Callback):
        def on_train_batch_end(self, *_):
            ends.append(time.process_time())

    with tempfile.TemporaryDirectory() as folder:
        train.fit(recipe, task, folder, callbacks=[Clock()], accelerator=device, enable_progress_bar=False)
    return statistics.median(b - a for a, b in pairwise(ends))


def main() -> None:
    """Print a row per recipe."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--recipes", nargs="+", default=NAMES)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    task = data.task(f"synthetic:n={128 * options.steps},size=32,classes=10")
    print(f"ResNet-18, width {options.width}, batch 128, {torch.get_num_threads()} threads\n")
    print("| recipe | passes | passes alone | step | ratio | peak so far |\n|---|---|---|---|---|---|")
    for name in options.recipes:
        settings = [f"network.width={options.width}", "epochs=1", "extract.train=false"]
        recipe = train.recipe(name)
        settings += ["pictures=200"] if "pixmix" in recipe.stage["main"].terms else []
        settings += ["average.start=0"] if recipe.stage["main"].average.kind == "swa" else []
        recipe = train.recipe(name, settings)
        lone, whole = alone(recipe, task, options.device, options.steps), step(recipe, task, options.device)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        passes = recipe.passes()["main"]
        print(
            f"| {name} | {passes:g} | {lone:.3f} s | {whole:.3f} s | {whole / lone:.3f} | {peak:.2f} GB |", flush=True
        )


if __name__ == "__main__":
    main()
