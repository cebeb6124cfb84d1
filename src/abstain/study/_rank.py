"""Rank the scores and models of a study on one set, with paired tests."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from abstain._checks import closest
from abstain._typing import FloatArray
from abstain.inference import Adjust, RankingStudy, as_metrics, check_level, ranking_study
from abstain.metrics import Metric
from abstain.study._manifest import Study, read_study
from abstain.study._planned import ranked
from abstain.study._sets import Sample, columns, notes


def rank(
    study: Study | str | os.PathLike[str],
    set_name: str,
    scores: str | Sequence[str],
    metrics: str | Metric | Sequence[str | Metric] = ("aurc", "augrc"),
    *,
    models: Sequence[str] | None = None,
    level: float = 0.95,
    adjust: Adjust = "holm",
    n_resamples: int = 500,
    rng: int | np.random.Generator | None = 0,
) -> RankingStudy:
    """Rank the scores of all models of a study on one set: rank intervals, and which steps are significant.

    Parameters
    ----------
    study : Study, or str or path
        Or the folder of one.
    set_name : str
        A set that all these models have; foreign data come with the test set, whose failures are kept.
    scores : str or list of str
        What a model lacks is left out of its entries.
    metrics : specs
        One ranking each.
    models : list of str, optional
        Default: all that have the set.
    level, adjust, n_resamples, rng
        As in :func:`abstain.ranking_study`. Runs of one model are paired, scores of two models are not. Two scores or
        models on a pool with one plan for both are compared by its labels, without resamples and adjustment.

    Returns
    -------
    RankingStudy

    Raises
    ------
    ValueError
        Unknown names; models with sets of other sizes; fewer than two entries; more than two, or two that were not
        planned to be compared, on a pool with a plan.

    Examples
    --------
    >>> import tempfile, abstain
    >>> from abstain import study
    >>> folder, outputs = tempfile.mkdtemp(), abstain.datasets.load("cifar10_vgg16").select(slice(0, 500))
    >>> made = study.add_outputs(folder, outputs, model="vgg", set="test")
    >>> found = study.rank(folder, "test", ["msp", "neg_entropy"], n_resamples=100)
    >>> list(found.rankings), found.n
    (['aurc', 'augrc'], 500)
    """
    study = read_study(study)
    names = [scores] if isinstance(scores, str) else list(scores)
    loss: dict[str, list[FloatArray]] = {}
    score: dict[str, list[FloatArray]] = {}
    found: dict[str, int] = {}
    samples: dict[tuple[str, str, str, str], Sample] = {}
    clusters = weight = None
    chosen = study.runs_of(models)
    there = [(run, each) for run in chosen for each in run.sets if each.name == set_name]
    if any(each.planned for _, each in there):
        check_level(level)
        whole = next((run.folder for run, each in there if not each.planned), None)
        if whole is not None:
            raise ValueError(f"{whole}/{set_name} is labelled whole, others by a plan; rank sets of one kind")
        return ranked(study, there, names, as_metrics(metrics, "metrics"), level)
    several = len({run.model for run, _ in there}) > 1
    for run in chosen:
        saved = next((each for each in run.sets if each.name == set_name), None)
        if saved is None:
            continue
        table = columns(study, run, saved, names)
        found[run.folder] = table.n
        samples["", set_name, run.model, run.name] = table.sample
        for part in table.parts:
            clusters, weight = part.outputs.clusters, part.outputs.sample_weight
            for name in part.names:
                entry = f"{run.model} {name}" if several else name
                loss.setdefault(entry, []).append(part.outputs.loss_per_sample())
                score.setdefault(entry, []).append(np.asarray((part.outputs.scores or {})[name]))
    if not found:
        known = list(dict.fromkeys(each.name for run in chosen for each in run.sets))
        raise ValueError(f"no model has a set {set_name!r}; {closest(set_name, known)}")
    if len(set(found.values())) > 1:
        sizes = ", ".join(f"{name}: {n}" for name, n in found.items())
        raise ValueError(f"the set {set_name!r} differs in size ({sizes}); rank models on the same samples")
    for apart in notes(samples, {set_name}):
        raise ValueError(f"{apart.partition(', so they')[0]}; rank models on the same samples, in one order")
    runs = {len(each) for each in score.values()}
    return ranking_study(
        {name: np.stack(each) for name, each in loss.items()},
        {name: np.stack(each) for name, each in score.items()},
        metrics,
        level=level,
        adjust=adjust,
        n_resamples=n_resamples,
        clusters=clusters,
        sample_weight=weight,
        paired_runs=True if not several and len(runs) == 1 else None,
        rng=rng,
    )
