"""Monitors in a service: threads, processes, years of calls."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import abstain
from abstain.monitoring import Drift, Monitor, Monitoring, Period, load_monitor
from tests.monitoring.test_monitor import certified
from tests.processes import beside
from tests.refusal import refused

POLICY = certified()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_threads_raise_no_alarm_that_one_thread_would_not():
    """A guarantee that holds: sixteen threads find the same counts as one, and evidence of the same size."""
    rng = np.random.default_rng(0)
    score, loss = rng.random(5000), (rng.random(5000) < 0.04).astype(float)
    serial = Monitor(POLICY).update(loss, score)
    for _ in range(4):
        watch = Monitor(POLICY)
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(watch.update, np.split(loss, 100), np.split(score, 100)))
        seen = watch.result()
        assert (seen.n, seen.n_accepted, seen.risk) == (5000, serial.n_accepted, pytest.approx(serial.risk))
        assert (seen.violated, serial.violated) == (False, False)
        assert sum(one.n for one in seen.periods) == 5000


def count(send, policy, file, first):
    """Count twelve times twenty rows, and send each time again what was counted."""
    rng = np.random.default_rng(first)
    for _ in range(12):
        told = abstain.load_policy(policy), (rng.random(20) < 0.02).astype(float), rng.random(20)
        abstain.monitoring.update_monitor(file, *told)
        refused(ValueError, "were sent before", abstain.monitoring.update_monitor, file, *told)
    send(first)


def test_processes_share_one_state(tmp_path):
    """Four processes at once: no row is lost, and one that is sent twice is refused in each."""
    policy, state = tmp_path / "policy.json", tmp_path / "state.json"
    POLICY.save(policy)
    running = [beside(count, policy, state, k) for k in range(4)]
    assert [ended() for ended in running] == [0, 1, 2, 3]
    found = abstain.monitoring.load_monitor(state, POLICY).result()
    assert (found.n, len(found.periods), found.violated) == (4 * 12 * 20, 48, False)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["policy.json", "state.json"]


def test_the_state_is_bounded_and_its_table_adds_up(tmp_path):
    """After hundreds of calls the file is small, and periods still sum to all rows."""
    rng, watch, file = np.random.default_rng(1), Monitor(POLICY), tmp_path / "state.json"
    for _ in range(300):
        seen = watch.update((rng.random(10) < 0.02).astype(float), rng.random(10))
    watch.save(file)
    assert file.stat().st_size < 48_000
    assert len(seen.periods) <= 128
    sums = [sum(getattr(one, name) or 0 for one in seen.periods) for name in ("n", "n_accepted", "errors")]
    assert sums == [seen.n, seen.n_accepted, round(seen.risk * seen.n_accepted)] == [3000, *sums[1:]]
    assert (seen.periods[0].period[:5], seen.periods[-1].period) == ("1 to ", "300")
    assert load_monitor(file, POLICY).result().periods == seen.periods


def test_options_of_a_state_are_kept(tmp_path):
    """Other options are refused with their names, the same ones are taken."""
    state, loss, score = tmp_path / "state.json", np.zeros(20), np.random.default_rng(2).random(20)
    abstain.monitoring.update_monitor(state, POLICY, loss, score, run_length=500.0)
    assert abstain.monitoring.update_monitor(state, POLICY, loss, score / 2, run_length=500.0).n == 40
    with pytest.raises(ValueError, match="begun with other options; leave run_length out"):
        abstain.monitoring.update_monitor(state, POLICY, loss, score / 3, run_length=600.0)


def test_old_names_warn_and_work():
    """What was in ``abstain.thresholds`` is found there, with its new name."""
    new = abstain.monitoring
    old = {"Watch": new.Monitor, "load_watch": new.load_monitor, "monitor": abstain.monitor}
    old |= {"Drift": Drift, "Monitoring": Monitoring, "Period": Period}
    for name, moved in old.items():
        with pytest.warns(FutureWarning, match=f"abstain.thresholds.{name} is now abstain."):
            assert getattr(abstain.thresholds, name) is moved


# ---------------------------------------------------------------------- times


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (["03/04/2026", "05/06/2026"], "may begin with the day or with the month; write them as 2026-05-31"),
        (["2026-03-01", ""], r"time\[1\] is missing or no date \(1 such\)"),
        ([np.nan, 1.0], r"time\[0\] is missing or no date"),
        (np.array(["2026-03-01", "NaT"], dtype="datetime64[D]"), r"time\[1\] is missing"),
        (["last week", "today"], "holds text that is no date"),
        (["13/13/2026", "12/12/2026"], "such as 13/13/2026, which is no date"),
        (["5.13.2026", "5.14.2026"], "such as 5.13.2026, which is no date"),
    ],
)
def test_times_that_cannot_be_read_are_refused(time, words):
    """What is missing is called a date, and a date with two readings is refused."""
    refused(ValueError, words, abstain.monitor, POLICY, [0.0, 0.0], [0.9, 0.8], time=time)
