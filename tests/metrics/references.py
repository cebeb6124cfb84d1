"""Slow, obviously right definitions of the metrics of a ranking, from the papers, in plain loops.

A reference takes a :class:`Data` (lists of losses, scores and weights) and the metric's options. It returns NaN where
the metric is undefined. Nothing here uses the tie-block table. ``references_values`` has the metrics of score values.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

NAN = math.nan
#: Gauss-Legendre nodes and weights on [-1, 1]: exact to rounding for the smooth integrands below.
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(40)


class Data(NamedTuple):
    """Losses, scores and weights of the samples, as lists."""

    loss: list[float]
    score: list[float]
    weight: list[float]

    @classmethod
    def of(cls, loss, score, weight=None):
        """Return the columns as lists, without samples of weight zero."""
        losses = [float(x) for x in loss]
        weights = [1.0] * len(losses) if weight is None else [float(x) for x in weight]
        rows = [row for row in zip(losses, map(float, score), weights, strict=True) if row[2] > 0.0]
        return cls(*(list(column) for column in zip(*rows, strict=True)))

    def rows(self):
        """Return (loss, score, weight) per sample."""
        return list(zip(self.loss, self.score, self.weight, strict=True))

    def total(self):
        """Return the sum of the weights."""
        return math.fsum(self.weight)

    def mean_loss(self):
        """Return the weighted mean loss."""
        return math.fsum(w * loss for loss, _, w in self.rows()) / self.total()

    def expanded(self):
        """Return (loss, score) once per unit of weight."""
        assert all(w == int(w) for w in self.weight)
        return [(loss, g) for loss, g, w in self.rows() for _ in range(int(w))]

    def best(self):
        """Return the same losses under the score of an oracle."""
        return self._replace(score=[-loss for loss in self.loss])

    def constant(self):
        """Return the same losses under a constant score."""
        return self._replace(score=[0.0] * len(self.loss))


# ---------------------------------------------------------------------- curve


def accepted(data, threshold):
    """Return weight and weighted loss of the samples with score >= threshold."""
    inside = [(w, w * loss) for loss, g, w in data.rows() if g >= threshold]
    return math.fsum(w for w, _ in inside), math.fsum(s for _, s in inside)


def thresholds(data):
    """Return the distinct scores, highest first."""
    return sorted(set(data.score), reverse=True)


def segments(data):
    """Yield (accepted weight, accepted loss) before and after each tie group, highest score first."""
    before = (0.0, 0.0)
    for threshold in thresholds(data):
        after = accepted(data, threshold)
        yield *before, *after
        before = after


def integral(function, low, high):
    """Return the integral of a smooth function over [low, high], in the variable ln x (low > 0)."""
    if high <= low:
        return 0.0
    half, middle = 0.5 * (math.log(high) - math.log(low)), 0.5 * (math.log(high) + math.log(low))
    points = [math.exp(middle + half * node) for node in NODES]
    return half * math.fsum(w * x * function(x) for w, x in zip(NODE_WEIGHTS, points, strict=True))


# ---------------------------------------------------------------------- AURC


def aurc(data, estimator="plugin", coverage_range=(0.0, 1.0)):
    """Area under the risk-coverage curve by the named estimator."""
    if coverage_range != (0.0, 1.0):
        return partial_aurc(data, estimator, coverage_range)
    return {
        "plugin": aurc_plugin,
        "interpolated": lambda data: partial_aurc(data, "interpolated", (0.0, 1.0)),
        "trapezoid": aurc_trapezoid,
        "harmonic": aurc_harmonic,
        "log": aurc_log,
    }[estimator](data)


def aurc_plugin(data):
    """Zhou et al. 2025, Eq. 10, with weights: the mean over samples j of the risk of {g_i >= g_j}."""
    summands = []
    for _, threshold, weight in data.rows():
        mass, loss = accepted(data, threshold)
        summands.append(weight * loss / mass)
    return math.fsum(summands) / data.total()


def aurc_trapezoid(data):
    """fd-shifts: trapezoids over the points (c_j, R_j), with the first risk continued to coverage 0."""
    points = [(mass / data.total(), loss / mass) for mass, loss in (accepted(data, t) for t in thresholds(data))]
    points = [(0.0, points[0][1]), *points]
    return math.fsum((c1 - c0) * (r0 + r1) / 2 for (c0, r0), (c1, r1) in itertools.pairwise(points))


def aurc_harmonic(data):
    """Mean of the n selective risks, in expectation over the order of tied samples (integer weights)."""
    rows, risks, taken, lost = data.expanded(), [], 0, 0.0
    for threshold in thresholds(data):
        tied = [loss for loss, score in rows if score == threshold]
        for k in range(1, len(tied) + 1):  # after k of the tied samples the expected loss is k times their mean
            risks.append((lost + k * math.fsum(tied) / len(tied)) / (taken + k))
        taken, lost = taken + len(tied), lost + math.fsum(tied)
    return math.fsum(risks) / len(risks)


def aurc_log(data):
    """Zhou et al. 2025, Eq. 11 with the weights of Eq. 18, in expectation over the order of tied samples."""
    rows = data.expanded()
    n, total = len(rows), []
    for loss, score in rows:
        lower = sum(other < score for _, other in rows)
        tied = sum(other == score for _, other in rows)
        ranks = range(lower + 1, lower + tied + 1)
        total.append(loss * math.fsum(-math.log(1.0 - r / (n + 1)) for r in ranks) / tied)
    return math.fsum(total) / n


def partial_aurc(data, estimator, coverage_range):
    """Integral of the risk curve between two coverages, segment by segment."""
    total, parts, last_risk = data.total(), [], None
    for w0, l0, w1, l1 in segments(data):
        risk = l1 / w1
        before = risk if last_risk is None else last_risk
        low, high = max(w0, coverage_range[0] * total), min(w1, coverage_range[1] * total)
        if high > low:
            slope, width = (l1 - l0) / (w1 - w0), high - low
            if estimator == "plugin":
                parts.append(risk * width)
            elif estimator == "trapezoid":  # a straight line: its middle times its width
                parts.append(width * (before + (risk - before) * ((low + high) / 2 - w0) / (w1 - w0)))
            elif w0 == 0.0:  # losses mix evenly in a tie, so the risk of the first is constant
                parts.append(slope * width)
            else:
                parts.append(integral(lambda w, a=l0, b=slope, o=w0: (a + b * (w - o)) / w, low, high))
        last_risk = risk
    return math.fsum(parts) / total


# ---------------------------------------------------------------------- AUGRC


def augrc(data, coverage_range=(0.0, 1.0)):
    """Pairs in which a loss is accepted no later than the other sample; ties count half. Partial: trapezoids."""
    total = data.total()
    if coverage_range == (0.0, 1.0):
        pairs = itertools.product(data.rows(), data.rows())
        won = [w * loss * v * (1.0 if g > h else 0.5 if g == h else 0.0) for (loss, g, w), (_, h, v) in pairs]
        return math.fsum(won) / (total * total)
    parts = []
    for w0, l0, w1, l1 in segments(data):
        low, high = max(w0, coverage_range[0] * total), min(w1, coverage_range[1] * total)
        if high > low:
            parts.append((high - low) * (l0 + (l1 - l0) * ((low + high) / 2 - w0) / (w1 - w0)))
    return math.fsum(parts) / total**2


def augrc_unbiased(data):
    """The pairs of AUGRC without those of a sample with itself."""
    rows = data.expanded()
    n = len(rows)
    if n < 2:
        return NAN
    pairs = []
    for (loss, score), (_, other) in itertools.permutations(rows, 2):
        pairs.append(loss * (1.0 if score > other else 0.5 if score == other else 0.0))
    return math.fsum(pairs) / (n * (n - 1))


def sele(data, factor=1.0):
    """Zhou et al. 2025, Eq. 32, with weights."""
    pairs = [w * loss * v for loss, g, w in data.rows() for _, h, v in data.rows() if g >= h]
    return factor * math.fsum(pairs) / data.total() ** 2


# ---------------------------------------------------------------------- optimum, excess, hull


def is_binary(data):
    """Whether every loss is 0 or 1."""
    return all(loss in (0.0, 1.0) for loss in data.loss)


def aurc_optimal(data, estimator="plugin"):
    """The oracle's area; 0/1 losses: Geifman et al. 2019 in closed form."""
    if estimator in ("harmonic", "log"):
        return aurc(data.best(), estimator)
    if is_binary(data):
        risk = data.mean_loss()
        return risk + (1.0 - risk) * math.log(1.0 - risk) if risk < 1.0 else 1.0
    if estimator == "trapezoid":  # distinct ranks, as fd-shifts sorts them
        losses = sorted(loss for loss, _ in data.expanded())
        return aurc_trapezoid(Data.of(losses, [-float(rank) for rank in range(len(losses))]))
    return aurc(data.best(), "interpolated")


