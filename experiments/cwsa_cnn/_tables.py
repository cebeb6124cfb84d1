"""Selective accuracy, CWSA with both denominators and CWSA+ of each network, over the thresholds of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from abstain._files import write_text
from experiments.training._differences import FIELDS, Measure, markdown, measured
from experiments.training._jobs import Job
from experiments.training._numbers import as_csv

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
#: Column -> metric. The paper's formula divides by what is accepted, its published numbers of CWSA by all samples.
OVER_THRESHOLDS = {
    "selective accuracy": "selective_accuracy(threshold={})",
    "CWSA": "cwsa(threshold={})",
    "CWSA, divided by all": "cwsa(threshold={},denominator=all)",
    "CWSA+": "cwsa_plus(threshold={})",
}
MEASURES = (
    Measure("errors, %", "selective_risk(coverage=1.0)", scale=100.0),
    Measure("AURC x 1000", "aurc", scale=1e3),
    *(Measure(f"{name} at {tau}", spec.format(tau)) for name, spec in OVER_THRESHOLDS.items() for tau in THRESHOLDS),
)


def tables(output: Path, jobs: Sequence[Job]) -> str:
    """Return a table per data set, of what is finished, and write its numbers next to it."""
    names = dict.fromkeys(job.setting.name for job in jobs)
    numbers = [row for name in names for row in measured(output / name, "cwsa_cnn", ["cwsa_cnn"], "test", MEASURES)]
    write_text(output / "numbers.csv", as_csv(numbers, FIELDS))
    return shown(numbers)


def shown(numbers: Sequence[Mapping[str, Any]]) -> str:
    """Return a table per data set of numbers: a row per threshold."""
    parts = []
    for name in dict.fromkeys(row["setting"] for row in numbers):
        values = {row["measure"]: row["value"] for row in numbers if row["setting"] == name}
        seeds = max(row["n"] for row in numbers if row["setting"] == name)
        body = [[str(tau), *(_cell(values[f"{column} at {tau}"]) for column in OVER_THRESHOLDS)] for tau in THRESHOLDS]
        whole = f"errors {100 * values['errors, %']:.1f} %, AURC x 1000 {1e3 * values['AURC x 1000']:.2f}"
        parts.append(
            f"**{name}**, means of {seeds} seeds: {whole}\n\n{markdown(['threshold', *OVER_THRESHOLDS], body)}"
        )
    return "\n\n".join(parts)


def _cell(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"  # nothing is accepted
