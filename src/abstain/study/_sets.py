"""One set of one run as columns: for every score its values, and the losses of the predictions that it is judged on.

Whether models were measured on the same rows in the same order follows from labels and identifiers.
"""

from __future__ import annotations

import hashlib
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from abstain import scores as scores_
from abstain._checks import UnmetNeed
from abstain._typing import ArrayLike, FloatArray, IntArray, Options
from abstain.outputs import Outputs, read_pool
from abstain.pool import LabelPlan, load_plan, places, sample_of
from abstain.study._manifest import Run, SavedSet, Study


class Sample(NamedTuple):
    """What is known of the rows of a set: how many, and hashes of what names them ("": nothing does)."""

    n: int
    ids: str
    labels: str
    class_names: bool


def known_of(inside: Outputs, ood: Outputs | None = None) -> Sample:
    """Return what is known of the rows of a set; OOD data come behind the test set."""
    both = [inside] if ood is None else [inside, ood]
    ids = [each.ids for each in both]
    labels = None if inside.labels is None else np.asarray(inside.labels)
    if labels is not None and inside.class_names is not None and labels.ndim == 1:
        labels = np.asarray(inside.class_names)[labels]
    return Sample(
        sum(each.n for each in both),
        "" if any(each is None for each in ids) else _hash(np.concatenate([np.asarray(each) for each in ids])),
        "" if labels is None else _hash(labels),
        inside.class_names is not None,
    )


def _hash(column: ArrayLike) -> str:
    return hashlib.sha256("\n".join(np.asarray(column).ravel().astype(str).tolist()).encode()).hexdigest()[:32]


def differ(one: Sample, other: Sample) -> str | None:
    """Return how the rows of two sets differ; None if they do not; an empty text where that is not known."""
    if one.n != other.n:
        return f"{one.n:,} and {other.n:,} rows"
    identified = bool(one.ids and other.ids)
    if identified and one.ids != other.ids:
        return "other identifiers, or in another order"
    if one.labels and other.labels and one.class_names == other.class_names:
        return None if one.labels == other.labels else "other labels, or in another order"
    return None if identified else ""


def notes(samples: Mapping[tuple[str, str, str, str], Sample], ood: set[str]) -> Iterator[str]:
    """Yield, for each set, which models were measured on other rows than the first, or may have been.

    ``samples``: by data set, set, model and run. ``ood``: sets without labels, of which only sizes and identifiers
    tell.
    """
    first: dict[tuple[str, str], tuple[str, Sample]] = {}
    for (data, name, model, _), sample in samples.items():
        where, reference = first.setdefault((data, name), (model, sample))
        why = None if model == where else differ(reference, sample)
        if why:
            yield f"{name}: {where} and {model} have different rows ({why}), so they are not tested against each other"
        elif why == "" and name not in ood:
            yield f"{name}: no labels and no ids say whether {where} and {model} have the same rows; tests take it so"


MODES = ("keep", "drop")


class Side(NamedTuple):
    """A score that was planned for: the plan as its own, whether it is the second one, values and losses in order."""

    plan: LabelPlan
    second: bool
    score: FloatArray
    loss: FloatArray

    @property
    def shared(self) -> LabelPlan:
        """The plan as it was made, for both scores."""
        return self.plan.of_second() if self.second else self.plan


def planned_set(study: Study, run: Run, saved: SavedSet) -> tuple[Outputs, FloatArray, LabelPlan]:
    """Read all rows of a pool, their losses (NaN: no label), and the plan that says which rows were labelled."""
    outputs_file, plan_file = (study.path / run.folder / name for name in saved.files)
    outputs, loss = read_pool(outputs_file)
    plan = load_plan(plan_file)
    if outputs.n != saved.n or plan.n != saved.n or len(plan.planned) != saved.planned:
        raise ValueError(f"{outputs_file} or its plan has not the {saved.n} rows of study.json; add the pool again")
    return outputs, loss, plan


def side_of(where: str, name: str, outputs: Outputs, loss: FloatArray, plan: LabelPlan) -> Side:
    """Return a score with the plan as its own; one that was not planned for is refused."""
    column = np.asarray(scores_.compute(name, outputs))
    plans = [plan] if plan.other is None else [plan, plan.of_second()]
    refused: list[str] = []
    for k, each in enumerate(plans):
        try:
            order = places(each, column, outputs.ids)
        except ValueError as error:
            refused.append(str(error))
            continue
        return Side(each, k == 1, column[order], loss[order])
    why = refused[0].partition("; give")[0].partition(" (first")[0]
    raise UnmetNeed(f"the plan of {where} was not made for {name} ({why}); plan for it, or leave it out")


class Part(NamedTuple):
    """Scores that are judged on the same predictions, and where each row stands in its set.

    ``side``: the plan of the one score, of which it labelled some rows; None where all rows are labelled.
    """

    outputs: Outputs
    names: list[str]
    place: IntArray
    side: Side | None = None


class Columns(NamedTuple):
    """A set of a run: parts, size before rows were dropped, why some scores have no values, and what names its rows."""

    parts: list[Part]
    n: int
    lacking: dict[str, str]
    sample: Sample | None


