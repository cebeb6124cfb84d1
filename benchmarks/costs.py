"""What stands around the values: intervals, thresholds, scans and memory as ratios to a yardstick.

    OMP_NUM_THREADS=1 python -m benchmarks.costs [ROW ...] [--rounds N]

A time is the median over interleaved rounds of the job's processor time over that of its yardstick, in one run: no
absolute time counts. Where AVX-512 slows NumPy's sorts (Zen 4), argsort is three times as slow, and
NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR" does without. ``bar``: what was aimed at. ``limit``: what breaks
the slow test.
"""

import argparse
import math
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from benchmarks.harness import say
from benchmarks.machine import PEAKS, dispatch, kernels, peak, warm_heap
from threadpoolctl import threadpool_limits

import abstain

Job = Callable[[], Any]
METRICS = [abstain.metrics.get(name) for name in ("aurc", "augrc")]


class Cost(NamedTuple):
    """One row: the yardstick, what was aimed at, what breaks a test, how often to repeat, and (job, yardstick).

    ``units``: how many of what is counted a job does, to print its time for one of them, which is aimed at in ns.
    ``compiled``: with numba loaded; all others are as before anything has loaded it.
    """

    title: str
    over: str
    bar: float
    limit: float
    rounds: int
    make: Callable[[], tuple[Job, Job]]
    units: int = 0
    compiled: bool = False


def population(n: int, real: bool = False, seed: int = 0) -> tuple[Any, Any]:
    """Scores that pile up near 1 with about 8 % errors; ``real``: losses in [0, 1]."""
    rng = np.random.default_rng(seed)
    score = 1.0 / (1.0 + np.exp(-np.abs(rng.normal(4.0, 3.0, n))))
    wrong = (rng.random(n) > score).astype(np.float64)
    return (np.minimum(0.5 * (wrong + rng.exponential(0.1, n)), 1.0) if real else wrong), score


def values(loss: Any, score: Any, weight: Any = None) -> list[float]:
    """AURC and AUGRC from one table."""
    blocks = abstain.TieBlocks.from_samples(loss, score, weight)
    return [metric(blocks) for metric in METRICS]


def over_argsort(job: Callable[[Any, Any], Any], n: int = 1_000_000, real: bool = False) -> tuple[Job, Job]:
    """Return a job beside np.argsort of the same scores."""
    loss, score = population(n, real)
    return lambda: job(loss, score), lambda: np.argsort(score)


def evaluated(n: int) -> tuple[Job, Job]:
    """The default evaluation of checked outputs, intervals included, beside AURC and AUGRC."""
    loss, score = population(n)
    outputs = abstain.Outputs(loss=loss, confidence=score)
    return lambda: abstain.evaluate(outputs), lambda: values(loss, score)


def compared(n: int) -> tuple[Job, Job]:
    """Thirteen scores compared by AUGRC, beside AURC and AUGRC of one."""
    loss, score = population(n)
    rng = np.random.default_rng(1)
    scores = {f"score {k}": score + 0.02 * k * rng.random(n) for k in range(13)}
    return lambda: abstain.compare(loss=loss, scores=scores, metric="augrc"), lambda: values(loss, score)


def choice(**options: Any) -> Callable[[Any, Any], Any]:
    """Choose a threshold with a risk of 5 %."""
    return lambda loss, score: abstain.choose_threshold(loss, score, risk=0.05, **options)


def certified_policy(n: int) -> Any:
    """Return a policy with a guarantee."""
    return abstain.choose_threshold(*population(n), risk=0.05, delta=0.05).policy(score="s")


def monitored(n: int = 1_000_000) -> tuple[Job, Job]:
    """Newly labelled rows tested against a guarantee, beside argsort."""
    policy = certified_policy(n)
    loss, score = population(n, seed=1)
    return lambda: abstain.monitor(policy, loss, score), lambda: np.argsort(score)


def watched(n: int = 1_000_000, new: int = 1000) -> tuple[Job, Job]:
    """New rows after a million that a state remembers, beside as many after as many."""
    policy = certified_policy(n)
    old, young = abstain.monitoring.Monitor(policy), abstain.monitoring.Monitor(policy)
    old.update(*population(n, seed=1))
    first, second = ([population(new, seed=k) for k in range(start, start + 99)] for start in (2, 101))
    return lambda: old.update(*first.pop()), lambda: young.update(*second.pop())


