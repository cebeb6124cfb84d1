"""Simulations behind the claims about intervals and tests: coverage, width, warnings, sizes.

    python -m benchmarks.inference [--scale 1.0] [--only coverage,metrics,bootstrap,copies,sizes,...]

From the root of the repository. Populations with a known truth are those of the tests. At scale 1 it takes about
fifteen minutes on one core; the tests run the same simulations smaller. Every share comes with 2.6 Monte Carlo errors.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import abstain
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
    given = parser.parse_args()
    for name in given.only.split(","):
        start = time.perf_counter()
        print(f"\n--- {name}")
        SECTIONS[name](given.scale)
        print(f"({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
