"""One table per setting: every objective beside further cross-entropy from the same start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.training._differences import Measure, table
from experiments.training._jobs import Job

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
    """Return a table per setting, of what is finished."""
    parts = []
    for setting in dict.fromkeys(job.setting for job in jobs):
        here = [job for job in jobs if job.setting == setting]
        for prefix in dict.fromkeys(job.model.rpartition("-")[0] for job in here):
            start = f"{prefix}-" if prefix else ""
            names = [m for m in dict.fromkeys(job.model for job in here) if m.rpartition("-")[0] == prefix]
            order = [f"{start}ce", *(name for name in names if name != f"{start}ce")]
            own = {f"{start}{name}": score for name, score in OWN.items()}
            text = table(output / setting.name, f"{start}ce", order, "test", MEASURES, score_of=own, paired=True,
                         digits=2)  # fmt: skip
            parts.append(f"**{setting.name}{f', {prefix}' if prefix else ''}**\n\n{text}")
    return "\n\n".join(parts)