def weighted() -> tuple[Job, Job]:
    """AURC and AUGRC with weights, beside argsort."""
    loss, score = population(1_000_000)
    weight = np.random.default_rng(1).exponential(1.0, len(loss))
    return lambda: values(loss, score, weight), lambda: np.argsort(score)


def influenced(loss: Any, score: Any) -> Any:
    """Both values and both influences from one table."""
    from abstain.inference._influence import influence_of

    blocks = abstain.TieBlocks.from_samples(loss, score, keep_samples=True)
    return [(metric(blocks), influence_of(metric, blocks)) for metric in METRICS]


def scanned(engine: str, n: int = 2_000_000) -> tuple[Job, Job]:
    """A table of a Parquet file with distinct scores, beside reading the two columns and from_samples."""
    import polars

    loss, score = population(n)
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "rows.parquet")
    polars.DataFrame({"loss": loss, "score": score}).write_parquet(path)
    if engine == "polars":
        scan: Job = lambda: polars.scan_parquet(path)  # noqa: E731
    else:
        import duckdb

        scan = lambda: duckdb.sql(f"select * from '{path}'")  # noqa: E731

    def read() -> Any:
        columns = polars.scan_parquet(path).collect() if engine == "polars" else scan().fetchnumpy()
        return abstain.TieBlocks.from_samples(columns["loss"], columns["score"])

    return lambda: abstain.TieBlocks.from_frame(scan(), confidence="score", loss="loss"), read


def joint_columns(n: int) -> dict[str, Any]:
    """Two useful scores of n samples in and n out of distribution, untied."""
    rng = np.random.default_rng(0)
    wrong = rng.random(n) < 0.23
    confidence = np.append(rng.normal(1.5, 1.0, n) - 1.2 * wrong, rng.normal(0.3, 1.0, n))
    score = np.append(rng.normal(1.0, 1.0, n), rng.normal(0.0, 1.0, n))
    inside = {"id_loss": wrong.astype(float), "id_confidence": confidence[:n], "id_detector": score[:n]}
    return inside | {"ood_confidence": confidence[n:], "ood_detector": score[n:]}


def jointly(job: Callable[..., Any], n: int) -> tuple[Job, Job]:
    """Something about pairs of thresholds, beside argsort of the confidences."""
    columns = joint_columns(n)
    everything = np.append(columns["id_confidence"], columns["ood_confidence"])
    return lambda: job(**columns), lambda: np.argsort(everything)


def joint_text(n: int) -> tuple[Job, Job]:
    """A joint evaluation with its text."""
    return jointly(lambda **columns: str(abstain.joint.evaluate(**columns)), n)


#: Rows, and resamples of them, of a bootstrap.
RESAMPLED = 20_000, 300


def bootstrapped(scores: int, backend: Any = "numba") -> tuple[Job, Job]:
    """AURC and AUGRC of resamples; per resample and score, beside one argsort."""
    n, times = RESAMPLED
    loss, score = population(n)
    rng = np.random.default_rng(1)
    columns = [(loss, score + 0.02 * k * rng.random(n)) for k in range(scores)]

    def job() -> Any:
        return abstain.inference.replicates(METRICS, columns, n_resamples=times, backend=backend)

    return job, lambda: [np.argsort(score) for _ in range(times * scores)]


def objective(name: str) -> tuple[Job, Job]:
    """A training loss with its gradient, beside cross-entropy, 128 x 1000."""
    import torch

    from abstain import nn

    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(128, 1000, generator=generator, requires_grad=True)
    labels = torch.randint(0, 1000, (128,), generator=generator)
    own, plain = getattr(nn, name)(), torch.nn.functional.cross_entropy

    def step(loss: Any) -> Any:
        logits.grad = None
        for _ in range(20):
            loss(logits, labels).backward()

    return lambda: step(own), lambda: step(plain)


def updated() -> tuple[Job, Job]:
    """A batch of 128 x 10 logits added to SelectiveMetrics, beside a softmax and what torch-uncertainty keeps of it."""
    import torch
    from torchmetrics import Metric

    from abstain import nn

    class Kept(Metric):
        """The update of ``torch_uncertainty.metrics.classification.AURC`` (0.13): maxima and errors in two lists."""

        full_state_update = False

        def __init__(self) -> None:
            super().__init__()
            for name in ("scores", "errors"):
                self.add_state(name, [], dist_reduce_fx="cat")

        def update(self, probs: Any, targets: Any) -> None:
            self.scores.append(probs.max(-1).values)
            self.errors.append((probs.argmax(-1) != targets) * 1.0)

        def compute(self) -> None: ...

    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(128, 10, generator=generator)
    labels = torch.randint(0, 10, (128,), generator=generator)
    own, peer = nn.SelectiveMetrics(), Kept()

    def repeated(metric: Any, batch: Callable[[], Any]) -> Job:
        def job() -> None:
            metric.reset()
            for _ in range(200):
                metric.update(batch(), labels)

        return job

    return repeated(own, lambda: logits), repeated(peer, lambda: logits.softmax(-1))


