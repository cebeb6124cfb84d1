"""Standard errors, intervals, bootstraps and covariances, with weights, strata, clusters and few units."""

from itertools import product

import numpy as np

import abstain
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
    for kind, columns in kinds(32, 60, steps=12):
        for name in ("augrc", "aurc", "auroc_f", "risk", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.6)"):
            for method in ("influence", "percentile", *(("bca",) if kind in ("plain", "all") else ())):
                given = {"method": method, "level": 0.8, "n_resamples": 1000 if method == "bca" else 60, "rng": 3}
                yield f"{name} {kind} {method}", tried(inference.confidence_interval, name, **columns, **given)
            found = tried(inference.confidence_interval, name, **columns, level=0.9, n_resamples=60, unseen="top")
            yield f"{name} {kind} top", found


def intervals_at_the_edges():
    """Return intervals with no, one, few and only failures, of graded losses, of one and two rows."""
    n = np.arange(40.0)
    losses = {k: (n < k) * 1.0 for k in (0, 1, 3, 39, 40)}
    for k, loss in losses.items():
        cases = ["augrc", "aurc", "auroc_f", "risk", "accuracy", "e_aurc", "naugrc", "selective_risk(coverage=0.5)"]
        for name, unseen in product(cases, ("random", "top")):
            for more in ({}, {"clusters": n // 4}, {"sample_weight": 1.0 + n % 3}):
                at = f"{k} {name} {unseen} {list(more)}"
                given = {"unseen": unseen, **more}
                score = (7.0 * n) % 40.0
                yield at, tried(inference.confidence_interval, name, loss, score, n_resamples=40, **given)
    for size in (1, 2, 3):
        yield f"{size} rows", [tried(inference.confidence_interval, m, n[:size] % 2, n[:size]) for m in SOME[:9]]
    p = rows(33, 50, steps=10, graded=True)
    for scale, name in product((1.0, 9.0), SOME[:24]):
        columns = {"loss": scale * p["loss"], "confidence": p["confidence"]}
        yield f"graded {scale} {name}", tried(inference.confidence_interval, name, **columns, n_resamples=40)


def standard_errors():
    """Return standard errors of all metrics in all designs."""
    for (kind, columns), name in product(kinds(34, 48, steps=9), SOME):
        yield f"{name} {kind}", tried(inference.standard_error, name, **columns)


def influences():
    """Return the influence of each row on every metric, of losses of two kinds."""
    for seed, steps, graded in ((35, 0, False), (36, 6, False), (37, 5, True)):
        p = rows(seed, 14, steps=steps, graded=graded)
        for weight, name in product((None, p["sample_weight"]), SOME):
            at = f"{seed} {weight is None} {name}"
            yield at, tried(inference.influence, name, p["loss"], p["confidence"], sample_weight=weight)


def proportions():
    """Return exact intervals of proportions, adjusted p-values and rank correlations."""
    yield (
        "clopper_pearson",
        [
            inference.clopper_pearson(k, n, level, side=side)
            for k, n in ((0, 1), (0, 30), (7, 30), (30, 30), (3, 5000))
            for level in (0.8, 0.95)
            for side in ("two-sided", "upper", "lower")
        ],
    )
    yield "holm", [inference.holm([0.01, 0.04, 0.03, 0.5]), inference.holm([0.2]), inference.holm([0.6, 0.9, 0.0])]
    several = (([1, 2, 3, 4], [1, 3, 2, 4]), ([1, 1, 2, 3], [2, 2, 1, 3]), ([1, 1], [2, 3]), ([1], [2]))
    yield "kendall", [tried(inference.kendall_tau, a, b) for a, b in several]
    yield (
        "wilcoxon",
        [
            tried(
                inference.wilcoxon_over_resamples,
                np.random.default_rng(k).normal([[0.0], [0.4], [0.5]], 1.0, (3, 12)),
                d,
            )
            for k in (1, 2)
            for d in ("lower", "higher")
        ],
    )
    yield "wilcoxon ties", tried(inference.wilcoxon_over_resamples, [[0, 0, 1, 2, 2], [0, 1, 1, 0, 2], [1, 1, 1, 1, 1]])
    yield "few", [abstain.inference.holm([]), tried(inference.wilcoxon_over_resamples, [[1.0, 2.0], [2.0, 1.0]])]


def bootstraps():
    """Return bootstraps, by design, with what is undefined in some resamples."""
    for kind, columns in kinds(39, 40, steps=8):
        for name, backend in product(("augrc", "aurc", "auroc_f", "f1_auc", "fpr95_error"), ("auto", "numpy")):
            given = {"n_resamples": 20, "rng": 5, "backend": backend}
            result = inference.bootstrap(name, **columns, **given)
            facts = [result.estimate, result.replicates, result.method, result.df, result.warning, result.rests_on]
            ends = [tried(result.interval, level=each) for each in (0.5, 0.9)]
            yield f"{kind} {name} {backend}", [*facts, result.n_undefined, result.standard_error, ends]
    few = (np.arange(30) == 4) * 1.0
    for method in ("percentile", "bca"):
        given = {"method": method, "n_resamples": 1000}
        yield f"few {method}", tried(inference.confidence_interval, "auroc_f", few, np.arange(30) % 11, **given)


def replicates():
    """Return replicates of several metrics of two scores."""
    for kind, columns in kinds(40, 30, steps=6):
        other = rows(41, 30)["other"]
        pair = [(columns["loss"], columns["confidence"]), (columns["loss"], other)]
        design = {key: each for key, each in columns.items() if key not in ("loss", "confidence")}
        for backend in ("auto", "numpy"):
            given = {"n_resamples": 6, "rng": 2, "backend": backend}
            found = tried(inference.replicates, ["augrc", "auroc_f", "risk"], pair, **design, **given)
            yield f"{kind} {backend}", found


def covariances():
    """Return the covariance of three metrics in each design."""
    for kind, columns in kinds(38, 40, steps=8):
        weight = columns.get("sample_weight")
        terms = [
            inference.influence(m, columns["loss"], columns["confidence"], sample_weight=weight)
            for m in ("risk", "augrc", "auroc_f")
        ]
        design = {key: each for key, each in columns.items() if key not in ("loss", "confidence")}
        yield kind, inference.covariance(*terms, **design)


def few_units():
    """Return errors and intervals of few clusters and strata, of weights of 0, and of one unit that decides."""
    n, p = np.arange(36), rows(42, 36, steps=9)
    nothing = np.where(n % 5 == 2, 0.0, p["sample_weight"])
    heavy = np.where(n == 7, 30.0, 1.0)
    designs = {f"{k} clusters": {"clusters": n % k} for k in (1, 2, 3, 6, 18)}
    designs |= {f"{k} strata": {"strata": n % k} for k in (1, 2, 12, 18)}
    designs |= {"nothing": {"sample_weight": nothing}, "heavy": {"sample_weight": heavy}}
    designs |= {"unequal": {"clusters": np.sqrt(n) // 1}, "one large": {"clusters": np.where(n < 25, 0, n)}}
    designs |= {"both": {"sample_weight": nothing, "clusters": n // 3}, "shares": {"sample_weight": nothing / 50.0}}
    designs |= {"strata, clusters": {"strata": n % 2, "clusters": n % 12}}
    for name, given in designs.items():
        for metric in ("augrc", "aurc", "risk", "auroc_f", "coverage_at_risk(risk=0.2)"):
            columns = {"loss": p["loss"], "confidence": p["confidence"], "n_resamples": 40, **given}
            yield f"{metric} {name}", tried(inference.confidence_interval, metric, **columns)
            for unseen in ("random", "top"):
                clean = columns | {"loss": 0.0 * p["loss"], "unseen": unseen}
                yield f"{metric} {name} clean {unseen}", tried(inference.confidence_interval, metric, **clean)


def bands_of_clusters():
    """Return bands of few and of many clusters, of which a few more may be wrong as a whole or alike."""
    p = rows(43, 60, steps=6)
    for units, wrong in product((4, 6, 9, 19, 30), (0, 1, 5)):
        loss = np.where(np.arange(60) % units < wrong, p["loss"], 0.0)
        for unseen, kind in product(("whole", "alike"), ("pointwise", "simultaneous")):
            given = {"clusters": np.arange(60) % units, "unseen": unseen, "kind": kind}
            band = tried(inference.risk_band, loss, p["confidence"], n_draws=100, **given)
            known = [] if isinstance(band, str) else [band.low, band.high, band.rests_on, band.warning]
            yield f"{units} {wrong} {unseen} {kind}", known or band
