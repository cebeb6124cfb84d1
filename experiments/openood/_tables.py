"""Rows compared with cross-entropy: alone, under corruption, and with OOD data; differences with intervals."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from abstain._files import write_text
from experiments.openood._numbers import numbers
from experiments.training._differences import Measure, half_width, markdown, measured, sign, squared_error, table
from experiments.training._jobs import Job

#: Per cent, and areas x 1000, as the papers print them.
MEASURES = (
    Measure("errors, %", "selective_risk(coverage=1.0)", scale=100.0),
    Measure("AURC", "aurc", scale=1e3),
    Measure("AUGRC", "augrc", scale=1e3),
    Measure("coverage at 5 % risk, %", "coverage_at_risk(risk=0.05)", scale=100.0),
)


def labelled(part: str) -> tuple[tuple[str, str, float], ...]:
    """Return the columns of a table of labelled data: ``test``, or the mean over levels of ``corruption``."""
    return (
        ("errors, %", f"{part} errors", 100.0), ("AURC", f"{part} aurc", 1e3), ("AUGRC", f"{part} augrc", 1e3),
        ("coverage at 5 % risk, %", f"{part} coverage", 100.0),
    )  # fmt: skip


def beside(score: str) -> tuple[tuple[str, str, float], ...]:
    """Return the columns of a table with OOD data: detector alone, then paired with the maximum probability."""
    return tuple(
        (f"{label} {group}", f"{group} {metric} {score}", scale)
        for label, metric, scale in (("AUROC", "auroc", 100.0), ("AUGRC", "augrc", 1e3), ("DS-F1", "ds_f1", 100.0),
                                     ("DS-AURC", "ds_aurc", 1e3))
        for group in ("near", "far")
    )  # fmt: skip


def tables(output: Path, jobs: Sequence[Job]) -> str:
    """Return the tables of what is finished, and write every number next to them."""
    found = numbers(output, jobs)
    lines = ["setting,model,seed,quantity,value"]
    lines += [f"{row['setting']},{row['model']},{row['seed']},{row['quantity']},{row['value']!r}" for row in found]
    write_text(output / "numbers.csv", "\n".join(lines) + "\n")
    parts = []
    for name in dict.fromkeys(job.setting.name for job in jobs):
        here = [row for row in found if row["setting"] == name]
        if not here:
            continue
        models = list(dict.fromkeys(job.model for job in jobs if job.setting.name == name))
        parts.append(f"**{name}: test set** (intervals: test set, and training where there are several seeds)\n")
        parts.append(table(measured(output / name, "ce", models, "test", MEASURES), "ce", MEASURES))
        parts.append(f"\n**{name}: corruptions**, a metric per level, then the mean of the five\n")
        parts.append(by_seeds(here, models, labelled("corruption")))
        for score in ("msp", "knn", "vim"):
            with_it = " and msp" if score != "msp" else ""
            lack = (
                "; rows where features leave nothing outside the principal subspace have none" if score == "vim" else ""
            )
            parts.append(f"\n**{name}: with OOD data**, {score}; DS: {score}{with_it}{lack}\n")
            parts.append(by_seeds(here, models, beside(score)))
        parts.append("")
    return "\n".join(parts)


def read(file: Path) -> list[dict[str, object]]:
    """Read the numbers that :func:`tables` wrote; ValueError where one is there twice, as two seeds would be."""
    with file.open(encoding="utf-8", newline="") as stream:
        rows = [{**row, "value": float(row["value"])} for row in csv.DictReader(stream)]
    seen: set[tuple[object, ...]] = set()
    for row in rows:
        key = tuple(row[name] for name in ("setting", "model", "seed", "quantity"))
        if key in seen:
            raise ValueError(f"{file} holds {', '.join(map(str, key))} twice; keep one of the lines")
        seen.add(key)
    return rows


def by_seeds(
    rows: Sequence[dict[str, object]], models: Sequence[str], columns: Sequence[tuple[str, str, float]],
    bases: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """Return means over seeds and differences from cross-entropy; intervals are of training alone (Welch's t).

    ``bases`` names for some models another model to take the difference from.
    """
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        values.setdefault((str(row["model"]), str(row["quantity"])), []).append(float(row["value"]))  # type: ignore[arg-type]
    quantities = [quantity for _, quantity, _ in columns]
    here = [model for model in models if any((model, quantity) in values for quantity in quantities)]
    body = []
    for model in here:
        base = (bases or {}).get(model, "ce")
        beside_it = "" if base == model else base
        cells = [_cell(values.get((model, q), []), values.get((beside_it, q), []), scale) for _, q, scale in columns]
        counts = {len(values[model, quantity]) for quantity in quantities if (model, quantity) in values}
        body.append([model, " to ".join(str(each) for each in sorted({min(counts), max(counts)})), *cells])
    return markdown(["row", "seeds", *(label for label, _, _ in columns)], body)


def _cell(own: Sequence[float], base: Sequence[float], scale: float) -> str:
    if not own:
        return ""
    mean = float(np.mean(own)) * scale
    if not base:
        return f"{mean:.1f}"
    difference = mean - float(np.mean(base)) * scale
    half = welch(own, base) * scale
    if math.isnan(half):
        return f"{mean:.1f} ({difference:+.1f})"
    mark = "**" if sign(difference, half) else ""
    return f"{mean:.1f} ({mark}{difference:+.1f}{mark} ± {half:.1f})"


def welch(one: Sequence[float], two: Sequence[float], level: float = 0.95, df: float | None = None) -> float:
    """Return half the width of Welch's interval of a difference of means; NaN of a single value or no scatter.

    ``df`` takes the place of Welch's degrees of freedom.
    """
    parts = [squared_error(one), squared_error(two)]
    total = sum(parts)
    if not total > 0.0:
        return math.nan
    own = total**2 / sum(part**2 / (len(each) - 1) for part, each in zip(parts, (one, two), strict=True))
    return half_width(total, own if df is None else df, level)
