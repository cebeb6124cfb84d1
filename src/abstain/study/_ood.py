"""In-distribution and OOD data together: as one set of failures, and as input of the joint protocol."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from abstain import scores as scores_
from abstain._checks import UnmetNeed, one_of
from abstain._typing import AnyArray, Options
from abstain.joint import ProtocolResult, ScoredRun
from abstain.joint import protocol as protocol_
from abstain.outputs import Outputs, expect
from abstain.study._manifest import Run, Study, read_study
from abstain.study._sets import fit_outputs, test_set

_MATRICES = ("logits", "probabilities", "features", "confidence")


def join_new_class(test: Outputs, ood: Outputs, id_failures: str = "keep") -> Outputs:
    """Return test and OOD outputs as one set, in which every OOD sample is a failure.

    Parameters
    ----------
    test, ood : Outputs
        Of one model, with the same columns. OOD samples need no labels.
    id_failures : {"keep", "drop"}
        ``"keep"``, as in deployment: the model meets both kinds of failure. ``"drop"``, as published by FD-Shifts: test
        samples that are classified wrong are left out, so that the score separates OOD samples from right ones.

    Returns
    -------
    Outputs
        With a loss (0 right, 1 wrong or OOD) in place of labels, and a group ``origin`` of ``test`` and
        ``ood``. The head and scores that both have are kept.

    Raises
    ------
    ValueError
        An unknown mode; nothing left.
    UnmetNeed
        The test outputs have no labels; the OOD ones lack logits that the test ones have.

    References
    ----------
    Jaeger et al. (2023), ICLR: new-class shift, in the code's "proposed mode".

    Examples
    --------
    >>> import abstain
    >>> from abstain.study import join_new_class
    >>> test = abstain.Outputs(labels=[0, 1], logits=[[2.0, 0.0], [1.0, 0.0]])
    >>> ood = abstain.Outputs(logits=[[0.5, 0.0]], unlabelled=True)
    >>> join_new_class(test, ood).loss, join_new_class(test, ood, "drop").loss
    (array([0., 1., 1.]), array([0., 1.]))
    """
    one_of(id_failures, ("keep", "drop"), "id_failures")
    for name, given in (("test", test), ("ood", ood)):
        expect(given, name)
    wrong = np.asarray(test.error)
    if id_failures == "drop":
        if wrong.all():
            raise ValueError("all test samples are failures, so dropping them leaves none; use id_failures='keep'")
        test, wrong = test.select(wrong == 0.0), wrong[wrong == 0.0]
    there = [name for name in _MATRICES if getattr(test, name) is not None]
    lacking = next((name for name in there if getattr(ood, name) is None), None)
    if lacking is not None:
        raise UnmetNeed(f"the OOD outputs have no {lacking}, which the test outputs have; extract both alike")
    columns: Options = {name: np.concatenate([getattr(test, name), getattr(ood, name)]) for name in there}
    if test.passes is not None and ood.passes is not None:
        columns["passes"] = np.concatenate([np.asarray(test.passes), np.asarray(ood.passes)], axis=1)
    shared = [name for name in test.scores if name in ood.scores]
    origin = np.repeat(["test", "ood"], [test.n, ood.n])
    return Outputs(
        **columns,
        predictions=np.concatenate([test.predicted(), ood.predicted()]),
        scores={name: np.concatenate([test.scores[name], ood.scores[name]]) for name in shared},
        loss=np.concatenate([wrong, np.ones(ood.n)]),
        groups={"origin": origin},
        head=test.head,
        class_names=test.class_names,
    )


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
    """Evaluate the models of a study on test and OOD data together, as :func:`abstain.joint.protocol` does.

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
        OOD sets per group; default: those that all runs have, near and far as their shift says semantic or not.
    models : list of str, optional
        Default: all.
    prevalence : float, optional
        Share of OOD rows; default: as in the data.
    progress : callable, optional
        Called with a line of text before each run.

    Returns
    -------
    ProtocolResult

    Raises
    ------
    ValueError
        No OOD sets; unknown names; scores of passes.

    Examples
    --------
    >>> import tempfile, abstain
    >>> from abstain import study
    >>> folder, outputs = tempfile.mkdtemp(), abstain.datasets.load("cifar10_vgg16").select(slice(0, 300))
    >>> made = study.add_outputs(folder, outputs, model="vgg", set="test")
    >>> far = abstain.Outputs(probabilities=outputs.probabilities[::-1], unlabelled=True)
    >>> made = study.add_outputs(folder, far, model="vgg", set="far", role="ood")
    >>> study.protocol(folder, ["msp", "neg_entropy"]).sizes
    {'ID': 300, 'far': 300}
    """
    study = read_study(study)
    names = list(dict.fromkeys([confidence, *scores]))
    for name in names:
        if name.split("(")[0] in scores_.names() and scores_.parse(name).judged_by != "outputs":
            raise ValueError(f"{name} is judged on the predictions of the passes, the others are not; leave it out")
    chosen = study.runs_of(models)
    grouped = _groups(chosen) if groups is None else groups
    runs: dict[str, list[ScoredRun]] = {}
    for run in chosen:
        if progress is not None:
            progress(f"reading {run.folder}")
        runs.setdefault(run.model, []).append(_scored(study, run, names, [n for g in grouped.values() for n in g]))
    return protocol_(runs, grouped, confidence=confidence, prevalence=prevalence, progress=progress)


def _groups(runs: Sequence[Run]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    everywhere = [{each.name for each in run.sets if each.role == "ood"} for run in runs]
    for run in runs:
        for each in run.sets:
            if each.role == "ood" and all(each.name in names for names in everywhere):
                group = {True: "near", False: "far"}.get(each.shift.get("semantic"), "ood")  # type: ignore[arg-type]
                found.setdefault(group, {})[each.name] = None
    if not found:
        raise ValueError("no set of role ood is in all runs; add one with 'abstain study add --role ood'")
    order = ("near", "far", "ood")
    return {name: list(found[name]) for name in order if name in found}


def _scored(study: Study, run: Run, names: Sequence[str], ood: Sequence[str]) -> ScoredRun:
    fits = fit_outputs(study, run, names)

    def columns(set_name: str) -> tuple[Outputs, dict[str, AnyArray]]:
        outputs = study.outputs(run.model, run.name, set_name)
        return outputs, {name: np.asarray(scores_.compute(name, outputs, fits.get(name))) for name in names}

    test, inside = columns(test_set(run).name)
    return ScoredRun(test.error, inside, {name: columns(name)[1] for name in ood})
