"""Bad arguments of the metrics, and inputs for which a value is undefined: NaN with a warning that says why."""

import numpy as np
import pytest

import abstain
from abstain import UndefinedMetricWarning, UnmetNeed, metrics
from tests.refusal import refused

L, G = [0, 1, 0], [0.9, 0.8, 0.7]
MASKED = np.ma.masked_equal([1, 9, 2], 9)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("aurc", {"estimator": "plug-in"}, r"estimator='plug-in'.*did you mean 'plugin'"),
        ("aurc", {"coverage_range": (0.7, 0.2)}, r"coverage_range must increase, got \(0.7, 0.2\)"),
        ("augrc", {"coverage_range": (0, 50)}, r"coverage_range\[1\].*not per cent"),
        ("augrc", {"coverage_range": (np.nan, 1)}, r"coverage_range\[0\]"),
        ("augrc", {"coverage_range": 0.5}, r"must be a pair \(low, high\), got 0.5"),
        ("aurc", {"estimator": "log", "coverage_range": (0, 0.5)}, r"no partial area"),
        ("cwsa", {"threshold": np.nan}, r"threshold must lie in \[0, 1\), got nan"),
        ("cwsa", {"trust": 3}, r"trust must be a function of \(confidence, threshold\), got 3"),
        ("cwsa", {"trust": float}, r"trust must be a function"),
        ("cwsa_plus", {"threshold": "high"}, r"threshold must be a number"),
        ("cwsa_sweep", {"thresholds": [0.5, 1.0]}, r"thresholds must lie in \[0, 1\)"),
        ("cwsa_sweep", {"denominator": "each"}, r"denominator='each'.*known: accepted, all"),
        ("cwsa_sweep", {"confidence": [0.5, np.nan, 0.1]}, r"confidence"),
        ("cwsa_sweep", {"confidence": [0.5, 2.0, 0.1]}, r"they span \[0.1, 2\]"),
        ("aumcc", {"method": "paper"}, r"method='paper'.*exact.*grid"),
        ("aumcc", {"grid": "paper"}, r"argument 'grid'.*it takes loss, .*method"),
        ("ece", {"bins": True}, r"bins must be a whole number >= 1"),
        ("ece", {"bins": 10**6 + 1}, "bins must be at most 1000000, got 1000001; 15 is usual"),
        ("oc_auc", {"curve": "precision"}, r"curve='precision'"),
        ("selective_risk", {}, r"exactly one of coverage= and threshold=, got None"),
        ("selective_risk", {"coverage": 0.5, "threshold": 0.5}, r"exactly one"),
        ("selective_risk", {"coverage": "0.5"}, r"coverage must be a number.*got '0.5'"),
        ("generalized_risk", {"coverage": 80}, r"coverage must lie in \[0, 1\].*per cent"),
        ("coverage_at_risk", {"risk": 2}, r"risk must lie in \[0, 1\] for a 0/1 loss, got 2"),
        ("sele", {"factor": np.nan}, "factor"),
        ("risk", {"loss": None}, r"loss is missing"),
        ("augrc", {"confidence": G[:2]}, r"lengths differ \(loss: 3, confidence: 2\)"),
        ("augrc", {"loss": [0, np.inf, 0]}, r"loss is not finite: loss\[1\]"),
        ("augrc", {"loss": [0, 1e200, 0]}, r"loss is above 1e\+75.*loss\[1\] = 1e\+200.*rescale"),
        ("augrc", {"confidence": [1, 10**400, 0]}, r"confidence holds a whole number beyond.*rescale"),
        ("augrc", {"sample_weight": [1e-200] * 3}, r"sample_weight sums to 3e-200.*rescale"),
        ("macro_selective_risk", {"labels": [0, np.nan, 1], "coverage": 1}, r"labels\[1\] = nan"),
        ("macro_selective_risk", {"labels": ["a", None, "b"], "coverage": 1}, r"labels\[1\] = None"),
        ("macro_selective_risk", {"labels": [0], "coverage": 1}, r"lengths differ \(loss: 3, labels: 1\)"),
        ("contributions", {"metric": "auroc_f"}, "auroc_f is no sum over samples; contributions exist for .*augrc, se"),
        ("contributions", {"metric": "augcr"}, "did you mean 'augrc'"),
        ("contributions", {"metric": "augrc", "nan_policy": "drop"}, "would lose samples"),
        ("standard_error", {"metric": "augrc", "clusters": MASKED}, r"clusters\[1\] is masked"),
        ("standard_error", {"metric": "augrc", "strata": MASKED}, r"strata\[1\] is masked"),
    ],
)  # fmt: skip
def test_bad_arguments_of_columns_are_named(name, options, message):
    """The message names argument, value and remedy."""
    columns = {"loss": L} if name == "risk" else {"loss": L, "confidence": G}
    refused((ValueError, TypeError), message, getattr(abstain, name), **columns | options)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("augrc_from_auroc", (0.7, 1.8), r"auroc_f must lie in \[0, 1\]"),
        ("augrc_from_auroc", (75, 0.8), r"accuracy must lie in \[0, 1\]"),
        ("f1_auc_optimal", (-0.1,), r"accuracy must lie in \[0, 1\]"),
        ("rank_weights", (2.5,), r"n must be a whole number >= 1"),
        ("rank_weights", (3, "harmonics"), r"did you mean 'harmonic'"),
        ("rank_weight_bias", (3, [1.0]), r"beta must lie in \[0, 1\)"),
        ("rank_weight_bias", (3, [-0.1]), r"beta must lie in \[0, 1\)"),
        *[("rank_weight_mse", (3, [r]), r"rank must hold whole numbers from 1 to n = 3") for r in (0, 1.5, 4)],
        ("brier_score", ([0, 2], [[0.5, 0.5]] * 2), r"labels is out of range: labels\[1\] = 2.* 0 .. 1"),
        ("nll", ([0], [[2.0, -1.0]]), r"probabilities is outside \[0, 1\]: .*\[0, 0\]"),
        ("nll", ([0], [0.5]), r"shape \(n_samples, n_classes\)"),
        ("oc_auc_classifier", ([0, 1], [[0.2, 0.3, 0.5]] * 2), r"two classes, but probabilities have 3 columns"),
        ("auroc_accepted_area", ([0, 1], [[0.5, 0.5]] * 2, [0.5, np.nan]), r"confidence.*NaN"),
        ("prevalence_weights", ([0, 1], {0: 0.5, 1: 0.3, 2: 0.2}), "asks for class 2, but no sample has it"),
        ("prevalence_weights", ([0, 1], {0: 1.0}), "names no share for class 1; give 0"),
        ("prevalence_weights", ([0, 1], {0: -0.5, 1: 1.5}), "must be a finite number >= 0"),
        ("prevalence_weights", ([0, 1], {0: 0.0, 1: 0.0}), "prevalence sums to 0"),
        ("prevalence_weights", ([0, 1], "balance"), 'must be "balanced" or a mapping'),
        ("prevalence_weights", ([],), "one label per sample"),
        ("prevalence_weights", ([[0, 1]],), "one label per sample"),
        ("prevalence_weights", ([0.0, 1.0, np.nan],), r"labels\[2\] is missing"),
        ("prevalence_weights", (MASKED,), r"labels\[1\] is missing"),
    ],
)  # fmt: skip
def test_bad_arguments_of_others_are_named(name, values, message):
    """Of functions of numbers, of class probabilities and of labels."""
    refused((ValueError, TypeError), message, getattr(abstain, name), *values)


