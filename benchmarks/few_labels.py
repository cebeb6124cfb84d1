"""Few labels: what they cost and whether the intervals hold, on real pools of which all labels are known.

    ABSTAIN_DATA=FOLDER python -m benchmarks.few_labels [FOLDER] [--full]
                                        [--only exact,coverage,...] [--pools NAME,...] [--draws N]

From the root of the repository. FOLDER holds ``outputs/`` with saved outputs of real models of ten pools and nine pairs
of models or scores: ``mnist_test_cleanlab.npz``, ``20news_test_cleanlab.npz``, ``cifar10_test_models.npz`` and ``_b``,
``cifar100_test_models.npz``, ``imagenet_val_msp.npz`` (10,000 random rows of 50,000), ``llm_mcqa_confidence.parquet``.
The quick form takes about two minutes on an idle core, the full one about fifteen. ``+-`` is 1.96 Monte Carlo errors.

- ``exact``: values with all labels; bias and inclusion frequencies of every design in many draws of a small pool.
- ``coverage``: 95 % intervals of the default at four sizes, and labels needed: the squared error beside that of plain
  evaluation of as many uniformly drawn rows, whose labels would be 1.
- ``price``: widths beside those of plain evaluation, by how many errors are expected.
- ``useless``: labels needed where the score says nothing.
- ``population``: intervals about what a pool was drawn from.
- ``adaptive``: AURC with two stages, and with the error rate stated.
- ``wrong``: intervals where nearly all rows are wrong.
- ``compare``: two models, two scores, planned.
- ``judge``: judges that agree with the truth in a stated share, and a coin.
- ``region``: certificates from a region beside the walk over labels of the whole pool; false ones where truth is known.
- ``stop``: looks every 100 labels, until the interval is short or a question is answered.
- ``picture``: draw docs/few-labels.png, or the file given by ``--picture``; needs no FOLDER and runs only where named.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.few_labels_pools import (  # noqa: F401
    Column,
    Form,
    _imagenet,
    geometric,
    pairs,
    picture,
    pools,
    price,
    ratio,
    region,
    share,
    stop,
    uniform,
    value_of,
)

import abstain
from abstain import pool as room
from abstain.pool import Sample, _sampling
from abstain.pool._pair import FLOOR, contrast

SIZES = (100, 200, 400, 1000)


PARTS = "exact,coverage,price,useless,population,adaptive,wrong,compare,judge,region,stop"


def exact(form: Form, data: dict[str, Any]) -> None:
    """Values with all labels, then bias and inclusion frequencies in many draws."""
    for name, (loss, score) in data.items():
        plan = abstain.plan_labels(score, n=len(score), seed=0)
        found = abstain.evaluate(loss=loss, confidence=score, plan=plan, metrics="all", level=None)
        plain = abstain.evaluate(loss=loss, confidence=score, metrics="all", level=None)
        expected = {entry.metric: entry.value for entry in plain.measurements}
        gaps = [abs(e.value - expected[e.metric]) for e in found.measurements if e.value == e.value]
        print(f"  {name:18s} {len(gaps)} metrics, all rows labelled: largest difference {max(gaps):.1e}")
    rng, draws, n = np.random.default_rng(0), form.draws(10_000, 2_000), 60
    ease = np.round(rng.random(500), 2)
    loss = (rng.random(500) < 0.6 * (1 - ease) ** 2 + 0.02).astype(float)
    judge = np.where(rng.random(500) < 0.9, loss, 1.0 - loss)
    metric = abstain.metrics.get("augrc")
    truth, guess = value_of(metric, loss, ease), np.linspace(0.5, 0.05, 500)
    for design in ("uniform", "adaptive", "planned"):
        plan = abstain.plan_labels(ease, n=n, design=design, judge=judge if design == "planned" else None, seed=0)
        count, chance, values = np.zeros(500), np.zeros(500), np.empty((draws, 2))
        for k in range(draws):
            even = design != "planned"
            rows = _sampling.drawn(
                plan.pool, plan.probability[0], np.arange(500), plan.sizes[0], np.random.default_rng(k), even=even
            )
            stage = np.zeros(500, int)
            stage[rows] = 1
            drawn = replace(plan, stage=stage)
            if design == "adaptive":
                drawn = drawn.extend(np.where(stage > 0, loss, np.nan), seed=draws + k)
                count += drawn.stage == 2
                chance += drawn.probability[1]
            else:
                count += stage
                chance += plan.probability[0]
            sample = room.sample_of(drawn, np.where(drawn.stage > 0, loss, np.nan))
            values[k] = metric(sample.with_guess(guess)), metric(sample.estimated)
        z = (count - chance) / np.sqrt(np.maximum(chance * (1 - chance / draws), 1e-9))
        bias = (values.mean(axis=0) - truth) / (values.std(axis=0) / np.sqrt(draws))
        fitted = (values[:, 1].mean() - truth) / values[:, 1].std()
        said = f"bias {bias[0]:+.1f} Monte Carlo errors with a fixed guess, {bias[1]:+.1f} ({fitted:+.3f} sd) fitted"
        print(f"  {design:9s} {draws} draws: {said}; inclusion z: sd {z.std():.2f}, largest {np.abs(z).max():.1f}")


METRICS = ("augrc", "aurc", "selective_risk(coverage=0.8)", "auroc_f")


def coverage(form: Form, data: dict[str, Any]) -> None:
    """Coverage and labels needed of the default."""
    runs, sizes = form.draws(250, 60), SIZES if form.full else (100, 400)
    chosen = [abstain.metrics.parse(name) for name in METRICS]
    held: dict[Any, list[Any]] = {}
    ratios: dict[str, dict[str, list[float]]] = {name: {} for name in METRICS}
    for name, (loss, score) in data.items():
        pool = room.Pool.of(score)
        truth = [value_of(metric, loss, score) for metric in chosen]
        for n in sizes:
            if n > 0.8 * pool.n:
                continue
            rng = np.random.default_rng(n)
            few, plain = np.full((runs, len(chosen), 3), np.nan), np.full((runs, len(chosen)), np.nan)
            for r in range(runs):
                sample = uniform(pool, loss, n, rng)
                for j, metric in enumerate(chosen):
                    found = room.estimate(metric, sample, 0.95, "pool")
                    few[r, j] = found.value, found.low, found.high
                    plain[r, j] = value_of(metric, loss[sample.rows], score[sample.rows])
            text = f"  {name:18s} n={n:5d}"
            for j, key in enumerate(METRICS):
                known = ~np.isnan(few[:, j, 0])
                hit = (few[known, j, 1] <= truth[j] + 1e-12) & (truth[j] <= few[known, j, 2] + 1e-12)
                held.setdefault((key, n), []).append((hit.mean(), name, loss.mean() * n))
                fair = known & ~np.isnan(plain[:, j])
                if truth[j] > 0:
                    value, error = ratio(few[fair, j, 0], plain[fair, j], truth[j])
                    ratios[key].setdefault(name, []).append(value)
                    width = np.median(few[known, j, 2] - few[known, j, 1]) / truth[j]
                    text += f" | {key.partition('(')[0]} {share(hit)} x{value:.2f}+-{error:.2f} width {width:.2f}"
            print(text, flush=True)
    for (key, n), cells in held.items():
        worst = min(cells)
        error = 196 * np.sqrt(worst[0] * (1 - worst[0]) / runs)
        mean = 100 * np.mean([cell[0] for cell in cells])
        print(f"  covered, mean of pools: {key:30s} n={n:5d} {mean:5.1f} %", end="")
        print(f", least {100 * worst[0]:.1f} +-{error:.1f} % ({worst[1]}, {worst[2]:.0f} errors expected)")
    for key, each in ratios.items():
        means = {name: geometric(values) for name, values in each.items()}
        common = [value for name, value in means.items() if data[name][0].mean() >= 0.05]
        print(f"  labels needed, {key}: " + ", ".join(f"{name} {value:.2f}" for name, value in means.items()))
        print(f"  labels needed, {key}: largest {max(means.values()):.2f}; mean of pools with 5 % errors and more "
              f"{np.mean(common) if common else np.nan:.2f}")  # fmt: skip


def useless(form: Form, data: dict[str, Any]) -> None:
    """Labels needed for AUGRC where the score says nothing."""
    runs, metric = form.draws(12_000, 300), abstain.metrics.get("augrc")
    for rate in (0.05, 0.25, 0.5):
        rng = np.random.default_rng(3)
        score, loss = rng.random(10_000), (rng.random(10_000) < rate).astype(float)
        pool, truth = room.Pool.of(score), value_of(metric, loss, score)
        few, plain = np.empty(runs), np.empty(runs)
        for r in range(runs):
            sample = uniform(pool, loss, 200, rng)
            few[r] = metric(sample.estimated)
            plain[r] = value_of(metric, loss[sample.rows], score[sample.rows])
        value, error = ratio(few, plain, truth)
        print(f"  useless score, {rate:.0%} errors, n=200: AUGRC x{value:.4f} +-{error:.4f}", flush=True)


def population(form: Form, data: dict[str, Any], folder: str) -> None:
    """Coverage of what a pool was drawn from, by both kinds of intervals."""
    loss, score = _imagenet(Path(folder) / "outputs", "timm_efficientnet_b3a", 50_000)[:2]
    metric, runs = abstain.metrics.get("augrc"), form.draws(500, 100)
    truth = value_of(metric, loss, score)
    for size in (1000, 2000, 5000):
        rng, hits = np.random.default_rng(size), {"pool": [], "population": []}
        for _ in range(runs):
            rows = rng.choice(len(loss), size, replace=False)
            sample = uniform(room.Pool.of(score[rows]), loss[rows], 400, rng)
            for target, hit in hits.items():
                found = room.estimate(metric, sample, 0.95, target)
                hit.append(found.low <= truth <= found.high)
        said = "; ".join(f'target="{target}" {share(np.array(hit))}' for target, hit in hits.items())
        print(f"  ImageNet, pools of {size}, 400 labels, AUGRC of all 50,000 rows covered: {said}", flush=True)
    for top, risks, n in (
        (0.8, (0.05, 0.4), 400),
        (0.8, (0.1, 0.3), 1000),
        (0.5, (0.05, 0.1), 900),
        (0.5, (0.2,) * 2, 300),
    ):
        rng, hit = np.random.default_rng(n), []
        at = abstain.metrics.parse(f"selective_risk(coverage={top})")
        for _ in range(runs):
            first = rng.random(1000) < top
            wrong = (rng.random(1000) < np.where(first, *risks)).astype(float)
            found = room.estimate(at, uniform(room.Pool.of(first * 1.0), wrong, n, rng), 0.95, "population")
            hit.append(found.low <= risks[0] <= found.high)
        said = f"risks {risks[0]} and {risks[1]}, {n} of 1,000 labelled: {share(np.array(hit))}"
        print(f"  a tie ends at coverage {top}, {said}", flush=True)


def adaptive(form: Form, data: dict[str, Any]) -> None:
    """Labels needed and coverage of AURC with two stages; with the error rate stated, from 15 % on."""
    runs, sizes = form.draws(800, 60), (200, 400, 1000) if form.full else (400,)
    metric = abstain.metrics.get("aurc")
    means: dict[bool, dict[str, float]] = {False: {}, True: {}}
    hits: dict[int, list[Any]] = {}
    for name, (loss, score) in data.items():
        truth = value_of(metric, loss, score)
        found: dict[bool, list[float]] = {False: [], True: []}
        for n in (each for each in sizes if each <= 0.8 * len(loss)):
            rng = np.random.default_rng(n)
            plain = [value_of(metric, loss[r], score[r]) for r in _draws(len(loss), n, 4 * runs, rng)]
            for known in (False, True) if loss.mean() >= 0.15 else (False,):
                rate = float(loss.mean()) if known else None
                plan = abstain.plan_labels(score, n=n, metric=metric, design="adaptive", error_rate=rate, seed=0)
                few = np.array([_two_stages(plan, metric, loss, rng, not known) for _ in range(runs)])
                hit = (few[:, 1] <= truth) & (truth <= few[:, 2])
                square = (few[:, 0] - truth) ** 2 / np.mean((np.array(plain) - truth) ** 2)
                error = 1.96 * square.std() / np.sqrt(runs)
                found[known].append(float(square.mean()))
                hits.setdefault(n, []).append((hit.mean(), name))
                said = "error rate stated" if known else "adaptive"
                print(f"  {name:18s} n={n:5d} AURC, {said}: x{square.mean():.2f} +-{error:.2f}, covered {share(hit)}",
                      flush=True)  # fmt: skip
        for known, each in found.items():
            if each:
                means[known][name] = geometric(each)
    for known, each in means.items():
        said = "error rate stated" if known else "adaptive"
        print(f"  labels needed, AURC, {said}: " + ", ".join(f"{name} {value:.2f}" for name, value in each.items()))
        common = [value for name, value in each.items() if data[name][0].mean() >= 0.15]
        print(f"  from 15 % errors on: mean {np.mean(common):.2f}, largest {max(common):.2f}" if common else "")
    for n, cells in hits.items():
        print(f"  covered n={n}: mean {100 * np.mean([c[0] for c in cells]):.1f} %, least {100 * min(cells)[0]:.1f} % "
              f"({min(cells)[1]})")  # fmt: skip


def _draws(rows: int, n: int, runs: int, rng: np.random.Generator) -> Any:
    return (rng.choice(rows, n, replace=False) for _ in range(runs))


def _two_stages(plan: Any, metric: Any, loss: np.ndarray, rng: np.random.Generator, even: bool) -> Any:
    """Return value and ends from one draw of both stages."""
    seeds = rng.integers(2**31, size=2).tolist()
    stage = np.zeros(plan.n, int)
    rows = _sampling.drawn(
        plan.pool, plan.probability[0], np.arange(plan.n), plan.sizes[0], np.random.default_rng(seeds[0]), even=even
    )
    stage[rows] = 1
    second = replace(plan, stage=stage).extend(np.where(stage > 0, loss, np.nan), seed=seeds[1])
    sample = room.sample_of(second, np.where(second.stage > 0, loss, np.nan))
    return room.estimate(metric, sample, 0.95, "pool")[:3]


def wrong(form: Form, data: dict[str, Any]) -> None:
    """Coverage where nearly all rows are wrong, by where the right ones lie; and of the draws that see few of them."""
    runs, names = form.draws(300, 40), ("augrc", "aurc", "e_augrc", "e_aurc", "naurc", "auroc_f")
    chosen, rng = [abstain.metrics.get(name) for name in names], np.random.default_rng(0)
    for where, slope in (("at the top", 4.0), ("anywhere", 0.0), ("at the bottom", -4.0)):
        for rate in (0.9, 0.97, 0.99):
            score = rng.random(5000)
            right = (1.0 - rate) * np.exp(slope * score) / np.exp(slope * score).mean()
            loss = (rng.random(5000) > right).astype(float)
            pool, truths = room.Pool.of(score), [value_of(metric, loss, score) for metric in chosen]
            for n in (100, 400):
                hits, few = np.full((runs, len(chosen)), np.nan), np.zeros(runs, bool)
                for r in range(runs):
                    sample = uniform(pool, loss, n, rng)
                    few[r] = n - sample.errors < 5
                    for j, (metric, truth) in enumerate(zip(chosen, truths, strict=True)):
                        found = room.estimate(metric, sample, 0.95, "pool")
                        if found.value == found.value:
                            hits[r, j] = found.low - 1e-12 <= truth <= found.high + 1e-12
                text = f"  {rate:.0%} wrong, right ones {where}, n={n}:"
                for j, name in enumerate(names):
                    some = f"/{100 * np.nanmean(hits[few, j]):.0f}" if np.any(hits[few, j] == hits[few, j]) else ""
                    text += f" {name} {100 * np.nanmean(hits[:, j]):.0f}{some}"
                print(text, flush=True)


def compare(form: Form, data: dict[str, Any], folder: str) -> None:
    """Labels needed and coverage of planned comparisons."""
    runs, sizes = form.draws(1000, 60), (100, 200, 400) if form.full else (200,)
    totals: dict[Any, list[Any]] = {}
    for name, (losses, scores, predictions) in pairs(folder).items():
        models = "two scores" if predictions is None else "two models"
        for key in ("augrc", "aurc"):
            metric = abstain.metrics.get(key)
            other = scores[1] if predictions is None else (scores[1], *predictions)
            plan = abstain.plan_labels(scores[0], n=10, compare=other, metric=metric, seed=0)
            pair, size = plan.pair, plan.pair.sizes(metric, None)
            order = np.argsort(plan.pool.block, kind="stable")
            truth = value_of(metric, losses[0], scores[0]) - value_of(metric, losses[1], scores[1])
            for n in sizes:
                rng, chance = np.random.default_rng(n), _sampling.mixed(size, n, FLOOR)
                few, plain = np.empty((runs, 3)), np.empty(runs)
                for r in range(runs):
                    rows = _sampling.spread(order, chance, rng)
                    one = Sample(
                        plan.pool, rows, losses[0][rows], np.zeros(n, int), chance[rows], np.ones(plan.n, bool), (n,)
                    )
                    each = contrast(metric, pair, one, losses[1][rows], 0.95)
                    few[r] = each.difference, each.low, each.high
                    rows = rng.choice(plan.n, n, replace=False)
                    drawn = [value_of(metric, losses[k][rows], scores[k][rows]) for k in (0, 1)]
                    plain[r] = drawn[0] - drawn[1]
                hit = (few[:, 1] <= truth) & (truth <= few[:, 2])
                value, error = ratio(few[:, 0], plain, truth)
                totals.setdefault((models, key), []).append((value, hit.mean(), f"{name} n={n}"))
                print(f"  {name:26s} {key:5s} n={n:4d} x{value:.2f} +-{error:.2f}, covered {share(hit)}", flush=True)
    for (models, key), cells in totals.items():
        worst = min(cells, key=lambda cell: cell[1])
        print(f"  {models}, {key}: labels needed {geometric([c[0] for c in cells]):.2f} (geometric mean), covered "
              f"{100 * np.mean([c[1] for c in cells]):.1f} %, least {100 * worst[1]:.1f} % ({worst[2]})")  # fmt: skip


def judge(form: Form, data: dict[str, Any]) -> None:
    """Labels needed for AUGRC with judges; agreement is simulated, independent of everything (real judges are not)."""
    runs, n, metric = form.draws(300, 80), 300, abstain.metrics.get("augrc")
    totals: dict[Any, list[Any]] = {}
    for name in ("gpt4_hellaswag", "c100_wrn", "llama3_70b_mmlu"):
        if name not in data:
            continue
        loss, score = data[name]
        truth, rng = value_of(metric, loss, score), np.random.default_rng(5)
        words = {"coin": rng.random(len(loss)) < 0.5, "80 %": np.where(rng.random(len(loss)) < 0.8, loss, 1 - loss),
                 "90 %": np.where(rng.random(len(loss)) < 0.9, loss, 1 - loss)}  # fmt: skip
        without, alone = room.Pool.of(score), {}
        for kind, word in words.items():
            word = np.asarray(word, float)
            alone[kind] = value_of(metric, word, score) / truth
            for design in ("uniform", "planned"):
                plan = abstain.plan_labels(score, n=n, judge=word, design=design, seed=0)
                few, bare, plain = np.empty((runs, 3)), np.empty(runs), np.empty(runs)
                for r in range(runs):
                    rows = _sampling.drawn(
                        plan.pool,
                        plan.probability[0],
                        np.arange(plan.n),
                        n,
                        np.random.default_rng(9 * r),
                        even=design == "uniform",
                    )
                    one = Sample(
                        plan.pool, rows, loss[rows], np.zeros(n, int), plan.probability[0][rows], plan.frame, (n,)
                    )
                    each = room.estimate(metric, one, 0.95, "pool")
                    few[r] = each.value, each.low, each.high
                    rows = rng.choice(plan.n, n, replace=False)
                    plain[r] = value_of(metric, loss[rows], score[rows])
                    bare[r] = metric(replace(one, pool=without).estimated)
                hit = (few[:, 1] <= truth) & (truth <= few[:, 2])
                value, error = ratio(few[:, 0], plain, truth)
                cost = ratio(few[:, 0], bare, truth)
                totals.setdefault((kind, design), []).append((value, cost[0], hit.mean()))
                said = f"  {name:16s} judge {kind} {design:8s} x{value:.2f} +-{error:.2f}; covered {share(hit)}"
                said += f"; beside the same labels without it x{cost[0]:.3f} +-{cost[1]:.3f}"
                print(f"{said}; its word alone {alone[kind]:.1f} x the truth", flush=True)
    for (kind, design), cells in totals.items():
        means = [geometric([cell[k] for cell in cells]) for k in (0, 1)]
        held = [100 * cell[2] for cell in cells]
        said = f"  judge {kind}, {design}: labels needed {means[0]:.2f}, beside no judge {means[1]:.3f}"
        print(f"{said}, covered {np.mean(held):.1f} %, least {min(held):.1f} %")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=os.environ.get("ABSTAIN_DATA", ""))
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default=PARTS)
    parser.add_argument("--picture", type=Path, default=Path("docs/few-labels.png"))
    parser.add_argument("--pools", default="")
    parser.add_argument("--draws", type=int, help="draws of a cell, instead of those of the form")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.only == "picture":
        picture(given.picture)
        return
    if not given.folder:
        parser.error("give the folder of the data, or set ABSTAIN_DATA")
    wanted = set(given.pools.split(",")) - {""}
    data = {name: each for name, each in pools(given.folder).items() if not wanted or name in wanted}
    for name in given.only.split(","):
        start = time.process_time()
        print(f"{name}:", flush=True)
        extra = (given.folder,) if name in ("compare", "population") else ()
        globals()[name](Form(given.full, given.draws), data, *extra)
        print(f"  ({time.process_time() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
