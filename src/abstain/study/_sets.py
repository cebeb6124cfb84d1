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
from typing import Any, NamedTuple

import numpy as np

from abstain import scores as scores_
from abstain._checks import UnmetNeed
from abstain._typing import FloatArray, IntArray
from abstain.outputs import Outputs
from abstain.study._manifest import Run, SavedSet, Study


class Sample(NamedTuple):
    """What is known of the rows of a set: how many, and hashes of what names them ("": nothing does)."""

    n: int
    ids: str
    labels: str
    class_names: bool


def sample_of(inside: Outputs, foreign: Outputs | None = None) -> Sample:
    """Return what is known of the rows of a set; foreign data come behind the test set."""
    both = [inside] if foreign is None else [inside, foreign]
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


def _hash(column: Any) -> str:
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


def notes(samples: Mapping[tuple[str, str, str, str], Sample], foreign: set[str]) -> Iterator[str]:
    """Yield, for each set, which models were measured on other rows than the first, or may have been.

    ``samples``: by data set, set, model and run. ``foreign``: sets without labels, of which only sizes and identifiers
    tell.
    """
    first: dict[tuple[str, str], tuple[str, Sample]] = {}
    for (data, name, model, _), sample in samples.items():
        where, reference = first.setdefault((data, name), (model, sample))
        why = None if model == where else differ(reference, sample)
        if why:
            yield f"{name}: {where} and {model} have different rows ({why}), so they are not tested against each other"
        elif why == "" and name not in foreign:
            yield f"{name}: no labels and no ids tell whether {where} and {model} have the same rows; tests take it so"


MODES = ("keep", "drop")
#: Parts of a file of outputs, beside its columns of scores, that give a score without being asked.
_PREDICTS = ("logits", "probabilities")


class Part(NamedTuple):
    """Scores that are judged on the same predictions, and where each row stands in its set."""

    outputs: Outputs
    names: list[str]
    place: IntArray


class Columns(NamedTuple):
    """A set of a run: parts, size before rows were dropped, why some scores have no values, and what names its rows."""

    parts: list[Part]
    n: int
    lacking: dict[str, str]
    sample: Sample


def stored_scores(path: Path) -> list[str]:
    """Return what a file offers without being asked: its columns of scores, its confidence, else the MSP."""
    with zipfile.ZipFile(path) as archive:
        members = [name.removesuffix(".npy") for name in archive.namelist()]
    found = [name.removeprefix("score_") for name in members if name.startswith("score_")]
    if "confidence" in members:
        found.append("confidence")
    elif any(name in members for name in _PREDICTS):
        found.append("msp")
    return found


def test_set(run: Run) -> SavedSet:
    """Return the set that foreign data are put beside."""
    found = next((each for each in run.sets if each.role == "test" and not each.planned), None)
    if found is None:
        raise UnmetNeed(
            f"run {run.folder} has no set of role test, labelled whole, which foreign data are put beside; add one"
        )
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
    """Return the columns of a set; foreign data come with the test set, and lose all their rows.

    Parameters
    ----------
    study, run, saved
    names : scores
    mode : {"keep", "drop"}
        What becomes of test samples that are classified wrong, where foreign data are put beside them.
    """
    inside = study.outputs(run.model, run.name, (test_set(run) if saved.role == "foreign" else saved).name)
    foreign = study.outputs(run.model, run.name, saved.name) if saved.role == "foreign" else None
    fits = fit_outputs(study, run, names)
    keys: dict[tuple[str, str], list[str]] = {}
    values: dict[str, FloatArray] = {}
    lacking: dict[str, str] = {}
    for name in names:
        try:
            found = [scores_.compute(name, each, fits.get(name)) for each in (inside, foreign) if each is not None]
        except (UnmetNeed, ValueError) as why:
            lacking[name] = str(why)
            continue
        values[name] = np.concatenate(found)
        keys.setdefault(_judged_on(name, inside), []).append(name)
    parts = [_part(inside, foreign, each, {name: values[name] for name in each}, mode) for each in keys.values()]
    return Columns(parts, inside.n + (0 if foreign is None else foreign.n), lacking, sample_of(inside, foreign))


def _judged_on(name: str, outputs: Outputs) -> tuple[str, str]:
    """Return a key that scores judged on the same predictions share."""
    if name in (outputs.score_predictions or {}) and outputs.loss is None:
        return "column", name
    if outputs.passes is None or outputs.loss is not None or name in (outputs.scores or {}):
        return "outputs", ""
    return "outputs" if (by := scores_.parse(name).judged_by) == "outputs" else "passes", "" if by == "outputs" else by


def _part(inside: Outputs, foreign: Outputs | None, names: list[str], values: dict[str, FloatArray], mode: str) -> Part:
    judged = scores_.judged(names[0], inside)
    if foreign is None and judged is inside and all(name in (inside.scores or {}) for name in names):
        return Part(inside, names, np.arange(inside.n))  # columns of the file as they are, checked once
    with warnings.catch_warnings():  # what is odd about the columns was said when they were read
        warnings.simplefilter("ignore")
        if foreign is None:
            dropped = ("score_predictions", "passes", "features", "head", "confidence")
            kept: dict[str, Any] = {"scores": values, **dict.fromkeys(dropped)}
            if judged.passes is not None and judged.logits is None and judged.probabilities is None:
                kept["predictions"] = judged.predicted()  # passes that predict, too, have done so
            return Part(replace(judged, **kept), names, np.arange(inside.n))
        loss = np.concatenate([judged.error, np.ones(foreign.n)])
        place = np.arange(loss.size)
        if mode == "drop":
            place = np.flatnonzero((loss == 0.0) | (place >= inside.n))
        scored = {name: column[place] for name, column in values.items()}
        return Part(Outputs(loss=loss[place], scores=scored), names, place)
