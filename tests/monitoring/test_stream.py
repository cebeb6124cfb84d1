"""Watching by new rows only: the state, rows sent twice, late labels, changes, killed writers, the table by week."""

import json
import os
import signal
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import abstain
from abstain.monitoring import DependentRowsWarning, Evidence, Monitor, load_monitor, monitor
from abstain.thresholds import CopiedRowsWarning, ReusedCalibrationWarning
from tests.monitoring.test_monitor import by_site, certified
from tests.refusal import refused

POLICY = certified()


def rows(n, risk, seed=0):
    """Return losses and scores."""
    rng = np.random.default_rng([seed, 77])
    return (rng.random(n) < risk).astype(float), rng.random(n)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(0, 1500), max_size=6), st.sampled_from([0.03, 0.2]))
def test_parts_and_saved_states_say_what_all_rows_say(tmp_path_factory, cuts, risk):
    """Rows in parts of any size, each time from the file, end where all rows at once end, to the last bit."""
    loss, score = rows(1500, risk)
    file = tmp_path_factory.mktemp("watch") / "state.json"
    Monitor(POLICY).save(file)
    for part in (one for one in np.split(np.arange(1500), sorted(cuts)) if len(one)):
        watch = load_monitor(file, POLICY)
        watch.update(loss[part], score[part])
        watch.save(file)
    now, once = load_monitor(file, POLICY).result(), monitor(POLICY, loss, score)
    for name in ("violated", "violated_at", "evidence", "n", "n_accepted", "coverage", "changed_at"):
        assert getattr(now, name) == getattr(once, name), name
    assert now.risk == pytest.approx(once.risk, rel=1e-12)
    assert (now.coverage_drifted, now.score_drifted) == (once.coverage_drifted, once.score_drifted)
    assert now.drifts == once.drifts
    assert sum(one.n for one in now.periods) == 1500


def test_groups_and_clusters_are_taken_up(tmp_path):
    """A policy with groups, and one about clusters; a cluster that gets more rows later is refused."""
    policy, site = by_site(), np.where(np.arange(4000) % 8, "large", "small")
    loss, score = rows(4000, 0.1)
    watch = Monitor(policy)
    watch.update(loss[:2000], score[:2000], groups=site[:2000])
    watch.save(tmp_path / "state.json")
    seen = load_monitor(tmp_path / "state.json", policy).update(loss[2000:], score[2000:], groups=site[2000:])
    whole = monitor(policy, loss, score, groups=site)
    assert (seen.groups, seen.evidence, seen.violated_at) == (whole.groups, whole.evidence, whole.violated_at)
    unit = np.arange(3000) // 10
    clustered = abstain.choose_threshold(np.zeros(3000), rows(3000, 0, 1)[1], risk=0.1, delta=0.05, clusters=unit)
    of_units = Monitor(clustered.policy(score="s"))
    of_units.update(np.zeros(20), np.full(20, 2.0) + np.arange(20), clusters=np.repeat(["a", "b"], 10))
    with pytest.raises(ValueError, match="'b' has rows that were counted before"):
        of_units.update([1.0] * 2, [3.5, 3.25], clusters=["b", "c"])
    assert of_units.result().n == 20


def test_a_week_that_is_sent_twice_is_noticed():
    """The same rows, most of them with new ones, or in another order; what was seen stays, and again=True insists."""
    loss, score = rows(900, 0.02)
    watch = Monitor(POLICY)
    watch.update(loss[:300], score[:300])
    for part in (slice(0, 300), slice(40, 340)):
        refused(ValueError, "rows were sent before", watch.update, loss[part], score[part])
    refused(ValueError, "rows were sent before", watch.update, loss[:300][::-1], score[:300][::-1])
    assert watch.update(loss[250:900], score[250:900]).n == 950  # a few may look alike
    assert watch.update(loss[:300], score[:300], again=True).n == 1250


