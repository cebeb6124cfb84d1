"""Monitoring: false alarms under daily looks for a year, and how soon a doubled risk is noticed."""

import numpy as np
import pytest
from scipy import stats

import abstain
from abstain.monitoring import Monitor, SortedRowsWarning, monitor
from abstain.monitoring._evidence import ALTERNATIVES, PIECE, Bets, Detector, Evidence
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


def test_a_doubled_risk_is_noticed_soon():
    """5 % becomes 10 %: half of the alarms within 300 labelled accepted rows, nine of ten within 650."""
    rng = np.random.default_rng(3)
    delays = []
    for _ in range(500):
        over = np.flatnonzero(Evidence(0.05).update((rng.random(3000) < 0.1).astype(float)) >= np.log(20))
        delays.append(over[0] + 1 if over.size else np.inf)
    assert np.median(delays) <= 300
    assert np.quantile(delays, 0.9) <= 650


@pytest.mark.parametrize("limit", [0.001, 0.05, 0.6, 0.99])
def test_evidence_is_the_sum_over_starts(limit):
    """Every start by itself, with its weight and its products, adds up to the evidence; losses of 1 in between."""
    values = np.random.default_rng(11).choice([0.0, 0.3, 1.0], 120, p=[0.7, 0.2, 0.1])
    values[60:70] = 1.0
    against = np.minimum(limit * np.array(ALTERNATIVES), (1 + limit) / 2)
    factors = 1 + (against - limit) / (limit * (1 - limit)) * (values[:, None] - limit)
    cash = np.r_[1.0, 0.5 * (1 + np.arange(1, 121) / 50) ** -0.25]
    weight = cash[:-1] - cash[1:]
    assert weight[0] > 0.5
    assert (weight > 0).all()
    slow = cash[1:].copy()
    for end in range(1, 121):
        slow[end - 1] += sum(weight[start] * factors[start:end].prod(axis=0).mean() for start in range(end))
    np.testing.assert_allclose(Evidence(limit).update(values), np.log(slow), rtol=1e-10, atol=1e-12)


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


@pytest.mark.parametrize("column", ["loss", "confidence"])
def test_sorted_rows_are_noticed(column):
    """Errors that a sort has put at the end look like a change; rows as they came, the same rows, do not."""
    policy, rng = certified(), np.random.default_rng(14)
    score = rng.random(4000)
    loss = (rng.random(4000) < 0.02).astype(float)
    assert not monitor(policy, loss, score).violated
    order = np.argsort(loss if column == "loss" else -score, kind="stable")
    with pytest.warns(SortedRowsWarning, match=f"sorted by {column}; give rows in the order"):
        seen = monitor(policy, loss[order], score[order])
    assert seen.violated == (column == "loss")


def test_drift_of_coverage_and_score():
    """No alarm on the same population in at least 95 % of streams, an alarm when scores fall."""
    policy, rng = certified(), np.random.default_rng(4)
    same = [monitor(policy, np.zeros(2000), rng.random(2000)) for _ in range(40)]
    assert np.mean([bool(seen.coverage_drifted) or bool(seen.score_drifted) for seen in same]) <= 0.1
    assert not any(seen.violated for seen in same)
    assert monitor(policy, np.zeros(2000), rng.random(2000) ** 1.5).score_drifted


def test_without_a_guarantee_nothing_is_broken():
    """An empirical policy and an empty acceptance give None."""
    policy = abstain.choose_threshold([0, 1], [0.9, 0.1], coverage=0.5).policy(score="s")
    assert monitor(policy, [1, 1], [0.95, 0.99]).violated is None
    assert monitor(policy, [7, 1], [0.95, 0.99]).risk == 4.0
    assert monitor(certified(), [1, 1], [-1, -2]).violated is None


def test_bad_input():
    """A loss above its bound, a delta outside (0, 1)."""
    refused(ValueError, "max_loss=1 is below a loss that occurs, 2", monitor, certified(), [2.0], [0.5])
    refused(ValueError, "delta must lie inside", monitor, certified(), [1.0], [0.5], delta=1.0)
    watch = Monitor(certified())
    refused(ValueError, "loss: 3, confidence: 2", watch.update, [0.0, 1.0, 0.0], [0.9, 0.8])


def by_site(n=8000):
    """Return a policy that guarantees 5 % for each of two sites."""
    rng = np.random.default_rng(6)
    score, site = rng.random(n), np.where(np.arange(n) % 8, "large", "small")
    wrong = rng.random(n) < 0.1 * (1 - score)
    found = abstain.choose_threshold(wrong, score, risk=0.05, delta=0.05, groups=site)
    assert found.attainable
    return found.policy(score="msp", group="site")


def test_a_group_is_not_hidden_by_the_others():
    """The risk of all together is fine, that of the small site is not; only its guarantee is violated."""
    rng, policy = np.random.default_rng(7), by_site()
    score, site = rng.random(8000), np.where(np.arange(8000) % 8, "large", "small")
    wrong = rng.random(8000) < np.where(site == "small", 0.2, 0.01)
    seen = monitor(policy, wrong, score, groups=site)
    assert seen.risk < 0.05
    assert (seen.violated, seen.groups) == (True, {"large": False, "small": True})
    assert 0 < seen.violated_at < seen.n_accepted
    assert (seen.coverage_drifted, seen.score_drifted, seen.drift_undecided) == (False, False, None)


