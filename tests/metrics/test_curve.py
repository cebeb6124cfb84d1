"""The risk-coverage curve and its operating points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain import choose_threshold, coverage_at_risk, risk_coverage_curve
from tests.metrics import references as rank
from tests.metrics._problems import scale
from tests.metrics.references import Data
from tests.refusal import refused
from tests.strategies import LOSSES, WEIGHTS, problems

ANY = problems(losses=LOSSES, weights=WEIGHTS, max_size=20)


def curve_of(problem):
    """Return the curve of a problem."""
    return risk_coverage_curve(problem.loss, problem.confidence, sample_weight=problem.weight)


@given(problem=ANY)
def test_points_are_what_each_threshold_accepts(problem):
    """Coverage, both risks and counts of every point equal a loop over the samples."""
    curve, data = curve_of(problem), Data.of(*problem)
    table = curve.table()
    assert list(table["threshold"]) == rank.thresholds(data)
    for j, threshold in enumerate(table["threshold"]):
        mass, loss = rank.accepted(data, threshold)
        assert table["coverage"][j] == pytest.approx(mass / data.total(), rel=1e-12)
        assert table["selective_risk"][j] == pytest.approx(loss / mass, rel=1e-11, abs=1e-15 * scale(problem))
        assert table["generalized_risk"][j] == pytest.approx(loss / data.total(), rel=1e-11, abs=1e-15 * scale(problem))
    assert table["coverage"][-1] == 1.0
    if problem.weight is None:
        assert list(table["n_accepted"]) == [int(np.sum(problem.confidence >= t)) for t in table["threshold"]]


@given(problem=ANY, target=st.floats(0.0, 1.0))
def test_point_at_a_coverage_is_the_smallest_attainable(problem, target):
    """Coverage >= target; the next higher threshold falls short of it; rows of -inf are accepted by none."""
    curve = curve_of(problem)
    point = curve.at(coverage=target)
    if np.isnan(point.threshold):
        scored = curve.coverage[curve.threshold > -np.inf]
        assert "is not reached" in str(point.reason)
        assert np.all(scored < target)
        return
    assert point.coverage >= target - 1e-12
    smaller = curve.coverage[curve.coverage < point.coverage]
    assert all(c < target for c in smaller)
    assert curve.at(threshold=point.threshold).coverage == point.coverage or not np.isfinite(point.threshold)


@given(problem=ANY, target=st.floats(0.0, 2.0))
def test_point_at_a_risk_is_the_largest_attainable(problem, target):
    """Risk <= target and no larger coverage has it; else NaN with the lowest attainable risk as the reason."""
    curve = curve_of(problem)
    point = curve.at(risk=target)
    if point.reason is None:
        assert point.selective_risk <= target * (1 + 1e-12)
        larger = (curve.coverage > point.coverage) & (curve.threshold > -np.inf)
        assert np.all(curve.selective_risk[larger] > target)
        assert point.n == curve.blocks.n
    else:
        assert np.isnan([point.threshold, point.coverage, point.selective_risk, point.generalized_risk]).all()
        assert point.n_accepted == 0
        assert np.all(curve.selective_risk[curve.threshold > -np.inf] > target)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({}, "exactly one of coverage=, risk= and threshold="),
        ({"coverage": 0.5, "risk": 0.1}, "exactly one"),
        ({"coverage": 80}, r"coverage must lie in \[0, 1\], got 80.0; give a fraction, not per cent"),
        ({"coverage": "most"}, "coverage must be a number"),
        ({"risk": float("nan")}, "risk must be a finite number >= 0, got nan"),
        ({"threshold": float("nan")}, "threshold is NaN; give a score, or .inf"),
    ],
)
def test_bad_targets(target, message):
    """Each message names the target and its range."""
    refused((TypeError, ValueError), message, risk_coverage_curve([0, 1], [0.9, 0.8]).at, **target)


def test_the_two_ends():
    """Coverage 0 rejects everything: threshold +inf, risk NaN with a reason; coverage 1 accepts the lowest score."""
    curve = risk_coverage_curve([0, 1], [0.9, -5.0])
    none, every = curve.at(coverage=0.0), curve.at(coverage=1.0)
    assert (none.threshold, none.coverage, none.generalized_risk, none.n_accepted) == (np.inf, 0.0, 0.0, 0)
    assert np.isnan(none.selective_risk)
    assert none.reason == "nothing is accepted, so the selective risk is undefined"
    assert (every.threshold, every.coverage, every.n_accepted, every.reason) == (-5.0, 1.0, 2, None)
    assert [(curve.at(threshold=t).threshold, curve.at(threshold=t).n_accepted) for t in (0.95, 0.5)] == [
        (0.95, 0), (0.5, 1)
    ]  # fmt: skip


@pytest.mark.parametrize("score", [-np.inf, np.nan])
def test_a_row_without_a_score_is_accepted_by_no_threshold(score):
    """Curve and choose_threshold have one rule: ranked last, in the population, never accepted."""
    loss, scores = [0, 0, 0], [0.9, 0.8, score]
    curve = risk_coverage_curve(loss, scores, nan_policy="reject")
    point = curve.at(risk=0.1)
    chosen = choose_threshold(loss, scores, risk=0.1, nan_policy="reject")
    assert (point.threshold, point.coverage) == (chosen.threshold, chosen.coverage) == (0.8, 2 / 3)
    assert coverage_at_risk(loss, scores, risk=0.1, nan_policy="reject") == 2 / 3
    far = curve.at(coverage=0.9)
    assert far.reason == choose_threshold(loss, scores, coverage=0.9, nan_policy="reject").reason
    assert far.reason == "a coverage of 0.9 is not reached: at most 0.6667 have scores"
    assert curve.coverage.tolist() == [1 / 3, 2 / 3, 1.0]
    assert risk_coverage_curve([0], [score], nan_policy="reject").at(risk=1.0).reason is not None
