"""Tests of differences: how often what is said of ranks, claims at the margin and groups is false.

    python benchmarks/differences.py [PART ...] [--full]

Without parts all: some minutes; with --full an hour. Shares with 1.96 Monte Carlo errors. Parts:

- ``ranks``, ``margins``, ``groups``: sets of ranks, claims where the difference is the margin, equal groups;
- ``null``: a second score that is the confidence with noise;
- ``moved``: two scores of one 0/1 loss that differ on few rows, both equal or one worse by the margin; ``clusters``:
  whole clusters are promoted; ``graded``: rows with a loss between 0 and 1; ``models``: rows that the new model answers
  differently; ``answers``: one score, other answers; ``large``: clusters of two rows but for promoted ones of fifty;
  ``successes``: nearly all rows wrong, some demoted; ``power``: two that differ on most rows;
- ``unequal_tests``, ``unequal_margins``, ``unequal_ranks``: the same in clusters of 10 rows; of 5 but for one in
  twenty of 100; of log-normal sizes.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import Any, NamedTuple

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


def differing(kind: str, many: int) -> None:
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
        cells = [(500, 0.2, "augrc"), (1000, 0.05, "augrc"), (500, 0.2, "aurc")]
        if kind == "scores":
            cells += [(2500, 0.01, "augrc"), (2000, 0.02, "augrc"), (400, 0.1, "augrc")]
            cells += [(200, 0.4, "augrc"), (200, 0.4, "aurc")]
        for n, share, metric in cells:
            found = np.zeros(2)
            for k in range(many):
                for place, gap in enumerate((0.0, 0.3)):
                    loss, scores, clusters = ordinary(kind, n, share, gap, np.random.default_rng([9, k, place]))
                    test = abstain.compare(loss, scores, metric, clusters=clusters).differences[0]
                    found[place] += test.significant
            print(f"{kind}, {metric}, {share * n:.0f} errors in {n}: equal, yet different {percent(found[0], many)}; "
                  f"different, and found so {percent(found[1], many)}", flush=True)  # fmt: skip


UNEQUAL = (("equal", 20), ("one in twenty", 20), ("one in twenty", 60), ("log-normal", 20), ("log-normal", 60))


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


def unequal_tests(many: int) -> None:
    """Equal ones that differ, and different ones that are found."""
    for kind, clusters in UNEQUAL:
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


def unequal_margins(many: int) -> None:
    """Claims that are false: a noisier score, worse by exactly the margin."""
    for kind, clusters in (*UNEQUAL[1:], ("one in twenty", 200)):
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


def unequal_ranks(many: int) -> None:
    """Sets of the ranks of five exchangeable scores, of which any that is not full is false."""
    for kind, clusters in UNEQUAL:
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
    full, many = "--full" in sys.argv, 400 if "--full" in sys.argv else 100
    parts = {each.__name__: partial(each, full) for each in (ranks, margins, moved, groups, null)}
    parts |= {kind: partial(differing, kind, many) for kind in KINDS} | {"power": partial(power, many)}
    unequal = (unequal_tests, unequal_margins, unequal_ranks)
    parts |= {each.__name__: partial(each, 600 if full else 100) for each in unequal}
    for name in [name for name in sys.argv[1:] if name != "--full"] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
