"""Tests of differences in clusters of unequal size: how often equal ones differ, and what is found of true differences.

python benchmarks/unequal_clusters.py [tests] [margins] [ranks] [--full]

Two models of equal error rates, which vary between clusters (by risk and AUGRC), and two scores of one model (AUGRC),
of which one is noisier where they differ; a claim "not worse" at its margin; sets of the ranks of five exchangeable
scores. Sizes: all 10; 5 but for one cluster in twenty of 100; log-normal. Shares with 1.96 Monte Carlo errors of 100
samples, with --full of 600.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

import abstain
from abstain.inference import non_inferiority

CELLS = (("equal", 20), ("one in twenty", 20), ("one in twenty", 60), ("log-normal", 20), ("log-normal", 60))


def percent(k: float, n: int) -> str:
    """Return a share with its error."""
    return f"{100 * k / n:.1f} +- {196 * np.sqrt(max(k / n * (1 - k / n), 0.25 / n**2) / n):.1f} %"


def sizes(kind: str, clusters: int, rng: np.random.Generator) -> Any:
    """Return the rows of each cluster."""
    if kind == "equal":
        return np.full(clusters, 10)
    if kind == "log-normal":
        return np.maximum(1, np.round(np.exp(rng.normal(1.5, 1.2, clusters)))).astype(int)
    return np.where(rng.random(clusters) < 0.05, 100, 5)


def scored(rows: Any, noise: float, rng: np.random.Generator, several: int = 2) -> tuple[Any, Any]:
    """Return losses and scores, of which only the first is less noisy; rows of a cluster share half of everything."""
    n, clusters = len(rows), int(rows.max()) + 1
    hard = rng.normal(size=n) + rng.normal(size=clusters)[rows]
    loss = (-hard + rng.normal(size=clusters)[rows] + rng.normal(size=n) > 1.7) * 1.0
    return loss, {
        chr(97 + k): hard + (0.7 + noise * (k > 0)) * rng.normal(size=n) + rng.normal(size=clusters)[rows]
        for k in range(several)
    }


def tests(many: int) -> None:
    """Equal ones that differ, and different ones that are found."""
    for kind, clusters in CELLS:
        found = np.zeros((3, 2))
        for k in range(many):
            for place in (0, 1):
                rng = np.random.default_rng([k, 97, place])
                rows = np.repeat(np.arange(clusters), sizes(kind, clusters, rng))
                a, b = (rng.beta(1, 4, clusters)[rows] for _ in range(2))
                losses = {"a": (rng.random(len(rows)) < a) * 1.0, "b": (rng.random(len(rows)) < b + 0.12 * place) * 1.0}
                noise = {"a": rng.random(len(rows)), "b": rng.random(len(rows))}
                for j, metric in enumerate(("risk", "augrc")):
                    found[j, place] += abstain.compare(losses, noise, metric, clusters=rows).differences[0].significant
                loss, scores = scored(rows, 1.5 * place, rng)
                if 0.0 < loss.sum() < len(rows):
                    found[2, place] += abstain.compare(loss, scores, clusters=rows).differences[0].significant
        for name, (equal, apart) in zip(
            ("risk, two models", "AUGRC, two models", "AUGRC, one loss"), found, strict=True
        ):
            print(f"{clusters} clusters, {kind}, {name}: equal, yet different {percent(equal, many)}; different, and "
                  f"found so {percent(apart, many)}", flush=True)  # fmt: skip


def margins(many: int) -> None:
    """Claims that are false: a noisier score, worse by exactly the margin."""
    for kind, clusters in (*CELLS[1:], ("one in twenty", 200)):
        rng = np.random.default_rng(5)
        rows = np.repeat(np.arange(6000), sizes(kind, 6000, rng))
        loss, scores = scored(rows, 0.3, rng)
        margin = abstain.augrc(loss, scores["b"]) - abstain.augrc(loss, scores["a"])
        starts = np.searchsorted(rows, np.arange(6001))
        shown = done = 0
        for k in range(many):
            drawn = np.random.default_rng([k, 21]).integers(0, 6000, clusters)
            taken = np.concatenate([np.arange(starts[g], starts[g + 1]) for g in drawn])
            unit = np.repeat(np.arange(clusters), starts[drawn + 1] - starts[drawn])
            new = {"b": scores["b"][taken], "a": scores["a"][taken]}
            try:
                claim = non_inferiority(loss[taken], new, margin=margin, clusters=unit)
            except ValueError:  # too few errors for a claim
                continue
            done, shown = done + 1, shown + claim.shown
        print(f"{clusters} clusters, {kind}: at the margin, yet not worse {percent(shown, done)} of {done}", flush=True)


def ranks(many: int) -> None:
    """Sets of the ranks of five exchangeable scores, of which any that is not full is false."""
    for kind, clusters in CELLS:
        false = 0
        for k in range(many):
            rng = np.random.default_rng([k, 33])
            rows = np.repeat(np.arange(clusters), sizes(kind, clusters, rng))
            loss, scores = scored(rows, 0.0, rng, 5)
            if 0.0 < loss.sum() < len(rows):
                table = abstain.compare(loss, scores, clusters=rows).table
                false += any(row["set_low"] > 1 or row["set_high"] < 5 for row in table)
        print(f"{clusters} clusters, {kind}: a set of ranks that is not full {percent(false, many)}", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    many = 600 if "--full" in sys.argv else 100
    for name in [name for name in sys.argv[1:] if name != "--full"] or ("tests", "margins", "ranks"):
        globals()[name](many)


if __name__ == "__main__":
    main()
