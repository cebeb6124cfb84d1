"""Two scores or models that differ on few rows, in clusters, with losses of their own, or graded: false statements.

python benchmarks/few_differing.py [clusters] [large] [models] [answers] [graded] [successes] [power] [--full]

Populations in which both are equal, or the new one is worse by the margin. Some rows are promoted to the top of the
score: whole clusters (clusters), rows whose loss is between 0 and 1 (graded), rows that the new model answers
differently (models); or the score is the same, and the new model errs on other rows (answers). Clusters of two rows but
for promoted ones of fifty (large). Nearly all rows wrong, of which some are demoted (successes). Shares with 1.96 Monte
Carlo errors of 100 samples, with --full of 400. For one 0/1 loss: ranks_and_margins.py moved.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

import abstain
from abstain.inference import non_inferiority

KINDS = ("clusters", "large", "models", "answers", "graded", "successes")
#: Metric, error rate, share of rows that differ, sample size, margin.
CELLS = (
    ("augrc", 0.02, 0.05, 1500, 0.0002), ("augrc", 0.04, 0.02, 2500, 0.0002), ("augrc", 0.1, 0.05, 500, 0.001),
    ("augrc", 0.1, 0.02, 1000, 0.001), ("aurc", 0.05, 0.05, 2000, 0.0005), ("aurc", 0.1, 0.02, 1000, 0.001),
)  # fmt: skip
SIZE, ROWS = 60_000, 5


class Population(NamedTuple):
    """Scores of the old and the new one, each row's chance of an error of either, and where they differ."""

    old: Any
    new: Any
    chance_old: Any
    chance_new: Any
    differs: Any


