"""Gradients with respect to the table: numerical derivatives, and no change when the weights' unit changes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import abstain
from abstain import TieBlocks, UnmetNeed, metrics
from abstain._checks import Undefined
from tests.metrics._problems import TAME, families, problems_for, table
from tests.metrics.references_values import CASES as ALL_CASES
from tests.refusal import refused

#: Nothing is accepted there, almost surely.
EMPTY = [{"coverage": 0.0}, {"threshold": np.inf}]
#: Every metric that has a gradient, with every option.
CASES = [case for case in ALL_CASES if case.gradient is not None and case.options.get("clip") != 0.0]
CASES = [case for case in CASES if dict(case.options) not in EMPTY]
#: These estimators are defined on ranks: they have no derivative with respect to real weights.
WITHOUT = [case for case in CASES if case.options.get("estimator") in ("harmonic", "log")]
WITHOUT += [case for case in CASES if case.options.get("estimator") == "trapezoid" and "coverage_range" in case.options]
SMOOTH = [case for case in CASES if case not in WITHOUT]
STEP = 1e-6


def mixed_optimum(metric):
    """Whether the optimum is that of fd-shifts, which for losses that are not 0/1 has no gradient."""
    return "oracle" in metric.needs and metric.options.get("estimator") == "trapezoid"


def moved(blocks, column, k, step, *, oracle=False):
    """Return the table where one entry of it, or of its oracle table, is more by a step."""
    where = blocks.oracle if oracle else blocks
    entries = getattr(where, column).copy()
    entries[k] += step
    where = replace(where, **{column: entries})  # for a 0/1 loss the oracle follows from the totals
    return replace(blocks, _oracle=where) if oracle else where


@pytest.mark.parametrize("cases", families(SMOOTH))
@given(data=st.data())
def test_gradient_is_the_numerical_derivative(cases, data):
    """Both numbers of a block, and for losses that are not 0/1 those of the oracle table, equal differences.

    Where a small step changes what is accepted, binned or clipped, the two sides differ and there is no derivative.
    """
    losses = ("binary",) if mixed_optimum(cases[0]) else TAME
    problem = data.draw(problems_for(cases[0], kinds=("none", "positive"), losses=losses, min_size=3, max_size=10))
    if problem.weight is not None:
        problem = problem._replace(weight=np.clip(problem.weight, 0.25, 4.0))
    blocks = table(problem)
    assume(not blocks.binary or 0.0 < blocks.mean_loss < 1.0)  # one side of the difference does not exist
    own, other = (data.draw(st.integers(0, len(where) - 1)) for where in (blocks, blocks.oracle))
    places = [(column, k, oracle) for oracle, k in ((False, own), (True, other)) for column in ("weight", "loss")]
    tables = {at: [moved(blocks, *at[:2], step, oracle=at[2]) for step in (STEP, -STEP)] for at in places}
    compared = 0
    for metric in cases:
        here = metric(blocks)
        if not np.isfinite(here):
            continue
        gradient = metric.gradient_of(blocks)
        parts = [(gradient, blocks, own, False)]
        if gradient.oracle is not None:
            parts.append((gradient.oracle, blocks.oracle, other, True))
        for part, where, k, oracle in parts:
            for column, found in (("weight", part.weight), ("loss", part.loss)):
                more, less = map(metric, tables[column, k, oracle])
                right, left = (more - here) / STEP, (here - less) / STEP
                size = 1.0 + np.max(np.abs(found))
                if abs(right - left) <= 2e-5 * size:
                    compared += 1
                    near = pytest.approx((right + left) / 2.0, rel=2e-5, abs=2e-7 * size)
                    assert np.broadcast_to(found, len(where))[k] == near, metric.spec
    assert compared or len(cases) < 5


def test_no_gradient_is_made_up():
    """Where there is no derivative that is said, with what has one; no division by zero is attempted."""
    for metric, loss, error, message in (
        *[(metric, [0, 1, 0], UnmetNeed, "plugin") for metric in WITHOUT],  # rank weights, and the partial trapezoid
        (metrics.get("mce"), [0, 1, 0], UnmetNeed, r"mce has no gradient \(inference: none\)"),
        (metrics.get("e_aurc", estimator="trapezoid"), [0.2, 1, 0], UnmetNeed, 'use "plugin"'),  # a mixed optimum
        (metrics.get("selective_risk", threshold=2.0), [0, 1, 0], Undefined, "nothing is accepted"),
    ):
        blocks = TieBlocks.from_samples(loss, [0.9, 0.8, 0.7], oracle=True)
        refused(error, message, metric.gradient_of, blocks)


def test_gradients_where_nothing_or_all_is_wrong():
    """The optimum of flawless rows moves with none of them; of rows that are all wrong it has no derivative."""
    right, wrong = (TieBlocks.from_samples(3 * [loss], [0.9, 0.8, 0.7]) for loss in (0.0, 1.0))
    own, excess = (metrics.get(name).gradient_of(right) for name in ("augrc", "e_augrc"))
    assert np.array_equal(np.broadcast_to(excess.loss, 3), own.loss)
    for name in ("e_aurc", "e_augrc"):
        refused(Undefined, "every loss is 1, where the optimum has no derivative", metrics.get(name).gradient_of, wrong)
    assert not np.any([metrics.get("f1_auc").gradient_of(wrong).weight, metrics.get("f1_auc").gradient_of(wrong).loss])


def test_rejecting_all_ignores_infinite_scores():
    """At coverage 0 nothing is accepted, not even a score of +inf, so the loss there has no effect."""
    blocks = TieBlocks.from_samples([1, 0], [np.inf, 0.0])
    metric = metrics.get("generalized_risk", coverage=0.0)
    assert metric(blocks) == 0.0
    np.testing.assert_array_equal(metric.gradient_of(blocks).loss, [0.0, 0.0])
    with pytest.warns(abstain.UndefinedMetricWarning, match="nothing of class"):
        value = abstain.macro_selective_risk([1, 0], [np.inf, 0.0], ["a", "a"], coverage=0.0)
    assert np.isnan(value)
