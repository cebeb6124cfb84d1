"""The planner: its power is the one that simulations find."""

import numpy as np
import pytest

import abstain
from abstain.inference import detectable_difference, paired, panel, samples_for_difference, samples_for_width
from tests.inference.populations import allowance
from tests.tiers import repeated


def draw(n, rng):
    difficulty = rng.standard_normal(n)
    loss = (rng.random(n) < np.minimum(0.2 * np.exp(difficulty - 0.5), 1.0)).astype(float)
    return loss, -difficulty + 0.6 * rng.standard_normal(n), -difficulty + 0.9 * rng.standard_normal(n)


PAIR = [0, 1], [1, 2]


@repeated(80, 500)
@pytest.mark.parametrize("metric", ["augrc", "aurc"])
def test_the_planned_number_of_samples_has_the_planned_power(metric, repetitions):
    rng = np.random.default_rng(0)
    loss, a, b = draw(200_000, rng)
    function = getattr(abstain, metric)
    truth = function(loss, a) - function(loss, b)
    n = samples_for_difference(truth, pilot=(loss, a, b), metric=metric, power=0.8).n
    assert 200 < n < 20_000
    found = 0
    for _ in range(repetitions):
        loss, a, b = draw(n, rng)
        tests = paired(abstain.metrics.get(metric), panel(loss, {"a": a, "b": b}), rng=rng)
        found += tests.differences[0].significant
    assert found / repetitions == pytest.approx(0.8, abs=0.02 + allowance(0.8, repetitions))


def test_both_directions_agree():
    for power, level in ((0.8, 0.95), (0.9, 0.99)):
        n = samples_for_difference(0.01, sd=0.2, power=power, level=level).n
        assert detectable_difference(n, sd=0.2, power=power, level=level).difference <= 0.01
        assert detectable_difference(n - 1, sd=0.2, power=power, level=level).difference > 0.01
    for difference in (-0.01, 0.01):  # ((1.95996 + 0.84162) 20)^2
        assert samples_for_difference(difference, sd=0.2) == (3140, 3140, 3140, np.inf, None)
    assert samples_for_difference(100.0, sd=1e-6).n == 2


@pytest.mark.parametrize("errors", [0, 1, 3])
def test_a_pilot_that_says_nothing_is_refused(errors):
    """Too few errors: before, a plan came without a word."""
    rng = np.random.default_rng(6)
    loss, a, b = (np.arange(60) < errors).astype(float), rng.random(60), rng.random(60)
    with pytest.raises(ValueError, match=r"pilot: .*(degrees of freedom, too few informative errors|agree on every)"):
        samples_for_difference(0.01, pilot=(loss, a, b))
    with pytest.raises(ValueError, match="degrees of freedom, too few informative errors to plan from"):
        samples_for_width(0.02, (loss, a))
    with pytest.raises(ValueError, match="pilot: "):
        detectable_difference(1000, pilot=(loss, a, b))


@pytest.mark.parametrize("metric", ["augrc", "auroc_f", "prediction_rejection_ratio", "accuracy"])
def test_the_planned_number_of_samples_has_the_planned_width(metric):
    """About half of the samples of that size have a narrower interval."""
    rng = np.random.default_rng(7)
    loss, score, _ = draw(50_000, rng)
    wide = {"augrc": 0.02, "auroc_f": 0.1, "prediction_rejection_ratio": 0.2, "accuracy": 0.06}[metric]
    planned = samples_for_width(wide, (loss, score), metric)
    found = [abstain.confidence_interval(metric, *draw(planned.n, rng)[:2]) for _ in range(40)]
    assert np.median([each.high - each.low for each in found]) == pytest.approx(wide, rel=0.07)
    assert planned.low <= planned.n <= planned.high


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: samples_for_difference(0.0, sd=1.0), "difference must be finite and not 0"),
        (lambda: samples_for_difference(1e-300, sd=0.1), "difference=1e-300 is out of reach of any sample; give"),
        (lambda: samples_for_difference(0.1, sd=1e300), "difference=0.1 is out of reach"),
        (lambda: samples_for_difference(0.1), "either sd="),
        (lambda: samples_for_difference(0.1, sd=1.0, pilot=([0], [1], [2])), "either sd="),
        (lambda: samples_for_difference(0.1, sd=-1.0), "sd must be positive"),
        (lambda: samples_for_difference(0.1, sd=1.0, power=1.0), "power must lie inside"),
        (lambda: samples_for_difference(0.1, sd=1.0, power=0.04), "needs no data"),
        (lambda: samples_for_difference(0.1, sd=1.0, level=1.0), "level must lie inside"),
        (lambda: samples_for_difference(0.1, pilot=(*PAIR, [1, 2])), "agree on every sample"),
        (lambda: samples_for_difference(0.1, pilot=PAIR), "pilot must be a tuple"),
        (lambda: samples_for_difference(0.1, pilot=(*PAIR, [2, 1]), metric="fpr95_error"), "no influence function"),
        (lambda: samples_for_difference("0.1", sd=1.0), "must be a number other than 0, got '0.1'; give the smallest"),
        (lambda: samples_for_difference(0.1, sd="1"), "sd must be a number > 0, got '1'"),
        (lambda: samples_for_width(0.0, ([0, 1], [1, 2])), "width must be positive"),
        (lambda: samples_for_width("x", ([0, 1], [1, 2])), "width must be a number > 0"),
        (lambda: samples_for_width(0.1, [0, 1, 1]), "pilot must be a tuple"),
        (lambda: samples_for_width(0.1, ([0, 1], [1, 2]), "fpr95_error"), "no influence function"),
        (lambda: samples_for_width(0.1, ([0, 0], [1, 2]), "auroc_f"), "auroc_f is undefined"),
        (lambda: samples_for_width(1e-12, ([0, 1, 0, 0] * 50, range(200))), "out of reach of any sample"),
        (lambda: detectable_difference(1, sd=1.0), "n must be a whole number >= 2, got 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
