"""Slow, obviously right definitions of the metrics of score values, points and probabilities; and the list of all."""

import itertools
import math
import re
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path

from abstain import metrics
from tests.metrics import references as rank
from tests.metrics import references_collaboration as together
from tests.metrics.references import NAN, Data, accepted, thresholds

# ---------------------------------------------------------------------- points


def _reached(data, coverage, threshold):
    """Accepted weight and loss at a threshold, or at the smallest attainable coverage that is large enough."""
    if threshold is not None:
        return accepted(data, threshold)
    assert coverage is not None
    points = [(0.0, 0.0)] + [accepted(data, t) for t in thresholds(data) if t > -math.inf]
    reached = (point for point in points if point[0] / data.total() >= coverage - 1e-12)
    return next(reached, (NAN, NAN))  # a score of -inf is accepted by no threshold that is chosen


def selective_risk(data, coverage=0.8, threshold=None):
    """Accepted loss over accepted weight."""
    mass, loss = _reached(data, coverage, threshold)
    return loss / mass if mass else NAN


def generalized_risk(data, coverage=0.8, threshold=None):
    """Accepted loss over the weight of all."""
    return _reached(data, coverage, threshold)[1] / data.total()


def coverage_at_risk(data, risk=0.05):
    """Largest coverage of a threshold whose selective risk is at most ``risk``."""
    points = [accepted(data, t) for t in thresholds(data) if t > -math.inf]
    return max((mass / data.total() for mass, loss in points if loss / mass <= risk * (1.0 + 1e-12)), default=NAN)


# ---------------------------------------------------------------------- trust


def algorithm_1(data, tau):
    """Shahnazari et al. 2025, Algorithm 1 with weights and kappa = 1 - loss; also both sums over all samples."""
    inside = [(loss, g, w) for loss, g, w in data.rows() if g >= tau]
    if not inside:
        return 0.0, 0.0, 0.0, 0.0
    signed = math.fsum(w * _phi(g, tau) * (2.0 * (1.0 - loss) - 1.0) for loss, g, w in inside)
    reward = math.fsum(w * _phi(g, tau) * (1.0 - loss) for loss, g, w in inside)
    mass = math.fsum(w for _, _, w in inside)
    return signed / mass, reward / mass, signed / data.total(), reward / data.total()


def _phi(confidence, tau):
    return 1.0 if tau == 1.0 else (confidence - tau) / (1.0 - tau)


def cwsa(data, threshold=0.5, denominator="accepted"):
    """Line 7 of the algorithm."""
    return algorithm_1(data, threshold)[0 if denominator == "accepted" else 2]


def cwsa_plus(data, threshold=0.5, denominator="accepted"):
    """Line 8 of the algorithm."""
    return algorithm_1(data, threshold)[1 if denominator == "accepted" else 3]


def aumcc(data, metric="cwsa_plus", method="exact"):
    """Metric over coverage: trapezoids over thresholds .50, ..., .99, or steps over all distinct confidences."""

    def height(tau):
        mass, loss = accepted(data, tau)
        if metric == "selective_accuracy":
            return 1.0 - loss / mass if mass else 1.0
        return algorithm_1(data, tau)[("cwsa", "cwsa_plus").index(metric)]

    if method == "exact":
        return math.fsum(w * height(g) for _, g, w in data.rows()) / data.total()
    points = [(accepted(data, k / 100)[0] / data.total(), height(k / 100)) for k in range(50, 100)]
    return math.fsum((c1 - c0) * (h0 + h1) / 2 for (c1, h1), (c0, h0) in itertools.pairwise(points))


# ---------------------------------------------------------------------- calibration