def population(kind: str, metric: str, error: float, share: float, margin: float) -> Population:
    """Return a population in which the new one is worse by the margin: by bisection."""
    rng = np.random.default_rng(3)
    old = rng.random(SIZE)
    doubtful = (old < 0.5) & (rng.random(SIZE) < 2.0 * share)
    if kind == "clusters":
        level = rng.random(SIZE // ROWS)
        old = np.argsort(np.argsort(np.repeat(0.7 * level, ROWS) + 0.3 * old)) / SIZE
        doubtful = np.repeat((level < 0.5) & (rng.random(SIZE // ROWS) < 2.0 * share), ROWS)
    chance = error * (1.0 - old) ** 2 / np.mean((1.0 - old) ** 2)
    sure = (old > 0.5) & (rng.random(SIZE) < 2.0 * share)
    same = kind == "answers"
    new = old if same else np.where(doubtful, 1.0 + 0.01 * rng.random(SIZE), old)
    where, rest = (sure, np.where(doubtful, 0.0, chance)) if same else (doubtful, chance)
    own, weight = kind in ("models", "answers"), np.where(doubtful, 50.0, 2.0) if kind == "large" else None
    if kind == "successes":
        old, new = -old, -new
    wrong: Any = (lambda rate: 1.0 - rate) if kind == "successes" else (lambda rate: rate)

    def measure(rate: Any, score: Any) -> float:
        return float(getattr(abstain, metric)(wrong(rate), score, sample_weight=weight))

    low, high = 1e-9, 0.95
    for _ in range(50):
        middle = 0.5 * (low + high)
        tried = np.where(where, middle, rest)
        worse = measure(tried, new) - measure(chance if own else tried, old)
        low, high = (middle, high) if worse < margin else (low, middle)
    found = np.where(where, low, rest)
    return Population(old, new, wrong(chance if own else found), wrong(found), sure | doubtful if same else doubtful)


def sample(kind: str, of: Population, n: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return losses, scores and clusters of a sample."""
    chosen, clusters = rng.integers(0, SIZE, n), None
    luck = rng.random(n)
    if kind == "clusters":  # in half of the clusters all rows share their luck
        clusters = np.repeat(np.arange(n // ROWS), ROWS)
        chosen = (rng.integers(0, SIZE // ROWS, n // ROWS)[:, None] * ROWS + np.arange(ROWS)).ravel()
        shared = np.repeat(rng.random(n // ROWS) < 0.5, ROWS)
        luck = np.where(shared, np.repeat(rng.random(n // ROWS), ROWS), luck)
    if kind == "large":  # n / 2 clusters, each wrong or right as a whole
        clusters = np.repeat(np.arange(n // 2), np.where(of.differs[chosen[: n // 2]], 50, 2))
        chosen, luck = chosen[clusters], luck[clusters]
    scores = {"new": of.new[chosen], "old": of.old[chosen]}
    if kind == "large":
        scores = {name: score + 1e-6 * rng.random(score.size) for name, score in scores.items()}
    loss = (luck < of.chance_old[chosen]) * 1.0
    if kind == "graded":
        loss *= 0.1 + 0.9 * rng.random(n)
    if kind not in ("models", "answers"):
        return loss, scores, clusters
    other = np.where(of.differs[chosen], rng.random(n), luck)
    return {"new": (other < of.chance_new[chosen]) * 1.0, "old": loss}, scores, clusters


def percent(k: float, n: int) -> str:
    """Return a share with its error."""
    return f"{100 * k / n:.1f} +- {196 * np.sqrt(max(k / n * (1 - k / n), 0.25 / n**2) / n):.1f} %"


def moved(kind: str, many: int) -> None:
    """How often equal ones differ, and one that is worse by the margin is called not worse."""
    for metric, error, share, n, margin in CELLS:
        equal, worse = (population(kind, metric, error, share, each) for each in (0.0, margin))
        found, tried = np.zeros(2), 0
        for k in range(many):
            loss, scores, clusters = sample(kind, equal, n, np.random.default_rng([5, k, 0]))
            found[0] += abstain.compare(loss, scores, metric, clusters=clusters).differences[0].significant
            loss, scores, clusters = sample(kind, worse, n, np.random.default_rng([5, k, 1]))
            try:
                claim = non_inferiority(loss, scores, metric, margin=margin, clusters=clusters)
            except ValueError:  # too few errors for a claim
                continue
            tried += 1
            found[1] += claim.shown
        print(f"{kind}, {metric}, {error * n:.0f} errors in {n}, {100 * share:.0f} % differ: equal, yet different "
              f"{percent(found[0], many)}; worse by the margin, yet not worse {percent(found[1], max(tried, 1))}",
              flush=True)  # fmt: skip


def ordinary(kind: str, n: int, share: float, gap: float, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return two scores or models that differ on most rows: by ``gap``."""
    base, clusters = rng.normal(size=n), None
    if kind == "models":
        loss, scores = {}, {}
        for name, sign in (("a", -1.0), ("b", 1.0)):
            own = 0.8 * base + 0.6 * rng.normal(size=n) + 0.4 * gap * sign
            loss[name] = (own > (1.64 if share < 0.1 else 0.84)) * 1.0
            scores[name] = rng.normal(size=n) - own
        return loss, scores, None
    hard = rng.normal(size=n)
    if kind == "clusters":
        clusters = np.repeat(np.arange(n // ROWS), ROWS)
        hard, base = (0.7 * np.repeat(rng.normal(size=n // ROWS), ROWS) + 0.7 * each for each in (hard, base))
    wrong = hard < np.quantile(hard, share)
    scores = {name: base + 0.8 * rng.normal(size=n) - (1.4 + sign * gap / 2) * wrong
              for name, sign in (("a", 1.0), ("b", -1.0))}  # fmt: skip
    return wrong * (0.1 + 0.9 * rng.random(n) if kind == "graded" else 1.0), scores, clusters


def power(many: int) -> None:
    """How often scores or models that differ on most rows are told apart, equal and not."""
    for kind in ("clusters", "models", "graded", "scores"):
        rare = [
            (2500, 0.01, "augrc"),
            (2000, 0.02, "augrc"),
            (400, 0.1, "augrc"),
            (200, 0.4, "augrc"),
            (200, 0.4, "aurc"),
        ]
        for n, share, metric in [(500, 0.2, "augrc"), (1000, 0.05, "augrc"), (500, 0.2, "aurc")] + rare * (
            kind == "scores"
        ):
            found = np.zeros(2)
            for k in range(many):
                for place, gap in enumerate((0.0, 0.3)):
                    loss, scores, clusters = ordinary(kind, n, share, gap, np.random.default_rng([9, k, place]))
                    test = abstain.compare(loss, scores, metric, clusters=clusters).differences[0]
                    found[place] += test.significant
            print(f"{kind}, {metric}, {share * n:.0f} errors in {n}: equal, yet different {percent(found[0], many)}; "
                  f"different, and found so {percent(found[1], many)}", flush=True)  # fmt: skip


def main() -> None:
    warnings.simplefilter("ignore")
    many = 400 if "--full" in sys.argv else 100
    for name in [name for name in sys.argv[1:] if name != "--full"] or (*KINDS, "power"):
        power(many) if name == "power" else moved(name, many)


if __name__ == "__main__":
    main()
