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


def _axes(**axes):
    """Return options of all combinations."""
    return [dict(zip(axes, each, strict=True)) for each in product(*axes.values())]


CUT, CLEAR = (0.0, 0.3, 0.8, 0.97), _axes(zero_division=(0.0, 1.0))
PARTS, BINNING = _axes(coverage_range=((0.0, 0.45), (0.33, 0.8), (0.5, 1.0))), ("equal_width", "equal_mass")
#: Options that are not the default.
OPTIONS = dict.fromkeys(("accuracy_rejection_area", "e_aurc", "naurc"), _axes(estimator=OTHERS))
OPTIONS["aurc"] = [*_axes(estimator=OTHERS), *PARTS, {"estimator": "trapezoid", "coverage_range": (0.21, 0.77)}]
OPTIONS |= {"augrc": PARTS, "sele": _axes(factor=(0.5, 2.0)), "nll": [{"clip": 0.2}], "nll_confidence": [{"clip": 0.2}]}
OPTIONS |= {"coverage_at_risk": _axes(risk=(0.0, 0.01, 0.1, 0.25, 1.0))}
OPTIONS |= dict.fromkeys(("fpr95_error", "fpr95_success"), _axes(recall=(0.3, 0.5, 0.8, 1.0)))
OPTIONS |= dict.fromkeys(("average_precision_error", "average_precision_success"), CLEAR)
OPTIONS |= {"oc_auc": _axes(review_fraction=(0.1, 0.3), curve=("roc", "pr"))}
OPTIONS |= {"oc_auc_classifier": _axes(review_fraction=(0.1, 0.35))}
OPTIONS |= dict.fromkeys(("cwsa", "cwsa_plus"), _axes(threshold=CUT, denominator=("accepted", "all")))
OPTIONS |= {"aumcc": _axes(metric=("cwsa", "cwsa_plus"), method=("exact", "grid"))}
OPTIONS |= dict.fromkeys(("ece", "mce"), _axes(bins=(1, 4, 10), binning=BINNING))
OPTIONS |= {"classwise_ece": _axes(bins=(1, 4), binning=BINNING)}
POINTS = [*_axes(coverage=(0.2, 0.5, 1.0)), *_axes(threshold=(0.4, 0.95))]
OPTIONS |= dict.fromkeys(("generalized_risk", "selective_risk", "selective_accuracy"), POINTS)

OF_SCORES = [name for name in abstain.metrics.names("blocks") if name not in ("accuracy", "risk")]


def _specs(names):
    """Return metrics with every option."""
    return [(name, options) for name in names for options in ({}, *OPTIONS.get(name, ()))]


def _all(loss, confidence, sample_weight=None, **more):
    """Return every metric of scores, with every option; an error by its name."""
    given, found = {"loss": loss, "confidence": confidence, **more}, {}
    weight = {} if sample_weight is None else {"sample_weight": sample_weight}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for name, options in _specs(OF_SCORES):
            weights = weight if name != "augrc_unbiased" else {}
            found[f"{name} {options}"] = tried(getattr(abstain, name), **given, **weights, **options)
        found |= {name: tried(getattr(abstain, name), loss, **weight) for name in ("accuracy", "risk")}
    return found | {"warned": [str(each.message) for each in warned]}


def _of(p, weighted=False, **more):
    """Return all metrics of columns of a population."""
    return _all(p["loss"], p["confidence"], p["sample_weight"] if weighted else None, **more)


def rows_of_many_kinds():
    """Distinct scores, scores on few values, graded losses, large ones, a missing score; with and without weights."""
    p, gaps = rows(15, 50, steps=9, graded=True), rows(17, 40, steps=8)
    gaps["confidence"][[3, 11, 24]] = np.nan
    yield from [_of(rows(11, 37)), _of(rows(12, 50), True)]
    yield from [_of(rows(13, 60, steps=7)), _of(rows(14, 45, steps=4), True)]
    yield from [_of(rows(16, 41, graded=True)), _of(p, True), _of(p | {"loss": p["loss"] * 7.0})]
    yield from [_of(gaps, True, nan_policy=policy) for policy in ("reject", "drop")]


