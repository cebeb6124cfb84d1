"""Rows of equal time are judged together, whatever their order in the file; and a week may have no rows."""

import numpy as np
import pytest

from abstain.monitoring import Monitor, load_monitor, monitor
from tests.monitoring.test_monitor import certified
from tests.monitoring.test_stream import rows
from tests.refusal import refused

POLICY = certified()


def early(days, width, rng):
    """Return losses at the limit, scores and first days of spells, as labels come: errors early."""
    day = np.repeat(np.arange(float(days)), 30)
    wrong = (rng.random(len(day)) < 0.05) * 1.0
    known = np.argsort(day + np.where(wrong, rng.integers(0, 6, len(day)), rng.integers(25, 30, len(day))))
    return wrong[known], 0.99 + 0.01 * rng.random(len(day)), day[known] // width * width


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("width", [1, 7])
def test_the_order_of_labels_within_equal_times_calls_nothing_broken(width):
    """Risk at the limit, days or weeks as times, a file in which errors come first: no alarms, warnings or signals."""
    broken = signals = 0
    for seed in range(20):
        loss, score, when = early(120, width, np.random.default_rng([seed, 41]))
        seen = monitor(POLICY, loss, score, time=when, maturity=30.0, as_of=160.0, accepted_only=True)
        broken, signals = broken + bool(seen.violated), signals + len(seen.changed_at)
    assert broken <= 2
    assert signals <= 15  # 72,000 rows, at most one in 10,000 on average


@pytest.mark.parametrize("options", [{}, {"since_first": True}, {"run_length": 200.0}])
def test_rows_of_equal_time_have_no_order(options):
    """Errors first, last or mixed, by rows and by clusters: the same answer; and days in parts are all days at once."""
    loss, score = rows(3000, 0.1)
    when, mixed = np.arange(3000.0) // 100, np.random.default_rng(2).permutation(3000)
    whole = monitor(POLICY, loss, score, time=when, **options)
    for order in (np.lexsort((-loss, when)), np.lexsort((loss, when)), np.lexsort((score, when)), mixed):
        assert monitor(POLICY, loss[order], score[order], time=when[order], **options).to_json() == whole.to_json()
    watch = Monitor(POLICY, **options)
    for day in range(30):
        mine = when == day
        seen = watch.update(loss[mine], score[mine], time=when[mine])
    assert seen.to_json() == whole.to_json()


def test_a_day_in_two_calls_is_one_group(tmp_path):
    """The bets are those of the whole day, also from the file; each call is looked at, so evidence is never less."""
    loss, score = rows(3000, 0.06)
    when = np.arange(3000.0) // 100
    whole, parts, file = Monitor(POLICY, run_length=1e9), Monitor(POLICY, run_length=1e9), tmp_path / "state.json"
    once = whole.update(loss, score, time=when)
    for some in np.split(np.arange(3000), range(37, 3000, 37)):
        seen = parts.update(loss[some], score[some], time=when[some])
        parts.save(file)
        parts = load_monitor(file, POLICY)
    for bets in ("evidence", "detector"):
        one, two = (watch.monitored[""].state()[bets] for watch in (whole, parts))
        sums = [np.r_[np.array(each["base"]) + np.log(each["sums"]), each["gained"]] for each in (one, two)]
        np.testing.assert_allclose(*sums, rtol=1e-9, atol=1e-9)
    assert seen.evidence >= once.evidence * (1 - 1e-9)


def test_a_week_without_rows_is_noted_and_changes_nothing(tmp_path):
    """First, between others, from the file, with times; rows that wait must come again."""
    loss, score = rows(600, 0.02)
    file, watch = tmp_path / "state.json", Monitor(POLICY)
    assert watch.update([], []).violated is None
    watch.update(loss[:300], score[:300])
    seen = watch.update(np.zeros(0), np.zeros(0))
    assert (seen.n, seen.empty) == (300, 2)
    watch.save(file)
    seen = load_monitor(file, POLICY).update(loss[300:], score[300:])
    assert (seen.evidence, seen.empty) == (monitor(POLICY, loss, score).evidence, 2)
    timed = Monitor(POLICY, maturity=5.0)
    assert timed.update(np.zeros(10), np.linspace(0.9, 0.99, 10), time=np.arange(10.0)).n == 5
    refused(ValueError, "5 rows were too young before, and only 0", timed.update, [], [], as_of=20.0)
