"""Certificates of 0/1 losses next to rivals, with clusters, by chance and under attack; truth is known everywhere.

    python benchmarks/certificates.py [--full] [--only power field luck attack clusters declared among packages]

The quick form takes about two minutes on one core, ``--full`` about fifteen minutes. Repetitions have seeds of their
own; ``+-`` is 1.96 Monte Carlo errors.

- ``power``: mean certified coverage and share of violated certificates next to SGR, the hybrid of zugzwang 1.1.0
  (binary search and fixed sequence at half of delta each), a fixed sequence of exact tests over 100 coverages at full
  delta from the first that a flawless sample can pass, as MAPIE's (but from the best possible start), and
  Learn-then-Test with Bonferroni-Holm over the same coverages.
- ``field``: four words and a smooth score at n = 300, 1,000 and 5,000, where the hybrid as it is was found violated.
- ``luck``: certified coverage of one sample over 100 seeds and orders of its rows.
- ``attack``: one score for all rows, sorted errors first, enumerated exactly; two levels at the rank of a start.
- ``declared``: certificates of the risk of rows with a declared largest cluster, and what it costs.
- ``clusters``: populations that violate certificates for rows; cluster-robust t next to the certificate for clusters.
- ``among``: several useless scores: the best of them on the same rows, and ``choose_among``.
- ``packages``: thresholds of zugzwang on twenty populations, to the bit; coverage of MAPIE's
  ``BinaryClassificationController`` next to exact binomial p-values, where MAPIE has those of Hoeffding and Bentkus.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import bdtr

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.certificate_rivals import RIVALS, p_values, packages

import abstain
from abstain.thresholds._certify import Search
from abstain.thresholds._fallback import fallback, positions, schedule
from abstain.thresholds._sample import read
from tests.thresholds.populations import POPULATIONS, SMOOTH_AND_TIED, Population

DELTA = 0.05


SEED = 20261122


def error(share: float, n: int) -> float:
    """1.96 Monte Carlo errors of a share."""
    return 1.96 * (max(share * (1 - share), 1 / n / 4) / n) ** 0.5


def percent(k: int, n: int) -> str:
    """A share in per cent with its Monte Carlo error."""
    return f"{100 * k / n:.1f} +- {100 * error(k / n, n):.1f} %"


def ours(count: Any, p: Any, limit: float) -> int:
    """The default of the library, on block ends."""
    at_ends = p[count - 1]
    rank, share = schedule(int(count[-1]), limit, DELTA)
    return fallback(len(count), positions(count, rank), share, lambda low, high: at_ends[low:high])


def cell(population: Population, n: int, many: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Mean coverage and broken share of every rule in one population."""
    found: dict[str, list[float]] = {name: [] for name in ["abstain", *RIVALS, *(f"{r} as it is" for r in RIVALS)]}
    for _ in range(many):
        loss, score = population.draw(n, rng)
        order = np.argsort(-score, kind="stable")
        ends = np.flatnonzero(np.append(score[order][1:] != score[order][:-1], True))
        lowest, count = np.append(score[order][ends], np.inf), ends + 1
        p = p_values(np.cumsum(loss[order]), population.limit)
        found["abstain"].append(lowest[ours(count, p, population.limit)])
        for name, rule in RIVALS.items():
            found[name].append(lowest[rule(count, p, population.limit, DELTA, False)])
            if population.levels or population.edges:
                found[f"{name} as it is"].append(lowest[rule(count, p, population.limit, DELTA, True)])
    mean = {name: float(population.coverage(np.array(t)).mean()) for name, t in found.items() if t}
    broken = {name: float(np.mean(population.violated(np.array(t)))) for name, t in found.items() if t}
    return mean, broken


def power(repetitions: dict[int, int], populations: tuple[Population, ...], name: str = "power") -> None:
    """Coverage and broken share of every rule in every population, and means over them."""
    behind = []
    for n, many in repetitions.items():
        rng = np.random.default_rng([SEED, n])
        means, worst = [], []
        for population in populations:
            mean, broken = cell(population, n, many, rng)
            means.append(mean)
            worst.append(broken)
            behind.append((mean["abstain"] - max(mean[each] for each in RIVALS), f"{population.name}, n={n}"))
            text = "; ".join(f"{each} {mean[each]:.3f} ({100 * broken[each]:.1f} %)" for each in mean)
            print(f"n={n} {population.name}: {text}; lead {behind[-1][0]:+.3f}", flush=True)
            assert broken["abstain"] <= DELTA + 3 * error(DELTA, many), (n, population.name)
        for each in ("abstain", *RIVALS):
            mean, most = np.mean([one[each] for one in means]), max(one[each] for one in worst)
            print(
                f"{name}, n={n}, {each}: mean {mean:.3f}, most broken {percent(round(most * many), many)}", flush=True
            )
    late = sorted(each for each in behind if each[0] < -0.01)
    listed = "; ".join(f"{place} {lead:+.3f}" for lead, place in late)
    print(f"{name}: {len(behind)} cells, more than .01 behind the best rival in {len(late)}: {listed}", flush=True)


