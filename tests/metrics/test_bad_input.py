"""Bad arguments of the metrics, and inputs for which a value is undefined: NaN with a warning that says why."""

import numpy as np
import pytest

import abstain
from abstain import UndefinedMetricWarning, UnmetNeed, metrics

L, G = [0, 1, 0], [0.9, 0.8, 0.7]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: abstain.aurc(L, G, estimator="plug-in"), ValueError, r"estimator='plug-in'.*did you mean 'plugin'"),
        (lambda: abstain.e_aurc(L, G, estimator="xyz"), ValueError, r"known: harmonic, interpolated, log, plugin"),
        (lambda: abstain.aurc(L, G, coverage_range=(0.5, 0.5)), ValueError, r"coverage_range must increase"),
        (lambda: abstain.aurc(L, G, coverage_range=(0.7, 0.2)), ValueError, r"must increase, got \(0.7, 0.2\)"),
        (lambda: abstain.augrc(L, G, coverage_range=(0, 50)), ValueError, r"coverage_range\[1\].*not per cent"),
        (lambda: abstain.augrc(L, G, coverage_range=(-0.1, 1)), ValueError, r"coverage_range\[0\] must lie in \[0, "),
        (lambda: abstain.augrc(L, G, coverage_range=(float("nan"), 1)), ValueError, r"coverage_range\[0\]"),
        (lambda: abstain.augrc(L, G, coverage_range=0.5), TypeError, r"must be a pair \(low, high\), got 0.5"),
        (lambda: abstain.aurc(L, G, estimator="log", coverage_range=(0, 0.5)), UnmetNeed, r"no partial area"),
        (lambda: abstain.cwsa(L, G, threshold=1.0), ValueError, r"threshold must lie in \[0, 1\), got 1.0"),
        (lambda: abstain.cwsa(L, G, threshold=-0.1), ValueError, r"threshold must lie in \[0, 1\)"),
        (lambda: abstain.cwsa(L, G, threshold=float("nan")), ValueError, r"threshold must lie in \[0, 1\), got nan"),
        (lambda: abstain.cwsa_plus(L, G, threshold="high"), TypeError, r"threshold must be a number"),
        (lambda: abstain.cwsa(L, G, denominator="each"), ValueError, r"denominator='each'.*known: accepted, all"),
        (lambda: abstain.cwsa_sweep(L, G, [0.5, 1.0]), ValueError, r"thresholds must lie in \[0, 1\)"),
        (lambda: abstain.cwsa_sweep(L, G, denominator="each"), ValueError, r"denominator='each'"),
        (lambda: abstain.cwsa_sweep([0, 2, 0], G), UnmetNeed, r"losses in \[0, 1\], but the largest is 2"),
        (lambda: abstain.cwsa_sweep(L, [0.5, 2.0, 0.1]), UnmetNeed, r"they span \[0.1, 2\]"),
        (lambda: abstain.cwsa_sweep(L, [0.5, np.nan, 0.1]), ValueError, r"confidence"),
        (lambda: abstain.aumcc(L, G, metric="aurc"), ValueError, r"metric='aurc'"),
        (lambda: abstain.aumcc(L, G, method="paper"), ValueError, r"method='paper'.*exact.*grid"),
        (lambda: abstain.aumcc(L, G, grid="paper"), TypeError, r"argument 'grid'.*it takes loss, .*method"),
        (lambda: abstain.ece(L, G, bins=0), ValueError, r"bins must be a whole number >= 1, got 0"),
        (lambda: abstain.ece(L, G, bins=2.5), ValueError, r"bins must be a whole number >= 1, got 2.5"),
        (lambda: abstain.ece(L, G, bins=True), ValueError, r"bins must be a whole number"),
        (lambda: abstain.mce(L, G, binning="quantile"), ValueError, r"binning='quantile'.*equal_mass, equal_width"),
        (lambda: abstain.fpr95_success(L, G, recall=95), ValueError, r"recall must lie in \[0, 1\].*not per cent"),
        (lambda: abstain.nll_confidence(L, G, clip=-1.0), ValueError, r"clip must lie in \[0, 1\)"),
        (lambda: abstain.oc_auc(L, G, review_fraction=5), ValueError, r"review_fraction must lie in \[0, 1\]"),
        (lambda: abstain.oc_auc(L, G, curve="precision"), ValueError, r"curve='precision'"),
        (lambda: abstain.selective_risk(L, G), TypeError, r"exactly one of coverage= and threshold=, got None"),
        (lambda: abstain.selective_risk(L, G, coverage=0.5, threshold=0.5), TypeError, r"exactly one"),
        (lambda: abstain.generalized_risk(L, G, coverage=80), ValueError, r"coverage must lie in \[0, 1\].*per cent"),
        (lambda: abstain.selective_accuracy(L, G, threshold=float("nan")), ValueError, r"threshold is NaN"),
        (lambda: abstain.coverage_at_risk(L, G, risk=-0.1), ValueError, r"risk must be a finite number >= 0"),
        (lambda: abstain.coverage_at_risk(L, G, risk=float("nan")), ValueError, r"risk must be a finite number >= 0"),
        (lambda: abstain.augrc_from_auroc(75, 0.8), ValueError, r"accuracy must lie in \[0, 1\]"),
        (lambda: abstain.augrc_from_auroc(0.7, 1.8), ValueError, r"auroc_f must lie in \[0, 1\]"),
        (lambda: abstain.f1_auc_optimal(-0.1), ValueError, r"accuracy must lie in \[0, 1\]"),
        (lambda: abstain.rank_weights(0), ValueError, r"n must be a whole number >= 1, got 0"),
        (lambda: abstain.rank_weights(2.5), ValueError, r"n must be a whole number >= 1"),
        (lambda: abstain.rank_weights(3, "harmonics"), ValueError, r"did you mean 'harmonic'"),
        (lambda: abstain.rank_weight_bias(3, [1.0]), ValueError, r"beta must lie in \[0, 1\)"),
        (lambda: abstain.rank_weight_mse(3, [4]), ValueError, r"rank must hold whole numbers from 1 to n = 3"),
        (lambda: abstain.risk(None), TypeError, r"loss is missing"),
        (lambda: abstain.aurc_optimal(None), TypeError, r"loss is missing"),
        (lambda: abstain.augrc(L, G[:2]), ValueError, r"lengths differ \(loss: 3, confidence: 2\)"),
        (lambda: abstain.augrc([0, -1, 0], G), ValueError, r"loss is negative: loss\[1\] = -1.0"),
        (lambda: abstain.augrc([0, np.inf, 0], G), ValueError, r"loss is not finite: loss\[1\]"),
        (lambda: abstain.augrc([0, np.nan, 0], G), ValueError, r"loss holds NaN: loss\[1\]"),
        (lambda: abstain.augrc(L, [1, np.nan, 0]), ValueError, r"confidence holds NaN.*nan_policy"),
        (lambda: abstain.augrc([], []), ValueError, r"loss is empty"),
        (lambda: abstain.augrc([0, 1e200, 0], G), ValueError, r"loss is above 1e\+75.*loss\[1\] = 1e\+200.*rescale"),
        (lambda: abstain.augrc(L, [1, 10**400, 0]), ValueError, r"confidence holds a whole number beyond.*rescale"),
        (lambda: abstain.augrc(L, G, sample_weight=[1e200] * 3), ValueError, r"sample_weight is above 1e\+75.*rescale"),
        (lambda: abstain.augrc(L, G, sample_weight=[1e-200] * 3), ValueError, r"sample_weight sums to 3e-200.*rescale"),
        (lambda: abstain.coverage_at_risk(L, G, risk="low"), TypeError, r"risk must be a number in \[0, 1\]"),
        (lambda: abstain.selective_risk(L, G, coverage="0.5"), TypeError, r"coverage must be a number.*got '0.5'"),
        (lambda: abstain.brier_score([0, 2], [[0.5, 0.5]] * 2), ValueError, r"labels is out of range: labels\[1\] = 2"),
        (lambda: abstain.nll([0], [[2.0, -1.0]]), ValueError, r"probabilities is outside \[0, 1\]: .*\[0, 0\]"),
        (lambda: abstain.nll([0], [[0.5, 0.4]]), ValueError, r"probabilities must sum to 1"),
        (lambda: abstain.nll([0], [0.5]), ValueError, r"shape \(n_samples, n_classes\)"),
        (lambda: abstain.oc_auc_classifier([0, 1], [[0.2, 0.3, 0.5]] * 2), UnmetNeed, r"two classes"),
        (lambda: abstain.auroc_accepted_area([0, 1], [[0.5, 0.5]] * 2, [0.5, np.nan]), ValueError, r"confidence.*NaN"),
        (lambda: abstain.macro_selective_risk(L, G, [0, np.nan, 1], coverage=1), ValueError, r"labels\[1\] = nan"),
        (lambda: abstain.macro_selective_risk(L, G, ["a", None, "b"], coverage=1), ValueError, r"labels\[1\] = None"),
        (lambda: metrics.get("augrc_unbiased").of(L, G, [0.5, 1, 1]), UnmetNeed, r"fractions; use augrc for weights"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(call, error, message):
    """The message names argument, value and remedy."""
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: abstain.auroc_f([0, 0], [0.9, 0.8]), "auroc_f is undefined: there is no failure to detect"),
        (lambda: abstain.auroc_f([1, 1], [0.9, 0.8]), "there is no correct prediction to accept: every loss is 1"),
        (lambda: abstain.fpr95_success([0, 0], [0.9, 0.8]), "there is no failure to detect: every loss is 0"),
        (lambda: abstain.fpr95_error([0, 0], [0.9, 0.8]), "there is no failure to detect: every loss is 0"),
        (lambda: abstain.fpr95_error([1, 1], [0.9, 0.8]), "there is no correct prediction to accept: every loss is 1"),
        (lambda: abstain.average_precision_error([0, 0], [0.9, 0.8]), "there is no positive"),
        (lambda: abstain.average_precision_success([1, 1], [0.9, 0.8]), "there is no positive"),
        (lambda: abstain.aupr_error([0, 0], [0.9, 0.8]), "there is no positive"),
        (lambda: abstain.naurc([0.5, 0.5], [0.9, 0.8]), "all losses are equal"),
        (lambda: abstain.naugrc([0, 0], [0.9, 0.8]), "all losses are equal"),
        (lambda: abstain.prediction_rejection_ratio([1, 1], [0.9, 0.8]), "all losses are equal"),
        (lambda: abstain.augrc_unbiased([1], [0.9]), "at least two samples"),
        (lambda: abstain.selective_risk(L, G, threshold=0.95), "nothing is accepted"),
        (lambda: abstain.selective_accuracy(L, G, coverage=0.0), "nothing is accepted"),
        (lambda: abstain.coverage_at_risk([1, 0, 0], G, risk=0.1), "the lowest attainable is 0.333333"),
        (lambda: abstain.oc_auc([0, 0, 1], G, review_fraction=0.5), "there is no failure to detect"),
        (lambda: abstain.auroc_accepted_area([1, 1], [[0.4, 0.6]] * 2), "only one class occurs"),
        (lambda: abstain.macro_selective_risk(L, G, [0, 1, 1], threshold=0.85), "nothing of class"),
    ],
)  # fmt: skip
def test_undefined_values_are_nan_with_the_reason(call, reason):
    """NaN comes with a warning that says why, and points at the caller's line."""
    with pytest.warns(UndefinedMetricWarning, match=reason) as caught:
        assert np.isnan(call())
    assert caught[0].filename == __file__


