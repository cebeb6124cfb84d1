"""Write the conformance vectors: small problems with the exact answers of every definition.

    python conformance/make_vectors.py            # writes src/abstain/conformance/vectors.json
    python conformance/make_vectors.py --check    # status 1 if that file differs by a byte

Slow code on purpose: loops over rows in exact fractions, from the definitions. It imports neither NumPy nor abstain.
A number is an integer or "p/q" where it is rational, a decimal of 30 places where it holds a logarithm, and null where
the definition gives none. Scores, losses and weights are exact in single precision, but for the problem "close".
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf
from pathlib import Path
from typing import Any, NamedTuple

VERSION = "1.0"
TARGET = Path(__file__).parents[1] / "src/abstain/conformance/vectors.json"
PLACES = 30

Number = Fraction | Decimal | None


def fraction(text: Any) -> Any:
    """Return an exact number; infinities stay floats, a missing value stays None."""
    if text in ("inf", "-inf"):
        return float(text)
    return None if text is None else Fraction(text)


def log(number: Fraction) -> Decimal:
    """Natural logarithm, to more places than are written."""
    return (Decimal(number.numerator) / Decimal(number.denominator)).ln()


def decimal(number: Any) -> Decimal:
    """A rational number as a decimal."""
    return number if isinstance(number, Decimal) else Decimal(number.numerator) / Decimal(number.denominator)


def total(numbers: Iterator[Any] | list[Any]) -> Any:
    """Sum of fractions, or of decimals if one of them holds a logarithm."""
    every = list(numbers)
    return (
        sum(map(decimal, every), Decimal(0)) if any(isinstance(x, Decimal) for x in every) else sum(every, Fraction())
    )


# ---------------------------------------------------------------------- rows of one score


class Row(NamedTuple):
    loss: Fraction
    score: Any
    weight: Fraction


class Block(NamedTuple):
    """Rows of one score: weight and loss accepted before and after it."""

    before: Fraction
    lost_before: Fraction
    after: Fraction
    lost: Fraction

    @property
    def risk(self) -> Fraction:
        return self.lost / self.after


def blocks(rows: list[Row]) -> list[Block]:
    """The blocks of equal scores, highest first."""
    found, taken, lost = [], Fraction(), Fraction()
    for score in sorted({row.score for row in rows}, reverse=True):
        here = [row for row in rows if row.score == score]
        after = taken + sum(row.weight for row in here)
        lost_after = lost + sum(row.weight * row.loss for row in here)
        found.append(Block(taken, lost, after, lost_after))
        taken, lost = after, lost_after
    return found


def weight(rows: list[Row]) -> Fraction:
    return sum((row.weight for row in rows), Fraction())


def mean_loss(rows: list[Row]) -> Fraction:
    return sum((row.weight * row.loss for row in rows), Fraction()) / weight(rows)


def repeated(rows: list[Row]) -> list[Row]:
    """Each row as often as its weight says."""
    return [Row(row.loss, row.score, Fraction(1)) for row in rows for _ in range(int(row.weight))]


def oracle(rows: list[Row]) -> list[Row]:
    """The same losses, ranked by themselves."""
    return [Row(row.loss, -row.loss, row.weight) for row in rows]


def is_binary(rows: list[Row]) -> bool:
    return all(row.loss in (0, 1) for row in rows)


# AURC


def aurc_plugin(rows: list[Row]) -> Number:
    return sum((b.after - b.before) * b.risk for b in blocks(rows)) / weight(rows)


def integral_over_coverage(points: list[tuple[Fraction, Fraction]]) -> Number:
    """Integral of height / coverage below straight lines from (0, 0) through the points."""
    parts: list[Any] = []
    for (c0, g0), (c1, g1) in pairwise([(Fraction(), Fraction()), *points]):
        slope = (g1 - g0) / (c1 - c0)
        parts.append(slope * (c1 - c0))
        if c0 > 0 and g0 != slope * c0:
            parts.append(decimal(g0 - slope * c0) * log(c1 / c0))
    return total(parts)


def aurc_interpolated(rows: list[Row]) -> Number:
    whole = weight(rows)
    return integral_over_coverage([(b.after / whole, b.lost / whole) for b in blocks(rows)])


def trapezoids(points: list[tuple[Fraction, Fraction]]) -> Fraction:
    return sum(((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points)), Fraction())


def risk_points(rows: list[Row]) -> list[tuple[Fraction, Fraction]]:
    return [(b.after / weight(rows), b.risk) for b in blocks(rows)]


def aurc_trapezoid(rows: list[Row]) -> Number:
    points = risk_points(rows)
    return trapezoids([(Fraction(), points[0][1]), *points])


def aurc_from_zero(rows: list[Row]) -> Number:
    return trapezoids([(Fraction(), Fraction()), *risk_points(rows)])


def risks_by_rank(rows: list[Row]) -> list[Fraction]:
    """Mean loss of the first k rows for every k, in expectation over the order of tied rows."""
    return [
        (b.lost_before + k * (b.lost - b.lost_before) / (b.after - b.before)) / (b.before + k)
        for b in blocks(repeated(rows))
        for k in range(1, int(b.after - b.before) + 1)
    ]


def aurc_harmonic(rows: list[Row]) -> Number:
    risks = risks_by_rank(rows)
    return sum(risks, Fraction()) / len(risks)


def aurc_from_first(rows: list[Row]) -> Number:
    risks = risks_by_rank(rows)
    return trapezoids([(Fraction(k, len(risks)), risk) for k, risk in enumerate(risks, 1)])


def aurc_log(rows: list[Row]) -> Number:
    every, parts = repeated(rows), []
    n = len(every)
    for row in every:
        lower = sum(other.score < row.score for other in every)
        tied = sum(other.score == row.score for other in every)
        ranks = range(lower + 1, lower + tied + 1)
        mean = sum((-log(1 - Fraction(r, n + 1)) for r in ranks), Decimal(0)) / tied
        parts.append(decimal(row.loss) * mean)
    return sum(parts, Decimal(0)) / n


def aurc_grid96(rows: list[Row]) -> Number:
    """Mean of the risk at 96 coverages from 0.05 to 1, each at the rank that is nearest."""
    risks = risks_by_rank(rows)
    grid = [Fraction(k, 100) for k in range(5, 101)]
    return sum((risks[max(1, round(c * len(risks))) - 1] for c in grid), Fraction()) / len(grid)


def closed_form(risk: Fraction) -> Number:
    """Smallest area of a 0/1 loss with this mean: risk + (1 - risk) ln(1 - risk)."""
    if risk in (0, 1):
        return risk
    return decimal(risk) + decimal(1 - risk) * log(1 - risk)


def e_aurc_plugin(rows: list[Row]) -> Number:
    return total([aurc_plugin(rows), negative(aurc_interpolated(oracle(rows)))])


def e_aurc_trapezoid(rows: list[Row]) -> Number:
    if is_binary(rows):
        best = closed_form(mean_loss(rows))
    else:
        losses = sorted(row.loss for row in repeated(rows))
        best = aurc_trapezoid([Row(loss, -rank, Fraction(1)) for rank, loss in enumerate(losses)])
    return total([aurc_trapezoid(rows), negative(best)])


def e_aurc_harmonic(rows: list[Row]) -> Number:
    return total([aurc_harmonic(rows), negative(aurc_harmonic(oracle(rows)))])


def e_aurc_from_first(rows: list[Row]) -> Number:
    return total([aurc_from_first(rows), negative(aurc_from_first(oracle(rows)))])


def negative(number: Any) -> Any:
    return -number


def hull(rows: list[Row]) -> list[tuple[Fraction, Fraction]]:
    """Corners of the lower convex hull of (0, 0) and the generalized risks, without (0, 0)."""
    whole = weight(rows)
    corners = [(Fraction(), Fraction())]
    for b in blocks(rows):
        point = (b.after / whole, b.lost / whole)
        while len(corners) > 1 and above(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    return corners[1:]


def above(first: Any, middle: Any, last: Any) -> bool:
    """Whether the middle point lies on or above the line between the others."""
    return (middle[1] - first[1]) * (last[0] - first[0]) >= (last[1] - first[1]) * (middle[0] - first[0])


def aurc_achievable(rows: list[Row]) -> Number:
    return integral_over_coverage(hull(rows))


# AUGRC


def augrc_trapezoid(rows: list[Row]) -> Number:
    whole = weight(rows)
    return trapezoids([(Fraction(), Fraction())] + [(b.after / whole, b.lost / whole) for b in blocks(rows)])


def generalized_by_rank(rows: list[Row]) -> list[tuple[Fraction, Fraction]]:
    risks = risks_by_rank(rows)
    n = len(risks)
    return [(Fraction(k, n), risk * k / n) for k, risk in enumerate(risks, 1)]


def augrc_from_first(rows: list[Row]) -> Number:
    return trapezoids(generalized_by_rank(rows))


def augrc_mean(rows: list[Row]) -> Number:
    heights = [g for _, g in generalized_by_rank(rows)]
    return sum(heights, Fraction()) / len(heights)


def augrc_unbiased(rows: list[Row]) -> Number:
    every = repeated(rows)
    n = len(every)
    if n < 2:
        return None
    won = Fraction()
    for i, row in enumerate(every):
        for k, other in enumerate(every):
            if i != k and row.score >= other.score:
                won += row.loss * (Fraction(1, 2) if row.score == other.score else 1)
    return won / (n * (n - 1))


def sele(rows: list[Row]) -> Number:
    pairs = (a.weight * a.loss * b.weight for a in rows for b in rows if a.score >= b.score)
    return sum(pairs, Fraction()) / weight(rows) ** 2


def e_augrc(rows: list[Row]) -> Number:
    return augrc_trapezoid(rows) - augrc_trapezoid(oracle(rows))


def e_augrc_from_first(rows: list[Row]) -> Number:
    return augrc_from_first(rows) - augrc_from_first(oracle(rows))


def prr_generalized(rows: list[Row]) -> Number:
    best, random = augrc_trapezoid(oracle(rows)), mean_loss(rows) / 2
    return None if random == best else (random - augrc_trapezoid(rows)) / (random - best)


def prr_selective(rows: list[Row]) -> Number:
    best, random = aurc_harmonic(oracle(rows)), mean_loss(rows)
    return None if random == best else (random - aurc_harmonic(rows)) / (random - best)


def f1_auc(rows: list[Row]) -> Number:
    whole, accuracy = weight(rows), 1 - mean_loss(rows)
    if accuracy == 0:
        return Fraction()
    parts: list[Any] = []
    for b in blocks(rows):
        c0, c1 = b.before / whole, b.after / whole
        t0, t1 = (b.before - b.lost_before) / whole, (b.after - b.lost) / whole
        slope = (t1 - t0) / (c1 - c0)
        parts.append(2 * slope * (c1 - c0))
        rest = 2 * (t0 - slope * (c0 + accuracy))
        if rest != 0:
            parts.append(decimal(rest) * log((c1 + accuracy) / (c0 + accuracy)))
    return total(parts)


# operating points


def chosen(rows: list[Row]) -> list[Block]:
    """Blocks that a threshold can accept: a score of -inf is accepted by none that is chosen."""
    lowest = any(row.score == -inf for row in rows)
    return blocks(rows)[:-1] if lowest else blocks(rows)


def coverage_attainable(rows: list[Row], risk: Fraction) -> Number:
    return max((b.after / weight(rows) for b in chosen(rows) if b.risk <= risk), default=None)


def coverage_or_zero(rows: list[Row], risk: Fraction) -> Number:
    return coverage_attainable(rows, risk) or Fraction()


def coverage_until_first(rows: list[Row], risk: Fraction) -> Number:
    reached = Fraction()
    for b in chosen(rows):
        if b.risk > risk:
            break
        reached = b.after / weight(rows)
    return reached or None


def risk_attainable(rows: list[Row], coverage: Fraction) -> Number:
    return next((b.risk for b in chosen(rows) if b.after / weight(rows) >= coverage), None)


def risk_best_above(rows: list[Row], coverage: Fraction) -> Number:
    return min((b.risk for b in chosen(rows) if b.after / weight(rows) >= coverage), default=None)


def risk_ceil(rows: list[Row], coverage: Fraction) -> Number:
    risks = risks_by_rank(rows)
    return risks[max(1, ceil(coverage * len(risks))) - 1]


def risk_floor(rows: list[Row], coverage: Fraction) -> Number:
    risks = risks_by_rank(rows)
    return risks[max(1, floor(coverage * len(risks))) - 1]


def risk_round(rows: list[Row], coverage: Fraction) -> Number:
    risks = risks_by_rank(rows)
    return risks[max(1, round(coverage * len(risks))) - 1]


# detection: pairs of (score, weight) of positives and negatives

Side = list[tuple[Any, Fraction]]


def right(rows: list[Row]) -> Side:
    return [(row.score, row.weight) for row in rows if row.loss == 0]


def wrong(rows: list[Row]) -> Side:
    return [(row.score, row.weight) for row in rows if row.loss == 1]


def reversed_side(side: Side) -> Side:
    return [(-score, w) for score, w in side]


def mass(side: Side, threshold: Any = -inf) -> Fraction:
    return sum((w for score, w in side if score >= threshold), Fraction())


def auroc(positives: Side, negatives: Side) -> Number:
    if not positives or not negatives:
        return None
    won = Fraction()
    for score, w in positives:
        for other, v in negatives:
            won += w * v * (1 if score > other else Fraction(1, 2) if score == other else 0)
    return won / (mass(positives) * mass(negatives))


def levels(positives: Side, negatives: Side) -> list[Any]:
    return sorted({score for score, _ in positives + negatives}, reverse=True)


def roc(positives: Side, negatives: Side) -> list[tuple[Fraction, Fraction]]:
    """(recall, false positive rate) of every threshold, from (0, 0)."""
    reached = [(mass(positives, t) / mass(positives), mass(negatives, t) / mass(negatives))
               for t in levels(positives, negatives)]  # fmt: skip
    return [(Fraction(), Fraction()), *reached]


RECALL = Fraction(19, 20)


def fpr_attained(positives: Side, negatives: Side) -> Number:
    if not positives or not negatives:
        return None
    return min(fpr for recall, fpr in roc(positives, negatives) if recall >= RECALL)


def fpr_interpolated(positives: Side, negatives: Side) -> Number:
    if not positives or not negatives:
        return None
    for (r0, f0), (r1, f1) in pairwise(roc(positives, negatives)):
        if r1 >= RECALL:
            return f0 + (f1 - f0) * (RECALL - r0) / (r1 - r0)
    return None


def precision_points(positives: Side, negatives: Side) -> list[tuple[Fraction, Fraction]]:
    found = [(mass(positives, t) / mass(positives), mass(positives, t) / (mass(positives, t) + mass(negatives, t)))
             for t in levels(positives, negatives)]  # fmt: skip
    return [(Fraction(), Fraction(1)), *found]


def precision_step(positives: Side, negatives: Side) -> Number:
    if not positives:
        return None
    return sum((r1 - r0) * p1 for (r0, _), (r1, p1) in pairwise(precision_points(positives, negatives)))


def precision_trapezoid(positives: Side, negatives: Side) -> Number:
    return trapezoids(precision_points(positives, negatives)) if positives else None


# values of the score


def trust(rows: list[Row], threshold: Fraction, wrong_counts: int, among_all: bool) -> Number:
    inside = [row for row in rows if row.score >= threshold]
    if not inside:
        return Fraction()
    signed = sum(
        row.weight * (row.score - threshold) / (1 - threshold) * (1 - row.loss * (1 + wrong_counts)) for row in inside
    )
    return signed / weight(rows if among_all else inside)


def gaps(rows: list[Row], place: Callable[[Fraction], int]) -> list[tuple[Fraction, Fraction]]:
    """Share of the weight and |accuracy - mean score| of each bin that is not empty."""
    found = []
    for b in sorted({place(row.score) for row in rows}):
        inside = [row for row in rows if place(row.score) == b]
        here = weight(inside)
        accurate = sum(row.weight * (1 - row.loss) for row in inside) / here
        score = sum(row.weight * row.score for row in inside) / here
        found.append((here / weight(rows), abs(accurate - score)))
    return found


def right_closed(bins: int) -> Callable[[Fraction], int]:
    return lambda score: max(0, ceil(score * bins) - 1)


def left_closed(bins: int) -> Callable[[Fraction], int]:
    return lambda score: min(floor(score * bins), bins - 1)


def one_apart(bins: int) -> Callable[[Fraction], int]:
    return lambda score: floor(score * bins)


def mean_gap(rows: list[Row], place: Callable[[Fraction], int]) -> Number:
    return sum((share * gap for share, gap in gaps(rows, place)), Fraction())


def largest_gap(rows: list[Row], place: Callable[[Fraction], int]) -> Number:
    return max(gap for _, gap in gaps(rows, place))


def brier_confidence(rows: list[Row]) -> Number:
    return sum(row.weight * (row.score - (1 - row.loss)) ** 2 for row in rows) / weight(rows)


# ---------------------------------------------------------------------- class probabilities


class Classes(NamedTuple):
    labels: list[int]
    probabilities: list[list[Fraction]]


def brier_sum(data: Classes) -> Number:
    each = [
        sum((p - (k == label)) ** 2 for k, p in enumerate(row))
        for label, row in zip(data.labels, data.probabilities, strict=True)
    ]
    return sum(each, Fraction()) / len(each)


def brier_mean(data: Classes) -> Number:
    return brier_sum(data) / len(data.probabilities[0])


def nll(data: Classes) -> Number:
    each = [-log(row[label]) for label, row in zip(data.labels, data.probabilities, strict=True)]
    return sum(each, Decimal(0)) / len(each)


def classwise_ece(data: Classes, bins: int) -> Number:
    found = []
    for k in range(len(data.probabilities[0])):
        rows = [Row(Fraction(label != k), row[k], Fraction(1))
                for label, row in zip(data.labels, data.probabilities, strict=True)]  # fmt: skip
        found.append(mean_gap(rows, right_closed(bins)))
    return sum(found, Fraction()) / len(found)


# ---------------------------------------------------------------------- two scores, and OOD rows


class Joint(NamedTuple):
    id_loss: list[Fraction]
    id_confidence: list[Fraction]
    id_detector: list[Fraction]
    ood_confidence: list[Fraction]
    ood_detector: list[Fraction]

    @property
    def inside(self) -> Side:
        return [(score, Fraction(1)) for score in self.id_confidence]

    @property
    def outside(self) -> Side:
        return [(score, Fraction(1)) for score in self.ood_confidence]

    def one_score(self) -> Joint:
        zero = Fraction()
        return self._replace(id_detector=[zero] * len(self.id_loss), ood_detector=[zero] * len(self.ood_detector))


def accepted(data: Joint) -> set[tuple[int, int, int]]:
    """Numbers of accepted right, wrong and OOD rows for every pair of thresholds."""
    found = set()
    for t in {*data.id_confidence, *data.ood_confidence, inf}:
        for u in {*data.id_detector, *data.ood_detector, inf}:
            ins = [loss for loss, c, d in zip(data.id_loss, data.id_confidence, data.id_detector, strict=True)
                   if c >= t and d >= u]  # fmt: skip
            out = sum(c >= t and d >= u for c, d in zip(data.ood_confidence, data.ood_detector, strict=True))
            found.add((ins.count(0), ins.count(1), out))
    return found


def ds_f1(data: Joint) -> Number:
    return max(Fraction(2 * r, r + w + o + len(data.id_loss)) for r, w, o in accepted(data))


def level_risks(data: Joint, generalized: bool) -> dict[int, Fraction]:
    """Least risk of the pairs of thresholds that accept exactly so many ID rows."""
    least: dict[int, Fraction] = {}
    for r, w, o in accepted(data):
        if r + w:
            whole = len(data.id_loss) + len(data.ood_detector) if generalized else r + w + o
            least[r + w] = min(least.get(r + w, Fraction(2)), Fraction(w + o, whole))
    return least


def ds_aurc_at_least(data: Joint) -> Number:
    least, n = level_risks(data, False), len(data.id_loss)
    return sum((min(least[k] for k in least if k >= j) for j in range(1, n + 1)), Fraction()) / n


def ds_aurc_exact(data: Joint) -> Number:
    least, n = level_risks(data, False), len(data.id_loss)
    return sum((least[min(k for k in least if k >= j)] for j in range(1, n + 1)), Fraction()) / n


def ds_augrc_at_least(data: Joint) -> Number:
    least, n = level_risks(data, True), len(data.id_loss)
    heights = [Fraction()] + [min(least[k] for k in least if k >= j) for j in range(1, n + 1)]
    return trapezoids([(Fraction(j, n), height) for j, height in enumerate(heights)])


def ds_augrc_exact(data: Joint) -> Number:
    least, n = level_risks(data, True), len(data.id_loss)
    return trapezoids([(Fraction(), Fraction())] + [(Fraction(j, n), least[j]) for j in sorted(least)])


def oscr(data: Joint) -> Number:
    if not data.ood_confidence:
        return None
    won = Fraction()
    for loss, score in zip(data.id_loss, data.id_confidence, strict=True):
        for other in data.ood_confidence:
            if loss == 0 and score >= other:
                won += Fraction(1, 2) if score == other else 1
    return won / (len(data.id_loss) * len(data.ood_confidence))


# ---------------------------------------------------------------------- what is declared


class Definition(NamedTuple):
    value: Callable[..., Any]
    text: str
    source: str


class Declared(NamedTuple):
    title: str
    kind: str
    direction: str
    definitions: dict[str, Definition]
    without: tuple[str, ...] = ()
    options: tuple[dict[str, str], ...] = ({},)


GEIFMAN = "Geifman, Uziel and El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural classifiers"
ZHOU = "Zhou et al. (2025), A novel characterization of the population AURC"
TRAUB = "Traub et al. (2024), Overcoming common flaws in the evaluation of selective classification systems"
CWSA = "Shahnazari et al. (2025), confidence-weighted selective accuracy, Section 3.2"
JOINT = "From misclassifications to outliers: joint reliability assessment in classification, Eqs. 2 to 7"
HENDRYCKS = "Hendrycks and Gimpel (2017), A baseline for detecting misclassified and out-of-distribution examples"
FD = "the fd-shifts code, commit c4467ae"
PRACTICE = "common practice; no paper defines it"

UNIT = ("infinite", "missing", "close")
BINARY = ("graded",)

METRICS: dict[str, Declared] = {
    "aurc": Declared("area under the risk-coverage curve", "samples", "lower", {
        "plugin": Definition(aurc_plugin, "mean over rows i of the mean loss of the rows with score >= score_i", f"{ZHOU}, Eq. 10"),
        "interpolated": Definition(aurc_interpolated, "integral of G(c)/c, where the accepted loss G grows evenly inside a tie", f"{TRAUB}; with ties, {FD}"),
        "trapezoid": Definition(aurc_trapezoid, "trapezoids over one point (coverage, risk) for each distinct score; the first risk is continued to coverage 0", FD),
        "harmonic": Definition(aurc_harmonic, "mean over k of the mean loss of the first k rows, in expectation over the order of tied rows", f"{GEIFMAN}; {ZHOU}, Eq. 18"),
        "log": Definition(aurc_log, "mean of the losses times -ln(1 - r/(n + 1)), r the ascending rank, averaged over a tie", f"{ZHOU}, Eqs. 11 and 18"),
        "from_first": Definition(aurc_from_first, "trapezoids over the mean loss of the first k rows, coverage 1/n to 1 only; ties as in harmonic", PRACTICE),
        "from_zero": Definition(aurc_from_zero, "trapezoids over one point for each distinct score, from coverage 0 and risk 0", PRACTICE),
        "grid96": Definition(aurc_grid96, "mean of the risk at the coverages 0.05, 0.06, ..., 1, each at the nearest number of rows; ties as in harmonic", PRACTICE),
    }),
    "e_aurc": Declared("excess AURC over the best order", "samples", "lower", {
        "plugin": Definition(e_aurc_plugin, "AURC plugin minus the interpolated area of the losses ranked by themselves; for a 0/1 loss with mean m, m + (1 - m) ln(1 - m)", GEIFMAN),
        "trapezoid": Definition(e_aurc_trapezoid, "AURC trapezoid minus m + (1 - m) ln(1 - m); for graded losses minus the trapezoid of the sorted losses", FD),
        "harmonic": Definition(e_aurc_harmonic, "AURC harmonic minus that of the losses ranked by themselves", GEIFMAN),
        "from_first": Definition(e_aurc_from_first, "AURC from_first minus that of the losses ranked by themselves", PRACTICE),
    }),
    "aurc_achievable": Declared("AURC of the convex hull of the generalized-risk curve", "samples", "lower", {
        "hull": Definition(aurc_achievable, "integral of H(c)/c, H the lower convex hull of (0, 0) and the points (coverage, accepted loss per row)", FD),
    }),
    "augrc": Declared("area under the generalized risk-coverage curve", "samples", "lower", {
        "trapezoid": Definition(augrc_trapezoid, "trapezoids from (0, 0) over one point (coverage, accepted loss per row) for each distinct score", TRAUB),
        "from_first": Definition(augrc_from_first, "trapezoids over the first k rows, coverage 1/n to 1 only; ties in expectation", PRACTICE),
        "mean": Definition(augrc_mean, "mean over k of the loss of the first k rows per row of all; ties in expectation", PRACTICE),
        "unbiased": Definition(augrc_unbiased, "the pairs of the trapezoid without those of a row with itself: a U-statistic", "abstain, docs/conventions.md"),
    }),
    "e_augrc": Declared("excess AUGRC over the best order", "samples", "lower", {
        "trapezoid": Definition(e_augrc, "AUGRC trapezoid minus that of the losses ranked by themselves", TRAUB),
        "from_first": Definition(e_augrc_from_first, "AUGRC from_first minus that of the losses ranked by themselves", PRACTICE),
    }),
    "sele": Declared("SELE, a linear-rank proxy of AURC", "samples", "lower", {
        "max_rank": Definition(sele, "sum of loss_i over pairs with score_i >= score_k, over n^2", f"{ZHOU}, Eq. 32"),
    }),
    "prr": Declared("prediction rejection ratio", "samples", "higher", {
        "generalized": Definition(prr_generalized, "(random - AUGRC)/(random - best), areas below the generalized risk", "Malinin, Mlodozeniec and Gales (2020), Ensemble distribution distillation, Section 5"),
        "selective": Definition(prr_selective, "(random - AURC)/(random - best), AURC harmonic and random the mean loss", "lm-polygraph, ue_metrics/pred_rej_area.py"),
    }),
    "f1_auc": Declared("area under F1 over the share of rows that are answered", "samples", "higher", {
        "interpolated": Definition(f1_auc, "integral of 2 T(c)/(c + accuracy), the accepted right rows T grow evenly inside a tie", "Malinin et al. (2021), Shifts, Appendix"),
    }, without=BINARY),
    "coverage_at_risk": Declared("largest coverage with a risk at most r", "samples", "higher", {
        "attainable": Definition(coverage_attainable, "largest coverage of a threshold whose accepted rows have mean loss <= r; null if there is none", "Geifman and El-Yaniv (2017), Selective classification for deep neural networks"),
        "or_zero": Definition(coverage_or_zero, "the same, and 0 if there is none", PRACTICE),
        "until_first": Definition(coverage_until_first, "largest coverage before the first threshold, from the highest score on, that exceeds r", PRACTICE),
    }, options=({"risk": "1/4"}, {"risk": "1/8"})),
    "risk_at_coverage": Declared("mean loss of the most confident share c", "samples", "lower", {
        "attainable": Definition(risk_attainable, "risk of the threshold with the smallest coverage >= c", "Geifman and El-Yaniv (2017), Selective classification for deep neural networks"),
        "ceil": Definition(risk_ceil, "mean loss of the first ceil(c n) rows; ties in expectation", PRACTICE),
        "floor": Definition(risk_floor, "mean loss of the first floor(c n) rows, at least one; ties in expectation", PRACTICE),
        "round": Definition(risk_round, "mean loss of the first round(c n) rows, at least one, half to even; ties in expectation", PRACTICE),
        "best_above": Definition(risk_best_above, "smallest risk of a threshold with coverage >= c", FD),
    }, options=({"coverage": "3/4"}, {"coverage": "1/4"})),
    "auroc_f": Declared("AUROC of failures: right rows against wrong rows", "samples", "higher", {
        "mid_rank": Definition(lambda rows: auroc(right(rows), wrong(rows)), "share of pairs (right, wrong) in which the right row has the higher score; a tie counts half", HENDRYCKS),
    }, without=BINARY),
    "fpr95": Declared("share of wrong rows accepted when 95 % of the right rows are", "samples", "lower", {
        "attained": Definition(lambda rows: fpr_attained(right(rows), wrong(rows)), "smallest over thresholds that accept at least 95 % of the right rows", HENDRYCKS),
        "interpolated": Definition(lambda rows: fpr_interpolated(right(rows), wrong(rows)), "on the straight lines between thresholds, at 95 %", PRACTICE),
    }, without=BINARY),
    "aupr_success": Declared("area under precision and recall, right rows positive", "samples", "higher", {
        "step": Definition(lambda rows: precision_step(right(rows), wrong(rows)), "average precision: recall steps times the precision after them", HENDRYCKS),
        "trapezoid": Definition(lambda rows: precision_trapezoid(right(rows), wrong(rows)), "trapezoids from recall 0 and precision 1", PRACTICE),
    }, without=BINARY),
    "aupr_error": Declared("area under precision and recall, wrong rows positive, lowest score first", "samples", "higher", {
        "step": Definition(lambda rows: precision_step(reversed_side(wrong(rows)), reversed_side(right(rows))), "average precision: recall steps times the precision after them", HENDRYCKS),
        "trapezoid": Definition(lambda rows: precision_trapezoid(reversed_side(wrong(rows)), reversed_side(right(rows))), "trapezoids from recall 0 and precision 1", PRACTICE),
    }, without=BINARY),
    "cwsa": Declared("confidence-weighted selective accuracy at a threshold", "samples", "higher", {
        "accepted": Definition(lambda rows, threshold: trust(rows, threshold, 1, False), "mean over accepted rows of (score - t)/(1 - t), negative where wrong; 0 if none is accepted", CWSA),
        "all": Definition(lambda rows, threshold: trust(rows, threshold, 1, True), "the same sum over the number of all rows", "code and tables of the paper"),
    }, without=UNIT, options=({"threshold": "1/2"},)),
    "cwsa_plus": Declared("CWSA+ at a threshold", "samples", "higher", {
        "accepted": Definition(lambda rows, threshold: trust(rows, threshold, 0, False), "mean over accepted rows of (score - t)/(1 - t), 0 where wrong; 0 if none is accepted", CWSA),
        "all": Definition(lambda rows, threshold: trust(rows, threshold, 0, True), "the same sum over the number of all rows", PRACTICE),
    }, without=UNIT, options=({"threshold": "1/2"},)),
    "ece": Declared("expected calibration error of the confidence", "samples", "lower", {
        "right_closed": Definition(lambda rows, bins: mean_gap(rows, right_closed(bins)), "weighted mean over bins of equal width of |accuracy - mean score|; bins (a, b], 0 in the first", "Naeini et al. (2015); Guo et al. (2017), On calibration of modern neural networks"),
        "left_closed": Definition(lambda rows, bins: mean_gap(rows, left_closed(bins)), "the same with bins [a, b), 1 in the last", PRACTICE),
        "one_fewer": Definition(lambda rows, bins: mean_gap(rows, right_closed(bins - 1)), "right_closed with one bin fewer than was asked for", "MAPIE 1.6.0, metrics/calibration.py"),
        "one_apart": Definition(lambda rows, bins: mean_gap(rows, one_apart(bins)), "the same with bins [a, b), and a bin of its own for a score of 1", "torchmetrics 1.9, functional/classification/calibration_error.py"),
    }, without=(*UNIT, *BINARY), options=({"bins": "8"},)),
    "mce": Declared("maximum calibration error of the confidence", "samples", "lower", {
        "right_closed": Definition(lambda rows, bins: largest_gap(rows, right_closed(bins)), "largest |accuracy - mean score| of a bin (a, b], 0 in the first", "Naeini et al. (2015)"),
        "left_closed": Definition(lambda rows, bins: largest_gap(rows, left_closed(bins)), "the same with bins [a, b), 1 in the last", PRACTICE),
        "one_apart": Definition(lambda rows, bins: largest_gap(rows, one_apart(bins)), "the same with bins [a, b), and a bin of its own for a score of 1", PRACTICE),
    }, without=(*UNIT, *BINARY), options=({"bins": "8"},)),
    "brier_confidence": Declared("Brier score of the confidence as the probability of being right", "samples", "lower", {
        "mean": Definition(brier_confidence, "mean of (score - right)^2", "Brier (1950), for two outcomes"),
    }, without=(*UNIT, *BINARY)),
    "brier_score": Declared("Brier score of class probabilities", "classes", "lower", {
        "sum": Definition(brier_sum, "mean over rows of the sum over classes of (p_k - [k is true])^2", "Brier (1950)"),
        "class_mean": Definition(brier_mean, "the same divided by the number of classes", PRACTICE),
    }),
    "nll": Declared("negative log likelihood of class probabilities", "classes", "lower", {
        "mean": Definition(nll, "mean over rows of -ln p of the true class, in nats", "Good (1952), Rational decisions"),
    }),
    "classwise_ece": Declared("classwise expected calibration error", "classes", "lower", {
        "right_closed": Definition(classwise_ece, "mean over classes of the ECE of each class against the rest, bins (a, b]", "Kull et al. (2019), Beyond temperature scaling"),
    }, options=({"bins": "10"},)),
    "ood_auroc": Declared("AUROC of ID against OOD rows", "joint", "higher", {
        "mid_rank": Definition(lambda data: auroc(data.inside, data.outside), "share of pairs (ID, OOD) in which the ID row has the higher score; a tie counts half", HENDRYCKS),
    }),
    "ood_fpr95": Declared("share of OOD rows accepted when 95 % of the ID rows are", "joint", "lower", {
        "attained": Definition(lambda data: fpr_attained(data.inside, data.outside), "smallest over thresholds that accept at least 95 % of the ID rows", HENDRYCKS),
        "interpolated": Definition(lambda data: fpr_interpolated(data.inside, data.outside), "on the straight lines between thresholds, at 95 %", PRACTICE),
        "ood_attained": Definition(lambda data: fpr_attained(reversed_side(data.outside), reversed_side(data.inside)), "share of ID rows rejected when at least 95 % of the OOD rows are", "OpenOOD 1.5"),
        "ood_interpolated": Definition(lambda data: fpr_interpolated(reversed_side(data.outside), reversed_side(data.inside)), "the same on the straight lines between thresholds", PRACTICE),
    }),
    "ood_aupr_in": Declared("area under precision and recall, ID rows positive", "joint", "higher", {
        "step": Definition(lambda data: precision_step(data.inside, data.outside), "average precision", HENDRYCKS),
        "trapezoid": Definition(lambda data: precision_trapezoid(data.inside, data.outside), "trapezoids from recall 0 and precision 1", "OpenOOD 1.5"),
    }),
    "ood_aupr_out": Declared("area under precision and recall, OOD rows positive, lowest score first", "joint", "higher", {
        "step": Definition(lambda data: precision_step(reversed_side(data.outside), reversed_side(data.inside)), "average precision", HENDRYCKS),
        "trapezoid": Definition(lambda data: precision_trapezoid(reversed_side(data.outside), reversed_side(data.inside)), "trapezoids from recall 0 and precision 1", "OpenOOD 1.5"),
    }),
    "oscr": Declared("open-set classification rate", "joint", "higher", {
        "mid_rank": Definition(oscr, "share of pairs (ID, OOD) in which the ID row is right and has the higher score; a tie counts half", "Dhamija, Guenther and Boult (2018); Vaze et al. (2022)"),
    }),
    "joint_f1": Declared("best F1 of one threshold, ID and right against the rest", "joint", "higher", {
        "exact": Definition(lambda data: ds_f1(data.one_score()), "largest 2 TA/(accepted + ID rows) over thresholds on the confidence", JOINT),
    }),
    "ds_f1": Declared("best F1 of two thresholds", "joint", "higher", {
        "exact": Definition(ds_f1, "largest 2 TA/(accepted + ID rows) over pairs of thresholds", JOINT),
    }),
    "ds_aurc": Declared("area under the least risk of two thresholds, over ID coverage", "joint", "lower", {
        "at_least": Definition(ds_aurc_at_least, "mean over j of the least risk of the pairs that accept at least j ID rows", JOINT),
        "exact": Definition(ds_aurc_exact, "mean over j of the least risk of the pairs that accept exactly j ID rows, or the next number that a pair accepts", JOINT),
    }),
    "ds_augrc": Declared("the same for errors and OOD rows accepted, per row of all", "joint", "lower", {
        "at_least": Definition(ds_augrc_at_least, "trapezoids over j of the least generalized risk of the pairs that accept at least j ID rows", "abstain, docs/joint.md"),
        "exact": Definition(ds_augrc_exact, "trapezoids over the numbers of ID rows that a pair accepts", "abstain, docs/joint.md"),
    }),
    "certificate": Declared("threshold whose risk is at most r with probability at least 1 - delta", "population", "holds", {}),
}  # fmt: skip


def sixteenths(*numbers: int) -> list[str]:
    return [str(Fraction(k, 16)) for k in numbers]


FALLING = sixteenths(15, 14, 13, 12, 11, 10, 9, 8, 7, 6)
TWO = sixteenths(*[14] * 5, *[8] * 5)
#: 22 right rows and 3 wrong ones: 95 % of the right rows lie between 20 and 21 of them.
MANY = [str(Fraction(k, 32)) for k in range(31, 6, -1)]
MANY_LOSS = [int(k in (4, 21, 23)) for k in range(25)]

PROBLEMS: dict[str, dict[str, Any]] = {
    "distinct": {"about": "ten rows with ten scores", "loss": [0, 0, 1, 0, 0, 0, 1, 0, 1, 1], "confidence": FALLING},
    "shuffled": {"about": "the rows of 'distinct' in another order", "order_of": "distinct",
                 "loss": [1, 0, 1, 0, 1, 0, 0, 0, 1, 0],
                 "confidence": sixteenths(6, 15, 9, 12, 13, 14, 8, 11, 7, 10)},
    "first_wrong": {"about": "the most confident row is wrong", "loss": [1, 0, 0, 0, 0, 0, 1, 0, 1, 1], "confidence": FALLING},
    "tied_pair": {"about": "two rows of one score, the right one first", "loss": [0, 1], "confidence": ["1/2", "1/2"]},
    "tied_pair_reordered": {"about": "the same two rows, the wrong one first", "order_of": "tied_pair", "loss": [1, 0], "confidence": ["1/2", "1/2"]},
    "ties": {"about": "ten rows with two scores, the right ones first", "loss": [0, 0, 0, 0, 1, 0, 0, 1, 1, 1], "confidence": TWO},
    "ties_reordered": {"about": "the same ten rows, the wrong ones first", "order_of": "ties", "loss": [1, 0, 0, 0, 0, 1, 1, 1, 0, 0], "confidence": TWO},
    "one_right": {"about": "one row, right", "may_refuse": "a single row", "loss": [0], "confidence": ["3/4"]},
    "one_wrong": {"about": "one row, wrong", "may_refuse": "a single row", "loss": [1], "confidence": ["3/4"]},
    "all_right": {"about": "every row right, two of them tied", "loss": [0, 0, 0, 0], "confidence": sixteenths(16, 12, 12, 10)},
    "all_wrong": {"about": "every row wrong, two of them tied", "loss": [1, 1, 1, 1], "confidence": sixteenths(14, 12, 12, 10)},
    "perfect": {"about": "all right rows before all wrong ones", "loss": [0, 0, 0, 0, 1, 1], "confidence": FALLING[:6]},
    "worst": {"about": "all wrong rows before all right ones", "loss": [1, 1, 0, 0, 0, 0], "confidence": FALLING[:6]},
    "edges": {"about": "scores on the edges of eight bins, 1 among them", "loss": [1, 0, 0, 0, 1, 1], "confidence": ["1", "7/8", "3/4", "1/2", "1/4", "1/8"]},
    "many": {"about": "25 rows, three wrong", "loss": MANY_LOSS, "confidence": MANY},
    "weights": {"about": "whole weights; two rows tied", "loss": [0, 1, 0, 1, 0], "confidence": sixteenths(15, 13, 11, 11, 8), "sample_weight": [2, 1, 3, 1, 2]},
    "weights_repeated": {"about": "the rows of 'weights', each as often as its weight", "loss": [0, 0, 1, 0, 0, 0, 1, 0, 0],
                         "confidence": sixteenths(15, 15, 13, 11, 11, 11, 11, 8, 8)},
    "graded": {"about": "losses between 0 and 1", "may_refuse": "losses that are not 0 or 1", "loss": ["0", "1/4", "0", "1/2", "1/8", "1"], "confidence": FALLING[:6]},
    "infinite": {"about": "scores of inf and -inf", "may_refuse": "scores that are not finite", "loss": [0, 0, 1, 0, 1], "confidence": ["inf", "3/4", "1/2", "1/4", "-inf"]},
    "close": {"about": "scores that single precision cannot distinguish", "may_refuse": "scores that need double precision",
              "loss": [1, 0, 0, 1], "confidence": ["1/2", str(Fraction(1, 2) - Fraction(1, 2**40)), str(Fraction(1, 2) - Fraction(2, 2**40)), "1/4"]},
    "missing": {"about": "one score is missing", "may_refuse": "a missing score", "loss": [0, 1, 0, 0, 1], "confidence": ["7/8", None, "3/4", "1/2", "1/4"]},
}  # fmt: skip

CLASSES: dict[str, dict[str, Any]] = {
    "classes": {"about": "six rows and three classes", "labels": [0, 1, 2, 0, 1, 2],
                "probabilities": [sixteenths(12, 2, 2), sixteenths(4, 10, 2), sixteenths(5, 7, 4), sixteenths(9, 1, 6), sixteenths(7, 3, 6), sixteenths(1, 1, 14)]},
    "classes_one": {"about": "one row and two classes", "labels": [1], "probabilities": [sixteenths(4, 12)]},
    "classes_wrong": {"about": "three rows and four classes, all wrong", "labels": [3, 0, 1],
                      "probabilities": [sixteenths(9, 3, 3, 1), sixteenths(2, 10, 3, 1), sixteenths(4, 1, 5, 6)]},
}  # fmt: skip

JOINTS: dict[str, dict[str, Any]] = {
    "joint": {"about": "six ID rows, four OOD rows, two scores", "id_loss": [0, 0, 1, 0, 0, 1], "id_confidence": sixteenths(15, 13, 12, 9, 7, 4),
              "id_detector": sixteenths(9, 14, 11, 13, 6, 10), "ood_confidence": sixteenths(14, 10, 8, 3), "ood_detector": sixteenths(4, 8, 12, 5)},
    "joint_ties": {"about": "the same with ties within and between ID and OOD rows", "id_loss": [0, 1, 0, 0, 1, 0], "id_confidence": sixteenths(12, 12, 12, 8, 8, 4),
                   "id_detector": sixteenths(8, 8, 12, 12, 4, 4), "ood_confidence": sixteenths(12, 8, 8, 4), "ood_detector": sixteenths(4, 8, 12, 4)},
    "joint_all_right": {"about": "no ID row is wrong, no OOD row is accepted before one of them", "id_loss": [0, 0, 0], "id_confidence": sixteenths(15, 13, 11),
                        "id_detector": sixteenths(12, 14, 13), "ood_confidence": sixteenths(8, 6), "ood_detector": sixteenths(5, 7)},
    "joint_crossed": {"about": "two thresholds accept one ID row only together with the OOD row, two without it", "id_loss": [0, 0, 0],
                      "id_confidence": sixteenths(14, 8, 8), "id_detector": sixteenths(4, 12, 12), "ood_confidence": sixteenths(15), "ood_detector": sixteenths(5)},
    "joint_one": {"about": "one ID row, right, and one OOD row with a higher score", "id_loss": [0], "id_confidence": sixteenths(8), "id_detector": sixteenths(8),
                  "ood_confidence": sixteenths(12), "ood_detector": sixteenths(4)},
    "joint_no_ood": {"about": "no OOD rows", "may_refuse": "no OOD rows", "id_loss": [0, 1, 0], "id_confidence": sixteenths(12, 10, 8), "id_detector": sixteenths(9, 7, 8),
                     "ood_confidence": [], "ood_detector": []},
    "joint_many": {"about": "22 ID rows, five OOD rows", "id_loss": [int(k in (5, 17, 21)) for k in range(22)],
                   "id_confidence": [str(Fraction(k, 32)) for k in (31, 30, 29, 28, 26, 25, 24, 23, 22, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 8, 4)],
                   "id_detector": [str(Fraction((7 * k) % 22 + 8, 32)) for k in range(22)],
                   "ood_confidence": [str(Fraction(k, 32)) for k in (27, 21, 9, 6, 3)], "ood_detector": [str(Fraction(k, 32)) for k in (5, 17, 7, 20, 3)]},
}  # fmt: skip

#: Cells of a population: score, loss, probability. A sample of n rows is a number of rows for each cell.
POPULATIONS: dict[str, dict[str, Any]] = {
    "one_score": {"about": "one score; the risk of all is 5/8", "cells": [["1/2", 0, "3/8"], ["1/2", 1, "5/8"]]},
    "two_scores": {"about": "two scores; the risk of the higher threshold is 9/16, of the lower one 5/8",
                   "cells": [["3/4", 0, "7/32"], ["3/4", 1, "9/32"], ["1/2", 0, "5/32"], ["1/2", 1, "11/32"]]},
    "lower_too_risky": {"about": "two scores; the risk of the higher threshold is 1/4, of the lower one 9/16",
                        "cells": [["3/4", 0, "3/8"], ["3/4", 1, "1/8"], ["1/2", 0, "1/16"], ["1/2", 1, "7/16"]]},
    "useful": {"about": "two scores; the risk of the higher threshold is 0, of the lower one 1/4",
               "cells": [["3/4", 0, "1/2"], ["1/2", 0, "1/4"], ["1/2", 1, "1/4"]]},
}  # fmt: skip
SAMPLE: dict[str, Any] = {"n": 8, "risk": 0.5, "delta": 0.25}


# ---------------------------------------------------------------------- the file


def rows_of(problem: dict[str, Any]) -> list[Row]:
    count = len(problem["loss"])
    weights = problem.get("sample_weight", [1] * count)
    columns = zip(problem["loss"], problem["confidence"], weights, strict=True)
    return [Row(fraction(loss), fraction(score), fraction(w)) for loss, score, w in columns]


def written(number: Any) -> Any:
    """A number as the file has it."""
    if number is None:
        return None
    if isinstance(number, Decimal):
        return f"{number:.{PLACES}f}"
    return int(number) if number.denominator == 1 else f"{number.numerator}/{number.denominator}"


def plain(value: Any) -> Any:
    """A column as the file has it: numbers that are exact as JSON numbers; inf as text, missing as null."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, str) and value not in ("inf", "-inf"):
        exact = Fraction(value)
        assert Fraction(float(exact)) == exact
        return int(exact) if exact.denominator == 1 else float(exact)
    return value


