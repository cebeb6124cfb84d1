"""Build the table, and keep its rows, from counted rows: equal ones are one entry, with how often it occurs.

What a ``group_by`` of an engine over all that an evaluation reads of a row comes back as. Entries that are equal may
occur again: they add up, as rows do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._typing import FloatArray, NanPolicy
from abstain.blocks._order import by_score
from abstain.blocks._parts import Samples
from abstain.blocks._samples import without_empty

if TYPE_CHECKING:
    from abstain.blocks._table import TieBlocks


def build(
    make: type[TieBlocks],
    loss: FloatArray,
    score: FloatArray,
    weight: FloatArray | None,
    times: FloatArray,
    nan_policy: NanPolicy,
) -> TieBlocks:
    """Return the table that keeps its rows, and the loss-ordered one of losses that are not 0/1."""
    unscored = np.isnan(score)
    if weight is not None:  # a row of weight 0 is none, and needs no score
        score = np.where(unscored & (weight == 0.0), -np.inf, score)
        unscored &= weight > 0.0
    number = int(times[unscored].sum())
    if number and nan_policy == "raise":
        raise ValueError(
            f"it is null or NaN in {number} rows; "
            'pass nan_policy="reject" (ranked last, never accepted) or nan_policy="drop" (left out)'
        )
    if number and nan_policy == "drop":
        loss, score, times = loss[~unscored], score[~unscored], times[~unscored]
        weight = None if weight is None else weight[~unscored]
    elif number:
        score = np.where(unscored, -np.inf, score)
    told = {"n_rejected": number} if nan_policy == "reject" else {"n_dropped": number}
    if (times == 1.0).all():  # nothing is repeated: these are the rows themselves
        table = make.from_samples(loss, score, weight, oracle=True, keep_samples=True)
        return replace(
            table, n_rejected=number if nan_policy == "reject" else 0, n_dropped=number * (nan_policy == "drop")
        )
    told = {"n_rejected": number} if nan_policy == "reject" else {"n_dropped": number}
    counts = loss if weight is None else loss[weight > 0.0]
    binary = bool(((counts == 0.0) | (counts == 1.0)).all())
    table = _table(make, loss, score + 0.0, weight, times, binary, **told)
    return table if weight is None else without_empty(table)


def _table(
    make: type[TieBlocks],
    loss: FloatArray,
    score: FloatArray,
    weight: FloatArray | None,
    times: FloatArray,
    binary: bool,
    **told: Any,
) -> TieBlocks:
    order, ranked = by_score(np, score)
    edges = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    block = np.repeat(np.arange(edges.size), np.diff(edges, append=ranked.size))
    total = times if weight is None else times * weight
    count, mass, sums = (np.add.reduceat(column.take(order), edges) for column in (times, total, total * loss))
    optimum = None
    if not told.pop("optimum", False) and not binary:
        optimum = _table(make, loss, 0.0 - loss, weight, times, False, optimum=True)
    return make(
        ranked[edges], mass, sums, count,
        binary=binary,
        frequencies=weight is None or bool((weight == np.floor(weight)).all()),
        samples=Samples(order, loss, weight, block, times=times),
        _oracle=optimum,
        **told,
    )  # fmt: skip
