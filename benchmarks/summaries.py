"""What summaries of many rows cost, beside a bincount of the same rows: time per row, memory, and width of the bounds.

    python benchmarks/summaries.py [--rows 100000000] [--generated 200000000] [--folder FOLDER] [--quick]

Files of 5 million rows (float32 confidence, truth value of the error) are written one by one. Each stage runs in a
process of its own, whose peak memory is printed; wall and processor time differ on a busy machine.
The yardstick is the least that such a scan can do: NumPy's bincount of (bin, error) over the rows in memory, on two
threads. Ratios are of one run; only they carry over to another machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

PART, CHUNK = 5_000_000, 1 << 18


def rows(n: int, seed: int) -> tuple[Any, Any, Any]:
    """Return margin, maximum softmax probability in float32, and error: half of the probabilities are above .999."""
    rng = np.random.default_rng(seed)
    margin = np.abs(rng.standard_normal(n, dtype=np.float32) * np.float32(5.0) + np.float32(7.0))
    msp = np.float32(1.0) / (np.float32(1.0) + np.exp(-margin))
    return margin, msp, rng.random(n, dtype=np.float32) > msp


def files(folder: Path, n: int) -> list[Path]:
    """Return the files of n rows; those that are there already are kept."""
    import polars

    found = []
    for part in range(-(-n // PART)):
        file = folder / f"rows-{part:04d}.parquet"
        size = min(PART, n - part * PART)
        if not file.exists() or polars.scan_parquet(file).select(polars.len()).collect().item() != size:
            _, msp, error = rows(size, part)
            polars.DataFrame({"msp": msp, "error": error}).write_parquet(file, compression="uncompressed")
        found.append(file)
    return found


def bincount(folder: Path, n: int) -> dict[str, Any]:
    """Two threads, each over its own rows in memory, of which a part is looked at again and again."""
    _, msp, error = rows(min(PART, n), 0)
    wrong = error.astype(np.int32)

    def pass_over(turns: int) -> int:
        total = np.zeros(1 << 17, dtype=np.int64)
        for _ in range(turns):
            for start in range(0, len(msp), CHUNK):
                image = (np.float32(1.0) - msp[start : start + CHUNK]).view(np.int32) >> 14
                image <<= 1
                image |= wrong[start : start + CHUNK]
                total += np.bincount(image, minlength=1 << 17)
        return int(total.sum())

    turns = max(1, n // len(msp) // 2)
    with ThreadPoolExecutor(2) as pool:
        measured = timed(lambda: sum(pool.map(pass_over, [turns, turns])))
    return measured | {"rows": 2 * turns * len(msp)}


def scanned(folder: Path, n: int) -> dict[str, Any]:
    """Summarize the files through polars' streaming engine."""
    from abstain.summaries import summarize

    names = [str(file) for file in files(folder, n)]
    found: list[Any] = []
    measured = timed(lambda: found.append(summarize(names, confidence="msp", loss="error")))
    return measured | {"rows": found[0].n} | widths(found[0])


def generated(folder: Path, n: int) -> dict[str, Any]:
    """Update one summary with rows that are generated part by part; the cost of making them is left out."""
    from abstain.summaries import Summary

    summary, seconds, processor = Summary(), 0.0, 0.0
    for start in range(0, n, 1 << 20):
        _, msp, error = rows(min(1 << 20, n - start), start)
        measured = timed(lambda msp=msp, error=error: summary.update(error, msp))
        seconds, processor = seconds + measured["seconds"], processor + measured["processor"]
    return {"seconds": seconds, "processor": processor, "rows": summary.n} | widths(summary)


def logits(folder: Path, n: int) -> dict[str, Any]:
    """The same with the margin in place of the probability, on the scale of real numbers."""
    from abstain.summaries import Summary

    summary, seconds, processor, size = Summary("real"), 0.0, 0.0, min(n, 20_000_000)
    for start in range(0, size, 1 << 20):
        margin, _, error = rows(min(1 << 20, size - start), start)
        measured = timed(lambda margin=margin, error=error: summary.update(error, margin))
        seconds, processor = seconds + measured["seconds"], processor + measured["processor"]
    return {"seconds": seconds, "processor": processor, "rows": summary.n} | widths(summary)


def timed(work: Callable[[], Any]) -> dict[str, float]:
    """Return wall and processor seconds of all threads."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return {"seconds": time.perf_counter() - wall, "processor": time.process_time() - processor}


def widths(summary: Any) -> dict[str, float]:
    """Return the widths of the bounds of both areas, relative to the value."""
    return {name: summary.bounds(name).width for name in ("aurc", "augrc")}


def peak() -> float:
    """Return the peak memory of this process in GB."""
    lines = Path("/proc/self/status").read_text().splitlines() if Path("/proc/self/status").exists() else []
    return next((int(line.split()[1]) / 1e6 for line in lines if line.startswith("VmHWM")), float("nan"))


STAGES = {"bincount": bincount, "scanned": scanned, "generated": generated, "logits": logits}


def main() -> None:
    """Run every stage in a process of its own, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--generated", type=int, default=200_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.quick:
        given.rows, given.generated = min(given.rows, 2_000_000), min(given.generated, 2_000_000)
    if given.stage is not None:
        n = given.generated if given.stage == "generated" else given.rows
        print(json.dumps(STAGES[given.stage](given.folder, n) | {"peak": peak()}))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        files(folder, given.rows)
        print(f"{'stage':<10} {'rows':>11} {'wall ns':>8} {'cpu ns':>7} {'ratio':>6} {'cpu':>6} {'peak GB':>8}"
              f" {'AURC':>8} {'AUGRC':>8}")  # fmt: skip
        base: dict[str, float] = {}
        for stage in STAGES:
            arguments = [sys.executable, __file__, "--stage", stage, "--folder", str(folder)]
            arguments += ["--rows", str(given.rows), "--generated", str(given.generated)]
            done = subprocess.run(arguments, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            base = base or found
            wall, processor = (1e9 * found[name] / found["rows"] for name in ("seconds", "processor"))
            ratio, of_processor = (
                found[name] / found["rows"] / (base[name] / base["rows"]) for name in ("seconds", "processor")
            )
            print(f"{stage:<10} {found['rows']:>11,} {wall:>8.1f} {processor:>7.1f} {ratio:>6.1f} {of_processor:>6.1f}"
                  f" {found['peak']:>8.2f} {found.get('aurc', np.nan):>8.1e} {found.get('augrc', np.nan):>8.1e}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