def answers(metric: Declared, data: Any, options: dict[str, str]) -> dict[str, Any]:
    given = {name: int(text) if name == "bins" else Fraction(text) for name, text in options.items()}
    return {name: written(each.value(data, **given)) for name, each in metric.definitions.items()}


def cases_of(name: str, metric: Declared) -> Iterator[dict[str, Any]]:
    if metric.kind == "population":
        for problem in POPULATIONS:
            for order in ("right_first", "wrong_first"):
                yield {"problem": problem, "order": order, "options": SAMPLE}
        return
    problems = {"samples": PROBLEMS, "classes": CLASSES, "joint": JOINTS}[metric.kind]
    for key, problem in problems.items():
        if key in metric.without:
            continue
        for options in metric.options:
            case: dict[str, Any] = {"problem": key} | ({"options": plain_options(options)} if options else {})
            if metric.kind == "classes":
                probabilities = [[Fraction(p) for p in row] for row in problem["probabilities"]]
                case["values"] = answers(metric, Classes(problem["labels"], probabilities), options)
            elif metric.kind == "joint":
                data = Joint(*([fraction(x) for x in problem[column]] for column in Joint._fields))
                if not data.ood_confidence and name.startswith("ood_"):
                    continue
                case["values"] = answers(metric, data, options)
            elif key == "missing":
                rows = rows_of(problem)
                last = [row if row.score is not None else row._replace(score=-inf) for row in rows]
                case["values"] = answers(metric, last, options)
                case["values_without"] = answers(metric, [row for row in rows if row.score is not None], options)
            else:
                case["values"] = answers(metric, rows_of(problem), options)
            yield case


