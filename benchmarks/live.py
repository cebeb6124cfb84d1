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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain.live import LiveCertificate
from abstain.thresholds import _grid_bets as _bets

LIMIT, DELTA = 0.05, 0.05
Draw = Callable[[int, np.random.Generator], dict[str, Any]]


@dataclass(frozen=True)
class Population:
    """A stream: ``draw`` gives score, loss and what else a row has; ``risk(threshold, group)`` is the truth.

    ``by_day``: rows of a day have an order of their own, so days of several streams cannot be drawn at once.
    """

    draw: Draw
    risk: Callable[[float, str], float]
    thresholds: np.ndarray
    options: dict[str, Any]
    by_day: bool = False


def by_steps(levels: list[float], share: list[float], error: list[float], draw_loss: Any = None) -> Population:
    """Return a population with a few score levels, each with its share and error rate."""
    level, part, wrong = np.array(levels), np.array(share) / np.sum(share), np.array(error)

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        at = rng.choice(len(level), n, p=part)
        return {"confidence": level[at], "loss": (rng.random(n) < wrong[at]).astype(float)}

    def risk(threshold: float, group: str = "") -> float:
        mine = level >= threshold
        return float((part * wrong)[mine].sum() / part[mine].sum())

    return Population(draw, risk, level, {})


def smooth(scale: float = 0.3, power: float = 1.5) -> Population:
    """Return uniform scores whose error rate is scale * (1 - score) ** power."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        return {"confidence": score, "loss": (rng.random(n) < scale * (1 - score) ** power).astype(float)}

    return Population(draw, lambda t, group="": scale * (1 - t) ** power / (power + 1), np.linspace(1, 0, 61)[1:], {})


def plateau() -> Population:
    """Return a risk that is the limit exactly at every threshold below the median of the scores."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        return {"confidence": score, "loss": (rng.random(n) < LIMIT).astype(float)}

    return Population(draw, lambda t, group="": LIMIT, np.linspace(1, 0, 61)[1:], {})


def like_mmlu() -> Population:
    """Return scores that crowd near one, with errors among the most confident."""
    levels = 1 - np.geomspace(1e-7, 0.7, 60)
    error = 0.025 + 0.45 * np.linspace(0, 1, 60) ** 2.2
    return by_steps(levels.tolist(), np.ones(60).tolist(), error.tolist())


def confident_errors() -> Population:
    """Return errors that lie in the most confident fiftieth and in the lower half."""
    level = np.linspace(0.99, 0.01, 50)
    error = np.where(np.arange(50) == 0, 0.6, np.where(np.arange(50) < 25, 0.02, 0.15))
    return by_steps(level.tolist(), [1.0] * 50, error.tolist())


def sorted_days() -> Population:
    """Return the plateau with the right rows of each day first."""
    base = plateau()

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        rows = base.draw(n, rng)
        order = np.argsort(rows["loss"], kind="stable")
        return {name: column[order] for name, column in rows.items()}

    return Population(draw, base.risk, base.thresholds, {}, by_day=True)


def graded() -> Population:
    """Return losses in [0, 2] with a mean at the limit below the median score."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        score = rng.random(n)
        mean = np.where(score > 0.5, 0.5 * LIMIT, 1.5 * LIMIT)
        return {"confidence": score, "loss": 2 * rng.beta(mean, 2 - mean)}

    def risk(t: float, group: str = "") -> float:
        return (0.5 * LIMIT * 0.5 + 1.5 * LIMIT * (0.5 - t)) / (1 - t) if t < 0.5 else 0.5 * LIMIT

    return Population(draw, risk, np.linspace(1, 0, 61)[1:], {"max_loss": 2.0})


def weighted() -> Population:
    """Return weights that go with errors, so that only the weighted risk is at the limit."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        score, heavy = rng.random(n), rng.random(n) < 0.2
        wrong = rng.random(n) < np.where(heavy, 0.1, 0.0375)  # (4 * .1 * .2 + .0375 * .8) / (4 * .2 + .8) = .06875
        fine = score > 0.4
        wrong &= ~fine | (rng.random(n) < LIMIT / 0.06875)
        return {"confidence": score, "loss": wrong.astype(float), "sample_weight": np.where(heavy, 4.0, 1.0)}

    def risk(t: float, group: str = "") -> float:
        return LIMIT if t >= 0.4 else (0.6 * LIMIT + (0.4 - t) * 0.06875) / (1 - t)

    return Population(draw, risk, np.linspace(1, 0, 61)[1:], {"max_weight": 4.0})


