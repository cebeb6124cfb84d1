"""An attack on certificates through the public API with its defaults; truth is known everywhere.

    python benchmarks/certificate_attacks.py [--full] [--only enumerated two rows parts clusters among said]

A promise is broken where the risk of what
the answer accepts is above the limit by more than rounding. The quick form takes about two minutes on one core
(150 repetitions, few sizes), ``--full`` about half an hour (1,000 repetitions and more). ``+-`` is 1.96 Monte Carlo
errors; enumerated shares have none. The last line counts the cells and names those above delta by more than that.

- ``enumerated``: one score for all rows, sorted; exact over the number of errors, n = 60 to 300.
- ``two``: two tied scores with a risk at or above the limit at the lower, at the upper, or at both.
- ``rows``: ties, bad tops, barriers, late changes, random populations that stay at the limit, in sorted order.
- ``parts``: weights, graded losses, groups of which some have one row, a loss conditioned on a class.
- ``clusters``: copies, spikes, unequal sizes, risks that go with the size.
- ``among``: useless candidates, copies of one candidate, and its opposite; two certificates after another.
- ``said``: all that is said where the limit is not attainable, and the certified band, at once.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import abstain
from abstain import thresholds

SEED = 7151
#: The risk of a population that breaks every promise, as a multiple of the limit.
ABOVE = 1.0005
TINY = 1e-9
cells: list[tuple[str, float, float, float]] = []


def report(name: str, broken: float, delta: float, many: int | None) -> None:
    """Print a cell and keep it; ``many`` repetitions, None where the share is exact."""
    error = 0.0 if many is None else 1.96 * (max(broken * (1 - broken), 0.25 / many) / many) ** 0.5
    cells.append((name, broken, delta, error))
    exact = "exact" if many is None else f"+- {100 * error:.1f}"
    print(f"{name}: broken {100 * broken:.2f} % ({exact}), promised {100 * delta:g} %", flush=True)


def certified(loss: Any, score: Any, limit: float, delta: float, **options: Any) -> float:
    """The threshold that the public function gives, +inf for none."""
    return abstain.choose_threshold(loss, score, risk=limit, delta=delta, **options).threshold


# ---------------------------------------------------------------------- populations of rows


@dataclass(frozen=True)
class Population:
    """Levels of the score from the most confident on: share and risk of each; continuous inside a level if not tied."""

    name: str
    share: Any
    risk: Any
    tied: bool
    limit: float

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Rows in sorted order: the most confident first, and errors first among equals."""
        edge = np.concatenate([[0.0], np.cumsum(self.share)])
        u = np.sort(rng.random(n) * edge[-1])
        level = np.searchsorted(edge, u, side="right") - 1
        loss = (rng.random(n) < self.risk[level]).astype(float)
        score = -(level.astype(float) if self.tied else u)
        order = np.lexsort((-loss, -score))
        return loss[order], score[order]

    def above(self, threshold: float) -> bool:
        """Whether the risk of what a threshold accepts is above the limit."""
        if threshold == np.inf:
            return False
        edge = np.concatenate([[0.0], np.cumsum(self.share)])
        if self.tied:
            u = edge[np.searchsorted(np.arange(len(self.share)), -threshold, side="right")]
        else:
            u = min(max(-threshold, 0.0), edge[-1])
        if u <= 0.0:
            return False
        errors = np.interp(u, edge, np.concatenate([[0.0], np.cumsum(self.share * self.risk)]))
        return bool(errors / u > self.limit * (1.0 + TINY))


def held(name: str, share: Any, limit: float, tied: bool, rng: np.random.Generator | None = None) -> Population:
    """A population whose cumulative risk is just above the limit at the end of every second level."""
    share = np.asarray(share, dtype=float) / np.sum(share)
    risk = np.full(len(share), ABOVE * limit)
    for i in range(0, len(share) - 1, 2):  # a good or a bad level, and one that makes up for it
        first = 0.0 if rng is None else rng.uniform(0.0, 3.0 * limit)
        second = (ABOVE * limit * (share[i] + share[i + 1]) - first * share[i]) / share[i + 1]
        if 0.0 <= second <= 1.0:
            risk[i], risk[i + 1] = first, second
    return Population(name, share, risk, tied, limit)


