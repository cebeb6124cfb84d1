"""What must hold whatever the data: dominance, reductions, invariances, and the edges."""

import itertools
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given

import abstain
from tests.joint.references import Columns, joint_problems, random_problem, value
from tests.refusal import refused
from tests.strategies import many

DS = [("ds_f1", 1.0), ("ds_aurc", -1.0), ("ds_augrc", -1.0)]
MANY = many(300)


def single(function, columns, **options):
    """Value of the single-score counterpart on the confidence."""
    return float(getattr(abstain.joint, function.removeprefix("ds_"))(columns.id_loss, **columns.alone, **options))


@MANY
@given(joint_problems())
def test_only_the_order_of_the_scores_counts(columns):
    """Strictly increasing transforms, the order of the samples and the roles of the scores change nothing."""
    ranks = [np.unique(np.append(a, b)) for a, b in ((columns[1], columns[3]), (columns[2], columns[4]))]
    moved = columns.mapped(
        lambda c: np.searchsorted(ranks[0], c) ** 3 - 7.0, lambda a: np.exp(np.searchsorted(ranks[1], a))
    )
    backwards = Columns(*(column[::-1] for column in columns))
    for (function, _), each in product(DS, (moved, backwards, columns.swapped())):
        assert value(function, each) == value(function, columns)


# ---------------------------------------------------------------------- edges


def test_all_wrong():
    """Nothing can be accepted rightly: F1 0 with both thresholds at infinity, risk 1 everywhere."""
    columns = Columns([1, 1], [0.2, 0.9], [1.0, 2.0], [0.5, 0.4], [0.1, 0.2])
    best = abstain.joint.ds_f1(**columns.named)
    assert (best.value, best.thresholds, best.true_accept, best.false_reject) == (0.0, (np.inf, np.inf), 0, 2)
    assert np.isnan(best.precision)
    assert value("ds_aurc", columns) == 1.0
    assert abstain.joint.evaluate(**columns.named).transfer.transferred.max() == 0.0


def test_f1_is_zero_where_no_id_sample_is_accepted():
    """Accepting OOD samples only, and accepting nothing."""
    columns = Columns([0, 0], [0.2, 0.1], [1.0, 2.0], [0.5], [3.0])
    for pair in ((0.4, 2.5), (np.inf, np.inf)):
        point = abstain.joint.f1_at(thresholds=pair, **columns.named)
        assert (point.value, point.true_accept) == (0.0, 0)


def test_infinite_scores_and_both_zeros_are_ordered():
    """-0.0 ties with 0.0, and infinite scores are like any others."""
    columns = Columns([0, 1], [np.inf, -np.inf], [0.0, -0.0], [-np.inf], [-0.0])
    assert abstain.joint.ds_f1(**columns.named).value == 2 * 1 / (1 + 2)
    assert abstain.joint.ds_f1(**columns.named).thresholds == (np.inf, 0.0)


def test_the_caller_keeps_his_arrays():
    """Nothing is written to."""
    columns = Columns(*map(np.array, random_problem(50, 40)))
    before = [column.copy() for column in columns]
    abstain.joint.evaluate(**columns.named, prevalence=0.3).null_gain  # noqa: B018
    assert all(np.array_equal(a, b) for a, b in itertools.zip_longest(before, columns))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id_loss": []}, "id_loss is empty"),
        ({"id_loss": [0.5, 0]}, "id_loss must be 0 (right) or 1 (wrong), but 0.5 occurs; use losses.zero_one"),
        ({"id_loss": [0, np.nan]}, "id_loss must be 0 (right) or 1 (wrong), but nan occurs"),
        ({"id_loss": [0, -1]}, "id_loss must be 0 (right) or 1 (wrong), but -1.0 occurs"),
        ({"id_confidence": [1, np.nan]}, "id_confidence holds NaN: id_confidence[1] = nan"),
        ({"id_detector": [1]}, "lengths differ (id_loss: 2, id_confidence: 2, id_detector: 1)"),
        ({"ood_detector": [1]}, "lengths differ (ood_confidence: 2, ood_detector: 1)"),
        ({"ood_confidence": None}, "ood_confidence is missing"),
        ({"prevalence": 1.0}, "prevalence must lie in [0, 1)"),
        ({"prevalence": 0.5, "ood_confidence": [], "ood_detector": []}, "needs OOD samples, but there are none"),
        ({"method": "grid"}, "T is missing; a grid has no natural size"),
        ({"method": "best"}, "method='best' is not known"),
        ({"T": 100}, 'T=100 is an option of method="grid"'),
        ({"method": "grid", "T": 0}, "T must be a whole number >= 1"),
    ],
)
def test_bad_input_is_named(change, message):
    """Argument, value and remedy are in the message."""
    given = {"id_loss": [0, 1], "id_confidence": [1, 2], "id_detector": [1, 2]}
    given |= {"ood_confidence": [1, 2], "ood_detector": [2, 3], **change}
    refused((ValueError, TypeError), re.escape(message), abstain.joint.ds_f1, **given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"K": 3}, 'K=3 is an option of method="grid"'),
        ({"T": 3}, 'T=3 is an option of method="grid"'),
        ({"method": "grid", "T": 10}, "K is missing"),
        ({"operator": "exactly"}, "operator='exactly' is not known"),
        ({"method": "grid", "T": 10, "K": 5, "operator": "exact"}, "operator='exact' is an option of method="),
    ],
)
def test_options_that_do_not_belong_are_refused(options, message):
    """An option without effect would be believed to have one."""
    refused((ValueError, TypeError), re.escape(message), abstain.joint.ds_aurc, **random_problem(5, 5).named, **options)


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        (0.5, "thresholds must be a pair (confidence, detector), got 0.5"),
        ((1.0, 2.0, 3.0), "thresholds must be a pair (confidence, detector), got (1.0, 2.0, 3.0)"),
        (("a", 1.0), "thresholds must be a number on the scale of each score, got 'a'"),
        ((np.nan, 1.0), "thresholds=(nan, 1.0) hold NaN; -inf rejects nothing"),
    ],
)
def test_thresholds_are_a_pair_of_numbers(thresholds, message):
    """NaN would reject everything and look like an F1 of 0."""
    columns = random_problem(5, 5).named
    refused((ValueError, TypeError), re.escape(message), abstain.joint.f1_at, thresholds=thresholds, **columns)


def test_the_surface_at_a_prevalence_is_f1_by_hand():
    """Shares of ID and of OOD samples, weighed by the prevalence."""
    rng = np.random.default_rng(0)
    loss, one, two, out = (rng.random(60) < 0.3) * 1.0, rng.random(60), rng.random(60), rng.random((2, 40))
    ood = {"ood_confidence": out[0], "ood_detector": out[1]}
    found = abstain.joint.evaluate(loss, id_confidence=one, id_detector=two, **ood).at_prevalence(0.2)
    confidence, detector, value = found.f1_surface(4)
    for (j, a), (k, b) in itertools.product(enumerate(confidence), enumerate(detector)):
        answered, other = (one >= a) & (two >= b), np.mean((out[0] >= a) & (out[1] >= b))
        right = 0.8 * np.mean(answered * (1 - loss))
        assert value[j, k] == pytest.approx(2 * right / (0.8 * np.mean(answered) + 0.8 + 0.2 * other))