def bins_of(data, bins, binning):
    """The samples of each bin: right-closed bins of equal width, or a tie whole in the bin of its mid-rank."""
    filled = [[] for _ in range(bins)]
    for loss, score, weight in data.rows():
        if binning == "equal_width":
            place = next(b for b in range(bins) if score <= (b + 1) / bins)
        else:
            below = sum(Fraction(w) for _, g, w in data.rows() if g < score)
            tied = sum(Fraction(w) for _, g, w in data.rows() if g == score)
            place = math.floor((below + tied / 2) * bins / sum(map(Fraction, data.weight)))
        filled[place].append((loss, score, weight))
    return [inside for inside in filled if inside]


def gaps(data, bins=15, binning="equal_width"):
    """Share of the weight and |accuracy - confidence| per bin that is not empty."""
    result = []
    for inside in bins_of(data, bins, binning):
        mass = math.fsum(w for _, _, w in inside)
        right = math.fsum(w * (1.0 - loss) for loss, _, w in inside) / mass
        sure = math.fsum(w * g for _, g, w in inside) / mass
        result.append((mass / data.total(), abs(right - sure)))
    return result


def ece(data, bins=15, binning="equal_width"):
    """Mean gap."""
    return math.fsum(share * gap for share, gap in gaps(data, bins, binning))


def brier_confidence(data):
    """Mean of (g - correct)^2."""
    return math.fsum(w * (g - (1.0 - loss)) ** 2 for loss, g, w in data.rows()) / data.total()


def nll_confidence(data, clip=2.0**-52):
    """Mean of -ln of the probability of what happened."""
    chances = [(g if loss == 0.0 else 1.0 - g, w) for loss, g, w in data.rows()]
    if any(max(chance, clip) == 0.0 for chance, _ in chances):
        return math.inf
    return math.fsum(-w * math.log(max(chance, clip)) for chance, w in chances) / data.total()


# ---------------------------------------------------------------------- probability vectors


def brier_score(labels, rows, weight):
    """Mean over samples of the sum over classes of squared differences."""
    each = [math.fsum((p - (k == y)) ** 2 for k, p in enumerate(row)) for y, row in zip(labels, rows, strict=True)]
    return math.fsum(w * e for w, e in zip(weight, each, strict=True)) / math.fsum(weight)


def nll(labels, rows, weight, clip=2.0**-52):
    """Mean of -ln of the probability of the true class."""
    each = [-math.log(max(row[y], clip)) for y, row in zip(labels, rows, strict=True)]
    return math.fsum(w * e for w, e in zip(weight, each, strict=True)) / math.fsum(weight)


def classwise_ece(labels, rows, weight, bins=15, binning="equal_width"):
    """Mean over classes of the ECE of "it is class k"."""
    errors = []
    for k in range(len(rows[0])):
        data = Data.of([float(y != k) for y in labels], [row[k] for row in rows], weight)
        errors.append(ece(data, bins, binning))
    return math.fsum(errors) / len(errors)


# ---------------------------------------------------------------------- all of them

AREAS = ("plugin", "interpolated", "trapezoid", "harmonic", "log")
RANGES = ((0.0, 1.0), (0.2, 0.7), (0.0, 0.35), (0.35, 1.0), (0.5, 0.51))
POINTS = [{"coverage": c} for c in (0.0, 0.25, 0.5, 0.8, 1.0)]
POINTS += [{"threshold": t} for t in (-math.inf, 0.0, 0.5, math.inf)]
TRUST = [{"threshold": t, "denominator": d} for t in (0.0, 0.5, 0.9) for d in ("accepted", "all")]
BINS = [{"bins": b, "binning": k} for b in (1, 6, 15) for k in ("equal_width", "equal_mass")]
ESTIMATORS = [{"estimator": name} for name in AREAS]
HEIGHTS = [{"metric": m, "method": k} for m in ("cwsa_plus", "cwsa", "selective_accuracy") for k in ("exact", "grid")]

