"""Cost of the objectives over cross-entropy, and of training steps over their forward and backward passes.

    python benchmarks/training.py objectives [--sizes 128x1000 ...] [--rounds 200]
    OMP_NUM_THREADS=1 python benchmarks/training.py steps [--recipes ce sure ...] [--network resnet18] [--device cpu]

``objectives``: one round runs every contender for a few steps, in random order; a cell is the median over rounds of its
time divided by the median of cross-entropy. One thread: on a CPU the cost is mostly operator dispatch, which threads do
not share.

``steps``: every recipe's step is compared with as many passes of a clean batch through the same network as the recipe
counts; what is above 1 are augmentation, mixing, sharpness-aware arithmetic, averages and Lightning. Both are measured
in turn, step by step, and the ratio is the median over steps. Each recipe runs in a process of its own, for its peak of
memory. Times are the processor's, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from abstain import nn
from abstain.nn import data, train
from abstain.nn.train._run import learner_of

STEPS = 5


def contenders(n: int, classes: int) -> dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]]:
    """What runs in one round; cross-entropy is the yardstick."""
    fixed = torch.rand(n)

    def weighted(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return (torch.nn.functional.cross_entropy(logits, target, reduction="none") * fixed).mean()

    def peer_like(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Second softmax, two sorts, weights rebuilt from a Python list: what a direct transcription costs."""
        confidence = logits.softmax(dim=1).max(dim=1).values
        rank = confidence.argsort().argsort()
        harmonic = [0.0]
        for k in range(1, n + 1):
            harmonic.append(harmonic[-1] + 1.0 / k)
        alpha = torch.tensor([harmonic[n] - harmonic[n - r] for r in range(1, n + 1)])
        loss = torch.nn.functional.cross_entropy(logits, target, reduction="none")
        return (loss * alpha[rank].detach()).mean()

    jobs: dict[str, Any] = {
        "cross-entropy": torch.nn.functional.cross_entropy,
        "cross-entropy x fixed weights": weighted,
        "direct transcription of AURC": peer_like,
        "AURCLoss": nn.AURCLoss(),
        "AURCLoss log": nn.AURCLoss("log"),
        "AURCLoss tie-exact": nn.AURCLoss(ties="exact"),
        "AURCLoss plugin (tie-exact)": nn.AURCLoss("plugin"),
        "SELELoss": nn.SELELoss(),
        "AUGRCLoss": nn.AUGRCLoss(),
        "AUGRCLoss tie-exact": nn.AUGRCLoss(ties="exact"),
        "CWSALoss": nn.CWSALoss(),
    }
    return jobs


def measure(n: int, classes: int, rounds: int) -> dict[str, float]:
    """Median seconds per step of each contender over interleaved rounds, after one warm round."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(n, classes, generator=generator).requires_grad_()
    target = torch.randint(classes, (n,), generator=generator)
    jobs = contenders(n, classes)
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    np.empty(31 << 20, dtype=np.uint8).fill(1)  # glibc then keeps freed memory: else page faults decide who is slow
    order = list(jobs.items())
    shuffle = random.Random(0).shuffle
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


def objectives(options: argparse.Namespace) -> None:
    """Print the cost of each objective over that of cross-entropy."""
    torch.set_num_threads(1)
    for size in options.sizes:
        n, classes = map(int, size.split("x"))
        found = measure(n, classes, options.rounds)
        base = found["cross-entropy"]
        print(f"\n{size}: cross-entropy {1e3 * base:.3f} ms, forward + backward")
        for name, value in found.items():
            print(f"  {name:32s} {value / base:5.2f}")


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


def steps(options: argparse.Namespace) -> None:
    """Print a row per recipe."""
    if options.one:
        row(options.recipes[0], options)
        return
    print(f"{options.network}, width {options.width}, batch 128, {torch.get_num_threads()} threads\n")
    print(
        "| recipe | passes | passes alone | step | ratio | peak of the passes | peak |\n" + "|---" * 7 + "|", flush=True
    )
    same = ["--network", options.network, "--width", str(options.width), "--steps", str(options.steps)]
    for name in options.recipes:
        command = [sys.executable, __file__, "steps", "--one", *same, "--device", options.device, "--recipes", name]
        subprocess.run(command, check=True)


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["objectives", "steps"])
    parser.add_argument("--sizes", nargs="+", default=["128x1000", "128x100", "128x10", "1024x1000"])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--network", default="resnet18")
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--recipes", nargs="+", default=NAMES)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--one", action="store_true", help="in this process")
    options = parser.parse_args()
    objectives(options) if options.part == "objectives" else steps(options)


if __name__ == "__main__":
    main()
