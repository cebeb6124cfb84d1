"""Speed of the exact joint metrics beside the grid that papers use, single thread.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/joint_speed.py

``loop`` is the published algorithm for DS-F1: for each of T x T pairs of quantiles, masks and sums over all samples,
vectorised over the samples. For T = 1000 a slice of the pairs is timed and scaled up (``--whole`` runs all of them).
``histogram`` gets the same T^2 counts from two-dimensional histograms. Processor time; the best of several runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from unittest import mock

import numpy as np

from abstain import _fast, joint
from abstain.joint._problem import Problem, problem
from abstain.joint._quadrants import grid_f1, quantiles

ROUNDS = 5


def population(n_id: int, n_ood: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Return two useful scores of a classifier with 77 % accuracy."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(n_id) < 0.23
    confidence = np.append(rng.normal(1.5, 1.0, n_id) - 1.2 * wrong, rng.normal(0.3, 1.0, n_ood))
    score = np.append(rng.normal(1.0, 1.0, n_id), rng.normal(0.0, 1.0, n_ood))
    inside = {"id_loss": wrong.astype(float), "id_confidence": confidence[:n_id], "id_detector": score[:n_id]}
    return inside | {"ood_confidence": confidence[n_id:], "ood_detector": score[n_id:]}


def loop(data: Problem, T: int, pairs: int | None = None) -> float:
    """The published loop; only the first ``pairs`` pairs if given."""
    best, done = 0.0, 0
    correct = data.kind == 0
    for r in quantiles(data.confidence, T):
        for t in quantiles(data.detector, T):
            accepted = (data.confidence >= r) & (data.detector >= t)
            inside = accepted[: data.n_id].sum()
            if inside:
                right = (accepted & correct).sum()
                precision, recall = right / accepted.sum(), right / data.n_id
                if right:
                    best = max(best, float(2 * precision * recall / (precision + recall)))
            done += 1
            if done == pairs:
                return best
    return best


def seconds(function: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the least processor time of several runs."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whole", action="store_true", help="run all million pairs of the loop with T = 1000")
    parser.add_argument("--big", action="store_true", help="also what takes minutes")
    parser.add_argument("--sizes", nargs="+", default=["10000+10000", "50000+50000", "10000+90000"])
    arguments = parser.parse_args()
    for n_id, n_ood in (map(int, each.split("+")) for each in arguments.sizes):
        columns = population(n_id, n_ood)
        data = problem(**columns)
        exact = joint.ds_f1(**columns).value  # and compile
        print(f"\nn_ID = {n_id:,}, n_OOD = {n_ood:,}; exact DS-F1 {exact:.6f}")
        own = seconds(lambda columns=columns: joint.ds_f1(**columns))
        small = seconds(lambda data=data: loop(data, 100), 1)
        pairs = None if arguments.whole else 2_000
        large = seconds(lambda data=data, pairs=pairs: loop(data, 1000, pairs), 1)
        large *= 1 if arguments.whole else 1_000_000 / 2_000
        compared = {"exact": own}
        with mock.patch.object(_fast, "kernel", return_value=None):
            compared["exact, NumPy only"] = seconds(lambda columns=columns: joint.ds_f1(**columns))
        compared |= {"loop T=100": small, "loop T=1000" + ("" if arguments.whole else " (scaled up)"): large}
        for T in (100, 500, 1000):
            compared[f"histogram T={T}"] = seconds(lambda data=data, T=T: grid_f1(data, T))
        print("  DS-F1")
        for name, each in compared.items():
            print(f"    {name:<24} {1e3 * each:11.1f} ms   {each / own:9.2f} x exact")
        print("  areas")
        ordered = np.random.default_rng(0).random(n_id + n_ood)
        sorting = seconds(lambda ordered=ordered: np.argsort(ordered))
        for name, function in (("DS-AURC", joint.ds_aurc), ("DS-AUGRC", joint.ds_augrc)):
            each = seconds(lambda columns=columns, function=function: function(**columns), 2)
            print(f"    {name:<24} {1e3 * each:11.1f} ms   {each / sorting:9.0f} x argsort")
        if n_id <= 10_000 or arguments.big:
            each = seconds(lambda columns=columns: joint.ds_aurc(**columns, operator="exact"), 1)
            print(f"    {'DS-AURC, all levels':<24} {1e3 * each:11.1f} ms   {each / sorting:9.0f} x argsort")
        if n_id <= 20_000 or arguments.big:
            result = joint.evaluate(**columns)
            each = seconds(lambda result=result: str(result), 1)
            print(f"    {'print(evaluate(...))':<24} {1e3 * each:11.1f} ms   {each / sorting:9.0f} x argsort")


if __name__ == "__main__":
    main()
