"""What is refused: bad columns and options, with the numbers that the messages name."""

from itertools import product

import numpy as np

import abstain
from abstain import inference
from tests.recorded.contents import refusal


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


def refusals_of_inference():
    """Return what functions of errors, tests and sizes refuse."""
    loss, score = np.arange(30) % 3 // 2 * 1.0, np.sqrt((7.0 * np.arange(30)) % 30)
    two = {"a": score, "b": score[::-1]}
    wrong = (
        (inference.confidence_interval, ("augrc", loss, score), {"level": 1.0}),
        (inference.confidence_interval, ("augrc", loss, score), {"level": 95}),
        (inference.confidence_interval, ("augrc", loss, score), {"n_resamples": 1, "method": "percentile"}),
        (inference.confidence_interval, ("augrc", loss, score), {"method": "other"}),
        (inference.confidence_interval, ("augrc", loss, score), {"clusters": np.zeros(30)}),
        (inference.confidence_interval, ("augrc", loss, score), {"strata": np.arange(30)}),
        (inference.confidence_interval, ("augrc", loss, score), {"unseen": "low"}),
        (inference.confidence_interval, ("auroc_f", loss / 2.0, score), {}),
        (inference.confidence_interval, ("auroc_f", 0.0 * loss, score), {}),
        (inference.standard_error, ("f1_auc", loss, score), {}),
        (inference.bootstrap, ("augrc", loss, score), {"n_resamples": 0}),
        (inference.bootstrap, ("augrc", loss, score), {"backend": "other"}),
        (inference.bootstrap, ("augrc", loss, score), {"rng": -1}),
        (inference.clopper_pearson, (3, 2), {}),
        (inference.clopper_pearson, (-1, 2), {}),
        (inference.clopper_pearson, (1, 0), {}),
        (inference.clopper_pearson, (1, 2), {"side": "left"}),
        (inference.holm, ([0.5, 1.5],), {}),
        (inference.kendall_tau, ([1, 2], [1]), {}),
        (inference.risk_band, (loss, score), {"method": "dkw"}),
        (inference.risk_band, (loss, score), {"kind": "simultaneous", "method": "influence"}),
        (inference.risk_band, (loss, score), {"min_coverage": 0.2}),
        (inference.risk_band, (loss, score), {"min_coverage": 1.2, "kind": "simultaneous"}),
        (inference.risk_band, (loss, score), {"n_draws": 99, "kind": "simultaneous"}),
        (inference.samples_for_difference, (0.0,), {"sd": 0.1}),
        (inference.samples_for_difference, (0.1,), {}),
        (inference.samples_for_difference, (0.1,), {"sd": -1.0}),
        (inference.samples_for_difference, (1e-12,), {"sd": 10.0}),
        (inference.samples_for_difference, (0.1,), {"sd": 0.1, "power": 1.0}),
        (inference.detectable_difference, (1,), {"sd": 0.1}),
        (inference.samples_for_width, (0.0, (loss, score)), {}),
        (inference.samples_for_width, (0.1, (loss, score, score)), {}),
        (inference.compare_groups, (loss, score, np.zeros(30)), {}),
        (inference.compare_groups, (loss, score, np.arange(30) % 2), {"clusters": np.arange(30) // 15}),
        (inference.non_inferiority, (loss, two), {"margin": 0.0}),
        (inference.non_inferiority, (loss, two), {"margin": 0.1, "level": 0.4}),
        (inference.non_inferiority, (loss, two), {"margin": 0.1}),
        (inference.non_inferiority, (loss, two | {"c": score}), {"margin": 0.1}),
        (inference.permutation_test, (loss, score, score[:9]), {}),
        (inference.permutation_test, (loss, score, score), {"n_permutations": 0}),
        (inference.wilcoxon_over_resamples, ([1.0, 2.0],), {}),
        (inference.letter_groups, ([[0, 1], [0, 0]],), {}),
        (inference.letter_groups, ([[1]],), {}),
        (abstain.ranking_study, (loss, two), {"n_resamples": 10}),
        (abstain.compare, (loss, {"a": score}), {}),
        (abstain.compare, (loss, {"a": score, "b": score[:4]}), {}),
        (abstain.compare, (loss, two), {"adjust": "other"}),
        (abstain.compare, (loss, two), {"method": "other"}),
        (abstain.compare, (loss, two), {"level": 0.0}),
        (abstain.compare, ({"a": loss}, two), {}),
        (abstain.compare, (loss, {"a": [score, score], "b": [score] * 3}), {"paired_runs": True}),
    )
    return [refusal(call, *values, **options) for call, values, options in wrong]


def refusals_of_results():
    """Return what evaluations, gates, selections and curves refuse."""
    loss, score = np.arange(30) % 3 // 2 * 1.0, np.sqrt((7.0 * np.arange(30)) % 30)
    evaluation = abstain.evaluate(loss=loss, confidence=score, metrics=["augrc", "risk"])
    curve = abstain.risk_coverage_curve(loss, score)
    outputs = abstain.Outputs(loss=loss, confidence=score)
    wrong = (
        (abstain.evaluate, (outputs,), {"level": 95}),
        (abstain.evaluate, (outputs,), {"n_resamples": 1}),
        (abstain.evaluate, (outputs,), {"nan_policy": "ignore"}),
        (abstain.evaluate, (outputs,), {"metrics": []}),
        (abstain.evaluate, (outputs,), {"metrics": "augcr"}),
        (abstain.evaluate, (outputs,), {"metrics": "nll"}),
        (abstain.evaluate, (outputs,), {"scores": "msp"}),
        (abstain.evaluate, (outputs,), {"groups": "site"}),
        (abstain.evaluate, (outputs,), {"target": "population"}),
        (abstain.evaluate, (outputs,), {"unseen": "low"}),
        (abstain.evaluate, (outputs,), {"plan": 3}),
        (abstain.evaluate, (outputs,), {"labelled": "all"}),
        (abstain.evaluate, (), {"loss": [np.nan, 0.0], "confidence": [0.1, 0.2]}),
        (abstain.evaluate, ({},), {}),
        (abstain.gate, (evaluation, "augrc>=0.1"), {}),
        (abstain.gate, (evaluation, "augrc<=x"), {}),
        (abstain.gate, (evaluation, "augrc"), {}),
        (abstain.gate, (evaluation, []), {}),
        (abstain.gate, (evaluation, "aurc<=0.1"), {}),
        (abstain.gate, (evaluation, "augrc<=0.1"), {"unclear": "maybe"}),
        (abstain.gate, (evaluation, "augrc"), {"against": evaluation}),
        (abstain.gate, (evaluation, "augrc"), {"against": evaluation, "margin": -0.1}),
        (abstain.gate, (evaluation, "augrc"), {"against": [], "margin": 0.1}),
        (abstain.gate, (evaluation, "augrc"), {"against": {}, "margin": 0.1}),
        (abstain.select, ({"a": (loss, score)},), {"level": 2.0}),
        (abstain.select, ({},), {}),
        (abstain.select, ({"a": {"validation": (loss, score), "test": (loss, score)}, "b": (loss, score)},), {}),
        (abstain.select, ({"a": {"validation": (loss, score)}, "b": (loss, score)}, "nll"), {}),
        (abstain.select, ({"a": (loss, score), "b": (loss[:5], score[:5])},), {}),
        (evaluation.value, ("aurc",), {}),
        (evaluation.curve, ("msp",), {}),
        (curve.at, (), {}),
        (curve.at, (), {"coverage": 1.5}),
        (curve.at, (), {"coverage": 0.5, "risk": 0.1}),
        (curve.at, (), {"risk": -0.5}),
        (curve.at, (), {"threshold": np.nan}),
    )
    return [refusal(call, *values, **options) for call, values, options in wrong]
