"""Certificates from few labels, when to stop labelling, and what few errors cost, for ``benchmarks.few_labels``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.few_labels_pools import Form, geometric, share, uniform, value_of

import abstain
from abstain import pool as room
from abstain.pool import Sample


def _attainable(loss: np.ndarray, score: np.ndarray, limit: float) -> float:
    curve = abstain.risk_coverage_curve(loss, score)
    good = curve.selective_risk <= limit
    return float(curve.coverage[good].max()) if good.any() else 0.0


def region(form: Form, data: dict[str, Any]) -> None:
    """Certified coverage from a region, beside labels of the whole pool; then false certificates."""
    runs = form.draws(200, 40)
    cases = [
        ("llama3_8b_mmlu", 0.1, 400),
        ("llama3_8b_mmlu", 0.1, 1000),
        ("c100_wrn", 0.02, 1000),
        ("llama3_8b_mmlu", 0.2, 400),
    ]
    for name, limit, n in cases:
        if name not in data:
            continue
        loss, score = data[name]
        reach = _attainable(loss, score, limit)
        plan = abstain.plan_labels(score, n=n, region=min(1.0, 1.1 * reach), seed=0)
        whole, rng = abstain.plan_labels(score, n=n, region=1.0, seed=0), np.random.default_rng(7)
        found = {}
        for label, each, size in (
            ("region", plan, n),
            *((f"whole pool x{f:.2f}", whole, round(n / f)) for f in (1.0, 0.6)),
        ):
            frame, values = np.flatnonzero(each.frame), []
            if size > len(frame):
                continue
            chance = np.where(each.frame, size / len(frame), 0.0)
            for _ in range(runs):
                stage = np.zeros(each.n, int)
                stage[rng.choice(frame, size, replace=False)] = 1
                drawn = replace(each, stage=stage, probability=chance[None, :])
                done = room.certify_region(drawn, np.where(stage > 0, loss, np.nan), risk=limit, delta=0.05)
                accepted = score >= done.threshold
                values.append((done.coverage, accepted.any() and loss[accepted].mean() > limit))
            found[label] = np.array(values, float)
        said = [f"{label} certified {v[:, 0].mean():.3f} false {share(v[:, 1])}" for label, v in found.items()]
        print(f"  {name}, limit {limit:g} (attainable {reach:.2f}), n={n}: " + "; ".join(said), flush=True)
    for kind in ("flat", "dip"):
        falls, rng = [], np.random.default_rng(8)
        for _ in range(form.draws(2000, 200)):
            score = rng.random(4000)
            risk = (
                np.full(4000, 0.0502)
                if kind == "flat"
                else np.where(score > 0.8, 0.06, np.where(score > 0.6, 0.04, 0.3))
            )
            loss = (rng.random(4000) < risk).astype(float)
            rows = np.argsort(-score)[:1600]
            picked = rng.choice(rows, 400, replace=False)
            done = abstain.choose_threshold(loss[picked], score[picked], risk=0.05, delta=0.05)
            t = done.threshold if done.attainable else np.inf
            true = (
                0.0502
                if kind == "flat"
                else (0.06 if t > 0.8 else (0.06 * 0.2 + 0.04 * (0.8 - t)) / (1 - t) if t > 0.6 else 1.0)
            )
            falls.append(bool(done.attainable) and true > 0.05)
        print(
            f"  false certificates in a region of .4, {kind} risk, limit .05, delta .05: {share(np.array(falls))} %",
            flush=True,
        )


def stop(form: Form, data: dict[str, Any]) -> None:
    """Looks every 100 labels: coverage where the width stops, wrong answers where a question does."""
    runs, looks, metric = form.draws(200, 30), 10, abstain.metrics.get("augrc")
    levels = [room.interim_level(k + 1, looks) for k in range(looks)]
    for name, (loss, score) in data.items():
        pool = room.Pool.of(score)
        if pool.n < 1300 or loss.mean() < 0.03:
            continue
        truth, rng, held, wrong, naive = value_of(metric, loss, score), np.random.default_rng(9), [], [], []
        for _ in range(runs):
            order, stopped, answers = rng.permutation(pool.n), None, {"bound": None, "naive": None}
            for k in range(looks):
                n = 100 * (k + 1)
                rows = np.sort(order[:n])
                one = Sample(
                    pool, rows, loss[rows], np.zeros(n, int), np.full(n, n / pool.n), np.ones(pool.n, bool), (n,)
                )
                usual = room.estimate(metric, one, 0.95, "pool")
                short = usual.high - usual.low <= 0.5 * usual.value and one.errors >= 10
                if stopped is None and (short or k == looks - 1):
                    stopped = usual.low <= truth <= usual.high
                deep = room.estimate(metric, one, levels[k], "pool")
                for key, each in (("bound", deep), ("naive", usual)):
                    if answers[key] is None and not each.low <= truth <= each.high:
                        answers[key] = True  # the limit is the truth itself: every answer is wrong
            held.append(bool(stopped))
            wrong.append(bool(answers["bound"]))
            naive.append(bool(answers["naive"]))
        three = [share(np.array(each)) for each in (held, wrong, naive)]
        print(f"  {name:18s} stop at a half-width of 25 %: covered {three[0]}", end="")
        print(f"; wrong at any of {looks} looks: group bounds {three[1]}, plain intervals {three[2]}", flush=True)


def price(form: Form, data: dict[str, Any]) -> None:
    """Widths beside those of plain evaluation of the labelled rows, by how many errors these are expected to show."""
    runs, bounds = form.draws(100, 15), (0.0, 5.0, 15.0, 50.0, np.inf)
    found: dict[Any, list[float]] = {}
    for loss, score in data.values():
        pool = room.Pool.of(score)
        for n in (100, 200, 400, 1000):
            if n > 0.8 * pool.n:
                continue
            rng, errors = np.random.default_rng(n), n * loss.mean()
            place = int(np.searchsorted(bounds, errors, side="right"))
            for key in ("augrc", "aurc"):
                metric, widths = abstain.metrics.get(key), []
                for _ in range(runs):
                    sample = uniform(pool, loss, n, rng)
                    few = room.estimate(metric, sample, 0.95, "pool")
                    plain = abstain.evaluate(loss=sample.loss, confidence=score[sample.rows], metrics=key)
                    widths.append((few.high - few.low, plain.measurements[0].high - plain.measurements[0].low))
                few_width, plain_width = np.nanmedian(np.array(widths), axis=0)
                found.setdefault((key, place), []).append(few_width / plain_width)
    for (key, place), each in sorted(found.items()):
        said = f"{bounds[place - 1]:g} to {bounds[place]:g} errors expected, {len(each)} cells of {runs} draws"
        print(f"  {key}, {said}: median width beside plain evaluation x{geometric(each):.2f}"
              f" ({min(each):.2f} to {max(each):.2f})", flush=True)  # fmt: skip
