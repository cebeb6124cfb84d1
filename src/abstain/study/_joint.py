"""A study as input of the joint protocol: one ID set, its foreign sets in groups, models as training strategies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from abstain import scores as scores_
from abstain._checks import closest
from abstain.joint import ProtocolResult, ScoredRun
from abstain.joint import protocol as protocol_
from abstain.study._folder import read_study
from abstain.study._manifest import Run, Study
from abstain.study._sets import fit_sets, test_set


def protocol(
    study: Study | str | os.PathLike[str],
    scores: Sequence[str],
    *,
    confidence: str = "msp",
    groups: Mapping[str, Sequence[str]] | None = None,
    models: Sequence[str] | None = None,
    prevalence: float | None = None,
    progress: Callable[[str], object] | None = None,
) -> ProtocolResult:
    """Evaluate the models of a study on test and foreign data together, as :func:`abstain.joint.protocol` does.

    Parameters
    ----------
    study : Study, or str or path
        Or the folder of one. Each model is a training strategy, its runs are runs.
    scores : list of str
        Scores that all models have. Errors are those of the model's predictions; scores of passes, which are judged on
        others, are refused.
    confidence : str
        The score that is paired with each.
    groups : dict of str to list of str, optional
        Foreign sets per group; default: those that all runs have, near and far as their shift says semantic or not.
    models : list of str, optional
        Default: all.
    prevalence : float, optional
        Share of foreign rows; default: as in the data.
    progress : callable, optional
        Called with a line of text before each run.

    Returns
    -------
    ProtocolResult

    Raises
    ------
    ValueError
        No foreign sets; unknown names; scores of passes.

    Examples
    --------
    >>> import tempfile, abstain
    >>> from abstain import study
    >>> folder, outputs = tempfile.mkdtemp(), abstain.datasets.load("cifar10_vgg16").select(slice(0, 300))
    >>> made = study.add_outputs(folder, outputs, model="vgg", set="test")
    >>> far = abstain.Outputs(probabilities=outputs.probabilities[::-1], unlabelled=True)
    >>> made = study.add_outputs(folder, far, model="vgg", set="far", role="foreign")
    >>> study.protocol(folder, ["msp", "neg_entropy"]).sizes
    {'ID': 300, 'far': 300}
    """
    study = study if isinstance(study, Study) else read_study(study)
    names = list(dict.fromkeys([confidence, *scores]))
    for name in names:
        if name.split("(")[0] in scores_.names() and scores_.parse(name).judged_by != "outputs":
            raise ValueError(f"{name} is judged on the predictions of the passes, the others are not; leave it out")
    wrong = next((name for name in models or () if name not in study.models()), None)
    if wrong is not None:
        raise ValueError(f"{study.path} has no model {wrong!r}; {closest(wrong, study.models())}")
    chosen = [run for run in study.runs if models is None or run.model in models]
    grouped = _groups(chosen) if groups is None else groups
    runs: dict[str, list[ScoredRun]] = {}
    for run in chosen:
        if progress is not None:
            progress(f"reading {run.folder}")
        runs.setdefault(run.model, []).append(_scored(study, run, names, [n for g in grouped.values() for n in g]))
    return protocol_(runs, grouped, confidence=confidence, prevalence=prevalence, progress=progress)


def _groups(runs: Sequence[Run]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    everywhere = [{each.name for each in run.sets if each.role == "foreign"} for run in runs]
    for run in runs:
        for each in run.sets:
            if each.role == "foreign" and all(each.name in names for names in everywhere):
                group = {True: "near", False: "far"}.get(each.shift.get("semantic"), "foreign")  # type: ignore[arg-type]
                found.setdefault(group, {})[each.name] = None
    if not found:
        raise ValueError("no set of role foreign is in all runs; add one with 'abstain study add --role foreign'")
    order = ("near", "far", "foreign")
    return {name: list(found[name]) for name in order if name in found}


def _scored(study: Study, run: Run, names: Sequence[str], foreign: Sequence[str]) -> ScoredRun:
    fits = {name: study.outputs(run.model, run.name, each.name) for name, each in fit_sets(run, names).items()}

    def columns(set_name: str) -> tuple[Any, dict[str, Any]]:
        outputs = study.outputs(run.model, run.name, set_name)
        return outputs, {name: np.asarray(scores_.compute(name, outputs, fits.get(name))) for name in names}

    test, inside = columns(test_set(run).name)
    return ScoredRun(test.error, inside, {name: columns(name)[1] for name in foreign})
