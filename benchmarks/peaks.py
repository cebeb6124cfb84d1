"""How far memory rises: the kernel's high-water mark of a process of its own; ``benchmarks/costs.py`` prints it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import NamedTuple


class Peak(NamedTuple):
    """One row: what the process makes of its input before it is measured, and what it does then.

    A ``job`` without a setup is a command, whose whole process counts, in GB.
    """

    title: str
    bar: float
    limit: float
    setup: str
    job: str

    @property
    def unit(self) -> str:
        """What the number counts."""
        return "x input" if self.setup else "GB"


#: The input in a process of its own, with its bytes; ``n`` is set before.
ROWS = """
import numpy as np
from costs import population
loss, score = population(n)
"""
NARROW = ROWS + "loss, score = loss == 1.0, score.astype(np.float32)\n"
FILE = (
    ROWS
    + """
import os, polars
path = os.path.join(place, "rows.parquet")
polars.DataFrame({"loss": loss, "confidence": score}).write_parquet(path)
"""
)
EVALUATE = "import abstain; str(abstain.evaluate(loss=loss, confidence=score))"
SCAN = "import abstain; abstain.TieBlocks.from_frame(polars.scan_parquet(path), confidence='confidence', loss='loss')"
PEAKS: dict[str, Peak] = {
    "peak_evaluate": Peak("evaluate, float64", 5, 7, ROWS, EVALUATE),
    "peak_narrow": Peak("evaluate, bool and float32", 12, 18, NARROW, EVALUATE),
    "peak_polars": Peak("from_frame, polars, over the columns", 4, 9, FILE, SCAN),
    "peak_duckdb": Peak(
        "from_frame, DuckDB, over the columns", 4, 9, FILE,
        SCAN.replace("polars.scan_parquet(path)", "__import__('duckdb').sql(f\"from '{path}'\")"),
    ),
    "peak_command": Peak("abstain evaluate FILE.parquet, 1e7", 1, 1.5, "", "evaluate"),
}  # fmt: skip

#: A process as small as can be, since what a child inherits counts as its own.
COMMAND = """
import os, subprocess, sys
ran = subprocess.Popen([sys.executable, "-m", "abstain", {command!r}, {path!r}], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(ran.pid, 0)
print(1024 * used.ru_maxrss / 1e9 if status == 0 else "failed")
"""

MEASURE = """
import os, sys
sys.path.insert(0, {folder!r})
import costs
n, place = {n}, {place!r}
exec({setup!r})
size = loss.nbytes + score.nbytes
if "path" in globals():
    del loss, score
small = costs.population(1000)
def warm(loss, score):
    exec({warm!r}, globals() | dict(loss=loss, score=score))
warm(*small)
import gc; gc.collect()
try:
    import ctypes; ctypes.CDLL("libc.so.6").malloc_trim(0)
except OSError:
    pass
def mark(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name)) * 1024
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the high-water mark starts again from here
before = mark("VmRSS")
exec({job!r})
print((mark("VmHWM") - before) / size)
"""


def peak(row: Peak, n: int = 10_000_000) -> float:
    """Return how far the high-water mark rises; the C library keeps the holes that columns below 32 MB leave."""
    folder = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as place:
        if row.setup:
            warm = row.job if "path" not in row.job else "import abstain, polars"
            return _printed(MEASURE.format(folder=folder, n=n, place=place, setup=row.setup, warm=warm, job=row.job))
        _printed(MEASURE.format(folder=folder, n=n, place=place, setup=FILE, warm="", job=""))
        return _printed(COMMAND.format(command=row.job, path=os.path.join(place, "rows.parquet")))


def _printed(code: str) -> float:
    """Return the last word that a process of its own prints, as a number."""
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(ran.stdout.split()[-1])
