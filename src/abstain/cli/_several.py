"""Several Parquet files as one: a pattern or a folder, counted file by file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from glob import has_magic
from pathlib import Path
from typing import Any

import abstain


def is_several(file: Path) -> bool:
    """Whether a path is a pattern, or a folder with Parquet files."""
    if file.is_dir():
        return next(file.rglob("*.parquet"), None) is not None
    return has_magic(os.fspath(file)) and not file.exists()


def of_files(
    file: Path, gate: Mapping[str, Any], metrics: Any, fit: Path | None, n_resamples: int, told: dict[str, Any]
) -> Any:
    """Return the evaluation of all files; what needs rows is refused by name."""
    if fit is not None:
        raise ValueError(f"{file}: --fit computes scores of rows in memory; write the score to a column")
    if gate["against"] is not None and Path(gate["against"]).suffix != ".json":
        raise ValueError(f"{file}: --against pairs rows in memory; compare with a result that was saved by --json")
    from abstain.cli._input import about

    with about(file):
        return abstain.evaluate(os.fspath(file), metrics=metrics, n_resamples=n_resamples, **told)
