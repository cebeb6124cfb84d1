"""Joint metrics: coverage of intervals, errors of grids, and speed.

python -m benchmarks.joint_metrics intervals [--sizes 200 1000 5000] [--populations NAME ...] [--samples N]
python -m benchmarks.joint_metrics grid [--samples N]
OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python -m benchmarks.joint_metrics speed [--whole] [--pairs 10000 50000]
"""

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from unittest import mock

import numpy as np
from benchmarks.harness import Form, command, say, seconds

from abstain import _fast, joint
from abstain.joint._problem import Problem, problem
from abstain.joint._quadrants import grid_f1, quantiles

Columns = dict[str, np.ndarray]
Rng = np.random.Generator


def named(wrong: np.ndarray, confidence: np.ndarray, detector: np.ndarray) -> Columns:
    """Return the columns by name; the first rows, as many as losses, are ID samples."""
    n = len(wrong)
    inside = {"id_loss": wrong.astype(float), "id_confidence": confidence[:n], "id_detector": detector[:n]}
    return inside | {"ood_confidence": confidence[n:], "ood_detector": detector[n:]}


def useful(n: int, rng: Rng) -> Columns:
    """Two useful scores, accuracy 75 %."""
    wrong = rng.random(n) < 0.25
    confidence = np.append(rng.normal(1.5, 1, n) - 1.2 * wrong, rng.normal(0.3, 1, n))
    return named(wrong, confidence, np.append(rng.normal(1.0, 1, n), rng.normal(0, 1, n)))


def useless(n: int, rng: Rng) -> Columns:
    """The second score is noise, so the true gain is 0."""
    return useful(n, rng) | {"id_detector": rng.normal(size=n), "ood_detector": rng.normal(size=n)}


def strong(n: int, rng: Rng) -> Columns:
    """Accuracy 92 %, OOD samples far away in the second score."""
    wrong = rng.random(n) < 0.08
    confidence = np.append(rng.normal(2.5, 1, n) - 2 * wrong, rng.normal(0.5, 1, n))
    return named(wrong, confidence, np.append(rng.normal(3, 1, n) - 0.3 * wrong, rng.normal(0, 1.5, n)))


def tied(n: int, rng: Rng) -> Columns:
    """Accuracy 60 %, heavy tails, correlated scores with ties."""
    wrong = rng.random(n) < 0.4
    shared = rng.standard_t(3, 2 * n)
    place = np.append(1.0 - 0.8 * wrong, np.full(n, -0.2))
    confidence = (place + 0.6 * shared + 0.6 * rng.standard_t(3, 2 * n)).round(1)
    score = (np.append(np.ones(n), np.zeros(n)) + 0.6 * shared + 0.6 * rng.standard_t(3, 2 * n)).round(1)
    return named(wrong, confidence, score)


#: The form of the intervals was chosen on the first three, with the same seeds; the fourth came after.
POPULATIONS = {"useful": useful, "useless": useless, "strong": strong, "tied": tied}


def alone(columns: Columns) -> Columns:
    """Return the columns of the confidence without a second score."""
    return {"id_loss": columns["id_loss"], "id_score": columns["id_confidence"], "ood_score": columns["ood_confidence"]}


def true_values(name: str) -> dict[str, float]:
    """Return the metrics of a population, from two large samples."""
    found = []
    for seed in range(2):
        columns = POPULATIONS[name](300_000, np.random.default_rng([seed, 10**6]))
        both = [float(metric(**columns)) for metric in (joint.ds_f1, joint.ds_aurc, joint.ds_augrc)]
        one = [float(metric(**alone(columns))) for metric in (joint.f1, joint.aurc, joint.augrc)]
        found.append([*both, *one, both[0] - one[0], one[1] - both[1], one[2] - both[2]])
    names = ("ds_f1", "ds_aurc", "ds_augrc", "f1", "aurc", "augrc", "ds_f1 - f1", "ds_aurc - aurc", "ds_augrc - augrc")
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


def ends(seed: int, name: str, n: int) -> dict[str, tuple[float, float]]:
    """Return the ends of the intervals for one sample."""
    columns = POPULATIONS[name](n, np.random.default_rng([seed, n]))
    found = joint.confidence_intervals(**columns, n_splits=50)
    return {metric: (each.low, each.high) for metric, each in found.items()}


def intervals(
    form: Form, sizes: tuple[int, ...] = (200, 1000, 5000), populations: tuple[str, ...] = tuple(POPULATIONS)
) -> None:
    """How often nominal 95 % intervals hold the truth; as many OOD as ID samples."""
    draws = form(200, 200)
    for name in populations:
        truth = true_values(name)
        for n in sizes:
            with ProcessPoolExecutor(2) as pool:
                drawn = list(pool.map(partial(ends, name=name, n=n), range(draws), chunksize=4))
            say(f"\n{name}, {n} ID and {n} OOD samples, {draws} draws")
            for metric, value in truth.items():
                low, high = np.array([each[metric] for each in drawn]).T
                say(f"  {metric:<17} {value:.4f}  held {np.mean((low <= value) & (value <= high)):.3f}")


