"""Monitoring: false alarms under daily looks for a year, and how soon a doubled risk is noticed."""

import numpy as np
import pytest
from scipy import stats

import abstain
from abstain.monitoring import Monitor, monitor
from abstain.monitoring._evidence import Bets, Detector, Evidence
from tests.refusal import refused
from tests.tiers import repeated


def certified(seed=0):
    """Return a policy that guarantees 5 % on scores uniform on [0, 1]."""
    rng = np.random.default_rng(seed)
    score = rng.random(4000)
    wrong = rng.random(4000) < 0.1 * (1 - score)
    return abstain.choose_threshold(wrong, score, risk=0.05, delta=0.05).policy(score="msp")


def worst(repetitions):
    """Return what delta = 5 % exceeds in one of 10,000 simulations only."""
    return float(stats.binom.ppf(1 - 1e-4, repetitions, 0.05)) / repetitions


@repeated(120, 2000)
@pytest.mark.parametrize("rows_a_day", [5, 50])
def test_a_year_of_daily_looks(rows_a_day, repetitions):
    """The risk is exactly the limit all year: an alarm on any day in at most delta of the years."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(repetitions):
        path = Evidence(0.05).update((rng.random(365 * rows_a_day) < 0.05).astype(float))
        alarms += int((path[rows_a_day - 1 :: rows_a_day] >= np.log(20)).any())
    assert alarms / repetitions <= worst(repetitions)


@pytest.mark.parametrize("limit", [0.002, 0.2, 0.9])
def test_long_good_and_bad_times_keep_their_digits(limit):
    """Products that rise and fall by thousands of powers of e, beside a logarithm for each; parts to the last bit."""
    rng = np.random.default_rng(5)
    values = np.repeat([0.0, 1.0, 0.0, 1.0, 0.0], [9000, 700, 4000, 3, 5000]) + 0.0
    values[rng.random(values.size) < 0.01] = 0.25
    bets, weight = Bets(limit), np.where(rng.random(values.size) < 0.9, -rng.random(values.size), -np.inf)
    gained = np.cumsum(np.log1p(bets.stakes * (values[:, None] - limit)), axis=0)
    opened = np.logaddexp.accumulate(weight[:, None] - np.vstack([np.zeros(6), gained[:-1]]), axis=0)
    slow = np.logaddexp.reduce(gained + opened, axis=1) - np.log(6)
    found = bets.play(values, weight)
    np.testing.assert_allclose(found, slow, rtol=1e-9, atol=1e-9)
    again = Bets(limit)
    cuts = np.sort(rng.integers(0, values.size, 40))
    parts = [again.play(*each) for each in zip(np.split(values, cuts), np.split(weight, cuts), strict=True)]
    np.testing.assert_array_equal(np.concatenate(parts), found)


def test_drift_of_coverage_and_score():
    """No alarm on the same population in at least 95 % of streams, an alarm when scores fall."""
    policy, rng = certified(), np.random.default_rng(4)
    same = [monitor(policy, np.zeros(2000), rng.random(2000)) for _ in range(40)]
    assert np.mean([bool(seen.coverage_drifted) or bool(seen.score_drifted) for seen in same]) <= 0.1
    assert not any(seen.violated for seen in same)
    assert monitor(policy, np.zeros(2000), rng.random(2000) ** 1.5).score_drifted


def test_what_a_monitor_cannot_take_is_refused():
    """With the argument, the value and the remedy."""
    policy, bad, one, seconds = certified(), np.ones(60), np.ones(60), {"period": 604800.0}
    wide = abstain.choose_threshold(np.tile([0.0, 1.0], 2000), np.arange(4000), risk=2.0, delta=0.05, max_loss=10.0)
    assert monitor(wide.policy(score="s"), [8.0], [1e9]).violated is False
    refused(TypeError, "confidence is missing; give loss and confidence as columns", monitor, policy, [0.0])
    for message, asked, loss, score, options in (
        ("max_loss=1 is below a loss that occurs, 2", policy, [2.0], [0.5], {}),
        ("max_loss=10 is below a loss that occurs, 11", wide.policy(score="s"), [11.0], [1e9], {}),
        ("delta must lie inside", policy, [1.0], [0.5], {"delta": 1.0}),
        ("loss: 3, confidence: 2", policy, [0.0, 1.0, 0.0], [0.9, 0.8], {}),
        ("two guarantees", policy, bad, one, {"window": 100, "since_first": True}),
        ("loss is empty", policy, [], [], {}),
        ("confidence is empty", policy, [0.0], [], {}),
        ("predicted after as_of", policy, [0.0], [0.9], {"maturity": 4.0, "time": [9.0], "as_of": 8.0}),
        ("give time=", policy, [0.0], [0.9], {"maturity": 4.0}),
        ("period=604800 is in days; for seconds give period=7", policy, [0.0], [0.9], {"time": [1.8e9]} | seconds),
    ):
        refused((ValueError, TypeError), message, monitor, asked, loss, score, **options)
    refused(ValueError, "returning=", Monitor, policy, returning="forget")


def test_false_signals_are_as_rare_as_the_run_length_says():
    """Risk at the limit: on average at least so many rows to a signal, in runs that are cut at five times that."""
    rng, first = np.random.default_rng(5), []
    for _ in range(300):
        signals = Detector(0.05, 300.0).update((rng.random(1500) < 0.05) * 1.0)[1]
        first.append(signals[0] + 1 if signals else 1500)  # cut: the true mean is larger
    assert np.mean(first) >= 300.0 - 3 * np.std(first) / np.sqrt(300)