def grouped() -> Population:
    """Return three groups: below, at and above the limit."""
    rate = {"a": 0.02, "b": LIMIT, "c": 0.08}

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        names = rng.choice(list(rate), n)
        wrong = rng.random(n) < np.array([rate[name] for name in names])
        return {"confidence": rng.random(n), "loss": wrong.astype(float), "groups": names}

    return Population(draw, lambda t, group="": rate[group], np.linspace(1, 0, 21)[1:], {"groups": ("a", "b", "c")})


def clustered() -> Population:
    """Return clusters of 1 or 20 rows, in whole right or wrong: the risk of rows is at the limit."""

    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        size = np.where(rng.random(n) < 0.05, 20, 1)
        size = size[: int(np.searchsorted(np.cumsum(size), n)) + 1]
        wrong = rng.random(len(size)) < LIMIT
        number = np.repeat(np.arange(len(size)), size)
        name = [f"{rng.integers(1 << 60)}-{k}" for k in range(len(size))]
        return {
            "confidence": rng.random(len(number)),
            "loss": wrong[number].astype(float),
            "clusters": np.array(name)[number],
        }

    return Population(draw, lambda t, group="": LIMIT, np.linspace(1, 0, 21)[1:], {"max_cluster": 20})


POPULATIONS: dict[str, Callable[[], Population]] = {
    "smooth": smooth,
    "like MMLU": like_mmlu,
    "two levels": lambda: by_steps([0.9, 0.4], [1, 1], [0.03, 0.07]),
    "six levels": lambda: by_steps(
        [0.99, 0.95, 0.9, 0.8, 0.6, 0.3], [1, 1.5, 1.5, 2, 2, 2], [0.01, 0.03, 0.05, 0.09, 0.2, 0.4]
    ),
    "plateau at the limit": plateau,
    "sorted within days": sorted_days,
    "confident errors": confident_errors,
    "graded losses": graded,
    "weights": weighted,
    "groups": grouped,
    "clusters": clustered,
}
AUDITS = (1.0, 0.2, 0.05)


def stream(population: Population, audit: float, days: int, rows: int, rng: np.random.Generator) -> bool:
    """Return whether a threshold whose risk is not below the limit was declared on any day."""
    live = LiveCertificate(risk=LIMIT, delta=DELTA, thresholds=population.thresholds, **population.options)
    for _ in range(days):
        day = population.draw(rows, rng)
        limits = live.result().thresholds
        names = day.get("groups", np.full(len(day["loss"]), ""))
        answered = day["confidence"] >= np.array([limits[name] for name in names])
        chance = np.where(answered, audit, 1.0)
        drawn = rng.random(len(chance)) < chance
        loss = np.where(drawn, day.pop("loss"), np.nan)
        live.update(loss=loss, label_probability=chance, again=True, **day)
        live._issue(audit)
    return any(
        population.risk(threshold, name) >= LIMIT * (1 - 1e-9)
        for name, found in live.certified.items()
        for threshold in found
    )


def many(population: Population, audit: float, days: int, rows: int, streams: int, seed: int) -> int:
    """Return how many streams declare such a threshold: all at once, by the same bets and the same closed test."""
    rng = np.random.default_rng(seed)
    names = list(population.options.get("groups", [""]))
    grid = np.unique(population.thresholds)[::-1]
    n, bar = len(grid), math.log(len(names) / DELTA)
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
        high = np.where(certified, 0.0, value).max(axis=2) >= math.exp(bar)
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
    for name in names:
        for audit in AUDITS:
            file = output / f"{name.replace(' ', '-')}-{audit}-{streams}-{days}-{rows}.json"
            if not file.exists():
                population = POPULATIONS[name]()
                if one_by_one or population.by_day or "max_cluster" in population.options:
                    rngs = (np.random.default_rng([20261125, k]) for k in range(streams))
                    found = sum(stream(population, audit, days, rows, rng) for rng in rngs)
                else:
                    found = many(population, audit, days, rows, streams, 20261125)
                output.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps({"violated": found, "streams": streams}))
            kept = json.loads(file.read_text())
            share = kept["violated"] / kept["streams"]
            error = math.sqrt(max(share * (1 - share), DELTA * (1 - DELTA)) / kept["streams"])
            print(f"{name:22} audits {100 * audit:3.0f} %: {100 * share:5.2f} % ({100 * error:.2f})", flush=True)


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
    parser.add_argument("--cell", choices=list(POPULATIONS), action="append")
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
    violations(given.cell or list(POPULATIONS), given.streams, given.days, given.rows, given.output, given.one_by_one)


if __name__ == "__main__":
    main()
