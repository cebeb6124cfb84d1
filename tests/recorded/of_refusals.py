"""What is refused: bad columns and options, with the numbers that the messages name."""

from itertools import product

import numpy as np

import abstain
from abstain import inference
from tests.recorded.contents import refusal


def _by_options(call, values, *several):
    return [refusal(call, *values, **options) for options in several]


def _by_values(call, *several):
    return [refusal(call, *values) for values in several]


def refusals_of_metrics():
    """Return what is refused of columns and options, and the numbers that the message names."""
    loss, score = [0.0, 1.0, 0.0, 1.0], [0.9, 0.2, 0.6, 0.4]
    columns = {
        "negative": {"loss": [0.0, -1.0, 0.0, 1.0]}, "nan": {"loss": [0.0, np.nan, 0.0, 1.0]},
        "huge": {"loss": [1e300] * 4},
        "short": {"loss": [0.0, 1.0]}, "matrix": {"loss": [[0.0, 1.0]] * 4}, "text": {"loss": ["a"] * 4},
        "none": {"loss": []},
        "scores": {"confidence": [0.9, np.nan, np.nan, 0.1]}, "cents": {"confidence": [90.0, 20.0, 60.0, 40.0]},
        "signed": {"confidence": [-90.0, 20.0, 60.0, 40.0]}, "large": {"loss": [0.0, 3.0, 0.0, 1.0]},
        "weights": {"sample_weight": [1.0, -1.0, 1.0, 1.0]}, "no weight": {"sample_weight": [0.0] * 4},
    }  # fmt: skip
    for name, (kind, bad) in product(("augrc", "cwsa", "ece", "auroc_f", "coverage_at_risk"), columns.items()):
        yield f"{name} {kind}", refusal(getattr(abstain, name), **{"loss": loss, "confidence": score} | bad)
    for kind, bad in columns.items():
        yield f"sweep {kind}", refusal(abstain.cwsa_sweep, **{"loss": loss, "confidence": score} | bad)
    wrong = (
        ("selective_risk", {"coverage": 1.5}), ("selective_risk", {"coverage": 0.0}),
        ("selective_risk", {"threshold": np.nan}),
        ("coverage_at_risk", {"risk": -0.1}), ("coverage_at_risk", {"risk": 1.5}), ("fpr95_error", {"recall": 0.0}),
        ("fpr95_error", {"recall": 95}), ("ece", {"bins": 0}), ("ece", {"bins": 2.5}), ("ece", {"binning": "other"}),
        ("aurc", {"coverage_range": (0.5, 0.5)}), ("aurc", {"coverage_range": (-0.1, 0.5)}), ("sele", {"factor": -1.0}),
        ("augrc", {"coverage_range": (0.2, 1.2)}), ("cwsa", {"threshold": 1.0}), ("cwsa", {"threshold": -0.1}),
        ("oc_auc", {"review_fraction": 1.0}), ("oc_auc", {"review_fraction": 0.0}), ("nll_confidence", {"clip": 0.6}),
        ("nll_confidence", {"clip": 0.0}), ("aurc", {"estimator": "harmonik"}), ("aumcc", {"metric": "ece"}),
    )  # fmt: skip
    for name, options in wrong:
        yield f"{name} {options}", refusal(getattr(abstain, name), loss, score, **options)
    for spec in ("augcr", "aurc(estimator=", "aurc(estimater=log)", "coverage_at_risk(risk=5)", "risk_at_coverage", ""):
        yield f"parse {spec}", refusal(abstain.metrics.parse, spec)
    matrix = [[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]]
    for labels, bad in (([0, 1, 2], matrix), ([0, 1], matrix), ([0, 1, 0], [[0.9, 0.2]] * 3), ([-1, 0, 1], matrix)):
        for name in ("nll", "brier_score", "classwise_ece", "auroc_accepted_area"):
            yield f"{name} {labels} {bad is matrix}", refusal(getattr(abstain, name), labels, bad)


LOSS, SCORE = np.arange(30) % 3 // 2 * 1.0, np.sqrt((7.0 * np.arange(30)) % 30)
PAIR, ONE = (LOSS, SCORE), ("augrc", LOSS, SCORE)


