"""A pool where only some rows are labelled, by a plan or at random: evaluated and compared from these labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain import scores as scores_
from abstain._checks import UnmetNeed, one_of
from abstain._typing import ArrayLike, FloatArray, Source
from abstain.curve import RiskCoverageCurve
from abstain.evaluation import _sources
from abstain.evaluation._comparison import Comparison
from abstain.evaluation._measure import Rows, Scored
from abstain.evaluation._provenance import FewLabels, Provenance
from abstain.evaluation._result import Measurement, ScoreSummary
from abstain.metrics import Metric
from abstain.outputs import Outputs, read_pool

if TYPE_CHECKING:
    from abstain import pool

#: What is shown unless asked for more: what few labels can say.
METRICS = ("accuracy", "augrc", "e_augrc", "aurc", "auroc_f", "selective_risk(coverage=0.8)")


def pool_rows(
    source: Source,
    scores: str | Sequence[str] | None,
    columns: Mapping[str, ArrayLike],
    plan: pool.LabelPlan | None,
    target: str,
    labelled: str | None,
    level: float | None,
    nan_policy: str,
) -> Rows:
    """Return the rows of a pool, with the chance that each had to be labelled."""
    from abstain import pool

    if plan is None and labelled is None:
        raise ValueError(
            f"target={target!r} is for a pool with a plan; intervals of labelled rows are about a population anyway"
        )
    if plan is not None:
        _check_plan(plan)
    if plan is not None and labelled is not None:
        raise TypeError("labels are from a plan or at random; give plan= or labelled=, not both")
    if labelled is not None:
        one_of(labelled, ("at random",), "labelled")
    if source is None and plan is not None and plan.ids is not None and columns.get("ids") is not None:
        columns = {**columns, "ids": pool.row_names(columns["ids"])}  # as the plan spells them
    outputs, loss = _read(source, scores, columns)
    for field in ("sample_weight", "clusters"):
        if getattr(outputs, field) is not None:
            what = field.removeprefix("sample_").removesuffix("s") + "s"
            raise UnmetNeed(
                f"the pool has {field}, and no plan draws labels by {field} yet; leave the column of {what} out, or "
                "evaluate rows that are all labelled"
            )
    names = [scores] if isinstance(scores, str) else list(scores or [scores_.default(outputs)])
    if len(names) > 1:
        raise ValueError(f"a plan is for one score, got {', '.join(names)}; evaluate them one by one, or use compare")
    column = scores_.compute(names[0], outputs)
    if plan is not None:
        sample = pool.sample_of(plan, loss[pool.places(plan, column, outputs.ids)])
    else:
        sample = pool.at_random(pool.scores(column, "reject" if nan_policy == "reject" else "raise"), loss)
    facts = Provenance(
        nan_policy=nan_policy,
        level=level,
        fingerprint=outputs.fingerprint,
        n=sample.pool.n,
        mean_loss=sample.estimated.mean_loss,
        binary_loss=True,
        weighted=False,
        clustered=False,
        understood=None if outputs.reading is None else outputs.understood(),
        origin=None if outputs.reading is None else list(outputs.reading.notes),
    )
    return Rows([Scored(names[0], column, sample.loss, sample=sample)], facts)


def refuse_with_plan(given: Mapping[str, object], what: str, verb: str) -> None:
    """Refuse what a plan cannot go with yet."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name}= does not go with {what} yet; {verb} without it")


def _check_plan(plan: object) -> None:
    from abstain import pool

    if not isinstance(plan, pool.LabelPlan):
        raise TypeError(f"plan must be a LabelPlan, got {type(plan).__name__}; abstain.pool.load_plan(path) reads one")


def _read(
    source: Source, scores: str | Sequence[str] | None, columns: Mapping[str, ArrayLike]
) -> tuple[Outputs, FloatArray]:
    """Return all rows of a pool, and losses that are NaN where a row is not labelled."""
    if isinstance(source, Outputs):
        if columns:
            raise TypeError(f"{next(iter(columns))}= is for a file, a frame or arrays; these are Outputs already")
        judged = not source.unlabelled or source.loss is not None
        return source, source.loss_per_sample() if judged else np.full(source.n, np.nan)
    if source is None:
        arrays, named = _sources.arrays_of(columns, None)
        return read_pool(arrays, **named)
    return read_pool(source, scores=_sources.external(source, scores), **columns)


