"""How far a guarantee reaches, and certificates for another mix of classes."""

import math
import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import abstain
from abstain.thresholds import Reach, prior_threshold
from tests.refusal import refused

RISKS = st.floats(1e-3, 0.45).flatmap(lambda limit: st.tuples(st.just(limit), st.floats(1e-4, 0.99).map(limit.__mul__)))
SHARES = st.floats(0.05, 1.0)
NEAR = 1e-6


@given(RISKS, SHARES)
def test_unseen_answers(risks, coverage):
    """A mixture of answers with risk u and wrong ones attains the limit at the stated share, and exceeds it above."""
    limit, upper = risks
    reach = Reach(limit, upper, coverage)
    for share, holds in ((reach.ood_share * (1 - NEAR), True), (reach.ood_share * (1 + NEAR), False)):
        risk = (1 - share) * upper + share * 1.0
        assert (risk <= limit) is holds
        assert reach.with_ood(share) == pytest.approx(risk)


@given(RISKS, SHARES, st.floats(0.05, 1.0))
def test_unseen_cases(risks, coverage, rate):
    """Of all cases the answered ones are those of calibration at its coverage, and unseen ones at their own rate."""
    limit, upper = risks
    edge = Reach(limit, upper, coverage).ood_cases(rate)
    for share, holds in ((edge * (1 - NEAR), True), (edge * (1 + NEAR), False)):
        wrong = (1 - share) * coverage * upper + share * rate
        assert (wrong / ((1 - share) * coverage + share * rate) <= limit) is holds


@given(RISKS)
def test_density_ratio(risks):
    """Of densities within [1/G, G] on right and wrong answers the worst keeps the limit up to the stated G only."""
    limit, upper = risks
    edge = Reach(limit, upper, 0.5).density_ratio

    def worst(ratio):
        on_wrong = min(ratio, (1 - (1 - upper) / ratio) / upper)  # the right ones keep at least 1/G of theirs
        return on_wrong * upper

    assert worst(edge * (1 - NEAR)) <= limit < worst(edge * (1 + NEAR))


@given(RISKS)
def test_chi_square_and_total_variation(risks):
    """Moving probability from right to wrong answers costs exactly the stated divergence when it reaches the limit."""
    limit, upper = risks
    reach = Reach(limit, upper, 0.5)
    chi = (limit - upper) ** 2 / upper + (limit - upper) ** 2 / (1 - upper)
    assert reach.chi_square == pytest.approx(chi)
    assert reach.total_variation == pytest.approx(0.5 * (abs(limit - upper) + abs(upper - limit)))


@given(RISKS)
def test_subgroups(risks):
    """A subgroup that holds every error keeps its own limit from the stated share on."""
    limit, upper = risks
    share = Reach(limit, upper, 0.5).subgroup(2 * limit)
    assert upper / share <= 2 * limit * (1 + 1e-12)
    assert upper / (share * (1 - NEAR)) > 2 * limit


def test_no_slack_reaches_nowhere():
    """A certificate whose only upper limit is its own limit holds for the calibrated population alone."""
    reach = Reach(0.05, 0.05, 0.5)
    assert (reach.ood_share, reach.ood_cases(), reach.density_ratio, reach.chi_square) == (0, 0, 1, 0)
    assert "no room" in reach.sentence
    assert Reach(0.05, 0.0, 0.5).density_ratio == math.inf


