"""Values of every metric, with every option, over rows of many kinds; tie blocks and influence."""

import warnings
from itertools import product

import numpy as np
import polars as pl

import abstain
from tests.recorded import tried
from tests.recorded.populations import rows

#: Estimators that are not the default.
OTHERS = ("interpolated", "trapezoid", "harmonic", "log")
#: Options that are not the default.
OPTIONS = {"accuracy_rejection_area": [{"estimator": each} for each in OTHERS]}
OPTIONS |= {
    "aurc": [
        *({"estimator": each} for each in OTHERS),
        *({"coverage_range": each} for each in ((0.0, 0.45), (0.33, 0.8), (0.5, 1.0))),
        {"estimator": "trapezoid", "coverage_range": (0.21, 0.77)},
    ]
}
OPTIONS |= {"augrc": [{"coverage_range": each} for each in ((0.0, 0.45), (0.33, 0.8), (0.5, 1.0))]}
OPTIONS |= {"sele": [{"factor": 0.5}, {"factor": 2.0}], "e_aurc": [{"estimator": each} for each in OTHERS]}
OPTIONS |= {"naurc": [{"estimator": each} for each in OTHERS]}
OPTIONS |= {"coverage_at_risk": [{"risk": each} for each in (0.0, 0.01, 0.1, 0.25, 1.0)]}
OPTIONS |= {"fpr95_error": [{"recall": each} for each in (0.3, 0.5, 0.8, 1.0)]}
OPTIONS |= {"fpr95_success": [{"recall": each} for each in (0.3, 0.5, 0.8, 1.0)]}
OPTIONS |= {"average_precision_error": [{"zero_division": 0.0}, {"zero_division": 1.0}]}
OPTIONS |= {"average_precision_success": [{"zero_division": 0.0}, {"zero_division": 1.0}]}
OPTIONS |= {"oc_auc": [{"review_fraction": a, "curve": b} for a in (0.1, 0.3) for b in ("roc", "pr")]}
OPTIONS |= {"oc_auc_classifier": [{"review_fraction": 0.1}, {"review_fraction": 0.35}]}
OPTIONS |= {"cwsa": [{"threshold": a, "denominator": b} for a in (0.0, 0.3, 0.8, 0.97) for b in ("accepted", "all")]}
OPTIONS |= {
    "cwsa_plus": [{"threshold": a, "denominator": b} for a in (0.0, 0.3, 0.8, 0.97) for b in ("accepted", "all")]
}
OPTIONS |= {"aumcc": [{"metric": a, "method": b} for a in ("cwsa", "cwsa_plus") for b in ("exact", "grid")]}
OPTIONS |= {"classwise_ece": [{"bins": a, "binning": b} for a in (1, 4) for b in ("equal_width", "equal_mass")]}
OPTIONS |= {"ece": [{"bins": a, "binning": b} for a in (1, 4, 10) for b in ("equal_width", "equal_mass")]}
OPTIONS |= {"mce": [{"bins": a, "binning": b} for a in (1, 4, 10) for b in ("equal_width", "equal_mass")]}
OPTIONS |= {"nll": [{"clip": 0.2}], "nll_confidence": [{"clip": 0.2}]}
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
    yield from [_all(loss=n * 0.0, confidence=score), _all(loss=n * 0.0 + 1.0, confidence=score)]
    yield from [_all(loss=[1.0], confidence=[0.5]), _all(loss=[0.0, 1.0], confidence=[0.2, 0.7])]
    yield _all(loss=[0.0, 1.0, 1.0, 0.0, 0.0, 0.0], confidence=n * 0.0 + 0.75)
    yield _all(loss=[0.0, 1.0, 1.0, 0.0, 0.0, 0.0], confidence=score)
    yield _all(loss=[0.0, 1.0, 1.0, 0.0, 0.0, 0.0], confidence=score, sample_weight=[0.0, 2.0, 0.0, 1.0, 0.5, 1.0])
    yield _all(loss=[0.0, 1.0, 0.0, 1.0], confidence=[3.0, -1.0, 0.5, 8.0])


