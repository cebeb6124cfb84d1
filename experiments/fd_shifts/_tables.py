"""Tables 3 and 4 of the AUGRC paper: thirteen scores by shift, settings chosen by AUGRC or by AURC."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from abstain._files import write_text
from abstain.study import Grid, StudyResults, evaluate, select_settings
from abstain.study._grid import column_of
from experiments.training._differences import half_width, markdown, sign, squared_error
from experiments.training._jobs import Job
from experiments.training._numbers import as_csv

#: Name in the paper -> (family, score).
SCORES = {
    "MSR": ("confidnet", "msp"),
    "MLS": ("confidnet", "max_logit"),
    "PE": ("confidnet", "neg_entropy"),
    "MCD-MSR": ("confidnet", "pass_msp"),
    "MCD-PE": ("confidnet", "pass_neg_predictive_entropy"),
    "MCD-EE": ("confidnet", "pass_neg_expected_entropy"),
    "DG-MCD-MSR": ("deep_gamblers", "pass_msp"),
    "ConfidNet": ("confidnet", "learned_confidence"),
    "DG-Res": ("deep_gamblers", "reservation"),
    "Devries et al.": ("devries", "learned_confidence"),
    "TEMP-MLS": ("confidnet", "temp_msp"),
    "DG-PE": ("deep_gamblers", "neg_entropy"),
    "DG-TEMP-MLS": ("deep_gamblers", "temp_msp"),
}
METRICS = ("augrc", "aurc")
ERRORS = "selective_risk(coverage=1.0)"
#: What is kept of every number.
KEPT = ("data", "model", "seed", "set", "role", "shift", "id_failures", "score", "metric", "label", "direction", "n",
        "value")  # fmt: skip


def tables(output: Path, jobs: Sequence[Job]) -> str:
    """Return the tables of what is finished, and write every number next to them."""
    numbers: list[dict[str, Any]] = []
    for name in dict.fromkeys(job.setting.name for job in jobs):
        if name.endswith("_sub") or not (output / name / "study.json").exists():
            continue
        results = _measured(output / name)
        sub = output / f"{name}_sub"
        if (sub / "study.json").exists():
            results = _with(results, _measured(sub))
        numbers += results.numbers
    write_text(output / "numbers.csv", as_csv(numbers, KEPT))
    return shown(numbers)


class Chosen:
    """Numbers of one data set, with the settings of each score that each metric chose on validation."""

    def __init__(self, numbers: Sequence[dict[str, Any]], data: str) -> None:
        self.rows = [{**row, "standard_error": math.nan, "low": math.nan, "high": math.nan} for row in numbers
                     if row["data"] == data]  # fmt: skip
        self.chosen = select_settings(
            StudyResults(tuple(row for row in self.rows if row["metric"] in METRICS)), METRICS
        )
        self.titles = [head.title for head in self.grid("augrc").heads]
        self.names = list(self.grid("augrc").values)
        self._values: dict[tuple[str, str], dict[int, list[float]]] = {}
        for row in self.chosen.results("augrc").only(metric="augrc").numbers:
            if row["role"] != "validation":
                title = column_of(row["role"], json.loads(row["shift"] or "{}"), row["set"])
                cell = self._values.setdefault((f"{row['model']} {row['score']}", title), {})
                cell.setdefault(row["seed"], []).append(1e3 * row["value"])

    def grid(self, metric: str, tuned_by: str | None = None) -> Grid:
        """Return a metric of every score and shift, of settings chosen by the same metric or by another."""
        return _grid(self.chosen.results(tuned_by or metric), metric)

    def values(self, name: str, title: str) -> dict[int, float]:
        """Return AUGRC x 1000 of each seed; a column of several sets is their mean."""
        found = self._values.get((" ".join(SCORES[name]), title), {})
        return {seed: float(np.mean(each)) for seed, each in found.items()}

    def gaps(self, one: str, two: str, title: str) -> list[float]:
        """Return how much larger one score's AUGRC is than another's, seed by seed."""
        own, base = self.values(one, title), self.values(two, title)
        return [own[seed] - base[seed] for seed in own if seed in base]

    def errors(self) -> float:
        """Return the share of errors of plain cross-entropy without dropout, the mean over seeds."""
        plain = [row["value"] for row in self.rows if row["metric"] == ERRORS and row["role"] == "test"
                 and row["model"] == "confidnet-dropout=false"]  # fmt: skip
        return float(np.mean(plain)) if plain else math.nan


def shown(numbers: Sequence[dict[str, Any]]) -> str:
    """Return, per data set, AUGRC of what AUGRC chose, and ranks by AURC next to ranks by AUGRC."""
    parts = []
    for name in dict.fromkeys(row["data"] for row in numbers):
        found = Chosen(numbers, name)
        ranks, choices = found.grid("aurc").changes(found.grid("augrc")), found.chosen.table("augrc")
        parts += [
            f"**{name}: AUGRC x 1000**, settings chosen by AUGRC on validation; in brackets the difference from MSR "
            f"of the same seeds with its t interval\n\n{_beside_msr(found)}",
            f"```\n{ranks}\n```",
            f"```\n{choices}\n```",
            f"**{name}: errors on the test set, %**\n\n{_errors(found.rows)}",
        ]
    return "\n\n".join(parts)


def _beside_msr(found: Chosen) -> str:
    """Return the grid with differences from MSR, seed by seed."""
    body = []
    for name in found.names:
        cells = [_paired(found, name, title) for title in found.titles]
        body.append([name, *cells])
    return markdown(["score", *found.titles], body)


def _paired(found: Chosen, name: str, title: str) -> str:
    own = found.values(name, title)
    if not own:
        return ""
    mean = float(np.mean(list(own.values())))
    gaps = found.gaps(name, "MSR", title)
    if name == "MSR" or not gaps:
        return f"{mean:.1f}"
    middle = float(np.mean(gaps))
    half = half_width(squared_error(gaps), len(gaps) - 1)
    if math.isnan(half):
        return f"{mean:.1f} ({middle:+.1f})"
    mark = "**" if sign(middle, half) else ""
    return f"{mean:.1f} ({mark}{middle:+.1f}{mark} ± {half:.1f})"


def _errors(rows: Sequence[dict[str, Any]]) -> str:
    """Return the errors of each network, by its own maximum probability's prediction, mean over seeds."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["metric"] == ERRORS and row["role"] == "test":
            found.setdefault(row["model"], []).append(100.0 * row["value"])
    body = [[model, str(len(each)), f"{np.mean(each):.1f}"] for model, each in found.items()]
    return markdown(["network", "seeds", "errors, %"], body)


