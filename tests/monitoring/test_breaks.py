"""When a guarantee was first violated, and a drift first seen: of all groups, from a saved state and an old one."""

import hashlib
import json

import numpy as np

import abstain
from abstain.monitoring import Monitor, load_monitor, monitor
from tests.monitoring.test_monitor import certified


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
    assert whole.groups == {"a": True, "b": True, "c": True, "d": False}
    found = {one.group: one for one in whole.violations}
    assert 1000 < found["b"].row < 1400 < 2500 < found["a"].row < 2900 < 4000 < found["c"].row < 4400
    assert whole.violated_at == found["b"].row
    for one in found.values():  # a row decides at the end of its day, which lies in this week
        assert int(float(one.period)) <= (one.row - 1) // 100 < int(float(one.period)) + 7
        alone = np.flatnonzero(site == one.group)
        single = Monitor(policy).update(loss[alone], score[alone], groups=site[alone], time=day[alone])
        (same,) = single.violations
        assert alone[same.row - 1] // 100 == (one.row - 1) // 100
    (table,) = [each for each in whole.tables() if "first violated" in each.title]
    assert [row[:2] for row in table.rows] == [("a", "yes"), ("b", "yes"), ("c", "yes"), ("d", "no")]
    assert whole.to_dict()["violations"][0] == {"group": "a", "row": found["a"].row, "period": found["a"].period}
    file = tmp_path / "state.json"
    Monitor(policy).save(file)
    for part in np.array_split(np.arange(6000), 12):
        watch = load_monitor(file, policy)
        watch.update(loss[part], score[part], groups=site[part], time=day[part])
        watch.save(file)
    assert load_monitor(file, policy).result().violations == whole.violations
    as_before(file, lambda state: state.pop("broke"))
    old = load_monitor(file, policy).result()
    assert old.violations == ()
    assert f"first seen in a, b, c after {old.violated_at:,} accepted rows" in old.verdict.guarantee
    assert "unknown" in old.to_text()


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