def populations(limit: float) -> Iterator[Population]:
    """What is named in the list of attacks, for one limit."""
    flat = ABOVE * limit
    yield Population("flat", np.ones(1), np.array([flat]), False, limit)
    for k in (2, 3, 10, 50):
        yield Population(f"flat, {k} levels", np.full(k, 1 / k), np.full(k, flat), True, limit)
    for most in (0.5, 0.9, 0.97):
        for where, share in (("top", [most, 1 - most]), ("bottom", [1 - most, most])):
            yield Population(
                f"flat, {most:g} in one score at the {where}", np.array(share), np.full(2, flat), True, limit
            )
    for top in (0.02, 0.1, 0.3, 0.6):
        yield Population(f"flawless {top:g}, then a tie that breaks it", np.array([top, 1 - top]),
                         np.array([0.0, min(1.0, flat / (1 - top))]), True, limit)  # fmt: skip
        jump = min(1.0, 8 * limit)
        wall = top * flat / (jump - flat)
        rest = max(1 - top - wall, 0.0)
        yield Population(f"flawless {top:g}, a wall, flat", np.array([top, wall, rest]), np.array([0.0, jump, flat]),
                         False, limit)  # fmt: skip
    yield Population("bad top of 3 %, then good, flat at the end", np.array([0.03, 0.47, 0.5]),
                     np.array([10 * limit, (flat * 0.5 - 0.3 * limit) / 0.47, flat]), False, limit)  # fmt: skip
    yield Population("late change in the last tenth", np.array([0.9, 0.1]), np.array([0.9 * limit, 1.9045 * limit]),
                     False, limit)  # fmt: skip
    geometric = np.diff(np.concatenate([[0.0], 2.0 ** -np.arange(12)[::-1]]))
    yield held("good and bad octaves", geometric, limit, False)
    yield held("good and bad octaves, tied", geometric, limit, True)
    yield held("forty waves", np.ones(40), limit, False)
    yield held("four hundred waves", np.ones(400), limit, False)
    rng = np.random.default_rng(SEED)
    for i in range(6):
        k = int(rng.integers(4, 60))
        yield held(f"random {i}, {k} levels{', tied' if i % 2 else ''}", rng.dirichlet(np.full(k, 0.5)) + 1e-6, limit,
                   bool(i % 2), rng)  # fmt: skip


def rows(full: bool) -> None:
    """All populations of rows, in sorted order."""
    many = 1000 if full else 150
    settings = [(66, 0.05, 0.1), (150, 0.05, 0.05), (300, 0.1, 0.05), (1000, 0.05, 0.05), (3000, 0.02, 0.05)]
    for n, limit, delta in settings if full else settings[1:3]:
        for population in populations(limit):
            rng = np.random.default_rng([SEED, n])
            broken = sum(population.above(certified(*population.draw(n, rng), limit, delta)) for _ in range(many))
            report(f"rows, n={n}, limit {limit:g}, {population.name}", broken / many, delta, many)


# ---------------------------------------------------------------------- enumerated


def enumerated(full: bool) -> None:
    """One score for all rows, errors first; the certificate is a function of the number of errors alone."""
    settings = [(0.05, 0.05), (0.05, 0.1), (0.1, 0.05), (0.1, 0.1), (0.2, 0.1), (0.02, 0.05), (0.01, 0.1)]
    for limit, delta in settings:
        worst, at = 0.0, 0
        for n in sorted({*range(60, 301, 1 if full else 40), 63, 66, 75, 252}):
            total = 0.0
            for k in range(n + 1):
                if stats.binom.cdf(k, n, limit) > 3 * delta:  # so many are never certified: checked once below
                    assert certified(np.arange(n) < k, np.ones(n), limit, delta) == np.inf
                    break
                if certified(np.arange(n) < k, np.ones(n), limit, delta) < np.inf:
                    total += float(stats.binom.pmf(k, n, ABOVE * limit))
            worst, at = max((worst, at), (total, n))
        report(f"enumerated, one score, limit {limit:g}, worst at n={at}", worst, delta, None)


