"""One table per setting: every objective next to further cross-entropy from the same start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from abstain._files import write_text
from experiments.training._differences import FIELDS, Measure, measured, table
from experiments.training._jobs import Job
from experiments.training._numbers import as_csv

#: Areas x 1000.
MEASURES = (
    Measure("errors, %", "selective_risk(coverage=1.0)", scale=100.0),
    Measure("AURC", "aurc", scale=1e3),
    Measure("AUGRC", "augrc", scale=1e3),
    Measure("AURC, cross-entropy", "aurc", "cross_entropy", 1e3),
    Measure("AUGRC, cross-entropy", "augrc", "cross_entropy", 1e3),
)
#: Rows that learn a confidence of their own are ranked by it.
OWN = {"deep_gamblers": "reservation", "devries": "learned_confidence", "confidnet": "learned_confidence"}


def tables(output: Path, jobs: Sequence[Job]) -> str:
    """Return a table per setting, of what is finished, and write its numbers next to it."""
    numbers: list[dict[str, Any]] = []
    for name in dict.fromkeys(job.setting.name for job in jobs):
        models = list(dict.fromkeys(job.model for job in jobs if job.setting.name == name))
        for prefix in dict.fromkeys(_prefix(model) for model in models):
            here = [f"{prefix}ce", *(each for each in models if _prefix(each) == prefix and each != f"{prefix}ce")]
            own = {f"{prefix}{each}": score for each, score in OWN.items()}
            numbers += measured(output / name, f"{prefix}ce", here, "test", MEASURES, score_of=own, paired=True)
    write_text(output / "numbers.csv", as_csv(numbers, FIELDS))
    return shown(numbers)


def shown(numbers: Sequence[Mapping[str, Any]]) -> str:
    """Return a table per setting and network of numbers."""
    parts = []
    for name, prefix in dict.fromkeys((row["setting"], _prefix(row["model"])) for row in numbers):
        here = [row for row in numbers if (row["setting"], _prefix(row["model"])) == (name, prefix)]
        title = f"{name}, {prefix[:-1]}" if prefix else name
        parts.append(f"**{title}**\n\n{table(here, f'{prefix}ce', MEASURES, digits=2)}")
    return "\n\n".join(parts)


def _prefix(model: str) -> str:
    """Return the name of the network with a hyphen, where there is one: ``resnet18-``."""
    before, hyphen, _ = model.rpartition("-")
    return before + hyphen
