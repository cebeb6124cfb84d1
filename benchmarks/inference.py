"""Simulations behind the claims about intervals and tests: coverage, width, warnings, sizes.

    python -m benchmarks.inference [--scale 1.0] [--only coverage,metrics,bootstrap,copies,sizes,...]
    python -m benchmarks.inference --data FOLDER [--resamples 2000]

From the root of the repository. Populations with a known truth are those of the tests. At scale 1 it takes about
fifteen minutes on one core; the tests run the same simulations smaller. Every share comes with 2.6 Monte Carlo errors.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain.inference import replicates
from abstain.inference._columns import panel
from abstain.inference._paired import paired
from tests.evaluation.test_compare_sizes import augrc_of_resamples, columns, sizes
from tests.inference.populations import POPULATIONS, Population, allowance, copies, exchangeable
from tests.inference.test_runs import models

#: Sample size -> repetitions at scale 1.
SIZES = {200: 4000, 1000: 2000, 10_000: 500}

#: Smooth and quantile metrics beside AURC and AUGRC; scores are in [0, 1], the truth is that of four million samples.
OTHERS = (
    "risk",
    "e_aurc",
    "e_augrc",
    "naurc",
    "naugrc",
    "sele",
    "auroc_f",
    "average_precision_error",
    "f1_auc",
    "prediction_rejection_ratio",
    "accuracy_rejection_area",
    "cwsa(threshold=0.5)",
    "cwsa_plus(threshold=0.5)",
    "brier_confidence",
    "nll_confidence",
    "selective_risk(threshold=0.2)",
    "selective_risk(coverage=0.8)",
    "generalized_risk(coverage=0.8)",
)
BY_BOOTSTRAP = ("coverage_at_risk(risk=0.05)", "fpr95_error", "fpr95_success")
#: Metrics beside AURC and AUGRC whose paired test is simulated; those of the second line by bootstrap.
TESTED = ("e_aurc", "naurc", "auroc_f", "average_precision_error", "selective_risk(coverage=0.8)",
          "coverage_at_risk(risk=0.1)", "fpr95_error", "fpr95_success")  # fmt: skip


def coverage(metric: Any, truth: float, draw: Callable[[], Any], repetitions: int, **options: Any) -> str:
    """Return coverage of the intervals given, median relative width, and shares warned and without one, as one row.

    Marked is a coverage below 93 % that comes without a warning in most repetitions.
    """
    inside, widths, warned, none = 0, [], 0, 0
    for _ in range(repetitions):
        found = abstain.confidence_interval(metric, *draw(), **options)
        warned += found.warning is not None
        none += bool(np.isnan(found.low))
        inside += found.low <= truth <= found.high
        widths.append(found.high - found.low)
    given = repetitions - none
    share = inside / given if given else np.nan
    width = np.nanmedian(widths) / abs(truth) if given else np.nan
    mark = "  <--" if share < 0.93 and warned < 0.5 * repetitions else ""
    return (
        f"{100 * share:6.1f} +-{100 * allowance(max(share, 0.5), max(given, 1)):4.1f}"
        f"  width {width:6.3f}  warned {100 * warned / repetitions:5.1f} %  none {100 * none / repetitions:4.1f} %"
    ) + mark


def unit(population: Population, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return loss and a confidence in [0, 1]."""
    loss, confidence = population.draw(n, rng)
    return loss, confidence + 1.0


def coverage_of_the_areas(scale: float) -> None:
    for population in POPULATIONS:
        for metric in ("aurc", "augrc"):
            for n, repetitions in SIZES.items():
                rng = np.random.default_rng(n)
                row = coverage(
                    metric, getattr(population, metric), partial(population.draw, n, rng), int(scale * repetitions)
                )
                print(f"{metric:30} {population.name:28} {n:6} {row}", flush=True)


def coverage_of_the_others(scale: float) -> None:
    for population in POPULATIONS[:4]:
        huge = unit(population, 4_000_000, np.random.default_rng(99))
        table = abstain.TieBlocks.from_samples(*huge, oracle=True)
        for spec in OTHERS:
            metric = abstain.metrics.parse(spec)
            for n, repetitions in SIZES.items():
                rng = np.random.default_rng(n)
                row = coverage(metric, metric(table), partial(unit, population, n, rng), int(scale * repetitions / 2))
                print(f"{spec:30} {population.name:28} {n:6} {row}", flush=True)


def coverage_by_bootstrap(scale: float) -> None:
    for population in (POPULATIONS[0], POPULATIONS[3]):
        table = abstain.TieBlocks.from_samples(*unit(population, 4_000_000, np.random.default_rng(99)))
        for spec in BY_BOOTSTRAP:
            metric = abstain.metrics.parse(spec)
            for n, repetitions in ((200, 400), (1000, 200)):
                draw = partial(unit, population, n, np.random.default_rng(n))
                row = coverage(metric, metric(table), draw, int(scale * repetitions), n_resamples=300)
                print(f"{spec:30} {population.name:28} {n:6} {row}", flush=True)