def two(full: bool) -> None:
    """Two tied scores; enumerated over the rows and errors at each."""
    for n, limit, delta in ((60, 0.1, 0.1), (100, 0.05, 0.1), (150, 0.1, 0.05), (300, 0.05, 0.05))[: 4 if full else 1]:
        known: dict[tuple[int, int, int], float] = {}

        def at(
            a: int, i: int, j: int, n: int = n, limit: float = limit, delta: float = delta, known: Any = known
        ) -> float:
            if (a, i, j) not in known:
                loss = np.concatenate([np.arange(a) < i, np.arange(n - a) < j])
                known[a, i, j] = certified(loss, np.arange(n) < a, limit, delta)
            return known[a, i, j]

        worst, name = 0.0, ""
        for share in (0.1, 0.25, 0.5, 0.75, 0.9) if full else (0.25, 0.75):
            for first in (0.0, 0.7, ABOVE, 1.5, 3.0):
                second = (ABOVE - share * first) / (1 - share) * limit
                if not 0.0 <= second <= 1.0:
                    continue
                total = 0.0
                tops = stats.binom.pmf(np.arange(n + 1), n, share)
                for a in np.flatnonzero(tops > 1e-4 if full else tops > 2e-3).tolist():
                    one = stats.binom.pmf(np.arange(a + 1), a, first * limit)
                    other = stats.binom.pmf(np.arange(n - a + 1), n - a, second)
                    for i in np.flatnonzero(one > 1e-6).tolist():
                        for j in np.flatnonzero(other > 1e-6).tolist():
                            if stats.binom.cdf(i, max(a, 1), limit) > 3 * delta and (
                                stats.binom.cdf(i + j, n, limit) > 3 * delta
                            ):
                                break
                            found = at(a, i, j)
                            accepted_all = found <= 0.0
                            broken = accepted_all or (found < np.inf and first > 1.0)
                            total += broken * tops[a] * one[i] * other[j]
                worst, name = max((worst, name), (total, f"top share {share:g} with {first:g} of the limit"))
        report(f"two levels, n={n}, limit {limit:g}, worst: {name}", worst, delta, None)


# ---------------------------------------------------------------------- parts, clusters, among, said


def parts(full: bool) -> None:
    """Weights, graded losses, groups, conditioned losses; every certificate is false."""
    many, n = (1000 if full else 100), 300

    def weighted(rng: np.random.Generator, together: bool) -> bool:
        value, part = np.array([0.5, 1.0, 4.0]), np.array([0.5, 0.4, 0.1])
        weight = rng.choice(value, n, p=part)
        rate = np.full(n, 0.10 * ABOVE)
        if together:  # errors go with the weight; E[w l] / E[w] is just above the limit
            rate = 0.10 * ABOVE * weight * (part @ value) / (part @ value**2)
        loss = (rng.random(n) < rate).astype(float)
        return certified(loss, rng.random(n), 0.10, 0.05, sample_weight=weight, max_weight=4.0) < np.inf

    def graded(rng: np.random.Generator, kind: str) -> bool:
        if kind == "beta":
            loss = rng.beta(0.10 * ABOVE * 0.5, (1 - 0.10 * ABOVE) * 0.5, n)
        elif kind == "three values":
            loss = rng.choice([0.0, 0.1, 1.0], n, p=[1 - 0.2 - (0.1 * ABOVE - 0.02), 0.2, 0.1 * ABOVE - 0.02])
        else:
            loss = np.full(n, 0.1 * ABOVE) + 0.05 * rng.choice([-1.0, 1.0], n)
        score = np.round(rng.random(n), 1)
        return certified(loss, score, 0.10, 0.05, max_loss=1.0) < np.inf

    def grouped(rng: np.random.Generator, size: list[int], one_score: bool) -> bool:
        group = np.repeat(np.arange(len(size)), size)
        loss = (rng.random(len(group)) < 0.10 * ABOVE).astype(float)
        score = np.ones(len(group)) if one_score else rng.random(len(group))
        order = np.lexsort((-loss, group))
        found = abstain.choose_threshold(loss[order], score[order], risk=0.1, delta=0.1, groups=group[order])
        return any(one.attainable for one in found.groups.values())

    def conditioned(rng: np.random.Generator) -> bool:
        where = rng.random(2 * n) < 0.5
        loss = (rng.random(2 * n) < np.where(where, 0.10 * ABOVE, 0.0)).astype(float)
        found = thresholds.conditional_threshold(loss, rng.random(2 * n), where, what="kind", risk=0.1, delta=0.05)
        return found.attainable

    tried: dict[str, tuple[float, Callable[[np.random.Generator], bool]]] = {
        "weights": (0.05, lambda rng: weighted(rng, False)),
        "weights, errors go with them": (0.05, lambda rng: weighted(rng, True)),
        "graded loss, beta": (0.05, lambda rng: graded(rng, "beta")),
        "graded loss, three values": (0.05, lambda rng: graded(rng, "three values")),
        "graded loss, near the limit": (0.05, lambda rng: graded(rng, "near")),
        "groups of 200, 200, 200, one score": (0.1, lambda rng: grouped(rng, [200] * 3, True)),
        "groups of 300, 100, 1, 1, 1": (0.1, lambda rng: grouped(rng, [300, 100, 1, 1, 1], False)),
        "20 groups of 150": (0.1, lambda rng: grouped(rng, [150] * 20, False)),
        "loss conditioned on a class": (0.05, conditioned),
    }
    for name, (delta, broken) in tried.items():
        rng = np.random.default_rng([SEED, 2])
        report(f"parts, {name}", sum(broken(rng) for _ in range(many)) / many, delta, many)


