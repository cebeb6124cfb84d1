"""Live certificates: how often any threshold that was declared on any day exceeds the limit, and what is certified.

    python benchmarks/live.py violations [--streams 2000] [--days 200] [--cell NAME] [--output FOLDER]
    python benchmarks/live.py coverage [--data FOLDER] [--runs 40]
    python benchmarks/live.py audits [--runs 40]

A policy is issued every day. A threshold counts as a violation if its true risk is *not below* the limit. Streams are
counted side by side with the bets and the closed test of the package; ``--one-by-one`` goes through the public class.
Results of finished cells are kept in the output folder.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain.live import LiveCertificate
from abstain.thresholds import _grid_bets as _bets
from live_populations import DELTA, LIMIT, POPULATIONS, WAYS, Draw, Population, violated

AUDITS = (1.0, 0.2, 0.05)


def stream(population: Population, audit: float, days: int, rows: int, rng: np.random.Generator) -> bool:
    """Return whether a threshold whose risk is not below the limit was declared on any day."""
    live = LiveCertificate(risk=LIMIT, delta=DELTA, thresholds=population.thresholds, **population.options)
    for _ in range(days):
        day = population.draw(rows, rng)
        if "groups" in day:
            limits = live.result().thresholds
            answered = day["confidence"] >= np.array([limits[name] for name in day["groups"]])
        else:
            answered = day["confidence"] >= live.threshold
        chance = np.where(answered, audit, 1.0)
        drawn = rng.random(len(chance)) < chance
        loss = np.where(drawn, day.pop("loss"), np.nan)
        live.update(loss=loss, label_probability=chance, again=True, **day)
        live._issue(audit)
    return violated(live, population.risk)


def many(population: Population, audit: float, days: int, rows: int, streams: int, seed: int) -> int:
    """Return how many streams declare such a threshold: all at once, by the same bets and the same closed test."""
    rng = np.random.default_rng(seed)
    names = list(population.options.get("groups", [""]))
    grid = np.unique(population.thresholds)[::-1]
    n, bar, reached = len(grid), math.log(len(names) / DELTA), np.cumsum(_bets.start_weights(len(grid)))
    limit = LIMIT / population.options.get("max_loss", 1.0)
    sums = np.zeros((len(names), streams, len(_bets.RATES), n))
    certified = np.zeros((len(names), streams, n), dtype=bool)
    force, smallest = np.full((len(names), streams), -1), np.ones((len(names), streams))
    for _ in range(days):
        day = population.draw(streams * rows, rng)
        whose = np.repeat(np.arange(streams), rows)
        group = np.searchsorted(names, day.get("groups", np.full(len(whose), "")))
        cell = _bets.cells(grid, day["confidence"])
        chance = np.where(cell <= force[group, whose], audit, 1.0)
        drawn = rng.random(len(whose)) < chance
        weight = day.get("sample_weight", 1.0) / population.options.get("max_weight", 1.0)
        gain = weight * (limit - day["loss"] * limit / LIMIT) / chance
        mine = drawn & (cell < n)
        place = (group * streams + whose) * n + cell
        for k, log in enumerate(_bets.log_factors((smallest[group, whose] * gain)[mine], limit, 1.0)):
            found = np.bincount(place[mine], weights=log, minlength=len(names) * streams * n)
            sums[:, :, k] += found.reshape(len(names), streams, n)
        path = np.cumsum(sums, axis=3)
        value = np.einsum("k,gskj->gsj", _bets.WEIGHTS, np.exp(np.minimum(path, 700.0)))
        high = np.where(certified, 0.0, value * reached).max(axis=2) >= math.exp(bar)
        for g, s in zip(*np.nonzero(high), strict=True):
            certified[g, s] = _bets.certify(_bets.log_evidence(sums[g, s]), certified[g, s], bar)
            low = np.flatnonzero(certified[g, s])
            force[g, s] = low[-1] if low.size else -1
        smallest = np.where(force >= 0, audit, 1.0)
    wrong = np.array([[population.risk(t, name) >= LIMIT * (1 - 1e-9) for t in grid] for name in names])
    return int((certified & wrong[:, np.newaxis]).any(axis=(0, 2)).sum())


def violations(names: list[str], streams: int, days: int, rows: int, output: Path, one_by_one: bool) -> None:
    """Print the share of streams with a violation for every population and share of audits."""
    print(f"limit {LIMIT}, delta {DELTA}, {days} days of {rows} rows; violated on any day, with standard error")
    parts = 1 if not one_by_one else max(1, streams // 50)
    for part in range(parts):  # with a part of the streams of every cell first, so that one may stop at any time
        for name in names:
            for audit in AUDITS:
                file = output / f"{name.replace(' ', '-')}-{audit}-{streams // parts}-{days}-{rows}-{part}.json"
                if not file.exists():
                    output.mkdir(parents=True, exist_ok=True)
                    found = cell(name, audit, days, rows, range(part * 50, (part + 1) * 50) if one_by_one else streams)
                    file.write_text(json.dumps({"violated": found, "streams": streams // parts}))
    for name in names:
        for audit in AUDITS:
            each = [json.loads(file.read_text()) for file in output.glob(f"{name.replace(' ', '-')}-{audit}-*.json")]
            share, n = sum(one["violated"] for one in each), sum(one["streams"] for one in each)
            error = math.sqrt(max(share / n * (1 - share / n), DELTA * (1 - DELTA)) / n)
            print(f"{name:36} audits {100 * audit:3.0f} %: {100 * share / n:5.2f} % ({100 * error:.2f}) of {n}")


def cell(name: str, audit: float, days: int, rows: int, streams: int | range) -> int:
    """Return how many of these streams are violated; a range goes through the public class, one by one."""
    if isinstance(streams, int) and name in POPULATIONS:
        population = POPULATIONS[name]()
        if not population.by_day and "max_cluster" not in population.options:
            return many(population, audit, days, rows, streams, 20261125)
    total = 0
    for k in range(streams) if isinstance(streams, int) else streams:
        rng = np.random.default_rng([20261125, k])
        way = WAYS.get(name)
        total += stream(POPULATIONS[name](), audit, days, rows, rng) if way is None else way(audit, days, rows, rng)
    return total


def resampled(score: np.ndarray, loss: np.ndarray) -> Draw:
    """Return a stream of rows that are drawn from a file with replacement."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        at = rng.integers(0, len(score), n)
        return {"confidence": score[at], "loss": loss[at]}

    return draw