def test_scores_that_tie_are_not_called_sent_before():
    """Four levels, few errors: weeks look alike, row by row, and the same week is still known by its order."""
    rng, watch = np.random.default_rng(3), Monitor(POLICY)
    weeks = [((rng.random(200) < 0.02) * 1.0, rng.integers(96, 100, 200) / 100) for _ in range(8)]
    for loss, score in weeks:
        watch.update(loss, score)
        watch.update([0.0], [0.99])
    refused(ValueError, "sent before", watch.update, *weeks[3])


def test_calibration_rows_are_known_again_in_part():
    """Nearly all of them, or mixed with others, in audit and monitor; not so other rows of the same population."""
    loss, score = rows(3000, 0.03)
    policy = abstain.choose_threshold(loss, score, risk=0.06, delta=0.05).policy(score="s")
    new = rows(3000, 0.03, 5)
    for test in (abstain.audit, monitor):
        with pytest.warns(ReusedCalibrationWarning, match="these are the rows"):
            test(policy, loss[1:], score[1:])
        with pytest.warns(ReusedCalibrationWarning, match=r"about \d+ % of these are among the rows"):
            test(policy, np.r_[loss, new[0]], np.r_[score, new[1]])
        test(policy, *new)
    groups = np.arange(3000) % 2
    by = abstain.choose_threshold(loss, score, risk=0.1, delta=0.05, groups=groups)
    with pytest.warns(ReusedCalibrationWarning):
        abstain.audit(by, loss[5:], score[5:], groups=groups[5:])


# ---------------------------------------------------------------------- files


def test_a_state_belongs_to_its_policy_and_is_not_replaced_by_others(tmp_path):
    """Another policy, an edited file, a state that is newer, that of other options."""
    file = tmp_path / "state.json"
    watch = Monitor(POLICY)
    watch.update(*rows(100, 0.02))
    watch.save(file)
    refused(ValueError, "is the state of another policy", load_monitor, file, certified(1))
    behind = load_monitor(file, POLICY)
    watch.update(*rows(100, 0.02, 1))
    watch.save(file)
    behind.update(*rows(100, 0.02, 2))
    refused(ValueError, "holds the state of rows that this one has not seen", behind.save, file)
    refused(ValueError, "holds the state of another monitor", Monitor(POLICY, run_length=100.0).save, file)
    content = json.loads(file.read_text())
    content["violated_at"] = 7
    file.write_text(json.dumps(content))
    refused(ValueError, "was edited or damaged", load_monitor, file, POLICY)
    refused(FileNotFoundError, "no such state", load_monitor, tmp_path / "none.json", POLICY)
    (tmp_path / "text.json").write_text("hello")
    refused(ValueError, "cannot be read as the state of a monitor", load_monitor, tmp_path / "text.json", POLICY)


