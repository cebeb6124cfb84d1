"""Intervals where the decisive errors may be unseen: coverage and warnings.

    python -m benchmarks.unseen_errors [--full] [--only cells,usual,...] [--match TEXT]

From the root of the repository; through the public API with its defaults. The quick form takes about two minutes, the
full one ten minutes on one core. Every share comes with 1.96 Monte Carlo errors.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import abstain
from tests.inference.populations import POPULATIONS

AREAS = ("augrc", "aurc", "auroc_f")
EXCESS = ("e_augrc", "e_aurc", "naugrc", "naurc", "sele")
REAL = ("risk", "augrc", "aurc", "e_augrc", "e_aurc", "naurc", "sele", "selective_risk(threshold=0.6)")
AT_COVERAGE = ("selective_risk(coverage=0.8)", "generalized_risk(coverage=0.8)", "selective_risk(coverage=0.5)")
AT_RISK = ("coverage_at_risk(risk=0.01)", "coverage_at_risk(risk=0.05)")

Columns = dict[str, Any]
Draw = Callable[[int, np.random.Generator], Columns]


# ---------------------------------------------------------------------- populations of 0/1 losses


class Population(NamedTuple):
    """0/1 losses whose chance is ``risk(u)`` at the share u of more confident rows.

    ``ends``: the coverages at which tied scores end, None for a continuous score.
    """

    name: str
    risk: Callable[[np.ndarray], np.ndarray]
    ends: tuple[float, ...] | None = None

    def score(self, u: np.ndarray) -> np.ndarray:
        """Return a confidence in [0, 1]."""
        return 1.0 - (u if self.ends is None else np.searchsorted(self.ends, u) / len(self.ends))

    def draw(self, n: int, rng: np.random.Generator) -> Columns:
        """Return n samples."""
        u = rng.random(n)
        return {"loss": (rng.random(n) < self.risk(u)).astype(float), "confidence": self.score(u)}

    def table(self, cells: int = 400_000) -> abstain.TieBlocks:
        """Return a weighted table that is the population, up to the width of a cell."""
        u = (np.arange(cells) + 0.5) / cells
        p = self.risk(u)
        return abstain.TieBlocks.from_samples(
            np.repeat([1.0, 0.0], cells), np.tile(self.score(u), 2), np.r_[p, 1.0 - p], oracle=True
        )


def steps(name: str, *parts: tuple[float, float], ties: bool = True) -> Population:
    """Return a population of levels, each a coverage at which it ends and its risk."""
    ends, risks = zip(*parts, strict=True)
    return Population(name, lambda u: np.asarray(risks)[np.searchsorted(ends, u)], ends if ties else None)


def two_levels(mass: float, confident: float, rest: float, ties: bool = True) -> Population:
    """Return a confident mass that is nearly flawless, with a small uncertain rest."""
    name = f"{mass:.0%} at {confident:.1%}, rest {rest:.1%}" + ("" if ties else ", continuous")
    return steps(name, (mass, confident), (1.0, rest), ties=ties)


CELLS = (
    (two_levels(0.95, 0.004, 0.5), 300),
    (two_levels(0.95, 0.004, 0.5, ties=False), 300),
    (two_levels(0.95, 0.004, 0.5, ties=False), 1000),
    (two_levels(0.98, 0.002, 0.5), 300),
    (two_levels(0.98, 0.002, 0.5), 1000),
    (two_levels(0.90, 0.005, 0.3), 300),
    (two_levels(0.80, 0.005, 0.2), 300),
    (two_levels(0.95, 0.010, 0.5), 300),
)

#: The populations of docs/interval-coverage.md; that of real losses is among the designs.
USUAL = tuple(
    Population(
        each.name,
        lambda u, e=each: e.floor + e.slope * u**e.power,
        None if each.levels is None else tuple(np.arange(1, each.levels + 1) / each.levels),
    )
    for each in POPULATIONS
    if not each.exponential
)

ATTACKS = (
    (Population("overconfident top 2 %", lambda u: np.where(u < 0.02, 0.10, 0.001 + 0.3 * u**6)), (200, 500, 2000)),
    (steps("hidden middle level", (0.5, 0.0), (0.9, 0.004), (1.0, 0.4)), (200, 500)),
    (steps("errors at the very top only", (0.01, 0.3), (0.97, 0.0), (1.0, 0.5), ties=False), (300, 1000)),
    (two_levels(0.05, 0.5, 0.996), (300, 1000)),
    (two_levels(0.05, 0.5, 0.004), (300, 1000)),
    (steps("one score for all, 1 % wrong", (1.0, 0.01)), (100, 500)),
    (steps("70 % at the top score, 0.3 % wrong", (0.7, 0.003), (0.9, 0.02), (1.0, 0.25)), (200, 500)),
    (Population("perfect ranking, 4 % errors", lambda u: (u > 0.96) * 1.0), (300, 1000)),
    (Population("97 % errors", lambda u: 0.94 + 0.06 * u), (400,)),
    (
        steps("five levels, top 1 % wrong", (0.01, 1.0), (0.2, 0.03), (0.4, 0.1), (0.6, 0.2), (0.8, 0.4), (1.0, 0.6)),
        (300,),
    ),
    (Population("waves", lambda u: 0.004 + 0.02 * (np.sin(40.0 * u) > 0.95)), (500, 2000)),
)

FIVE = steps("five levels, edge at .8", (0.2, 0.03), (0.4, 0.1), (0.6, 0.2), (0.8, 0.4), (1.0, 0.6))
HALF = Population("half of the rows at one score", lambda u: np.where(u <= 0.5, 0.05, 0.05 + 0.8 * (u - 0.5)),
                  (0.5, *np.linspace(0.5, 1.0, 101)[1:].tolist()))  # fmt: skip
SMOOTH = Population("smooth, 10 % errors", lambda u: 0.4 * u**3)
EASY = Population("good model, 3 % errors", lambda u: 0.12 * u**3)
OVERCONFIDENT = Population("overconfident, never below 5.4 %", lambda u: np.where(u < 0.03, 0.4, 0.054 + 0.1 * u**2))


# ---------------------------------------------------------------------- other losses, weights, strata, clusters


class Design(NamedTuple):
    """Samples that are drawn or weighed in another way; the truth is the metric of one huge sample."""

    name: str
    draw: Draw
    n: int
    metrics: tuple[str, ...]

    def table(self) -> abstain.TieBlocks:
        """Return the table of one huge sample."""
        found = self.draw(4_000_000, np.random.default_rng(99))
        return abstain.TieBlocks.from_samples(
            found["loss"], found["confidence"], found.get("sample_weight"), oracle=True
        )


def stratified(n: int, rng: np.random.Generator, strata: bool = False) -> Columns:
    """A tenth of the rows stands for nine tenths of the population, which is confident and nearly flawless."""
    first = np.arange(n) < n // 10
    loss = (rng.random(n) < np.where(first, 0.03, 0.5)).astype(float)
    weight = np.where(first, 0.9 / first.mean(), 0.1 / (1.0 - first.mean()))
    found = {"loss": loss, "confidence": first + rng.random(n), "sample_weight": weight}
    return found | ({"strata": first.astype(int)} if strata else {})


def importance(n: int, rng: np.random.Generator) -> Columns:
    """Importance weights of coefficient of variation 1 on the first cell."""
    return CELLS[1][0].draw(n, rng) | {"sample_weight": rng.exponential(1.0, n)}


def clustered(n: int, rng: np.random.Generator, corrupt: float = 1.0 / 60.0) -> Columns:
    """Clusters of ten; a few are corrupt, and most of their confident rows are wrong."""
    cluster = np.arange(n) // 10
    bad = (rng.random(n // 10 + 1) < corrupt)[cluster]
    u = rng.random(n)
    loss = (rng.random(n) < np.where(u < 0.95, np.where(bad, 0.6, 0.001), 0.5)).astype(float)
    return {"loss": loss, "confidence": 1.0 - u, "clusters": cluster}


def frail(n: int, rng: np.random.Generator) -> Columns:
    """Clusters of five with their own error rates on the first cell: gamma of variance 1 around its risks."""
    cluster = np.arange(n) // 5
    u, factor = rng.random(n), rng.gamma(1.0, 1.0, n // 5 + 1)[cluster]
    loss = (rng.random(n) < np.minimum(np.where(u < 0.95, 0.004, 0.3) * factor, 1.0)).astype(float)
    return {"loss": loss, "confidence": 1.0 - u, "clusters": cluster}


def verbal(n: int, rng: np.random.Generator, most: float = 1.0) -> Columns:
    """Five verbal levels up to 1, where 3 % are wrong."""
    level = rng.integers(1, 6, n)
    loss = (rng.random(n) < np.where(level == 5, 0.03, 1.0 - level / 5)).astype(float)
    return {"loss": loss, "confidence": np.minimum(level / 5, most)}


def hopeless(n: int, rng: np.random.Generator) -> Columns:
    """Five verbal levels from 0, where 3 % are right."""
    found = verbal(n, rng)
    return {"loss": 1.0 - found["loss"], "confidence": 1.0 - found["confidence"]}


def real(kind: str, n: int, rng: np.random.Generator) -> Columns:
    """Real losses of mean .1 + .6 u^2."""
    u = rng.random(n)
    noise = {
        "exponential": lambda: rng.exponential(1.0, n),
        "log-normal, sd 1.5": lambda: rng.lognormal(-1.125, 1.5, n),
        "Pareto, 2.5": lambda: 0.6 * (1.0 + rng.pareto(2.5, n)),
        "one loss in a hundred is 100 times as large": lambda: np.where(rng.random(n) < 0.01, 50.0, 0.5),
    }[kind]()
    return {"loss": (0.1 + 0.6 * u**2) * noise, "confidence": 1.0 - u}


def weighted(population: Population, kind: str, n: int, rng: np.random.Generator) -> Columns:
    """Weights that are log-normal with sd 1, rise with the rank, or are three times as large at errors."""
    found = population.draw(n, rng)
    weight = {
        "log-normal weights": lambda: rng.lognormal(0.0, 1.0, n),
        "weights rise": lambda: np.exp(2.0 * (1.0 - found["confidence"])) * rng.exponential(1.0, n),
        "weights go with errors": lambda: np.where(found["loss"] > 0.0, 3.0, 1.0) * rng.lognormal(0.0, 0.5, n),
    }[kind]()
    return found | {"sample_weight": weight}


WEIGHTS = ("log-normal weights", "weights rise", "weights go with errors")

KINDS = ("exponential", "log-normal, sd 1.5", "Pareto, 2.5", "one loss in a hundred is 100 times as large")
DESIGNS = (
    *(Design("stratified", stratified, n, AREAS + EXCESS) for n in (100, 400)),
    Design("stratified, strata=", partial(stratified, strata=True), 100, AREAS + EXCESS),
    Design("importance weights", importance, 300, ("risk", *AREAS, *EXCESS)),
    *(Design("corrupt clusters of ten", clustered, n, ("risk", *AREAS, *EXCESS)) for n in (600, 2000)),
    *(Design("frail clusters of five", frail, n, ("risk", *AREAS, *EXCESS)) for n in (500,)),
    *(Design("errors at a score of 1", verbal, n, ("nll_confidence", "brier_confidence")) for n in (100, 300, 2000)),
    *(Design("errors at 1 - 1e-6", partial(verbal, most=1.0 - 1e-6), n, ("nll_confidence",)) for n in (100, 300)),
    *(Design("successes at a score of 0", hopeless, n, ("nll_confidence", "brier_confidence")) for n in (100, 300)),
    *(Design(kind, partial(real, kind), n, REAL) for kind in KINDS for n in (100, 300)),
)


# ---------------------------------------------------------------------- simulation and report


class Intervals(NamedTuple):
    """Ends and warnings of one cell: arrays of shape (repetitions,)."""

    low: np.ndarray
    high: np.ndarray
    warned: np.ndarray

    def text(self, truth: float) -> str:
        """Return coverage in all and of the unwarned, and the shares warned and without an interval."""
        given, warned = ~np.isnan(self.low), self.warned > 0
        inside = (self.low <= truth + 1e-12) & (truth - 1e-12 <= self.high)
        return (
            f"{share(inside[given])}  unwarned {share(inside[given & ~warned])}  warned {100 * np.mean(warned):5.1f} %"
            f"  none {100 * np.mean(~given):4.1f} %"
        )


def simulate(draw: Draw, n: int, metrics: Iterable[str], repetitions: int) -> dict[str, Intervals]:
    """Return the intervals of every metric on the same samples."""
    rng = np.random.default_rng(n)
    bound = {spec: abstain.metrics.parse(spec) for spec in metrics}
    found = {spec: np.full((3, repetitions), np.nan) for spec in bound}
    for k in range(repetitions):
        columns = draw(n, rng)
        for spec, metric in bound.items():
            each = abstain.confidence_interval(metric, **columns)
            found[spec][:, k] = each.low, each.high, each.warning is not None
    return {spec: Intervals(*rows) for spec, rows in found.items()}


def share(inside: np.ndarray) -> str:
    """Return a share in per cent with its Monte Carlo error."""
    if inside.size == 0:
        return "   -       "
    p = float(np.mean(inside))
    return f"{100 * p:5.1f} ±{196 * np.sqrt(max(p * (1.0 - p), 0.25 / inside.size) / inside.size):4.1f}"


class Report:
    """Which form of which populations is simulated and printed."""

    def __init__(self, full: bool, match: str) -> None:
        self.full, self.match = full, match

    def cell(self, of: Population | Design, n: int, metrics: tuple[str, ...], full: int, quick: int) -> None:
        """Simulate the intervals of one cell and print them."""
        if self.match not in of.name:
            return
        table = of.table()
        for spec, each in simulate(of.draw, n, metrics, full if self.full else quick).items():
            truth = abstain.metrics.parse(spec)(table)
            truth = 0.0 if np.isnan(truth) else truth  # a coverage that nothing attains
            expected = f"expected {n * table.mean_loss:6.1f}"
            print(f"{of.name:36} n {n:5} {expected}  {spec:30} {each.text(truth)}", flush=True)


def cells(report: Report) -> None:
    """The cells in which intervals failed: rare confident errors."""
    for population, n in CELLS:
        report.cell(population, n, AREAS + EXCESS, 1000, 150)
    if report.full:
        for population in dict.fromkeys(population for population, _ in CELLS):
            for n in (100, 3000):
                report.cell(population, n, AREAS + EXCESS, 200, 0)


def usual(report: Report) -> None:
    """The populations of docs/interval-coverage.md."""
    for n, full, quick in ((200, 1000, 60), (1000, 500, 30)):
        for population in USUAL:
            report.cell(population, n, AREAS + EXCESS, full, quick)


def attacks(report: Report) -> None:
    """Populations that were chosen against the construction after it stood."""
    for population, sizes in ATTACKS:
        for n in sizes:
            report.cell(population, n, AREAS + EXCESS, 500, 60)


def designs(report: Report) -> None:
    """Weights, strata, clusters, scores of exactly 0 or 1, real losses."""
    for design in DESIGNS:
        report.cell(design, design.n, design.metrics, 500, 40)


def edges(report: Report) -> None:
    """A fixed coverage at the end of a wide tie."""
    for population in (FIVE, HALF):
        for n in (100, 300, 2000):
            report.cell(population, n, AT_COVERAGE, 500, 60)


def coverages(report: Report) -> None:
    """The largest coverage at a risk, which jumps."""
    for population in (SMOOTH, EASY, OVERCONFIDENT, FIVE):
        for n in (300, 2000):
            report.cell(population, n, AT_RISK, 500, 60)
    for population in (SMOOTH, EASY, OVERCONFIDENT, FIVE):
        for kind in WEIGHTS:
            for n in (300, 1000):
                design = Design(f"{population.name}; {kind}", partial(weighted, population, kind), n, AT_RISK)
                report.cell(design, n, AT_RISK, 500, 30)


SECTIONS = (cells, usual, attacks, designs, edges, coverages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = {section.__name__: section for section in SECTIONS}
    parser.add_argument("--full", action="store_true", help="all repetitions, and more sample sizes")
    parser.add_argument("--only", default=",".join(names), help="sections, separated by commas")
    parser.add_argument("--match", default="", help="only populations whose name holds this text")
    given = parser.parse_args()
    report = Report(given.full, given.match)
    for name in given.only.split(","):
        start = time.perf_counter()
        print(f"--- {name}: {names[name].__doc__}")
        names[name](report)
        print(f"({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