def luck(full: bool) -> None:
    """One sample of 3,000 rows, as rows and as 300 clusters, in 100 orders: no seed is left to try."""
    rng = np.random.default_rng(SEED)
    u, cluster = rng.random(3000), np.repeat(np.arange(300), 10)
    for name, risk in (
        ("rows", 0.02 + 0.25 * (1 - u) ** 2),
        ("clusters", 0.12 * (1 - u) * rng.gamma(2, 0.5, 300)[cluster]),
    ):
        loss, found = (rng.random(3000) < risk).astype(float), []
        for seed in range(100 if full else 20):
            order = np.random.default_rng(seed).permutation(3000)
            options = {"clusters": cluster[order]} if name == "clusters" else {}
            again = abstain.choose_threshold(loss[order], u[order], risk=0.05, delta=DELTA, **options)
            found.append(again.coverage)
        print(f"luck, {name}: certified coverage over orders {min(found):.3f} to {max(found):.3f}", flush=True)


def attack(full: bool) -> None:
    """One score for all rows, errors first; enumerated over the number of errors."""
    worst = {}
    for limit, delta in ((0.05, 0.05), (0.05, 0.1), (0.1, 0.05), (0.1, 0.1), (0.2, 0.1), (0.02, 0.05)):
        cells = []
        for n in range(60, 301, 1 if full else 3):
            risk, total = 1.0005 * limit, 0.0
            for k in range(n + 1):
                share = float(stats.binom.pmf(k, n, risk))
                if share > 1e-12:
                    found = Search(read(np.arange(n) < k, np.ones(n)), limit, delta).default()
                    total += share * (found.threshold < np.inf)
            cells.append(total)
        worst[f"limit {limit:g}, delta {delta:g}"] = f"{100 * max(cells):.2f} %"
    print(f"attack, one score for all rows, n = 60 to 300, enumerated, worst: {worst}", flush=True)
    two = 0.0
    for n, limit, delta in ((150, 0.1, 0.05), (300, 0.1, 0.1), (300, 0.05, 0.05)):
        rank, _ = schedule(n, limit, delta)
        for share in sorted(
            {float(np.clip(m / n + x, 0.05, 0.95)) for m in rank for x in (-0.08, -0.03, 0, 0.03, 0.08)}
        ):
            for first in (limit * 1.0005, 1.2 * limit, 1.6 * limit):
                two = max(two, two_levels(n, limit, delta, share, first) / delta)
    print(f"attack, two levels around the ranks of the starts, enumerated: at most {two:.3f} of delta", flush=True)


def two_levels(n: int, limit: float, delta: float, share: float, first: float) -> float:
    """Probability of a broken promise where the top ``share`` of rows has the risk ``first`` and all have the limit."""
    second = (1.0001 * limit - share * first) / (1.0 - share)
    rank, part = schedule(n, limit, delta)
    total = 0.0
    if second < 0.0:
        return total
    for top in range(n + 1):
        weight = float(stats.binom.pmf(top, n, share))
        if weight < 1e-9:
            continue
        one = stats.binom.pmf(np.arange(top + 1), top, first)[:, np.newaxis]
        two = stats.binom.pmf(np.arange(n - top + 1), n - top, second)
        count = np.array([k for k in (top, n) if k > 0] if top < n else [n], dtype=float)
        gain = np.zeros(2)
        np.add.at(gain, positions(count, rank) + 2 - len(count), part)  # one threshold alone is the lower one
        errors = np.arange(top + 1)[:, np.newaxis] + np.arange(n - top + 1)
        high = (bdtr(np.arange(top + 1), max(top, 1), limit) <= gain[0])[:, np.newaxis] & (gain[0] > 0.0)
        level = gain[1] + np.where(high, gain[0], 0.0)
        passed = high | ((bdtr(errors, n, limit) <= level) & (level > 0.0))
        total += weight * float((one * two * passed).sum())
    return total