@pytest.mark.slow
def test_groups_share_the_false_alarms():
    """Both sites exactly at the limit: any alarm in at most delta of the streams."""
    rng, policy = np.random.default_rng(8), by_site()
    site = np.where(np.arange(2000) % 8, "large", "small")
    seen = [monitor(policy, rng.random(2000) < 0.05, np.ones(2000), groups=site) for _ in range(400)]
    alarms = sum(bool(each.violated) for each in seen)
    assert 0 < alarms <= 400 * float(stats.binom.ppf(1 - 1e-4, 400, 0.05)) / 400


def test_only_accepted_rows_are_labelled():
    """The share of accepted rows says nothing then; scores among them still do."""
    policy, rng = certified(), np.random.default_rng(10)
    limit = policy.thresholds[""]
    same = limit + (1 - limit) * rng.random(2000)
    assert monitor(policy, np.zeros(2000), same).coverage_drifted
    seen = monitor(policy, np.zeros(2000), same, accepted_only=True)
    assert (seen.coverage_drifted, seen.score_drifted) == (None, False)
    assert seen.drift_undecided == "only accepted rows are given"
    moved = limit + (1 - limit) * rng.random(2000) ** 2
    assert monitor(policy, np.zeros(2000), moved, accepted_only=True).score_drifted


def test_weighted_calibration_tells_no_drift():
    """Its rows are another population than those that the policy decides; the guarantee is still watched."""
    score = np.linspace(0.0, 1.0, 4000)
    weights = {"sample_weight": np.tile([0.5, 1.5], 2000), "max_weight": 1.5}
    found = abstain.choose_threshold(np.zeros(4000), score, risk=0.05, delta=0.05, **weights)
    seen = monitor(found.policy(score="s"), np.ones(50), np.ones(50))
    assert (seen.violated, seen.coverage_drifted, seen.score_drifted) == (True, None, None)
    assert "weighted" in seen.drift_undecided


def test_the_largest_loss_comes_from_the_guarantee():
    """A loss of 8 is legal if the certificate was for losses up to 10."""
    found = abstain.choose_threshold(np.tile([0.0, 1.0], 2000), np.arange(4000), risk=2.0, delta=0.05, max_loss=10.0)
    policy = found.policy(score="s")
    assert monitor(policy, [8.0], [1e9]).violated is False
    refused(ValueError, "max_loss=10 is below a loss that occurs, 11", monitor, policy, [11.0], [1e9])


def test_false_signals_are_as_rare_as_the_run_length_says():
    """Risk at the limit: on average at least so many rows to a signal, in runs that are cut at five times that."""
    rng, first = np.random.default_rng(5), []
    for _ in range(300):
        signals = Detector(0.05, 300.0).update((rng.random(1500) < 0.05) * 1.0)[1]
        first.append(signals[0] + 1 if signals else 1500)  # cut: the true mean is larger
    assert np.mean(first) >= 300.0 - 3 * np.std(first) / np.sqrt(300)


@pytest.mark.parametrize("share", [None, 0.2])
def test_a_detector_of_a_long_stream_signals_as_one_of_its_days(share):
    """More values than are played at once, many signals among them: whole, and in pieces of any size."""
    rng = np.random.default_rng(4)
    n = 3 * PIECE + 5
    values = (rng.random(n) < 0.08) * 1.0
    begins = np.ones(n, dtype=bool) if share is None else rng.random(n) < share
    whole, apart = Detector(0.05, 2000.0), Detector(0.05, 2000.0)
    path, signals = whole.update(values, begins)
    assert len(signals) > 5
    assert max(signals) > PIECE
    first, later = [], 0
    for rows in np.split(np.arange(n), np.sort(rng.choice(np.flatnonzero(begins), 30))):
        each, found = apart.update(values[rows], begins[rows])
        first.append(each)
        later += len(found)
    assert later == len(signals)
    np.testing.assert_array_equal(np.concatenate(first), path)


def test_a_window_is_judged_by_its_own_rows():
    """The first row of the next window says nothing about the one before."""
    threshold = abstain.choose_threshold([0.0] * 200, np.linspace(0.1, 0.9, 200), risk=0.05, delta=0.05)
    policy, loss = threshold.policy(score="conf"), np.tile([0.0, 0, 0, 0, 1, 0, 0, 0, 0, 0], 20)
    found = []
    for after in (0.0, 1.0):  # the first row of the next window
        stream = Monitor(policy, window=5.0)
        scores, times = np.linspace(0.95, 0.99, 201), np.append(np.repeat(np.arange(5.0), 40), 5.0)
        found.append(stream.update(np.append(loss, after), scores, time=times).evidence)
    assert found[0] == found[1] > 1.0


def test_groups_share_delta():
    """Evidence that is shown has the factor of the number of groups, and 20 is a violation."""
    calibration, names = np.linspace(0.1, 0.9, 400), ["a", "b", "c", "d"]
    chosen = abstain.choose_threshold([0.0] * 400, calibration, risk=0.1, delta=0.05, groups=np.tile(names, 100))
    stream, between = Monitor(chosen.policy(score="conf", group="site")), 0
    for k in range(100):  # three errors in ten answers of one group of four
        loss, conf = np.array([0, 0, 1, 0, 0, 1, 0, 0, 0, 1.0]), np.full(10, 0.95) + 1e-4 * (k + np.arange(10) / 10)
        found = stream.update(loss, conf, groups=["a"] * 10, again=True)
        assert found.violated == (found.evidence >= 20.0)
        between += 5.0 < found.evidence < 20.0
    assert found.violated
    assert between