def clusters(full: bool) -> None:
    """Clusters with a risk just above the limit for an accepted row of a new cluster; every certificate is false."""
    many, limit = (1000 if full else 60), 0.05
    for name, m in (("copies", 200), ("spikes", 100), ("spikes", 400), ("sizes 1 to 40, risk goes with them", 200),
                    ("one score in a cluster", 200), ("errors first", 200)):  # fmt: skip
        rng = np.random.default_rng([SEED, 3, m])
        broken = 0
        for _ in range(many):
            size = rng.integers(1, 41, m) if name.startswith("sizes") else np.full(m, 10)
            cluster = np.repeat(np.arange(m), size)
            if name.startswith("sizes"):
                rate = ABOVE * limit * 2.0 * (41 - size) / 41.0  # size is 20.5 in the mean
            elif name == "copies":
                rate = (rng.random(m) < ABOVE * limit) * 1.0
            else:
                rate = (rng.random(m) < ABOVE * limit / 0.5) * 0.5
            loss = (rng.random(len(cluster)) < rate[cluster]).astype(float)
            score = rng.random(m)[cluster] if name in ("copies", "one score in a cluster") else rng.random(len(cluster))
            order = np.argsort(-loss) if name == "errors first" else np.arange(len(loss))
            found = certified(loss[order], score[order], limit, 0.05, clusters=cluster[order])
            broken += found < np.inf
        report(f"clusters, {name}, {m} of them", broken / many, 0.05, many)


def among(full: bool) -> None:
    """Candidates: useless, copies of each other, opposites; the answer is always false."""
    many = 1000 if full else 100
    kinds = ((150, "2 useless"), (500, "5 useless"), (1000, "5 useless"), (500, "20 useless"), (500, "6 copies"),
             (1000, "5 copies"), (500, "a score and its opposite"), (1000, "4 roundings of one score"))  # fmt: skip
    for n, kind in kinds:
        rng = np.random.default_rng([SEED, 4, n])
        broken = 0
        for _ in range(many):
            loss, score = (rng.random(n) < ABOVE * 0.05).astype(float), rng.random(n)
            if kind.endswith("useless"):
                scores = {str(k): rng.random(n) for k in range(int(kind.split()[0]))}
            elif kind.endswith("copies"):
                scores = {str(k): score.copy() for k in range(int(kind.split()[0]))}
            elif kind.endswith("opposite"):
                scores = {"up": score, "down": -score}
            else:
                scores = {str(k): np.round(score, k) for k in (1, 2, 3, 4)}
            broken += thresholds.choose_among(loss, scores, risk=0.05, delta=0.05).attainable
        report(f"among, n={n}, {kind}", broken / many, 0.05, many)


def said(full: bool) -> None:
    """All that an answer that is not attainable says at once, and the certified band at every threshold."""
    many = 1000 if full else 60
    for n in (150, 1000):
        for population in [p for p in populations(0.05) if p.name.split()[0] in ("flat", "flat,", "good", "random")][
            ::2
        ]:
            rng = np.random.default_rng([SEED, 5, n])
            wrong = band = 0
            for _ in range(many):
                loss, score = population.draw(n, rng)
                found = abstain.choose_threshold(loss, score, risk=1e-4, delta=0.05)
                wrong += any(
                    Population("", population.share, population.risk, population.tied, one.risk).above(one.threshold)
                    for one in found.attained
                )
                limits = thresholds.certified_band(loss, score, delta=0.05)
                tested = np.unique(score)[:: max(1, n // 100)]
                band += any(
                    Population("", population.share, population.risk, population.tied, float(u)).above(float(t))
                    for t, u in zip(tested, limits.upper_at(tested), strict=True)
                )
            report(f"said, n={n}, {population.name}, attained", wrong / many, 0.05, many)
            report(f"said, n={n}, {population.name}, band", band / many, 0.05, many)


def main() -> None:
    studies = {"enumerated": enumerated, "two": two, "rows": rows, "parts": parts, "clusters": clusters, "among": among,
               "said": said}  # fmt: skip
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", nargs="+", choices=list(studies), default=list(studies))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for study in options.only:
        studies[study](options.full)
    late = [name for name, broken, delta, error in cells if broken > delta + error + TINY]
    print(f"{len(cells)} cells; above what was promised by more than the error: {len(late)} {late}", flush=True)


if __name__ == "__main__":
    main()