def clustered(kind: str, m: int, rng: np.random.Generator) -> tuple[Any, Any, Any, float]:
    """Losses, scores and clusters of a population with the same risk at every threshold, and this risk."""
    if kind == "spiky":  # all errors in few clusters
        risk, k = 0.055, 20
        size = np.full(m, k)
        rate = (rng.random(m) < risk / 0.5) * 0.5
    elif kind == "copies":
        risk, k = 0.0502, 5
        size = np.full(m, k)
        rate = (rng.random(m) < risk) * 1.0
    elif kind == "twice":
        risk = 0.0502
        size = np.full(m, 2)
        rate = (rng.random(m) < risk) * 1.0
    elif kind.startswith("beta"):
        risk = 0.0502
        size = rng.integers(1, int(kind.split()[3]) + 1, m)
        rate = rng.beta(risk * 7 / 3, (1 - risk) * 7 / 3, m)
    else:  # frailty
        risk, k = 0.0502, 10
        size = np.full(m, k)
        rate = np.minimum(risk * rng.gamma(0.5, 2.0, m), 1.0)
        risk = 0.0497
    cluster = np.repeat(np.arange(m), size)
    loss = (rng.random(len(cluster)) < rate[cluster]).astype(float)
    score = rng.random(m)[cluster] if kind in ("copies", "twice") else rng.random(len(cluster))
    return loss, score, cluster, risk


def robust_t(loss: Any, score: Any, cluster: Any, limit: float) -> bool:
    """Whether a one-sided cluster-robust t limit of the risk of all rows is below the limit."""
    size, total = np.bincount(cluster), np.bincount(cluster, loss)
    risk = total.sum() / size.sum()
    spread = np.sqrt(np.sum((total - risk * size) ** 2)) / size.sum()
    return bool(risk + stats.t.ppf(1 - DELTA, len(size) - 1) * spread <= limit)