def predictions():
    """Metrics of class probabilities, with and without weights, confidences and classes that do not occur."""
    cases = {"many": rows(18, 60), "few": rows(19, 5), "two": rows(20, 30) | {"labels": np.arange(30) % 2}}
    for kind, p in cases.items():
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
    yield "augrc_optimal", [abstain.augrc_optimal(each) for each in losses]
    yield "aurc_optimal", {k: [abstain.aurc_optimal(each, estimator=k) for each in losses] for k in ("plugin", *OTHERS)}
    yield "weighted", [each(p["loss"], sample_weight=p["sample_weight"]) for each in OPTIMA]
    yield "f1_auc_optimal", [abstain.f1_auc_optimal(each) for each in accuracies]
    yield "augrc_from_auroc", [abstain.augrc_from_auroc(each, 0.8) for each in accuracies]
    yield "partial", [abstain.augrc_partial_derivatives(each, 0.7) for each in accuracies]
    found = {each: [tried(abstain.rank_weights, n, each) for n in (1, 2, 7)] for each in ("harmonic", "log", "sele")}
    yield "weights", found
    found = {each: tried(abstain.rank_weight_bias, 9, [0.1, 0.5, 0.95], each) for each in ("harmonic", "log", "sele")}
    yield "bias", found
    yield "mse", {each: tried(abstain.rank_weight_mse, 9, [1, 4, 9], each) for each in ("harmonic", "log", "sele")}
    yield "prevalence", [abstain.prevalence_weights(p["labels"])]
    yield "prevalence 2", [abstain.prevalence_weights([0, 1, 1, 1], {0: 0.9, 1: 0.1})]
    yield "prevalence 3", [abstain.prevalence_weights(["x", "y", "x"], {"x": 0.25, "y": 0.75})]
    yield "linear_trust", abstain.linear_trust(np.array([0.2, 0.6, 1.0]), 0.4)
    yield (
        "macro",
        [
            tried(abstain.macro_selective_risk, p["loss"], p["confidence"], p["labels"], **options)
            for options in ({}, {"coverage": 0.4}, {"threshold": 0.5}, {"threshold": 2.0})
        ],
    )
    yield "sweep", abstain.cwsa_sweep(p["loss"], p["confidence"])
    yield "sweep of few", abstain.cwsa_sweep(p["loss"], p["confidence"], [0.1, 0.5, 0.9, 0.999])


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


ALL = ("aurc", "augrc", "auroc_f", "risk", "e_aurc", "naurc", "coverage_at_risk", "risk_at_coverage")
FLAGS = ("keep_samples", "oracle", "moments")


def _table(found):
    """Return everything that a table holds."""
    if isinstance(found, str):
        return found
    kept, second = found.samples, found.moments
    columns = [found.score, found.weight, found.loss, found.count, found.cumulative_weight, found.selective_risk]
    facts = [found.binary, found.frequencies, found.n, found.n_rejected, found.n_dropped, found.largest_tie]
    facts += [found.distinct_share, found.mean_loss, found.total_loss, found.total_weight]
    samples = None if kept is None else [kept.order, kept.block, kept.score]
    moments = None if second is None else [second.weight2, second.weight2_loss, second.weight2_loss2]
    best = tried(lambda: found.oracle)
    optimum = best if isinstance(best, str) else [best.score, best.weight, best.loss, best.count, best.binary]
    constant = found.constant
    return [
        columns,
        facts,
        samples,
        moments,
        optimum,
        [constant.weight, constant.loss, constant.count, constant.binary],
    ]


