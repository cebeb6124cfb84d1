"""Which claims of the AUGRC paper on its thirteen scores hold on a data set: counted in the columns of its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from math import comb
from typing import Any

import numpy as np

from experiments.fd_shifts._tables import METRICS, Chosen, _grid
from experiments.training._differences import half_width, markdown, right_enough, sign, squared_error

#: Share that has to be right before a claim is judged on a data set.
BARS = {"fashion_mnist": 0.9, "cifar10": 0.8}


def claims(numbers: Sequence[dict[str, Any]], data: str) -> str:
    """Return a table: what each claim says, what was counted, and whether that is what it says.

    Verdicts rest on differences between two scores that differ: their paired t interval over seeds leaves out
    zero, at 95 % for all comparisons together of which one is enough for the verdict (Bonferroni).
    """
    found = Chosen(numbers, data)
    judged = right_enough(found.errors(), BARS.get(data, 1.0))
    body = [[*words, here if judged else "not judged"] for *words, here in (_top(found), _ranks(found), *_pairs(found))]
    return markdown(["claim", "says", "counted", "here"], body)


def _top(found: Chosen) -> tuple[str, str, str, str]:
    one, two = (
        [{name for name in found.names if 0 < ranks[name][j] <= 3} for j in range(len(found.titles))]
        for ranks in (found.grid(metric).ranks() for metric in ("aurc", "augrc"))
    )
    iid = found.titles.index("iid")
    swaps = [
        (out, into) for _, out, into in _reversed(found, {metric: metric for metric in METRICS}, ["iid"])
        if out in one[iid] - two[iid] and into in two[iid] - one[iid]
    ]  # fmt: skip
    word = "the same" if one[iid] == two[iid] else "others"
    differ = sum(a != b for a, b in zip(one, two, strict=True))
    return (
        "A29", "the three best scores by AURC are not those by AUGRC, each tuned by its metric",
        f"by means {word} without shift, others in {differ} of {len(one)} columns; "
        f"distinguished: {len(swaps)} changes without shift",
        "holds" if swaps else "not decided",
    )  # fmt: skip


def _ranks(found: Chosen) -> tuple[str, str, str, str]:
    one, two = (found.grid(metric, tuned_by="augrc").ranks() for metric in METRICS)
    gaps = np.array([np.abs(np.subtract(one[name], two[name])) for name in one])
    swaps = _reversed(found, dict.fromkeys(METRICS, "augrc"), found.titles)
    return (
        "A30", "ranks by the two metrics differ with equal settings, too",
        f"by means {int((gaps > 0).sum())} of {gaps.size} ranks, {int((gaps > 2).sum())} by three or more; "
        f"distinguished: {len(swaps)} of {comb(len(one), 2) * len(found.titles)} pairs",
        "holds" if swaps else "not decided",
    )  # fmt: skip


def _reversed(found: Chosen, tuned_by: Mapping[str, str], titles: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return (column, one, two) where one score is distinguished as better by AURC, and the other by AUGRC."""
    by = {metric: _by_seed(found, metric, tuner) for metric, tuner in tuned_by.items()}
    level = 1.0 - 0.05 / (comb(len(found.names), 2) * len(titles))

    def told(metric: str, title: str, one: str, two: str) -> int:
        own, other = (by[metric].get((name, title), {}) for name in (one, two))
        return _sign([own[seed] - other[seed] for seed in own if seed in other], level)

    return [
        (title, one, two) for title in titles for one, two in permutations(found.names, 2)
        if told("aurc", title, one, two) < 0 < told("augrc", title, one, two)
    ]  # fmt: skip


def _by_seed(found: Chosen, metric: str, tuned_by: str) -> dict[tuple[str, str], dict[int, float]]:
    """Return the grid of each seed alone, by score and column; the ranks are of the means over seeds."""
    results = found.chosen.results(tuned_by)
    values: dict[tuple[str, str], dict[int, float]] = {}
    for seed in dict.fromkeys(row["seed"] for row in results.numbers):
        grid = _grid(replace(results, numbers=tuple(row for row in results.numbers if row["seed"] == seed)), metric)
        for name, row in grid.values.items():
            for head, value in zip(grid.heads, row, strict=True):
                values.setdefault((name, head.title), {})[seed] = value
    return values


def _pairs(found: Chosen) -> list[tuple[str, str, str, str]]:
    count = len(found.titles)
    rivals = [name for name in found.names if name != "MSR"]
    # one rival is enough against the claim, in all columns; one column of each rival for it
    lower = {name: _signs(found, name, "MSR", len(rivals)).count(-1) for name in rivals}
    higher = [name for name in rivals if 1 in _signs(found, name, "MSR", count)]
    means = {name: sum(sum(found.gaps(name, "MSR", title)) < 0.0 for title in found.titles) for name in rivals}
    best = max(rivals, key=lambda name: (lower[name], means[name]))
    # more than half of 2 count columns: if no more than half are, one of the other count must be distinguished falsely
    passes = {pair: _signs(found, *pair, count) for pair in (("MCD-MSR", "MSR"), ("MCD-PE", "PE"))}
    better, worse = (sum(signs.count(way) for signs in passes.values()) for way in (-1, 1))
    return [
        (
            "A37", "no one score beats MSR throughout",
            f"distinguished: {best} lower in {lower[best]} of {count}; "
            f"{len(higher)} of {len(rivals)} scores higher somewhere",
            "does not hold" if lower[best] == count else "holds" if len(higher) == len(rivals) else "not decided",
        ),
        (
            "A38", "Monte Carlo dropout improves MSR in most columns",
            "distinguished: " + "; ".join(
                f"{one} on {two} lower in {signs.count(-1)} and higher in {signs.count(1)} of {count}"
                for (one, two), signs in passes.items()
            ),
            "holds" if better > count else "does not hold" if worse > count else "not decided",
        ),
    ]  # fmt: skip


def _signs(found: Chosen, one: str, two: str, comparisons: int) -> list[int]:
    """Return, column by column, -1 where the first score is distinguished as lower, 1 as higher, else 0."""
    return [_sign(found.gaps(one, two, title), 1.0 - 0.05 / comparisons) for title in found.titles]


def _sign(gaps: Sequence[float], level: float) -> int:
    return sign(float(np.mean(gaps)), half_width(squared_error(gaps), len(gaps) - 1, level)) if gaps else 0
