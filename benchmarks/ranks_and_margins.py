"""Ranks as sets, claims at the margin, groups, useless second scores: how often what is said is false.

python benchmarks/ranks_and_margins.py [ranks] [margins] [moved] [groups] [null] [--full]

Without names all: some minutes; with --full an hour. Shares with 1.96 Monte Carlo errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import abstain
from abstain.inference import as_metric, compare_groups, non_inferiority, paired, panel, rank_sets

#: Name, samples, and how far each score shifts errors down, in standard deviations.
RANKINGS = (
    ("5 nearly equal", 500, np.linspace(1.2, 1.22, 5)),
    ("10, tiny gaps", 500, np.linspace(1.2, 1.29, 10)),
    ("2 apart, 8 near", 500, np.r_[1.8, 1.7, np.linspace(1.0, 1.02, 8)]),
    ("10, clear gaps", 500, np.linspace(0.4, 2.2, 10)),
    ("30, tiny gaps", 300, np.linspace(1.2, 1.49, 30)),
)


def percent(k: float, n: int) -> str:
    """Return a share with its error."""
    return f"{100 * k / n:.1f} +- {196 * np.sqrt(max(k / n * (1 - k / n), 0.25 / n**2) / n):.1f} %"


def ranks(full: bool) -> None:
    """All true ranks inside their sets at once, and how large the sets are."""
    for name, n, shift in RANKINGS:
        rng, inside, size = np.random.default_rng([1, len(shift)]), 0, 0.0
        many = (1000 if full else 60) // (5 if len(shift) == 30 else 1)
        true = np.argsort(np.argsort(-shift)) + 1
        for _ in range(many):
            wrong, base = (rng.random(n) < 0.2) * 1.0, rng.normal(size=n)
            scores: Any = {str(j): 0.7 * base + 0.7 * rng.normal(size=n) - at * wrong for j, at in enumerate(shift)}
            tests = paired(as_metric("augrc"), panel(wrong, scores, None), adjust="none", rng=rng)
            low, high = rank_sets(tests, 0.95, True, rng)
            inside += bool(((low <= true) & (true <= high)).all())
            size += float((high - low + 1).mean())
        sizes = f"mean size {size / many:.2f} of {len(shift)}"
        print(f"{name}: all true ranks in their sets {percent(inside, many)}, {sizes}", flush=True)


def two_scores(n: int, share: float, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return errors, and two scores that share much, of which the first is better."""
    wrong, base = rng.random(n) < share, rng.normal(size=n)
    good, bad = (base + 0.8 * rng.normal(size=n) - at * wrong for at in (1.5, 1.2))
    return wrong * 1.0, good, bad


def truth(metric: str, wrong: Any, score: Any) -> float:
    """Return the metric of a sample that is as good as the population."""
    return float(as_metric(metric)(abstain.TieBlocks.from_samples(wrong, score)))


def margins(full: bool) -> None:
    """The difference is exactly the margin, so each claim is false, on either side."""
    for share, sizes in ((0.05, (400, 800, 1000, 2000)), (0.2, (200, 400, 1000))):
        wrong, good, bad = two_scores(4_000_000, share, np.random.default_rng(5))
        for metric in ("augrc", "aurc"):
            margin = truth(metric, wrong, bad) - truth(metric, wrong, good)
            for n in sizes:
                rng, found, many = np.random.default_rng([2, n]), np.zeros(2), 3000 if full else 200
                refused = 0
                for _ in range(many):
                    loss, one, other = two_scores(n, share, rng)
                    try:
                        claim = non_inferiority(loss, {"new": other, "old": one}, metric, margin=margin)
                    except ValueError:
                        refused += 1
                        continue
                    found += claim.shown, claim.low > margin
                done = many - refused
                print(f"{metric}, {share * n:.0f} errors expected in {n}: false {percent(found[0], done)} (not worse), "
                      f"{percent(found[1], done)} (worse), refused {refused}", flush=True)  # fmt: skip


def promoted(metric: str, error: float, share: float, margin: float) -> tuple[Any, Any, Any]:
    """Return a score, the same with some rows promoted, worse by ``margin``, and each row's chance of an error."""
    rng = np.random.default_rng(3)
    base = rng.random(60_000)
    moves = (base < 0.5) & (rng.random(base.size) < 2.0 * share)
    other = np.where(moves, 1.0 + 0.01 * rng.random(base.size), base)
    chance = error * (1.0 - base) ** 2 / np.mean((1.0 - base) ** 2)
    low, high = 1e-6, 0.9
    for _ in range(50):
        middle = 0.5 * (low + high)
        tried = np.where(moves, middle, chance)
        worse = getattr(abstain, metric)(tried, other) - getattr(abstain, metric)(tried, base)
        low, high = (middle, high) if worse < margin else (low, middle)
    return base, other, np.where(moves, low, chance)