def test_fractions_as_weights_are_refused_where_rows_are_counted():
    """The remedy is named; losses above 1 are not averaged away by a tie, nor by a function without a score."""
    refused(UnmetNeed, "fractions; use augrc for weights", metrics.get("augrc_unbiased").of, L, G, [0.5, 1, 1])
    refused(UnmetNeed, "accuracy needs losses", abstain.accuracy, [0.0, 1.5])
    refused(UnmetNeed, "needs losses", abstain.reliability_curve, [0.0, 1.5], [0.5, 0.5])
    refused(UnmetNeed, "largest is at least 1.5", abstain.contributions, "cwsa", [0.0, 1.5], [0.9, 0.9])
    refused(UnmetNeed, "but the largest is 2; rescale them", abstain.cwsa_sweep, [0, 2, 0], G)


TWO, NONE, ALL = [0.9, 0.8], [0, 0], [1, 1]


@pytest.mark.parametrize(
    ("name", "values", "options", "reason"),
    [
        *[(name, (NONE, TWO), {}, f"{name} is undefined: there is no failure to detect: every loss is 0")
          for name in ("auroc_f", "fpr95_success", "fpr95_error")],
        *[(name, (ALL, TWO), {}, f"{name} is undefined: there is no correct prediction to accept: every loss is 1")
          for name in ("auroc_f", "fpr95_success", "fpr95_error")],
        *[(name, (NONE if "error" in name else ALL, TWO), {}, "there is no positive") for name in
          ("average_precision_error", "average_precision_success", "aupr_error", "aupr_success")],
        *[(name, ([loss] * 2, TWO), {}, "all losses are equal") for name, loss in
          (("naurc", 0.5), ("naugrc", 0), ("prediction_rejection_ratio", 1))],
        ("augrc_unbiased", ([1], [0.9]), {}, "at least two samples"),
        ("selective_risk", (L, G), {"threshold": 0.95}, "nothing is accepted"),
        ("selective_accuracy", (L, G), {"coverage": 0.0}, "nothing is accepted"),
        ("coverage_at_risk", ([1, 0, 0], G), {"risk": 0.1}, "the lowest attainable is 0.333333"),
        ("oc_auc", ([0, 0, 1], G), {"review_fraction": 0.5}, "there is no failure to detect"),
        ("auroc_accepted_area", (ALL, [[0.4, 0.6]] * 2), {}, "only one class occurs"),
        ("macro_selective_risk", (L, G, [0, 1, 1]), {"threshold": 0.85}, "nothing of class"),
    ],
)  # fmt: skip
def test_undefined_values_are_nan_with_the_reason(name, values, options, reason):
    """NaN comes with a warning that says why, and points at the caller's line."""
    with pytest.warns(UndefinedMetricWarning, match=reason) as caught:
        assert np.isnan(getattr(abstain, name)(*values, **options))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("copies", [1, 3, 7])
def test_equal_mass_bins_put_exact_borders_up_whatever_the_counts(copies):
    """A tie whose mid-rank is exactly on a border goes to the upper bin, for 1 and for more copies of each row."""
    score = np.repeat([0.1, 0.2, 0.2, 0.3], copies)
    curve = abstain.reliability_curve(np.zeros(score.size), score, bins=2, binning="equal_mass")
    assert (curve.count.tolist(), curve.bins, curve.n_bins) == ([copies, 3 * copies], 2, 2)
    last = {"sample_weight": [1e-18, copies], "bins": 2, "binning": "equal_mass"}
    assert abstain.reliability_curve([0, 1], [0.9, 0.8], **last).n_bins == 1  # nothing lies above the last bin
    assert abstain.ece([0, 1], [0.9, 0.8], bins=10**6) == abstain.ece([0, 1], [0.9, 0.8], bins=15)
