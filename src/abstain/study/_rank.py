"""Rank the scores and models of a study on one set, with paired tests."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from abstain._checks import one_of
from abstain._result import number
from abstain._typing import FloatArray
from abstain.evaluation import Comparison, compare
from abstain.inference import Adjust, Ranking, RankingStudy, as_metrics, check_level, ranking_study
from abstain.metrics import Metric
from abstain.study._manifest import Study, read_study
from abstain.study._sets import Sample, Side, columns, notes


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
        A set that all these models have; OOD data come with the test set, whose failures are kept.
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
    sides: dict[str, Side] = {}
    lacking: list[str] = []
    clusters = weight = None
    chosen = study.runs_of(models)
    there = [(run, each) for run in chosen for each in run.sets if each.name == set_name]
    several = len({run.model for run, _ in there}) > 1
    planned = any(each.planned for _, each in there)
    whole = next((run.folder for run, each in there if not each.planned), None)
    if planned and whole is not None:
        raise ValueError(f"{whole}/{set_name} is labelled whole, others by a plan; rank sets of one kind")
    for run, saved in there:
        table = columns(study, run, saved, names)
        found[run.folder] = table.n
        lacking += table.lacking.values()
        if table.sample is not None:
            samples["", set_name, run.model, run.name] = table.sample
        for part in table.parts:
            clusters, weight = part.outputs.clusters, part.outputs.sample_weight
            for name in part.names:
                entry = f"{run.model} {name}" if several else name
                if part.side is None:
                    loss.setdefault(entry, []).append(part.outputs.loss_per_sample())
                    score.setdefault(entry, []).append(np.asarray((part.outputs.scores or {})[name]))
                elif entry in sides:
                    raise ValueError(f"{run.model} has several runs of {set_name}, and a plan compares two: keep one")
                else:
                    sides[entry] = part.side
    if planned:
        return _by_plan(sides, lacking, as_metrics(metrics, "metrics"), check_level(level))
    one_of(set_name, {each.name for run in chosen for each in run.sets}, "set")
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


def _by_plan(sides: Mapping[str, Side], lacking: list[str], metrics: Sequence[Metric], level: float) -> RankingStudy:
    """Rank two scores or models from the labels of the plan that was made for both."""
    if len(sides) != 2:
        why = f" ({lacking[0]})" if lacking else ""
        names = ", ".join(sides) or "none"
        raise ValueError(f"a plan ranks the two scores or models of its own, here are {len(sides)}: {names}{why}")
    first, second = sorted(sides, key=lambda name: sides[name].second)
    one, two = sides[first], sides[second]
    plan = one.shared
    drawn_alike = np.array_equal(plan.stage, two.plan.stage)
    if one.second or not two.second or plan.digest != two.shared.digest or not drawn_alike:
        raise ValueError(
            f"{first} and {second} have no plan that was made for both; make one by 'abstain plan A --compare B'"
        )
    losses, scores = {first: one.loss, second: two.loss}, {first: one.score, second: two.score}
    found = {each.spec: compare(losses, scores, each, level=level, plan=plan) for each in metrics}
    rankings = {spec: _ranking(each) for spec, each in found.items()}
    said = [
        f"{len(plan.planned)} of {plan.n} rows are labelled, by plan ({plan.design}, {plan.digest[:8]}); estimates, "
        "differences and ranks are about these rows, and hold in the stated share of draws of labels"
    ]
    for each in found.values():
        test = each.differences[0]
        ends = f"[{number(test.low)}, {number(test.high)}]"
        said.append(f"{each.label}, {test.a} minus {test.b}: {number(test.difference)} {ends}, p = {test.p_value:.2g}")
        said += [] if test.warning is None else [test.warning]
    return RankingStudy(rankings, (first, second), plan.n, (1, 1), 0, level, "none", {}, plan.digest, tuple(said))


def _ranking(found: Comparison) -> Ranking:
    rows = found.table
    ranks = np.array([row["rank"] for row in rows], dtype=np.float64)
    unknown = np.full(2, np.nan)
    better = np.zeros((2, 2), dtype=np.bool_)
    better[0, 1] = found.differences[0].significant
    low, high = (np.array([row[end] for row in rows]) for end in ("set_low", "set_high"))
    return Ranking(
        found.metric, found.label, found.direction, tuple(str(row["name"]) for row in rows),
        np.array([row["estimate"] for row in rows]), ranks.astype(np.int64), ranks, ranks, low, high, unknown, unknown,
        unknown, better, found.differences,
    )  # fmt: skip
