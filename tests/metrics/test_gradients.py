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


def at_a_kink(metric, blocks):
    """Whether a small step changes what is accepted or binned, or leaves the domain: no derivative exists there."""
    coverage = blocks.cumulative_weight / blocks.total_weight
    options = metric.defaults | dict(metric.options)
    borders = [c for c in (*options.get("coverage_range", ()), options.get("coverage")) if c not in (None, 0.0, 1.0)]
    if any(np.min(np.abs(coverage - border)) < 1e-3 for border in borders):
        return True
    if metric.name == "ece":
        gap = blocks.weight * (1.0 - blocks.score) - blocks.loss
        middle = (blocks.total_weight - blocks.cumulative_weight + 0.5 * blocks.weight) / blocks.total_weight
        place = middle * options["bins"]
        if options["binning"] == "equal_mass" and np.min(np.abs(place - np.round(place))) < 1e-3:
            return True
        edges = np.arange(1, options["bins"]) / options["bins"]
        wide = options["binning"] == "equal_width"
        bins = np.searchsorted(edges, blocks.score) if wide else np.floor(place).astype(int)
        return bool(np.min(np.abs(np.bincount(bins, weights=gap)[np.unique(bins)])) < 1e-3)
    return False


def moved(blocks, column, k, step):
    """Return the table with one entry of one column moved; for a 0/1 loss the oracle follows from the totals."""
    values = getattr(blocks, column).copy()
    values[k] += step
    return replace(blocks, **{column: values})


def numerical(metric, blocks, column, k, *, oracle=False):
    """Central difference with respect to one entry of the table, or of its oracle table."""

    def value(step):
        if oracle:
            return metric(replace(blocks, _oracle=moved(blocks.oracle, column, k, step)))
        return metric(moved(blocks, column, k, step))

    return (value(STEP) - value(-STEP)) / (2.0 * STEP)


def is_smooth(metric, blocks):
    """Whether the metric has a value there and a derivative."""
    if metric.name == "nll_confidence" and not np.all((blocks.score > 0.02) & (blocks.score < 0.98)):
        return False
    return not at_a_kink(metric, blocks) and not np.isnan(metric(blocks))


def smooth_problem(cases, data):
    """Draw a table, and return it with the metrics that are smooth in its neighbourhood."""
    losses = ("binary",) if mixed_optimum(cases[0]) else TAME
    problem = data.draw(problems_for(cases[0], kinds=("none", "positive"), losses=losses, min_size=3, max_size=10))
    if problem.weight is not None:
        problem = problem._replace(weight=np.clip(problem.weight, 0.25, 4.0))
    blocks = table(problem)
    if blocks.binary:  # all right or all wrong: one side of the difference does not exist
        assume(0.0 < blocks.mean_loss < 1.0)
    smooth = [metric for metric in cases if is_smooth(metric, blocks)]
    assume(smooth)
    return blocks, smooth


@pytest.mark.parametrize("cases", families(SMOOTH))
@given(data=st.data())
def test_gradient_is_the_numerical_derivative(cases, data):
    """Both numbers of a block, and for losses that are not 0/1 those of the oracle table, equal differences."""
    blocks, smooth = smooth_problem(cases, data)
    own, other = (data.draw(st.integers(0, len(where) - 1)) for where in (blocks, blocks.oracle))
    for metric in smooth:
        gradient = metric.gradient_of(blocks)
        parts = [(gradient, blocks, own, False)]
        if gradient.oracle is not None:
            parts.append((gradient.oracle, blocks.oracle, other, True))
        for part, where, k, oracle in parts:
            for column, found in (("weight", part.weight), ("loss", part.loss)):
                expected = numerical(metric, blocks, column, k, oracle=oracle)
                size = 1.0 + np.max(np.abs(found))
                near = pytest.approx(expected, rel=2e-5, abs=2e-7 * size)
                assert np.broadcast_to(found, len(where))[k] == near, metric.spec


def test_no_gradient_is_made_up():
    """Where there is no derivative that is said, with what has one; no division by zero is attempted."""
    for metric, loss, error, message in (
        *[(metric, [0, 1, 0], UnmetNeed, "plugin") for metric in WITHOUT],  # rank weights, and the partial trapezoid
        (metrics.get("mce"), [0, 1, 0], UnmetNeed, r"mce has no gradient \(inference: none\)"),
        (metrics.get("e_aurc", estimator="trapezoid"), [0.2, 1, 0], UnmetNeed, 'use "plugin"'),  # a mixed optimum
        (metrics.get("selective_risk", threshold=2.0), [0, 1, 0], Undefined, "nothing is accepted"),
    ):
        blocks = TieBlocks.from_samples(loss, [0.9, 0.8, 0.7], oracle=True)
        with pytest.raises(error, match=message):
            metric.gradient_of(blocks)


def test_rejecting_all_ignores_infinite_scores():
    """At coverage 0 nothing is accepted, not even a score of +inf, so the loss there has no effect."""
    blocks = TieBlocks.from_samples([1, 0], [np.inf, 0.0])
    metric = metrics.get("generalized_risk", coverage=0.0)
    assert metric(blocks) == 0.0
    np.testing.assert_array_equal(metric.gradient_of(blocks).loss, [0.0, 0.0])
    with pytest.warns(abstain.UndefinedMetricWarning, match="nothing of class"):
        value = abstain.macro_selective_risk([1, 0], [np.inf, 0.0], ["a", "a"], coverage=0.0)
    assert np.isnan(value)
