"""Monitoring: false alarms under daily looks for a year, and how soon a doubled risk is noticed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import recuse
from recuse.thresholds import Policy, monitor
from recuse.thresholds._monitor import evidence_above


def certified(seed: int = 0) -> Policy:
    """Return a policy that promises 5 % on scores uniform on [0, 1]."""
    rng = np.random.default_rng(seed)
    score = rng.random(4000)
    wrong = rng.random(4000) < 0.1 * (1 - score)
    return recuse.choose_threshold(wrong, score, risk=0.05, delta=0.05).policy(score="msp")


def worst(repetitions: int) -> float:
    """Return what delta = 5 % exceeds in one of 10,000 simulations only."""
    return float(stats.binom.ppf(1 - 1e-4, repetitions, 0.05)) / repetitions


@pytest.mark.parametrize("rows_a_day", [5, 50])
def test_a_year_of_daily_looks(rows_a_day: int) -> None:
    """The risk is exactly the limit all year: an alarm on any day in at most delta of 2,000 years."""
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(2000):
        path = evidence_above((rng.random(365 * rows_a_day) < 0.05).astype(float), 0.05)
        alarms += int((path[rows_a_day - 1 :: rows_a_day] >= np.log(20)).any())
    assert alarms / 2000 <= worst(2000)


def test_real_losses_too() -> None:
    """A loss that is not 0/1, at the limit."""
    rng = np.random.default_rng(2)
    alarms = sum((evidence_above(rng.beta(0.1, 1.9, 3000), 0.05) >= np.log(20)).any() for _ in range(1000))
    assert alarms / 1000 <= worst(1000)


def test_a_doubled_risk_is_noticed_soon() -> None:
    """5 % becomes 10 %: half of the alarms within 300 labelled accepted rows, nine of ten within 650."""
    rng = np.random.default_rng(3)
    delays = []
    for _ in range(500):
        over = np.flatnonzero(evidence_above((rng.random(3000) < 0.1).astype(float), 0.05) >= np.log(20))
        delays.append(over[0] + 1 if over.size else np.inf)
    assert np.median(delays) <= 300
    assert np.quantile(delays, 0.9) <= 650


def test_drift_of_coverage_and_score() -> None:
    """No alarm on the same population in at least 95 % of streams, an alarm when scores fall."""
    policy, rng = certified(), np.random.default_rng(4)
    same = [monitor(policy, np.zeros(2000), rng.random(2000)) for _ in range(100)]
    assert np.mean([bool(seen.coverage_drifted) or bool(seen.score_drifted) for seen in same]) <= 0.1
    assert not any(seen.promise_broken for seen in same)
    moved = monitor(policy, np.zeros(2000), rng.random(2000) ** 1.5)
    assert moved.score_drifted


def test_shuffled_looks_agree_with_one_look() -> None:
    """The alarm of a longer file includes that of its beginning: evidence is never forgotten."""
    policy, rng = certified(), np.random.default_rng(5)
    score, loss = rng.random(3000), (rng.random(3000) < 0.2).astype(float)
    seen = [monitor(policy, loss[:n], score[:n]) for n in range(100, 3000, 100)]
    broken = [bool(each.promise_broken) for each in seen]
    assert broken == sorted(broken)
    assert broken[-1]
    assert len({each.broken_at for each in seen if each.promise_broken}) == 1


def test_without_a_promise_nothing_is_broken() -> None:
    """An empirical policy and an empty acceptance give None."""
    policy = recuse.choose_threshold([0, 1], [0.9, 0.1], coverage=0.5).policy(score="s")
    assert monitor(policy, [1, 1], [0.95, 0.99]).promise_broken is None
    assert monitor(certified(), [1, 1], [-1, -2]).promise_broken is None


def test_bad_input() -> None:
    """A loss above its bound, a delta outside (0, 1)."""
    with pytest.raises(ValueError, match="max_loss=1 is below a loss that occurs, 2"):
        monitor(certified(), [2.0], [0.5])
    with pytest.raises(ValueError, match="delta must lie inside"):
        monitor(certified(), [1.0], [0.5], delta=1.0)