#: name -> (reference, options to try)
REFERENCES = {
    "augrc": (rank.augrc, [{"coverage_range": r} for r in RANGES]),
    "augrc_unbiased": (rank.augrc_unbiased, [{}]),
    "sele": (rank.sele, [{}, {"factor": 2.0}]),
    "aurc": (rank.aurc, ESTIMATORS + [{"estimator": e, "coverage_range": r} for e in AREAS[:3] for r in RANGES[1:]]),
    "accuracy_rejection_area": (lambda data, **options: 1.0 - rank.aurc(data, **options), ESTIMATORS),
    "aurc_achievable": (rank.aurc_achievable, [{}]),
    "augrc_achievable": (rank.augrc_achievable, [{}]),
    "e_aurc": (rank.e_aurc, ESTIMATORS),
    "e_augrc": (lambda data: rank.augrc(data) - rank.augrc_optimal(data), [{}]),
    "naurc": (rank.naurc, ESTIMATORS),
    "naugrc": (rank.naugrc, [{}]),
    "prediction_rejection_ratio": (lambda data: 1.0 - rank.naugrc(data), [{}]),
    "f1_auc": (rank.f1_auc, [{}]),
    "auroc_f": (rank.auroc_f, [{}]),
    "fpr95_success": (rank.fpr95_success, [{}, {"recall": 0.5}, {"recall": 1.0}, {"recall": 0.0}]),
    "fpr95_error": (rank.fpr95_error, [{}, {"recall": 0.5}, {"recall": 1.0}, {"recall": 0.0}]),
    "average_precision_success": (partial(rank.average_precision, success=True), [{}, {"zero_division": 0.0}]),
    "average_precision_error": (partial(rank.average_precision, success=False), [{}, {"zero_division": 0.0}]),
    "aupr_success": (partial(rank.aupr, success=True), [{}]),
    "aupr_error": (partial(rank.aupr, success=False), [{}]),
    "risk": (Data.mean_loss, [{}]),
    "accuracy": (lambda data: 1.0 - data.mean_loss(), [{}]),
    "selective_risk": (selective_risk, POINTS),
    "selective_accuracy": (lambda data, **options: 1.0 - selective_risk(data, **options), POINTS),
    "generalized_risk": (generalized_risk, POINTS),
    "coverage_at_risk": (coverage_at_risk, [{}, {"risk": 0.0}, {"risk": 0.3}, {"risk": 1.0}]),
    "cwsa": (cwsa, TRUST),
    "cwsa_plus": (cwsa_plus, TRUST),
    "aumcc": (aumcc, HEIGHTS),
    "ece": (ece, BINS),
    "mce": (lambda data, **options: max(gap for _, gap in gaps(data, **options)), BINS),
    "brier_confidence": (brier_confidence, [{}]),
    "oc_auc": (together.oc_auc, [{"review_fraction": f, "curve": c} for f in (0.0, 0.2, 0.5) for c in ("roc", "pr")]),
    "nll_confidence": (nll_confidence, [{}, {"clip": 0.01}, {"clip": 0.0}]),
}
#: metrics of labels and class probabilities
PREDICTION_REFERENCES = {
    "classwise_ece": (classwise_ece, BINS),
    "brier_score": (brier_score, [{}]),
    "nll": (nll, [{}, {"clip": 0.01}]),
    "oc_auc_classifier": (together.oc_auc_classifier, [{}, {"review_fraction": 0.3}, {"review_fraction": 1.0}]),
    "auroc_accepted_area": (together.auroc_accepted_area, [{}]),
}

# A test of a single metric brings its reference along: REFERENCES = {name: (slow definition, [options, ...])}.
for path in sorted(Path(__file__).parent.glob("test_*.py")):
    if re.search(r"^REFERENCES\b.*=", path.read_text("utf-8"), re.MULTILINE):
        REFERENCES |= import_module(f"{__package__}.{path.stem}").REFERENCES

#: Every metric of losses and scores, with every option.
CASES = [metrics.get(name, **options) for name, (_, choices) in REFERENCES.items() for options in choices]
