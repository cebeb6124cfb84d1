"""Monitoring: false alarms under daily looks for a year, and labelled rows until a doubled risk is noticed.

python benchmarks/thresholds_monitor.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import abstain
from abstain.thresholds import monitor
from abstain.thresholds._monitor import evidence_above

DELTA = 0.05


def false_alarms(rng: np.random.Generator, rows: int, repetitions: int = 2000) -> None:
    """The risk is exactly the limit, and somebody looks every evening of a year."""
    alarms = 0
    for _ in range(repetitions):
        path = evidence_above((rng.random(365 * rows) < 0.05).astype(float), 0.05)
        alarms += int((path[rows - 1 :: rows] >= -np.log(DELTA)).any())
    share = alarms / repetitions
    print(f"risk exactly at the limit, {rows} rows a day, a year: false alarms {share:.4f} (delta {DELTA})")


def delays(rng: np.random.Generator, limit: float, repetitions: int = 1000) -> None:
    """The risk is twice the limit from the first row."""
    found = []
    for _ in range(repetitions):
        path = evidence_above((rng.random(20000) < 2 * limit).astype(float), limit)
        over = np.flatnonzero(path >= -np.log(DELTA))
        found.append(over[0] + 1 if over.size else np.inf)
    print(f"risk {limit} doubled: noticed after {np.quantile(found, [0.5, 0.9, 0.99])} rows (50, 90, 99 %)")


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
    rng = np.random.default_rng(3)
    for rows in (5, 50):
        false_alarms(rng, rows)
    for limit in (0.05, 0.01):
        delays(rng, limit)
    drift(rng)


if __name__ == "__main__":
    main()
