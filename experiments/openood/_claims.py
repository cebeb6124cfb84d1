"""Which claims of the joint paper hold on a setting: each as comparisons of rows, counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from experiments.openood._numbers import NINE
from experiments.openood._rows import LADDER, STEPS
from experiments.openood._tables import welch
from experiments.training._differences import half_width, markdown, right_enough, sign, squared_error

#: Share that has to be right before a claim is judged on a row.
BARS = {"fashion_small": 0.9, "fashion_scores": 0.9, "fashion_mnist": 0.9, "cifar10": 0.8, "cifar10_scores": 0.8}
GROUPS = ("near", "far")
#: Scores that are paired with the maximum probability, by setting; elsewhere three.
OUTSIDE = dict.fromkeys(("fashion_scores", "cifar10_scores"), tuple(score for score in NINE.values() if score != "msp"))
THREE = ("energy", "knn", "vim")

#: Values per seed of what a claim says is larger, and of what it says is smaller (of other trainings; () is zero).
Gap = tuple[Sequence[float], Sequence[float]]
#: A comparison that a claim asks for and the numbers do not allow.
LACKS: Gap = ((), ())


class Values:
    """Numbers of one setting by row and quantity, of the rows that are right often enough."""

    def __init__(self, rows: Iterable[Mapping[str, object]], setting: str) -> None:
        self.outside = OUTSIDE.get(setting, THREE)
        self.found: dict[tuple[str, str], dict[str, float]] = {}
        for row in rows:
            if row["setting"] == setting:
                cell = self.found.setdefault((str(row["model"]), str(row["quantity"])), {})
                cell[str(row["seed"])] = float(row["value"])  # type: ignore[arg-type]
        errors = {name: self.of(name, "test errors") or [np.nan] for name in LADDER}
        here = {name for name in LADDER if right_enough(float(np.mean(errors[name])), BARS[setting])}
        self.found = {key: cell for key, cell in self.found.items() if key[0] in here}

    @property
    def joint(self) -> dict[str, int]:
        """Quantities of both tasks together: 1 where higher is better, -1 where lower is."""
        signs = {"ds_f1": 1, "ds_aurc": -1}
        return {
            f"{g} {metric} {score}": sign for g in GROUPS for score in self.outside for metric, sign in signs.items()
        }

    @property
    def apart(self) -> dict[str, int]:
        """Quantities of the separate tasks."""
        return {"test errors": -1, "test aurc": -1} | {f"{g} auroc {s}": 1 for g in GROUPS for s in self.outside}

    def of(self, model: str, quantity: str) -> list[float]:
        """Return the values of the seeds."""
        return list(self.found.get((model, quantity), {}).values())

    def between(self, model: str, base: str, quantities: Mapping[str, int]) -> list[Gap]:
        """Return what a row gains over another one, other seeds of which are other trainings."""
        return [
            ([way * each for each in own], [way * each for each in other])
            if (own := self.of(model, quantity)) and (other := self.of(base, quantity))
            else LACKS
            for quantity, way in quantities.items()
        ]

    def within(self, gain: Callable[[Callable[[str], float]], float]) -> list[Gap]:
        """Return a number that each training of a row gives, row by row; rows that are not here lack it."""
        gaps: list[Gap] = []
        for model in LADDER:
            seeds = self.found.get((model, "test errors"), {})
            try:
                each = [gain(lambda q, s=seed, m=model: self.found[m, q][s]) for seed in seeds]  # type: ignore[misc]
            except KeyError:  # a score that some row lacks
                each = []
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
        for score in values.outside:
            found += values.within(lambda q, g=group, s=score: q(f"{g} ds_f1 {s}") - max(q(f"{g} f1 {s}"), q(f"{g} f1 msp")))  # type: ignore[misc]  # fmt: skip # noqa: E501
            found += values.within(lambda q, g=group, s=score: min(q(f"{g} aurc {s}"), q(f"{g} aurc msp")) - q(f"{g} ds_aurc {s}"))  # type: ignore[misc]  # fmt: skip # noqa: E501
    return found


def _farther(values: Values) -> list[Gap]:
    def gain(q: Callable[[str], float], group: str, score: str) -> float:
        return q(f"{group} ds_f1 {score}") - q(f"{group} f1 msp")

    return [
        gap
        for score in values.outside
        for gap in values.within(lambda q, s=score: gain(q, "far", s) - gain(q, "near", s))  # type: ignore[misc]
    ]


def _strong(values: Values) -> list[Gap]:
    return [
        gap
        for group in GROUPS
        for score in values.outside
        for gap in values.within(lambda q, g=group, s=score: q(f"{g} f1 msp") - q(f"{g} f1 {s}"))  # type: ignore[misc]
    ]


def _best(quantities: Callable[[Values], Mapping[str, int]]) -> Callable[[Values], list[Gap]]:
    return lambda values: [
        gap
        for other in LADDER
        if other != "sure_plus"
        for gap in values.between("sure_plus", other, quantities(values))
    ]


CLAIMS = (
    Claim("J17", "a second score beats the better single one, in F1 and AURC", _doubled),
    Claim("J19", "the gain in DS-F1 over the maximum probability is larger far than near", _farther),
    Claim("J21", "the maximum probability has a higher F1 than every other single score, on every row "
          "(the paper: is a strong one)", _strong),
    Claim("J26", "SURE predicts failures better than cross-entropy (AURC)",
          lambda values: values.between("sure", "ce", {"test aurc": -1})),
    Claim("J27", "each change from SURE to SURE+ improves", lambda values: [
        gap for before, after in pairwise(STEPS)
        for gap in values.between(after, before, {**values.apart, **values.joint})]),
    Claim("J28", "SURE+ is best in DS-F1 and DS-AURC", _best(lambda values: values.joint)),
    Claim("J29", "SURE+ is right most often", _best(lambda values: {"test errors": -1})),
    Claim("J30", "SURE+ is best on the separate tasks (errors, AURC, AUROC), in every column "
          "(the paper: competitive or superior)", _best(lambda values: values.apart)),
    Claim("J34", "F-SAM is more accurate and more reliable than SAM",
          lambda values: values.between("sure_fsam", "sure_ema", {**values.apart, **values.joint})),
)  # fmt: skip


def claims(rows: Sequence[Mapping[str, object]], setting: str) -> str:
    """Return a table: of the comparisons of each claim how many come out as it says, how many against it.

    A claim holds if all come out as said, each at its own 95 %: one that does not would be enough to miss it
    (intersection-union test). It does not hold if one comes out against, at 95 % for all of them together (Bonferroni).
    What is left out (a row of the ladder that is not there or below the bar, a single seed, a score that a row lacks)
    keeps it from holding. All of it takes normal scatter over seeds for granted.
    """
    values = Values(rows, setting)
    body = []
    for claim in CLAIMS:
        gaps = claim.gaps(values)
        kept = [(own, other) for own, other in gaps if len(own) > 1 and len(other) != 1]
        for_it = [_sign(gap, 0.95) for gap in kept].count(1)
        against = [_sign(gap, 1.0 - 0.05 / len(kept)) for gap in kept].count(-1)
        here = "does not hold" if against else "holds" if for_it == len(gaps) else "not decided"
        counts = (for_it, against, len(kept) - for_it - against, len(gaps) - len(kept))
        body.append([claim.name, claim.says, *(str(count) for count in counts), here if kept else "not judged"])
    return markdown(["claim", "says", "as said", "against", "not distinguished", "left out", "here"], body)


def _sign(gap: Gap, level: float) -> int:
    """Return 1 where the first values are larger, -1 where they are smaller, 0 where an interval holds 0.

    Of two rows the one with fewer seeds gives the degrees of freedom: Welch's are estimated, and where one row scatters
    much more than the other, too many of few seeds' intervals miss far out in the tails.
    """
    own, other = gap
    if not len(other):
        return sign(float(np.mean(own)), half_width(squared_error(own), len(own) - 1, level))
    half = welch(own, other, level, df=min(len(own), len(other)) - 1)
    return sign(float(np.mean(own)) - float(np.mean(other)), half)