def real(data: Path) -> dict[str, Draw]:
    """Return streams of real outputs: MMLU, ImageNet, CIFAR-10, credit."""
    import polars as pl
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    rows = pl.read_parquet(data / "outputs/llm_mcqa_confidence.parquet").filter(
        (pl.col("model") == "Llama3-70b") & (pl.col("dataset") == "mmlu") & ~pl.col("abstain_option")
    )
    rows = rows.filter(pl.col("prompt") == 1)
    found = {"MMLU": resampled(rows["msp"].to_numpy(), (rows["grade"] != "Correct").to_numpy().astype(float))}
    with np.load(data / "outputs/imagenet_val_msp.npz") as file:
        found["ImageNet"] = resampled(file["conf"][0].astype(float), (file["pred"][0] != file["labels"]).astype(float))
    with np.load(data / "outputs/cifar10_test_models.npz") as file:
        probability = file["probs_cleanlab_cv"]
        wrong = (probability.argmax(1) != file["labels"]).astype(float)
        found["CIFAR-10"] = resampled(probability.max(1).astype(float), wrong)
    table = pl.read_parquet(data / "tabular/credit_default_taiwan.parquet").to_numpy().astype(float)
    x, y = StandardScaler().fit_transform(table[:, :-1]), table[:, -1]
    order = np.random.default_rng(0).permutation(len(y))
    model = LogisticRegression(max_iter=500).fit(x[order[:5000]], y[order[:5000]])
    probability, rest = model.predict_proba(x[order[5000:]]), y[order[5000:]]
    found["credit"] = resampled(probability.max(1), (model.classes_[probability.argmax(1)] != rest).astype(float))
    return found


