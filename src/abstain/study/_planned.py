"""A set of which a plan labelled some rows: its numbers, and two scores or models from the same labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from abstain import metrics as metrics_
from abstain import scores as scores_
from abstain._checks import UnmetNeed
from abstain._result import number
from abstain._typing import FloatArray, IntArray, NanPolicy
from abstain.evaluation import Comparison, Measurement, compare, evaluate
from abstain.inference import Ranking, RankingStudy
from abstain.metrics import Metric
from abstain.outputs import Outputs, read_pool
from abstain.pool import LabelPlan, load_plan, places, require, sample_of
from abstain.study._manifest import Run, SavedSet, Study

#: What a number of a unit takes over from a measurement.
MEASURED = (
    "score", "metric", "label", "identifier", "direction", "value", "standard_error", "low", "high", "method", "reason",
    "warning",
)  # fmt: skip


class Planned(NamedTuple):
    """All rows of a pool, their losses (NaN: no label), and the plan that says which rows were labelled."""

    where: str
    file: Path
    outputs: Outputs
    loss: FloatArray
    plan: LabelPlan


class Side(NamedTuple):
    """A score that was planned for: the plan as its own, whether it is the second one, values and losses in order."""

    plan: LabelPlan
    second: bool
    score: FloatArray
    loss: FloatArray


def row_of(entry: Measurement, n: int, labelled: int | None = None) -> dict[str, Any]:
    """Return a number of a unit; ``labelled``: rows with a label, default all."""
    found = {name: getattr(entry, name) for name in MEASURED}
    return found | {"n": n, "labelled": n if labelled is None else labelled}


def unmeasured(score: str, metrics: Sequence[Metric], reasons: Mapping[str, str]) -> list[Measurement]:
    """Return a row without a value for each metric that a set does not allow, by the reason."""
    return [
        Measurement(score, None, each.label, each.spec, each.identifier, each.direction, np.nan, reasons[each.spec])
        for each in metrics
        if each.spec in reasons
    ]


def planned_set(study: Study, run: Run, saved: SavedSet) -> Planned:
    """Read a pool with its plan."""
    outputs_file, plan_file = (study.path / run.folder / name for name in saved.files)
    outputs, loss = read_pool(outputs_file)
    plan = load_plan(plan_file)
    if outputs.n != saved.n or plan.n != saved.n or len(plan.planned) != saved.planned:
        raise ValueError(
            f"{outputs_file} has {outputs.n} rows and its plan {len(plan.planned)} of {plan.n}, but study.json says "
            f"{saved.planned} of {saved.n}; add the pool again with its plan"
        )
    return Planned(f"{run.folder}/{saved.name}", outputs_file, outputs, loss, plan)


def side_of(found: Planned, name: str) -> Side:
    """Return a score with the plan as its own; one that was not planned for is refused."""
    column = np.asarray(scores_.compute(name, found.outputs))
    plans = [found.plan] if found.plan.other is None else [found.plan, found.plan.of_second()]
    refused: list[str] = []
    for k, plan in enumerate(plans):
        try:
            order: IntArray = places(plan, column, found.outputs.ids)
        except ValueError as error:
            refused.append(str(error))
            continue
        return Side(plan, k == 1, column[order], found.loss[order])
    why = refused[0].partition("; give")[0].partition(" (first")[0]
    raise UnmetNeed(f"the plan of {found.where} was not made for {name} ({why}); plan for it, or leave it out")


def few_labels(
    study: Study,
    run: Run,
    saved: SavedSet,
    names: Sequence[str],
    specs: Sequence[str],
    level: float | None,
    nan_policy: NanPolicy,
) -> tuple[list[dict[str, Any]], dict[str, str], list[str]]:
    """Return the numbers of a pool from its labels, the scores that its plan is not for, and what is to be said."""
    found = planned_set(study, run, saved)
    chosen = [metrics_.parse(spec) for spec in specs]
    reasons = {each.spec: why for each in chosen if (why := _refused(each))}
    allowed = [each for each in chosen if each.spec not in reasons]
    rows: list[dict[str, Any]] = []
    lacking: dict[str, str] = {}
    said: dict[str, None] = {}
    for name in names:
        try:
            plan = side_of(found, name).plan
        except (UnmetNeed, ValueError) as why:
            lacking[name] = str(why)
            continue
        entries: list[Measurement] = []
        if allowed:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", UserWarning)
                evaluation = evaluate(found.file, name, allowed, plan=plan, level=level, nan_policy=nan_policy)
            entries += evaluation.measurements
            few = evaluation.provenance["few_labels"]
            said[
                f"{few['labelled']} of {plan.n} rows are labelled, by plan ({few['design']}, {found.plan.digest[:8]}), "
                f"{few['errors']} errors seen; values and intervals are about these rows"
            ] = None
            said |= {str(each.message): None for each in caught if issubclass(each.category, UserWarning)}
        entries += unmeasured(name, chosen, reasons)
        rows += [row_of(entry, saved.n, saved.planned) for entry in entries]
    if not rows:
        raise ValueError(next(iter(lacking.values())))
    return rows, lacking, list(said)


def _refused(metric: Metric) -> str:
    try:
        require(metric)
    except UnmetNeed as need:
        return str(need).partition("; ask for")[0]
    return ""


def ranked(
    study: Study, runs: Sequence[tuple[Run, SavedSet]], names: Sequence[str], metrics: Sequence[Metric], level: float
) -> RankingStudy:
    """Rank two scores or models from the labels of the plan that was made for both."""
    entries: dict[str, Side] = {}
    lacking: list[str] = []
    several = len({run.model for run, _ in runs}) > 1
    for run, saved in runs:
        found = planned_set(study, run, saved)
        for name in names:
            entry = f"{run.model} {name}" if several else name
            if entry in entries:
                raise ValueError(f"{run.model} has several runs of {saved.name}, and a plan compares two: keep one")
            try:
                entries[entry] = side_of(found, name)
            except (UnmetNeed, ValueError) as why:
                lacking.append(str(why))
    _two_of_one_plan(entries, lacking)
    first, second = sorted(entries, key=lambda name: entries[name].second)
    one, two = entries[first], entries[second]
    found_by = {
        each.spec: compare(
            {first: one.loss, second: two.loss}, {first: one.score, second: two.score}, each, level=level, plan=one.plan
        )
        for each in metrics
    }
    rankings = {spec: _ranking(each) for spec, each in found_by.items()}
    return RankingStudy(
        rankings, (first, second), one.plan.n, (1, 1), 0, level, "none", {}, one.plan.digest,
        tuple(_said(found_by, one.plan)),
    )  # fmt: skip


def _two_of_one_plan(entries: dict[str, Side], lacking: list[str]) -> None:
    if len(entries) != 2:
        why = f" ({lacking[0]})" if lacking else ""
        raise ValueError(
            f"a plan ranks the two scores or models that it was made for, here are {len(entries)}: "
            f"{', '.join(entries) or 'none'}{why}; name two with scores and models, planned by 'abstain plan --compare'"
        )
    one, two = entries.values()
    if one.second == two.second or one.plan.other is None or two.plan.other is None:
        raise ValueError(
            f"{' and '.join(entries)} were not planned to be compared; plan for both: 'abstain plan A --compare B', or "
            "plan_labels(confidence, compare=...)"
        )
    pair = [side.plan.of_second() if side.second else side.plan for side in (one, two)]
    if pair[0].digest != pair[1].digest or not np.array_equal(pair[0].stage, pair[1].stage):
        raise ValueError(f"{' and '.join(entries)} come with two different plans; add both pools with the same one")


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


def _said(found: dict[str, Comparison], plan: LabelPlan) -> list[str]:
    lines = [
        f"{len(plan.planned)} of {plan.n} rows are labelled, by plan ({plan.design}, {plan.digest[:8]}); estimates, "
        "differences and ranks are about these rows, and hold in the stated share of draws of labels"
    ]
    for each in found.values():
        test = each.differences[0]
        ends = f"[{number(test.low)}, {number(test.high)}]"
        lines.append(f"{each.label}, {test.a} minus {test.b}: {number(test.difference)} {ends}, p = {test.p_value:.2g}")
        if test.warning is not None:
            lines.append(test.warning)
    return lines


def check_pool(outputs: Outputs, loss: Any, plan: LabelPlan | None, role: str, where: str) -> FloatArray | None:
    """Return the losses of a pool, once they and the plan belong to it; None without a plan."""
    if plan is None:
        if loss is not None:
            raise ValueError("loss= belongs to plan=, which says which rows are labelled; else give the outputs losses")
        return None
    if not isinstance(plan, LabelPlan):
        raise TypeError(f"plan must be a LabelPlan, got {type(plan).__name__}; abstain.pool.load_plan(path) reads one")
    if role in ("foreign", "train"):
        raise ValueError(f"{where}: role {role!r} needs no labels, so no plan; give the pool another, such as test")
    if loss is None:
        raise ValueError(f"{where}: a plan comes with the labels; give loss=, NaN where a row has none")
    values = np.asarray(loss, dtype=np.float64)
    if plan.n != outputs.n or values.shape != (outputs.n,):
        raise ValueError(
            f"{where}: the plan is for {plan.n} rows, the pool has {outputs.n} and {values.size} losses; give the pool "
            "that was planned for"
        )
    found = Planned(where, Path(), outputs, values, plan)
    for name in outputs.scores or [scores_.default(outputs)]:
        try:
            side = side_of(found, name)
        except (UnmetNeed, ValueError):
            continue
        sample_of(side.plan, side.loss)
        return values
    return values  # planned for a score that is computed: said when it is
