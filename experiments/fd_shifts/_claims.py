"""Which claims of the AUGRC paper on its thirteen scores hold on a data set: counted in the columns of its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import t

from experiments.fd_shifts._tables import METRICS, Chosen
from experiments.training._differences import markdown

#: Share that has to be right before a claim is judged on a data set.
BARS = {"fashion_mnist": 0.9, "cifar10": 0.8}


def claims(numbers: Sequence[dict[str, Any]], data: str) -> str:
    """Return a table: what each claim says, what was counted, and whether that is what it says.

    A difference between two scores counts where its paired t interval over seeds leaves out zero, at 95 % for all
    columns of the claim together (Bonferroni).
    """
    found = Chosen(numbers, data)
    below = found.errors() > 1.0 - BARS.get(data, 1.0)
    body = [[*words, "not judged" if below else here] for *words, here in (_top(found), _ranks(found), *_pairs(found))]
    return markdown(["claim", "says", "counted", "here"], body)


def _top(found: Chosen) -> tuple[str, str, str, str]:
    one, two = (found.grid(metric).ranks() for metric in METRICS[::-1])
    differ = {
        title: {name for name in one if one[name][j] <= 3} != {name for name in two if two[name][j] <= 3}
        for j, title in enumerate(found.titles)
    }
    word = "others" if differ["iid"] else "the same"
    return (
        "A29", "the three best scores by AURC are not those by AUGRC, each tuned by its metric",
        f"{word} without shift; others in {sum(differ.values())} of {len(differ)} columns",
        "holds" if differ["iid"] else "does not hold",
    )  # fmt: skip


def _ranks(found: Chosen) -> tuple[str, str, str, str]:
    one, two = (found.grid(metric, tuned_by="augrc").ranks() for metric in METRICS)
    gaps = np.array([np.abs(np.subtract(one[name], two[name])) for name in one])
    return (
        "A30", "ranks by the two metrics differ with equal settings, too",
        f"{int((gaps > 0).sum())} of {gaps.size} ranks, {int((gaps > 2).sum())} by three or more",
        "holds" if gaps.any() else "does not hold",
    )  # fmt: skip


def _pairs(found: Chosen) -> list[tuple[str, str, str, str]]:
    rivals = {name: _against(found, name, "MSR") for name in found.names if name != "MSR"}
    best = max(rivals, key=lambda name: (rivals[name][0], -rivals[name][1]))
    count = len(found.titles)
    msr, entropy = _against(found, "MCD-MSR", "MSR"), _against(found, "MCD-PE", "PE")
    better, worse = msr[2] + entropy[2], msr[3] + entropy[3]
    return [
        (
            "A37", "no one score beats MSR throughout", f"{best}: {_said(rivals[best], count)}",
            "does not hold" if rivals[best][2] == count else "holds" if rivals[best][0] < count else "not decided",
        ),
        (
            "A38", "Monte Carlo dropout improves MSR in most columns",
            f"MCD-MSR on MSR: {_said(msr, count)}; MCD-PE on PE: {_said(entropy, count)}",
            "holds" if better > count else "does not hold" if worse > count else "not decided",
        ),
    ]  # fmt: skip


def _against(found: Chosen, one: str, two: str) -> tuple[int, int, int, int]:
    """Return columns in which one score has the lower mean, the higher; and those told apart, both ways."""
    means, told = [], []
    for title in found.titles:
        gaps = found.gaps(one, two, title)
        middle = float(np.mean(gaps))
        error = float(np.std(gaps, ddof=1)) / len(gaps) ** 0.5 if gaps[1:] else np.inf
        far = abs(middle) > t.ppf(1.0 - 0.025 / len(found.titles), len(gaps) - 1) * error
        means.append(middle)
        told.append(int(np.sign(middle)) if far else 0)
    return sum(each < 0 for each in means), sum(each > 0 for each in means), told.count(-1), told.count(1)


def _said(counts: tuple[int, int, int, int], n: int) -> str:
    lower, higher, better, worse = counts
    return f"lower in {lower} and higher in {higher} of {n}, told apart {better} and {worse}"