def weak(seed: int, n_id: int, n_ood: int) -> Columns:
    """Return a useful confidence and a weak detector score."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(n_id) < 0.23
    confidence = np.append(rng.normal(1.8, 1.0, n_id) - 1.5 * wrong, rng.normal(0.2, 1.0, n_ood))
    return named(wrong, confidence, np.append(rng.normal(0.1, 1.0, n_id), rng.normal(0.0, 1.0, n_ood)))


def grid(form: Form) -> None:
    """What T x T quantiles and K bins lose, and what a second score of pure noise gains."""
    draws = [weak(seed, 10_000, 9_000) for seed in range(form(20, 20))]
    single, exact = [joint.f1(**alone(c)).value for c in draws], [joint.ds_f1(**c).value for c in draws]
    say(f"exact F1 {100 * np.mean(single):.2f} %, exact DS-F1 {100 * np.mean(exact):.2f} %")
    for T in (20, 100, 500, 1000):
        values = [joint.ds_f1(**c, method="grid", T=T).value for c in draws]
        below = sum(g < s for g, s in zip(values, single, strict=True))
        gap = 100 * np.mean(np.subtract(exact, values))
        say(f"  T = {T:>4}: below the exact F1 in {below} of {len(draws)} draws; {gap:.3f} points below exact DS-F1")
    say(f"exact DS-AURC {1000 * np.mean([float(joint.ds_aurc(**c)) for c in draws]):.2f} (x 1000)")
    flat = [c | {"id_detector": 0 * c["id_detector"], "ood_detector": 0 * c["ood_detector"]} for c in draws]
    for T, K in ((100, 100), (1000, 100), (100, 1000), (1000, 1000)):
        values = [float(joint.ds_aurc(**c, method="grid", T=T, K=K)) for c in draws]
        binned = [float(joint.ds_aurc(**c, method="grid", T=10_000, K=K)) for c in flat]
        above = sum(p > b for p, b in zip(values, binned, strict=True))
        more = f"above the binned AURC ({1000 * np.mean(binned):.2f}) in {above} of {len(draws)} draws"
        say(f"  T = {T:>4}, K = {K:>4}: {1000 * np.mean(values):.2f}; {more}")
    for n_id, n_ood in ((10_000, 9_000), (1_000, 900)):
        gain = np.mean([joint.null_gain(**weak(seed, n_id, n_ood), n_permutations=20).null_mean for seed in range(3)])
        say(f"noise as the second score, n_ID = {n_id}: DS-AURC gains {1000 * gain:.2f} (x 1000)")


def loop(data: Problem, T: int, pairs: int | None = None) -> float:
    """The published loop, vectorised over the samples; only the first ``pairs`` pairs if given."""
    best, done = 0.0, 0
    correct = data.kind == 0
    for r in quantiles(data.confidence, T):
        for t in quantiles(data.detector, T):
            accepted = (data.confidence >= r) & (data.detector >= t)
            if right := (accepted & correct).sum():
                precision, recall = right / accepted.sum(), right / data.n_id
                best = max(best, float(2 * precision * recall / (precision + recall)))
            done += 1
            if done == pairs:
                return best
    return best


def speed(form: Form, pairs: tuple[int, ...] = (10_000, 50_000), whole: bool = False) -> None:
    """DS-F1 beside the published loop, of which a slice is timed without ``--whole``, and beside histograms."""
    for n in pairs:
        rng = np.random.default_rng(0)
        wrong = rng.random(n) < 0.23
        confidence = np.append(rng.normal(1.5, 1.0, n) - 1.2 * wrong, rng.normal(0.3, 1.0, n))
        columns = named(wrong, confidence, np.append(rng.normal(1.0, 1.0, n), rng.normal(0.0, 1.0, n)))
        data, exact = problem(**columns), partial(joint.ds_f1, **columns)
        say(f"\nn_ID = {n:,}, n_OOD = {n:,}; exact DS-F1 {exact().value:.6f}")  # and compile
        some = None if whole else 2_000
        compared = {"exact": seconds(exact)}
        with mock.patch.object(_fast, "kernel", return_value=None):
            compared["exact, NumPy only"] = seconds(exact)
        compared["loop T=100"] = seconds(partial(loop, data, 100), 1)
        compared["loop T=1000"] = seconds(partial(loop, data, 1000, some), 1) * (1 if whole else 1_000_000 / 2_000)
        compared["histogram T=1000"] = seconds(partial(grid_f1, data, 1000))
        for name, each in compared.items():
            say(f"  DS-F1, {name:<24} {1e3 * each:11.1f} ms   {each / compared['exact']:9.2f} x exact")
        sorting = seconds(partial(np.argsort, rng.random(2 * n)))
        say(f"  DS-AURC {seconds(partial(joint.ds_aurc, **columns), 2) / sorting:9.0f} x argsort")


if __name__ == "__main__":
    command(__doc__, intervals, grid, speed)
