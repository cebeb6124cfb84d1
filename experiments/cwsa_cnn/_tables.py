"""CWSA and CWSA+ of each network over the thresholds that the paper prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from abstain._files import write_text
from experiments.training._differences import FIELDS, Measure, measured, table
from experiments.training._jobs import Job
from experiments.training._numbers import as_csv

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
#: The paper divides by the accepted samples.
MEASURES = (
    Measure("errors, %", "selective_risk(coverage=1.0)", scale=100.0),
    Measure("AURC x 1000", "aurc", scale=1e3),
    *(Measure(f"CWSA at {tau:g}", f"cwsa(threshold={tau:g})") for tau in THRESHOLDS),
    *(Measure(f"CWSA+ at {tau:g}", f"cwsa_plus(threshold={tau:g})") for tau in THRESHOLDS),
)


def tables(output: Path, jobs: Sequence[Job]) -> str:
    """Return a table per data set, of what is finished, and write its numbers beside it."""
    names = dict.fromkeys(job.setting.name for job in jobs)
    numbers = [row for name in names for row in measured(output / name, "cwsa_cnn", ["cwsa_cnn"], "test", MEASURES)]
    write_text(output / "numbers.csv", as_csv(numbers, FIELDS))
    return shown(numbers)


def shown(numbers: Sequence[Mapping[str, Any]]) -> str:
    """Return a table per data set of numbers."""
    parts = []
    for name in dict.fromkeys(row["setting"] for row in numbers):
        here = [row for row in numbers if row["setting"] == name]
        parts.append(f"**{name}**\n\n{table(here, 'cwsa_cnn', MEASURES, digits=3)}")
    return "\n\n".join(parts)
