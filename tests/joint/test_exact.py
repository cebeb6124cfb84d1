"""The exact algorithms against trying every pair of thresholds, on a thousand problems each and on every path."""

from fractions import Fraction
from math import gcd
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

import abstain
from abstain.joint._ds_aurc import area
from abstain.joint._frontier import frontier, stairs
from abstain.joint._null import _conditional
from abstain.joint._problem import _weights, problem
from tests.joint import references as slow
from tests.joint.references import joint_problems, random_problem, value
from tests.paths import PATHS, taken
from tests.refusal import refused
from tests.strategies import many

THOUSAND = many(1000, suppress_health_check=[HealthCheck.too_slow])
PREVALENCES = st.sampled_from([None, Fraction(0), Fraction(1, 2), Fraction(1, 10), Fraction(99, 100)])


@THOUSAND
@given(joint_problems(), PREVALENCES)
def test_ds_f1_is_the_best_of_all_pairs(columns, prevalence):
    """No pair is better, the thresholds give the value, and the counts add up."""
    share = None if prevalence is None or not columns.n_ood else float(prevalence)
    best = float(slow.best_f1(columns, None if share is None else prevalence))
    for path in PATHS:
        with taken(path):
            found = abstain.joint.ds_f1(**columns.named, prevalence=share)
            again = abstain.joint.f1_at(thresholds=found.thresholds, **columns.named, prevalence=share)
        assert found.value == best, path
        counts = found.value, found.true_accept, found.false_accept
        assert (again.value, again.true_accept, again.false_accept) == counts, path
        assert found.true_accept + found.false_reject == columns.n_id
        assert found.n_id + found.n_ood - (found.true_accept + found.false_accept) >= found.true_reject


@THOUSAND
@given(joint_problems(), PREVALENCES, st.sampled_from(["at_least", "exact"]))
def test_areas_are_those_of_all_pairs(columns, prevalence, operator):
    """DS-AURC and DS-AUGRC: every attainable level with its least risk, and the area under them."""
    share = None if prevalence is None or not columns.n_ood else float(prevalence)
    exactly = None if share is None else prevalence
    curve = slow.level_curve(columns, exactly)
    levels = sorted(curve) if operator == "exact" else slow.steps(curve)
    least = [float(curve[j]) for j in levels]
    areas = [float(area_(columns, operator, exactly)) for area_ in (slow.ds_aurc, slow.ds_augrc)]
    for path in PATHS:
        with taken(path):
            found = abstain.joint.ds_aurc(**columns.named, prevalence=share, operator=operator)
            generalized = value("ds_augrc", columns, prevalence=share, operator=operator)
        assert found.frontier is not None
        assert found.frontier.n_id_accepted.tolist() == levels, path
        np.testing.assert_allclose(found.frontier.selective_risk, least, rtol=1e-14, err_msg=path)
        assert [found.value, generalized] == pytest.approx(areas, abs=1e-14), path


@many(200)
@given(joint_problems(), st.sampled_from(["at_least", "exact"]))
def test_the_thresholds_of_a_frontier_reach_their_level(columns, operator):
    """Every point of the curve is the outcome of its two thresholds."""
    curve = abstain.joint.ds_aurc(**columns.named, operator=operator).frontier
    assert curve is not None
    for j in range(curve.n_id_accepted.size):
        pair = (float(curve.confidence_threshold[j]), float(curve.detector_threshold[j]))
        point = abstain.joint.f1_at(thresholds=pair, **columns.named)
        assert point.true_accept == curve.n_correct[j]
        assert point.true_accept + point.false_accept == curve.n_id_accepted[j] + curve.n_ood_accepted[j]


@many(300)
@given(joint_problems(), st.integers(2, 6))
def test_the_grid_is_the_loop(columns, T):
    """Histograms and cumulative sums give what the published loop over pairs gives."""
    assert value("ds_f1", columns, method="grid", T=T) == slow.grid_f1(columns, T)


@many(300)
@given(joint_problems(), st.integers(1, 6), st.integers(1, 9))
def test_the_binned_area_is_the_loop(columns, T, K):
    """As published, with bins that no pair falls into."""
    expected = float(slow.grid_aurc(columns, T, K))
    assert value("ds_aurc", columns, method="grid", T=T, K=K) == pytest.approx(expected, abs=1e-14)


@example(20_000, 30_001, Fraction(99, 100))
@example(700, 90, Fraction(1 / np.pi))
@example(30, 40, Fraction(1, 999_983))
@given(st.integers(1, 10**6), st.integers(1, 10**6), st.fractions(0, Fraction(99, 100), max_denominator=10**6))
def test_weights_of_a_prevalence_make_that_prevalence(n_id, n_ood, prevalence):
    """Whole numbers where the square of all weights together stays exact in 64 bits, else a ratio."""
    inside, outside = _weights(n_id, n_ood, float(prevalence))
    total = inside * n_id + outside * n_ood
    assert outside * n_ood / total == pytest.approx(float(prevalence), rel=1e-12)
    rows, part = n_id * n_ood * prevalence.denominator, (1 - prevalence) * n_ood * prevalence.denominator
    exact = rows // gcd(int(part), prevalence.numerator * n_id)
    assert (isinstance(inside, int), total == exact or inside == 1.0) == (4 * exact**2 < 2**62, True)


