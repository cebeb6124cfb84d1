"""What it costs as a process to load a policy, to print help and to evaluate 1,000 rows; what a decision takes.

    python -m benchmarks.start [--rounds 15]

Processes next to ``import numpy``; bytecode is kept from the first round, which does not count.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import Form, command, say, seconds

import abstain
from abstain.policy import Policy

#: What each is to cost at most, over a process that imports NumPy.
BARS = {"load_policy": 1.5, "abstain --help": 1.5, "abstain evaluate, 1,000 rows": 5.0}


def spent(words: list[str], environment: dict[str, str]) -> float:
    """Return the processor time of a run of Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def ratios(rounds: int = 15) -> dict[str, float]:
    """Return the medians over ``import numpy``."""
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        score = 1.0 / (1.0 + np.exp(-np.abs(rng.normal(4.0, 3.0, 1000))))
        wrong = rng.random(1000) > score
        rows = "".join(f"{int(loss)},{each:.6f}\n" for loss, each in zip(wrong, score, strict=True))
        path, policy = Path(folder) / "rows.csv", Path(folder) / "policy.json"
        path.write_text("loss,confidence\n" + rows, encoding="utf-8")
        abstain.choose_threshold(wrong, score, risk=0.2).policy(score="confidence").save(policy)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": folder, "OMP_NUM_THREADS": "1"}
        load = f"from abstain import load_policy; load_policy({str(policy)!r}).decide(0.5)"
        words = (["-c", load], ["-m", "abstain", "--help"], ["-m", "abstain", "evaluate", str(path)])
        jobs = dict(zip(BARS, words, strict=True)) | {"numpy": ["-c", "import numpy"]}
        found = [{name: spent(each, environment) for name, each in jobs.items()} for _ in range(rounds + 1)]
    return {name: statistics.median(turn[name] / turn["numpy"] for turn in found[1:]) for name in BARS}


def policies() -> dict[str, tuple[Policy, Any]]:
    """Return policies with rows of a million."""
    rng, n = np.random.default_rng(0), 1_000_000
    score = rng.random(2000)
    found = abstain.choose_threshold(rng.random(2000) > score**0.1, score, coverage=0.7)
    z = rng.standard_normal((n, 10))
    columns = [f"z{k}" for k in range(10)]
    return {
        "a finished score": (found.policy(score="s"), rng.random(n)),
        "msp of 10 logits": (found.policy(score="msp", logits=columns, temperature=1.5), z),
        "lead of 10 logits": (found.policy(score="logit_margin", logits=columns), z),
    }


def processes(form: Form, rounds: int = 15) -> None:
    """Whole processes."""
    for name, found in ratios(rounds).items():
        say(f"{name:<30} {found:5.2f} x import numpy {'':<5} bar {BARS[name]:g}")


def decisions(form: Form) -> None:
    """One row, and a million rows in a call."""
    for name, (policy, rows) in policies().items():
        row = float(rows[0]) if rows.ndim == 1 else {f"z{k}": float(value) for k, value in enumerate(rows[0])}
        one, many = seconds(partial(policy.decide, row), 7, 3000), seconds(partial(policy.decide, rows))
        say(f"{name:30} one row {1e6 * one:7.2f} us   1e6 rows {many:6.3f} s")


if __name__ == "__main__":
    command(__doc__, processes, decisions)
