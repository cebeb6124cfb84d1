"""Monitoring: false alarms of drift of coverage and score, and how often a drift is noticed.

python benchmarks/thresholds_monitor.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import abstain
from abstain.monitoring import monitor

DELTA = 0.05


def drift(rng: np.random.Generator, repetitions: int = 1000) -> None:
    """Calibration and stream are one population, or the scores of the stream are u^1.2 instead of u."""

    def draw(n: int, power: float = 1.0) -> tuple[Any, Any]:
        score = rng.random(n) ** power
        return rng.random(n) < 0.1 * (1 - score), score

    for n, rows in ((1000, 5000), (4000, 5000)):
        told = []
        for _ in range(repetitions):
            policy = abstain.choose_threshold(*draw(n), risk=0.05, delta=DELTA).policy(score="s")
            seen = [monitor(policy, *draw(rows, power)) for power in (1.0, 1.2)]
            told.append([float(bool(value)) for one in seen for value in (one.coverage_drifted, one.score_drifted)])
        same_c, same_s, moved_c, moved_s = np.mean(told, axis=0)
        print(
            f"{n} calibration rows, {rows} new ones: false alarms of coverage {same_c:.3f}, score {same_s:.3f}; "
            f"scores moved by up to 0.07: coverage {moved_c:.3f}, score {moved_s:.3f} noticed"
        )


def main() -> None:
    drift(np.random.default_rng(3))


if __name__ == "__main__":
    main()
