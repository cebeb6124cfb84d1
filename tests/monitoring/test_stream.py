"""Watching by new rows only: the state, rows sent twice, late labels, changes, killed writers, the table by week."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import abstain
from abstain.monitoring import Monitor, load_monitor, monitor
from abstain.thresholds import ReusedCalibrationWarning
from tests.monitoring.test_monitor import certified
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
    for run, known in ((3, True), (5, False)):  # of two scores: the order tells calls apart where it is mixed
        watch, score = Monitor(POLICY), np.tile(np.repeat([0.9, 0.95], run), 60 // run)
        watch.update(np.zeros(120), score)
        if known:
            refused(ValueError, "rows were sent before", watch.update, np.zeros(120), score)
        else:
            assert watch.update(np.zeros(120), score).n == 240


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


# ---------------------------------------------------------------------- files


def test_a_state_belongs_to_its_policy_and_is_not_replaced_by_others(tmp_path):
    """Another policy, an edited file, a state that is newer, that of other options."""
    file, watch = tmp_path / "state.json", Monitor(POLICY)
    watch.update(*rows(100, 0.02))
    watch.save(file)
    refused(ValueError, "is the state of another policy", load_monitor, file, certified(1))
    behind = load_monitor(file, POLICY)
    watch.update(*rows(100, 0.02, 1))
    watch.save(file)
    behind.update(*rows(100, 0.02, 2))
    refused(ValueError, "holds the state of rows that this one has not seen", behind.save, file)
    refused(ValueError, "holds the state of another monitor", Monitor(POLICY, run_length=100.0).save, file)
    refused(FileNotFoundError, "no such state", load_monitor, tmp_path / "none.json", POLICY)
    edited = json.dumps(json.loads(file.read_text()) | {"violated_at": 7})
    for text, message in ((edited, "was edited or damaged"), ("hello", "cannot be read as the state of a monitor")):
        file.write_text(text)
        refused(ValueError, message, load_monitor, file, POLICY)


# ---------------------------------------------------------------------- late labels


def test_what_is_due_and_what_waits():
    """Rows that waited come again with all of their time; what was tested before is left out; time does not go back."""
    day = np.datetime64("2026-03-01") + np.arange(10)
    watch, score = Monitor(POLICY, maturity=np.timedelta64(4, "D")), np.linspace(0.9, 0.99, 10)[::-1]
    seen = watch.update(np.array([0.0] * 6 + [np.nan] * 4), score, time=day)
    assert (seen.n, seen.waiting, seen.periods[0].period) == (6, 4, "2026-03-01")
    for message, when, as_of in (
        ("4 rows were too young before, and only 1 of that time", [day[9], day[9] + 1], day[9] + 4),
        ("as_of is before that of an earlier call", [day[8], day[9]], day[8]),
    ):
        refused(ValueError, message, watch.update, [0.0, 0.0], [0.9, 0.91], time=when, as_of=as_of)
    seen = watch.update(np.zeros(10), score, time=day, as_of=day[9] + 4)
    assert (seen.n, seen.waiting, seen.skipped) == (10, 0, 6)
    units = abstain.choose_threshold(np.zeros(90), np.arange(90), risk=0.5, delta=0.05, clusters=np.arange(90) // 9)
    given = {"clusters": [1, 2], "time": [0.0, 1.0]}
    refused(ValueError, "need maturity=", monitor, units.policy(score="s"), [0.0, 1.0], [90.0, 91.0], **given)


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


def test_no_row_comes_before_those_that_were_tested():
    """Nor is a time read in two ways."""
    watch = Monitor(POLICY)
    watch.update(*rows(100, 0.02), time=np.arange(100.0) / 30)
    refused(ValueError, "is before that of rows that were tested", watch.update, [0.0], [0.9], time=[1.0])
    refused(ValueError, "earlier times were not", watch.update, [0.0], [0.9], time=[np.datetime64("2026-01-01")])


# ---------------------------------------------------------------------- changes, nulls, the table


def test_periods_of_few_rows():
    """Two answers have an interval, cut at 0 and the largest loss; none of them no evidence; a long table is cut."""
    pair = monitor(POLICY, [0.2, 0.6], np.ones(2), max_loss=1.0).periods[0]
    assert (pair.risk_low, pair.risk_high) == (0.0, 1.0)
    late = monitor(POLICY, np.full(2, np.nan), np.zeros(2)).periods[0]
    assert (late.evidence, late.change) == (0.0, 0.0)
    watch = Monitor(POLICY)
    for week in range(30):
        seen = watch.update(*rows(20, 0.02, week))
    text = seen.to_text(80)
    assert "The last 26 of 30" in " ".join(text.split())
    assert (max(map(len, text.splitlines())) <= 80, len(seen.to_dict()["periods"])) == (True, 30)
