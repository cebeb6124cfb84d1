"""Values of every metric, with every option, over losses, scores, weights and ties of many kinds."""

import warnings
from itertools import product

import numpy as np

import abstain
from tests.recorded import tried
from tests.recorded.populations import rows

#: Estimators that are not the default.
OTHERS = ("interpolated", "trapezoid", "harmonic", "log")
#: Options that are not the default.
OPTIONS = {
    "accuracy_rejection_area": [{"estimator": each} for each in OTHERS],
    "aurc": [
        *({"estimator": each} for each in OTHERS),
        *({"coverage_range": each} for each in ((0.0, 0.45), (0.33, 0.8), (0.5, 1.0))),
        {"estimator": "trapezoid", "coverage_range": (0.21, 0.77)},
    ],
    "augrc": [{"coverage_range": each} for each in ((0.0, 0.45), (0.33, 0.8), (0.5, 1.0))],
    "sele": [{"factor": 0.5}, {"factor": 2.0}],
    "e_aurc": [{"estimator": each} for each in OTHERS],
    "naurc": [{"estimator": each} for each in OTHERS],
    "coverage_at_risk": [{"risk": each} for each in (0.0, 0.01, 0.1, 0.25, 1.0)],
    "fpr95_error": [{"recall": each} for each in (0.3, 0.5, 0.8, 1.0)],
    "fpr95_success": [{"recall": each} for each in (0.3, 0.5, 0.8, 1.0)],
    "average_precision_error": [{"zero_division": 0.0}, {"zero_division": 1.0}],
    "average_precision_success": [{"zero_division": 0.0}, {"zero_division": 1.0}],
    "oc_auc": [{"review_fraction": a, "curve": b} for a in (0.1, 0.3) for b in ("roc", "pr")],
    "oc_auc_classifier": [{"review_fraction": 0.1}, {"review_fraction": 0.35}],
    "cwsa": [{"threshold": a, "denominator": b} for a in (0.0, 0.3, 0.8, 0.97) for b in ("accepted", "all")],
    "cwsa_plus": [{"threshold": a, "denominator": b} for a in (0.0, 0.3, 0.8, 0.97) for b in ("accepted", "all")],
    "aumcc": [{"metric": a, "method": b} for a in ("cwsa", "cwsa_plus") for b in ("exact", "grid")],
    "classwise_ece": [{"bins": a, "binning": b} for a in (1, 4) for b in ("equal_width", "equal_mass")],
    "ece": [{"bins": a, "binning": b} for a in (1, 4, 10) for b in ("equal_width", "equal_mass")],
    "mce": [{"bins": a, "binning": b} for a in (1, 4, 10) for b in ("equal_width", "equal_mass")],
    "nll": [{"clip": 0.2}],
    "nll_confidence": [{"clip": 0.2}],
}
for _each in ("generalized_risk", "selective_risk", "selective_accuracy"):
    OPTIONS[_each] = [{"coverage": 0.2}, {"coverage": 0.5}, {"coverage": 1.0}, {"threshold": 0.4}, {"threshold": 0.95}]

OPTIMA = (abstain.augrc_optimal, abstain.aurc_optimal)
OF_SCORES = [name for name in abstain.metrics.names("blocks") if name not in ("accuracy", "risk")]


def _all(**columns):
    """Return every metric of scores, with every option; an error by its name."""
    found = {}
    rest = {key: each for key, each in columns.items() if key in ("loss", "sample_weight")}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for name in OF_SCORES:
            given = {k: v for k, v in columns.items() if k != "sample_weight" or name != "augrc_unbiased"}
            for options in [{}, *OPTIONS.get(name, [])]:
                found[f"{name} {options}"] = tried(getattr(abstain, name), **given, **options)
        found |= {name: tried(getattr(abstain, name), **rest) for name in ("accuracy", "risk")}
    return found | {"warned": [str(each.message) for each in warned]}


def _of(p, *names):
    """Return all metrics of columns of a population."""
    return _all(**{name: p[name] for name in ("loss", "confidence", *names)})


def rows_without_ties():
    """Distinct scores, with and without weights."""
    return [_of(rows(11, 37)), _of(rows(12, 50), "sample_weight")]


def rows_with_ties():
    """Scores on few values, with and without weights."""
    return [_of(rows(13, 60, steps=7)), _of(rows(14, 45, steps=4), "sample_weight")]


def graded_losses():
    """Losses of 0, 1/3, 2/3 and 1, and losses above 1."""
    p = rows(15, 50, steps=9, graded=True)
    return [_of(rows(16, 41, graded=True)), _of(p, "sample_weight"), _of(p | {"loss": p["loss"] * 7.0})]


def missing_scores():
    """A NaN among the scores, whose row is rejected or left out."""
    p = rows(17, 40, steps=8)
    p["confidence"][[3, 11, 24]] = np.nan
    chosen = {name: p[name] for name in ("loss", "confidence", "sample_weight")}
    return [_all(**chosen, nan_policy=policy) for policy in ("reject", "drop")]