def clusters(many: int) -> None:
    """Share of samples with a certificate where every certificate is false."""
    cells = (("spiky", (50, 100, 400)), ("twice", (300,)), ("copies", (60, 200, 300)),
             ("beta, 1 to 5 rows", (167, 1000)), ("beta, 1 to 20 rows", (50, 300)), ("frailty", (200,)))  # fmt: skip
    for kind, sizes in cells:
        for m in sizes:
            rng = np.random.default_rng([SEED, m])
            rows = mine = robust = 0
            for _ in range(many):
                loss, score, cluster, risk = clustered(kind, m, rng)
                limit = min(0.05, risk - 1e-4)
                rows += Search(read(loss, score), limit, DELTA).default().threshold < np.inf
                mine += abstain.choose_threshold(loss, score, risk=limit, delta=DELTA, clusters=cluster).attainable
                robust += robust_t(loss, score, cluster, limit)
            named = (("rows as if independent", rows), ("clusters=", mine), ("cluster t", robust))
            cells = ", ".join(f"{name} {percent(k, many)}" for name, k in named)
            print(f"clusters, {kind}, {m} clusters: false {cells}", flush=True)
    for m in (100, 300, 1000):
        rng = np.random.default_rng([SEED, 7, m])
        found = []
        for _ in range(max(20, many // 20)):
            cluster = np.repeat(np.arange(m), 10)
            u, frailty = rng.random(10 * m), rng.gamma(2.0, 0.5, m)
            loss = (rng.random(10 * m) < np.minimum(0.06 * u * frailty[cluster] * 2, 1)).astype(float)
            found.append(abstain.choose_threshold(loss, -u, risk=0.05, delta=DELTA, clusters=cluster).coverage)
        print(f"clusters, coverage with risk .06 c, frailty .5, {m} x 10 rows: {np.mean(found):.2f}", flush=True)


def sized(kind: str, m: int, rng: np.random.Generator) -> tuple[Any, Any, int]:
    """Losses and clusters of sizes up to the declared one, with a risk of rows just above 10 %."""
    most, risk = 25, 0.1002
    size = np.where(rng.random(m) < 0.02, most, 1)
    large = size == most
    in_large = risk * 1.48 / 0.5  # where these hold all errors: of 1.48 rows a cluster, half a row is of a large one
    if kind == "errors in large":
        rate = np.where(large, in_large, 0.0)
    elif kind == "large ones wrong":
        rate = np.where(large, rng.random(m) < in_large, 0.0)
    elif kind == "errors spread":
        rate = np.full(m, risk)
    elif kind == "log-normal":
        most, size = 50, np.clip(np.round(3.0 * np.exp(rng.normal(size=m))), 1, 50).astype(int)
        rate = np.minimum(0.1035 * rng.gamma(0.5, 2.0, m), 1.0)  # the cut takes .003
    elif kind == "five copies":
        most, size, rate = 5, np.full(m, 5), (rng.random(m) < risk) * 1.0
    else:  # risk with size
        most, size = 10, rng.integers(1, 11, m)
        rate = risk * size / 7.0
    cluster = np.repeat(np.arange(m), size)
    return (rng.random(len(cluster)) < rate[cluster]).astype(float), cluster, most


def declared(many: int) -> None:
    """Certificates of the risk of rows, all of them false, and what the declared size costs."""
    for kind in ("errors in large", "large ones wrong", "errors spread", "log-normal", "five copies", "risk with size"):
        for m in (200, 1000):
            rng, false = np.random.default_rng([SEED, 11, m]), 0
            for _ in range(many):
                loss, cluster, most = sized(kind, m, rng)
                score, options = rng.random(len(loss)), {"clusters": cluster, "max_cluster": most}
                false += abstain.choose_threshold(loss, score, risk=0.1, delta=DELTA, **options).attainable
            print(f"declared size, {kind}, {m} clusters: false {percent(false, many)}", flush=True)
    for kind in ("of 10", "of 1 to 10", "of 1 to 10, 2 % of 25"):
        for m in (300, 1000, 3000):
            rng, found = np.random.default_rng(m), list[list[float]]()
            for _ in range(20):
                size = np.full(m, 10) if kind == "of 10" else rng.integers(1, 11, m)
                size = np.where(rng.random(m) < 0.02, 25, size) if "25" in kind else size
                cluster = np.repeat(np.arange(m), size)
                u, frailty, most = rng.random(len(cluster)), rng.gamma(2.0, 0.5, m), int(size.max())
                loss = (rng.random(len(cluster)) < np.minimum(0.12 * u * frailty[cluster], 1.0)).astype(float)
                found.append([
                    abstain.choose_threshold(
                        loss, -u, risk=0.05, delta=DELTA, clusters=cluster, max_cluster=largest
                    ).coverage
                    for largest in (None, most, 2 * most, 4 * most)
                ])  # fmt: skip
            each = ", ".join(f"{mean:.2f}" for mean in np.mean(found, axis=0))
            print(f"declared size, {m} clusters {kind}: coverage if each counts once, 1, 2, 4 times the size: {each}")


def among(many: int) -> None:
    """Useless scores under a flat risk just above the limit: every certificate is false."""
    from abstain.thresholds import choose_among

    for n, k in ((150, 5), (500, 5), (500, 20), (1000, 5)):
        rng = np.random.default_rng([SEED, n, k])
        best = chosen = mine = 0
        for _ in range(many):
            loss = (rng.random(n) < 0.0502).astype(float)
            scores = {str(j): rng.random(n) for j in range(k)}
            best += any(
                Search(read(loss, score), 0.05, DELTA).default().threshold < np.inf for score in scores.values()
            )
            first = max(scores.values(), key=lambda score, loss=loss: loss @ np.argsort(np.argsort(-score)))
            chosen += Search(read(loss, first), 0.05, DELTA).default().threshold < np.inf
            mine += choose_among(loss, scores, risk=0.05, delta=DELTA, rng=rng).attainable
        cells = f"best certificate {percent(best, many)}, best by AUGRC on the same rows {percent(chosen, many)}"
        cells += f", choose_among {percent(mine, many)}"
        print(f"among, n={n}, {k} scores: false, {cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true")
    studies = ["power", "field", "luck", "attack", "clusters", "declared", "among"]
    parser.add_argument("--only", nargs="+", choices=[*studies, "packages"], default=studies)
    options = parser.parse_args()
    many = 1000 if options.full else 100
    calls: dict[str, Callable[[], None]] = {
        "power": lambda: power(
            {300: 1000, 1000: 1000, 3000: 1000} if options.full else {300: 100, 1000: 100, 3000: 40},
            (*POPULATIONS, *SMOOTH_AND_TIED),
        ),
        "field": lambda: power(
            dict.fromkeys((300, 1000, 5000), many), (SMOOTH_AND_TIED[0], SMOOTH_AND_TIED[4]), "field"
        ),
        "luck": lambda: luck(options.full),
        "attack": lambda: attack(options.full),
        "clusters": lambda: clusters(many),
        "declared": lambda: declared(2 * many),
        "among": lambda: among(many),
        "packages": packages,
    }
    for study in options.only:
        calls[study]()


if __name__ == "__main__":
    main()
