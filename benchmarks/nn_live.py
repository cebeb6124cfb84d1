"""Memory and speed of SelectiveMetrics in constant memory, with the width of its certified bounds.

    python benchmarks/nn_live.py                  # 1e8 samples
    python benchmarks/nn_live.py --samples 1e7 --exact

Saturating maximum probabilities with 6 % errors arrive in batches. Printed: bytes of the state, growth of the process
from before the first batch to its peak (batches included), nanoseconds per sample, and values with bounds.
"""

from __future__ import annotations

import argparse
import resource
import time

import torch

from abstain import nn


def batch(n: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Confidences that pile up at 1, and errors that are less frequent there."""
    margin = 6.0 + 5.0 * torch.randn(n, generator=generator)
    confidence = torch.sigmoid(margin.abs())
    loss = (torch.rand(n, generator=generator) > confidence).float()
    return confidence, loss


def peak() -> float:
    """Largest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=float, default=1e8)
    parser.add_argument("--batch", type=int, default=100_000)
    parser.add_argument("--bins", type=int, default=65536)
    parser.add_argument("--exact", action="store_true", help="exact mode beside it; needs memory")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    metric = nn.SelectiveMetrics(["augrc", "aurc"], bins=arguments.bins, scale="probability")
    exact = nn.SelectiveMetrics(["augrc", "aurc"]) if arguments.exact else None
    generator = torch.Generator().manual_seed(0)
    batch(arguments.batch, generator)
    before, busy, seen = peak(), 0.0, 0
    while seen < arguments.samples:
        data = batch(arguments.batch, generator)
        start = time.process_time()
        metric.update(*data)
        busy += time.process_time() - start
        seen += arguments.batch
        if exact is not None:
            exact.update(*data)
    found = {name: value.item() for name, value in metric.compute().items()}
    state = sum(getattr(metric, name).nbytes for name in metric._defaults)
    print(f"{seen:.0e} samples in {seen // arguments.batch} updates, {arguments.bins} bins")
    print(
        f"state {state / 1e6:.2f} MB, process grew by {peak() - before:.1f} MB, {1e9 * busy / seen:.0f} ns per sample"
    )
    for name in ("augrc", "aurc"):
        low, value, high = (found[name + part] for part in ("_low", "", "_high"))
        print(f"{name}: {value:.10f} in [{low:.10f}, {high:.10f}], relative width {(high - low) / value:.1e}")
        if exact is not None:
            print(f"  exact {exact.compute()[name].item():.10f}")


if __name__ == "__main__":
    main()
