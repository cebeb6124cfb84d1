"""CWSA and CWSA+ of each network over the thresholds that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.training._differences import Measure, opened, table
from experiments.training._jobs import Job

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
#: The paper divides by the accepted samples.
MEASURES = (
    Measure("errors, %", "selective_risk(coverage=1.0)", scale=100.0),
    Measure("AURC x 1000", "aurc", scale=1e3),
    *(Measure(f"CWSA at {tau:g}", f"cwsa(threshold={tau:g})") for tau in THRESHOLDS),
    *(Measure(f"CWSA+ at {tau:g}", f"cwsa_plus(threshold={tau:g})") for tau in THRESHOLDS),
)


def tables(output: Path, jobs: Sequence[Job]) -> str:
    """Return a table per data set, of what is finished."""
    parts = []
    for name in dict.fromkeys(job.setting.name for job in jobs):
        if opened(output / name) is not None:
            text = table(output / name, "cwsa_cnn", ["cwsa_cnn"], "test", MEASURES, digits=3)
            parts.append(f"**{name}**\n\n{text}")
    return "\n\n".join(parts)
