"""Standard errors, intervals, bootstraps and covariances, with weights, strata, clusters and few units."""

from itertools import product

import numpy as np

from abstain import inference
from tests.recorded import tried
from tests.recorded.populations import kinds, rows

#: One or more metrics of each kind: areas, points, rankings, precisions, bins and means.
SOME = (
    "aurc", "aurc(estimator=trapezoid)", "aurc(estimator=harmonic)", "aurc(estimator=log)", "augrc", "sele",
    "augrc(coverage_range=(0.3,0.8))", "aurc(coverage_range=(0.2,0.7))", "accuracy_rejection_area", "augrc_unbiased",
    "augrc_achievable", "aurc_achievable", "e_aurc", "e_augrc", "naurc", "naugrc", "f1_auc",
    "prediction_rejection_ratio", "accuracy", "risk", "coverage_at_risk(risk=0.1)", "selective_risk(coverage=0.5)",
    "selective_accuracy(coverage=0.7)", "generalized_risk(coverage=0.5)", "selective_risk(threshold=0.45)",
    "selective_accuracy(threshold=0.45)", "generalized_risk(threshold=0.45)", "auroc_f", "fpr95_error",
    "fpr95_success(recall=0.8)", "aupr_error", "aupr_success", "average_precision_error", "average_precision_success",
    "oc_auc(review_fraction=0.1)", "oc_auc(review_fraction=0.1,curve=pr)", "cwsa(threshold=0.3)",
    "cwsa(threshold=0.3,denominator=all)", "cwsa_plus(threshold=0.3)", "cwsa_plus(threshold=0.3,denominator=all)",
    "aumcc", "ece(bins=4)", "mce(bins=4)", "brier_confidence", "nll_confidence",
)  # fmt: skip


def intervals_of_every_metric():
    """Return the interval that each metric gets by default."""
    return {
        f"{name} {kind}": tried(inference.confidence_interval, name, **columns, n_resamples=50)
        for kind, columns in kinds(31, 90, steps=30)
        for name in SOME
        if kind in ("plain", "weights", "clusters", "all")
    }


def intervals_by_method():
    """Return intervals by method, level and what may be unseen."""
    names = ("augrc", "aurc", "auroc_f", "risk", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.6)")
    for (kind, columns), name in product(kinds(32, 60, steps=12), names):
        for method in ("influence", "percentile", "bca")[: 3 if kind in ("plain", "all") else 2]:
            given = {"method": method, "level": 0.8, "n_resamples": 1000 if method == "bca" else 60, "rng": 3}
            yield tried(inference.confidence_interval, name, **columns, **given)
        yield tried(inference.confidence_interval, name, **columns, level=0.9, n_resamples=60, unseen="top")


