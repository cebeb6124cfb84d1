"""Drift: after which row it was seen, in which direction, whether it holds; in a saved state, and in one of old."""

import hashlib
import json
from pathlib import Path

import numpy as np

from abstain.monitoring import Monitor, load_monitor
from tests.monitoring.test_monitor import certified

POLICY = certified()


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
