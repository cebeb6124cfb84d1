"""Monitoring: false alarms under daily looks for a year, and labelled rows until a doubled risk is noticed.

python benchmarks/thresholds_monitor.py
"""

from __future__ import annotations

import numpy as np

from recuse.thresholds._monitor import evidence_above

DELTA = 0.05


def main() -> None:
    rng = np.random.default_rng(3)
    for rows in (5, 50):
        alarms = 0
        for _ in range(2000):
            path = evidence_above((rng.random(365 * rows) < 0.05).astype(float), 0.05)
            alarms += int((path[rows - 1 :: rows] >= -np.log(DELTA)).any())
        print(f"risk exactly at the limit, {rows} rows a day, a year: false alarms {alarms / 2000:.4f} (delta {DELTA})")
    for limit in (0.05, 0.01):
        delays = []
        for _ in range(1000):
            over = np.flatnonzero(
                evidence_above((rng.random(20000) < 2 * limit).astype(float), limit) >= -np.log(DELTA)
            )
            delays.append(over[0] + 1 if over.size else np.inf)
        print(f"risk {limit} doubled: noticed after {np.quantile(delays, [0.5, 0.9, 0.99])} rows (50, 90, 99 %)")


if __name__ == "__main__":
    main()
