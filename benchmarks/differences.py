"""Tests of differences: how often what is said of ranks, claims at the margin and groups is false.

    python -m benchmarks.differences [ranks margins moved few groups null unequal] [--full]

``moved`` and ``few``: two scores that differ on few rows, both equal or one worse by the margin.
"""

from typing import Any, NamedTuple

import numpy as np
from benchmarks.harness import Form, bisected, command, percent, say

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


def ranks(form: Form) -> None:
    """All true ranks inside their sets at once, and how large the sets are."""
    for name, n, shift in RANKINGS:
        rng, inside, size = np.random.default_rng([1, len(shift)]), 0, 0.0
        many = max(1, form(1000, 60) // (5 if len(shift) == 30 else 1))
        true = np.argsort(np.argsort(-shift)) + 1
        for _ in range(many):
            wrong, base = (rng.random(n) < 0.2) * 1.0, rng.normal(size=n)
            scores: Any = {str(j): 0.7 * base + 0.7 * rng.normal(size=n) - at * wrong for j, at in enumerate(shift)}
            tests = paired(as_metric("augrc"), panel(wrong, scores, None), adjust="none", rng=rng)
            low, high = rank_sets(tests, 0.95, True, rng)
            inside += bool(((low <= true) & (true <= high)).all())
            size += float((high - low + 1).mean())
        sizes = f"mean size {size / many:.2f} of {len(shift)}"
        say(f"{name}: all true ranks in their sets {percent(inside, many)}, {sizes}")


def two_scores(n: int, share: float, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return errors, and two scores that share much, of which the first is better."""
    wrong, base = rng.random(n) < share, rng.normal(size=n)
    good, bad = (base + 0.8 * rng.normal(size=n) - at * wrong for at in (1.5, 1.2))
    return wrong * 1.0, good, bad


def truth(metric: str, wrong: Any, score: Any) -> float:
    """Return the metric of a sample that is as good as the population."""
    return float(as_metric(metric)(abstain.TieBlocks.from_samples(wrong, score)))


def margins(form: Form) -> None:
    """The difference is exactly the margin, so each claim is false, on either side."""
    many = form(3000, 200)
    for share, sizes in ((0.05, (800, 1000)), (0.2, (200, 400))):
        wrong, good, bad = two_scores(4_000_000, share, np.random.default_rng(5))
        for metric in ("augrc", "aurc"):
            margin = truth(metric, wrong, bad) - truth(metric, wrong, good)
            for n in sizes:
                rng, found, refused = np.random.default_rng([2, n]), np.zeros(2), 0
                for _ in range(many):
                    loss, one, other = two_scores(n, share, rng)
                    try:
                        claim = non_inferiority(loss, {"new": other, "old": one}, metric, margin=margin)
                    except ValueError:
                        refused += 1
                        continue
                    found += claim.shown, claim.low > margin
                false, worse = (percent(each, many - refused) for each in found)
                say(f"{metric}, {share * n:.0f} errors in {n}: false {false} (not worse), {worse} (worse)")


def groups(form: Form) -> None:
    """Groups with the same risk and ranking: any difference is false; intervals hold together."""
    wrong, good, _ = two_scores(4_000_000, 0.2, np.random.default_rng(6))
    many = form(1000, 60)
    for count, size in ((20, 50), (5, 300), (3, 1000)):
        for metric in ("risk", "augrc"):
            rng, false, together = np.random.default_rng([3, count]), 0, 0
            true = truth(metric, wrong, good)
            for _ in range(many):
                loss, score, _ = two_scores(count * size, 0.2, rng)
                found = compare_groups(loss, score, np.repeat(np.arange(count), size), metric)
                false += any(each.significant for each in found.differences)
                together += all(each.low <= true <= each.high for each in found.intervals.values())
            shares = f"any false difference {percent(false, many)}, intervals hold together {percent(together, many)}"
            say(f"{count} groups of {size}, {metric}: {shares}")


def null(form: Form) -> None:
    """The second score is the confidence with noise, which adds nothing."""
    many = form(2000, 100)
    pure = max(1, many // 10)  # of pure noise, which is found useful far too often, fewer tell enough
    for n, spread, metric in ((150, 1.0, "ds_f1"), (150, 1.0, "ds_aurc"), (400, 1.0, "ds_f1"), (400, 0.2, "ds_f1")):
        rng, found = np.random.default_rng([4, n]), np.zeros(2)
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
        useful = f"{percent(found[0], many)} (conditional), {percent(found[1], pure)} (permuted)"
        say(f"{n} + {n}, confidence + N(0, {spread}), {metric}: useful {useful}")


# ---------------------------------------------------------------------- two scores that differ on few rows


#: Metric, error rate, share of rows that differ, sample size, margin.
CELLS = (
    ("augrc", 0.02, 0.05, 1500, 0.0002), ("augrc", 0.04, 0.02, 2500, 0.0002), ("augrc", 0.1, 0.05, 500, 0.001),
    ("augrc", 0.1, 0.02, 1000, 0.001), ("aurc", 0.05, 0.05, 2000, 0.0005), ("aurc", 0.1, 0.02, 1000, 0.001),
)  # fmt: skip
PLAIN = (
    ("augrc", 0.02, 0.05, 1500, 0.0002), ("augrc", 0.04, 0.02, 2500, 0.0002), ("augrc", 0.05, 0.05, 2000, 0.0005),
    ("augrc", 0.1, 0.05, 500, 0.001), ("augrc", 0.1, 0.02, 1000, 0.001), ("augrc", 0.02, 0.02, 10000, 0.0001),
    ("aurc", 0.04, 0.02, 2500, 0.0005), ("aurc", 0.05, 0.05, 2000, 0.0005), ("aurc", 0.1, 0.02, 1000, 0.001),
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
    """Return a population in which the new one is worse by the margin.

    ``plain``: some rows are promoted; ``clusters``: whole clusters are; ``large``: promoted clusters have fifty rows,
    the others two; ``graded``: with losses between 0 and 1; ``models``: the new model answers these rows differently;
    ``answers``: with one score; ``successes``: nearly all rows are wrong, and some are demoted.
    """
    rng = np.random.default_rng(3)
    old = rng.random(SIZE)
    doubtful = (old < 0.5) & (rng.random(SIZE) < 2.0 * share)
    if kind == "clusters":
        level = rng.random(SIZE // ROWS)
        old = np.argsort(np.argsort(np.repeat(0.7 * level, ROWS) + 0.3 * old)) / SIZE
        doubtful = np.repeat((level < 0.5) & (rng.random(SIZE // ROWS) < 2.0 * share), ROWS)
    chance = error * (1.0 - old) ** 2 / np.mean((1.0 - old) ** 2)
    if kind != "plain":
        sure = (old > 0.5) & (rng.random(SIZE) < 2.0 * share)
    same = kind == "answers"
    new = old if same else np.where(doubtful, 1.0 + 0.01 * rng.random(SIZE), old)
    rest = np.where(doubtful, 0.0, chance) if same else chance
    where = sure if same else doubtful
    own, weight = kind in ("models", "answers"), np.where(doubtful, 50.0, 2.0) if kind == "large" else None
    if kind == "successes":
        old, new = -old, -new
    wrong: Any = (lambda rate: 1.0 - rate) if kind == "successes" else (lambda rate: rate)

    def measure(rate: Any, score: Any) -> float:
        return float(getattr(abstain, metric)(wrong(rate), score, sample_weight=weight))

    def better(rate: float) -> bool:
        tried = np.where(where, rate, rest)
        return measure(tried, new) - measure(chance if own else tried, old) < margin

    found = np.where(where, bisected(1e-9, 0.95, better), rest)
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


def moved(form: Form) -> None:
    """Some rows are promoted."""
    differing("plain", PLAIN, form(1000, 100))


def few(form: Form) -> None:
    """Clusters, models, answers or graded losses."""
    for kind in ("clusters", "models", "answers", "graded"):
        differing(kind, CELLS, form(400, 100))


def differing(kind: str, cells: Any, many: int) -> None:
    """How often equal ones differ, and one that is worse by the margin is called not worse."""
    for metric, error, share, n, margin in cells:
        equal, worse = (population(kind, metric, error, share, each) for each in (0.0, margin))
        found, tried = np.zeros(2), 0
        for k in range(many):
            seeds = ([5, k], [5, k]) if kind == "plain" else ([5, k, 0], [5, k, 1])
            loss, scores, clusters = sample(kind, equal, n, np.random.default_rng(seeds[0]))
            found[0] += abstain.compare(loss, scores, metric, clusters=clusters).differences[0].significant
            loss, scores, clusters = sample(kind, worse, n, np.random.default_rng(seeds[1]))
            try:
                claim = non_inferiority(loss, scores, metric, margin=margin, clusters=clusters)
            except ValueError:  # too few errors for a claim
                continue
            tried += 1
            found[1] += claim.shown
        false = f"equal, yet different {percent(found[0], many)}"
        false += f"; worse by the margin, yet not worse {percent(found[1], tried)} of {tried}"
        say(f"{kind}, {metric}, {error * n:.0f} errors in {n}, {100 * share:.0f} % differ: {false}")


# ---------------------------------------------------------------------- clusters of unequal size


def sizes(kind: str, clusters: int, rng: np.random.Generator) -> Any:
    """Return the rows of each cluster."""
    if kind == "equal":
        return np.full(clusters, 10)
    if kind == "log-normal":
        return np.maximum(1, np.round(np.exp(rng.normal(1.5, 1.2, clusters)))).astype(int)
    return np.where(rng.random(clusters) < 0.05, 100, 5)


def scored(rows: Any, noise: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return losses and two scores, the second noisier; rows of a cluster share half of everything."""
    n, clusters = len(rows), int(rows.max()) + 1
    hard = rng.normal(size=n) + rng.normal(size=clusters)[rows]
    loss = (-hard + rng.normal(size=clusters)[rows] + rng.normal(size=n) > 1.7) * 1.0
    return loss, {
        name: hard + spread * rng.normal(size=n) + rng.normal(size=clusters)[rows]
        for name, spread in (("a", 0.7), ("b", 0.7 + noise))
    }


def unequal(form: Form) -> None:
    """Equal ones that differ, and different ones that are found."""
    many = form(600, 100)
    for kind, clusters in (("one in twenty", 20), ("one in twenty", 60), ("log-normal", 20), ("log-normal", 60)):
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
        for name, shares in zip(("risk, two models", "AUGRC, two models", "AUGRC, one loss"), found, strict=True):
            equal, apart = (percent(each, many) for each in shares)
            say(f"{clusters} clusters, {kind}, {name}: equal, yet different {equal}; different, and found so {apart}")


if __name__ == "__main__":
    command(__doc__, ranks, margins, moved, few, groups, null, unequal)