#: Two thresholds accept one ID row alone, and all that the first four by four accept with it are OOD rows.
ON_TOP = slow.Columns(
    np.zeros(7), np.array([9.0, 8.0, 7.0, 6.0, 4.0, 3.0, 2.0]), np.array([9.0, 4.0, 3.0, 2.0, 8.0, 7.0, 6.0]),
    np.array([9.5, 5.0, 7.5]), np.array([5.0, 9.5, 7.5]),
)  # fmt: skip


@example(columns=ON_TOP, prevalence=None)
@many(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(joint_problems(max_id=12, max_ood=8), PREVALENCES)
def test_small_blocks_find_what_all_pairs_have(path, monkeypatch, columns, prevalence):
    """Several blocks of several parts, cut off at both ends, find the steps, and both risks at once those of each."""
    from abstain.joint import _stairs

    monkeypatch.setattr(_stairs, "BLOCK", 4)
    monkeypatch.setattr(_stairs, "SMALL", 2)
    data = problem(*columns, None if not columns.n_ood or prevalence is None else float(prevalence))
    together = stairs(data, False, True)
    for generalized, both in zip((False, True), together, strict=True):
        curves = [both, stairs(data, generalized)[0], frontier(data, generalized=generalized)]
        least = []
        for curve in curves:
            risk = curve.generalized_risk if generalized else curve.selective_risk
            down = np.minimum.accumulate(risk[::-1])[::-1]
            least.append(down[np.searchsorted(curve.n_id_accepted, np.arange(1, columns.n_id + 1))])
        np.testing.assert_allclose(least[0], least[2], rtol=1e-14, atol=1e-15)
        np.testing.assert_array_equal(least[0], least[1])
        # each step accepts an ID row, and is what its pair of thresholds accepts
        assert both.n_id_accepted[0] > 0
        taken_by = (data.confidence >= both.confidence_threshold[:, None]) & (
            data.detector >= both.detector_threshold[:, None]
        )
        np.testing.assert_array_equal(taken_by[:, : columns.n_id].sum(axis=1), both.n_id_accepted)
        np.testing.assert_array_equal((taken_by & (data.kind == 0)).sum(axis=1), both.n_correct)


@pytest.mark.parametrize("shape", ["useful", "useless", "disjoint", "ties", "few errors"])
def test_pruning_loses_nothing_on_large_problems(shape):
    """Areas at 1,500 + 1,200 samples are those of every level, whatever the scores look like."""
    columns = random_problem(1500, 1200, decimals=1 if shape == "ties" else None)
    wrong, confidence, detector, out_confidence, out_detector = (np.array(each, dtype=float) for each in columns)
    rng = np.random.default_rng(1)
    if shape == "useless":
        detector, out_detector = rng.random(1500), rng.random(1200)
    elif shape == "disjoint":  # what one score rejects the other ranks at the top
        half = rng.random(1500) < 0.5
        confidence, detector = np.where(half, confidence, 9.0 + rng.random(1500)), np.where(half, 9.0, detector)
    elif shape == "few errors":
        wrong = np.zeros(1500)
    for prevalence in (None, 0.1, 1 / np.pi):
        data = problem(wrong, confidence, detector, out_confidence, out_detector, prevalence)
        for generalized in (False, True):
            curve = frontier(data, generalized=generalized)
            expected = curve.augrc() if generalized else curve.aurc()
            assert area(data, generalized=generalized).value == pytest.approx(expected, abs=1e-13)


def test_steps_do_not_tell_what_exact_coverages_need():
    """A curve of steps refuses the other operator, and counts that do not fit one number are refused."""
    from abstain.joint._stairs import Packing

    curve = abstain.joint.ds_aurc(**random_problem(30, 30).named).frontier
    assert curve is not None
    for value_of in (curve.aurc, curve.augrc):
        refused(ValueError, "ask for it with ds_aurc", value_of, "exact")
    huge = SimpleNamespace(wrong=np.array([2**22]), n_id=2**24, n_ood=2**30)
    refused(ValueError, "take a random part", Packing, huge)


@pytest.mark.parametrize(("n", "groups"), [(9, 1), (19, 1), (20, 2), (45, 4), (1200, 100)])
def test_useless_scores_are_exchanged_among_neighbours(n, groups):
    """In groups of ten at least and a hundred of them at most, by the ranks of the confidence."""
    columns = random_problem(n - 3, 3)
    data = problem(*columns._replace(id_detector=np.arange(n - 3.0), ood_detector=np.arange(n - 3.0, n))).ranked()
    place, group = np.empty(n, int), np.arange(n) * groups // n
    place[np.argsort(data.confidence)] = np.arange(n)
    at = {value: k for k, value in enumerate(data.detector.tolist())}
    moved = [place[at[value]] for value in _conditional(data, np.random.default_rng(0)).tolist()]
    assert (group[moved] == group[place]).all()
    finer = np.arange(n) * (groups + 1) // n
    assert (finer[moved] != finer[place]).any()
