"""What the functions of inference refuse: the argument, the value and the remedy are named."""

import numpy as np
import pytest

import abstain
from abstain import inference
from tests.refusal import refused

NAN = np.nan
FOUR, SCORE, N = [0, 1, 0, 1], [5, 6, 7, 8], np.arange(400)
SMOOTH = (N % 10 == 0) * 1.0
PAIR = [0, 1], [1, 2]
TWO = {"a": N % 37, "b": N % 41}
MANY = {"n_resamples": 20}
BOTH = {"kind": "simultaneous"}
BAND = inference.risk_band([0, 1], [1, 2])
STUDY = abstain.ranking_study(SMOOTH, TWO, metrics=["augrc", "aurc"], n_resamples=100)


def interval(**options):
    return abstain.confidence_interval("augrc", [0, 1, 0], [0.3, 0.2, 0.1], **options)


def drawn(metric="aurc", **options):
    return inference.bootstrap(metric, FOUR, SCORE, **options)


def band(**options):
    return inference.risk_band(FOUR, SCORE, **options)


def claim(loss=SMOOTH, scores=TWO, **options):
    return inference.non_inferiority(loss, scores, **{"margin": 0.1, **options})


def size(difference=0.1, **options):
    return inference.samples_for_difference(difference, **options)


def missing(**columns):
    return abstain.standard_error("augrc", [0, 1], [0.1, 0.2], **columns)