def coverage_of_copies(scale: float) -> None:
    """Eighty images in fifteen versions each: intervals that take the rows for independent, and clustered ones."""
    truth = copies(60_000, np.random.default_rng(99))
    repetitions = int(400 * scale)
    for name in ("aurc", "augrc"):
        for method, options in (("influence", {}), ("percentile", {"n_resamples": 300})):
            for kind, clusters in (("i.i.d.", None), ("clustered", np.repeat(np.arange(80), 15))):
                draw = partial(copies, 80, np.random.default_rng(3))
                value = float(getattr(abstain, name)(*truth))
                row = coverage(name, value, draw, repetitions, method=method, clusters=clusters, **options)
                print(f"{name:8} {method:10} {kind:10} {row}", flush=True)


def sizes_of_the_paired_test(scale: float) -> None:
    for kind, error in (("plain", 0.05), ("plain", 0.2), ("ties", 0.2), ("models", 0.2), ("real", 0.2)):
        for n, repetitions in SIZES.items():
            count = int(scale * repetitions)
            found = sizes(partial(exchangeable, n, kind=kind, error=error), count, seed=n)
            shares = ", ".join(f"{metric} {100 * share:.1f}" for metric, share in found.items())
            print(f"{kind:8} error {error:4} {n:6}  {shares} +-{100 * allowance(0.05, count):.1f} %", flush=True)


def sizes_by_metric(scale: float) -> None:
    for kind, error, n, repetitions in (
        ("plain", 0.05, 200, 800), ("plain", 0.2, 200, 800), ("ties", 0.2, 200, 800), ("models", 0.2, 200, 800),
        ("plain", 0.2, 1000, 300),
    ):  # fmt: skip
        count = int(scale * repetitions)
        draw = partial(exchangeable, n, kind=kind, error=error)
        found = sizes(draw, count, seed=n, specs=TESTED, n_resamples=200)
        shares = ", ".join(f"{spec} {100 * share:.1f}" for spec, share in found.items())
        print(f"{kind:8} error {error:4} {n:6}  {shares} +-{100 * allowance(0.05, count):.1f} %", flush=True)


