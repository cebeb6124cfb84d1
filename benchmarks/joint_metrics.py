"""Joint metrics: coverage of intervals, errors of grids, and speed.

    python benchmarks/joint_metrics.py intervals [--samples 200 1000 5000] [--draws 200] [--populations NAME ...]
    python benchmarks/joint_metrics.py grid [--draws 20]
    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/joint_metrics.py speed [--whole] [--big]

``intervals``: how often nominal 95 % intervals hold the truth. Four populations with as many OOD as ID samples: two
useful scores; a useless second score, so that the true gain is 0; an accurate network with a strong second score, whose
areas are small; correlated scores with ties and tails. The truth is the mean over two samples of 300,000 + 300,000.
Prints, per metric: the truth, the share of intervals that hold it, how often the truth lies below and above them, the
mean optimism of the estimate in standard deviations of itself, and the mean length of the intervals in those that an
unbiased estimate of the same spread would have.

``grid``: when a grid violates the inequalities DS-F1 >= F1 and DS-AURC <= AURC. Two scores, the second weak, 10,000 ID
and 9,000 OOD samples: how often T x T quantiles give a DS-F1 below the exact F1 of the confidence alone, and how the
binned DS-AURC compares with the exact one, with the binned AURC of the confidence alone (10,000 thresholds, the same
bins), and with a second score of pure noise.

``speed``: ``loop`` is the published algorithm for DS-F1: for each of T x T pairs of quantiles, masks and sums over all
samples, vectorised over the samples. For T = 1000 a slice of the pairs is timed and scaled up (``--whole`` runs all of
them). ``histogram`` gets the same T^2 counts from two-dimensional histograms. Processor time; the best of several runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from unittest import mock

import numpy as np

from abstain import _fast, joint
from abstain.joint._problem import Problem, problem
from abstain.joint._quadrants import grid_f1, quantiles

Columns = dict[str, np.ndarray]


def named(wrong: np.ndarray, *scores: np.ndarray) -> Columns:
    """Return the columns by name."""
    names = ("id_confidence", "id_detector", "ood_confidence", "ood_detector")
    return {"id_loss": wrong.astype(float), **dict(zip(names, scores, strict=True))}


def useful(n: int, rng: np.random.Generator) -> Columns:
    """Two useful scores, accuracy 75 %."""
    wrong = rng.random(n) < 0.25
    confidence = np.append(rng.normal(1.5, 1, n) - 1.2 * wrong, rng.normal(0.3, 1, n))
    score = np.append(rng.normal(1.0, 1, n), rng.normal(0, 1, n))
    return named(wrong, confidence[:n], score[:n], confidence[n:], score[n:])


def useless(n: int, rng: np.random.Generator) -> Columns:
    """The second score is noise."""
    return useful(n, rng) | {"id_detector": rng.normal(size=n), "ood_detector": rng.normal(size=n)}


def strong(n: int, rng: np.random.Generator) -> Columns:
    """Accuracy 92 %, OOD samples far away in the second score."""
    wrong = rng.random(n) < 0.08
    inside, outside = rng.normal(2.5, 1, n) - 2 * wrong, rng.normal(0.5, 1, n)
    return named(wrong, inside, rng.normal(3, 1, n) - 0.3 * wrong, outside, rng.normal(0, 1.5, n))


def tied(n: int, rng: np.random.Generator) -> Columns:
    """Accuracy 60 %, heavy tails, correlated scores with ties."""
    wrong = rng.random(n) < 0.4
    shared = rng.standard_t(3, 2 * n)
    place = np.append(1.0 - 0.8 * wrong, np.full(n, -0.2))
    confidence = (place + 0.6 * shared + 0.6 * rng.standard_t(3, 2 * n)).round(1)
    score = (np.append(np.ones(n), np.zeros(n)) + 0.6 * shared + 0.6 * rng.standard_t(3, 2 * n)).round(1)
    return named(wrong, confidence[:n], score[:n], confidence[n:], score[n:])


#: The form of the intervals was chosen on the first three, with the same seeds; the fourth came after.
POPULATIONS = {"useful": useful, "useless": useless, "strong": strong, "tied": tied}


def true_values(name: str) -> dict[str, float]:
    """Return the metrics of a population, from two large samples."""
    found = []
    for seed in range(2):
        columns = POPULATIONS[name](300_000, np.random.default_rng([seed, 10**6]))
        alone = {"id_score": columns["id_confidence"], "ood_score": columns["ood_confidence"]}
        both = [
            float(joint.ds_f1(**columns)),
            float(joint.ds_aurc(**columns)),
            float(joint.ds_augrc(**columns)),
        ]
        one = [float(function(columns["id_loss"], **alone)) for function in (joint.f1, joint.aurc, joint.augrc)]
        found.append([*both, *one, both[0] - one[0], one[1] - both[1], one[2] - both[2]])
    names = ["ds_f1", "ds_aurc", "ds_augrc", "f1", "aurc", "augrc"]
    names += ["ds_f1 - f1", "ds_aurc - aurc", "ds_augrc - augrc"]
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


def intervals(seed: int, name: str, n: int, n_splits: int) -> dict[str, tuple[float, float, float]]:
    """Return the ends and the estimate per metric for one sample."""
    columns = POPULATIONS[name](n, np.random.default_rng([seed, n]))
    found = joint.confidence_intervals(**columns, n_splits=n_splits)
    return {metric: (each.low, each.high, each.estimate) for metric, each in found.items()}


def covered(arguments: argparse.Namespace) -> None:
    """Print how often intervals hold the truth."""
    draws = arguments.draws or 200
    for name in arguments.populations:
        truth = true_values(name)
        for n in arguments.samples:
            work = partial(intervals, name=name, n=n, n_splits=50)
            with ProcessPoolExecutor(2) as pool:
                drawn = list(pool.map(work, range(draws), chunksize=4))
            print(f"\n{name}, {n} ID and {n} OOD samples, {draws} draws", flush=True)
            for metric, value in truth.items():
                low, high, estimate = np.array([each[metric] for each in drawn]).T
                spread = estimate.std(ddof=1)
                better = -1.0 if metric in ("ds_aurc", "ds_augrc", "aurc", "augrc") else 1.0
                print(
                    f"  {metric:<17} {value:.4f}  held {np.mean((low <= value) & (value <= high)):.3f}  "
                    f"(truth below {np.mean(value < low):.3f}, above {np.mean(value > high):.3f})  "
                    f"optimism {better * np.mean(estimate - value) / spread:+.2f} sd  "
                    f"length {np.mean(high - low) / (2 * 1.96 * spread):.2f}",
                    flush=True,
                )


def weak(seed: int, n_id: int, n_ood: int) -> Columns:
    """Return a useful confidence and a weak detector score."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(n_id) < 0.23
    confidence = np.append(rng.normal(1.8, 1.0, n_id) - 1.5 * wrong, rng.normal(0.2, 1.0, n_ood))
    weak = np.append(rng.normal(0.1, 1.0, n_id), rng.normal(0.0, 1.0, n_ood))
    inside = {"id_loss": wrong.astype(float), "id_confidence": confidence[:n_id], "id_detector": weak[:n_id]}
    return inside | {"ood_confidence": confidence[n_id:], "ood_detector": weak[n_id:]}