@pytest.mark.parametrize(
    ("message", "call", "values", "options"),
    [
        ("errors.*got 2.5", inference.clopper_pearson, (2.5, 4), {}),
        ("got .2.", inference.clopper_pearson, ("2", 4), {}),
        (r"level must be a number in \[0, 1\], got '0.95'", interval, (), {"level": "0.95"}),
        ("n_resamples must be a whole number >= 2, got 2.5", interval, (), {"n_resamples": 2.5, "method": "bca"}),
        ("n_resamples must be a whole number >= 2, got '9'", interval, (), {"n_resamples": "9", "method": "bca"}),
        ("rng='x' is no seed", interval, (), {"rng": "x", "method": "percentile"}),
        ("lengths differ", drawn, (), {"clusters": [1, 1, 2]}),
        (r"clusters\[1\] is missing", drawn, (), {"clusters": [1.0, NAN, 2.0, 2.0]}),
        ("the cluster of sample 0 lies in two strata", drawn, (), {"clusters": [1, 1, 2, 2], "strata": [0, 1, 0, 0]}),
        ("every stratum holds a single sample", drawn, (), {"strata": SCORE}),
        ("every stratum holds a single cluster", missing, (), {"strata": [0, 1], "clusters": [0, 1]}),
        ("brier_score depends on no .* score; .* give it the labels", drawn, ("brier_score",), {}),
        ("oc_auc_classifier takes probabilities, not", drawn, ("oc_auc_classifier",), {}),
        ("confidence scores that are probabilities", drawn, ("ece",), {}),
        ("give a fraction, not per cent", drawn(**MANY).interval, (95,), {}),
        ("BCa needs n_resamples >= 100, got 99", drawn(n_resamples=99).interval, (), {"method": "bca"}),
        (r"\[3, 2\] samples", inference.replicates, (["aurc"], [([0, 1, 0], [1, 2, 3]), PAIR]), {}),
        ("a list of pairs; for a single one give", inference.replicates, (["aurc"], []), {}),
        ("a list of pairs; for a single one give", inference.replicates, (["aurc"], ([0, 1, 0], [1, 2, 3])), {}),
        ("kind='uniform' is not known", band, (), {"kind": "uniform"}),
        ("risk='excess' is not known", band, (), {"risk": "excess"}),
        ('0/1 loss .* method="influence"', band, (), {"method": "clopper-pearson", "sample_weight": [1, 2, 1, 1]}),
        ('use method="multiplier"', band, (), BOTH | {"method": "dkw", "clusters": [1, 2, 1, 1]}),
        ("min_coverage=0.1 belongs to", band, (), BOTH | {"method": "dkw", "min_coverage": 0.1}),
        (r"the largest is 3", inference.risk_band, ([0, 3], [1, 2]), BOTH | {"method": "dkw"}),
        ("threshold is NaN", BAND.at, (NAN,), {}),
        (r"threshold must be a number .* got 'half'", BAND.at, ("half",), {}),
        ("risk must be a number >= 0, got '5 %'", BAND.coverage_at_risk_interval, ("5 %",), {}),
        ("give a fraction, not per cent", BAND.coverage_at_risk_interval, (-1.0,), {}),
        ("auroc_f has no .*: there is no failure", abstain.standard_error, ("auroc_f", [0, 0], [1, 2]), {}),
        ("auroc_f has no .*: there is no failure", inference.influence, ("auroc_f", [0, 0], [1, 2]), {}),
        ("nothing is acc", inference.influence, ("selective_risk(threshold=9)", *PAIR), {}),
        ("no standard error from its gradient", abstain.standard_error, ("coverage_at_risk", *PAIR), {}),
        ("no standard error from its gradient", abstain.standard_error, ("fpr95_error", *PAIR), {}),
        ("no standard error from its gradient", abstain.standard_error, ("aurc_achievable", *PAIR), {}),
        ("no standard error from its gradient", abstain.standard_error, ("mce", [0, 1], [0.1, 0.2]), {}),
        (r"influences\[1\]\[0\] = nan", inference.covariance, ([0.1, -0.1], [NAN, 0.0]), {}),
        ("sample_weight sums to 0", inference.covariance, ([0.1, -0.1],), {"sample_weight": [0.0, 0.0]}),
        ("sample_weight", inference.covariance, ([0.1, -0.1],), {"sample_weight": [2.0, -1.0]}),
        ("at least one", inference.covariance, (), {}),
        (r"clusters\[1\] is masked", missing, (), {"clusters": np.ma.array([1, 2], mask=[False, True])}),
        ("clusters must hold one group per sample", missing, (), {"clusters": [[1], [2]]}),
        ("clusters holds values that cannot be ordered", missing, (), {"clusters": np.array([1, "a"], dtype=object)}),
        ("strata", missing, (), {"strata": [1, 2, 3]}),
        (r"strata\[1\] is miss", missing, (), {"strata": np.array(["2020-01-01", "NaT"], "datetime64[D]")}),
        ("19 errors .* collect more rows", claim, ((N < 19) * 1.0,), {}),
        ("19 errors .* collect more rows", claim, ((N < 381) * 1.0,), {}),
        ("claim='superior' is not known", claim, (), {"claim": "superior"}),
        ("one lies in several groups", inference.compare_groups, (SMOOTH, N, N % 2), {"clusters": N // 4}),
        ("n_permutations must be", abstain.compare, (SMOOTH, TWO), {"method": "permutation", "n_permutations": 0}),
        ("one run per score", inference.permutation_test, ([0, 1], [[1, 2], [2, 1]], [[1, 2], [2, 1]]), {}),
        (r"scores\['b'\]: 3", inference.permutation_test, (*PAIR, [2, 1, 0]), {}),
        ("must be a number other than 0, got '0.1'; give the smallest", size, ("0.1",), {"sd": 1.0}),
        ("difference=1e-300 is out of reach of any sample; give", size, (1e-300,), {"sd": 0.1}),
        ("difference=0.1 is out of reach", size, (), {"sd": 1e300}),
        ("either sd=", size, (), {"sd": 1.0, "pilot": ([0], [1], [2])}),
        ("sd must be a number > 0, got '1'", size, (), {"sd": "1"}),
        ("needs no data", size, (), {"sd": 1.0, "power": 0.04}),
        ("level must lie inside", size, (), {"sd": 1.0, "level": 1.0}),
        ("agree on every sample", size, (), {"pilot": (*PAIR, [1, 2])}),
        ("pilot must be a tuple", size, (), {"pilot": PAIR}),
        ("no influence function", size, (), {"pilot": (*PAIR, [2, 1]), "metric": "fpr95_error"}),
        ("width must be a number > 0", inference.samples_for_width, ("x", PAIR), {}),
        ("pilot must be a tuple", inference.samples_for_width, (0.1, [0, 1, 1]), {}),
        ("no influence function", inference.samples_for_width, (0.1, PAIR, "fpr95_error"), {}),
        ("auroc_f is undefined", inference.samples_for_width, (0.1, ([0, 0], [1, 2]), "auroc_f"), {}),
        ("out of reach of any sample", inference.samples_for_width, (2.5e-8, (SMOOTH, N)), {}),
        ("metrics is empty", abstain.ranking_study, (SMOOTH, TWO), {"metrics": ()}),
        ("did you mean", abstain.ranking_study, (SMOOTH, TWO), {"metrics": "augr"}),
        ("single metric", abstain.ranking_study(SMOOTH, TWO, metrics="risk", n_resamples=100).kendall, (), {}),
        ("no ranking by 'risk'", STUDY.kendall, ("risk", "aurc"), {}),
        ("did you mean 'b'", STUDY.rankings["aurc"].of, ("bb",), {}),
        ("a ranking needs at least two", inference.kendall_tau, ([1], [1]), {}),
        (r"other holds NaN: other\[1\]", inference.kendall_tau, ([1, 2], [1, NAN]), {}),
        ("one must be numeric", inference.kendall_tau, (["a", "b"], [1, 2]), {}),
        (r"symmetric matrix, got shape \(1, 2\)", inference.letter_groups, ([[0, 1]],), {}),
        (r"p_values is outside \[0, 1\]: p_values\[1\] = nan", inference.holm, ([0.1, NAN],), {}),
        (
            r"replicates\[2\] is not finite \(1 such",
            inference.wilcoxon_over_resamples,
            ([[1, 2], [2, 1], [NAN, 1]],),
            {},
        ),
        ("replicates must have shape", inference.wilcoxon_over_resamples, ([[1.0, 2.0]],), {}),
        ("p_values must be numeric", inference.holm, (["a"],), {}),
        ("p_values must be one-dimensional", inference.holm, ([[0.1]],), {}),
    ],
)
def test_bad_input_is_refused_with_a_remedy(message, call, values, options):
    refused((ValueError, TypeError, KeyError), message, call, *values, **options)


@pytest.mark.parametrize("metric", ["classwise_ece", "oc_auc_classifier", "auroc_accepted_area"])
@pytest.mark.parametrize(
    "function",
    [
        abstain.confidence_interval,
        abstain.standard_error,
        inference.bootstrap,
        lambda metric, loss, score: inference.permutation_test(loss, score, score, metric),
    ],
)
def test_metrics_of_probabilities_are_refused_by_name(function, metric):
    refused(abstain.UnmetNeed, f"{metric} takes probabilities", function, metric, [0, 1, 0], [0.3, 0.2, 0.1])


@pytest.mark.parametrize(
    "call", [abstain.confidence_interval, inference.bootstrap, lambda m, a, b: inference.replicates([m], [(a, b)]),
             lambda m, a, b: inference.risk_band(a, b), inference.influence, abstain.standard_error],
)  # fmt: skip
def test_missing_scores_are_refused_without_a_policy_that_does_not_exist(call):
    """The remedy is one that these functions have."""
    with pytest.raises(ValueError, match=r"confidence holds NaN.*\[1\].*reject them by -inf") as caught:
        call("augrc", [0, 1, 0], [0.5, NAN, 0.7])
    assert "nan_policy" not in str(caught.value)


@pytest.mark.parametrize("errors", [0, 1, 3])
def test_a_pilot_that_says_nothing_is_refused(errors):
    rng = np.random.default_rng(6)
    loss, a, b = (np.arange(60) < errors).astype(float), rng.random(60), rng.random(60)
    said = r"pilot: .*(degrees of freedom, too few informative errors|agree on every)"
    refused(ValueError, said, size, pilot=(loss, a, b))
    refused(ValueError, said, inference.detectable_difference, 1000, pilot=(loss, a, b))
    said = "degrees of freedom, too few informative errors to plan from"
    refused(ValueError, said, inference.samples_for_width, 0.02, (loss, a))
