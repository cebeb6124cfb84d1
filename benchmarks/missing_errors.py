"""What no test can do: the share of false differences that follows from the share of real ones it finds.

    python -m benchmarks.missing_errors [--store FILE] [--match TEXT] [--repetitions N]

From the root of the repository. In a population, one of two scores is really better. Replace a share e of its rows by
errors in which this score is confident, until both are equal. A sample of n rows has none of these with probability
(1 - e)^n, and is then a sample of the first population. So a test that finds the difference in a share b of its samples
calls equal scores different in at least b (1 - e)^n of those of the second. Where a quarter of e is left in the first
population, the lemma of Neyman and Pearson gives the least: a sample tells them apart only by how many such rows it
has, so the best test calls the two different where these are few. For each pair of populations this prints (1 - e)^n,
b, the least, and how often equal scores are called different. Last come samples that may lack all rows or clusters in
which two scores differ: how often intervals and claims are wrong.
"""

from __future__ import annotations

import argparse
import re
import warnings
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks import error_rates
from benchmarks.error_rates import Cells, Draw, Generator, Sample
from scipy.stats import binom

import abstain
from abstain.inference import non_inferiority


class Pair(NamedTuple):
    """Samples in which one score is better, and samples in which a share of the units makes it equal."""

    better: Draw
    equal: Draw
    share: float
    units: int
    metric: str
    method: str = "auto"
    left: float = 0.0

    def least(self, found: float) -> float:
        """Return the least share of false differences of a test that finds so many; ``left``: see the module."""
        chances = [binom.pmf(np.arange(self.units + 1), self.units, by * self.share) for by in (self.left, 1.0)]
        false = 0.0
        for first, second in zip(*chances, strict=True):  # from none on: likeliest in the first, next to the second
            part = min(1.0, found / first) if first > 0.0 else 0.0
            false, found = false + part * second, found - part * first
            if found <= 0.0:
                break
        return float(false)

    @property
    def lacking(self) -> float:
        """The probability that a sample has none of these units."""
        return float((1.0 - self.share) ** self.units)

    def __call__(self, rng: Generator) -> dict[str, float]:
        """Whether a difference is found in one sample of each."""
        return {
            name: error_rates.equal(draw, self.metric, rng, self.method)["different"]
            for name, draw in (("found", self.better), ("false", self.equal))
        }


def confident(error: float, top: float, n: int, metric: str, rows: int, rng: Generator, *, left: float) -> Sample:
    """Samples of ``error_rates.confident`` with so many of its confident errors; ``rows``: in each cluster."""
    x, share = error_rates.tuned(error_rates.confident, metric, -4.0, 8.0, error, top), error * top
    wrong = error * (1.0 - top) * (1.0 - left * share) / (1.0 - share) + left * share
    loss, scores, _ = error_rates.confident(wrong, left * share / wrong, n, x, rng)
    if rows == 1:
        return loss, scores, None
    unit = np.repeat(np.arange(n), rows)
    return loss[unit], {name: each[unit] + 1e-4 * rng.random(unit.size) for name, each in scores.items()}, unit


def graded(whole: float, n: int, x: float, rng: Generator) -> Sample:
    """Three of ten losses are .03, which one score ranks low; a few are 1, and it ranks these high."""
    pick = rng.random(n)
    large, small = pick < whole, pick > 1.0 - 0.3 * (1.0 - whole)
    a = np.where(large, 0.9 + 0.1 * rng.random(n), rng.random(n) * np.where(small, x, 1.0))
    return large + 0.03 * small, {"a": a, "b": rng.random(n)}, None


def rare_whole(whole: float, n: int, rng: Generator, *, lacking: bool) -> Sample:
    """Samples of :func:`graded` in which both scores are equal; ``lacking``: without whole losses."""
    return graded(0.0 if lacking else whole, n, error_rates.tuned(graded, "augrc", 0.01, 1.0, whole), rng)