def edges():
    """No failure, only failures, one row, two rows, one score for all, scores of 0 and 1, weights of 0."""
    score, some = np.array([0.0, 0.5, 0.5, 1.0, 1.0, 0.9]), [0.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    cases = [(np.zeros(6), score), (np.ones(6), score), ([1.0], [0.5]), ([0.0, 1.0], [0.2, 0.7])]
    cases += [(some, np.full(6, 0.75)), (some, score), (some, score, [0.0, 2.0, 0.0, 1.0, 0.5, 1.0])]
    cases += [([0.0, 1.0, 0.0, 1.0], [3.0, -1.0, 0.5, 8.0])]
    return [_all(*each) for each in cases]


def predictions():
    """Metrics of class probabilities, with and without weights, confidences and classes that do not occur."""
    for p in (rows(18, 60), rows(19, 5), rows(20, 30) | {"labels": np.arange(30) % 2, "two": True}):
        matrix = p["probabilities"]
        matrix = np.stack([1.0 - matrix[:, 0], matrix[:, 0]], axis=1) if "two" in p else matrix
        specs = _specs(abstain.metrics.names("probabilities"))
        for (name, options), weight, scored in product(specs, (None, p["sample_weight"]), (False, True)):
            if not scored or name in ("auroc_accepted_area", "oc_auc_classifier"):
                more = {"sample_weight": weight, **options} | ({"confidence": p["confidence"]} if scored else {})
                yield tried(getattr(abstain, name), p["labels"], matrix, **more)


def optima_and_weights():
    """Values of the best score, of ranks and of classes."""
    p = rows(21, 40)
    losses, shares = (p["loss"], p["loss"] / 3.0, [0.0, 0.0], [1.0, 1.0], [0.5]), (0.0, 0.2, 0.75, 1.0)
    yield [abstain.augrc_optimal(each) for each in losses]
    yield [[abstain.aurc_optimal(each, estimator=k) for each in losses] for k in ("plugin", *OTHERS)]
    optima = (abstain.augrc_optimal, abstain.aurc_optimal)
    yield [each(p["loss"], sample_weight=p["sample_weight"]) for each in optima]
    yield [[abstain.f1_auc_optimal(each), abstain.augrc_from_auroc(each, 0.8)] for each in shares]
    yield [abstain.augrc_partial_derivatives(each, 0.7) for each in shares]
    for each in ("harmonic", "log", "sele"):
        yield [tried(abstain.rank_weights, n, each) for n in (1, 2, 7)]
        yield tried(abstain.rank_weight_bias, 9, [0.1, 0.5, 0.95], each)
        yield tried(abstain.rank_weight_mse, 9, [1, 4, 9], each)
    classes = ([p["labels"]], ([0, 1, 1, 1], {0: 0.9, 1: 0.1}), (["x", "y", "x"], {"x": 0.25, "y": 0.75}))
    yield [abstain.prevalence_weights(*each) for each in classes]
    yield abstain.linear_trust(np.array([0.2, 0.6, 1.0]), 0.4)
    given, points = (p["loss"], p["confidence"]), ({}, {"coverage": 0.4}, {"threshold": 0.5}, {"threshold": 2.0})
    yield [tried(abstain.macro_selective_risk, *given, p["labels"], **each) for each in points]
    yield [abstain.cwsa_sweep(*given, *more) for more in ((), ([0.1, 0.5, 0.9, 0.999],))]


def contributions():
    """What each row adds to a metric, by metric, with weights and ties."""
    for seed, steps, graded in ((22, 0, False), (23, 5, False), (24, 6, True)):
        p = rows(seed, 20, steps=steps, graded=graded)
        for weight, (name, options) in product((None, p["sample_weight"]), _specs(OF_SCORES)):
            metric = abstain.metrics.get(name, **options)
            yield tried(abstain.contributions, metric, p["loss"], p["confidence"], sample_weight=weight)


def reliability():
    """Reliability curves, by bins."""
    for steps in (0, 5):
        p = rows(25 + steps, 50, steps=steps)
        for given in _axes(binning=BINNING, bins=(1, 4, 15), sample_weight=(None, p["sample_weight"])):
            yield abstain.reliability_curve(p["loss"], p["confidence"], **given)


def descriptions():
    """What is known of each metric: identifier, direction, range, needs, options."""
    for name, options in _specs(abstain.metrics.names()):
        m = abstain.metrics.get(name, **options)
        yield [m.spec, m.identifier, m.title, m.direction, m.range, m.needs, m.input, m.label, m.inference]


def _table(found):
    """Return everything that a table holds."""
    if isinstance(found, str):
        return found
    kept, second, best = found.samples, found.moments, tried(lambda: found.oracle)
    names = "cumulative_weight selective_risk frequencies n n_rejected n_dropped largest_tie distinct_share mean_loss"
    facts = [getattr(found, name) for name in f"{names} total_loss total_weight".split()]
    known = [each for each in (found, best) if not isinstance(each, str)]
    tables = [[each.score, each.weight, each.loss, each.count, each.binary] for each in known]
    constant = [found.constant.weight, found.constant.loss, found.constant.count, found.constant.binary]
    samples = None if kept is None else [kept.order, kept.block, kept.score]
    moments = None if second is None else [second.weight2, second.weight2_loss, second.weight2_loss2]
    return [facts, tables, best if isinstance(best, str) else None, constant, samples, moments]


def _kinds(seed, n):
    """Return columns with and without ties, graded losses, weights, zero weights and missing scores."""
    several = (rows(seed, n), rows(seed + 1, n, steps=4), rows(seed + 2, n, steps=5, graded=True))
    plain, tied, graded = ([p["loss"], p["confidence"]] for p in several)
    weight = np.where(np.arange(n) % 5 == 2, 0.0, np.round(several[2]["sample_weight"], 1))
    gaps = np.where(np.arange(n) % 4 == 1, np.nan, tied[1])
    signed = np.where(np.arange(n) % 3 == 0, -0.0, tied[1] - 0.5)
    found = {"plain": (*plain, None), "tied": (*tied, None), "graded": (*graded, None)}
    found |= {"weights": (*tied, np.ceil(weight)), "graded weights": (*graded, weight), "gaps": (tied[0], gaps, None)}
    found |= {"graded gaps": (np.where(np.isnan(gaps), 0.5, tied[0]), gaps, weight)}
    found |= {"infinite": (tied[0], np.where(tied[1] > 0.8, np.inf, signed), None)}
    return found | {"empty blocks": (*graded, 1.0 * (graded[1] != 0.4))}


def tables_of_frames():
    """Return tables that an engine sums or that are read, of few and of many rows."""
    for n, lazy, policy in product((13, 400), (False, True), ("raise", "reject", "drop")):
        for name, (loss, score, weight) in _kinds(121, n).items():
            if policy == "raise" or "gaps" in name:
                frame = pl.DataFrame({"l": loss, "s": score} | ({} if weight is None else {"w": weight}))
                given = {"confidence": "s", "loss": "l", "sample_weight": None if weight is None else "w"}
                given |= {"nan_policy": policy, "oracle": True, "moments": True}
                table = tried(abstain.TieBlocks.from_frame, frame.lazy() if lazy else frame, **given)
                wide = n > 100 and len(getattr(table, "score", "")) > 20
                yield [table.n, table.mean_loss] if wide else _table(table)


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
