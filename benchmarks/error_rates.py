"""How often comparisons are false, and how often they find what is there: the populations that make them hard.

    python -m benchmarks.error_rates hard margins power [--store FILE] [--match TEXT] [--samples N]

Everything goes through the public API, with its defaults where no method is named. Cells take turns, and counts are
kept in FILE after each turn, so that a run can be ended and taken up again. A cell ends after N samples, or as soon as
each share has a Monte Carlo error below 0.7 points.
"""

import json
import re
import time
import zlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import differences
from benchmarks.harness import Form, command, percent, say

import abstain
from abstain.inference import non_inferiority, permutation_test

#: Samples between two looks at a cell, the least of a cell, the error that ends one, and rows behind a tuned number.
TURN, LEAST, ENOUGH, MANY = 25, 300, 0.007, 300_000

Generator = np.random.Generator
#: Losses, two scores, clusters.
Sample = tuple[Any, dict[str, Any], Any]
Draw = Callable[[Generator], Sample]
Cell = Callable[[Generator], dict[str, float]]
Cells = dict[str, Cell]


# ---------------------------------------------------------------------- populations


def confident(error: float, top: float, n: int, x: float, rng: Generator) -> Sample:
    """One score is noisy everywhere, the other perfect but for a share of the errors, which is at the top."""
    loss, high = (rng.random(n) < error) * 1.0, rng.random(n) < top
    a = rng.normal(size=n) - x * loss
    return loss, {"a": a, "b": rng.normal(size=n) + loss * np.where(high, 3.0, -4.0)}, None


def hopeless(right: float, bottom: float, n: int, x: float, rng: Generator) -> Sample:
    """The same of right answers, where few answers are right and a share of these is at the bottom."""
    loss, scores, _ = confident(right, bottom, n, x, rng)
    return 1.0 - loss, {name: -each for name, each in scores.items()}, None


def copied(error: float, top: float, n: int, x: float, rng: Generator) -> Sample:
    """Rows of :func:`confident`, of which a tenth occurs 15 times: a cluster each."""
    loss, scores, _ = confident(error, top, n, x, rng)
    rows = np.repeat(np.arange(n), np.where(rng.random(n) < 0.1, 15, 1))
    return loss[rows], {name: each[rows] for name, each in scores.items()}, rows


def coins(sizes: str, clusters: int, rng: Generator) -> Sample:
    """In each cluster a coin says which of the two scores is informative, the other is noise; one in seven errs."""
    size = {
        "sixty or two": lambda: np.where(rng.random(clusters) < 0.05, 60, 2),
        "one of 160": lambda: np.r_[160, rng.integers(1, 5, clusters - 1)],
        "fifty or two": lambda: np.where(rng.random(clusters) < 0.05, 50, 2),
        "log-normal": lambda: np.maximum(1, np.round(np.exp(rng.normal(1.0, 1.3, clusters)))).astype(int),
        "three of 200": lambda: np.r_[200, 200, 200, np.full(clusters - 3, 5)],
        "equal": lambda: np.full(clusters, 6),
    }[sizes]()
    rows = np.repeat(np.arange(clusters), size)
    loss = (rng.random(rows.size) < 0.6 * (rng.random(clusters) < 0.15)[rows]) * 1.0
    good, noise, coin = rng.normal(size=rows.size) - 2.0 * loss, rng.normal(size=rows.size), rng.random(clusters) < 0.5
    first = coin[rows]
    return loss, {"a": np.where(first, good, noise), "b": np.where(first, noise, good)}, rows


def exchangeable(error: float, n: int, digits: float, shift: float, rng: Generator) -> Sample:
    """Two scores that are alike; ``digits``: steps in a unit to which they are rounded, 0 for none."""
    loss = (rng.random(n) < error) * 1.0
    both = rng.normal(size=(2, n)) - shift * loss
    both = np.round(both * digits) / digits if digits else both
    return loss, dict(zip("ab", both, strict=True)), None


def agreeing(n: int, rng: Generator) -> Sample:
    """Scores that agree on 94 % of the rows."""
    loss, base = (rng.random(n) < 0.1) * 1.0, rng.normal(size=n)
    base -= loss
    pick = rng.random(n)
    return loss, {name: np.where((pick > low) & (pick < low + 0.03), rng.normal(size=n) - loss, base)
                  for name, low in (("a", 0.0), ("b", 0.03))}, None  # fmt: skip


