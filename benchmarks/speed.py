"""Speed of the core as ratios to yardsticks measured in the same interleaved run.

    python benchmarks/speed.py                 # table
    python benchmarks/speed.py --json out.json # and figures

One round runs every contender in turn; a cell is the median over rounds of its CPU time divided by the median of
the yardstick. Small inputs are run ``--calls`` times per turn: after a turn of scikit-learn the first call, argsort's
too, takes up to half as long again, because the processor has forgotten its code and data (``--calls 1`` shows it).
The heap is warmed first: fresh pages would be a fifth of the time and more. NumPy's sort is dispatched to what the
processor offers, which changes every baseline: it is printed, and
NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR" gives the other column.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

import abstain
from abstain import _fast
from abstain.inference._influence import influence_of
from abstain.metrics import get

AURC, AUGRC = get("aurc"), get("augrc")


def population(n: int, kind: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """Softmax-like maxima that pile up near 1, with about 8 % errors; "ties": 0/1 losses, scores rounded to 0.001."""
    margin = rng.normal(4.0, 3.0, n)
    score = 1.0 / (1.0 + np.exp(-np.abs(margin)))
    wrong = (rng.random(n) > score).astype(np.float64)
    if kind == "ties":
        score = np.round(score, 3)
    return (wrong if kind != "real" else rng.exponential(0.1, n) + wrong), score


def both(loss: Any, score: Any) -> tuple[float, float]:
    """AURC and AUGRC from one table."""
    blocks = abstain.TieBlocks.from_samples(loss, score)
    return AURC(blocks), AUGRC(blocks)


def inferred(loss: Any, score: Any) -> list[tuple[float, Any]]:
    """AURC and AUGRC, each with the influence of every sample, from one table."""
    blocks = abstain.TieBlocks.from_samples(loss, score, keep_samples=True)
    return [(metric(blocks), influence_of(metric, blocks)) for metric in (AURC, AUGRC)]


def contenders(loss: Any, score: Any) -> dict[str, Callable[[], Any]]:
    """What runs in one round; argsort is the yardstick."""
    from sklearn.metrics import roc_auc_score

    jobs: dict[str, Callable[[], Any]] = {
        "np.argsort": lambda: np.argsort(score),
        "abstain AURC + AUGRC": lambda: both(loss, score),
        "  with both influences": lambda: inferred(loss, score),
    }
    wrong = loss > np.median(loss) if len(np.unique(loss[:1000])) > 2 else loss
    jobs["sklearn roc_auc_score"] = lambda: roc_auc_score(wrong, score)
    jobs["abstain CWSA sweep of 50"] = lambda: abstain.cwsa_sweep(np.minimum(loss, 1.0), score)
    try:
        import torch
        from torch_uncertainty import metrics as peer_metrics
    except ImportError:
        return jobs
    probabilities = torch.tensor(np.stack([score, 1.0 - score], axis=1))
    labels = torch.tensor(wrong.astype(np.int64))

    def peer() -> float:
        metric = peer_metrics.AURC()
        metric.update(probabilities, labels)
        return float(metric.compute())

    jobs["torch-uncertainty AURC"] = peer
    return jobs


@contextmanager
def kernels(compiled: bool) -> Iterator[None]:
    """Load numba, or do without any kernel."""
    if compiled:
        import numba  # noqa: F401

        yield
    else:
        with mock.patch.object(_fast, "kernel", new=no_kernel):
            yield


def no_kernel(*_: Any) -> None:
    """Return no kernel."""


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


def measure(jobs: dict[str, Callable[[], Any]], rounds: int, calls: int = 1) -> dict[str, float]:
    """Median CPU seconds of one call of each job over interleaved rounds, after one warm round."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(rounds + 1):
        for name, job in jobs.items():
            start = time.process_time()
            for _ in range(calls):
                job()
            if turn:
                seconds[name].append((time.process_time() - start) / calls)
    return {name: statistics.median(values) for name, values in seconds.items()}


def dispatch() -> str:
    """The processor features that NumPy's sort may use here."""
    try:
        from numpy._core._multiarray_umath import __cpu_features__ as features
    except ImportError:
        return "unknown"
    wanted = [name for name in ("AVX512_SKX", "X86_V4", "AVX2", "X86_V3", "ASIMD", "NEON") if features.get(name)]
    return ", ".join(wanted) or "baseline"


def command_line(rounds: int = 9) -> dict[str, float]:
    """Wall seconds of `abstain evaluate` on 10,000 x 10 float32 logits in Parquet, and of `import numpy`.

    Both with compiled bytecode, as an installer leaves it; without it every start would compile the sources again.
    """
    import polars

    rng = np.random.default_rng(0)
    logits = rng.normal(size=(10_000, 10)).astype(np.float32) * 3.0
    frame = {"label": np.argmax(logits + rng.normal(size=logits.shape), axis=1)}
    frame |= {f"logit_{k}": logits[:, k] for k in range(10)}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "logits.parquet")
        polars.DataFrame(frame).write_parquet(path)
        bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": os.path.join(folder, "bytecode")}
        commands = {
            "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
            "abstain evaluate": [sys.executable, "-m", "abstain", "evaluate", path],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(rounds + 1):
            for name, command in commands.items():
                start = time.perf_counter()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | bytecode)
                if turn:
                    seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    """Measure, print ratios, and write figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000, 10_000_000])
    parser.add_argument("--calls", type=int, default=20, help="calls per turn of inputs up to 100,000 rows")
    parser.add_argument("--json", help="write all medians here")
    arguments = parser.parse_args()
    guard = warm_heap()
    print(f"numpy {np.__version__}, sort dispatch {dispatch()}")
    figures: dict[str, Any] = {}
    for n in arguments.sizes:
        for kind in ("binary", "real", "ties"):
            loss, score = population(n, kind, np.random.default_rng(0))
            distinct = np.unique(score).size / n
            rounds, calls = (3, 1) if n > 2_000_000 else (9, 1) if n > 100_000 else (31, arguments.calls)
            medians = measure(contenders(loss, score), rounds, calls)
            figures[f"{kind} n={n}"] = medians
            yard = medians["np.argsort"]
            print(f"\n{kind} loss, n = {n:,}, {distinct:.1%} distinct; np.argsort {1e9 * yard / n:.0f} ns per sample")
            for name, seconds in medians.items():
                print(f"  {name:<28} {seconds / yard:6.2f} x argsort")
    del guard
    medians = command_line()
    figures["command line"] = medians
    first, second = medians.values()
    print(
        f"\nabstain evaluate, 10,000 x 10 logits in Parquet: {second / first:.2f} x import numpy ({1e3 * first:.0f} ms)"
    )
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=2)


if __name__ == "__main__":
    main()