def test_reach_of_groups_and_of_a_band():
    """Each group with a certificate has its own; a band has one for any threshold and limit."""
    rng = np.random.default_rng(4)
    score, names = rng.random(9000), rng.choice(["a", "b"], 9000)
    wrong = (rng.random(9000) < 0.2 * (1 - score)).astype(float)
    found = abstain.choose_threshold(wrong, score, risk=0.05, delta=0.05, groups=names, ood_share=0.01)
    assert {name: round(one.ood_share, 9) >= 0.01 for name, one in found.reach.items()} == {"a": True, "b": True}
    one = abstain.choose_threshold(wrong, score, risk=0.05, delta=0.02, ood_share=0.01).guarantee().statement
    assert "mean loss of what is accepted is at most 0.05, also if a share of 0.01" in one
    band = abstain.thresholds.certified_band(wrong, score, delta=0.05)
    reach = band.reach(0.7, risk=0.08)
    assert (reach.limit, reach.upper) == (0.08, band.upper_at([0.7])[0])
    pinned = [band.reach(at, risk=0.08).coverage for at in band.threshold]
    assert pinned == np.maximum.accumulate(band.coverage).tolist()  # one that is a pin counts itself
    twice = abstain.thresholds.certified_band(2 * wrong, score, delta=0.05, max_loss=2.0)
    assert twice.reach(0.7, risk=0.16).limit == 0.08


def test_reach_of_a_joint_evaluation():
    """With probability 1 - delta the limit holds at the stated share of OOD cases, which uses what is measured."""
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        inside, outside = rng.random((2, 1000)), rng.random((2, 500))
        wrong = rng.random(1000) < 0.04
        ood = {"ood_confidence": outside[0], "ood_detector": outside[1]}
        result = abstain.joint.evaluate(wrong, id_confidence=inside[0], id_detector=inside[1], **ood)
        share = Reach.of_joint(result, (0.2, 0.5), risk=0.1, delta=0.1).ood_cases()
        accepted = (1 - share) * 0.4 + share * 0.4  # at these thresholds both kinds are accepted at a rate of 0.4
        held += ((1 - share) * 0.4 * 0.04 + share * 0.4) / accepted <= 0.1
        assert 0.0 <= share < 0.1
    assert held >= 180


def test_the_sentence_never_says_more():
    """Shares are rounded down: what is printed is inside the limit, too."""
    for slack in np.linspace(0.0005, 0.0495, 99):
        reach = Reach(0.05, 0.05 - slack, 0.5, where=" of each group")
        said = re.search(r"at most ([\d.]+) % of the answered cases of each group", reach.sentence)
        assert reach.with_ood(float(said[1]) / 100.0) <= 0.05 + 1e-12
        assert float(said[1]) >= 0.9 * 100.0 * reach.ood_share - 0.001


def test_three_bounds_share_delta():
    """Risk, coverage and OOD share each take a third, as exact binomial limits; what lies at both thresholds counts."""
    rng = np.random.default_rng(0)
    loss, one, two = (rng.random(2000) < 0.02) * 1.0, rng.random(2000), rng.random(2000)
    at = one[3], two[4]
    one[4], two[3] = 1.0, 1.0
    ood = {"ood_confidence": one[:500], "ood_detector": one[500:1000]}
    rows = abstain.joint.evaluate(loss, id_confidence=one, id_detector=two, **ood)
    found, kept = Reach.of_joint(rows, at, risk=0.05, delta=0.05), (one >= at[0]) & (two >= at[1])
    k, n, part = int(loss[kept].sum()), int(kept.sum()), 0.05 / 3
    outside = int(((one[:500] >= at[0]) & (one[500:1000] >= at[1])).sum())
    assert found.upper == pytest.approx(beta.ppf(1 - part, k + 1, n - k))
    assert found.coverage == pytest.approx(beta.ppf(part, n, 2000 - n + 1))
    assert found.answered == pytest.approx(beta.ppf(1 - part, outside + 1, 500 - outside))
    nothing = Reach.of_joint(rows, (2.0, 2.0), risk=0.05)
    assert (nothing.upper, nothing.coverage, nothing.ood_share) == (1.0, 0.0, 0.0)
    alone = abstain.joint.evaluate(loss, id_confidence=one, id_detector=two, ood_confidence=[], ood_detector=[])
    assert Reach.of_joint(alone, at, risk=0.05).answered == 1.0


# ---------------------------------------------------------------------- another mix of classes