def _measured(folder: Path) -> StudyResults:
    """Every score on every set; those that a model lacks are left out of its numbers."""
    found = []
    for family in ("confidnet", "devries", "deep_gamblers"):
        wanted = [score for name, score in SCORES.values() if name == family]
        for passes in (False, True):
            scores = [score for score in wanted if score.startswith("pass_") == passes]
            models = _models(folder, family, passes)
            if scores and models:
                found.append(evaluate(folder, scores, list(METRICS), models=models, id_failures="drop", workers=1))
            if scores and models and not passes:
                found.append(evaluate(folder, scores[:1], [ERRORS], models=models, id_failures="drop", workers=1))
    return _together(found)


def _models(folder: Path, family: str, passes: bool) -> list[str]:
    from abstain.study import read_study

    here = [model for model in read_study(folder).models() if model.split("-")[0] == family]
    return [model for model in here if not passes or model.endswith("dropout=true")]


def _together(parts: Sequence[StudyResults]) -> StudyResults:
    numbers = tuple(row for part in parts for row in part.numbers)
    return replace(parts[0], numbers=numbers, sums=(), failures=tuple(f for part in parts for f in part.failures))


def _with(results: StudyResults, sub: StudyResults) -> StudyResults:
    """Add the sub-class shift of models with the same settings; what was chosen stays the choice of the parent."""
    return _together([results, sub.only(role="shift")])


def _grid(results: StudyResults, metric: str) -> Grid:
    """Rows by the paper's names, in its order."""
    grid = results.grid(metric)
    rows = {name: f"{family} {score}" for name, (family, score) in SCORES.items()}
    here = {name: row for name, row in rows.items() if row in grid.values}
    return replace(
        grid,
        values={name: grid.values[row] for name, row in here.items()},
        spreads={name: grid.spreads[row] for name, row in here.items()},
    )
