"""The registry: specs that results carry and that must not drift; ranges; needs."""

import inspect
import pickle
from dataclasses import replace

import numpy as np
import pytest

import abstain
from abstain import TieBlocks, UnmetNeed, metrics
from abstain.metrics import AcceptedLoss, Predictions, Relative, Tail
from tests.metrics._problems import COUNTS
from tests.metrics.references_values import AREAS, CASES
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


FACTS = [
    *[(f"fpr95_{of}(recall={at})", "few_errors", Tail({"error": "errors", "success": "right"}[of], beyond))
      for of in ("error", "success") for at, beyond in ((0.75, 0.25), (0.375, 0.375))],
    ("naurc", "few_errors", Relative(0.5)), ("naugrc", "few_errors", Relative(1.0)), ("auroc_f", "reads", "order"),
    ("average_precision_error", "few_errors", Relative(1.0)), ("average_precision_success", "few_errors", None),
    *[(f"{name}({where}=0.5)", "accepted_loss", AcceptedLoss(*at, per))
      for name, per in (("selective_risk", "accepted"), ("generalized_risk", "all"))
      for where, at in (("threshold", (0.5, 0.8)), ("coverage", (None, 0.5)))],  # a threshold goes before a coverage
    ("risk", "accepted_loss", AcceptedLoss(float("-inf"), None, "accepted")), ("augrc", "accepted_loss", None),
    *[(f"selective_accuracy({where}=0.5)", *fact) for where, each in (
        ("threshold", (("inference", "smooth"), ("reads", "scores"))),
        ("coverage", (("inference", "quantile"), ("reads", "order")))) for fact in each],
    ("coverage_at_risk(risk=0.2)", "tolerated", 0.2), ("coverage_at_risk", "unattained", 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "fact", "value"), FACTS)
def test_facts_follow_the_options(spec, fact, value):
    """What inference must know: by the recall which side is rare, by threshold or coverage what moves."""
    metric = metrics.parse(spec)
    assert metric.said(getattr(metric, fact)) == value


def test_estimators_on_ranks_have_a_smooth_twin():
    """That of the plug-in estimator; others serve for themselves."""
    for name in ("aurc", "e_aurc", "naurc", "accuracy_rejection_area"):
        twins = {each: metrics.get(name, estimator=each).smooth.settings["estimator"] for each in AREAS}
        assert twins == {each: "plugin" if each in COUNTS else each for each in AREAS}
    assert [metrics.get(name).reads_score for name in ("risk", "accuracy", "augrc", "nll")] == [
        False,
        False,
        True,
        False,
    ]
    assert [metrics.parse(spec).reads_order for spec in ("augrc", "ece", "selective_risk(threshold=0.5)")] == [
        True, False, False
    ]  # fmt: skip


ROWS = "array-like of shape (n_samples,)"
RAISES = "Raises\n------"


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("brier_score", ["float", "    In [0, 2]; lower is better.", "", RAISES, "ValueError, TypeError"]),
        ("brier_confidence",
         ["float", "    In [0, 1]; lower is better.", "", RAISES, "UnmetNeed",
          "    A loss that is not 0/1; confidences outside [0, 1].", "ValueError, TypeError"]),
        ("ece", ["lower is better.", "", RAISES, "UnmetNeed", "    Losses above 1; confidences outside [0, 1]."]),
        ("brier_confidence",
         [f"loss : {ROWS}", "    0/1 loss.", f"confidence : {ROWS}", "    Probability of being right, in [0, 1].",
          f"sample_weight : {ROWS}, optional", "    Weights >= 0, on both axes; default 1 each.",
          'nan_policy : {"raise", "reject", "drop"}',
          '    What a NaN score means: an error, or left out ("reject" gives a score of -inf, which is no']),
        ("augrc", [f"loss : {ROWS}", "    Loss per sample, >= 0.", f"confidence : {ROWS}",
                   "    Confidence score, higher = more confident.", "coverage_range : (float, float)"]),
        ("accuracy", [f"loss : {ROWS}", "    Loss per sample in [0, 1]; 0 = right, 1 = wrong.", "sample_weight : "]),
    ],
)  # fmt: skip
def test_docstrings_say_what_follows_from_the_facts(name, lines):
    """Columns by what the metric needs, the range with the direction, and what is refused."""
    assert "\n".join(lines) in inspect.getdoc(getattr(abstain, name))