def mixed(
    large: float, sizes: tuple[int, int], whole: float, rows: float, n: int, rng: Generator, *, lacking: bool
) -> Sample:
    """Two models with useless scores that are equally often wrong: one in single rows, the other also in clusters.

    ``large``: share of the clusters that have the first of ``sizes``, of which a share ``whole`` is wrong as a whole.
    """
    share = large * sizes[0] / (large * sizes[0] + (1.0 - large) * sizes[1])
    alike = rows + share * whole * (1.0 - rows)
    if lacking:
        large, whole = large * (1.0 - whole) / (1.0 - large * whole), 0.0
    big = rng.random(n) < large
    unit = np.repeat(np.arange(n), np.where(big, *sizes))
    first = (big & (rng.random(n) < whole))[unit] | (rng.random(unit.size) < rows)
    losses = {"a": first * 1.0, "b": (rng.random(unit.size) < alike) * 1.0}
    return losses, {name: rng.random(unit.size) for name in losses}, unit


def models(whole: float, n: int, rng: Generator, *, lacking: bool) -> Sample:
    """Two models with equal mean losses and useless scores: of .03, and of one of them a few of 1."""
    first = np.where(rng.random(n) < (0.0 if lacking else whole), 1.0, 0.03 * (rng.random(n) < 0.2))
    alike = 0.03 * (rng.random(n) < (whole + (1.0 - whole) * 0.006) / 0.03)
    return {"a": first, "b": alike}, {name: rng.random(n) for name in "ab"}, None


def promoted(sizes: str, x: float, noise: float, rng: Generator) -> tuple[Sample, float]:
    """So many rows or clusters are wrong, on top of one score and lowest in the other, which is else the same or noisy.

    Last comes by how much that makes the first one worse.
    """
    equal = {"rows": np.ones(400, int), "clusters of 8": np.full(40, 8), "clusters of 20": np.full(20, 20)}
    size = equal.get(sizes, np.where(rng.random(60) < 0.1, 25, 1))
    unit, share = np.repeat(np.arange(size.size), size), x / size.size
    up, base = (rng.random(size.size) < share)[unit], rng.random(unit.size)
    loss = (up | (rng.random(unit.size) < 0.1)) * 1.0
    scores = {"a": np.where(up, 2.0, 0.0) + base + noise * rng.normal(size=unit.size), "b": base - 2.0 * up}
    return (loss, scores, None if sizes == "rows" else unit), share * (1.0 - share) * 0.9


def few_differ(sizes: str, x: float, noise: float, rng: Generator) -> dict[str, float]:
    """Whether the interval misses that, or there is none; and a claim at this margin."""
    (loss, scores, unit), worse = promoted(sizes, x, noise, rng)
    each = abstain.compare(loss, scores, clusters=unit, n_permutations=1).difference("a", "b")
    missed = {"interval misses": each.low > worse or each.high < worse, "no interval": np.isnan(each.low)}
    try:
        claim = non_inferiority(loss, scores, margin=worse, clusters=unit)
    except ValueError:
        return {**missed, "not worse": 0.0, "no claim": 1.0}
    return {**missed, "not worse": claim.shown, "no claim": 0.0}


def cells_of_few() -> Cells:
    """Rows or clusters that differ, of which a sample may lack all."""
    kinds = [(sizes, x, noise) for sizes in ("rows", "clusters of 8", "clusters of 20", "clusters of 25 or 1")
             for x in (1, 2, 3, 5) for noise in (0.0, 1e-3, 0.15)]  # fmt: skip
    return {
        f"differ: {x} {sizes}, {noise:g} of noise": partial(few_differ, sizes, x, noise) for sizes, x, noise in kinds
    }


@cache
def made_equal(metric: str, error: float, kind: str, apart: float) -> float:
    """Return the share of errors at the top of the first score, and lowest in the other, that makes both equal."""
    loss, scores, _ = error_rates.noisier(error_rates.MANY, error, kind, apart, np.random.default_rng(8))

    def gap(share: float) -> float:
        weight = np.append(np.full(loss.size, (1.0 - share) / loss.size), share)
        one, other = (
            getattr(abstain, metric)(np.append(loss, 1.0), np.append(scores[name], end), sample_weight=weight)
            for name, end in (("a", 20.0), ("b", -20.0))
        )
        return float(one - other)

    low, high = 0.0, 0.1
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gap(middle) < 0.0 else (low, middle)
    return low


