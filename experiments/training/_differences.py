"""Rows of a study next to its baseline: paired differences whose intervals count training and the test set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t

import abstain
from abstain import scores as scores_
from abstain.blocks import TieBlocks
from abstain.losses import cross_entropy
from abstain.metrics import parse
from abstain.outputs import Outputs
from abstain.study import Study, read_study

#: Differences below are rounding: numbers are shares and areas, at most x 1000.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Measure:
    """One number per run: a metric of a score's ranking of a loss."""

    name: str
    metric: str
    loss: str = "error"  # or cross_entropy
    scale: float = 1.0


def squared_error(values: Sequence[float]) -> float:
    """Return the squared standard error of a mean over seeds; NaN of one value, 0 of equal ones."""
    if len(values) < 2:
        return math.nan
    return float(np.var(values, ddof=1)) / len(values) if np.ptp(values) > ROUNDING else 0.0


def half_width(squared: float, df: float, level: float = 0.95) -> float:
    """Return half the width of a t interval; NaN where no scatter was seen: that is no sign that there is none."""
    return float(t.ppf(0.5 + level / 2.0, df)) * math.sqrt(squared) if squared > 0.0 else math.nan


def sign(middle: float, half: float) -> int:
    """Return 1 or -1 where an interval lies above or below zero, 0 where it does not tell (or is NaN)."""
    return int(np.sign(middle)) if abs(middle) > half else 0


def right_enough(errors: float, bar: float) -> bool:
    """Return whether a share of errors reaches a bar of right ones; NaN does not."""
    return errors <= 1.0 - bar + ROUNDING


def opened(folder: Path) -> Study | None:
    """Return the study in a folder, if anything in it is finished."""
    return read_study(folder) if (folder / "study.json").exists() else None


@lru_cache(maxsize=64)
def outputs(folder: Path, model: str, seed: int, name: str) -> Outputs:
    """Read one file of outputs; the test set of a row is read once for all its numbers."""
    return read_study(folder).outputs(model, f"seed{seed}", name)


def seeds_of(study: Study, model: str) -> list[int]:
    """Return the seeds of a model that are finished."""
    return sorted(run.seed for run in study.runs if run.model == model)


def columns(found: Outputs, measure: Measure, score: str) -> tuple[Any, Any]:
    """Return loss and confidence of every sample."""
    loss = found.error if measure.loss == "error" else cross_entropy(found.labels, logits=found.logits)
    confidence = found.scores[score] if score in found.scores else scores_.compute(score, found)
    return np.asarray(loss, dtype=np.float64), np.asarray(confidence, dtype=np.float64)


def compared(
    folder: Path, base: str, models: Sequence[str], name: str, measure: Measure, *, score_of: Mapping[str, str],
    paired: bool,
) -> dict[str, Any]:  # fmt: skip
    """Return the mean of each model and its difference from the baseline, over the seeds that both have.

    ``paired``: the runs of one seed share their pre-training, so differences are taken seed by seed.
    """
    study = opened(folder)
    found: dict[str, Any] = {}
    if study is None:
        return found
    for model in models:
        seeds = [seed for seed in seeds_of(study, model) if model == base or seed in seeds_of(study, base)]
        if not seeds:
            continue
        losses, confidences = {}, {}
        for each in dict.fromkeys((model, base)):
            pairs = [
                columns(outputs(folder, each, seed, name), measure, score_of.get(each, "msp"))
                for seed in seeds
                if seed in seeds_of(study, each)
            ]
            losses[each], confidences[each] = (np.stack(column) for column in zip(*pairs, strict=True))
        found[model] = _row(losses, confidences, model, base, measure, len(seeds), paired)
    return found


def _row(
    losses: dict[str, Any], confidences: dict[str, Any], model: str, base: str, measure: Measure, n: int, paired: bool
) -> dict[str, Any]:
    if model == base:
        metric = parse(measure.metric)
        values = [metric(TieBlocks.from_samples(*pair)) for pair in zip(losses[base], confidences[base], strict=True)]
        return {"n": n, "value": float(np.mean(values)), "difference": math.nan, "low": math.nan, "high": math.nan}
    result = abstain.compare(losses, confidences, measure.metric, paired_runs=paired, adjust="none")
    each = result.difference(model, base)
    value = next(row["estimate"] for row in result.table if row["name"] == model)
    return {"n": n, "value": value, "difference": each.difference, "low": each.low, "high": each.high}


def cell(row: Mapping[str, Any] | None, scale: float, digits: int, base: bool) -> str:
    """Return a value, with the difference from the baseline and its interval."""
    if row is None:
        return ""
    text = f"{row['value'] * scale:.{digits}f}"
    if base or math.isnan(row["difference"]):
        return text
    low, high, middle = (row[name] * scale for name in ("low", "high", "difference"))
    mark = "**" if (low > 0.0 or high < 0.0) and row["n"] > 1 else ""  # of one seed, training is not known
    interval = f"{low:+.{digits}f} to {high:+.{digits}f}" if row["n"] > 1 else "one seed"
    return f"{text} ({mark}{middle:+.{digits}f}{mark}; {interval})"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


#: Columns of the numbers of a table.
FIELDS = ("setting", "model", "measure", "n", "value", "difference", "low", "high")


def measured(
    folder: Path, base: str, models: Sequence[str], name: str, measures: Sequence[Measure], *,
    score_of: Mapping[str, str] | None = None, paired: bool = False,
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the numbers of a table: one per model that is finished and measure."""
    return [
        {"setting": folder.name, "model": model, "measure": measure.name, **row}
        for measure in measures
        for model, row in compared(folder, base, models, name, measure, score_of=score_of or {}, paired=paired).items()
    ]


def table(numbers: Sequence[Mapping[str, Any]], base: str, measures: Sequence[Measure], digits: int = 1) -> str:
    """Return numbers as a table: a row per model, a column per measure."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in numbers:
        found.setdefault(row["model"], {})[row["measure"]] = row
    rows = [
        [model, str(max(row["n"] for row in own.values())),
         *(cell(own.get(m.name), m.scale, digits, model == base) for m in measures)]
        for model, own in found.items()
    ]  # fmt: skip
    return markdown(["row", "seeds", *(measure.name for measure in measures)], rows) if rows else "nothing is finished"
