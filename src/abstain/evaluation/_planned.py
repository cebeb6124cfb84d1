"""``evaluate`` where only some rows of a pool are labelled: by a plan, or by chance alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from abstain import scores as scores_
from abstain._checks import UnmetNeed, one_of
from abstain._typing import FloatArray
from abstain.curve import RiskCoverageCurve
from abstain.evaluation import _entry
from abstain.evaluation._provenance import provenance
from abstain.evaluation._result import Evaluation, Measurement, ScoreSummary
from abstain.inference import check_level
from abstain.metrics import Metric
from abstain.outputs import Outputs, read_pool
from abstain.outputs import missing as missing_labels

if TYPE_CHECKING:
    from abstain import pool

Target = Literal["pool", "population"]

#: What is shown unless asked for more: what few labels can say.
METRICS = ("accuracy", "augrc", "e_augrc", "aurc", "auroc_f", "selective_risk(coverage=0.8)")


def planned(
    source: Any,
    scores: str | Sequence[str] | None,
    metrics: list[Metric],
    forgiving: bool,
    columns: Mapping[str, Any],
    *,
    plan: pool.LabelPlan | None,
    target: str,
    labelled: str | None,
    level: float | None,
    nan_policy: str,
) -> Evaluation:
    """Return the evaluation of a pool from its labelled rows."""
    from abstain import pool

    one_of(target, get_args(Target), "target")
    if plan is None and labelled is None:
        raise ValueError(
            f"target={target!r} is for a pool with a plan; intervals of labelled rows are about a population anyway"
        )
    if plan is not None and not isinstance(plan, pool.LabelPlan):
        raise TypeError(f"plan must be a LabelPlan, got {type(plan).__name__}; abstain.pool.load_plan(path) reads one")
    if plan is not None and labelled is not None:
        raise TypeError("labels are from a plan or at random; give plan= or labelled=, not both")
    if labelled is not None:
        one_of(labelled, ("at random",), "labelled")
    if level is not None:
        level = check_level(level)
    if source is None and plan is not None and plan.ids is not None and columns.get("ids") is not None:
        columns = {**columns, "ids": pool.row_names(columns["ids"])}  # as the plan spells them
    outputs, loss = as_pool(source, scores, columns)
    _refuse(outputs)
    name = _score(scores, outputs)
    column = scores_.compute(name, outputs)
    if plan is not None:
        order = pool.places(plan, column, outputs.ids)
        sample = pool.sample_of(plan, loss[order])
    else:
        sample = pool.at_random(pool.scores(column, "reject" if nan_policy == "reject" else "raise"), loss)
    measurements = [_measured(metric, name, sample, level, target, forgiving) for metric in metrics]
    facts = _facts(outputs, sample, plan, target, level, nan_policy, measurements)
    more = {entry.label: pool.one_more(metric, sample)
            for metric, (entry, each) in zip(metrics, measurements, strict=True) if each is not None}  # fmt: skip
    facts["few_labels"]["one_more_error"] = {label: value for label, value in more.items() if value is not None}
    return Evaluation(tuple(entry for entry, _ in measurements), (_summary(name, sample),), facts)


def alone(**given: Any) -> None:
    """Refuse what a plan cannot go with yet."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name}= does not go with plan= or labelled= yet; evaluate without it")


def as_pool(source: Any, scores: Any, columns: Mapping[str, Any]) -> tuple[Outputs, FloatArray]:
    """Return all rows of a pool, and losses that are NaN where a row is not labelled."""
    if isinstance(source, Outputs):
        if columns:
            raise TypeError(f"{next(iter(columns))}= is for a file, a frame or arrays; these are Outputs already")
        judged = not source.unlabelled or source.loss is not None
        return source, source.loss_per_sample() if judged else np.full(source.n, np.nan)
    if source is None:
        arrays, told = _entry.arrays_of(columns, None)
        return read_pool(arrays, **told)
    return read_pool(source, scores=_entry.external(source, scores), **columns)


