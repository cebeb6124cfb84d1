"""Calls of a monitor over parts of rows, saved and restored in between."""

import tempfile
import zlib
from pathlib import Path

import numpy as np

import abstain
from abstain.monitoring import Monitor, load_monitor
from tests.recorded import shown
from tests.recorded.contents import chosen, easy, warned, whole

FIXED = ("thresholds", "delta", "run_length", "limit", "guaranteed", "graded", "n", "period", "tested", "calibrated")
FIXED += ("periods", "verdict", "score_drifted", "coverage_drifted", "drift_undecided", "empty", "cost", "time_unit")


def guaranteed(*columns, **options):
    p = easy(21, 2400, share=0.5, graded="max_loss" in options)
    found = abstain.choose_threshold(**chosen(p, *columns), **({"risk": 0.1, "delta": 0.1} | options))
    return found.policy(score="s", **({"group": "g"} if "groups" in columns else {}))


def later(seed, n, *, worse=0.0, lower=0.0, graded=False):
    """Return new rows, of which more are wrong, or whose scores are lower."""
    p, rng = easy(seed, n, share=0.5, graded=graded), np.random.default_rng(seed + 1)
    extra = rng.random(n) < worse
    return p | {"loss": np.where(extra, 1.0, p["loss"]), "confidence": p["confidence"] * (1.0 - lower)}


def calls(policy, parts, *columns, times=None, **options):
    """Return what is seen after each part, the monitor being saved and restored after every second one."""
    stream, seen = Monitor(policy, **options), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        for k, part in enumerate(parts):
            found, caught = warned(stream.update, **chosen(part, *columns), **{} if times is None else times[k])
            seen.append(
                [found if isinstance(found, str) else [whole(found, *FIXED), zlib.crc32(found.tested.encode())], caught]
            )
            if k % 2:
                stream.save(path)
                stream = load_monitor(path, policy)
    return [seen[1:], whole(shown(stream.result()), *FIXED[:6])]