def plain_options(options: dict[str, str]) -> dict[str, Any]:
    return {name: plain(text) for name, text in options.items()}


def text() -> str:
    """The file, one case a line."""
    with localcontext() as context:
        context.prec = 60
        metrics = {
            name: {
                "title": metric.title,
                "kind": metric.kind,
                "direction": metric.direction,
                "definitions": {
                    key: {"text": each.text, "source": each.source} for key, each in metric.definitions.items()
                },
                "cases": list(cases_of(name, metric)),
            }
            for name, metric in METRICS.items()
        }
    problems = {
        name: {key: plain(value) if isinstance(value, list) else value for key, value in problem.items()}
        for name, problem in {**PROBLEMS, **CLASSES, **JOINTS}.items()
    }
    lines = ["{", f' "version": {json.dumps(VERSION)},', ' "problems": {']
    lines += [_entry(problems, name) for name in problems]
    lines += [" },", ' "populations": {']
    lines += [_entry(POPULATIONS, name) for name in POPULATIONS]
    lines += [" },", ' "metrics": {']
    for name, metric in metrics.items():
        lines.append(f"  {json.dumps(name)}: {{")
        lines += [f"   {json.dumps(key)}: {json.dumps(metric[key])}," for key in ("title", "kind", "direction")]
        lines.append('   "definitions": {')
        lines += [f" {_entry(metric['definitions'], key)}" for key in metric["definitions"]]
        lines += ["   },", '   "cases": [']
        cases = [json.dumps(case) for case in metric["cases"]]
        lines += [f"    {case}{',' if place < len(cases) - 1 else ''}" for place, case in enumerate(cases)]
        lines.append("   ]" + "\n  }" + ("," if name != list(metrics)[-1] else ""))
    return "\n".join([*lines, " }", "}"]) + "\n"


def _entry(table: dict[str, Any], name: str) -> str:
    return f"  {json.dumps(name)}: {json.dumps(table[name])}{',' if name != list(table)[-1] else ''}"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(TARGET.read_text(encoding="utf-8") != text())
    TARGET.write_text(text(), encoding="utf-8")
    print(f"wrote {TARGET}")