def augrc_optimal(data):
    """The oracle's area."""
    return augrc(data.best())


def e_aurc(data, estimator="plugin"):
    """What the score leaves above the oracle."""
    return aurc(data, estimator) - aurc_optimal(data, estimator)


def naurc(data, estimator="plugin"):
    """0 for the oracle, 1 for a constant score."""
    if len(set(data.loss)) == 1:
        return NAN
    best = aurc_optimal(data, estimator)
    return (aurc(data, estimator) - best) / (aurc(data.constant(), estimator) - best)


def naugrc(data):
    """0 for the oracle, 1 for a constant score."""
    if len(set(data.loss)) == 1:
        return NAN
    best = augrc_optimal(data)
    return (augrc(data) - best) / (augrc(data.constant()) - best)


def hull_heights(data):
    """(coverage, height) of the lower convex hull of (0, 0) and all (c_j, G_j): the lowest chord over each point."""
    total = data.total()
    points = [(0.0, 0.0)] + [tuple(x / total for x in accepted(data, t)) for t in thresholds(data)]
    heights = []
    for c, g in points:
        around = [(low, high) for low, high in itertools.product(points, points) if low[0] <= c <= high[0] > low[0]]
        chords = [g0 + (g1 - g0) * (c - c0) / (c1 - c0) for (c0, g0), (c1, g1) in around]
        heights.append((c, min([g, *chords])))
    return heights