def moved(full: bool) -> None:
    """Two scores that differ on few rows: equal ones, and one that is worse by the margin."""
    for metric, error, share, n, margin in (
        ("augrc", 0.02, 0.05, 1500, 0.0002), ("augrc", 0.04, 0.02, 2500, 0.0002), ("augrc", 0.05, 0.05, 2000, 0.0005),
        ("augrc", 0.1, 0.05, 500, 0.001), ("augrc", 0.1, 0.02, 1000, 0.001), ("augrc", 0.02, 0.02, 10000, 0.0001),
        ("aurc", 0.04, 0.02, 2500, 0.0005), ("aurc", 0.05, 0.05, 2000, 0.0005), ("aurc", 0.1, 0.02, 1000, 0.001),
    ):  # fmt: skip
        equal, worse = (promoted(metric, error, share, each) for each in (0.0, margin))
        found, many = np.zeros(2), 1000 if full else 100
        for k in range(many):
            for place, (base, other, chance) in enumerate((equal, worse)):
                rng = np.random.default_rng([5, k])
                rows = rng.integers(0, base.size, n)
                loss, scores = (rng.random(n) < chance[rows]) * 1.0, {"new": other[rows], "old": base[rows]}
                if place == 0:
                    found[0] += abstain.compare(loss, scores, metric).differences[0].significant
                elif loss.sum() >= 20:
                    found[1] += non_inferiority(loss, scores, metric, margin=margin).shown
        print(
            f"{metric}, {error * n:.0f} errors in {n}, {100 * share:.0f} % of rows promoted: equal, yet different "
            f"{percent(found[0], many)}; worse by the margin, yet not worse {percent(found[1], many)}",
            flush=True,
        )


def groups(full: bool) -> None:
    """Groups with the same risk and ranking: any difference is false; intervals hold together."""
    wrong, good, _ = two_scores(4_000_000, 0.2, np.random.default_rng(6))
    for count, size in ((20, 50), (5, 300), (3, 1000)):
        for metric in ("risk", "augrc"):
            rng, false, together = np.random.default_rng([3, count]), 0, 0
            many, true = 1000 if full else 60, truth(metric, wrong, good)
            for _ in range(many):
                loss, score, _ = two_scores(count * size, 0.2, rng)
                found = compare_groups(loss, score, np.repeat(np.arange(count), size), metric)
                false += any(each.significant for each in found.differences)
                together += all(each.low <= true <= each.high for each in found.intervals.values())
            print(f"{count} groups of {size}, {metric}: any false difference {percent(false, many)}, "
                  f"intervals hold together {percent(together, many)}", flush=True)  # fmt: skip


def null(full: bool) -> None:
    """The second score is the confidence with noise, which adds nothing."""
    for n, spread, metric in ((150, 1.0, "ds_f1"), (150, 1.0, "ds_aurc"), (400, 1.0, "ds_f1"), (400, 0.2, "ds_f1")):
        rng, found, many = np.random.default_rng([4, n]), np.zeros(2), 2000 if full else 100
        pure = many // 10  # of pure noise, which is found useful far too often, fewer tell enough
        for done in range(many):
            inside, outside = rng.normal(size=n), rng.normal(size=n) - 1.0
            columns: Any = {
                "id_confidence": inside, "ood_confidence": outside,
                "id_detector": inside + spread * rng.normal(size=n),
                "ood_detector": outside + spread * rng.normal(size=n),
            }  # fmt: skip
            wrong = rng.random(n) < 1.0 / (1.0 + np.exp(1.8 + 1.5 * inside))
            for k, scheme in enumerate(("conditional", "permuted")):
                if scheme == "conditional" or done < pure:
                    gain = abstain.joint.null_gain(wrong, **columns, metric=metric, scheme=scheme, rng=rng)
                    found[k] += gain.p_value <= 0.05
        print(f"{n} + {n}, confidence + N(0, {spread}), {metric}: useful {percent(found[0], many)} (conditional), "
              f"{percent(found[1], pure)} (permuted)", flush=True)  # fmt: skip


def main() -> None:
    studies: dict[str, Callable[[bool], None]] = {
        "ranks": ranks, "margins": margins, "moved": moved, "groups": groups, "null": null,
    }  # fmt: skip
    for name in [name for name in sys.argv[1:] if name != "--full"] or studies:
        studies[name]("--full" in sys.argv)


if __name__ == "__main__":
    main()
