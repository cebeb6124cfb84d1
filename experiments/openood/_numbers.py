"""All numbers of one run, computed once: alone, under corruption, and next to near and far OOD data."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean

import numpy as np

from abstain import joint
from abstain import scores as scores_
from abstain._files import write_text
from abstain.blocks import TieBlocks
from abstain.metrics import parse
from abstain.outputs import Outputs
from abstain.scores import FittedScore
from abstain.study import Run, Study, read_study
from experiments.training._jobs import Job

#: Of the loss 0/1, ranked by the maximum probability.
ALONE = {
    "errors": "selective_risk(coverage=1.0)",
    "aurc": "aurc",
    "augrc": "augrc",
    "auroc_f": "auroc_f",
    "coverage": "coverage_at_risk(risk=0.05)",
    "ece": "ece(bins=15)",
}
#: Scores that are paired with the maximum probability; knn and vim are fitted on the training set.
SCORES = ("msp", "energy", "knn", "vim")
JOINT = ("auroc", "augrc", "f1", "aurc", "ds_f1", "ds_aurc")
#: Row of the paper's Tables 1 and 5 -> score, in its order.
SEVENTEEN = {
    "MSP": "msp", "OpenMax": "openmax", "ODIN": "odin", "MDS": "mds", "Gram": "gram", "EBO": "energy",
    "GradNorm": "gradnorm", "ReAct": "react", "MLS": "max_logit", "KLM": "klm", "VIM": "vim", "KNN": "knn",
    "DICE": "dice", "SIRC(MSP,|z|_1)": "sirc_msp_l1", "SIRC(MSP,Res.)": "sirc_msp_res",
    "SIRC(-H,|z|_1)": "sirc_neg_entropy_l1", "SIRC(-H,Res.)": "sirc_neg_entropy_res",
}  # fmt: skip
#: Those of Tables 2 and 3, whose SIRC is the first of the four: the one in the authors' script.
NINE = {"SIRC" if name.startswith("SIRC") else name: SEVENTEEN[name] for name in (
    "MSP", "OpenMax", "MDS", "Gram", "ReAct", "KLM", "VIM", "KNN", "SIRC(MSP,|z|_1)",
)}  # fmt: skip
#: Of the detectors alone, in Table 5 next to the AUROC.
DETECTION = ("fpr_at_ood_recall95", "aupr_in", "aupr_out")


def numbers(output: Path, jobs: Sequence[Job]) -> list[dict[str, object]]:
    """Return the numbers of every finished run, a row per quantity; each run is judged once."""
    found: list[dict[str, object]] = []
    for name in dict.fromkeys(job.setting.name for job in jobs):
        if not (output / name / "study.json").exists():
            continue
        study = read_study(output / name)
        asked = {(job.model, job.seed) for job in jobs if job.setting.name == name}
        for run in study.runs:
            if (run.model, run.seed) in asked:
                about = {"setting": name, "model": run.model, "seed": run.seed}
                found += [{**about, "quantity": key, "value": value} for key, value in _of_run(study, run).items()]
    return found


def _of_run(study: Study, run: Run) -> dict[str, float]:
    extract = dict(run.settings).get("extract", {})
    every = bool(extract.get("odin") and extract.get("gram"))
    names = tuple(SEVENTEEN.values()) if every else SCORES
    word = "seventeen" if every else "-".join(SCORES)
    file = study.path / run.folder / f"numbers-{word}.json"  # another list of scores is judged anew
    if not file.exists():
        metrics = (*JOINT, *DETECTION) if every else JOINT
        write_text(file, json.dumps(_judged(study, run, names, metrics), indent=1) + "\n")
    found: dict[str, float] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _judged(study: Study, run: Run, names: Sequence[str], metrics: Sequence[str]) -> dict[str, float]:
    @cache
    def opened(name: str) -> Outputs:
        return study.outputs(run.model, run.name, name)

    found = {f"test {key}": value for key, value in alone(opened("test")).items()}
    levels = [each for each in run.sets if each.shift.get("kind") == "corruption"]
    each_level = [alone(opened(each.name)) for each in levels]
    for key in ALONE if levels else ():
        found[f"corruption {key}"] = fmean(level[key] for level in each_level)
    near_far = {
        group: [each.name for each in run.sets if each.role == "ood" and each.shift.get("semantic") is semantic]
        for group, semantic in (("near", True), ("far", False))
    }
    groups = {group: names for group, names in near_far.items() if names}
    if groups:
        found |= _beside(opened, groups, names, metrics)
    return found


def alone(outputs: Outputs) -> dict[str, float]:
    """Return the metrics of labelled outputs by the maximum probability."""
    column = np.asarray(scores_.compute("msp", outputs))
    blocks = TieBlocks.from_samples(np.asarray(outputs.error, dtype=np.float64), column)
    return {key: float(parse(spec)(blocks)) for key, spec in ALONE.items()}


def _beside(
    opened: Callable[[str], Outputs], groups: dict[str, list[str]], names: Sequence[str], metrics: Sequence[str]
) -> dict[str, float]:
    """Single and double scoring: per OOD set, then the mean of each group."""
    test = opened("test")
    columns, fitted = {}, {}
    for name in names:
        try:
            fitted[name] = _fitted(name, test, opened)
            columns[name] = np.asarray(scores_.compute(name, test, fitted[name]))
        except ValueError:  # where dead features leave nothing outside the principal subspace
            if name not in ("vim", "sirc_msp_res", "sirc_neg_entropy_res"):
                raise
    outside: dict[str, dict[str, np.ndarray]] = {}
    for name in [each for names in groups.values() for each in names]:
        outputs = opened(name)
        outside[name] = {score: np.asarray(scores_.compute(score, outputs, fitted[score])) for score in columns}
    result = joint.protocol(joint.ScoredRun(test.error, columns, outside), groups, confidence="msp")
    return {
        f"{group} {metric} {score}": float(result.mean(metric, score=score, group=group)[0])
        for group in groups
        for metric in metrics
        for score in columns
    }


def _fitted(name: str, test: Outputs, opened: Callable[[str], Outputs]) -> FittedScore | None:
    """Fit a score on the set that it is meant to be fitted on; a column that came with the outputs is none."""
    if name in (test.scores or {}):
        return None
    score = scores_.parse(name)
    return score.fit(opened("validation" if score.fit_split == "validation" else "train")) if score.fit_name else None
