"""Live certificates: how often any threshold that was declared on any day exceeds the limit, and what is certified.

    python -m benchmarks.live [violations compare coverage audits delay speed] [--full] [--data FOLDER] [--days N]

A policy is issued every day. A threshold counts as a violation if its true risk is *not below* the limit. Streams are
counted side by side with the bets and the closed test of the package (``benchmarks.live_streams``); ``compare`` sends a
few of them through the public class, too.
"""

import math
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import DATA, Form, command, say
from benchmarks.live_populations import DELTA, LIMIT, POPULATIONS, Draw, Rng, Shape
from benchmarks.live_streams import WAYS, Streams, cell, daily

import abstain
from abstain.live import LiveCertificate
from abstain.thresholds import _grid_bets as _bets

AUDITS = (1.0, 0.2, 0.05)
NAMES = (*POPULATIONS, *WAYS)


def violations(form: Form, days: int = 200, cells: tuple[str, ...] = NAMES) -> None:
    """The share of streams with a violation for every population and share of audits."""
    many, rows = form(2000, 100), 100
    say(f"limit {LIMIT}, delta {DELTA}, {days} days of {rows} rows; violated on any day, with standard error")
    for name in cells:
        for audit in AUDITS:
            share = cell(name, audit, days, rows, (many, 0), 20261126)[0].mean()
            error = math.sqrt(max(share * (1 - share), DELTA * (1 - DELTA)) / many)
            say(f"{name:36} audits {100 * audit:3.0f} %: {100 * share:5.2f} % ({100 * error:.2f}) of {many}")


def compare(form: Form, days: int = 200, cells: tuple[str, ...] = NAMES) -> None:
    """Count streams through the public class, too: on how many days both certify the same thresholds."""
    many = form(2, 1)
    for name in cells:
        found = [cell(name, audit, days, 100, (many, many), 4)[1] for audit in AUDITS]
        equal, different = sum(each.equal for each in found), sum(each.different for each in found)
        say(f"{name:36} days of {many} streams: {equal:,} equal, {different} different")


def resampled(score: np.ndarray, loss: np.ndarray) -> Draw:
    """Return a stream of rows that are drawn from a file with replacement."""

    def draw(n: Shape, rng: Rng) -> dict[str, Any]:
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


def coverage(form: Form, data: Path = DATA) -> None:
    """Mean coverages of a live certificate beside certificates of one day, and of one at delta / 40."""
    runs = form(60, 3)
    streams = {name: (POPULATIONS[name].draw, LIMIT) for name in ("smooth", "like MMLU", "six levels")}
    if data != Path():
        streams |= {name: (draw, LIMIT) for name, draw in real(data).items()}
        streams["credit, 15 %"] = streams["credit"][0], 0.15
    say(f"delta {DELTA}; mean coverage after n rows of a live certificate / one of that day / one of it at delta/40")
    short = {}
    for name, (draw, limit) in streams.items():
        rng = np.random.default_rng(7)
        everything = draw(200_000, rng)["confidence"]
        grid = _bets.grid_of(draw(2000, rng)["confidence"], None)
        share = shares(everything, grid)
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
        say(f"{name:12} {cells}")
    below = np.mean([each for name, each in short.items() if name != "credit, 15 %"], axis=0)
    say("below one day, in the mean over populations at 5 %: " + ", ".join(f"{each:.3f}" for each in below))


def shares(scores: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Return the coverage of each threshold, and 0 for none."""
    return np.array([float((scores >= t).mean()) for t in grid] + [0.0])


def one_day(score: np.ndarray, loss: np.ndarray, grid: np.ndarray, limit: float, delta: float) -> int:
    """Return the position of the threshold that a certificate of one day chooses on the grid; -1 if none."""
    steps = np.append(grid, grid[-1] - 1.0)[_bets.cells(grid, score)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows of a file come twice in a stream
        found = abstain.choose_threshold(loss, steps, risk=limit, delta=delta).threshold
    return -1 if found > grid[0] else int(_bets.cells(grid, np.array([found]))[0])


def audits(form: Form) -> None:
    """The coverage after 20,000 rows with audits of what is answered, and how many labels were spent."""
    runs = form(2000, 10)
    for name in ("smooth", "like MMLU", "six levels"):
        population, cells, full = POPULATIONS[name], [], np.ones(1)
        everything = population.draw(200_000, np.random.default_rng(1))["confidence"]
        for audit in AUDITS:
            _, live = daily(population, audit, 40, 500, (runs, 0), 8)
            found = shares(everything, live.grid)[live.lowest[0]]
            full = found if audit == 1.0 else full
            part = found.mean() / full.mean()
            error = part * math.hypot(*(each.std() / each.mean() for each in (found, full))) / math.sqrt(runs)
            said = f"{found.mean():.3f} ({live.labels.mean():,.0f} labels), {part:.3f} of full labels"
            cells.append(f"audits {100 * audit:3.0f} %: {said} (standard error {error:.3f})")
        say(f"{name:12} {'   '.join(cells)}")


#: Weeks after a change that are counted.
LATEST = 26


def delay(form: Form) -> None:
    """Weeks of 3,000 rows until a change is signalled, and until a violation is proved."""
    runs = form(200, 3)
    say(f"risk of all rows times a factor after 8 weeks; weeks to a signal, {LATEST} at most: median (nine tenths)")
    for audit in AUDITS[:2]:
        for factor in (1.0, 1.5, 2.0, 4.0):
            found = np.array([weeks_to_both(audit, factor, seed) for seed in range(runs)])
            before, cells = found[:, 0] < 0, []
            for k, name in ((0, "change"), (1, "violation")):
                weeks = found[~before, k]
                late = f", {100 * (weeks > LATEST).mean():.0f} % later" if (weeks > LATEST).any() else ""
                cells.append(f"{name} {np.median(weeks):.0f} ({np.quantile(weeks, 0.9, method='higher'):.0f}{late})")
            said = f"error rate of answers after it {found[~before, 2].mean():.3f}; {'; '.join(cells)}"
            early = f"signalled before the change: {before.sum()} of {runs}"
            say(f"audits {100 * audit:3.0f} %, times {factor}: {said}; {early}")


def weeks_to_both(audit: float, factor: float, seed: int) -> tuple[int, int, float]:
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


def speed(form: Form) -> None:
    """The time of a million rows and of one row after them, and the size of the file after many calls."""
    rng = np.random.default_rng(0)
    live = LiveCertificate(risk=LIMIT, scores=rng.random(2000))
    score = rng.random(1_000_000)
    loss = (rng.random(len(score)) < 0.3 * (1 - score) ** 1.5).astype(float)
    begin = time.process_time()
    live.update(score, loss)
    middle = time.process_time()
    for k in range(200):
        live.update([0.5 + k / 1000], [0.0])
    one = 5 * (time.process_time() - middle)
    say(f"{len(live.thresholds)} thresholds; a million rows: {middle - begin:.2f} s, one row after them {one:.2f} ms")
    for k in range(1400):
        score = rng.random(100)
        names = [f"{k}-{row}" for row in range(100)] if k >= 700 else None
        live.update(score, (rng.random(100) < 0.3 * (1 - score) ** 1.5).astype(float), ids=names)
    with tempfile.TemporaryDirectory() as folder:
        live.save(Path(folder) / "live.json")
        size = (Path(folder) / "live.json").stat().st_size / 1000
    say(f"file after 1,600 calls, half of them with names: {size:.0f} kB")


if __name__ == "__main__":
    command(__doc__, violations, compare, coverage, audits, delay, speed)