def augrc_achievable(data):
    """Area under the hull by trapezoids."""
    hull = hull_heights(data)
    return math.fsum((c1 - c0) * (g0 + g1) / 2 for (c0, g0), (c1, g1) in itertools.pairwise(hull))


def aurc_achievable(data):
    """Integral of hull(c) / c."""
    parts, hull = [], hull_heights(data)
    for (c0, g0), (c1, g1) in itertools.pairwise(hull):
        if c0 == 0.0:
            parts.append(g1)
        else:
            parts.append(integral(lambda c, a=g0, b=(g1 - g0) / (c1 - c0), o=c0: (a + b * (c - o)) / c, c0, c1))
    return math.fsum(parts)


# ---------------------------------------------------------------------- detection (0/1 losses)


def right_and_wrong(data):
    """(score, weight) of the correct and of the wrong predictions."""
    right, wrong = ([(g, w) for loss, g, w in data.rows() if loss == kind] for kind in (0.0, 1.0))
    return right, wrong


def auroc_f(data):
    """Share of pairs (correct, wrong) in which the correct one is more confident; ties count half."""
    right, wrong = right_and_wrong(data)
    if not right or not wrong:
        return NAN
    won = math.fsum(v * w * (1.0 if g > h else 0.5 if g == h else 0.0) for g, v in right for h, w in wrong)
    return won / (math.fsum(v for _, v in right) * math.fsum(w for _, w in wrong))


def _lowest_fpr(positive, negative, recall):
    """Lowest share of negatives at or above a threshold that keeps a share recall of the positives; scores as given."""
    if not positive or not negative:
        return NAN
    found = []
    for threshold in [math.inf, *(g for g, _ in positive + negative)]:
        nothing = threshold == math.inf and all(g < math.inf for g, _ in positive + negative)
        kept = [math.fsum(w for g, w in side if g >= threshold and not nothing) for side in (positive, negative)]
        if kept[0] / math.fsum(w for _, w in positive) >= recall - 1e-12:
            found.append(kept[1] / math.fsum(w for _, w in negative))
    return min([*found, 0.0]) if recall == 0.0 else min(found)


def fpr95_success(data, recall=0.95):
    """Positive = correct, accepted from the most confident down."""
    return _lowest_fpr(*right_and_wrong(data), recall)


def fpr95_error(data, recall=0.95):
    """Positive = wrong, rejected from the least confident up."""
    right, wrong = ([(-g, w) for g, w in side] for side in right_and_wrong(data))
    return _lowest_fpr(wrong, right, recall)


def _recall_precision(data, success):
    """(recall, precision) at each threshold, the first found first."""
    rows = [(g if success else -g, w, (loss == 0.0) == success) for loss, g, w in data.rows()]
    total = math.fsum(w for _, w, positive in rows if positive)
    points = []
    for threshold in sorted({g for g, _, _ in rows}, reverse=True):
        hits = math.fsum(w for g, w, positive in rows if g >= threshold and positive)
        points.append((hits / total, hits / math.fsum(w for g, w, _ in rows if g >= threshold)))
    return points


def average_precision(data, success, zero_division=NAN):
    """Sum of (recall step) x precision."""
    if not any((loss == 0.0) == success for loss in data.loss):
        return zero_division
    points = [(0.0, 1.0), *_recall_precision(data, success)]
    return math.fsum((r1 - r0) * p1 for (r0, _), (r1, p1) in itertools.pairwise(points))


def aupr(data, success):
    """Trapezoids from (0, 1)."""
    if not any((loss == 0.0) == success for loss in data.loss):
        return NAN
    points = [(0.0, 1.0), *_recall_precision(data, success)]
    return math.fsum((r1 - r0) * (p0 + p1) / 2 for (r0, p0), (r1, p1) in itertools.pairwise(points))


def f1_auc(data):
    """Integral of 2 TA(c) / (c + acc); accepted correct weight grows evenly inside a tie."""
    total, accuracy = data.total(), 1.0 - data.mean_loss()
    if all(loss == 1.0 for loss in data.loss):
        return 0.0
    parts = []
    for w0, l0, w1, l1 in segments(data):
        t0, t1 = (w0 - l0) / total, (w1 - l1) / total
        c0, slope = w0 / total, (t1 - t0) / ((w1 - w0) / total)

        def f1(x, t0=t0, c0=c0, slope=slope):
            return 2.0 * (t0 + slope * (x - accuracy - c0)) / x  # x = c + acc

        parts.append(integral(f1, c0 + accuracy, w1 / total + accuracy))
    return math.fsum(parts)