def grids(arguments: argparse.Namespace) -> None:
    """Print what a grid loses."""
    draws = [weak(seed, 10_000, 9_000) for seed in range(arguments.draws or 20)]
    alone = [{"id_loss": c["id_loss"], "id_score": c["id_confidence"], "ood_score": c["ood_confidence"]} for c in draws]
    single = [joint.f1(**c).value for c in alone]
    exact = [joint.ds_f1(**c).value for c in draws]
    print(f"exact F1 {100 * np.mean(single):.2f} %, exact DS-F1 {100 * np.mean(exact):.2f} %")
    for T in (20, 100, 500, 1000):
        grid = [joint.ds_f1(**c, method="grid", T=T).value for c in draws]
        below = sum(g < s for g, s in zip(grid, single, strict=True))
        gap = 100 * np.mean(np.subtract(exact, grid))
        print(f"  T = {T:>4}: below the exact F1 in {below} of {len(draws)} draws; {gap:.3f} points below exact DS-F1")

    exact = [float(joint.ds_aurc(**c)) for c in draws]
    areas = [joint.aurc(**c) for c in alone]
    print(f"exact AURC {1000 * np.mean(areas):.2f}, exact DS-AURC {1000 * np.mean(exact):.2f} (x 1000)")
    for T, K in ((100, 100), (1000, 100), (100, 1000), (1000, 1000)):
        grid = [float(joint.ds_aurc(**c, method="grid", T=T, K=K)) for c in draws]
        flat = [c | {"id_detector": 0 * c["id_detector"], "ood_detector": 0 * c["ood_detector"]} for c in draws]
        binned = [float(joint.ds_aurc(**c, method="grid", T=10_000, K=K)) for c in flat]
        above = sum(p > b for p, b in zip(grid, binned, strict=True))
        bias = 1000 * np.mean(np.subtract(grid, exact))
        print(
            f"  T = {T:>4}, K = {K:>4}: {1000 * np.mean(grid):.2f}, off by {bias:+.2f}; "
            f"above the binned AURC ({1000 * np.mean(binned):.2f}) in {above} of {len(draws)} draws"
        )
    for n_id, n_ood in ((10_000, 9_000), (1_000, 900)):
        found = [joint.null_gain(**weak(seed, n_id, n_ood), n_permutations=20) for seed in range(3)]
        f1 = [joint.null_gain(**weak(seed, n_id, n_ood), metric="ds_f1", n_permutations=20) for seed in range(3)]
        aurc_gain, f1_gain = (np.mean([each.null_mean for each in several]) for several in (found, f1))
        print(f"noise as the second score, n_ID = {n_id}: DS-AURC gains {1000 * aurc_gain:.2f} (x 1000), ", end="")
        print(f"DS-F1 {100 * f1_gain:.3f} points")


ROUNDS = 5


def pair(n_id: int, n_ood: int) -> Columns:
    """Return two useful scores of a classifier with 77 % accuracy."""
    rng = np.random.default_rng(0)
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


def speed(arguments: argparse.Namespace) -> None:
    """Print times."""
    for n_id, n_ood in (map(int, each.split("+")) for each in arguments.sizes):
        columns = pair(n_id, n_ood)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["intervals", "grid", "speed"])
    parser.add_argument("--draws", type=int, help="intervals (200), grid (20)")
    parser.add_argument("--samples", type=int, nargs="+", default=[200, 1000, 5000], help="intervals")
    parser.add_argument("--populations", nargs="+", default=list(POPULATIONS), choices=POPULATIONS, help="intervals")
    parser.add_argument("--whole", action="store_true", help="speed: all million pairs of the loop with T = 1000")
    parser.add_argument("--big", action="store_true", help="speed: also what takes minutes")
    parser.add_argument("--sizes", nargs="+", default=["10000+10000", "50000+50000", "10000+90000"], help="speed")
    options = parser.parse_args()
    {"intervals": covered, "grid": grids, "speed": speed}[options.part](options)


if __name__ == "__main__":
    main()