def intervals_at_the_edges():
    """Return intervals with no, one, few and only failures, of graded losses, of one and two rows."""
    n, interval = np.arange(40.0), inference.confidence_interval
    names = ["augrc", "aurc", "auroc_f", "risk", "accuracy", "e_aurc", "naugrc", "selective_risk(coverage=0.5)"]
    designs = ({}, {"clusters": n // 4}, {"sample_weight": 1.0 + n % 3})
    for k, name, unseen, more in product((0, 1, 3, 39, 40), names, ("random", "top"), designs):
        yield tried(interval, name, (n < k) * 1.0, (7.0 * n) % 40.0, n_resamples=40, unseen=unseen, **more)
    yield [tried(interval, m, n[:size] % 2, n[:size]) for size, m in product((1, 2, 3), SOME[:9])]
    p = rows(33, 50, steps=10, graded=True)
    for scale, name in product((1.0, 9.0), SOME[:24]):
        yield tried(interval, name, scale * p["loss"], p["confidence"], n_resamples=40)


def standard_errors():
    """Return standard errors of all metrics in all designs."""
    cases = product(kinds(34, 48, steps=9), SOME)
    return [tried(inference.standard_error, name, **columns) for (_, columns), name in cases]


def influences():
    """Return the influence of each row on every metric, of losses of two kinds."""
    for seed, steps, graded in ((35, 0, False), (36, 6, False), (37, 5, True)):
        p = rows(seed, 14, steps=steps, graded=graded)
        for weight, name in product((None, p["sample_weight"]), SOME):
            yield tried(inference.influence, name, p["loss"], p["confidence"], sample_weight=weight)


def proportions():
    """Return exact intervals of proportions, adjusted p-values and rank correlations."""
    counts = ((0, 1), (0, 30), (7, 30), (30, 30), (3, 5000))
    for (k, n), level, side in product(counts, (0.8, 0.95), ("two-sided", "upper", "lower")):
        yield inference.clopper_pearson(k, n, level, side=side)
    yield [inference.holm(each) for each in ([0.01, 0.04, 0.03, 0.5], [0.2], [0.6, 0.9, 0.0], [])]
    several = (([1, 2, 3, 4], [1, 3, 2, 4]), ([1, 1, 2, 3], [2, 2, 1, 3]), ([1, 1], [2, 3]), ([1], [2]))
    yield [tried(inference.kendall_tau, a, b) for a, b in several]
    wilcoxon = inference.wilcoxon_over_resamples
    for k, direction in product((1, 2), ("lower", "higher")):
        values = np.random.default_rng(k).normal([[0.0], [0.4], [0.5]], 1.0, (3, 12))
        yield tried(wilcoxon, values, direction)
    tied = [[0, 0, 1, 2, 2], [0, 1, 1, 0, 2], [1, 1, 1, 1, 1]]
    yield [tried(wilcoxon, each) for each in (tied, [[1.0, 2.0], [2.0, 1.0]])]


def bootstraps():
    """Return bootstraps, by design, with what is undefined in some resamples."""
    names = ("augrc", "aurc", "auroc_f", "f1_auc", "fpr95_error")
    for (_, columns), name, backend in product(kinds(39, 40, steps=8), names, ("auto", "numpy")):
        result = inference.bootstrap(name, **columns, n_resamples=20, rng=5, backend=backend)
        facts = [result.estimate, result.replicates, result.method, result.df, result.warning, result.rests_on]
        ends = [tried(result.interval, level=each) for each in (0.5, 0.9)]
        yield [*facts, result.n_undefined, result.standard_error, ends]
    few = (np.arange(30) == 4) * 1.0, np.arange(30) % 11
    for method in ("percentile", "bca"):
        yield tried(inference.confidence_interval, "auroc_f", *few, method=method, n_resamples=1000)


def replicates_and_covariances():
    """Return replicates of several metrics of two scores, and the covariance of three metrics, in each design."""
    other = rows(41, 30)["other"]
    for (kind, columns), backend in product(kinds(40, 30, steps=6), ("auto", "numpy")):
        pair, design = [(columns["loss"], columns["confidence"]), (columns["loss"], other)], dict(columns)
        del design["loss"], design["confidence"]
        given = {"n_resamples": 6, "rng": 2, "backend": backend, **design}
        yield f"{kind} {backend}", tried(inference.replicates, ["augrc", "auroc_f", "risk"], pair, **given)
    for kind, columns in [(kind, dict(columns)) for kind, columns in kinds(38, 40, steps=8)]:
        pair, weight = (columns.pop("loss"), columns.pop("confidence")), columns.get("sample_weight")
        terms = [inference.influence(m, *pair, sample_weight=weight) for m in ("risk", "augrc", "auroc_f")]
        yield kind, inference.covariance(*terms, **columns)


def few_units():
    """Return errors and intervals of few clusters and strata, of weights of 0, and of one unit that decides."""
    n, p = np.arange(36), rows(42, 36, steps=9)
    nothing = np.where(n % 5 == 2, 0.0, p["sample_weight"])
    designs = [{"clusters": n % k} for k in (1, 2, 3, 6, 18)] + [{"strata": n % k} for k in (1, 2, 12, 18)]
    designs += [{"sample_weight": each} for each in (nothing, np.where(n == 7, 30.0, 1.0), nothing / 50.0)]
    designs += [{"clusters": np.sqrt(n) // 1}, {"clusters": np.where(n < 25, 0, n)}]
    designs += [{"sample_weight": nothing, "clusters": n // 3}, {"strata": n % 2, "clusters": n % 12}]
    for given, metric in product(designs, ("augrc", "aurc", "risk", "auroc_f", "coverage_at_risk(risk=0.2)")):
        for scale, unseen in ((1.0, {}), (0.0, {"unseen": "random"}), (0.0, {"unseen": "top"})):
            columns = {"loss": scale * p["loss"], "confidence": p["confidence"], "n_resamples": 40, **given}
            yield tried(inference.confidence_interval, metric, **columns, **unseen)


def bands_of_clusters():
    """Return bands of few and of many clusters, of which a few more may be wrong as a whole or alike."""
    p, ways = rows(43, 60, steps=6), ("pointwise", "simultaneous")
    for units, wrong, unseen, kind in product((4, 6, 9, 19, 30), (0, 1, 5), ("whole", "alike"), ways):
        loss = np.where(np.arange(60) % units < wrong, p["loss"], 0.0)
        given = {"clusters": np.arange(60) % units, "unseen": unseen, "kind": kind}
        band = tried(inference.risk_band, loss, p["confidence"], n_draws=100, **given)
        yield band if isinstance(band, str) else [band.low, band.high, band.rests_on, band.warning]
