"""Tables 3 and 4 of the AUGRC paper: thirteen scores by shift, settings chosen by AUGRC or by AURC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from abstain.study import Grid, StudyResults, evaluate, select_settings
from experiments.training._jobs import Job

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


def tables(output: Path, jobs: Sequence[Job]) -> str:
    """Return, per data set, AUGRC of what AUGRC chose, and ranks by AURC beside ranks by AUGRC."""
    parts = []
    names = list(dict.fromkeys(job.setting.name for job in jobs))
    for name in names:
        if name.endswith("_sub") or not (output / name / "study.json").exists():
            continue
        results = _measured(output / name)
        sub = output / f"{name}_sub"
        if (sub / "study.json").exists():
            results = _with(results, _measured(sub))
        chosen = select_settings(results, METRICS)
        grids = {metric: _grid(chosen.results(metric), metric) for metric in METRICS}
        texts = [
            str(replace(_scaled(grids["augrc"]), title=f"{name}: AUGRC x 1000, settings chosen by AUGRC").table()),
            str(grids["aurc"].changes(grids["augrc"])),
            str(chosen.table("augrc")),
        ]
        runs = {each.n_runs for each in results.means("augrc")}
        parts += [*(f"```\n{text}\n```" for text in texts), f"Runs per number: {min(runs)} to {max(runs)}."]
    return "\n\n".join(parts)


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
    return _together(found)


def _models(folder: Path, family: str, passes: bool) -> list[str]:
    from abstain.study import read_study

    here = [model for model in read_study(folder).models() if model.split("-")[0] == family]
    return [model for model in here if not passes or model.endswith("dropout=true")]


def _together(parts: Sequence[StudyResults]) -> StudyResults:
    first = parts[0]
    numbers = tuple(row for part in parts for row in part.numbers)
    sums = np.concatenate([part.sums for part in parts]) if all(len(part.sums) for part in parts) else ()
    return replace(first, numbers=numbers, sums=sums, failures=tuple(f for part in parts for f in part.failures))


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


def _scaled(grid: Grid) -> Grid:
    values, spreads = (
        {name: [1e3 * each for each in row] for name, row in table.items()} for table in (grid.values, grid.spreads)
    )
    return replace(grid, values=values, spreads=spreads)