def model_outputs(d: int) -> tuple[Any, Any]:
    """10,000 rows to fit on and 2,000 to score, of a linear head with 100 classes on features in single precision."""
    rng = np.random.default_rng(0)
    head = rng.standard_normal((100, d), dtype=np.float32) / np.float32(np.sqrt(d)), np.zeros(100, np.float32)
    features = (rng.standard_normal((n, d), dtype=np.float32) for n in (10_000, 2_000))
    logits = ((each, each @ head[0].T) for each in features)
    fit, rows = (abstain.Outputs(labels=np.argmax(z, 1), logits=z, features=x, head=head) for x, z in logits)
    return fit, rows


def neighbours(d: int = 1024) -> tuple[Job, Job]:
    """The kNN score, beside a single-precision product and a partial sort by PyTorch."""
    import torch

    from abstain import scores

    fit, rows = model_outputs(d)
    fitted = scores.get("knn").fit(fit)
    unit, new = torch.nn.functional.normalize(torch.tensor(fit.features)), torch.tensor(rows.features)

    def peer() -> Any:
        return torch.topk(torch.nn.functional.normalize(new) @ unit.T, 50).values[:, -1]

    return lambda: scores.compute("knn", rows, fitted), peer


def matched(fitting: bool, d: int = 1024) -> tuple[Job, Job]:
    """ViM, beside its steps in single precision by PyTorch as ``pytorch_ood`` (0.4) takes them."""
    import torch

    from abstain import scores
    from abstain.scores import _subspace

    fit, rows = model_outputs(d)
    entry = scores.get("vim")
    tensors = [torch.tensor(each) for each in (fit.features, rows.features, *fit.head)]
    old, new, weight, bias = (each.float() for each in tensors)

    def learn() -> Any:
        origin = -torch.linalg.pinv(weight) @ bias
        centred, logits = old - origin, old @ weight.T + bias
        outside = torch.linalg.eigh(centred.T @ centred / len(old))[1][:, : d - 512].contiguous()
        return origin, outside, logits.amax(1).mean() / (centred @ outside).norm(dim=1).mean()

    fitted, (origin, outside, alpha) = entry.fit(fit), learn()

    def peer() -> Any:
        return (new @ weight.T + bias).logsumexp(1) - alpha * ((new - origin) @ outside).norm(dim=1)

    if not fitting:
        return lambda: scores.compute("vim", rows, fitted), peer
    return lambda: (_subspace._AXES.clear(), entry.fit(fit)), learn  # axes of outputs that are alive are remembered


