"""Latencies of decisions, and what loading a policy costs beside NumPy: ``python benchmarks/policy.py``.

Processor times, the best of several runs, so that other work on the machine counts little.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain.policy import Policy

RNG = np.random.default_rng(0)


def best(call: Callable[[], Any], times: int, runs: int = 7) -> float:
    """Return the seconds of one call."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        for _ in range(times):
            call()
        found.append((time.process_time() - start) / times)
    return min(found)


def policies() -> dict[str, tuple[Policy, Any]]:
    """Return policies with rows of a million."""
    score = RNG.random(2000)
    found = abstain.choose_threshold(RNG.random(2000) > score**0.1, score, coverage=0.7)
    z, n = RNG.standard_normal((1_000_000, 10)), 1_000_000
    columns = [f"z{k}" for k in range(10)]
    return {
        "a finished score": (found.policy(score="s"), RNG.random(n)),
        "msp of 10 logits": (found.policy(score="msp", logits=columns, temperature=1.5), z),
        "lead of 10 logits": (found.policy(score="logit_margin", logits=columns), z),
    }


def loading(policy: Policy) -> tuple[float, float]:
    """Return the seconds that loading and one decision take from the start of Python on, and those of NumPy alone."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.json"
        policy.save(file)
        codes = (f"import abstain; abstain.load_policy({str(file)!r}).decide(0.5)", "import numpy")
        times = []
        for code in codes:
            timed = f"import time; start = time.process_time(); {code}; print(time.process_time() - start)"
            done = [
                subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
                for _ in range(9)
            ]
            times.append(min(float(each.stdout) for each in done))
    return times[0], times[1]


def main() -> None:
    """Print a table."""
    for name, (policy, rows) in policies().items():
        row = float(rows[0]) if rows.ndim == 1 else {f"z{k}": float(value) for k, value in enumerate(rows[0])}
        one = best(lambda policy=policy, row=row: policy.decide(row), 3000)  # type: ignore[misc]
        many = best(lambda policy=policy, rows=rows: policy.decide(rows), 1, 5)  # type: ignore[misc]
        print(f"{name:20} one row {1e6 * one:7.2f} us   1e6 rows {many:6.3f} s")
    load, numpy = loading(policies()["a finished score"][0])
    print(f"load and decide {1e3 * load:.1f} ms, import numpy {1e3 * numpy:.1f} ms: {load / numpy:.2f}")


if __name__ == "__main__":
    main()