@pytest.mark.parametrize("scores", [[0.9, 0.8, 0.7, 0.6], [0.5] * 4, [np.inf, 1.0, 0.0, -np.inf]])
def test_all_correct_and_all_wrong(scores):
    """All correct: every area and excess is exactly 0. All wrong: AURC 1, AUGRC 1/2, no excess."""
    right, wrong = [0.0] * 4, [1.0] * 4
    for estimator in ("plugin", "interpolated", "trapezoid", "harmonic", "log"):
        assert abstain.aurc(right, scores, estimator=estimator) == 0.0
        assert abstain.e_aurc(right, scores, estimator=estimator) == 0.0
        if estimator != "log":  # its weights sum to less than 1, Eq. 19
            assert abstain.aurc(wrong, scores, estimator=estimator) == pytest.approx(1.0, rel=1e-14)
        assert abstain.e_aurc(wrong, scores, estimator=estimator) == pytest.approx(0.0, abs=1e-14)
    assert abstain.aurc(wrong, scores, estimator="log") < 1.0
    assert [each(right, scores) for each in (abstain.augrc, abstain.e_augrc, abstain.augrc_unbiased)] == [0.0] * 3
    assert abstain.augrc(wrong, scores) == abstain.augrc_unbiased(wrong, scores) == 0.5
    assert abstain.f1_auc(wrong, scores) == 0.0
    assert not np.signbit(abstain.aurc(right, scores))


