"""Several Parquet files as one: a pattern or a folder, counted file by file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from glob import has_magic
from pathlib import Path
from typing import Any

import abstain.outputs
from abstain.cli._input import about, understood


def is_several(file: Path) -> bool:
    """Whether a path is a pattern, or a folder with Parquet files."""
    if file.is_dir():
        return next(file.rglob("*.parquet"), None) is not None
    return has_magic(os.fspath(file)) and not file.exists()


def refuse_rows(file: Path, gate: Mapping[str, Any], fit: Path | None) -> None:
    """Refuse by name what an evaluation of counts cannot have, since it needs rows."""
    if fit is not None:
        raise ValueError(f"{file}: --fit computes scores of rows in memory; write the score to a column")
    if gate["against"] is not None and Path(gate["against"]).suffix != ".json":
        raise ValueError(f"{file}: --against pairs rows in memory; compare with a result that was saved by --json")


def threshold_of_files(
    file: Path, columns: dict[str, Any], by: list[str], objective: dict[str, Any], apart: Mapping[str, Any],
    scored: Callable[[Any], abstain.policy.ScoreReading],
) -> tuple[Any, abstain.policy.ScoreReading]:  # fmt: skip
    """Return the threshold chosen on all files, and how a policy comes by the score.

    ``apart``: what needs rows; ``scored`` says how the score of rows is had.
    """
    _refuse_rows(file, apart)
    told = {name: value for name, value in columns.items() if value is not None}
    with about(file):
        source = abstain.outputs.parts_of(os.fspath(file))
        assert source is not None
        first = abstain.outputs.first_of(source, by, told)
        understood.append(f"{file}: of the first rows: {abstain.outputs.sentence(first.understood())}")
        how = scored(first)
        computed = how.score if "probabilities" in (how.inputs or {}) else None
        own = abstain.policy.OWN["probabilities"]  # which engines and policies compute to the same bit
        if computed is not None and (computed not in own or computed in source.first.columns()):
            why = "is a column too" if computed in own else f"is not {' or '.join(own)}"
            raise ValueError(f"score {computed!r} {why}; write it to a column of its own, named with confidence=")
        name = told.pop("confidence", None) if computed is None else computed
        told |= {"confidence": name, "groups": by[0] if by else None, "nan_policy": "reject"}
        found = abstain.choose_threshold(frame=os.fspath(file), **told, **objective)
    return found, how


def comparison_of_files(
    file: Path, scores: list[str], columns: dict[str, Any], apart: Mapping[str, Any], **options: Any
) -> Any:
    """Return the comparison of scores that stand side by side in all files; ``apart``: what needs rows."""
    _refuse_rows(file, apart)
    if len(scores) < 2:
        raise ValueError(f"{file}: name two columns with --scores; of many files, scores are compared side by side")
    told = {name: value for name, value in columns.items() if value is not None}
    with about(file):
        return abstain.compare(told.pop("loss", None), scores, frame=os.fspath(file), **told, **options)


def _refuse_rows(file: Path, apart: Mapping[str, Any]) -> None:
    for option, given in apart.items():
        if given:
            raise ValueError(f"{file}: {option} needs rows in memory, and counts come back of these; give one file")
