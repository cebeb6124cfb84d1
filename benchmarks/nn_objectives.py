"""Cost of the objectives as ratios to plain cross-entropy, forward and backward, in one interleaved run.

    python benchmarks/nn_objectives.py                    # 128 x 1000 and others
    python benchmarks/nn_objectives.py --sizes 128x1000

One round runs every contender for a few steps, in random order; a cell is the median over rounds of its time divided
by the median of cross-entropy. One thread: on a CPU the cost is mostly operator dispatch, which threads do not share.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from abstain import nn

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["128x1000", "128x100", "128x10", "1024x1000"])
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for size in arguments.sizes:
        n, classes = map(int, size.split("x"))
        found = measure(n, classes, arguments.rounds)
        base = found["cross-entropy"]
        print(f"\n{size}: cross-entropy {1e3 * base:.3f} ms, forward + backward")
        for name, value in found.items():
            print(f"  {name:32s} {value / base:5.2f}")


if __name__ == "__main__":
    main()