def measured_pool(
    scored: Scored,
    metrics: list[Metric],
    forgiving: bool,
    level: float | None,
    plan: pool.LabelPlan | None,
    target: str,
    unseen: pool.Unseen,
) -> tuple[list[Measurement], ScoreSummary, FewLabels]:
    """Return every metric of the score of a pool, what it looks like, and what the labels are."""
    from abstain import pool

    sample = scored.sample
    assert sample is not None
    measurements: list[Measurement] = []
    needs: dict[str, float] = {}
    more: dict[str, float] = {}
    for metric in metrics:
        head = (scored.name, None, metric.label, metric.spec, metric.identifier, metric.direction)
        try:
            pool.require(metric)
            found = pool.estimate(metric, sample, level, target, unseen)
        except ValueError as need:
            if not forgiving:
                raise
            measurements.append(Measurement(*head, math.nan, str(need).partition("; ask for")[0]))
            continue
        interval = (found.low, found.high, found.method, found.warning, found.variance**0.5)
        measurements.append(Measurement(*head, found.value, found.reason, *interval))
        if math.isfinite(found.value) and found.plain > 0.0:
            needs[metric.label] = float(sample.n if found.variance == 0.0 else found.plain / found.variance)
        if (one_more := pool.one_more(metric, sample)) is not None:
            more[metric.label] = one_more
    blocks = sample.pool.blocks
    design, digest = ("at random", None) if plan is None else (plan.design, plan.digest)
    labels = FewLabels(sample.n, int(sample.errors), design, list(sample.sizes), target, digest, needs, more)
    return measurements, ScoreSummary.of(scored.name, None, blocks, RiskCoverageCurve(sample.estimated)), labels


# ---------------------------------------------------------------------- two scores


def compared_pool(
    loss: ArrayLike, scores: ArrayLike, metric: Metric, level: float, plan: pool.LabelPlan, given: Mapping[str, object]
) -> Comparison:
    """Return the comparison of two scores from the labelled rows of a plan."""
    from abstain import pool

    _check_plan(plan)
    refuse_with_plan(given, "plan=", "compare")
    if not isinstance(scores, Mapping) or len(scores) != 2:
        raise ValueError("a plan compares two scores; give scores={name: column, name: column}")
    pool.require(metric)
    pair = plan.pair
    names = list(scores)
    columns = [pool.scores(scores[name], "reject") for name in names]
    pool.places(plan, columns[0], plan.ids)
    if len(columns[1]) != plan.n or not np.array_equal(columns[1], pair.b.blocks.score[pair.b.block]):
        raise ValueError(f"the scores {names[1]!r} are not those of the plan; give them in the order that was planned")
    if isinstance(loss, Mapping) and set(loss) != set(names):
        raise ValueError(f"loss has {', '.join(map(str, loss))}, scores {', '.join(names)}; use the same names")
    both = pool.pair_of(plan, [loss[name] if isinstance(loss, Mapping) else loss for name in names])
    found = pool.contrast(metric, pair, both[0], both[1].loss, level, (names[0], names[1]))
    sign = 1.0 if metric.direction == "lower" else -1.0
    order = [0, 1] if sign * found.difference <= 0.0 else [1, 0]
    letters = {names[order[0]]: "a", names[order[1]]: "b" if found.significant else "a"}
    rows = []
    for rank, k in enumerate(order, 1):
        estimate, name = pool.estimate(metric, both[k], level, "pool", "random"), names[k]
        error = math.sqrt(estimate.variance)
        rows.append(
            {
                "name": name,
                "rank": rank,
                "estimate": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "standard_error": error,
                "error_test": error,
                "error_runs": math.nan,
                "df": float(both[0].n),
                "n_runs": 1,
                "letters": letters[name],
                "interval": estimate.method,
                "warning": estimate.warning,
                "set_low": rank if found.significant else 1,
                "set_high": rank if found.significant else 2,
            }
        )
    errors = {name: int(each.errors) for name, each in zip(names, both, strict=True)}
    return Comparison(
        metric=metric.spec,
        identifier=metric.identifier,
        label=metric.label,
        direction=metric.direction,
        method=f"{both[0].n} labels by plan",
        adjust="none",
        level=level,
        n=plan.n,
        n_runs=(1, 1),
        paired_runs=True,
        n_clusters=None,
        table=tuple(rows),
        differences=(found if order[0] == 0 else found.swapped(),),
        letters=letters,
        fingerprint=plan.digest,
        same_loss=np.array_equal(both[0].loss, both[1].loss),
        labels={"labelled": both[0].n, "design": plan.design, "errors": errors},
    )
