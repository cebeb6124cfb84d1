"""The registry: specs that results carry and that must not drift; ranges; needs."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import abstain
from abstain import TieBlocks, UnmetNeed, metrics
from abstain.metrics import Predictions
from tests.metrics._problems import COUNTS
from tests.metrics.references_values import CASES
from tests.refusal import refused

ALL = [metrics.get(name) for name in metrics.names("blocks", "probabilities")]


def test_equal_settings_have_equal_specs():
    """No two settings share one; a default given by hand, options in another order and set back leave no trace."""
    specs = {(metric.name, *metric.options.items()): metric.spec for metric in CASES}
    assert len(set(specs.values())) == len(specs)
    half = metrics.get("aurc", estimator="log", coverage_range=(0.0, 0.5))
    assert half.spec == "aurc(estimator=log, coverage_range=(0.0, 0.5))"
    assert metrics.get("cwsa", threshold=float("0.5")).spec == "cwsa"
    assert metrics.get("average_precision_error", zero_division=float("nan")).spec == "average_precision_error"
    assert metrics.get("aurc", estimator="harmonic").using(estimator="plugin").identifier == "aurc/plugin"
    one, other = metrics.get("ece", bins=10, binning="equal_mass"), metrics.get("ece", binning="equal_mass", bins=10)
    assert one.spec == other.spec


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
    for named, near in (("augrcc", "augrc"), ("AUGRC", "augrc"), ("e-AUGRC", "e_augrc"),
                        ("Coverage at risk", "coverage_at_risk")):  # fmt: skip
        refused(ValueError, f"metric '{named}' is not known; did you mean '{near}'", metrics.get, named)
    options = r"aurc has no option 'estimators'; its options: estimator='plugin', cov"
    refused(TypeError, options, metrics.get, "aurc", estimators="log")
    refused(TypeError, r"auroc_f has no option 'x'; its options: none", metrics.get, "auroc_f", x=1)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_the_wrong_kind_of_input_is_named(metric):
    """A table for a metric of probabilities, or the reverse, says what it takes and how to call it on samples."""
    both = (
        TieBlocks.from_samples([0, 1], [0.9, 0.8], oracle=True),
        Predictions(np.array([0, 1]), np.eye(2) * 0.9 + 0.05),
    )
    right, wrong = both if metric.input == "blocks" else both[::-1]
    refused(TypeError, rf"{metric.name} takes .* call abstain.{metric.name}\(", metric, wrong)
    assert np.isfinite(metric(right)) or metric.name == "coverage_at_risk"
    assert getattr(abstain, metric.name) is metric.function


@pytest.mark.parametrize(
    ("need", "loss", "scores", "message"),
    [
        ("binary", [0.0, 0.5], [0.9, 0.8], "needs a 0/1 loss.*losses.zero_one"),
        *[("unit_score", [0.0, 1.0], [score, 0.5], "needs confidence scores.*span.*augrc")
          for score in (-0.1, 1.1, np.inf, -np.inf)],
        ("unit_loss", [0.0, 1.5], [0.9, 0.8], r"needs losses in \[0, 1\].*at least 1.5"),
        ("unit_loss", [0.0, 1.5], [0.5, 0.5], r"needs losses in \[0, 1\].*at least 1.5"),  # the mean of a tie is .75
    ],
)  # fmt: skip
def test_unmet_needs_are_named_with_their_remedy(need, loss, scores, message):
    """Graded losses, scores that are no probabilities, losses above 1: by each metric that needs others."""
    of = [metric for metric in ALL if need in metric.needs]
    assert len(of) > 3
    for metric in of:
        refused(UnmetNeed, f"{metric.name} {message}", metric.of, loss, scores)


@pytest.mark.parametrize("metric", [metric for metric in ALL if "oracle" in metric.needs], ids=lambda m: m.name)
def test_optima_name_the_table_they_need(metric):
    """Without the loss-ordered table the remedy is named; a 0/1 loss does without it."""
    wanted = rf"^{metric.name} needs the [^:]*: give all rows, or build TieBlocks with oracle=True$"
    refused(UnmetNeed, wanted, metric, TieBlocks.from_samples([0.2, 0.5], [0.9, 0.8]))
    assert np.isfinite(metric(TieBlocks.from_samples([0, 1], [0.9, 0.8])))


COUNTED = [m for m in CASES if m.options.get("estimator") in COUNTS] + [metrics.get("augrc_unbiased")]


@pytest.mark.parametrize("metric", COUNTED, ids=lambda m: m.spec)
def test_estimators_on_counts_refuse_real_weights(metric):
    """Whole-number weights are repetitions; other weights are refused with the estimator that takes them."""
    real, whole = (TieBlocks.from_samples([0, 1], [0.9, 0.8], [w, 1.0], oracle=True) for w in (0.5, 2.0))
    refused(UnmetNeed, r"row counts.*fractions; use", metric, real)
    assert np.isfinite(metric(whole))


def test_metrics_can_be_pickled():
    """Every registered metric, with options, comes back from a pickle; so does one that is not registered."""
    for metric in (*map(metrics.get, metrics.names()), metrics.get("cwsa", threshold=0.7)):
        again = pickle.loads(pickle.dumps(metric))
        assert (again.identifier, again.spec, again.label) == (metric.identifier, metric.spec, metric.label)
    assert pickle.loads(pickle.dumps(replace(metrics.get("augrc"), name="own"))).name == "own"
