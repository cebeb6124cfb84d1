"""The study itself: all models, losses, scores and sizes, as a list of records."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recuse._files import write_file
from recuse._typing import FloatArray
from recuse.metrics import rank_weights
from recuse.nn.finite_sample._estimates import (
    ESTIMATORS,
    batches,
    estimate,
    population_value,
    reweighted_value,
    summarise,
    tie_averaged,
)
from recuse.nn.finite_sample._sources import Source
from recuse.nn.finite_sample._theory import expected_estimate, fit_rate

SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class Record:
    """One estimator on batches of one size of one population."""

    family: str
    model: str
    loss: str
    score: str
    size: int
    estimator: str
    population: float
    mean: float
    sd: float
    bias: float
    bias_se: float
    bias_theory: float
    mae: float
    mse: float
    mse_se: float
    batches: int
    above_twice_sele: float


def run(sources: Sequence[Source], *, sizes: Sequence[int] = SIZES, rounds: int = 20, seed: int = 0) -> list[Record]:
    """Return records for the MSP at all sizes and for the other scores at 128."""
    found: list[Record] = []
    for number, source in enumerate(sources):
        rng = np.random.default_rng([seed, number])
        for score_name, score in source.scores.items():
            usable = [size for size in sizes if size <= len(score) // 4]
            for size in usable if score_name == "MSP" else [size for size in usable if size == 128]:
                found += _records(source, score_name, score, size, rounds, rng)
    return found


def _records(
    source: Source, score_name: str, score: FloatArray, size: int, rounds: int, rng: np.random.Generator
) -> list[Record]:
    values = estimate(source.losses, score, size, rounds, rng)
    found = []
    for loss_name, loss in source.losses.items():
        population = population_value(loss, score)
        above = float(np.mean(values[loss_name, "harmonic"] > values[loss_name, "2 x SELE"] * (1.0 + 1e-12)))
        for name in ESTIMATORS:
            summary = summarise(values[loss_name, name], population, rounds)
            theory = expected_estimate(loss, score, size, name) - population
            found.append(
                Record(
                    source.family, source.model, loss_name, score_name, size, name, population,
                    bias_theory=theory, above_twice_sele=above, **summary._asdict(),
                )
            )  # fmt: skip
    return found


def equality(sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return AURC_a beside AURC_p of every model and loss, by MSP."""
    return [
        {
            "family": source.family,
            "model": source.model,
            "loss": name,
            "aurc_p": population_value(loss, source.scores["MSP"]),
            "aurc_a": reweighted_value(loss, source.scores["MSP"]),
        }
        for source in sources
        for name, loss in source.losses.items()
    ]


def weight_errors(score: FloatArray, size: int, rounds: int, cells: int = 20, seed: int = 0) -> dict[str, FloatArray]:
    """Measure bias and squared error of the weights in batches, by population percentile and by rank in the batch."""
    n = len(score)
    percentile = np.empty(n)
    percentile[np.argsort(score, kind="stable")] = (np.arange(n) + 0.5) / n
    rng = np.random.default_rng(seed)
    edges = np.linspace(0.0, 1.0, cells + 1)
    count = np.zeros(cells)
    sums = {name: np.zeros((2, cells)) for name in ("harmonic", "log", "sele")}
    target, by_rank, turns = np.zeros(cells), np.zeros(size), 0
    for rows in batches(n, size, rounds, rng):
        beta = np.sort(percentile[rows], axis=1)
        alpha = -np.log1p(-beta)
        cell = np.minimum((beta * cells).astype(int), cells - 1).ravel()
        count += np.bincount(cell, minlength=cells)
        target += np.bincount(cell, beta.ravel(), minlength=cells)
        for name, total in sums.items():
            weight = tie_averaged(beta, rank_weights(size, name))  # type: ignore[arg-type]
            error = (weight - alpha).ravel()
            total += [np.bincount(cell, each, minlength=cells) for each in (error, error**2)]
        by_rank += np.sum((rank_weights(size, "harmonic") - alpha) ** 2, axis=0)
        turns += len(rows)
    return {
        "edges": edges,
        "beta": target / count,
        "mse_by_rank": by_rank / turns,
        **{f"{name} bias": total[0] / count for name, total in sums.items()},
        **{f"{name} mse": total[1] / count for name, total in sums.items()},
    }


def rates(records: Sequence[Record], sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Fit the rate of the plug-in's root mean squared error, corrected for drawing from a finite population.

    Batches without replacement vary less than samples from an endless population, by the factor 1 - n/N.
    """
    length = {(source.family, source.model): len(source.scores["MSP"]) for source in sources}
    found = []
    for family, model, loss in dict.fromkeys((each.family, each.model, each.loss) for each in records):
        for estimator in ("harmonic", "log"):
            rows = [
                each
                for each in records
                if (each.family, each.model, each.loss) == (family, model, loss)
                and each.score == "MSP"
                and each.estimator == estimator
                and each.size >= 32
            ]
            if len(rows) < 3:
                continue
            n = np.array([float(each.size) for each in rows])
            variance = np.array([each.sd**2 for each in rows]) / (1.0 - n / length[family, model])
            rmse = np.sqrt(variance + np.array([each.bias for each in rows]) ** 2)
            rate = fit_rate(n, rmse)
            found.append({"family": family, "model": model, "loss": loss, "estimator": estimator, **rate._asdict()})
    return found


def save(folder: Path, records: Sequence[Record], **tables: Any) -> None:
    """Write the records as CSV and everything else as JSON."""
    rows = [asdict(each) for each in records]

    def write(file: Any) -> None:
        import io

        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.DictWriter(text, rows[0])
        writer.writeheader()
        writer.writerows(rows)
        text.flush()
        text.detach()

    write_file(str(folder / "records.csv"), write)
    write_file(str(folder / "tables.json"), lambda file: file.write(json.dumps(tables, indent=1).encode()))