def test_a_constant_score_is_random_ranking():
    """AURC = mean loss, AUGRC = half of it, AUROC_f = 1/2, normalised areas 1."""
    loss, score = [0, 1, 0, 0], [0.5] * 4
    for estimator in ("plugin", "interpolated", "trapezoid", "harmonic"):
        assert abstain.aurc(loss, score, estimator=estimator) == pytest.approx(0.25, rel=1e-14)
    assert abstain.augrc(loss, score) == 0.125
    assert abstain.auroc_f(loss, score) == 0.5
    assert abstain.naurc(loss, score) == pytest.approx(1.0, rel=1e-14)
    assert abstain.naugrc(loss, score) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("bins", [5, 6, 7, 9, 10, 12, 14, 15, 20])
def test_bin_edges_are_right_closed(bins):
    """A confidence of exactly k/bins lies in bin k, which linspace gets wrong for 5/6 (its edge is one ulp lower)."""
    for k in range(1, bins):
        middle = (k - 0.5) / bins
        both = abstain.reliability_curve([0, 0], [k / bins, middle], bins=bins)
        next_up = abstain.reliability_curve([0, 0], [k / bins * (1.0 + 1e-7), middle], bins=bins)
        assert (both.n_bins, next_up.n_bins) == (1, 2)


def test_equal_mass_bins_put_exact_borders_up_whatever_the_counts():
    """A tie whose mid-rank is exactly on a border goes to the upper bin, for 1 and for 3 copies of each row."""
    for copies in (1, 3, 7):
        score = np.repeat([0.1, 0.2, 0.2, 0.3], copies)
        curve = abstain.reliability_curve(np.zeros(score.size), score, bins=2, binning="equal_mass")
        np.testing.assert_array_equal(curve.count, [copies, 3 * copies])
    assert curve.bins == curve.n_bins == 2
