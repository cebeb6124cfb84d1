"""Slow definitions of the metrics in which a reviewer or a second class score takes part."""

import math

from tests.metrics.references import NAN, Data

#: A share of a tie that misses a border by less than this hits it.
SLACK = 1e-12


def _pairs(positive, negative):
    """AUROC of (score, weight) of both classes by pair counting."""
    mass = math.fsum(w for _, w in positive) * math.fsum(w for _, w in negative)
    if mass == 0.0:
        return NAN
    won = [v * w * (1.0 if g > h else 0.5 if g == h else 0.0) for g, v in positive for h, w in negative]
    return math.fsum(won) / mass


def _share_reviewed(score, data, review_fraction):
    """Share of the tie group of this score that is among the least confident part of the weight."""
    below = math.fsum(w for _, g, w in data.rows() if g < score)
    tied = math.fsum(w for _, g, w in data.rows() if g == score)
    share = min(1.0, max(0.0, (review_fraction * data.total() - below) / tied))
    return float(round(share)) if abs(share - round(share)) < SLACK else share


def oc_auc(data, review_fraction=0.005, curve="roc"):
    """Split every failure in a reviewed part, which is right now, and the rest; then AUROC_f or AP of failures."""
    right, wrong = [], []
    for loss, score, weight in data.rows():
        kept = loss * weight * (1.0 - _share_reviewed(score, data, review_fraction))
        wrong.append((score, kept))
        right.append((score, weight - kept))
    if curve == "roc":
        return _pairs(right, wrong)
    total = math.fsum(w for _, w in wrong)
    if total == 0.0:
        return NAN
    parts, last = [], 0.0
    for threshold in sorted(set(data.score)):
        found = math.fsum(w for g, w in wrong if g <= threshold)
        mass = math.fsum(w for _, g, w in data.rows() if g <= threshold)
        parts.append((found - last) / total * found / mass)
        last = found
    return math.fsum(parts)


def oc_auc_classifier(labels, rows, weight, review_fraction=0.005):
    """AUROC after whole ties of the least confident, as far as the fraction reaches, got their label as score."""
    data = Data.of([0.0] * len(labels), [max(row) for row in rows], weight)
    samples = []
    for label, row, w in zip(labels, rows, weight, strict=True):
        if w > 0.0:
            reviewed = _share_reviewed(max(row), data, review_fraction) == 1.0
            samples.append((label, float(label) if reviewed else row[1], w))
    return _pairs(*([(g, w) for y, g, w in samples if y == kind] for kind in (1, 0)))


def auroc_accepted_area(labels, rows, weight):
    """Mean over coverage of the AUROC of what is accepted, where both classes are."""
    samples = [(y, row[1], max(row), w) for y, row, w in zip(labels, rows, weight, strict=True) if w > 0.0]
    parts, widths = [], []
    for threshold in {g for _, _, g, _ in samples}:
        inside = [(y, p, w) for y, p, g, w in samples if g >= threshold]
        value = _pairs([(p, w) for y, p, w in inside if y == 1], [(p, w) for y, p, w in inside if y == 0])
        if not math.isnan(value):
            widths.append(math.fsum(w for _, _, g, w in samples if g == threshold))
            parts.append(widths[-1] * value)
    return math.fsum(parts) / math.fsum(widths) if widths else NAN


def macro_selective_risk(loss, score, labels, threshold):
    """Mean over classes of the mean loss of the accepted samples of the class; NaN if a class has none."""
    risks = []
    for label in set(labels):
        mine = [l for l, g, y in zip(loss, score, labels, strict=True) if y == label and g >= threshold]  # noqa: E741
        if not mine:
            return NAN
        risks.append(math.fsum(mine) / len(mine))
    return math.fsum(risks) / len(risks)