def _kinds(seed, n):
    """Return columns with and without ties, graded losses, weights, zero weights and missing scores."""
    plain, tied, graded = rows(seed, n), rows(seed + 1, n, steps=4), rows(seed + 2, n, steps=5, graded=True)
    weight = np.where(np.arange(n) % 5 == 2, 0.0, np.round(graded["sample_weight"], 1))
    gaps = np.where(np.arange(n) % 4 == 1, np.nan, tied["confidence"])
    signed = np.where(np.arange(n) % 3 == 0, -0.0, tied["confidence"] - 0.5)
    return {
        "plain": (plain["loss"], plain["confidence"], None),
        "tied": (tied["loss"], tied["confidence"], None),
        "graded": (graded["loss"], graded["confidence"], None),
        "weights": (tied["loss"], tied["confidence"], np.ceil(weight)),
        "graded weights": (graded["loss"], graded["confidence"], weight),
        "gaps": (tied["loss"], gaps, None),
        "graded gaps": (np.where(np.isnan(gaps), 0.5, tied["loss"]), gaps, weight),
        "infinite": (tied["loss"], np.where(tied["confidence"] > 0.8, np.inf, signed), None),
        "empty blocks": (graded["loss"], graded["confidence"], 1.0 * (graded["confidence"] != 0.4)),
    }


def tables_of_samples():
    """Return tables by what they keep, and what becomes of missing scores."""
    for (name, (loss, score, weight)), policy in product(_kinds(111, 11).items(), ("raise", "reject", "drop")):
        for flags in ((), FLAGS, ("moments",)):
            given = dict.fromkeys(flags, True) | {"nan_policy": policy}
            if policy == "raise" or "gaps" in name:
                table = tried(abstain.TieBlocks.from_samples, loss, score, weight, **given)
                yield f"{name} {policy} {flags}", _table(table)


def tables_of_frames():
    """Return tables that an engine sums or that are read, of few and of many rows."""
    for n in (13, 400):
        for name, (loss, score, weight) in _kinds(121, n).items():
            columns = {"l": loss, "s": score} | ({} if weight is None else {"w": weight})
            frame = pl.DataFrame(columns)
            for lazy, policy in product((False, True), ("raise", "reject", "drop")):
                if policy == "raise" or "gaps" in name:
                    given = {"nan_policy": policy, "oracle": True, "moments": True}
                    given |= {"sample_weight": None if weight is None else "w"}
                    source = frame.lazy() if lazy else frame
                    table = tried(abstain.TieBlocks.from_frame, source, confidence="s", loss="l", **given)
                    wide = n > 100 and len(getattr(table, "score", "")) > 20
                    yield f"{n} {name} {lazy} {policy}", [table.n, table.mean_loss] if wide else _table(table)


def merged_and_weighted():
    """Return tables merged of parts, and weighted anew."""
    make = abstain.TieBlocks.from_samples
    for name, (loss, score, weight) in _kinds(131, 12).items():
        given = {"nan_policy": "drop", "moments": True, "oracle": True}
        parts = [make(loss[k::3], score[k::3], None if weight is None else weight[k::3], **given) for k in range(3)]
        yield f"{name} merged", _table(parts[0].merge(*parts[1:]))
        yield f"{name} mixed", _table(parts[0].merge(make(loss[:5], np.arange(5.0))))
        if "gaps" not in name:
            kept = make(loss, score, weight, keep_samples=True, **given)
            for k, fresh in enumerate((np.arange(12) % 3, np.linspace(0.1, 2.0, 12), np.ones(12))):
                yield f"{name} weighted {k}", _table(kept.reweight(fresh))


def influence_of_ranked_metrics():
    """Return the influence of each row, by metric, with and without ties and weights."""
    for steps in (0, 5):
        p = rows(steps, 40, steps=steps)
        for weight in (None, p["sample_weight"]):
            columns = {"loss": p["loss"], "confidence": p["confidence"], "sample_weight": weight}
            for name in ALL:
                yield f"{name} {steps} {weight is None}", tried(abstain.inference.influence, name, **columns)