def edges():
    """No failure, only failures, one row, two rows, one score for all, scores of 0 and 1, weights of 0."""
    n = np.arange(6.0)
    score = np.array([0.0, 0.5, 0.5, 1.0, 1.0, 0.9])
    return [
        _all(loss=n * 0.0, confidence=score),
        _all(loss=n * 0.0 + 1.0, confidence=score),
        _all(loss=[1.0], confidence=[0.5]),
        _all(loss=[0.0, 1.0], confidence=[0.2, 0.7]),
        _all(loss=[0.0, 1.0, 1.0, 0.0, 0.0, 0.0], confidence=n * 0.0 + 0.75),
        _all(loss=[0.0, 1.0, 1.0, 0.0, 0.0, 0.0], confidence=score),
        _all(loss=[0.0, 1.0, 1.0, 0.0, 0.0, 0.0], confidence=score, sample_weight=[0.0, 2.0, 0.0, 1.0, 0.5, 1.0]),
        _all(loss=[0.0, 1.0, 0.0, 1.0], confidence=[3.0, -1.0, 0.5, 8.0]),
    ]


def predictions():
    """Metrics of class probabilities, with and without weights, confidences and classes that do not occur."""
    for kind, p in {
        "many": rows(18, 60),
        "few": rows(19, 5),
        "two": rows(20, 30) | {"labels": np.arange(30) % 2},
    }.items():
        matrix = p["probabilities"]
        matrix = np.stack([1.0 - matrix[:, 0], matrix[:, 0]], axis=1) if kind == "two" else matrix
        for name in abstain.metrics.names("probabilities"):
            for options, weight in product([{}, *OPTIONS.get(name, [])], (None, p["sample_weight"])):
                given = {"labels": p["labels"], "probabilities": matrix, "sample_weight": weight, **options}
                scores = (None, p["confidence"]) if name in ("auroc_accepted_area", "oc_auc_classifier") else (None,)
                for k, score in enumerate(scores):
                    more = {} if score is None else {"confidence": score}
                    at = f"{kind} {name} {options} {weight is None} {k}"
                    yield at, tried(getattr(abstain, name), **given, **more)


def optima_and_weights():
    """Values of the best score, of ranks and of classes."""
    p = rows(21, 40)
    losses = (p["loss"], p["loss"] / 3.0, [0.0, 0.0], [1.0, 1.0], [0.5])
    accuracies = (0.0, 0.2, 0.75, 1.0)
    return {
        "augrc_optimal": [abstain.augrc_optimal(each) for each in losses],
        "aurc_optimal": {k: [abstain.aurc_optimal(each, estimator=k) for each in losses] for k in ("plugin", *OTHERS)},
        "weighted": [each(p["loss"], sample_weight=p["sample_weight"]) for each in OPTIMA],
        "f1_auc_optimal": [abstain.f1_auc_optimal(each) for each in accuracies],
        "augrc_from_auroc": [abstain.augrc_from_auroc(each, 0.8) for each in accuracies],
        "partial": [abstain.augrc_partial_derivatives(each, 0.7) for each in accuracies],
        "weights": {
            each: [tried(abstain.rank_weights, n, each) for n in (1, 2, 7)] for each in ("harmonic", "log", "sele")
        },
        "bias": {
            each: tried(abstain.rank_weight_bias, 9, [0.1, 0.5, 0.95], each) for each in ("harmonic", "log", "sele")
        },
        "mse": {each: tried(abstain.rank_weight_mse, 9, [1, 4, 9], each) for each in ("harmonic", "log", "sele")},
        "prevalence": [
            abstain.prevalence_weights(p["labels"]),
            abstain.prevalence_weights([0, 1, 1, 1], {0: 0.9, 1: 0.1}),
            abstain.prevalence_weights(["x", "y", "x"], {"x": 0.25, "y": 0.75}),
        ],
        "linear_trust": abstain.linear_trust(np.array([0.2, 0.6, 1.0]), 0.4),
        "macro": [
            tried(abstain.macro_selective_risk, p["loss"], p["confidence"], p["labels"], **options)
            for options in ({}, {"coverage": 0.4}, {"threshold": 0.5}, {"threshold": 2.0})
        ],
        "sweep": abstain.cwsa_sweep(p["loss"], p["confidence"]),
        "sweep of few": abstain.cwsa_sweep(p["loss"], p["confidence"], [0.1, 0.5, 0.9, 0.999]),
    }


def contributions():
    """What each row adds to a metric, by metric, with weights and ties."""
    for seed, steps, graded in ((22, 0, False), (23, 5, False), (24, 6, True)):
        p = rows(seed, 20, steps=steps, graded=graded)
        for weight, name in product((None, p["sample_weight"]), OF_SCORES):
            for options in [{}, *OPTIONS.get(name, [])]:
                metric = abstain.metrics.get(name, **options)
                call = tried(abstain.contributions, metric, p["loss"], p["confidence"], sample_weight=weight)
                if not isinstance(call, str):
                    yield f"{seed} {weight is None} {metric.spec}", call


def reliability():
    """Reliability curves, by bins."""
    for steps in (0, 5):
        p = rows(25 + steps, 50, steps=steps)
        for binning, bins, weight in product(("equal_width", "equal_mass"), (1, 4, 15), (None, p["sample_weight"])):
            given = {"bins": bins, "binning": binning, "sample_weight": weight}
            yield abstain.reliability_curve(p["loss"], p["confidence"], **given)


def descriptions():
    """What is known of each metric: identifier, direction, range, needs, options."""
    for name in abstain.metrics.names():
        for options in [{}, *OPTIONS.get(name, [])]:
            m = abstain.metrics.get(name, **options)
            yield m.spec, [m.identifier, m.title, m.direction, m.range, m.needs, m.input, m.label, m.inference]