def stored_scores(path: Path) -> list[str]:
    """Return what a file offers without being asked: its columns of scores, its confidence, else the MSP."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [name.removesuffix(".npy") for name in archive.namelist()]
    except Exception as why:  # whatever a damaged archive can do
        raise ValueError(f"is no readable npz file ({why}); write it again") from None
    found = [name.removeprefix("score_") for name in members if name.startswith("score_")]
    if "confidence" in members:
        found.append("confidence")
    elif "logits" in members or "probabilities" in members:
        found.append("msp")
    if not found:
        raise ValueError("has no score: neither columns score_..., nor a confidence, logits or probabilities")
    return found


def test_set(run: Run) -> SavedSet:
    """Return the set that OOD data are evaluated with."""
    found = next((each for each in run.sets if each.role == "test" and not each.planned), None)
    if found is None:
        raise UnmetNeed(f"run {run.folder} has no set of role test, labelled whole, for its OOD data; add one")
    return found


def fit_sets(run: Run, names: Sequence[str]) -> dict[str, SavedSet]:
    """Return, by score, the set that it is fitted on: of the role that its authors took."""
    by_role = {each.role: each for each in reversed(run.sets) if not each.planned}  # the first of each role
    roles = {name: scores_.parse(name).fit_split for name in names if name.split("(")[0] in scores_.names()}
    return {name: by_role[role] for name, role in roles.items() if role is not None and role in by_role}


def fit_outputs(study: Study, run: Run, names: Sequence[str]) -> dict[str, Outputs]:
    """Return, by score, the outputs that it is fitted on; each file is read once."""
    sets = fit_sets(run, names)
    read = {name: study.outputs(run.model, run.name, name) for name in {each.name for each in sets.values()}}
    return {name: read[each.name] for name, each in sets.items()}


def columns(study: Study, run: Run, saved: SavedSet, names: Sequence[str], mode: str = "keep") -> Columns:
    """Return the columns of a set; OOD data come with the test set, and lose all their rows.

    Parameters
    ----------
    study, run, saved
    names : scores
    mode : {"keep", "drop"}
        Whether test samples that are classified wrong are kept, where OOD data come with them.
    """
    lacking: dict[str, str] = {}
    if saved.planned:
        pool, sides = planned_set(study, run, saved), list[Part]()
        for name in names:
            try:
                side = side_of(f"{run.folder}/{saved.name}", name, *pool)
                sides.append(Part(pool[0], [name], np.arange(saved.n), side))
            except ValueError as why:
                lacking[name] = str(why)
        return Columns(sides, saved.n, lacking, None)
    inside = study.outputs(run.model, run.name, (test_set(run) if saved.role == "ood" else saved).name)
    ood = study.outputs(run.model, run.name, saved.name) if saved.role == "ood" else None
    fits = fit_outputs(study, run, names)
    keys: dict[tuple[str, str], list[str]] = {}
    values: dict[str, FloatArray] = {}
    for name in names:
        try:
            found = [scores_.compute(name, each, fits.get(name)) for each in (inside, ood) if each is not None]
        except ValueError as why:
            lacking[name] = str(why)
            continue
        values[name] = np.concatenate(found)
        keys.setdefault(_judged_on(name, inside), []).append(name)
    parts = [_part(inside, ood, each, {name: values[name] for name in each}, mode) for each in keys.values()]
    return Columns(parts, inside.n + (0 if ood is None else ood.n), lacking, known_of(inside, ood))


def _judged_on(name: str, outputs: Outputs) -> tuple[str, str]:
    """Return a key that scores judged on the same predictions share."""
    if name in (outputs.score_predictions or {}) and outputs.loss is None:
        return "column", name
    if outputs.passes is None or outputs.loss is not None or name in (outputs.scores or {}):
        return "outputs", ""
    return "outputs" if (by := scores_.parse(name).judged_by) == "outputs" else "passes", "" if by == "outputs" else by


def _part(inside: Outputs, ood: Outputs | None, names: list[str], values: dict[str, FloatArray], mode: str) -> Part:
    judged = scores_.judged(names[0], inside)
    if ood is None and judged is inside and all(name in (inside.scores or {}) for name in names):
        return Part(inside, names, np.arange(inside.n))  # columns of the file as they are, checked once
    with warnings.catch_warnings():  # what is odd about the columns was said when they were read
        warnings.simplefilter("ignore")
        if ood is None:
            dropped = ("score_predictions", "passes", "features", "head", "confidence")
            kept: Options = {"scores": values, **dict.fromkeys(dropped)}
            if judged.passes is not None and judged.logits is None and judged.probabilities is None:
                kept["predictions"] = judged.predicted()  # passes that predict, too, have done so
            return Part(replace(judged, **kept), names, np.arange(inside.n))
        loss = np.concatenate([judged.error, np.ones(ood.n)])
        place = np.arange(loss.size)
        if mode == "drop":
            place = np.flatnonzero((loss == 0.0) | (place >= inside.n))
        scored = {name: column[place] for name, column in values.items()}
        return Part(Outputs(loss=loss[place], scores=scored), names, place)


# ---------------------------------------------------------------------- sets of which a plan labelled some rows


def check_pool(outputs: Outputs, loss: str | ArrayLike, plan: LabelPlan, role: str, where: str) -> FloatArray:
    """Return the losses of a pool, once they and the plan belong to it."""
    if not isinstance(plan, LabelPlan):
        raise TypeError(f"plan must be a LabelPlan, got {type(plan).__name__}; abstain.pool.load_plan(path) reads one")
    if role in ("ood", "train"):
        raise ValueError(f"{where}: role {role!r} needs no labels, so no plan; give the pool another, such as test")
    if loss is None:
        raise ValueError(f"{where}: a plan comes with the labels; give loss=, NaN where a row has none")
    values = np.asarray(loss, dtype=np.float64)
    if plan.n != outputs.n or values.shape != (outputs.n,):
        raise ValueError(f"{where}: the plan is for {plan.n} rows, the pool has {outputs.n} and {values.size} losses")
    for name in outputs.scores or [scores_.default(outputs)]:
        try:
            side = side_of(where, name, outputs, values, plan)
        except ValueError:
            continue  # planned for a score that is computed: said when it is
        sample_of(side.plan, side.loss)
        break
    return values
