"""What it costs as a process to load a policy, to print help and to evaluate a thousand rows, beside ``import numpy``.

    python benchmarks/start.py [ROUNDS]

Processor time of all in turn; bytecode is kept from the first round, which does not count.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import abstain

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
        load = f"from abstain import load_policy; load_policy({str(policy)!r})"
        words = (["-c", load], ["-m", "abstain", "--help"], ["-m", "abstain", "evaluate", str(path)])
        jobs = dict(zip(BARS, words, strict=True)) | {"numpy": ["-c", "import numpy"]}
        found = [{name: spent(each, environment) for name, each in jobs.items()} for _ in range(rounds + 1)]
    return {name: statistics.median(turn[name] / turn["numpy"] for turn in found[1:]) for name in BARS}


if __name__ == "__main__":
    for name, found in ratios(*map(int, sys.argv[1:])).items():
        print(f"{name:<30} {found:5.2f} x import numpy {'':<5} bar {BARS[name]:g}")
