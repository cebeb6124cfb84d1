"""Watching a promise: rows until a late change is noticed, false alarms in years of daily looks, time.

python benchmarks/watching.py [delays] [years] [swings] [public] [speed]    (all: three minutes; without arguments all)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import abstain
from abstain._typing import FloatArray
from abstain.thresholds import Policy, monitor
from abstain.thresholds._evidence import Evidence, evidence_above

LIMIT, DELTA = 0.05, 0.05
ALARM = -np.log(DELTA)


def wait(rng: np.random.Generator, before: float, history: int, after: float) -> float:
    """Return the rows of the new risk until the alarm; NaN if there was one before."""
    evidence = Evidence(LIMIT)
    if (evidence.update((rng.random(history) < before).astype(float)) >= ALARM).any():
        return np.nan
    waited = 0
    while True:
        over = np.flatnonzero(evidence.update((rng.random(500) < after).astype(float)) >= ALARM)
        if over.size:
            return float(waited + over[0] + 1)
        waited += 500


def delays(rng: np.random.Generator, repetitions: int = 1000) -> None:
    """The risk was fine for a while, then it is above the limit."""
    shifts = (0.075, 0.10, 0.20)
    print(f"rows until the alarm, median / 90 %, limit {LIMIT}, {repetitions} streams (alarms before the change)")
    print("before, rows   " + "".join(f"{f'then {after:.3g}':>20}" for after in shifts))
    for before, history in ((0.0, 0), *((p, n) for p in (0.02, 0.04, 0.05) for n in (500, 2000, 10000))):
        cells = []
        for after in shifts:
            found = np.array([wait(rng, before, history, after) for _ in range(repetitions)])
            middle, late = np.nanquantile(found, [0.5, 0.9])
            cells.append(f"{middle:.0f} / {late:.0f} ({np.isnan(found).sum()})")
        print(f"{f'{before:.2f}, {history}' if history else '-, 0':<15}" + "".join(f"{each:>20}" for each in cells))


def ever(path_of: Callable[[], FloatArray], repetitions: int, step: int = 1) -> str:
    """Return the share of streams with an alarm at any look, with 1.96 Monte Carlo errors."""
    share = np.mean(
        [bool((evidence_above(path_of(), LIMIT)[step - 1 :: step] >= ALARM).any()) for _ in range(repetitions)]
    )
    return f"{100 * share:.1f} +- {196 * np.sqrt(share * (1 - share) / repetitions):.1f} %"


def years(rng: np.random.Generator, repetitions: int = 2000) -> None:
    """The risk is exactly the limit, and somebody looks every evening of a year, or after every row."""
    for rows in (10, 30):
        for step, looks in ((rows, "every evening"), (1, "after every row")):
            share = ever(lambda n=365 * rows: (rng.random(n) < LIMIT).astype(float), repetitions, step)  # type: ignore[misc]
            print(f"risk at the limit, {rows} rows a day, a look {looks} of a year: ever alarmed {share}")
    share = ever(lambda: rng.beta(0.1, 1.9, 3650), repetitions)
    print(f"losses between 0 and 1 with mean {LIMIT}, 3,650 rows: ever alarmed {share}")


def swings(rng: np.random.Generator, repetitions: int = 500) -> None:
    """A year of 30 rows a day whose risk is the limit on average only: above it for a part of each period."""
    row = np.arange(365 * 30)
    for period, name in ((30, "every day"), (210, "every week"), (900, "every month"), (5475, "every half year")):
        for low, high in ((0.04, 0.06), (0.02, 0.08)):
            risk = np.where(row % period < period // 2, low, high)
            share = ever(lambda risk=risk: (rng.random(len(risk)) < risk).astype(float), repetitions)  # type: ignore[misc]
            print(f"risk {low} then {high} {name}: alarmed {share}")


def certified() -> Policy:
    """Return a policy that promises 5 %."""
    rng = np.random.default_rng(0)
    score = rng.random(4000)
    wrong = rng.random(4000) < 0.1 * (1 - score)
    return abstain.choose_threshold(wrong, score, risk=LIMIT, delta=DELTA).policy(score="msp")


def public(rng: np.random.Generator, repetitions: int = 300) -> None:
    """Through ``monitor``: a year at the limit, of rows and of groups of five to a cluster."""
    policy = certified()
    broken = [monitor(policy, rng.random(3650) < LIMIT, np.ones(3650)).promise_broken for _ in range(repetitions)]
    print(f"monitor, 3,650 accepted rows at the limit: ever alarmed {100 * np.mean(broken):.1f} % of {repetitions}")
    found = []
    for _ in range(100):
        late = np.r_[rng.random(10000) < 0.02, rng.random(4000) < 0.10]
        seen = monitor(policy, late, np.ones(14000), accepted_only=True)
        found.append(np.inf if seen.broken_at is None else seen.broken_at - 10000)
    print(f"monitor, 10,000 rows of .02, then .10: alarm after {np.quantile(found, [0.5, 0.9])} rows (50, 90 %)")


def speed(rng: np.random.Generator) -> None:
    """A million rows, and one more row."""
    policy, score, loss = certified(), rng.random(10**6), rng.random(10**6) < 0.02
    start = time.perf_counter()
    monitor(policy, loss, score)
    print(f"monitor, 1,000,000 rows with coverage and score: {time.perf_counter() - start:.2f} s")
    evidence = Evidence(LIMIT)
    evidence.update(loss.astype(float))
    start = time.perf_counter()
    for one in loss[:2000].astype(float):
        evidence.update(np.array([one]))
    print(f"one more row of the promise: {(time.perf_counter() - start) / 2:.3f} ms")


def main() -> None:
    parts: dict[str, Callable[[np.random.Generator], None]] = {
        "delays": delays, "years": years, "swings": swings, "public": public, "speed": speed,
    }  # fmt: skip
    for name in sys.argv[1:] or parts:
        parts[name](np.random.default_rng(3))


if __name__ == "__main__":
    main()