def small_losses(n: int, x: float, rng: Generator) -> Sample:
    """Losses up to 0.1 on a tenth of the rows; 2 % of the rows are promoted, and only these have losses of 1."""
    old = rng.random(n)
    moved = (old < 0.5) & (rng.random(n) < 0.04)
    loss = np.where(moved, rng.random(n) < x, np.where(rng.random(n) < 0.1, 0.1 * rng.random(n), 0.0))
    return loss, {"a": np.where(moved, 1.0 + 0.01 * rng.random(n), old), "b": old}, None


def crowded(rows: int, n: int, x: float, rng: Generator) -> Sample:
    """Promoted clusters of so many rows among clusters of two; a cluster is wrong or right as a whole."""
    level = rng.random(n // 2)
    moved = (level < 0.5) & (rng.random(level.size) < 0.04)
    unit = np.repeat(np.arange(level.size), np.where(moved, rows, 2))
    chance = np.where(moved, x, 0.3 * (1.0 - level) ** 2)
    loss, old = (rng.random(level.size) < chance)[unit] * 1.0, level[unit] + 1e-6 * rng.random(unit.size)
    return loss, {"a": np.where(moved[unit], 1.0 + 0.01 * rng.random(unit.size), old), "b": old}, unit


@cache
def tuned(made: Any, metric: str, low: float, high: float, *settings: Any) -> float:
    """Return the number x at which both scores of a huge sample have the same metric."""

    def gap(x: float) -> float:
        loss, scores, _ = made(*settings, MANY, x, np.random.default_rng(8))
        first, second = (float(getattr(abstain, metric)(loss, each)) for each in scores.values())
        return first - second

    start = gap(low)
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if (gap(middle) > 0.0) == (start > 0.0) else (low, middle)
    return low


@cache
def known(kind: str, cell: tuple[Any, ...]) -> differences.Population:
    """Return a population of ``differences`` in which both are equal."""
    return differences.population(kind, *cell[:3], 0.0)


def of_differences(kind: str, cell: tuple[Any, ...], rng: Generator) -> Sample:
    """A sample of ``differences``: few rows differ."""
    return differences.sample(kind, known(kind, cell), cell[3], rng)


def of_models(sizes: str, clusters: int, rng: Generator, whole: bool = False) -> Sample:
    """Two models that are equally often wrong, and useless scores.

    Each has its own luck in every cluster, or, as a ``whole``, one of them is wrong in clusters and the other in rows.
    """
    rows = np.repeat(np.arange(clusters), differences.sizes(sizes, clusters, rng))
    if whole:
        wrong = [(rng.random(clusters) < 0.1)[rows], rng.random(rows.size) < 0.1]
    else:
        wrong = [rng.random(rows.size) < rng.beta(1, 4, clusters)[rows] for _ in "ab"]
    losses = {name: each * 1.0 for name, each in zip("ab", wrong, strict=True)}
    return losses, {name: rng.random(rows.size) for name in "ab"}, rows


def of_rates(chance: float, often: float, clusters: int, rng: Generator) -> Sample:
    """Two models that are equally often wrong in all, one of them far more often in some clusters; useless scores."""
    rows = np.repeat(np.arange(clusters), 300 // clusters)
    rate = np.where(rng.random(clusters) < chance, often, 0.05)[rows], chance * often + (1.0 - chance) * 0.05
    losses = {name: (rng.random(rows.size) < each) * 1.0 for name, each in zip("ab", rate, strict=True)}
    return losses, {name: rng.random(rows.size) for name in "ab"}, rows


def of_scores(sizes: str, clusters: int, rng: Generator) -> Sample:
    """Two scores of one model that are alike; rows of a cluster share half of everything."""
    rows = np.repeat(np.arange(clusters), differences.sizes(sizes, clusters, rng))
    return (*differences.scored(rows, 0.0, rng), rows)


def noisier(n: int, error: float, kind: str, apart: float, rng: Generator) -> Sample:
    """Two scores of one model, of which the second is noisier, or less informative, or differs on a fifth."""
    base, wrong = rng.normal(size=n), rng.random(n) < error
    spread = {"noisier": (0.5, apart)}.get(kind, (0.8, 0.8))
    less = {"noisier": 0.0}.get(kind, apart)
    a, b = (base + by * rng.normal(size=n) - (1.4 - less * k) * wrong for k, by in enumerate(spread))
    if kind == "a fifth":
        b = np.where(rng.random(n) < 0.2, b, a)
    loss = wrong * (0.1 + 0.9 * rng.random(n) if kind == "graded" else 1.0)
    return loss, {"a": a, "b": b}, None


# ---------------------------------------------------------------------- cells


def equal(draw: Draw, metric: str, rng: Generator, method: Any = "auto") -> dict[str, float]:
    """Whether equal ones are called different, and whether the interval misses 0."""
    loss, scores, clusters = draw(rng)
    try:
        found = abstain.compare(loss, scores, metric, clusters=clusters, method=method).differences[0]
    except ValueError:  # no error, or nothing else: no value
        return {"different": 0.0, "interval misses 0": 0.0, "no p-value": 1.0}
    outside = found.low > 0.0 or found.high < 0.0
    return {"different": found.significant, "interval misses 0": outside, "no p-value": np.isnan(found.p_value)}


@cache
def clusters_of(sizes: str) -> tuple[Any, Any, Any, float]:
    """Return many clusters in which one score is noisier, where each begins, and by how much that score is worse."""
    rng = np.random.default_rng(5)
    rows = np.repeat(np.arange(6000), differences.sizes(sizes, 6000, rng))
    loss, scores = differences.scored(rows, 0.3, rng)
    margin = abstain.augrc(loss, scores["b"]) - abstain.augrc(loss, scores["a"])
    return loss, scores, np.searchsorted(rows, np.arange(6001)), margin


def at_the_margin(sizes: str, clusters: int, rng: Generator) -> dict[str, float]:
    """Whether a score that is worse by the margin is called not worse."""
    loss, scores, starts, margin = clusters_of(sizes)
    drawn = rng.integers(0, 6000, clusters)
    taken = np.concatenate([np.arange(starts[g], starts[g + 1]) for g in drawn])
    unit = np.repeat(np.arange(clusters), starts[drawn + 1] - starts[drawn])
    new = {"b": scores["b"][taken], "a": scores["a"][taken]}
    try:
        claim = non_inferiority(loss[taken], new, margin=margin, clusters=unit)
    except ValueError:  # too few errors
        return {"not worse": 0.0, "refused": 1.0}
    return {"not worse": claim.shown, "refused": np.isnan(claim.p_value)}


def found(draw: Draw, metric: str, rng: Generator) -> dict[str, float]:
    """Whether a real difference is found: by ``compare``, by swaps alone, and by influences with room anywhere."""
    loss, scores, _ = draw(rng)
    auto, plain = (
        abstain.compare(loss, scores, metric, method=method).differences[0]  # type: ignore[arg-type]
        for method in ("auto", "influence")
    )
    swap = permutation_test(loss, scores["a"], scores["b"], metric, n_permutations=299)
    return {"compare": auto.significant, "swaps": swap.p_value <= 0.05, "influence": plain.significant}


def alike_copies(clusters: int, rng: Generator) -> Sample:
    """Exchangeable scores of rows of which a tenth occurs 15 times."""
    loss = (rng.random(clusters) < 0.1) * 1.0
    rows = np.repeat(np.arange(clusters), np.where(rng.random(clusters) < 0.1, 15, 1))
    both = rng.normal(size=(2, clusters)) - loss
    return loss[rows], {name: each[rows] for name, each in zip("ab", both, strict=True)}, rows


def fair(made: Any, metric: str, low: float, high: float, *settings: Any) -> Draw:
    """Return draws at the number x at which both scores are equal."""

    def draw(rng: Generator) -> Sample:
        x = tuned(made, metric, low, high, *settings[:-1])
        return made(*settings, x, rng)  # type: ignore[no-any-return]

    return draw


def alike() -> Cells:
    """Equal ones: any difference is false."""
    made: Cells = {}

    def add(name: str, draw: Draw, metric: str) -> None:
        made[f"{name}: {metric.upper()}"] = partial(equal, draw, metric)

    for metric in ("augrc", "aurc"):
        for sizes, clusters in (("sixty or two", 80), ("sixty or two", 200), ("fifty or two", 60), ("one of 160", 120),
                                ("three of 200", 60), ("log-normal", 60), ("equal", 80)):  # fmt: skip
            add(f"coins, {sizes}, {clusters} clusters", partial(coins, sizes, clusters), metric)
        for sizes in ("equal", "one in twenty", "log-normal"):
            for clusters in (20, 60):
                add(f"two models, {sizes}, {clusters} clusters", partial(of_models, sizes, clusters), metric)
                add(f"two scores, {sizes}, {clusters} clusters", partial(of_scores, sizes, clusters), metric)
        for rows in (20, 50):
            add(f"promoted clusters of {rows}, 500", fair(crowded, metric, 0.0, 1.0, rows, 500), metric)
        add("copied rows, 200 clusters", fair(copied, metric, -4.0, 8.0, 0.2, 0.1, 200), metric)
        add("copied rows, exchangeable, 200 clusters", partial(alike_copies, 200), metric)
        add("small losses, whole ones among 50 promoted", fair(small_losses, metric, 0.0, 1.0, 2500), metric)
        add("unseen successes, 10 % right, 400", fair(hopeless, metric, -4.0, 8.0, 0.1, 0.15, 400), metric)
        for error, top, n in ((0.1, 0.1, 400), (0.1, 0.1, 800), (0.2, 0.1, 400), (0.05, 0.3, 400), (0.1, 0.04, 400),
                              (0.015, 0.1, 600)):  # fmt: skip
            name = f"few confident errors, {error:.0%} wrong, {top:.0%} of these at the top, {n}"
            draw = fair(confident, metric, -4.0, 8.0, error, top, n)
            add(name, draw, metric)
            made[f"{name}: {metric.upper()}, by influence"] = partial(equal, draw, metric, method="influence")
        add("4 errors in 800", partial(exchangeable, 0.005, 800, 0.0, 1.5), metric)
        add("8 errors in 800", partial(exchangeable, 0.01, 800, 0.0, 1.5), metric)
        add("8 errors in 800, rounded", partial(exchangeable, 0.01, 800, 4.0, 1.5), metric)
        add("30 errors in 200", partial(noisier, 200, 0.15, "less", 0.0), metric)
        add("22 errors in 1,500", partial(noisier, 1500, 22 / 1500, "less", 0.0), metric)
        add("80 graded losses in 400", partial(noisier, 400, 0.2, "graded", 0.0), metric)
        add("225 errors in 1,500", partial(noisier, 1500, 0.15, "less", 0.0), metric)
        add("agree on 94 %, 400", partial(agreeing, 400), metric)
    for kind in ("large", "successes", "clusters", "graded", "models", "answers"):
        for cell in differences.CELLS:
            metric, error, share, n, _ = cell
            name = f"{kind}, {error * n:.0f} errors in {n}, {share:.0%} differ"
            add(name, partial(of_differences, kind, cell), metric)
    for sizes in ("one in twenty", "log-normal"):
        for clusters in (20, 60):
            add(f"two models, {sizes}, {clusters} clusters", partial(of_models, sizes, clusters), "risk")
    for sizes, clusters in (("equal", 20), ("one in twenty", 40), ("log-normal", 40)):
        for metric in ("risk", "augrc"):
            add(
                f"whole clusters wrong, {sizes}, {clusters} clusters",
                partial(of_models, sizes, clusters, whole=True),
                metric,
            )
    for clusters in (6, 8, 12, 20):
        for chance, often in ((0.25, 0.8), (0.4, 0.3)):
            draw = partial(of_rates, chance, often, clusters)
            add(f"{clusters} clusters, {often:.0%} wrong in {chance:.0%} of them", draw, "risk")
    return made


def _named(metric: str, n: int, error: float, kind: str, apart: float) -> tuple[str, tuple[Any, ...]]:
    return f"{n} rows, {error * n:.0f} errors, {kind}: {metric.upper()}", (metric, n, error, kind, apart)


#: Real differences: metric, and settings of :func:`noisier`.
REAL = dict(_named(*each) for each in (
    ("aurc", 200, 0.15, "noisier", 1.3), ("aurc", 1500, 22 / 1500, "noisier", 1.2),
    ("aurc", 1500, 22 / 1500, "less", 0.5), ("aurc", 400, 0.2, "graded", 0.5),
    ("aurc", 1500, 0.15, "a fifth", 0.7), ("augrc", 200, 0.15, "noisier", 1.2),
    ("augrc", 1500, 22 / 1500, "noisier", 1.2), ("augrc", 1500, 0.15, "less", 0.22),
    ("augrc", 400, 0.1, "less", 0.3), ("augrc", 1000, 0.05, "graded", 0.3),
))  # fmt: skip


def table(cells: Cells, form: Form, match: str, store: str) -> None:
    """Print the shares of all cells whose names match."""
    chosen = {name: cell for name, cell in cells.items() if re.search(match, name)}
    counts = counted(chosen, Path(store) if store else None, form(2000, 2000))
    for name in chosen:
        say(f"{name}: {said(counts[name])}")


def hard(form: Form, match: str = "", store: str = "") -> None:
    """Equal ones: any difference is false."""
    table(alike(), form, match, store)


def margins(form: Form, match: str = "", store: str = "") -> None:
    """A noisier score, worse by exactly the margin, in clusters of unequal size: any claim is false."""
    kinds = [(sizes, clusters) for sizes in ("one in twenty", "log-normal") for clusters in (20, 60, 200)]
    cells = {f"{sizes}, {clusters} clusters": partial(at_the_margin, sizes, clusters) for sizes, clusters in kinds}
    table(cells, form, match, store)


def power(form: Form, match: str = "", store: str = "") -> None:
    """Real differences, by ``compare``, by swaps alone and by influences."""
    cells = {name: partial(found, partial(noisier, *settings), metric) for name, (metric, *settings) in REAL.items()}
    table(cells, form, match, store)


def counted(cells: Cells, store: Path | None, repetitions: int, turn: int = TURN) -> dict[str, Any]:
    """Return the counts of all cells, which take turns; they are kept in the store and taken up from there."""
    counts: dict[str, Any] = {}
    if store is not None and store.exists():
        counts = json.loads(store.read_text(encoding="utf-8"))
    while waiting := [name for name in cells if not _done(counts.get(name), repetitions)]:
        for name in waiting:
            counts[name] = _turn(cells[name], name, counts.get(name, {}), turn)
            if store is not None:
                store.write_text(json.dumps(counts, indent=1), encoding="utf-8")
    return counts


def _turn(cell: Cell, name: str, before: dict[str, float], turn: int) -> dict[str, float]:
    """Return the counts after so many more samples, each with a seed of its own."""
    counts, begun = dict(before), time.process_time()
    start = int(counts.get("samples", 0))
    for k in range(start, start + turn):
        for what, yes in cell(np.random.default_rng([zlib.crc32(name.encode()), k])).items():
            counts[what] = counts.get(what, 0) + int(yes)
    counts["samples"] = start + turn
    counts["seconds"] = round(counts.get("seconds", 0.0) + time.process_time() - begun, 2)
    return counts


def _done(counts: dict[str, float] | None, most: int) -> bool:
    """Return whether a cell has all its samples, or knows its shares well enough."""
    if counts is None or counts["samples"] < min(LEAST, most):
        return False
    shares = [value / counts["samples"] for what, value in counts.items() if what not in ("samples", "seconds")]
    errors = [np.sqrt(max(p * (1.0 - p), 0.01) / counts["samples"]) for p in shares]
    return counts["samples"] >= most or max(errors) < ENOUGH


def said(counts: dict[str, float]) -> str:
    """Return the shares with 1.96 Monte Carlo errors."""
    n = int(counts["samples"])
    shares = [f"{what} {percent(value, n)}" for what, value in counts.items()
              if what not in ("samples", "seconds")]  # fmt: skip
    return f"{', '.join(shares)} of {n}"


if __name__ == "__main__":
    command(__doc__, also=(hard, margins, power))