def refusals_of_inference():
    """Return what functions of errors, tests and sizes refuse."""
    two, n = {"a": SCORE, "b": SCORE[::-1]}, np.arange(30)
    few = {"n_resamples": 1, "method": "percentile"}
    yield from _by_options(inference.confidence_interval, ONE, {"level": 1.0}, {"level": 95}, few, {"method": "other"})
    yield from _by_options(inference.confidence_interval, ONE, {"clusters": 0 * n}, {"strata": n}, {"unseen": "low"})
    yield from _by_values(inference.confidence_interval, ("auroc_f", LOSS / 2.0, SCORE), ("auroc_f", 0 * LOSS, SCORE))
    yield from _by_values(inference.standard_error, ("f1_auc", LOSS, SCORE))
    yield from _by_options(inference.bootstrap, ONE, {"n_resamples": 0}, {"backend": "other"}, {"rng": -1})
    yield from _by_values(inference.clopper_pearson, (3, 2), (-1, 2), (1, 0))
    yield from _by_options(inference.clopper_pearson, (1, 2), {"side": "left"})
    yield from _by_values(inference.holm, ([0.5, 1.5],))
    yield from _by_values(inference.kendall_tau, ([1, 2], [1]))
    both = {"kind": "simultaneous"}
    yield from _by_options(inference.risk_band, PAIR, {"method": "dkw"}, both | {"method": "influence"})
    yield from _by_options(inference.risk_band, PAIR, {"min_coverage": 0.2}, both | {"min_coverage": 1.2})
    yield from _by_options(inference.risk_band, PAIR, both | {"n_draws": 99})
    yield refusal(inference.samples_for_difference, 0.0, sd=0.1)
    yield refusal(inference.samples_for_difference, 1e-12, sd=10.0)
    yield from _by_options(inference.samples_for_difference, (0.1,), {}, {"sd": -1.0}, {"sd": 0.1, "power": 1.0})
    yield refusal(inference.detectable_difference, 1, sd=0.1)
    yield from _by_values(inference.samples_for_width, (0.0, PAIR), (0.1, (*PAIR, SCORE)))
    yield from _by_values(inference.compare_groups, (*PAIR, 0 * n))
    yield from _by_options(inference.compare_groups, (*PAIR, n % 2), {"clusters": n // 15})
    margins = [{"margin": 0.0}, {"margin": 0.1, "level": 0.4}, {"margin": 0.1}]
    yield from _by_options(inference.non_inferiority, (LOSS, two), *margins)
    yield refusal(inference.non_inferiority, LOSS, two | {"c": SCORE}, margin=0.1)
    yield from _by_values(inference.permutation_test, (*PAIR, SCORE[:9]))
    yield refusal(inference.permutation_test, *PAIR, SCORE, n_permutations=0)
    yield from _by_values(inference.wilcoxon_over_resamples, ([1.0, 2.0],))
    yield from _by_values(inference.letter_groups, ([[0, 1], [0, 0]],), ([[1]],))
    yield refusal(abstain.ranking_study, LOSS, two, n_resamples=10)
    yield from _by_values(abstain.compare, (LOSS, {"a": SCORE}), (LOSS, two | {"b": SCORE[:4]}), ({"a": LOSS}, two))
    yield from _by_options(abstain.compare, (LOSS, two), {"adjust": "other"}, {"method": "other"}, {"level": 0.0})
    yield refusal(abstain.compare, LOSS, {"a": [SCORE, SCORE], "b": [SCORE] * 3}, paired_runs=True)


def refusals_of_results():
    """Return what evaluations, gates, selections and curves refuse."""
    found = abstain.evaluate(loss=LOSS, confidence=SCORE, metrics=["augrc", "risk"])
    outputs = (abstain.Outputs(loss=LOSS, confidence=SCORE),)
    options = [{"level": 95}, {"n_resamples": 1}, {"nan_policy": "ignore"}, {"metrics": []}, {"metrics": "augcr"}]
    options += [{"metrics": "nll"}, {"scores": "msp"}, {"groups": "site"}, {"target": "population"}, {"unseen": "low"}]
    yield from _by_options(abstain.evaluate, outputs, *options, {"plan": 3}, {"labelled": "all"})
    yield refusal(abstain.evaluate, loss=[np.nan, 0.0], confidence=[0.1, 0.2])
    yield refusal(abstain.evaluate, {})
    conditions = ("augrc>=0.1", "augrc<=x", "augrc", [], "aurc<=0.1")
    yield from _by_values(abstain.gate, *((found, each) for each in conditions))
    yield refusal(abstain.gate, found, "augrc<=0.1", unclear="maybe")
    against = [{"against": found}, {"against": found, "margin": -0.1}]
    against += [{"against": each, "margin": 0.1} for each in ([], {})]
    yield from _by_options(abstain.gate, (found, "augrc"), *against)
    yield refusal(abstain.select, {"a": PAIR}, level=2.0)
    splits = {"a": {"validation": PAIR, "test": PAIR}, "b": PAIR}, {"a": {"validation": PAIR}, "b": PAIR}
    yield from _by_values(abstain.select, ({},), splits[:1], (splits[1], "nll"))
    yield refusal(abstain.select, {"a": PAIR, "b": (LOSS[:5], SCORE[:5])})
    yield from [refusal(found.value, "aurc"), refusal(found.curve, "msp")]
    points = [{}, {"coverage": 1.5}, {"coverage": 0.5, "risk": 0.1}, {"risk": -0.5}, {"threshold": np.nan}]
    yield from _by_options(abstain.risk_coverage_curve(*PAIR).at, (), *points)
