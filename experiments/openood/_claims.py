"""Which claims of the joint paper hold on a setting: each as comparisons of rows, counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.stats import t

from experiments.openood._tables import welch
from experiments.training._differences import markdown

#: Share that has to be right before a claim is judged on a row.
BARS = {"fashion_small": 0.9, "fashion_mnist": 0.9, "cifar10": 0.8}
#: From SURE to SURE+, one change at a time.
STEPS = ("sure", "sure_linear", "sure_no_crl", "sure_ema", "sure_fsam", "sure_plus")
GROUPS, OUTSIDE = ("near", "far"), ("energy", "knn", "vim")
#: Quantity -> 1 where higher is better, -1 where lower is.
JOINT = {f"{group} {metric} {score}": sign for group in GROUPS for score in OUTSIDE
         for metric, sign in (("ds_f1", 1), ("ds_aurc", -1))}  # fmt: skip
APART = {"test errors": -1, "test aurc": -1, **{f"{group} auroc {score}": 1 for group in GROUPS for score in OUTSIDE}}

#: Values per seed of what a claim says is larger, and of what it says is smaller (of other trainings; () is zero).
Gap = tuple[Sequence[float], Sequence[float]]


class Values:
    """Numbers of one setting by row and quantity, of the rows that are right often enough."""

    def __init__(self, rows: Iterable[Mapping[str, object]], setting: str) -> None:
        self.found: dict[tuple[str, str], dict[str, float]] = {}
        for row in rows:
            if row["setting"] == setting:
                cell = self.found.setdefault((str(row["model"]), str(row["quantity"])), {})
                cell[str(row["seed"])] = float(row["value"])  # type: ignore[arg-type]
        names = list(dict.fromkeys(model for model, _ in self.found))
        self.below = [name for name in names if np.mean(self.of(name, "test errors")) > 1.0 - BARS[setting]]
        self.models = [name for name in names if name not in self.below and not name.endswith("_equal_passes")]

    def of(self, model: str, quantity: str) -> list[float]:
        """Return the values of the seeds."""
        return list(self.found.get((model, quantity), {}).values())

    def between(self, model: str, base: str, quantities: Mapping[str, int]) -> list[Gap]:
        """Return what a row gains over another one, other seeds of which are other trainings."""
        if not {model, base} <= set(self.models):
            return []
        return [
            ([sign * each for each in own], [sign * each for each in other])
            for quantity, sign in quantities.items()
            if (own := self.of(model, quantity)) and (other := self.of(base, quantity))
        ]

    def within(self, gain: Callable[[Callable[[str], float]], float]) -> list[Gap]:
        """Return a number that each training of a row gives, row by row."""
        gaps: list[Gap] = []
        for model in self.models:
            seeds = list(self.found[model, "test errors"])
            try:
                each = [gain(lambda q, s=seed, m=model: self.found[m, q][s]) for seed in seeds]  # type: ignore[misc]
            except KeyError:  # a score that some row lacks
                continue
            gaps.append((each, ()))
        return gaps


@dataclass(frozen=True)
class Claim:
    """A claim of the ledger, in comparisons that it says come out better."""

    name: str
    says: str
    gaps: Callable[[Values], list[Gap]]


def _doubled(values: Values) -> list[Gap]:
    found = []
    for group in GROUPS:
        for score in OUTSIDE:
            found += values.within(lambda q, g=group, s=score: q(f"{g} ds_f1 {s}") - max(q(f"{g} f1 {s}"), q(f"{g} f1 msp")))  # type: ignore[misc]  # fmt: skip # noqa: E501
            found += values.within(lambda q, g=group, s=score: min(q(f"{g} aurc {s}"), q(f"{g} aurc msp")) - q(f"{g} ds_aurc {s}"))  # type: ignore[misc]  # fmt: skip # noqa: E501
    return found


def _farther(values: Values) -> list[Gap]:
    def gain(q: Callable[[str], float], group: str, score: str) -> float:
        return q(f"{group} ds_f1 {score}") - q(f"{group} f1 msp")

    return [
        gap
        for score in OUTSIDE
        for gap in values.within(lambda q, s=score: gain(q, "far", s) - gain(q, "near", s))  # type: ignore[misc]
    ]


def _strong(values: Values) -> list[Gap]:
    return [
        gap
        for group in GROUPS
        for score in OUTSIDE
        for gap in values.within(lambda q, g=group, s=score: q(f"{g} f1 msp") - q(f"{g} f1 {s}"))  # type: ignore[misc]
    ]


def _best(quantities: Mapping[str, int]) -> Callable[[Values], list[Gap]]:
    return lambda values: [
        gap for other in values.models if other != "sure_plus" for gap in values.between("sure_plus", other, quantities)
    ]


CLAIMS = (
    Claim("J17", "a second score beats the better single one, in F1 and AURC", _doubled),
    Claim("J19", "the gain in DS-F1 over the maximum probability is larger far than near", _farther),
    Claim("J21", "the maximum probability is a strong single score (F1)", _strong),
    Claim("J26", "SURE predicts failures better than cross-entropy (AURC)",
          lambda values: values.between("sure", "ce", {"test aurc": -1})),
    Claim("J27", "each change from SURE to SURE+ improves", lambda values: [
        gap for before, after in pairwise(STEPS) for gap in values.between(after, before, {**APART, **JOINT})]),
    Claim("J28", "SURE+ is best in DS-F1 and DS-AURC", _best(JOINT)),
    Claim("J29", "SURE+ is right most often", _best({"test errors": -1})),
    Claim("J30", "SURE+ is best on the separate tasks (AURC, AUROC)", _best(APART)),
    Claim("J34", "F-SAM is more accurate and more reliable than SAM",
          lambda values: values.between("sure_fsam", "sure_ema", {**APART, **JOINT})),
)  # fmt: skip


def claims(rows: Sequence[Mapping[str, object]], setting: str) -> str:
    """Return a table: of the comparisons of each claim how many come out as it says, how many against it.

    A comparison counts where its interval over seeds leaves out zero, at 95 % for all comparisons of the claim
    together (Bonferroni).
    """
    values = Values(rows, setting)
    body = []
    for claim in CLAIMS:
        gaps = [gap for gap in claim.gaps(values) if len(gap[0]) > 1 and len(gap[1]) != 1]
        signs = [_sign(gap, 0.05 / len(gaps)) for gap in gaps]
        for_it, against = signs.count(1), signs.count(-1)
        here = "does not hold" if against else "holds" if for_it == len(gaps) else "not decided"
        shown = [str(for_it), str(against), str(signs.count(0)), here if gaps else "not judged"]
        body.append([claim.name, claim.says, *shown])
    return markdown(["claim", "says", "as said", "against", "not told apart", "here"], body)


def _sign(gap: Gap, level: float) -> int:
    """Return 1 where the first values are larger, -1 where they are smaller, 0 where an interval cannot tell."""
    own, other = gap
    middle = float(np.mean(own)) - (float(np.mean(other)) if len(other) else 0.0)
    if len(other):
        half = welch(own, other, 1.0 - level)
    else:
        half = float(t.ppf(1.0 - level / 2.0, len(own) - 1) * np.std(own, ddof=1) / math.sqrt(len(own)))
    return 0 if abs(middle) <= half else 1 if middle > 0.0 else -1
