"""What must hold whatever the data: dominance, reductions, invariances, and the edges."""

import itertools
from itertools import product

import numpy as np
import pytest
from hypothesis import given

import abstain
from tests.joint.references import Columns, joint_problems, random_problem, value
from tests.strategies import many


@many(300)
@given(joint_problems())
def test_only_the_order_of_the_scores_counts(columns):
    """Strictly increasing transforms, the order of the samples and the roles of the scores change nothing."""
    ranks = [np.unique(np.append(a, b)) for a, b in ((columns[1], columns[3]), (columns[2], columns[4]))]
    moved = columns.mapped(
        lambda c: np.searchsorted(ranks[0], c) ** 3 - 7.0, lambda a: np.exp(np.searchsorted(ranks[1], a))
    )
    backwards = Columns(*(column[::-1] for column in columns))
    for function, each in product(("ds_f1", "ds_aurc", "ds_augrc"), (moved, backwards, columns.swapped())):
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


def test_the_caller_keeps_his_arrays():
    """Nothing is written to."""
    columns = Columns(*map(np.array, random_problem(50, 40)))
    before = [column.copy() for column in columns]
    abstain.joint.evaluate(**columns.named, prevalence=0.3).null_gain  # noqa: B018
    assert all(np.array_equal(a, b) for a, b in itertools.zip_longest(before, columns))


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