def with_confident(n: int, error: float, kind: str, apart: float, share: float, rng: Generator) -> Sample:
    """Samples of ``error_rates.noisier`` with this share of confident errors of the better score."""
    loss, scores, _ = error_rates.noisier(n, error, kind, apart, rng)
    high = rng.random(n) < share
    return np.where(high, 1.0, loss), {"a": np.where(high, 20.0, scores["a"]),
                                       "b": np.where(high, -20.0, scores["b"])}, None  # fmt: skip


def pairs() -> dict[str, Pair]:
    """Return the populations of the tables of ``error_rates``, and those with clusters or losses that are not 0/1."""
    made = {}
    for error, top, n, rows, metrics in (
        (0.1, 0.1, 400, 1, "augrc aurc"), (0.1, 0.04, 400, 1, "augrc aurc"), (0.015, 0.1, 600, 1, "augrc aurc"),
        (0.16, 0.015, 800, 1, "augrc"), (0.2, 0.05, 130, 3, "augrc"),
    ):  # fmt: skip
        for metric in metrics.split():
            unit = "rows" if rows == 1 else f"clusters of {rows} rows"
            name = f"{n} {unit}, {error * n:.0f} errors, {top:.1%} of these confident: {metric.upper()}"
            for left in (0.0, 0.25) if error * top * n > 3.0 else (0.0,):
                draws = [partial(confident, error, top, n, metric, rows, left=each) for each in (left, 1.0)]
                made[name + ", a quarter left" * (left > 0.0)] = Pair(*draws, error * top, n, metric, left=left)
    draws = [partial(rare_whole, 0.006, 400, lacking=each) for each in (True, False)]
    made["400 rows, losses of .03, 0.6 % of 1: AUGRC"] = Pair(draws[0], draws[1], 0.006, 400, "augrc", "influence")
    draws = [partial(models, 0.006, 400, lacking=each) for each in (True, False)]
    made["two models, 400 rows, losses of .03, 0.6 % of one of 1: RISK"] = Pair(*draws, 0.006, 400, "risk")
    for large, sizes, whole, rows, n in (
        (1.0, (10, 10), 0.02, 0.02, 40), (0.1, (25, 1), 0.2, 0.05, 50), (1.0, (50, 50), 0.25, 0.05, 6),
    ):  # fmt: skip
        draws = [partial(mixed, large, sizes, whole, rows, n, lacking=each) for each in (True, False)]
        name = f"{n} clusters, {large * whole:.0%} of one model wrong as a whole: RISK"
        made[name] = Pair(draws[0], draws[1], large * whole, n, "risk")
    for name, (metric, *settings) in error_rates.REAL.items():
        share = made_equal(metric, *settings[1:])
        better, equal = partial(error_rates.noisier, *settings), partial(with_confident, *settings, share)
        made[f"power, {name}"] = Pair(better, equal, share, settings[0], metric)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--match", default="", help="regular expression")
    parser.add_argument("--repetitions", type=int, default=2000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = {name: each for name, each in pairs().items() if re.search(options.match, name)}
    few = {name: each for name, each in cells_of_few().items() if re.search(options.match, name)}
    asked: Cells = dict(cells) | few
    counts = error_rates.counted(asked, options.store, options.repetitions)
    for name, pair in cells.items():
        n = counts[name]["samples"]
        found, false = counts[name]["found"] / n, error_rates.differences.percent(counts[name]["false"], n)
        least = f"lacking in {pair.lacking:.1%}, found {found:.1%}, so at least {pair.least(found):.1%}"
        print(f"{name}: {pair.share:.2%} of the units, {least}; false {false} of {n}")
    for name in few:
        print(f"{name}: {error_rates.said(counts[name])}")


if __name__ == "__main__":
    main()
