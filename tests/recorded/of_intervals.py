"""Standard errors, intervals and influence, with weights, strata and clusters."""

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
            yield (
                f"{name} {kind} top",
                tried(inference.confidence_interval, name, **columns, level=0.9, n_resamples=60, unseen="top"),
            )


def intervals_at_the_edges():
    """Return intervals with no, one, few and only failures, of graded losses, of one and two rows."""
    n = np.arange(40.0)
    losses = {k: (n < k) * 1.0 for k in (0, 1, 3, 39, 40)}
    for k, loss in losses.items():
        for name in (
            "augrc",
            "aurc",
            "auroc_f",
            "risk",
            "accuracy",
            "e_aurc",
            "naugrc",
            "selective_risk(coverage=0.5)",
        ):
            for unseen in ("random", "top"):
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
    return {
        f"{name} {kind}": tried(inference.standard_error, name, **columns)
        for kind, columns in kinds(34, 48, steps=9)
        for name in SOME
    }


def influences():
    """Return the influence of each row on every metric, of losses of two kinds."""
    for seed, steps, graded in ((35, 0, False), (36, 6, False), (37, 5, True)):
        p = rows(seed, 14, steps=steps, graded=graded)
        for weight, name in product((None, p["sample_weight"]), SOME):
            at = f"{seed} {weight is None} {name}"
            yield at, tried(inference.influence, name, p["loss"], p["confidence"], sample_weight=weight)


def proportions():
    """Return exact intervals of proportions, adjusted p-values and rank correlations."""
    return {
        "clopper_pearson": [
            inference.clopper_pearson(k, n, level, side=side)
            for k, n in ((0, 1), (0, 30), (7, 30), (30, 30), (3, 5000))
            for level in (0.8, 0.95)
            for side in ("two-sided", "upper", "lower")
        ],
        "holm": [inference.holm([0.01, 0.04, 0.03, 0.5]), inference.holm([0.2]), inference.holm([0.6, 0.9, 0.0])],
        "kendall": [
            tried(inference.kendall_tau, a, b)
            for a, b in (([1, 2, 3, 4], [1, 3, 2, 4]), ([1, 1, 2, 3], [2, 2, 1, 3]), ([1, 1], [2, 3]), ([1], [2]))
        ],
        "wilcoxon": [
            tried(
                inference.wilcoxon_over_resamples,
                np.random.default_rng(k).normal([[0.0], [0.4], [0.5]], 1.0, (3, 12)),
                d,
            )
            for k in (1, 2)
            for d in ("lower", "higher")
        ],
        "wilcoxon ties": tried(inference.wilcoxon_over_resamples, [[0, 0, 1, 2, 2], [0, 1, 1, 0, 2], [1, 1, 1, 1, 1]]),
        "few": [abstain.inference.holm([]), tried(inference.wilcoxon_over_resamples, [[1.0, 2.0], [2.0, 1.0]])],
    }