def family_wise_error(scale: float) -> None:
    rng, repetitions = np.random.default_rng(1), int(600 * scale)
    for k in (3, 5, 13):
        wrong = dict.fromkeys(("holm", "max-t", "none"), 0)
        for _ in range(repetitions // (4 if k == 13 else 1)):
            checked = columns(*exchangeable(500, rng, k=k)) if k < 9 else _many(k, rng)
            for adjust in wrong:
                tests = paired(abstain.metrics.get("augrc"), checked, adjust=adjust, rng=rng)
                wrong[adjust] += any(each.significant for each in tests.differences)
        count = repetitions // (4 if k == 13 else 1)
        shares = ", ".join(f"{adjust} {100 * number / count:.1f}" for adjust, number in wrong.items())
        print(
            f"{k:2} exchangeable scores, any false rejection: {shares} +-{100 * allowance(0.05, count):.1f} %",
            flush=True,
        )


def _many(k: int, rng: np.random.Generator) -> Any:
    losses, scores = exchangeable(500, rng, k=k)
    return panel(losses[0], {f"s{i}": score for i, score in enumerate(scores)})


def sizes_with_runs(scale: float) -> None:
    rng, repetitions = np.random.default_rng(2), int(800 * scale)
    for runs in (1, 2, 3, 5, 10):
        shares = []
        for seed_sd in (0.0, 0.05, 0.15, 0.4):
            wrong = sum(
                paired(abstain.metrics.get("augrc"), panel(*models(300, runs, seed_sd, rng)), rng=rng)
                .differences[0].significant
                for _ in range(repetitions)
            )  # fmt: skip
            shares.append(f"seed {seed_sd}: {100 * wrong / repetitions:.1f}")
        print(
            f"{runs:2} runs, two equal models: {', '.join(shares)} +-{100 * allowance(0.05, repetitions):.1f} %",
            flush=True,
        )


def wilcoxon(scale: float) -> None:
    n, resamples, repetitions = 2000, 500, int(400 * scale)
    rng, counts = np.random.default_rng(3), dict.fromkeys(("wilcoxon", "percentile", "paired test"), 0)
    for _ in range(repetitions):
        losses, scores = exchangeable(n, rng)
        drawn = augrc_of_resamples(losses[0], scores, resamples, rng)
        p = abstain.inference.wilcoxon_over_resamples(drawn)
        counts["wilcoxon"] += min(p[0, 1], p[1, 0]) < 0.05
        low, high = np.quantile(drawn[:, 0] - drawn[:, 1], [0.025, 0.975])
        counts["percentile"] += low > 0.0 or high < 0.0
        tests = paired(abstain.metrics.get("augrc"), columns(losses, scores), rng=rng)
        counts["paired test"] += tests.differences[0].significant
    shares = ", ".join(f"{name} {100 * count / repetitions:.1f} %" for name, count in counts.items())
    print(f"two exchangeable scores, N = {n}, {resamples} resamples, {repetitions} repetitions: {shares}")


def from_probabilities(probabilities: Any, labels: Any) -> tuple[Any, Any]:
    """Return 0/1 loss and maximum probability."""
    return (probabilities.argmax(axis=1) != labels).astype(float), probabilities.max(axis=1)


def sets_of(path: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield (item, loss, confidence) for every set of predictions in a file."""
    if path.suffix == ".parquet":
        import polars

        for (name,), rows in polars.read_parquet(path).group_by(["set"], maintain_order=True):
            wrong = (rows["true_label"] != rows["pred_label"]).to_numpy().astype(float)
            yield str(name), wrong, rows["confidence"].to_numpy()
        return
    with np.load(path, allow_pickle=False) as file:
        data = {name: file[name] for name in file.files}
    labels = data.get("labels")
    if "is_ood" in data:
        loss, confidence = from_probabilities(data["probs"], labels)
        known = ~data["is_ood"]
        yield "ID only", loss[known], confidence[known]
        yield "ID+OOD (OOD counts as error)", np.where(known, loss, 1.0), confidence
    elif "models" in data and "conf" in data:
        for name, predicted, confidence in zip(data["models"], data["pred"], data["conf"], strict=True):
            yield str(name), (predicted != labels).astype(float), confidence
    elif data.get("probs", np.empty(0)).ndim == 3:
        for k, probabilities in enumerate(data["probs"]):
            yield f"prompt{k}", *from_probabilities(probabilities, labels)
        yield f"mean of {len(data['probs'])} prompts", *from_probabilities(data["probs"].mean(axis=0), labels)
    else:
        for name, values in data.items():
            if name.startswith("probs") and labels is not None:
                yield name, *from_probabilities(values, labels)
            elif name.startswith("conf_"):
                item = name.removeprefix("conf_")
                yield item, (data[f"pred_{item}"] != labels).astype(float), values


def standard_errors(folder: Path, resamples: int) -> None:
    """Closed-form errors of AURC and AUGRC on saved outputs next to those of resamples, in Monte Carlo errors."""
    areas = [abstain.metrics.get("aurc"), abstain.metrics.get("augrc")]
    outputs = folder / "outputs"
    worst, n_sets = 0.0, 0
    print(f"{'set':<66} {'n':>6}  AURC: closed  bootstrap  ratio  AUGRC: closed  bootstrap  ratio")
    for file in sorted([*outputs.glob("*.npz"), *outputs.glob("small_msp_sets.parquet")]):
        for name, loss, confidence in sets_of(file):
            loss, confidence = np.asarray(loss, dtype=float), np.asarray(confidence, dtype=float)
            drawn = replicates(areas, [(loss, confidence)], n_resamples=resamples, rng=0)[:, 0, :]
            cells = []
            for k, metric in enumerate(areas):
                closed, resampled = abstain.standard_error(metric, loss, confidence), float(np.std(drawn[:, k], ddof=1))
                z = (drawn[:, k] - drawn[:, k].mean()) / resampled
                noise = np.sqrt((np.mean(z**4) - 1.0) / (4.0 * resamples))
                worst = max(worst, abs(resampled / closed - 1.0) / noise)
                cells.append(f"{closed:12.4g} {resampled:10.4g} {resampled / closed:6.3f}")
            n_sets += 1
            print(f"{f'{file.name}: {name}':<66} {loss.size:>6}  {cells[0]}  {cells[1]}", flush=True)
    print(f"{n_sets} sets; largest deviation {worst:.1f} Monte Carlo errors")
    assert worst <= 4.0


SECTIONS = {
    "coverage": coverage_of_the_areas,
    "metrics": coverage_of_the_others,
    "bootstrap": coverage_by_bootstrap,
    "copies": coverage_of_copies,
    "sizes": sizes_of_the_paired_test,
    "tests": sizes_by_metric,
    "families": family_wise_error,
    "runs": sizes_with_runs,
    "wilcoxon": wilcoxon,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="factor on all numbers of repetitions")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, separated by commas")
    parser.add_argument("--data", type=Path, help="folder whose saved outputs standard errors are checked on, alone")
    parser.add_argument("--resamples", type=int, default=2000, help="of --data")
    given = parser.parse_args()
    if given.data is not None:
        standard_errors(given.data, given.resamples)
        return
    for name in given.only.split(","):
        start = time.perf_counter()
        print(f"\n--- {name}")
        SECTIONS[name](given.scale)
        print(f"({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
