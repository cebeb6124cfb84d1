"""Patients who come back, each judged by its first call: is a promise at the limit kept by Monitor(returning="skip").

python benchmarks/returning.py [--full]

15 new patients a week for a year, each of whom comes again in 15 % of the later weeks, with one to three rows each
time; weekly looks. How often the promise is ever called broken at 5 %, with 1.96 Monte Carlo errors of 50 years, with
--full of 200. The risk is at the limit for first calls, which is what the test is about, or for all rows of a patient.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

import abstain
from abstain.monitoring import Monitor

LIMIT, WEEKS, NEW, AGAIN = 0.1, 52, 15, 0.15
KINDS = {
    "alike": "all patients alike",
    "hard": "30 % of them six times the risk",
    "less": "these accepted less often (30 against 90 % of rows)",
    "more": "these accepted more often (95 against 30 %)",
    "first": "first visits twice the risk of later ones",
}


def patient(kind: str, rng: np.random.Generator) -> tuple[float, float]:
    """Return a patient's risk, up to a factor, and chance that a row is accepted."""
    hard = rng.random() < 0.3
    accepted = {"less": (0.9, 0.3), "more": (0.3, 0.95)}.get(kind, (0.8, 0.8))
    return (0.1 if kind == "alike" else 0.24 if hard else 0.04), accepted[hard]


def at_visit(kind: str, risk: float, visit: int) -> float:
    """Return the risk at a visit."""
    return risk * (1.0 if kind != "first" else 1.6 if visit == 0 else 0.8)


def factor(kind: str, whole: bool) -> float:
    """Return what brings the mean accepted loss of patients to the limit: of first calls, or of all their rows."""
    rng, found = np.random.default_rng(1), []
    for _ in range(20_000):
        risk, accepted = patient(kind, rng)
        each = [np.full(int((rng.random(rng.integers(1, 4)) < accepted).sum()), at_visit(kind, risk, visit))
                for visit in range(1 + rng.binomial(WEEKS // 2, AGAIN) if whole else 1)]  # fmt: skip
        rows = np.concatenate(each)
        if rows.size:
            found.append(rows.mean())
    return LIMIT / float(np.mean(found))


def year(kind: str, scale: float, policy: Any, seed: int) -> tuple[bool, int, int]:
    """Return whether the promise was ever called broken, and how many rows were left out of how many."""
    rng, least = np.random.default_rng([seed, 7]), min(policy.thresholds.values())
    weeks: list[list[tuple[int, float, float]]] = [[] for _ in range(WEEKS)]
    for name in range(WEEKS * NEW):
        (risk, accepted), begun = patient(kind, rng), name // NEW
        again = [week for week in range(begun + 1, WEEKS) if rng.random() < AGAIN]
        for visit, week in enumerate([begun, *again]):
            weeks[week].append((name, scale * at_visit(kind, risk, visit), accepted))
    watch = Monitor(policy, returning="skip")
    for week in weeks:
        shown = [week[k] for k in rng.permutation(len(week)) for _ in range(rng.integers(1, 4))]
        names, risks, chances = (np.array(column) for column in zip(*shown, strict=True))
        sure, luck = rng.random(len(names)) < chances, rng.random(len(names))
        score = np.where(sure, least + (1.0 - least) * luck, 0.99 * least * luck)
        seen = watch.update((rng.random(len(names)) < risks) * 1.0, score, clusters=names)
    return bool(seen.violated), seen.returned, seen.n + seen.returned


def main() -> None:
    warnings.simplefilter("ignore")
    many, score = 200 if "--full" in sys.argv else 50, np.random.default_rng(0).random(3000)
    found = abstain.choose_threshold(np.zeros(3000), score, risk=LIMIT, delta=0.05, clusters=np.arange(3000) // 3)
    policy = found.policy(score="s")
    for kind, words in KINDS.items():
        for whole in (False, True):
            scale = factor(kind, whole)
            broken, left, total = np.sum([year(kind, scale, policy, seed) for seed in range(many)], axis=0)
            share = broken / many
            error = 196 * np.sqrt(max(share * (1 - share), 0.25 / many**2) / many)
            print(f"{words}; at the limit over {'all rows' if whole else 'first calls'}: ever called broken "
                  f"{100 * share:.1f} +- {error:.1f} %, left out {100 * left / total:.0f} % of rows",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
