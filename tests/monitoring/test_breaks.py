"""When a guarantee was first violated, and a drift first seen; clusters that come again, and costs."""

import hashlib
import json

import numpy as np
import pytest

import abstain
from abstain._result import Status
from abstain.monitoring import Monitor, load_monitor, monitor
from tests.monitoring.test_monitor import certified
from tests.refusal import refused


def as_before(file, forget):
    """Rewrite a state as an older version wrote it, which did not save what is forgotten here."""
    content = json.loads(file.read_text("utf-8"))
    for state in content["watched"].values():
        forget(state)
    kept = {key: value for key, value in content.items() if key not in ("format", "digest")}
    digest = hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
    file.write_text(json.dumps({**content, "digest": digest}))


def policy_of(site):
    """Return a policy by site that guarantees 10 %."""
    rng = np.random.default_rng(0)
    score = rng.random(len(site))
    wrong = rng.random(len(site)) < 0.05 * (1.0 - score)
    return abstain.choose_threshold(wrong, score, risk=0.1, delta=0.05, groups=site).policy(score="s", group="site")


def later(site, first):
    """Return losses and scores of rows that are all accepted, wrong half the time from a row of each group on."""
    rng, row = np.random.default_rng(1), np.arange(len(site))
    from_ = np.array([first.get(each, len(site)) for each in site])
    return (rng.random(len(site)) < np.where(row >= from_, 0.5, 0.01)).astype(float), 0.9 + 0.1 * rng.random(len(site))


def test_each_group_is_broken_at_its_own_row(tmp_path):
    """Three sites go bad one after the other, a fourth never: row and week of each, the first of them that of all."""
    site = np.tile(["a", "b", "c", "d"], 1500)
    policy = policy_of(site)
    loss, score = later(site, {"b": 1000, "a": 2500, "c": 4000})
    assert policy.accept(score, site).all()
    day = np.arange(6000) // 100
    whole = monitor(policy, loss, score, groups=site, time=day)
    found = {one.group: one for one in whole.violations}
    assert 1000 < found["b"].row < 1400 < 2500 < found["a"].row < 2900 < 4000 < found["c"].row < 4400
    assert (whole.violated_at, whole.groups["d"], len(found)) == (found["b"].row, False, 3)
    for one in found.values():  # a row decides at the end of its day, which lies in this week
        assert int(float(one.period)) <= (one.row - 1) // 100 < int(float(one.period)) + 7
        alone = np.flatnonzero(site == one.group)
        single = Monitor(policy).update(loss[alone], score[alone], groups=site[alone], time=day[alone])
        (same,) = single.violations
        assert alone[same.row - 1] // 100 == (one.row - 1) // 100
    (table,) = [each for each in whole.tables() if "first violated" in each.title]
    assert [row[:2] for row in table.rows] == [("a", "yes"), ("b", "yes"), ("c", "yes"), ("d", "no")]
    file, watch = tmp_path / "state.json", Monitor(policy)
    for part in np.array_split(np.arange(6000), 12):
        watch.update(loss[part], score[part], groups=site[part], time=day[part])
        watch.save(file)
        watch = load_monitor(file, policy)
    assert watch.result().violations == whole.violations
    as_before(file, lambda state: state.pop("broke"))
    old = load_monitor(file, policy).result()
    assert old.violations == ()
    assert f"first seen in a, b, c after {old.violated_at:,} accepted rows" in old.verdict.guarantee


def test_a_state_without_the_row_of_a_drift_is_taken_up(tmp_path):
    """The alarm stays, and its row is said to be unknown rather than a later one."""
    file, policy = tmp_path / "state.json", certified()
    watch = Monitor(policy)
    watch.update(np.zeros(3000), np.random.default_rng(1).random(3000) ** 2)
    watch.save(file)
    as_before(file, lambda state: [state[name].pop("first") for name in ("coverage", "score")])
    seen = load_monitor(file, policy).update(np.zeros(500), np.random.default_rng(2).random(500) ** 2)
    assert seen.coverage_drifted
    assert [one.row for one in seen.drifts] == [None] * len(seen.drifts)
    assert any("the state of an older version did not save" in each.text for each in seen.verdict.caveats)


# ---------------------------------------------------------------------- clusters that come again


SCORE = np.random.default_rng(0).random(3000)
CHOSEN = abstain.choose_threshold(np.zeros(3000), SCORE, risk=0.1, delta=0.05, clusters=np.arange(3000) // 3)
POLICY = CHOSEN.policy(score="s")


def test_rows_of_a_patient_who_returns_are_left_out_and_counted(tmp_path):
    """What is watched is what it would be without these rows, also after the state was saved; the count is said."""
    rng = np.random.default_rng(1)
    one, two = Monitor(POLICY, returning="skip"), Monitor(POLICY)
    for week in range(4):
        names = np.array([f"p{week}-{k // 3}" for k in range(60)] + ([f"p0-{k}" for k in range(9)] if week else []))
        loss, score, order = (rng.random(len(names)) < 0.05) * 1.0, rng.random(len(names)), rng.permutation(len(names))
        fresh = order[np.char.startswith(names[order], f"p{week}")]
        first = one.update(loss[order], score[order], clusters=names[order])
        second = two.update(loss[fresh], score[fresh], clusters=names[fresh])
        one.save(tmp_path / "watch.json")
        one = load_monitor(tmp_path / "watch.json", POLICY)
    assert (first.returned, first.n, first.evidence, first.risk) == (27, second.n, second.evidence, second.risk)
    alone = one.update([1.0, 1.0], [2.0, 2.0], clusters=["p0-1", "p1-1"])
    assert (alone.returned, alone.n, alone.empty) == (29, first.n, 0)
    message = "returning='skip', which judges each cluster by its first call"
    refused(ValueError, message, two.update, [1.0], [2.0], clusters=["p0-1"])


def test_with_maturity_a_cluster_is_judged_by_its_first_days():
    """Rows up to the age of maturity count, later ones of the same patient are left out, other columns with them."""
    watch = Monitor(POLICY, returning="skip", maturity=10)
    watch.update([0.0, 1.0, 0.0], [2.0, 2.1, 2.2], clusters=["a", "a", "b"], time=[0, 4, 9], as_of=12)
    seen = watch.update([1.0, 0.0, 0.0], [2.3, 2.2, 2.4], clusters=["a", "b", "c"], time=[15, 9, 16], as_of=30)
    assert (seen.n, seen.returned, seen.waiting) == (4, 1, 0)
    assert seen.risk == pytest.approx((0.5 + 0.0 + 0.0) / 3.0)


def test_a_policy_by_costs_says_what_a_case_cost():
    """Nothing is guaranteed, so nothing alarms: monitor and audit say so, and what a case cost on these rows."""
    rng = np.random.default_rng(3)
    score = rng.random(2000)
    policy = abstain.choose_threshold((rng.random(2000) > score**0.3) * 1.0, score, cost=(10.0, 1.0)).policy(score="s")
    new, wrong = rng.random(500), (rng.random(500) < 0.2) * 1.0
    cost = float(np.where(policy.accept(new), 10.0 * wrong, 1.0).mean())
    for seen in (abstain.monitor(policy, wrong, new), abstain.audit(policy, wrong, new)):
        assert (seen.cost, seen.verdict.status) == (pytest.approx(cost), Status.MEASURED)
    assert abstain.monitor(policy, wrong, new, accepted_only=True).cost is None
    assert abstain.monitor(POLICY, wrong, new, clusters=np.arange(500)).cost is None