def read(
    source: Any, scores: Any, groups: Any, columns: Mapping[str, Any], nan_policy: str
) -> tuple[Outputs, list[str]]:
    """Return outputs that are all labelled, and the names of the groups to split by."""
    try:
        return _entry.as_outputs(source, scores, groups, columns, nan_policy)
    except ValueError as error:
        raise explained(error, source, columns) from None


def explained(error: ValueError, source: Any, columns: Mapping[str, Any]) -> ValueError:
    """Return what to say where outputs were refused because only some rows have a label, and no plan says why."""
    try:
        arrays, told = _entry.arrays_of(columns, None) if source is None else (source, dict(columns))
    except (TypeError, ValueError):
        return error
    found = None if isinstance(source, Outputs) else missing_labels(arrays, **told)
    if found is None or not 0 < found[0] < found[1]:
        return error
    return ValueError(
        f"{error}; {found[0]} of {found[1]} rows have no label: if they were never labelled, say how the others were "
        'chosen: plan= (of abstain.plan_labels), or labelled="at random" if every row had the same chance'
    )


def _refuse(outputs: Outputs) -> None:
    for field, remedy in (
        ("sample_weight", "leave the column of weights out, or evaluate rows that are all labelled"),
        ("clusters", "leave the column of clusters out, or evaluate rows that are all labelled"),
    ):
        if getattr(outputs, field) is not None:
            raise UnmetNeed(f"the pool has {field}, and no plan draws labels by {field} yet; {remedy}")


def _score(scores: str | Sequence[str] | None, outputs: Outputs) -> str:
    names = [scores] if isinstance(scores, str) else list(scores or [scores_.default(outputs)])
    if len(names) > 1:
        raise ValueError(f"a plan is for one score, got {', '.join(names)}; evaluate them one by one, or use compare")
    return names[0]


def _measured(
    metric: Metric, score: str, sample: pool.Sample, level: float | None, target: str, forgiving: bool
) -> tuple[Measurement, pool.Found | None]:
    from abstain import pool

    head = (score, None, metric.label, metric.spec, metric.identifier, metric.direction)
    try:
        pool.require(metric)
        found = pool.estimate(metric, sample, level, target)
    except ValueError as need:
        if not forgiving:
            raise
        return Measurement(*head, math.nan, str(need).partition("; ask for")[0]), None
    entry = Measurement(
        *head, found.value, found.reason, found.low, found.high, found.method, found.warning, found.variance**0.5
    )
    return entry, found


def _summary(name: str, sample: pool.Sample) -> ScoreSummary:
    blocks = sample.pool.blocks
    curve = RiskCoverageCurve(sample.estimated)
    return ScoreSummary(
        name, None, blocks.n, blocks.n_rejected, blocks.n_dropped, blocks.total_weight, blocks.distinct_share,
        blocks.largest_tie, curve,
    )  # fmt: skip


def _facts(
    outputs: Outputs, sample: pool.Sample, plan: pool.LabelPlan | None, target: str, level: float | None,
    nan_policy: str, found: Iterable[tuple[Measurement, pool.Found | None]],
) -> dict[str, Any]:  # fmt: skip
    plain = {
        entry.label: float(sample.n if each.variance == 0.0 else each.plain / each.variance)
        for entry, each in found if each is not None and math.isfinite(each.value) and each.plain > 0.0
    }  # fmt: skip
    facts = provenance(
        fingerprint=outputs.fingerprint,
        n=sample.pool.n,
        mean_loss=sample.estimated.mean_loss,
        binary_loss=True,
        weighted=False,
        clustered=False,
        nan_policy=nan_policy,
        level=level,
    )
    facts |= {
        "same_samples": True,
        "few_labels": {
            "labelled": sample.n,
            "errors": int(sample.errors),
            "design": "at random" if plan is None else plan.design,
            "stages": list(sample.sizes),
            "target": target,
            "digest": None if plan is None else plan.digest,
            "plain_needs": plain,
        },
    }
    if outputs.reading is not None:
        facts["understood"], facts["origin"] = outputs.understood(), list(outputs.reading.notes)
    return facts
