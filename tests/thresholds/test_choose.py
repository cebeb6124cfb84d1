"""Objectives without a guarantee, groups, and bad input."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given

import abstain
from abstain import thresholds
from abstain.thresholds import ReusedCalibrationWarning, audit
from tests.refusal import refused
from tests.strategies import problems

LOSS = [0, 0, 1, 0, 1, 1]
SCORE = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]


@given(problems(losses=["binary"], scores=["untied", "tied", "heavily_tied"]))
def test_objectives_match_a_search_over_all_thresholds(problem):
    """Risk, coverage, capacity and cost against the obvious loop over the distinct scores."""
    loss, score, _ = problem
    points = [(t, np.mean(score >= t), np.mean(loss[score >= t])) for t in np.unique(score)[::-1]]
    by_risk = [point for point in points if point[2] <= 0.25]
    found = abstain.choose_threshold(loss, score, risk=0.25)
    assert found.attainable == bool(by_risk)
    assert found.threshold == (by_risk[-1][0] if by_risk else np.inf)
    by_coverage = [point for point in points if point[1] >= 0.6 - 1e-12]
    assert abstain.choose_threshold(loss, score, coverage=0.6).threshold == by_coverage[0][0]
    assert abstain.choose_threshold(loss, score, capacity=0.4).threshold == by_coverage[0][0]
    costs = [5.0 * r * c + 1.0 * (1 - c) for _, c, r in points]
    chosen = abstain.choose_threshold(loss, score, cost=(5.0, 1.0))
    cost = 5.0 * np.nan_to_num(chosen.risk) * chosen.coverage + (1.0 - chosen.coverage)
    assert cost == pytest.approx(min([*costs, 1.0]))


def test_rows_of_weight_0_make_no_interval_narrower():
    """Three rows know what three rows know."""
    loss, score, weight = [0.0, 1.0, 0.0], [3.0, 2.0, 1.0], [1.0, 2.0, 1.0]
    one = abstain.choose_threshold(loss, score, coverage=1.0, sample_weight=weight)
    more = loss + [1.0] * 90, score + [2.5] * 90
    two = abstain.choose_threshold(*more, coverage=1.0, sample_weight=weight + [0.0] * 90)
    assert two.risk_interval == pytest.approx(one.risk_interval, rel=1e-12)
    assert two.coverage_interval == pytest.approx(one.coverage_interval, rel=1e-12, nan_ok=True)


def test_the_largest_cwsa():
    """Over all attainable thresholds, as a loop over them says."""
    values = {t: abstain.cwsa(LOSS, SCORE, threshold=t) for t in SCORE}
    found = thresholds.cwsa_threshold(LOSS, SCORE)
    assert values[found.threshold] == pytest.approx(max(values.values()))


@pytest.mark.parametrize("options", [{"risk": 0.1}, {"coverage": 0.5}, {"risk": 0.1, "delta": 0.05}])
def test_infinite_scores_are_refused(options):
    """A threshold of +inf accepts nothing, so it cannot also accept the rows whose score is +inf."""
    with pytest.raises(ValueError, match=r"confidence holds \+inf \(2 such\).*finite score above all others"):
        abstain.choose_threshold([1, 0, 1], [np.inf, np.inf, 0.7], **options)


def test_objectives_of_a_wrong_type_are_named():
    """Argument, value and remedy."""
    for options, message in (
        ({"cost": 5.0}, r"cost must be a pair \(error, review\), got 5.0"),
        ({"cost": (5.0,)}, r"cost must be a pair \(error, review\), got \(5.0,\)"),
        ({"cost": ("a", 1.0)}, r"cost\[0\] must be a number >= 0, got 'a'"),
        ({"risk": (1, 2)}, r"risk must be a number > 0, got \(1, 2\)"),
        ({"risk": 0.1, "delta": 0.05, "max_loss": "1"}, "max_loss must be a number > 0, got '1'; give the largest"),
    ):
        refused(TypeError, message, abstain.choose_threshold, LOSS, SCORE, **options)


def test_not_attainable_is_an_answer():
    """A reason, the best point, and a threshold that accepts nothing."""
    found = abstain.choose_threshold([1, 0, 1], [0.9, 0.8, 0.7], risk=0.1)
    assert (found.attainable, found.threshold) == (False, np.inf)
    assert found.reason == "no threshold attains a selective risk of 0.1 or less; the lowest attainable is 0.5"
    assert found.best.coverage == pytest.approx(2 / 3)
    assert not found.accept([np.inf, 1.0]).any()
    assert "not attainable" in str(found)


@pytest.mark.parametrize(("largest", "weight"), [(1.0, np.tile([0.5, 1.5], 50)), (0.5, None)])
def test_no_error_is_no_proof_of_a_risk_of_zero(largest, weight):
    """Where no exact interval exists and nothing varies, the ends are NaN and not [0, 0], as in abstain.inference."""
    score = np.arange(100.0)
    found = abstain.choose_threshold(largest * (score < 30), score, coverage=0.5, sample_weight=weight)
    assert found.risk == 0.0
    assert np.isnan(found.risk_interval).all()


def test_equal_losses_above_the_limit_break_the_guarantee():
    """Losses without spread refute a guarantee when there are enough of them for a bound; few of them cannot tell."""
    score = np.arange(1000.0)
    found = abstain.choose_threshold(0.1 * np.ones(1000), score, risk=0.3, delta=0.05, max_loss=1.0)
    assert abstain.audit(found, [0.5] * 50, [2000.0] * 50).satisfied is False
    assert abstain.audit(found, [0.5] * 5, [2000.0] * 5).satisfied is None
    assert abstain.audit(found, [0.2] * 50, [2000.0] * 50).satisfied is None
    assert abstain.audit(found, [0.2] * 500, [2000.0] * 500).satisfied is True


def test_a_loss_that_may_be_graded_has_one_test_whatever_the_rows_hold():
    """``max_loss`` names the test; rows of 0 and 1 alone change it no more than a first graded loss does."""
    rng = np.random.default_rng(4)
    score = rng.random(3000)
    loss = (rng.random(3000) < 0.3 * (1.0 - score)).astype(float)
    graded = loss.copy()
    graded[np.argmin(score)] = 0.5  # at the end, where no certified threshold reaches
    options = {"risk": 0.05, "delta": 0.05}
    plain = abstain.choose_threshold(loss, score, **options)
    declared = abstain.choose_threshold(loss, score, max_loss=1.0, **options)
    assert (plain.bound, declared.bound) == ("binomial", "betting")
    assert declared.threshold == abstain.choose_threshold(graded, score, max_loss=1.0, **options).threshold
    with pytest.raises(ValueError, match="0/1 losses without weights or max_loss"):
        thresholds.bonferroni_threshold(loss, score, max_loss=1.0, **options)
    with pytest.raises(ValueError, match="0/1 losses without weights or max_loss"):
        thresholds.bonferroni_threshold(graded, score, max_loss=1.0, **options)
    bands = [abstain.thresholds.certified_band(each, score, max_loss=1.0).upper for each in (loss, graded)]
    np.testing.assert_array_equal(bands[0][:-1], bands[1][:-1])
    assert (abstain.thresholds.certified_band(loss, score).upper < bands[0]).all()
    one, other = (abstain.choose_threshold(x, score, max_loss=1.0, risk=1e-3, delta=0.05) for x in (loss, graded))
    assert declared.rows_needed is one.rows_needed is None
    assert one.attained[0] == other.attained[0]


def test_an_audit_rarely_refutes_a_guarantee_that_holds():
    """Losses of .0505 nine times in ten have a mean below .05: audits that saw only those may not say broken."""
    found = abstain.choose_threshold(np.zeros(1000), np.arange(1000.0), risk=0.05, delta=0.05, max_loss=1.0)
    rng = np.random.default_rng(0)
    for n in (2, 5, 20, 200):
        seen = [abstain.audit(found, rng.choice([0.0, 0.0505], n, p=[0.1, 0.9]), np.full(n, 2000.0)) for _ in range(40)]
        assert sum(each.satisfied is False for each in seen) <= 1


def test_an_audit_has_three_answers():
    """Two errors among six rows are no proof of a guarantee, nor is nothing at all; enough good rows are."""
    found = abstain.choose_threshold(np.zeros(1000), np.arange(1000.0), risk=0.05, delta=0.05)
    few = abstain.audit(found, [1.0, 1.0, 0.0, 0.0, 0.0, 0.0], np.full(6, 2000.0))
    assert few.satisfied is None
    groups = abstain.audit(found, [1.0, 1.0, 0.0, 0.0, 0.0, 0.0], np.full(6, 2000.0), groups=list("aaabbb"))
    assert (groups.satisfied, groups.reason) == (None, few.reason)  # groups only show where
    assert "guarantee: undecided" in str(few)
    assert abstain.audit(found, np.zeros(60), np.full(60, -1.0)).satisfied is None
    assert abstain.audit(found, np.zeros(200), np.full(200, 2000.0)).satisfied is True
    assert abstain.audit(found, np.arange(200) < 30, np.full(200, 2000.0)).satisfied is False


def test_verdicts_of_groups_allow_for_their_number():
    """Ten groups exactly at the limit: refuted by chance in one audit of twenty at most, where 18 % were."""
    rng, site = np.random.default_rng(5), np.repeat(np.arange(10), 500)
    found = abstain.choose_threshold(np.zeros(5000), np.arange(5000.0), risk=0.05, delta=0.05, groups=site)
    score = np.full(5000, 1e9) + np.arange(5000)
    seen = [abstain.audit(found, rng.random(5000) < 0.05, score, groups=site).satisfied for _ in range(20)]
    assert sum(each is False for each in seen) <= 3
    few = abstain.audit(found, np.zeros(5), np.full(5, 1e9), groups=site[::1000])
    assert (few.satisfied, few.reason) == (None, "not of every group")


def test_groups_share_delta():
    """Two groups at delta each need more rows than one; unknown groups are rejected."""
    loss, score = np.zeros(800), np.arange(800.0)
    group = np.where(np.arange(800) % 2, "a", "b")
    found = abstain.choose_threshold(loss, score, risk=0.05, delta=0.05, groups=group)
    assert [each.delta for each in found.groups.values()] == [0.025, 0.025]
    each = thresholds.separate_group_thresholds(loss, score, group, risk=0.05, delta=0.05)
    assert (each.groups["a"].delta, each.multiplicity) == (0.05, "each")
    assert "for each group by itself" in each.guarantee().statement
    assert found.accept([1e9, 1e9], ["a", "c"]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("choose", "max_loss"),
    [
        (abstain.choose_threshold, 1.0),
        (partial(thresholds.bonferroni_threshold, bound="hoeffding-bentkus"), 1.0),
        (abstain.choose_threshold, 1e308),
    ],
)
@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_a_risk_near_zero_is_not_attainable(scale, choose, max_loss):
    """An answer, not an OverflowError or a warning of a division by zero."""
    found = choose(scale * np.eye(1, 100)[0], np.arange(100.0), risk=1e-320, delta=0.05, max_loss=max_loss)
    assert "are too few: even without an error 2.99573227355399e+300 of them" in str(found.reason)
    assert "at least 99999 are needed" in str(abstain.thresholds.conformal_threshold(LOSS, SCORE, 1e-5).reason)
    assert "are needed" in str(abstain.thresholds.conformal_threshold(LOSS, SCORE, 1e-320).reason)


def test_errors_name_the_group():
    """Rows that are all missing or weightless say whose they are."""
    for options, message in (
        ({"sample_weight": [1, 1, 0, 0]}, "group 'b': sample_weight sums to 0"),
        ({"confidence": [1, 2, np.nan, np.nan], "nan_policy": "drop"}, "group 'b': confidence is NaN for every sample"),
        ({"confidence": [1, 2, 3, np.inf]}, r"group 'b': confidence holds \+inf"),
        ({"loss": [0, 1, 0.5, 0], "delta": 0.1}, "group 'b': a guarantee for a loss that is not 0/1"),
    ):
        call = {"loss": [0, 1, 0, 1], "confidence": [1, 2, 3, 4], "risk": 0.5, "groups": list("aabb")} | options
        refused(ValueError, message, abstain.choose_threshold, **call)


def test_missing_scores():
    """An error by default; never accepted; or left out."""
    with pytest.raises(ValueError, match=r"confidence holds NaN: confidence\[1\]"):
        abstain.choose_threshold([0, 1, 0], [0.9, np.nan, 0.5], coverage=0.5)
    found = abstain.choose_threshold([0, 1, 0], [0.9, np.nan, 0.5], coverage=1.0, nan_policy="reject")
    assert not found.attainable
    assert (found.best.threshold, found.best.coverage) == (0.5, 2 / 3)  # the nearest that there is
    assert abstain.choose_threshold([0, 1, 0], [0.9, np.nan, 0.5], coverage=1.0, nan_policy="drop").n == 2
    assert not abstain.choose_threshold([0], [1.0], coverage=1.0).accept([np.nan]).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give exactly one objective"),
        ({"risk": 0.1, "coverage": 0.5}, "give exactly one objective"),
        ({"coverage": 0.5, "delta": 0.1}, "delta= belongs to risk="),
        ({"risk": 5}, None),
        ({"risk": 0.1, "delta": 5}, r"delta must lie in \[0, 1\], got 5.0; give a fraction"),
        ({"risk": 0.1, "delta": 0.95}, "is the probability that the guarantee fails.*give delta=0.05"),
        ({"risk": 0.1, "delta": 0.05, "bound": "hoeffding-bentkus"}, "no bound= any more: .*bonferroni_threshold"),
        ({"risk": 0.1, "delta": 0.05, "procedure": "sgr"}, "no procedure= any more: thresholds.sgr_threshold"),
        ({"metric": "cwsa"}, "no metric= any more: thresholds.cwsa_threshold"),
        ({"risk": 0.1, "delta": 0.05, "level": 0.9}, "no level= any more: .*audit"),
        ({"risk": 0.1, "delta": 0.05, "multiplicity": "each"}, "thresholds.separate_group_thresholds"),
        ({"risk": 0.1, "answered": True}, "found.about_answered()"),
        ({"risk": 0.1, "delta": 0.05, "sample_weight": np.ones(6)}, "give max_weight="),
        ({"risk": 0.1, "delta": 0.05, "sample_weight": np.ones(6), "max_weight": 0.5}, "is below a weight that occurs"),
        ({"risk": 0.1, "delta": 0.05, "thresholds": [0.5]}, "thresholds.prespecified_threshold"),
        ({"coverage": 0.1, "max_weight": 2.0}, "max_weight= belongs to a certificate; give risk= with delta="),
        ({"capacity": (5, 2)}, "0 <= reviews <= volume"),
        ({"cost": (0, 1)}, "needs error > 0"),
    ],
)
def test_bad_options_are_refused(options, message):
    """The message names the argument and the remedy; an empirical risk above 1 is fine for real losses."""
    if message is None:
        assert abstain.choose_threshold(LOSS, SCORE, **options).coverage == 1.0
        return
    refused((ValueError, TypeError), message, abstain.choose_threshold, LOSS, SCORE, **options)


def test_real_losses_need_their_bound():
    """The largest loss that was seen is none."""
    refused(ValueError, "give max_loss=", abstain.choose_threshold, [0.5, 2.0], [0.1, 0.2], risk=0.1, delta=0.05)
    with pytest.raises(ValueError, match="below a loss that occurs"):
        abstain.choose_threshold([0.5, 2.0], [0.1, 0.2], risk=0.1, delta=0.05, max_loss=1.0)


@pytest.mark.parametrize("power", [1, 2, 5, 12])
def test_other_rows_on_the_same_grid_are_not_known_again(power):
    """Scores of four decimals, which crowd near 1: new rows share some with the calibration rows by chance."""
    for n in (500, 1000, 1500, 2000):
        rng = np.random.default_rng(n)
        (old, wrong), (new, error) = ((np.round(rng.beta(power, 1, n), 4), rng.random(n) < 0.1) for _ in range(2))
        assert audit(abstain.choose_threshold(wrong, old, coverage=0.5), error, new).n == n


def test_reporting_on_calibration_rows_warns():
    """In any order of the rows; other rows are silent."""
    found = abstain.choose_threshold(LOSS, SCORE, coverage=0.5)
    with pytest.warns(ReusedCalibrationWarning, match="optimistic"):
        audit(found, LOSS[::-1], SCORE[::-1])
    seen = audit(found, [0, 1, 1, 0], [0.95, 0.85, 0.1, np.nan])
    assert (seen.n, seen.n_accepted, seen.risk, seen.satisfied) == (4, 2, 0.5, None)


def test_reuse_is_noticed_with_groups_and_weights():
    """A policy by group knows all its rows; weights do not hide them."""
    site = ["a", "b"] * 3
    by_site = abstain.choose_threshold(LOSS, SCORE, coverage=0.5, groups=site)
    weighted = abstain.choose_threshold(LOSS, SCORE, coverage=0.5, sample_weight=[1, 2, 3, 1, 2, 3])
    for found in (by_site, by_site.policy(score="s", group="site"), weighted):
        with pytest.warns(ReusedCalibrationWarning):
            audit(found, LOSS, SCORE, groups=site)


def test_an_audit_by_group():
    """Each group by itself; a guarantee per group is broken if that of one group is."""
    n = 4000
    site = np.where(np.arange(n) % 2, "a", "b")
    found = abstain.choose_threshold(np.zeros(n), np.arange(n), risk=0.05, delta=0.05, groups=site)
    score, new = np.full(300, 1e9), np.repeat(["a", "b", "c"], 100)
    loss = (np.arange(300) % 100 < 15) * (new == "b")
    seen = audit(found, loss, score, groups=new)
    assert (seen.n, seen.n_accepted, seen.risk) == (300, 200, 0.075)
    assert {name: (each.n_accepted, each.satisfied) for name, each in seen.groups.items()} == {
        "a": (100, True), "b": (100, False), "c": (0, None)
    }  # fmt: skip
    assert seen.satisfied is False
    refused(TypeError, "give groups=", audit, found, loss, score)


def test_given_thresholds_are_the_only_ones():
    """The certificate is one of them, and no row is spent on a pilot."""
    rng = np.random.default_rng(1)
    score = rng.random(3000)
    loss = rng.random(3000) > score**0.2
    options = {"thresholds": [0.9, 0.7, 0.5, 0.3], "risk": 0.1, "delta": 0.05}
    for choose in (
        thresholds.prespecified_threshold,
        thresholds.fixed_sequence_threshold,
        thresholds.bonferroni_threshold,
        partial(thresholds.bonferroni_threshold, bound="hoeffding-bentkus"),
        partial(thresholds.prespecified_threshold, bound="hoeffding-bentkus"),
        partial(thresholds.prespecified_threshold, max_loss=1.0),
    ):
        assert choose(loss, score, **options).threshold == 0.5
    with pytest.raises(ValueError, match=r"thresholds holds NaN: thresholds\[1\]"):
        thresholds.prespecified_threshold(loss, score, [0.5, np.nan], risk=0.1, delta=0.05)
    with pytest.raises(ValueError, match="exact for 0/1 losses without weights"):
        thresholds.bonferroni_threshold(loss, score, sample_weight=np.ones(3000), max_weight=2.0, risk=0.1, delta=0.05)


def test_a_risk_that_is_no_limit_asks_for_the_largest_loss_first():
    """A limit above 1 makes sense for losses up to 10."""
    loss, score = np.tile([0.0, 0.5, 8.0], 400), np.arange(1200)
    refused(ValueError, "give max_loss=", abstain.choose_threshold, loss, score, risk=2.0, delta=0.05)
    with pytest.raises(ValueError, match="risk must be below the largest possible loss, 10"):
        abstain.choose_threshold(loss, score, risk=10.0, delta=0.05, max_loss=10.0)
    assert abstain.choose_threshold(loss, score, risk=4.0, delta=0.05, max_loss=10.0).guarantee().max_loss == 10.0


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.62, 0.9])
def test_an_audit_of_losses_in_other_units_decides_alike(rate):
    """Losses, limit and largest loss times four, or a quarter."""
    rng, decided = np.random.default_rng(3), []
    old, sure, new, score = (rng.random(n) for n in (2000, 2000, 600, 600))
    for unit in (0.25, 1.0, 4.0):
        chosen = abstain.choose_threshold(0.3 * unit * old, sure, risk=0.3 * unit, delta=0.05, max_loss=unit)
        decided.append(audit(chosen, rate * unit * new, score).satisfied)
    assert decided == [{0.1: True, 0.5: True, 0.62: None, 0.9: False}[rate]] * 3
