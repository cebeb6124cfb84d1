"""Drift: after which row it was seen, in which direction, whether it holds; in a saved state, and in one of old."""

import hashlib
import json
from pathlib import Path

import numpy as np

import abstain
from abstain.monitoring import Monitor, load_monitor, monitor
from tests.monitoring.test_monitor import certified

POLICY = certified()


def test_drift_names_row_direction_and_whether_it_holds(tmp_path: Path) -> None:
    """Forty high scores, then usual ones: the alarm names a row among the first, and has passed; a state keeps that."""
    rng, state = np.random.default_rng(3), tmp_path / "state.json"
    score = rng.random(4000)
    found = abstain.choose_threshold(rng.random(4000) < 0.25 * (1.0 - score), score, risk=0.05, delta=0.05)
    policy = found.policy(score="msp")
    limit = policy.thresholds[""]
    high, usual = limit + (1.0 - limit) * rng.random(40), rng.random(6000)
    watch = Monitor(policy)
    watch.update(np.zeros(40), high)
    watch.save(state)
    (first,) = [one for one in watch.result().drifts if one.what == "coverage"]
    assert first.row is not None
    assert first.row <= 40
    assert (first.rose, first.share, first.calibrated) == (True, 1.0, policy.calibration["n_accepted"] / 4000)
    assert first.now >= 1.0
    later = load_monitor(state, policy)
    later.update(np.zeros(6000), usual)
    (passed,) = [one for one in later.result().drifts if one.what == "coverage"]
    assert (passed.row, passed.rose, passed.share) == (first.row, True, 1.0)
    assert passed.now < 1.0
    words = " ".join(each.text for each in later.result().verdict.caveats)
    assert f"more was answered in the first {first.row} rows (100 %, at calibration " in words
    assert "passed since)" in words
    assert "still so" not in words
    fewer = monitor(policy, np.zeros(3000), rng.random(3000) ** 2).drifts[0]
    assert (fewer.rose, fewer.now >= 1.0) == (False, True)
    lower = monitor(policy, np.zeros(3000), rng.random(3000) ** 2)
    (score_drift,) = [one for one in lower.drifts if one.what == "score"]
    assert score_drift.edge is not None
    said = " ".join(each.text for each in lower.verdict.caveats)
    assert f"scores were lower in the first {score_drift.row} rows (at {score_drift.edge:.3f}"[:-1] in said


def test_a_state_without_the_row_of_a_drift_is_taken_up(tmp_path: Path) -> None:
    """As an older version wrote it: the alarm stays, and its row is said to be unknown rather than a later one."""
    file = tmp_path / "state.json"
    watch = Monitor(POLICY)
    watch.update(np.zeros(3000), np.random.default_rng(1).random(3000) ** 2)
    watch.save(file)
    content = json.loads(file.read_text("utf-8"))
    for one in content["watched"].values():
        for name in ("coverage", "score"):
            del one[name]["first"]
    kept = {key: value for key, value in content.items() if key not in ("format", "digest")}
    text = json.dumps(kept, sort_keys=True).encode()
    file.write_text(json.dumps({**content, "digest": hashlib.sha256(text).hexdigest()}))
    later = load_monitor(file, POLICY)
    seen = later.update(np.zeros(500), np.random.default_rng(2).random(500) ** 2)
    assert seen.coverage_drifted
    assert [one.row for one in seen.drifts] == [None] * len(seen.drifts)
    assert any("the state of an older version did not save" in each.text for each in seen.verdict.caveats)
