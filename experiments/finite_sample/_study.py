"""The study itself: all models, losses, scores and sizes, as a list of records."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from abstain import rank_weight_bias, rank_weights
from abstain._files import write_file
from abstain._typing import FloatArray
from experiments.finite_sample._estimates import (
    ESTIMATORS,
    batches,
    estimate,
    population_value,
    reweighted_value,
    summarise,
)
from experiments.finite_sample._sources import Source
from experiments.finite_sample._theory import expected_estimate, fit_rate, weight_mse_given_percentile

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
    """Return AURC_a next to AURC_p of every model and loss, by MSP."""
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


def weight_errors(score: FloatArray, size: int, rounds: int, cells: int = 24, seed: int = 0) -> dict[str, FloatArray]:
    """Bias and squared error of the weights by population percentile and by rank: measured in batches, and theory's.

    Cells of percentiles are narrower towards the top, where the weights are steep; theory is averaged over them, too.
    """
    n = len(score)
    percentile = np.empty(n)
    percentile[np.argsort(score, kind="stable")] = (np.arange(n) + 0.5) / n
    rows = np.concatenate(list(batches(n, size, rounds, np.random.default_rng(seed))))
    beta = np.sort(percentile[rows], axis=1)
    alpha = -np.log1p(-beta)
    inner = 1.0 - (1.0 - np.arange(1, cells) / cells) ** 2

    def by_cell(at: FloatArray, values: FloatArray) -> FloatArray:
        cell = np.searchsorted(inner, at.ravel(), side="right")
        count = np.bincount(cell, minlength=cells)
        total = np.bincount(cell, values.ravel(), minlength=cells)
        mean: FloatArray = np.divide(total, count, out=np.full(cells, np.nan), where=count > 0)
        return mean

    every = (np.arange(n) + 0.5) / n
    found = {"beta": by_cell(every, every)}
    for name in ("harmonic", "log", "sele"):
        error = rank_weights(size, name) - alpha
        found[f"{name} bias"] = by_cell(beta, error)
        found[f"{name} bias theory"] = by_cell(every, rank_weight_bias(size, every, name))
        if name != "sele":
            found[f"{name} mse"] = by_cell(beta, error**2)
            found[f"{name} mse theory"] = by_cell(every, weight_mse_given_percentile(size, every, name))
    found["mse_by_rank"] = np.mean((rank_weights(size, "harmonic") - alpha) ** 2, axis=0)
    return found


def finite_rmse(rows: Sequence[Record], population: int) -> FloatArray:
    """Root mean squared errors, corrected for drawing from a finite population.

    Batches without replacement vary less than samples from an endless population, by the factor 1 - n/N.
    """
    variance = np.array([each.sd**2 / (1.0 - each.size / population) for each in rows])
    return np.asarray(np.sqrt(variance + np.array([each.bias for each in rows]) ** 2))


def rates(records: Sequence[Record], sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Fit the rate of the plug-ins' root mean squared error from n = 32 on, of every model and loss by MSP."""
    length = {(source.family, source.model): len(source.scores["MSP"]) for source in sources}
    cells: dict[tuple[str, str, str, str], list[Record]] = {}
    for each in records:
        if each.score == "MSP" and each.estimator in ("harmonic", "log") and each.size >= 32:
            cells.setdefault((each.family, each.model, each.loss, each.estimator), []).append(each)
    found = []
    for (family, model, loss, estimator), rows in cells.items():
        if len(rows) >= 3:
            rate = fit_rate(np.array([float(each.size) for each in rows]), finite_rmse(rows, length[family, model]))
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
