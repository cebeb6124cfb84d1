"""What ``abstain evaluate`` of a CSV of a thousand rows costs as a process, beside one that imports NumPy.

    python benchmarks/start.py [ROUNDS]

Processor time of both, in turn; bytecode is kept from the first round, which does not count.
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


def spent(words: list[str], environment: dict[str, str]) -> float:
    """Return the processor time of a run of Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def ratio(rounds: int = 15) -> float:
    """Return the median of one over the other."""
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        score = 1.0 / (1.0 + np.exp(-np.abs(rng.normal(4.0, 3.0, 1000))))
        wrong = rng.random(1000) > score
        rows = "".join(f"{int(loss)},{each:.6f}\n" for loss, each in zip(wrong, score, strict=True))
        path = Path(folder) / "rows.csv"
        path.write_text("loss,confidence\n" + rows, encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": folder, "OMP_NUM_THREADS": "1"}
        jobs = (["-m", "abstain", "evaluate", str(path)], ["-c", "import numpy"])
        found = [[spent(words, environment) for words in jobs] for _ in range(rounds + 1)]
    return statistics.median(evaluated / imported for evaluated, imported in found[1:])


if __name__ == "__main__":
    print(f"abstain evaluate, 1,000 rows: {ratio(*map(int, sys.argv[1:])):.2f} x import numpy")