COSTS: dict[str, Cost] = {
    "values": Cost("AURC + AUGRC, compiled", "argsort", 0.6, 2.5, 9, lambda: over_argsort(values), compiled=True),
    "values_numpy": Cost("AURC + AUGRC, NumPy", "argsort", 0.6, 2.5, 9, lambda: over_argsort(values)),
    "values_real": Cost(
        "the same of real losses, compiled", "argsort", 0.6, 2.5, 9, lambda: over_argsort(values, real=True),
        compiled=True,
    ),
    "influences": Cost(
        "values and both influences, compiled", "argsort", 0.9, 4.0, 9, lambda: over_argsort(influenced), compiled=True
    ),
    "weighted": Cost("AURC + AUGRC, weighted, compiled", "argsort", 0.9, 3.0, 9, weighted, compiled=True),
    "evaluate_1e3": Cost("evaluate, 1e3", "AURC + AUGRC", 8, 50, 31, lambda: evaluated(1000)),
    "evaluate_1e6": Cost("evaluate, 1e6", "AURC + AUGRC", 6, 25, 5, lambda: evaluated(1_000_000)),
    "compare_1e3": Cost("compare of 13 scores, 1e3", "AURC + AUGRC", 60, 200, 5, lambda: compared(1000)),
    "compare_1e6": Cost("compare of 13 scores, 1e6", "AURC + AUGRC", 30, 150, 3, lambda: compared(1_000_000)),
    "polars": Cost("from_frame, polars", "read + from_samples", 1.2, 2.5, 5, lambda: scanned("polars")),
    "duckdb": Cost("from_frame, DuckDB", "read + from_samples", 1.2, 2.5, 5, lambda: scanned("duckdb")),
    "empirical": Cost("threshold, empirical", "argsort", 2, 6, 5, lambda: over_argsort(choice())),
    "certified": Cost("threshold, certified", "argsort", 10, 15, 5, lambda: over_argsort(choice(delta=0.05))),
    "betting": Cost(
        "threshold, betting", "argsort", 30, 20, 3,
        lambda: over_argsort(choice(delta=0.05, max_loss=1.0), real=True),
    ),
    "band": Cost("risk_band", "argsort", 20, 18, 3, lambda: over_argsort(abstain.inference.risk_band)),
    "monitor": Cost("monitor", "argsort", 20, 60, 3, monitored),
    "watch": Cost("Monitor.update, 1e3 rows after 1e6", "after 1e3", 1.2, 3, 9, watched),
    "joint_area": Cost(
        "exact DS-AURC, 160k + 160k", "argsort", 450, 900, 1, lambda: jointly(abstain.joint.ds_aurc, 160_000),
        compiled=True,
    ),
    "joint_text": Cost(
        "str(joint.evaluate), 20k + 20k", "argsort", 2000, 9000, 1, lambda: joint_text(20_000), compiled=True
    ),
    "joint_numpy": Cost("the same, 5k + 5k, no numba", "argsort", 10_000, 40_000, 1, lambda: joint_text(5000)),
    "bootstrap_1": Cost(
        "bootstrap, 1 score", "argsort", 3, 0.6, 5, lambda: bootstrapped(1), 1 * math.prod(RESAMPLED), compiled=True
    ),
    "bootstrap_13": Cost(
        "bootstrap, 13 scores", "argsort", 1, 0.15, 3, lambda: bootstrapped(13), 13 * math.prod(RESAMPLED),
        compiled=True,
    ),
    "bootstrap_numpy": Cost(
        "bootstrap, NumPy", "argsort", 10, 2, 3, lambda: bootstrapped(1, "numpy"), 1 * math.prod(RESAMPLED)
    ),
    "aurc_loss": Cost("AURCLoss", "cross-entropy", 1.3, 2.5, 15, lambda: objective("AURCLoss")),
    "cwsa_loss": Cost("CWSALoss", "cross-entropy", 1.6, 6, 15, lambda: objective("CWSALoss")),
    "update": Cost("SelectiveMetrics.update, 128 x 10", "softmax and two lists", 2, 6, 9, updated),
    "knn": Cost("kNN score", "single-precision product", 1.1, 3, 5, neighbours),
    "vim": Cost("ViM score", "the same in single precision", 1.1, 3, 15, lambda: matched(False)),
    "vim_fit": Cost("ViM, fit", "the same in single precision", 1.1, 4, 3, lambda: matched(True)),
}  # fmt: skip


def ratio(cost: Cost, rounds: int | None = None) -> tuple[float, float]:
    """Return the median of the job's processor time over its yardstick's, and that of the yardstick in seconds.

    One thread: several that wait for each other on a busy machine spend processor time on it.
    """
    job, yard = cost.make()
    found, seconds, guard = [], [], warm_heap()
    with threadpool_limits(1), kernels(cost.compiled):
        for turn in range((rounds or cost.rounds) + 1):
            start = time.process_time()
            yard()
            middle = time.process_time()
            job()
            end = time.process_time()
            if turn:  # the first one compiles and fills caches
                found.append((end - middle) / (middle - start))
                seconds.append(middle - start)
    del guard
    return statistics.median(found), statistics.median(seconds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help=f"of {', '.join([*COSTS, *PEAKS])}")
    parser.add_argument("--rounds", type=int)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    say(f"numpy {np.__version__}, sort dispatch {dispatch()}")
    for name in arguments.rows or [*COSTS, *PEAKS]:
        row: Any = PEAKS[name] if name in PEAKS else COSTS[name]
        try:
            found, second = (peak(row), 0.0) if name in PEAKS else ratio(row, arguments.rounds)
        except ImportError as missing:
            say(f"{name:<15} {row.title:<38} not measured: {missing}")
            continue
        over = row.unit if name in PEAKS else f"x {row.over} ({1e3 * second:.3g} ms)"
        each = f" ns, found {1e9 * found * second / row.units:.2f}" if name in COSTS and row.units else ""
        say(f"{name:<15} {row.title:<38} {found:8.3g} {over:<34} bar {row.bar:g}{each}")


if __name__ == "__main__":
    main()
