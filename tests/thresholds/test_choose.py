"""Objectives without a guarantee, groups, audits, and bad input."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain
from abstain import thresholds
from abstain.thresholds import ReusedCalibrationWarning, audit
from tests.refusal import refused
from tests.strategies import problems

LOSS = [0, 0, 1, 0, 1, 1]
SCORE = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
CERTIFIED = {"risk": 0.1, "delta": 0.05}


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


@given(
    problems(losses=["binary", "graded"], scores=["tied", "untied"], weights=["none", "with_zeros"]),
    st.sampled_from(["cwsa", "cwsa_plus"]),
)
def test_the_largest_cwsa(problem, metric):
    """The lowest of the attainable thresholds in [0, 1) at which it is largest, as a loop over them says."""
    loss, score, weight = problem
    if score.min() < 0.0 or score.max() > 1.0:
        score = np.clip(score / max(1.0, np.abs(score).max()), 0.0, 1.0)
    seen = score if weight is None else score[weight > 0.0]
    tried = {t: getattr(abstain, metric)(loss, score, threshold=t, sample_weight=weight) for t in seen if t < 1.0}
    found = thresholds.cwsa_threshold(loss, score, metric=metric, sample_weight=weight)
    if tried:
        best = [t for t, value in tried.items() if value >= max(tried.values()) - 1e-12]
        assert found.threshold in best
    else:
        assert found.reason == f"{metric} needs a threshold in [0, 1), and no score lies there"


def test_rows_of_weight_0_make_no_interval_narrower():
    """Three rows know what three rows know."""
    loss, score, weight = [0.0, 1.0, 0.0], [3.0, 2.0, 1.0], [1.0, 2.0, 1.0]
    one = abstain.choose_threshold(loss, score, coverage=1.0, sample_weight=weight)
    more = loss + [1.0] * 90, score + [2.5] * 90
    two = abstain.choose_threshold(*more, coverage=1.0, sample_weight=weight + [0.0] * 90)
    assert two.risk_interval == pytest.approx(one.risk_interval, rel=1e-12)
    assert two.coverage_interval == pytest.approx(one.coverage_interval, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *[({"confidence": [5.0, np.inf, np.inf, 3.0, 2.0, 1.0]} | more,
           r"confidence holds \+inf \(2 such\).*finite score above all others")
          for more in ({"risk": 0.1}, {"coverage": 0.5}, CERTIFIED)],
        ({"cost": (5.0,)}, r"cost must be a pair \(error, review\), got \(5.0,\)"),
        ({"cost": ("a", 1.0)}, r"cost\[0\] must be a number >= 0, got 'a'"),
        ({"cost": (0, 1)}, "needs error > 0"), ({"capacity": (5, 2)}, "0 <= reviews <= volume"),
        ({"risk": (1, 2)}, r"risk must be a number > 0, got \(1, 2\)"),
        (CERTIFIED | {"max_loss": "1"}, "max_loss must be a number > 0, got '1'; give the largest"),
        ({}, "give exactly one objective"), ({"risk": 0.1, "coverage": 0.5}, "give exactly one objective"),
        ({"coverage": 0.5, "delta": 0.1}, "delta= belongs to risk="),
        ({"risk": 0.1, "delta": 0.95}, "is the probability that the guarantee fails.*give delta=0.05"),
        (CERTIFIED | {"bound": "hoeffding-bentkus"}, "no bound= any more: .*bonferroni_threshold"),
        (CERTIFIED | {"procedure": "sgr"}, "no procedure= any more: thresholds.sgr_threshold"),
        ({"metric": "cwsa"}, "no metric= any more: thresholds.cwsa_threshold"),
        (CERTIFIED | {"level": 0.9}, "no level= any more: .*audit"),
        (CERTIFIED | {"multiplicity": "each"}, "thresholds.separate_group_thresholds"),
        ({"risk": 0.1, "answered": True}, "found.about_answered()"),
        (CERTIFIED | {"thresholds": [0.5]}, "thresholds.prespecified_threshold"),
        (CERTIFIED | {"sample_weight": np.ones(6)}, "give max_weight="),
        (CERTIFIED | {"sample_weight": np.ones(6), "max_weight": 0.5}, "is below a weight that occurs"),
        ({"coverage": 0.1, "max_weight": 2.0}, "max_weight= belongs to a certificate; give risk= with delta="),
        ({"loss": [0.5, 0, 2, 0, 0, 0]} | CERTIFIED, "give max_loss="),
        ({"loss": [0.5, 0, 8, 0, 0, 0], "risk": 2.0, "delta": 0.05}, "give max_loss="),
        ({"loss": [0.5, 0, 2, 0, 0, 0], "max_loss": 1.0} | CERTIFIED, "below a loss that occurs"),
        ({"risk": 10.0, "delta": 0.05, "max_loss": 10.0}, "risk must be below the largest possible loss, 10"),
        *[({"risk": 0.5, "groups": list("aabbbb")} | more, f"group 'b': {message}") for more, message in (
            ({"sample_weight": [1, 1, 0, 0, 0, 0]}, "sample_weight sums to 0"),
            ({"confidence": [1, 2, *[np.nan] * 4], "nan_policy": "drop"}, "confidence is NaN for every sample"),
            ({"loss": [0, 1, 0.5, 0, 0, 0], "delta": 0.1}, "a guarantee for a loss that is not 0/1"))],
    ],
)  # fmt: skip
def test_bad_options_are_refused(options, message):
    """The message names the argument and the remedy, and the group."""
    columns = {"loss": LOSS, "confidence": SCORE}
    refused((ValueError, TypeError), message, abstain.choose_threshold, **columns | options)


def test_what_procedures_refuse():
    """Thresholds that are missing, and an exact test of what may be graded."""
    exact = "exact for 0/1 losses without weights or max_loss"
    bonferroni = partial(thresholds.bonferroni_threshold, LOSS, SCORE, **CERTIFIED)
    refused(ValueError, exact, bonferroni, sample_weight=np.ones(6), max_weight=2.0)
    refused(ValueError, exact, bonferroni, max_loss=1.0)
    message = r"thresholds holds NaN: thresholds\[1\]"
    refused(ValueError, message, thresholds.prespecified_threshold, LOSS, SCORE, [0.5, np.nan], **CERTIFIED)
    with pytest.warns(UserWarning, match="-999"):
        thresholds.bonferroni_threshold(LOSS, [-999, *SCORE[1:]], **CERTIFIED)


def test_not_attainable_is_an_answer():
    """A reason, the best point, and a threshold that accepts nothing; a risk above 1 is fine without a guarantee."""
    found = abstain.choose_threshold([1, 0, 1], [0.9, 0.8, 0.7], risk=0.1)
    assert (found.attainable, found.threshold) == (False, np.inf)
    assert found.reason == "no threshold attains a selective risk of 0.1 or less; the lowest attainable is 0.5"
    assert found.best.coverage == pytest.approx(2 / 3)
    assert not found.accept([np.inf, 1.0]).any()
    assert abstain.choose_threshold(LOSS, SCORE, risk=5).coverage == 1.0


@pytest.mark.parametrize(("largest", "weight"), [(1.0, np.tile([0.5, 1.5], 50)), (0.5, None)])
def test_no_error_is_no_proof_of_a_risk_of_zero(largest, weight):
    """Where no exact interval exists and nothing varies, the ends are NaN and not [0, 0], as in abstain.inference."""
    score = np.arange(100.0)
    found = abstain.choose_threshold(largest * (score < 30), score, coverage=0.5, sample_weight=weight)
    assert found.risk == 0.0
    assert np.isnan(found.risk_interval).all()


def test_a_loss_that_may_be_graded_has_one_test_whatever_the_rows_hold():
    """``max_loss`` names the test; rows of 0 and 1 alone change it no more than a first graded loss does."""
    rng = np.random.default_rng(4)
    score = rng.random(3000)
    loss = (rng.random(3000) < 0.3 * (1.0 - score)).astype(float)
    graded = loss.copy()
    graded[np.argmin(score)] = 0.5  # at the end, where no certified threshold reaches
    options = {"risk": 0.05, "delta": 0.05}
    plain = abstain.choose_threshold(loss, score, **options)
    one, other = (abstain.choose_threshold(each, score, max_loss=1.0, **options) for each in (loss, graded))
    assert (plain.bound, one.bound, other.bound) == ("binomial", "betting", "betting")
    assert one.threshold == other.threshold
    bands = [abstain.thresholds.certified_band(each, score, max_loss=1.0).upper for each in (loss, graded)]
    np.testing.assert_array_equal(bands[0][:-1], bands[1][:-1])
    assert (abstain.thresholds.certified_band(loss, score).upper < bands[0]).all()


def test_an_audit_rarely_refutes_a_guarantee_that_holds():
    """Losses of .0505 nine times in ten have a mean below .05: audits that saw only those may not say broken."""
    found = abstain.choose_threshold(np.zeros(1000), np.arange(1000.0), risk=0.05, delta=0.05, max_loss=1.0)
    rng = np.random.default_rng(0)
    for n in (2, 5, 20, 200):
        seen = [abstain.audit(found, rng.choice([0.0, 0.0505], n, p=[0.1, 0.9]), np.full(n, 2000.0)) for _ in range(40)]
        assert sum(each.satisfied is False for each in seen) <= 1


@pytest.mark.parametrize("max_loss", [1.0, 1e308])
def test_a_risk_near_zero_is_not_attainable(max_loss):
    """An answer, not an OverflowError or a warning of a division by zero."""
    wrong, options = np.eye(1, 100)[0], {"risk": 1e-320, "delta": 0.05, "max_loss": max_loss}
    exact = partial(thresholds.bonferroni_threshold, bound="hoeffding-bentkus")
    for choose, scale in ((abstain.choose_threshold, 0.5), (abstain.choose_threshold, 1.0), (exact, 1.0)):
        reason = choose(scale * wrong, np.arange(100.0), **options).reason
        assert "are too few: even without an error 2.99573227355399e+300 of them" in reason
    for risk, least in ((1e-5, "at least 99999 are needed"), (1e-320, "are needed")):
        assert least in abstain.thresholds.conformal_threshold(LOSS, SCORE, risk).reason


# ---------------------------------------------------------------------- groups, and rows that were seen before


def test_groups_share_delta():
    """Two groups at delta each need more rows than one; a new group is rejected; a broken one breaks all."""
    score, group = np.arange(800.0), np.where(np.arange(800) % 2, "a", "b")
    found = abstain.choose_threshold(np.zeros(800), score, risk=0.05, delta=0.05, groups=group)
    assert [each.delta for each in found.groups.values()] == [0.025, 0.025]
    each = thresholds.separate_group_thresholds(np.zeros(800), score, group, risk=0.05, delta=0.05)
    assert (each.groups["a"].delta, each.multiplicity) == (0.05, "each")
    assert "for each group by itself" in each.guarantee().statement
    assert found.accept([1e9, 1e9], ["a", "c"]).tolist() == [True, False]
    new = np.repeat(["a", "b", "c"], 100)
    loss = (np.arange(300) % 100 < 15) * (new == "b")
    seen = audit(found, loss, np.full(300, 1e9), groups=new)
    assert (seen.n, seen.n_accepted, seen.risk, seen.satisfied) == (300, 200, 0.075, False)
    each = {name: (one.n_accepted, one.satisfied) for name, one in seen.groups.items()}
    assert each == {"a": (100, True), "b": (100, False), "c": (0, None)}
    refused(TypeError, "give groups=", audit, found, loss, 0.5 + score[:300])
    few = audit(found, np.zeros(2), [1e9, 1e9], groups=["a", "b"])
    assert (few.satisfied, few.reason) == (None, "not of every group")


@pytest.mark.parametrize("power", [1, 12])
def test_other_rows_on_the_same_grid_are_not_known_again(power):
    """Scores of four decimals, which crowd near 1: new rows share some with the calibration rows by chance."""
    for n in (500, 1000, 1500, 2000):
        rng = np.random.default_rng(n)
        (old, wrong), (new, error) = ((np.round(rng.beta(power, 1, n), 4), rng.random(n) < 0.1) for _ in range(2))
        assert audit(abstain.choose_threshold(wrong, old, coverage=0.5), error, new).n == n


def test_reuse_is_noticed_in_any_order_with_groups_and_weights():
    """A policy by group knows all its rows; weights do not hide them; other rows are silent."""
    site = ["a", "b"] * 3
    by_site = abstain.choose_threshold(LOSS, SCORE, coverage=0.5, groups=site)
    weighted = abstain.choose_threshold(LOSS, SCORE, coverage=0.5, sample_weight=[1, 2, 3, 1, 2, 3])
    for found in (by_site, by_site.policy(score="s", group="site"), weighted):
        with pytest.warns(ReusedCalibrationWarning, match="optimistic"):
            audit(found, LOSS[::-1], SCORE[::-1], groups=site[::-1])
    seen = audit(weighted, [0, 1, 1, 0], [0.95, 0.85, 0.1, np.nan])
    assert (seen.n, seen.n_accepted, seen.risk, seen.satisfied) == (4, 2, 0.5, None)


@pytest.mark.parametrize(("rate", "answer"), [(0.1, True), (0.5, True), (0.62, None), (0.9, False)])
def test_an_audit_of_losses_in_other_units_decides_alike(rate, answer):
    """Losses, limit and largest loss times four, or a quarter."""
    rng = np.random.default_rng(3)
    old, sure, new, score = (rng.random(n) for n in (2000, 2000, 600, 600))
    for unit in (0.25, 1.0, 4.0):
        chosen = abstain.choose_threshold(0.3 * unit * old, sure, risk=0.3 * unit, delta=0.05, max_loss=unit)
        assert audit(chosen, rate * unit * new, score).satisfied is answer