GRID = np.linspace(1, 0, 21)


def rows(n, rng):
    """Return losses, scores and classes: the ill are wrong four times as often, whatever the score."""
    ill = rng.random(n) < 0.5
    return (rng.random(n) < np.where(ill, 0.08, 0.02)).astype(float), rng.random(n), ill


def test_violations_where_the_target_is_at_the_limit():
    """With the risk of the target exactly at the limit at most delta of the samples certify anything."""
    found = 0
    for k in range(400):
        loss, score, ill = rows(600, np.random.default_rng(k))
        # a third ill: (.08 + 2 * .02) / 3 = .04
        prior = {True: 1 / 3, False: 2 / 3}
        found += np.isfinite(prior_threshold(loss, score, ill, prior=prior, risk=0.04, delta=0.1, thresholds=GRID))
    assert found <= 400 * 0.1


def test_rare_errors_of_a_rare_class_count_by_the_prior():
    """The same rows are certified for a population without the ill, and not for one of them alone."""
    loss, score, ill = rows(20_000, np.random.default_rng(0))
    given = {"risk": 0.04, "delta": 0.05, "thresholds": GRID}
    assert prior_threshold(loss, score, ill, prior={True: 0.0, False: 1.0}, **given) == 0.0
    assert prior_threshold(loss, score, ill, prior={True: 1.0, False: 0.0}, **given) == np.inf


@pytest.mark.parametrize(("more", "taken"), [(5e-7, True), (-5e-7, True), (2e-6, False), (-2e-6, False)])
def test_a_prior_may_miss_one_by_a_millionth(more, taken):
    """As written with a few digits; a class without rows may have a share of 0."""
    given = {"risk": 0.05, "delta": 0.05, "thresholds": GRID, "prior": {True: 0.5, False: 0.5 + more, "none": 0.0}}
    columns = rows(50, np.random.default_rng(2))
    if taken:
        assert prior_threshold(*columns, **given) == np.inf
    else:
        refused(ValueError, "sum to 1", prior_threshold, *columns, **given)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({True: 0.5, False: 0.4}, "sum to 1"),
        ({True: 0.5, False: 0.4, "well": 0.1}, "hold no row"),
        ({True: 1.0}, "no share for False"),
        (np.array([0.5, 0.5]), "estimated from rows of the target are refused, because their error is not"),
    ],
)
def test_priors_that_say_nothing(prior, message):
    """Shares that do not sum to 1, that were estimated, and classes without rows or shares, are refused."""
    call = {"prior": prior, "risk": 0.05, "delta": 0.05, "thresholds": GRID}
    refused((ValueError, TypeError), message, prior_threshold, *rows(50, np.random.default_rng(2)), **call)


def test_a_share_of_unseen_rows_is_a_stricter_limit():
    """The threshold is that of the limit (r - s) / (1 - s); what the band leaves at it is the reach."""
    rng = np.random.default_rng(3)
    score = rng.random(5000)
    wrong = rng.random(5000) < 0.3 * (1 - score) ** 1.5
    choose = partial(abstain.choose_threshold, wrong, score)
    found, strict = choose(risk=0.05, delta=0.05, ood_share=0.02), choose(risk=0.03 / 0.98, delta=0.05)
    assert (found.threshold, found.risk_limit) == (strict.threshold, 0.05)
    assert found.reach.ood_share >= 0.02 * (1 - 1e-9)
    assert "share of 0.02" in found.policy(score="msp").guarantee.statement
    refused(TypeError, "belongs to a certificate", choose, risk=0.05, ood_share=0.02)
    refused(ValueError, "ood_share=0.05 must be below the limit 0.05", choose, risk=0.05, delta=0.05, ood_share=0.05)
    band = abstain.thresholds.certified_band(wrong, score, delta=0.05)
    assert strict.upper == band.upper_at([strict.threshold])[0]
    assert strict.reach.upper == min(0.03 / 0.98, strict.upper)