@pytest.mark.parametrize(
    ("scores", "clip", "words"),
    [
        ([1.0, 0.5], None, "a score of 1: one contradiction there costs 36 nats, set by clip"),
        ([1.0, 0.0], None, "a score of 1 and of 0: one contradiction there costs 36 nats"),
        ([0.7, 0.0], 0.0, "a score of 0: one contradiction there costs without limit, and none may have been seen"),
        ([0.875, 0.5], 0.125, "a score of 1: one contradiction there costs 2.08 nats, set by clip"),
        ([0.5, 0.125], 0.125, "a score of 0: "), ([0.87, 0.13], 0.125, None), ([0.999, 0.001], None, None),
    ],
)  # fmt: skip
def test_saturated_scores_are_a_doubt(scores, clip, words):
    """At the end of what is taken at face value one contradiction decides, and none may have been seen."""
    metric = metrics.get("nll_confidence", **({} if clip is None else {"clip": clip}))
    found = metric.doubt(TieBlocks.from_samples([0, 1], scores), **metric.options)
    assert (found is None) if words is None else found.startswith(words)


# ---------------------------------------------------------------------- needs and bad input


def test_unknown_names_list_near_ones():
    """A misspelt metric or option is named with what exists."""
    for named, near in (("augrcc", "augrc"), ("AUGRC", "augrc"), ("e-AUGRC", "e_augrc"),
                        ("Coverage at risk", "coverage_at_risk"), ("AUGRC unbiased", "augrc_unbiased")):  # fmt: skip
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
    takes = rf"{metric.name} takes {type(right).__name__}, got {type(wrong).__name__}; call abstain.{metric.name}\("
    refused(TypeError, takes, metric, wrong)
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


@pytest.mark.parametrize(
    ("scores", "hint"),
    [([100.0, 0.0], True), ([10.5, 2.0], True), ([10.0, 2.0], False), ([100.5, 2.0], False), ([50.0, -0.5], False)],
)
def test_per_cent_are_told_from_other_scales(scores, hint):
    """From above 10 up to 100, and none below 0: the remedy is a division."""
    with pytest.raises(UnmetNeed, match="but they span") as error:
        abstain.ece([0, 1], scores)
    assert ("divide per cent by 100, pass" in str(error.value)) == hint


@pytest.mark.parametrize(
    ("options", "largest"), [({}, "1.25"), ({"keep_samples": True}, "2.5"), ({"oracle": True}, "2.5")]
)
def test_the_largest_loss_is_that_of_a_row_where_rows_are_known(options, largest):
    """A table alone only shows the means of its ties."""
    blocks = TieBlocks.from_samples([0.0, 2.5, 0.5, 1.0], [0.5, 0.5, 0.3, 0.2], [2.0, 2.0, 1.0, 1.0], **options)
    refused(UnmetNeed, f"the largest is at least {largest}; rescale", metrics.get("accuracy"), blocks)


def test_names_by_input_and_joint_metrics():
    """Those of two data sets have a prefix, come last, and are called on scores."""
    joint = metrics.names("joint")
    assert all(name.startswith("joint.") for name in joint)
    assert metrics.names() == metrics.names("blocks", "probabilities") + joint
    assert set(metrics.names("blocks")).isdisjoint(metrics.names("probabilities"))
    refused(ValueError, "inputs='table'", metrics.names, "table")
    takes = r"joint.auroc takes scores of ID and OOD samples, got TieBlocks; call abstain.joint.auroc\("
    refused(TypeError, takes, metrics.get("joint.auroc"), TieBlocks.from_samples([0, 1], [0.9, 0.8]))


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
