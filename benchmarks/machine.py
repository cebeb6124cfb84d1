"""What measuring needs of the machine: a warm heap, kernels or none, how NumPy sorts, and peaks of memory."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from abstain import _fast


def dispatch() -> str:
    """The processor features that NumPy's sort may use here."""
    try:
        from numpy._core._multiarray_umath import __cpu_features__ as features
    except ImportError:
        return "unknown"
    wanted = [name for name in ("AVX512_SKX", "X86_V4", "AVX2", "X86_V3", "ASIMD", "NEON") if features.get(name)]
    return ", ".join(wanted) or "baseline"


@contextmanager
def kernels(compiled: bool) -> Iterator[None]:
    """Load numba, or do without any kernel."""
    if compiled:
        import numba  # noqa: F401

        yield
    else:
        with mock.patch.object(_fast, "kernel", return_value=None):
            yield


def warm_heap() -> Any:
    """Return a guard that, while it lives, keeps the memory below it with the process, as after hours of work.

    The C library hands arrays above a threshold, which grows to 32 MB, back to the system when they are freed,
    and whatever is free at the top of the heap too.
    """
    np.ones(4_000_000)
    below = [np.ones(3_500_000) for _ in range(20)]
    guard = np.ones(20_000)
    del below
    return guard


class Peak(NamedTuple):
    """One row: what the process makes of its input before it is measured, and what it does then.

    A ``job`` without a setup is a command, whose whole process counts, in GB. ``peer``: what a process of its own does
    whose peak is the yardstick; without one it is the input, of so many ``rows``.
    """

    title: str
    bar: float
    limit: float
    setup: str
    job: str
    rows: int = 10_000_000
    peer: str = ""

    @property
    def unit(self) -> str:
        """What the number counts."""
        return "x its peak" if self.peer else "x input" if self.setup else "GB"


#: The input in a process of its own, with its bytes; ``n`` is set before.
ROWS = """
import numpy as np
from benchmarks.costs import population
loss, score = population(n)
"""
NARROW = ROWS + "loss, score = loss == 1.0, score.astype(np.float32)\n"
FILE = f"""{ROWS}
import os, polars
path = os.path.join(place, "rows.parquet")
polars.DataFrame({{"loss": loss, "confidence": score}}).write_parquet(path)
"""
#: A job of ``benchmarks/costs.py`` and its yardstick, both run before, since libraries keep what they have once taken.
PAIR = "job, peer = costs.{}; job(); peer()"
EVALUATE = "import abstain; str(abstain.evaluate(loss=loss, confidence=score))"
SCAN = "import abstain; abstain.TieBlocks.from_frame(polars.scan_parquet(path), confidence='confidence', loss='loss')"
DUCKDB = SCAN.replace("polars.scan_parquet(path)", "__import__('duckdb').sql(f\"from '{path}'\")")


PEAKS: dict[str, Peak] = {
    "peak_evaluate": Peak("evaluate, float64, 1e7", 5, 7, ROWS, EVALUATE),
    "peak_narrow": Peak("evaluate, bool and float32, 1e7", 12, 18, NARROW, EVALUATE),
    "peak_1e6": Peak("evaluate, float64, 1e6", 5, 9, ROWS, EVALUATE, 1_000_000),
    "peak_narrow_1e6": Peak("evaluate, bool and float32, 1e6", 12, 27, NARROW, EVALUATE, 1_000_000),
    "peak_5e7": Peak("evaluate, float64, 5e7", 5, 9, ROWS, EVALUATE, 50_000_000),
    "peak_polars": Peak("from_frame, polars, 1e7, over the columns", 4, 9, FILE, SCAN),
    "peak_duckdb": Peak("from_frame, DuckDB, 1e7, over the columns", 4, 9, FILE, DUCKDB),
    "peak_polars_5e7": Peak("from_frame, polars, 5e7, over the columns", 4, 9, FILE, SCAN, 50_000_000),
    "peak_duckdb_5e7": Peak("from_frame, DuckDB, 5e7, over the columns", 4, 9, FILE, DUCKDB, 50_000_000),
    "peak_command": Peak("abstain evaluate FILE.parquet, 1e7", 1, 1.5, "", "evaluate"),
    "peak_knn": Peak("kNN score, over the peer's", 1, 1.5, PAIR.format("neighbours()"), "job()", 1, "peer()"),
    "peak_vim": Peak("ViM score, over the peer's", 1, 1.5, PAIR.format("matched(False)"), "job()", 1, "peer()"),
    "peak_vim_fit": Peak("ViM, fit, over the peer's", 1, 1.5, PAIR.format("matched(True)"), "job()", 1, "peer()"),
}


#: A process as small as can be, since what a child inherits counts as its own.
PROCESS = """
import os, subprocess, sys
ran = subprocess.Popen([sys.executable, "-m", "abstain", {command!r}, {path!r}], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(ran.pid, 0)
print(1024 * used.ru_maxrss / 1e9 if status == 0 else "failed")
"""


MEASURE = """
import os, sys
sys.path.insert(0, {folder!r})
from benchmarks import costs
n, place = {n}, {place!r}
exec({setup!r})
size = loss.nbytes + score.nbytes if "loss" in globals() else 1
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


def peak(row: Peak) -> float:
    """Return how far the high-water mark rises; the C library keeps the holes that columns below 32 MB leave."""
    folder = str(Path(__file__).parents[1])
    with tempfile.TemporaryDirectory() as place:

        def risen(job: str, setup: str = row.setup) -> float:
            warm = "" if row.peer or not job else "import abstain, polars" if "path" in job else job
            return _printed(MEASURE.format(folder=folder, n=row.rows, place=place, setup=setup, warm=warm, job=job))

        if row.setup:
            return risen(row.job) / (risen(row.peer) if row.peer else 1.0)
        risen("", FILE)
        return _printed(PROCESS.format(command=row.job, path=os.path.join(place, "rows.parquet")))


def _printed(code: str) -> float:
    """Return the last word that a process of its own prints, as a number."""
    return float(subprocess.check_output([sys.executable, "-c", code], text=True).split()[-1])
