"""``compare`` with a plan: two models, or two scores of one, from the labels of a few rows of a pool."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.evaluation._comparison import Comparison
from abstain.inference import Difference
from abstain.metrics import Metric

if TYPE_CHECKING:
    from abstain import pool


def compared(loss: Any, scores: Any, metric: Metric, level: float, plan: Any, given: Any) -> Comparison:
    """Return the comparison of two scores from the labelled rows of a plan."""
    from abstain import pool

    if not isinstance(plan, pool.LabelPlan):
        raise TypeError(f"plan must be a LabelPlan, got {type(plan).__name__}; abstain.pool.load_plan(path) reads one")
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name}= does not go with plan= yet; compare without it")
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
    losses = [loss[name] if isinstance(loss, Mapping) else loss for name in names]
    first, second = pool.pair_of(plan, losses)
    found = pool.contrast(metric, pair, first, second.loss, level)
    estimates = [pool.estimate(metric, each, level, "pool") for each in (first, second)]
    sign = 1.0 if metric.direction == "lower" else -1.0
    order = [0, 1] if sign * found.difference <= 0.0 else [1, 0]
    significant = found.p_value < 1.0 - level
    letters = {names[order[0]]: "a", names[order[1]]: "b" if significant else "a"}
    test = Difference(
        names[0], names[1], found.difference, found.low, found.high, found.standard_error, found.standard_error,
        math.nan, found.df, found.p_value, found.p_value, significant, found.warning,
    )  # fmt: skip
    rows = [
        _row(names[k], rank + 1, estimates[k], letters[names[k]], first.n)
        | {"set_low": rank + 1 if significant else 1, "set_high": rank + 1 if significant else 2}
        for rank, k in enumerate(order)
    ]
    return Comparison(
        metric=metric.spec, identifier=metric.identifier, label=metric.label, direction=metric.direction,
        method=f"{first.n} labels by plan", adjust="none", level=level, n=plan.n, n_runs=(1, 1), paired_runs=True,
        n_clusters=None, table=tuple(rows), differences=(test if order[0] == 0 else test.swapped(),), letters=letters,
        fingerprint=plan.digest, same_loss=np.array_equal(first.loss, second.loss),
        labels={"labelled": first.n, "design": plan.design,
                "errors": {name: int(each.errors) for name, each in zip(names, (first, second), strict=True)}},
    )  # fmt: skip


def _row(name: str, rank: int, found: pool.Found, letters: str, n: int) -> dict[str, Any]:
    error = math.sqrt(found.variance)
    return {
        "name": name, "rank": rank, "estimate": found.value, "low": found.low, "high": found.high,
        "standard_error": error, "error_test": error, "error_runs": math.nan, "df": float(n), "n_runs": 1,
        "letters": letters, "interval": found.method, "warning": found.warning,
    }  # fmt: skip
