"""Live certificates: how often any threshold that was declared on any day exceeds the limit, and what is certified.

    python benchmarks/live.py violations [--streams 2000] [--days 200] [--cell NAME] [--output FOLDER]
    python benchmarks/live.py compare [--streams 2] [--days 60] [--cell NAME]
    python benchmarks/live.py coverage [--data FOLDER] [--runs 100]
    python benchmarks/live.py audits [--runs 100]
    python benchmarks/live.py delay [--runs 100]
    python benchmarks/live.py speed

A policy is issued every day. A threshold counts as a violation if its true risk is *not below* the limit. Streams are
counted side by side with the bets and the closed test of the package (``live_streams.py``); ``compare`` sends a few of
them through the public class, too. Results of finished cells are kept in the output folder.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain.live import LiveCertificate
from abstain.thresholds import _grid_bets as _bets
from live_populations import DELTA, LIMIT, POPULATIONS, Draw, Shape
from live_streams import WAYS, Streams, cell, daily

AUDITS = (1.0, 0.2, 0.05)


def violations(names: list[str], streams: int, days: int, rows: int, output: Path) -> None:
    """Print the share of streams with a violation for every population and share of audits."""
    print(f"limit {LIMIT}, delta {DELTA}, {days} days of {rows} rows; violated on any day, with standard error")
    for name in names:
        for audit in AUDITS:
            file = output / f"{name.replace(' ', '-')}-{audit}-{streams}-{days}-{rows}.json"
            if not file.exists():
                output.mkdir(parents=True, exist_ok=True)
                found, _ = cell(name, audit, days, rows, (streams, 0), 20261126)
                file.write_text(json.dumps({"violated": int(found.sum()), "streams": streams}))
            share = json.loads(file.read_text())["violated"] / streams
            error = math.sqrt(max(share * (1 - share), DELTA * (1 - DELTA)) / streams)
            print(
                f"{name:36} audits {100 * audit:3.0f} %: {100 * share:5.2f} % ({100 * error:.2f}) of {streams}",
                flush=True,
            )


def compare(names: list[str], streams: int, days: int, rows: int) -> None:
    """Count streams through the public class, too, and print on how many days both certify the same thresholds."""
    for name in names:
        equal = different = 0
        for audit in AUDITS:
            _, found = cell(name, audit, days, rows, (streams, streams), 4)
            equal, different = equal + found.equal, different + found.different
        print(f"{name:36} days of {streams} streams: {equal:,} equal, {different} different", flush=True)


def resampled(score: np.ndarray, loss: np.ndarray) -> Draw:
    """Return a stream of rows that are drawn from a file with replacement."""

    def draw(n: Shape, rng: np.random.Generator) -> dict[str, Any]:
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
    streams = {name: (POPULATIONS[name]().draw, LIMIT) for name in ("smooth", "like MMLU", "six levels")}
    if data is not None:
        streams |= {name: (draw, LIMIT) for name, draw in real(data).items()}
        streams["credit, 15 %"] = streams["credit"][0], 0.15
    print(
        f"delta {DELTA}, limit {LIMIT}; mean coverage after n rows of a live certificate / one of that day on the same"
    )
    print("grid / one of that day at delta/40")
    short = {}
    for name, (draw, limit) in streams.items():
        rng = np.random.default_rng(7)
        everything = draw(200_000, rng)["confidence"]
        grid = _bets.grid_of(draw(2000, rng)["confidence"], None)
        share = np.array([float((everything >= t).mean()) for t in grid] + [0.0])
        live = Streams(grid, runs, [DELTA], risk=limit)
        means, days = {}, []
        for k in range(1, 41):
            days.append(draw((runs, 500), rng))
            live.update(days[-1], np.ones((runs, 500), dtype=bool), np.ones((runs, 500)))
            if 500 * k in (2000, 5000, 20000):
                found = [share[live.lowest[0]]]
                score, loss = (np.concatenate([day[key] for day in days], axis=1) for key in ("confidence", "loss"))
                for delta in (DELTA, DELTA / 40):
                    found.append(share[[one_day(*each, grid, limit, delta) for each in zip(score, loss, strict=True)]])
                means[500 * k] = np.mean(found, axis=1)
        short[name] = [means[n][1] - means[n][0] for n in means]
        cells = "   ".join(f"{n:,}: " + " / ".join(f"{each:.3f}" for each in means[n]) for n in means)
        print(f"{name:12} {cells}", flush=True)
    for words, left_out in (
        ("with credit at 5 %", {"credit, 15 %"}),
        ("with credit at 15 %", {"credit"}),
        ("without credit", {"credit", "credit, 15 %"}),
    ):
        below = np.mean([each for name, each in short.items() if name not in left_out], axis=0)
        print(f"below one day, in the mean over populations, {words}: " + ", ".join(f"{each:.3f}" for each in below))


def one_day(score: np.ndarray, loss: np.ndarray, grid: np.ndarray, limit: float, delta: float) -> int:
    """Return the position of the threshold that a certificate of one day chooses on the grid; -1 if none."""
    steps = np.append(grid, grid[-1] - 1.0)[_bets.cells(grid, score)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows of a file come twice in a stream
        found = abstain.choose_threshold(loss, steps, risk=limit, delta=delta).threshold
    return -1 if found > grid[0] else int(_bets.cells(grid, np.array([found]))[0])


def audits(runs: int) -> None:
    """Print the coverage after 20,000 rows with audits of what is answered, and how many labels were spent."""
    for name in ("smooth", "like MMLU", "six levels"):
        population, cells, full = POPULATIONS[name](), [], np.ones(1)
        everything = population.draw(200_000, np.random.default_rng(1))["confidence"]
        for audit in AUDITS:
            _, live = daily(population, audit, 40, 500, (runs, 0), 8)
            share = np.array([float((everything >= t).mean()) for t in live.grid] + [0.0])
            found = share[live.lowest[0]]
            full = found if audit == 1.0 else full
            part = found.mean() / full.mean()
            error = part * math.hypot(*(each.std() / each.mean() for each in (found, full))) / math.sqrt(runs)
            cells.append(
                f"audits {100 * audit:3.0f} %: {found.mean():.3f} ({live.labels.mean():,.0f} labels), "
                f"{part:.3f} of full labels (standard error {error:.3f})"
            )
        print(f"{name:12} {'   '.join(cells)}", flush=True)


def delay(runs: int) -> None:
    """Print how many weeks of 3,000 rows pass until a change is signalled, and until a violation is proved."""
    print(f"risk of all rows times a factor after 8 weeks; weeks to a signal, {LATEST} at most: median (nine tenths)")
    for audit in AUDITS[:2]:
        for factor in (1.0, 1.5, 2.0, 4.0):
            found, risks = np.array([_weeks(audit, factor, seed) for seed in range(runs)]), []
            before = found[:, 0] < 0
            risks = found[~before, 2]
            cells = []
            for k, name in ((0, "change"), (1, "violation")):
                weeks = found[~before, k]
                late = f", {100 * (weeks > LATEST).mean():.0f} % later" if (weeks > LATEST).any() else ""
                cells.append(f"{name} {np.median(weeks):.0f} ({np.quantile(weeks, 0.9, method='higher'):.0f}{late})")
            print(
                f"audits {100 * audit:3.0f} %, times {factor}: error rate of answers after it {risks.mean():.3f}; "
                f"{'; '.join(cells)}; signalled before the change: {before.sum()} of {runs}",
                flush=True,
            )


#: Weeks after a change that are counted.
LATEST = 26


def _weeks(audit: float, factor: float, seed: int) -> tuple[int, int, float]:
    """Return in which week after the change it was signalled, and a violation proved; and the error rate of then."""
    rng, live = (
        np.random.default_rng(seed),
        LiveCertificate(risk=LIMIT, thresholds=np.linspace(1, 0, 61)[1:], audit=audit),
    )
    weeks, risk = [LATEST + 1, LATEST + 1], math.nan
    for week in range(-8, LATEST):
        score, threshold = rng.random(3000), live.threshold if live.groups[""].violated_at is None else math.inf
        wrong = rng.random(3000) < 0.3 * (1 - score) ** 1.5 * (factor if week >= 0 else 1.0)
        if week == 0:
            risk = 0.12 * (1 - threshold) ** 1.5 * factor
        chance = np.where(score >= threshold, audit, 1.0)
        drawn = rng.random(3000) < chance
        now = live.update(score, np.where(drawn, wrong, np.nan), label_probability=chance, drawn=drawn).groups[""]
        live.policy(score="score")
        for k, at in enumerate((now.changed_at, now.violated_at)):
            weeks[k] = min(weeks[k], week + 1) if at is not None else weeks[k]
        if max(weeks) <= LATEST:
            break
    return weeks[0], weeks[1], risk


def speed() -> None:
    """Print the time of a million rows and of one row after them, and the size of the file after many calls."""
    rng = np.random.default_rng(0)
    live = LiveCertificate(risk=LIMIT, scores=rng.random(2000))
    score = rng.random(1_000_000)
    loss = (rng.random(len(score)) < 0.3 * (1 - score) ** 1.5).astype(float)
    begin = time.perf_counter(), time.process_time()
    live.update(score, loss)
    middle = time.perf_counter(), time.process_time()
    for k in range(200):
        live.update([0.5 + k / 1000], [0.0])
    end = time.perf_counter(), time.process_time()
    wall, own = (f"{middle[k] - begin[k]:.2f} s, one row after them {5 * (end[k] - middle[k]):.2f} ms" for k in (0, 1))
    print(f"{len(live.thresholds)} thresholds; a million rows: {wall} by the clock; {own} of the processor")
    for k in range(1400):
        score = rng.random(100)
        names = [f"{k}-{row}" for row in range(100)] if k >= 700 else None
        live.update(score, (rng.random(100) < 0.3 * (1 - score) ** 1.5).astype(float), ids=names)
    with tempfile.TemporaryDirectory() as folder:
        live.save(Path(folder) / "live.json")
        size = (Path(folder) / "live.json").stat().st_size / 1000
        print(f"file after 1,600 calls, half of them with names: {size:.0f} kB")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["violations", "compare", "coverage", "audits", "delay", "speed"])
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--days", type=int, default=200)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--cell", choices=[*POPULATIONS, *WAYS], action="append")
    parser.add_argument("--output", type=Path, default=Path("live-runs"))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--data", type=Path, help="folder of saved outputs, for coverage")
    given = parser.parse_args()
    print(f"abstain {abstain.__version__}")
    names = given.cell or [*POPULATIONS, *WAYS]
    if given.what == "coverage":
        coverage(given.data, given.runs)
    elif given.what == "audits":
        audits(given.runs)
    elif given.what == "delay":
        delay(given.runs)
    elif given.what == "speed":
        speed()
    elif given.what == "compare":
        compare(names, given.streams, given.days, given.rows)
    else:
        violations(names, given.streams, given.days, given.rows, given.output)


if __name__ == "__main__":
    main()