def kill_while_writing(folder, kills):
    """Kill a writer again and again; return the states that were lost, of those that it said were written."""
    file, said, lost = folder / "state.json", folder / "said", 0
    Monitor(POLICY).save(file)
    rng = np.random.default_rng(0)
    for kill in range(kills):
        child = os.fork()
        if not child:  # pragma: no cover
            watch = load_monitor(file, POLICY)
            for week in range(1000):
                watch.update(*rows(60, 0.02, 1000 * (kill + 1) + week))
                watch.save(file)
                said.write_text(str(watch.calls))
            os._exit(0)
        time.sleep(0.01 + 0.1 * rng.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        written = int(said.read_text() or 0) if said.exists() else 0
        lost += load_monitor(file, POLICY).calls < written
    return lost


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_interrupted_write_loses_nothing(tmp_path):
    """A writer that is killed leaves the last whole state, which is the last that it reported or a later one."""
    assert kill_while_writing(tmp_path, 8) == 0


def test_errors_in_runs_and_copies_are_noticed():
    """Equal rows one after the other, errors first in each day; not independent rows, nor a late change."""
    rng = np.random.default_rng(8)
    wrong, fresh = (rng.random(600) < 0.05) * 1.0, rng.random(3000)
    with pytest.warns(DependentRowsWarning, match="rows depend on each other"):
        monitor(POLICY, wrong.repeat(5), 0.96 + 0.04 * fresh)
    by_day = -np.sort(-1.0 * (rng.random((100, 30)) < 0.05), axis=1).ravel()
    with pytest.warns(DependentRowsWarning):
        monitor(POLICY, by_day, 0.96 + 0.04 * fresh)
    with pytest.warns(CopiedRowsWarning, match="exact copies of others"):
        monitor(POLICY, np.tile(wrong[:300], 2), np.tile(fresh[:300], 2))
    monitor(POLICY, rng.random(3000) < 0.05, fresh)
    monitor(POLICY, np.r_[rng.random(2800) < 0.02, rng.random(200) < 0.5] * 1.0, fresh)


# ---------------------------------------------------------------------- late labels


def late(days, risk, rng):
    """Return 30 predictions a day; errors are known after 5 days, and success is after 30."""
    day = np.repeat(np.arange(days), 30).astype(float)
    wrong = rng.random(len(day)) < risk
    return {"loss": wrong * 1.0, "time": day, "known": day + np.where(wrong, 5.0, 30.0)}


@pytest.mark.filterwarnings("ignore::abstain.monitoring.DependentRowsWarning")
def test_informative_delays_alarm_in_any_order_and_not_under_maturity():
    """True risk 3 %, limit 5 %: by labels alone all streams alarm; at 30 days, in the order of prediction, none."""
    rng, by_label, by_age = np.random.default_rng(1), 0, 0
    for _ in range(10):
        rows_ = late(200, 0.03, rng)
        score = np.full(len(rows_["loss"]), 0.99) + 0.01 * rng.random(len(rows_["loss"]))
        known = np.argsort(rows_["known"], kind="stable")
        in_time = known[rows_["known"][known] <= 100]
        by_label += bool(monitor(POLICY, rows_["loss"][in_time], score[in_time], accepted_only=True).violated)
        watch = Monitor(POLICY, maturity=30.0, accepted_only=True)
        for today in range(0, 235, 5):
            given_ = rows_["time"] <= today
            loss = np.where(rows_["known"] <= today, rows_["loss"], np.nan)[given_]
            seen = watch.update(loss, score[given_], time=rows_["time"][given_], as_of=float(today))
        assert seen.n == 6000
        assert seen.skipped > 5000
        by_age += bool(seen.violated)
    assert (by_label, by_age) == (10, 0)


def test_what_is_due_and_what_waits():
    """Dates, ages, rows that are given again, and those that are forgotten."""
    day = np.datetime64("2026-03-01") + np.arange(10)
    watch = Monitor(POLICY, maturity=np.timedelta64(4, "D"))
    loss = np.array([0.0] * 6 + [np.nan] * 4)
    seen = watch.update(loss, np.linspace(0.9, 0.99, 10)[::-1], time=day)
    assert (seen.n, seen.waiting, seen.periods[0].period) == (6, 4, "2026-03-01")
    assert "4 rows are too young and wait" in str(seen)
    with pytest.raises(ValueError, match="4 rows were too young before, and only 1 of that time"):
        watch.update([0.0, 0.0], [0.9, 0.91], time=[day[9], day[9] + 1], as_of=day[9] + 4)
    seen = watch.update(np.zeros(10), np.linspace(0.9, 0.99, 10)[::-1], time=day, as_of=day[9] + 4)
    assert (seen.n, seen.waiting, seen.skipped) == (10, 0, 6)
    assert "6 rows are of a time that was monitored before" in str(seen)
    with pytest.raises(ValueError, match="as_of is before that of an earlier call"):
        watch.update([0.0], [0.9], time=[day[9]], as_of=day[9])
    refused(ValueError, "predicted after as_of", watch.update, [0.0], [0.9], time=[day[9] + 90], as_of=day[9] + 9)
    refused(ValueError, "give time=", watch.update, [0.0], [0.9])


def test_a_mature_row_without_a_label():
    """Refused, or counted as an error; a rejected one needs no label."""
    when, score = [0.0, 1.0, 2.0], [0.99, 0.98, -1.0]
    with pytest.raises(ValueError, match=r"loss\[1\] is missing, an accepted row without a label although it is older"):
        monitor(POLICY, [0.0, np.nan, np.nan], score, time=when, as_of=40.0, maturity=30.0)
    seen = monitor(POLICY, [0.0, np.nan, np.nan], score, time=when, as_of=40.0, maturity=30.0, unlabelled="error")
    assert (seen.n, seen.n_accepted, seen.risk) == (3, 2, 0.5)
    assert monitor(POLICY, [0.0, 1.0, np.nan], score).risk == 0.5
    with pytest.raises(ValueError, match=r"loss\[0\] is missing, an accepted row without a label \(1 in all\)"):
        monitor(POLICY, [np.nan, 1.0, 0.0], score)


def test_times_of_labels_put_rows_in_order():
    """Rows in any order of the file, and none before those that were watched."""
    loss, score = rows(3000, 0.02)
    loss[2000:] = rows(1000, 0.3, 4)[0]
    when, mixed = np.arange(3000.0) / 30, np.random.default_rng(2).permutation(3000)
    one = monitor(POLICY, loss, score, time=when)
    assert one.to_json() == monitor(POLICY, loss[mixed], score[mixed], time=when[mixed]).to_json()
    assert one.violated_at == monitor(POLICY, loss, score).violated_at
    assert [each.n for each in one.periods] == [210] * 14 + [60]
    watch = Monitor(POLICY)
    watch.update(loss[:100], score[:100], time=when[:100])
    refused(ValueError, "is before that of rows that were tested", watch.update, [0.0], [0.9], time=[1.0])
    refused(ValueError, "earlier times were not", watch.update, [0.0], [0.9], time=[np.datetime64("2026-01-01")])


def test_clusters_are_as_old_as_their_first_row():
    """Wrong clusters have one row and right ones twelve: in the order of first rows no guarantee is violated."""
    rng, broken = np.random.default_rng(10), 0
    score = rng.random(3000)
    found = abstain.choose_threshold(np.zeros(3000), score, risk=0.05, delta=0.05, clusters=np.arange(3000) // 10)
    policy = found.policy(score="s")
    for _ in range(10):
        wrong = rng.random(1200) < 0.04
        size = np.where(wrong, 1, 12)
        unit = np.repeat(np.arange(1200), size)
        begun = np.sort(rng.random(1200) * 100)
        step = np.arange(len(unit)) - np.repeat(np.cumsum(size) - size, size)
        when = begun[unit] + 3.0 * step
        mixed = np.argsort(when, kind="stable")
        rows_ = {"clusters": unit[mixed], "time": when[mixed]}
        high = np.full(len(unit), 2.0) + 1e-6 * rng.random(len(unit))
        seen = monitor(policy, wrong[rows_["clusters"]] * 1.0, high, maturity=40.0, as_of=140.0, **rows_)
        assert seen.waiting == 0
        broken += bool(seen.violated)
    assert broken == 0
    with pytest.raises(ValueError, match="clusters with time= need maturity="):
        monitor(policy, wrong[rows_["clusters"]] * 1.0, high, **rows_)


# ---------------------------------------------------------------------- changes, nulls, the table


def test_a_late_change_is_signalled_before_the_guarantee_is_called_broken():
    """After 10,000 good rows; the signal says that it breaks no guarantee."""
    loss = np.r_[rows(10_000, 0.02)[0], rows(2000, 0.1, 1)[0]]
    seen = monitor(POLICY, loss, np.ones(12_000), accepted_only=True)
    late_signals = [at for at in seen.changed_at if at > 10_000]
    assert 10_000 < late_signals[0] < seen.violated_at
    assert "This is no violation" in " ".join(str(seen).split())


def test_the_mean_since_the_first_row_forgives():
    """2 % and 8 % by turns of 1,500 rows: broken at every row, not in the mean, which good times come first in."""
    rng = np.random.default_rng(6)
    swings = np.concatenate([rng.random(1500) < risk for risk in (0.02, 0.08) * 6]) * 1.0
    assert monitor(POLICY, swings, np.ones(18_000), accepted_only=True).violated
    assert not monitor(POLICY, swings, np.ones(18_000), accepted_only=True, since_first=True).violated
    assert monitor(POLICY, np.ones(60), np.ones(60), accepted_only=True, since_first=True).violated


@pytest.mark.filterwarnings("ignore::abstain.monitoring.DependentRowsWarning")
def test_a_window_forgives_within_and_not_beyond():
    """Bets are evaluated at ends of windows alone; parts of any size, a saved state, and times give the same."""
    rng = np.random.default_rng(6)
    swings = np.concatenate([rng.random(500) < risk for risk in (0.09, 0.0) * 9]) * 1.0
    options = {"accepted_only": True}
    assert monitor(POLICY, swings, np.ones(9000), **options).violated
    window = monitor(POLICY, swings, np.ones(9000), window=1000, **options)
    assert window.violated is False
    assert "the mean risk in each window of 1000 accepted rows" in str(window)
    assert "tested: the risk at every row" in str(monitor(POLICY, swings, np.ones(9000), **options))
    begins = np.arange(9000) % 1000 == 0
    path = Evidence(0.05).update(swings, begins)[999::1000]
    assert window.evidence == pytest.approx(np.exp(max(0.0, path.max())))
    days = np.arange(9000) / 10.0
    for times in (None, days):
        parts = Monitor(POLICY, window=1000 if times is None else 100, **options)
        for end in (700, 1000, 1003, 4000, 8999, 9000):
            begin = parts.total.n
            some = slice(begin, end)
            seen = parts.update(swings[some], np.ones(end - begin), time=None if times is None else times[some])
        last = None if times is None else -1  # of times the last window is open
        assert seen.evidence == pytest.approx(np.exp(max(0.0, path[:last].max())))
    bad = np.r_[np.zeros(100), np.ones(60), np.zeros(900)]
    assert monitor(POLICY, bad, np.ones(1060), window=100, **options).violated_at == 200
    refused(TypeError, "two guarantees", monitor, POLICY, bad, np.ones(1060), window=100, since_first=True)


def test_the_table_by_period():
    """Exact intervals of each week, the last periods, and plain values."""
    watch = Monitor(POLICY)
    for week in range(30):
        watch.update(*rows(100, 0.02, week))
    seen = watch.result()
    one = seen.periods[4]
    loss, score = rows(100, 0.02, 4)
    accepted = POLICY.accept(score)
    assert (one.period, one.n, one.n_accepted) == ("5", 100, int(accepted.sum()))
    exact = abstain.inference.clopper_pearson(int(loss[accepted].sum()), int(accepted.sum()), 0.95)
    assert (one.risk_low, one.risk_high) == exact
    text = seen.to_text(80)
    assert max(map(len, text.splitlines())) <= 80
    assert "The last 26 of 30" in " ".join(text.split())
    assert len(seen.to_dict()["periods"]) == 30
    graded = monitor(POLICY, np.tile([0.0, 0.5], 50), np.ones(100), max_loss=1.0).periods[0]
    assert graded.risk_low < 0.25 < graded.risk_high
    pair = monitor(POLICY, [0.2, 0.6], np.ones(2), max_loss=1.0).periods[0]
    assert (pair.risk_low, pair.risk_high) == (0.0, 1.0)  # t of one degree of freedom, cut at the largest loss
    late = monitor(POLICY, np.full(2, np.nan), np.zeros(2)).periods[0]
    assert (late.evidence, late.change) == (0.0, 0.0)  # no row was answered
