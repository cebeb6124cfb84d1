"""How often the bootstrap intervals of the DS metrics hold the truth: 300 ID and 300 OOD samples, two useful scores.

    python benchmarks/joint_intervals.py --draws 80

The truth is the value on 150,000 + 150,000 samples of the same population. Prints, per metric, the share of intervals
that hold it (nominal: 95 %), the mean optimism of the estimate, and the mean standard error.
"""

from __future__ import annotations

import argparse

import numpy as np

from recuse import joint


def population(n: int, seed: int) -> tuple[np.ndarray, ...]:
    """Return n ID and n OOD samples."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(n) < 0.25
    confidence = np.append(rng.normal(1.5, 1, n) - 1.2 * wrong, rng.normal(0.3, 1, n))
    score = np.append(rng.normal(1.0, 1, n), rng.normal(0, 1, n))
    return wrong.astype(float), confidence[:n], score[:n], confidence[n:], score[n:]


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=80)
    parser.add_argument("--samples", type=int, default=300)
    arguments = parser.parse_args()
    large = population(150_000, 999)
    truth = {
        "ds_f1": float(joint.ds_f1(*large)),
        "ds_aurc": float(joint.ds_aurc(*large, method="semi", T=300)),
        "ds_augrc": float(joint.ds_augrc(*large, method="semi", T=300)),
    }
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in truth}
    for seed in range(arguments.draws):
        intervals = joint.confidence_intervals(*population(arguments.samples, seed), n_resamples=40)
        for name, value in truth.items():
            each = intervals[name]
            found[name].append((each.low <= value <= each.high, each.estimate - value, each.standard_error))
    for name, rows in found.items():
        share, bias, error = np.mean(rows, axis=0)
        print(f"{name:<10} truth {truth[name]:.4f}  held {share:.3f}  bias {bias:+.4f}  standard error {error:.4f}")


if __name__ == "__main__":
    main()