def coverage(data: Path | None, runs: int) -> None:
    """Print mean coverages of a live certificate beside certificates of one day, and of one at delta / 40."""
    streams = {name: POPULATIONS[name]().draw for name in ("smooth", "like MMLU", "six levels")}
    streams |= {} if data is None else real(data)
    print(
        f"limit {LIMIT} (credit .15), delta {DELTA}; coverage after n rows of a live certificate / one of that day on"
    )
    print("the same grid / one of that day on all thresholds / one of that day on the same grid at delta/40")
    short = []
    for name, draw in streams.items():
        limit = 0.15 if name == "credit" else LIMIT
        everything = draw(200_000, np.random.default_rng(1))["confidence"]
        found: dict[int, list[list[float]]] = {2000: [], 5000: [], 20000: []}
        for run in range(runs):
            rng = np.random.default_rng([7, run])
            live = LiveCertificate(risk=limit, delta=DELTA, scores=draw(2000, rng)["confidence"])
            days = [draw(500, rng) for _ in range(40)]
            for k, day in enumerate(days, 1):
                live.update(**day, again=True)
                if 500 * k not in found:
                    continue
                score, loss = (np.concatenate([each[key] for each in days[:k]]) for key in ("confidence", "loss"))
                steps = np.append(live.thresholds, live.thresholds[-1] - 1.0)[_bets.cells(live.thresholds, score)]
                thresholds = [live.threshold]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # rows of a file come twice in a stream
                    for values, delta in ((steps, DELTA), (score, DELTA), (steps, DELTA / 40)):
                        one = abstain.choose_threshold(loss, values, risk=limit, delta=delta, nan_policy="reject")
                        thresholds.append(one.threshold)
                found[500 * k].append([float((everything >= t).mean()) for t in thresholds])
        means = {n: np.mean(each, axis=0) for n, each in found.items()}
        short.append([means[n][1] - means[n][0] for n in (5000, 20000)])
        cells = "   ".join(f"{n:,}: " + " / ".join(f"{each:.3f}" for each in means[n]) for n in means)
        print(f"{name:12} {cells}", flush=True)
    below = np.mean(short, axis=0)
    print(f"below one day, in the mean over populations: {below[0]:.3f} after 5,000, {below[1]:.3f} after 20,000 rows")


def audits(runs: int) -> None:
    """Print the coverage after 20,000 rows with audits of what is answered, and how many labels were spent."""
    for name in ("smooth", "like MMLU", "six levels"):
        population, cells = POPULATIONS[name](), []
        everything = population.draw(200_000, np.random.default_rng(1))["confidence"]
        for audit in AUDITS:
            found, labels = [], []
            for run in range(runs):
                rng = np.random.default_rng([8, run])
                live = LiveCertificate(risk=LIMIT, delta=DELTA, thresholds=population.thresholds)
                for _ in range(40):
                    day = population.draw(500, rng)
                    chance = np.where(day["confidence"] >= live.threshold, audit, 1.0)
                    loss = np.where(rng.random(500) < chance, day["loss"], np.nan)
                    live.update(day["confidence"], loss, label_probability=chance, again=True)
                    live._issue(audit)
                found.append(float((everything >= live.threshold).mean()))
                labels.append(live.groups[""].labels)
            cells.append(f"audits {100 * audit:3.0f} %: {np.mean(found):.3f} ({np.mean(labels):,.0f} labels)")
        print(f"{name:12} {'   '.join(cells)}", flush=True)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["violations", "coverage", "audits"])
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--days", type=int, default=200)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--cell", choices=[*POPULATIONS, *WAYS], action="append")
    parser.add_argument("--output", type=Path, default=Path("live-runs"))
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--data", type=Path, help="folder of saved outputs, for coverage")
    parser.add_argument("--one-by-one", action="store_true", help="through the public class, stream by stream")
    given = parser.parse_args()
    print(f"abstain {abstain.__version__}")
    if given.what == "coverage":
        coverage(given.data, given.runs)
        return
    if given.what == "audits":
        audits(given.runs)
        return
    violations(
        given.cell or [*POPULATIONS, *WAYS], given.streams, given.days, given.rows, given.output, given.one_by_one
    )


if __name__ == "__main__":
    main()
