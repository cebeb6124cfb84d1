"""The registry: names, identifiers and specs that results carry and that must not drift; ranges; needs."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import abstain
from abstain import TieBlocks, UnmetNeed, metrics
from abstain.metrics import Predictions
from tests.metrics.references_values import CASES
from tests.refusal import refused

#: Results and saved studies carry these: change one only with a new convention.
IDENTIFIERS = {
    "augrc": "trapezoid", "augrc_unbiased": "u-statistic", "sele": "max-rank", "aurc": "plugin",
    "accuracy_rejection_area": "plugin", "auroc_accepted_area": "step", "ece": "equal_width", "mce": "equal_width",
    "classwise_ece": "equal_width", "oc_auc": "roc", "oc_auc_classifier": "roc", "auroc_f": "mid-rank",
    "fpr95_success": "attainable", "fpr95_error": "attainable", "aurc_achievable": "lower-hull",
    "augrc_achievable": "lower-hull", "e_aurc": "plugin", "e_augrc": "trapezoid", "naurc": "plugin",
    "naugrc": "trapezoid", "accuracy": "full-coverage", "risk": "full-coverage", "selective_risk": "attainable",
    "selective_accuracy": "attainable", "generalized_risk": "attainable", "coverage_at_risk": "attainable",
    "average_precision_success": "step", "average_precision_error": "step", "aupr_success": "trapezoid",
    "aupr_error": "trapezoid", "brier_confidence": "mean", "nll_confidence": "mean",
    "brier_score": "sum-over-classes", "nll": "mean", "f1_auc": "interpolated",
    "prediction_rejection_ratio": "trapezoid", "cwsa": "accepted", "cwsa_plus": "accepted", "aumcc": "exact",
}  # fmt: skip
ALL = [metrics.get(name) for name in metrics.names("blocks", "probabilities")]


def test_identifiers_are_stable():
    """Every metric that was released carries its golden identifier, name/convention; new ones join at a release."""
    found = {metric.name: metric.identifier for metric in ALL if metric.name in IDENTIFIERS}
    assert found == {name: f"{name}/{convention}" for name, convention in IDENTIFIERS.items()}


def test_identifiers_follow_the_option_that_names_the_convention():
    """An estimator, a binning, a denominator or a method changes the identifier; a threshold does not."""
    assert metrics.get("aurc", estimator="harmonic").identifier == "aurc/harmonic"
    assert metrics.get("ece", binning="equal_mass").identifier == "ece/equal_mass"
    assert metrics.get("cwsa", denominator="all").identifier == "cwsa/all"
    assert metrics.get("aumcc", method="grid").identifier == "aumcc/grid"
    assert metrics.get("cwsa", threshold=0.7).identifier == "cwsa/accepted"


def test_specs_are_unique_and_say_all_options():
    """No two settings share a spec, and a spec names exactly what differs from the defaults."""
    specs = [metric.spec for metric in {id(metric): metric for metric in CASES}.values()]
    settings = {(metric.name, tuple(metric.options.items())) for metric in CASES}
    assert len(set(specs)) == len(settings)
    half = metrics.get("aurc", estimator="log", coverage_range=(0.0, 0.5))
    assert half.spec == "aurc(estimator=log, coverage_range=(0.0, 0.5))"


def test_equal_settings_have_equal_specs():
    """A default given by hand, options in another order and an option set back leave no trace."""
    assert metrics.get("cwsa", threshold=float("0.5")).spec == "cwsa"
    assert metrics.get("aurc", coverage_range=(0.0, 1.0)).spec == "aurc"
    assert metrics.get("average_precision_error", zero_division=float("nan")).spec == "average_precision_error"
    assert metrics.get("aurc", estimator="harmonic").using(estimator="plugin").identifier == "aurc/plugin"
    one, other = metrics.get("ece", bins=10, binning="equal_mass"), metrics.get("ece", binning="equal_mass", bins=10)
    assert one.spec == other.spec


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_descriptions_are_complete(metric):
    """Direction, range, source, inference, scale and label are stated, and the public function has the same name."""
    assert metric.direction in ("lower", "higher")
    assert metric.range[0] < metric.range[1]
    assert metric.source
    assert metric.inference_kind in ("smooth", "quantile", "bootstrap", "none")
    assert metric.scale in ("log", "logit", "identity")
    assert metric.label
    assert getattr(abstain, metric.name) is metric.function


@pytest.mark.parametrize(("name", "worst"), [("e_aurc", -0.45), ("naurc", -9.8)])
def test_range_holds_at_the_worst_case_of_the_trapezoid(name, worst):
    """Few right ones, all above many wrong ones: the mixed optimum of fd-shifts is far above the curve."""
    metric = metrics.get(name, estimator="trapezoid")
    for n_wrong in (99, 10**6):
        value = metric(TieBlocks.from_samples([0.0] + [1.0] * n_wrong, [1.0] + [0.0] * n_wrong, oracle=True))
        assert metric.range[0] <= value < worst


# ---------------------------------------------------------------------- needs and bad input


def test_unknown_names_list_near_ones():
    """A misspelt metric or option is named with what exists."""
    refused(ValueError, r"metric 'augrcc' is not known; did you mean 'augrc'", metrics.get, "augrcc")
    for printed in ("AUGRC", "e-AUGRC", "Coverage at risk"):
        named = printed.lower().replace(" ", "_").replace("-", "_")
        refused(ValueError, f"did you mean '{named}'", metrics.get, printed)
    with pytest.raises(TypeError, match=r"aurc has no option 'estimators'; its options: estimator='plugin', cov"):
        metrics.get("aurc", estimators="log")
    refused(TypeError, r"auroc_f has no option 'x'; its options: none", metrics.get, "auroc_f", x=1)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_the_wrong_kind_of_input_is_named(metric):
    """A table for a metric of probabilities, or the reverse, says what it takes and how to call it on samples."""
    blocks = TieBlocks.from_samples([0, 1], [0.9, 0.8], oracle=True)
    predictions = Predictions(np.array([0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    wrong = predictions if metric.input == "blocks" else blocks
    right = blocks if metric.input == "blocks" else predictions
    refused(TypeError, rf"{metric.name} takes .* call abstain.{metric.name}\(", metric, wrong)
    assert np.isfinite(metric(right)) or metric.name == "coverage_at_risk"


def test_unmet_needs_are_named_with_their_remedy():
    """Graded losses, scores that are no probabilities, losses above 1: by each metric that needs others."""
    for need, loss, scores, message in (
        ("binary", [0.0, 0.5], [0.9, 0.8], "needs a 0/1 loss.*losses.zero_one"),
        *[("unit_score", [0.0, 1.0], [score, 0.5], "needs confidence scores.*span.*augrc")
          for score in (-0.1, 1.1, np.inf, -np.inf)],
        ("unit_loss", [0.0, 1.5], [0.9, 0.8], r"needs losses in \[0, 1\].*at least 1.5"),
        ("unit_loss", [0.0, 1.5], [0.5, 0.5], r"needs losses in \[0, 1\].*at least 1.5"),  # the mean of a tie is .75
    ):  # fmt: skip
        of = [metric for metric in ALL if need in metric.needs]
        assert len(of) > 3
        for metric in of:
            refused(UnmetNeed, f"{metric.name} {message}", metric.of, loss, scores)


def test_large_losses_are_refused_by_functions_without_a_score():
    """Accuracy sees all samples as one tie, and must not average a loss of 1.5 away."""
    refused(UnmetNeed, "accuracy needs losses", abstain.accuracy, [0.0, 1.5])
    refused(UnmetNeed, "needs losses", abstain.reliability_curve, [0.0, 1.5], [0.5, 0.5])


@pytest.mark.parametrize("metric", [metric for metric in ALL if "oracle" in metric.needs], ids=lambda m: m.name)
def test_optima_name_the_table_they_need(metric):
    """Without the loss-ordered table the remedy is named; a 0/1 loss does without it."""
    with pytest.raises(
        UnmetNeed, match=rf"^{metric.name} needs the [^:]*: give all rows, or build TieBlocks with oracle=True$"
    ):
        metric(TieBlocks.from_samples([0.2, 0.5], [0.9, 0.8]))
    assert np.isfinite(metric(TieBlocks.from_samples([0, 1], [0.9, 0.8])))


@pytest.mark.parametrize("metric", [m for m in CASES if m.options.get("estimator") in ("harmonic", "log")]
                         + [metrics.get("augrc_unbiased")], ids=lambda m: m.spec)  # fmt: skip
def test_estimators_on_counts_refuse_real_weights(metric):
    """Whole-number weights are repetitions; other weights are refused with the estimator that takes them."""
    with pytest.raises(UnmetNeed, match=r"row counts.*fractions; use"):
        metric(TieBlocks.from_samples([0, 1], [0.9, 0.8], [0.5, 1.0], oracle=True))
    assert np.isfinite(metric(TieBlocks.from_samples([0, 1], [0.9, 0.8], [2.0, 1.0], oracle=True)))


def test_metrics_can_be_pickled():
    """Every registered metric, with options, comes back from a pickle; so does one that is not registered."""
    for metric in (*map(metrics.get, metrics.names()), metrics.get("cwsa", threshold=0.7)):
        again = pickle.loads(pickle.dumps(metric))
        assert (again.identifier, again.spec, again.label) == (metric.identifier, metric.spec, metric.label)
    assert pickle.loads(pickle.dumps(replace(metrics.get("augrc"), name="own"))).name == "own"
