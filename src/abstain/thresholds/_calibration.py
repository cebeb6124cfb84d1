"""Calibration rows, all and by group: from columns, or counted by the engine that holds them.

A threshold needs of its rows what a table of scores and losses says, so equal ones may come as one with their number.
Clusters do not: how the losses of one run along the scores is looked at row by row. Their rows are written out again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from abstain import scores
from abstain._checks import UnmetNeed, same_length, to_numpy, vector
from abstain._typing import BoolArray, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.outputs import REMEDY, Tally, count, parts_of
from abstain.policy import group_column
from abstain.thresholds._sample import Sample, of_table, read

#: Groups that can have a threshold each, and rows in clusters that are written out.
MOST_GROUPS, MOST_ROWS = 1000, 20_000_000
#: What names columns, or says how they are read.
_NAMES = (str, list, tuple, dict)


@dataclass(frozen=True, eq=False)
class Calibration:
    """The sample of all rows, and what makes that of each group."""

    whole: Sample
    groups: Mapping[str, Callable[[], Sample]]


def in_memory(
    loss: Any, confidence: Any, sample_weight: Any, groups: Any, clusters: Any, nan_policy: NanPolicy
) -> Calibration:
    """Return the calibration rows; an error names the row of the whole column, but for one of a group."""
    whole = read(loss, confidence, sample_weight, nan_policy, clusters)
    if groups is None:
        return Calibration(whole, {})
    column = group_column(groups)
    losses, scores = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
    others = [None if each is None else np.asarray(to_numpy(each)) for each in (sample_weight, clusters)]
    same_length(loss=losses, groups=column)

    def sample(value: Any) -> Sample:
        rows = column == value
        weight, cluster = (None if each is None else each[rows] for each in others)
        return read(losses[rows], scores[rows], weight, nan_policy, cluster)

    return Calibration(whole, {str(value): partial(sample, value) for value in np.unique(column)})


def counted(frame: Any, confidence: Any, groups: Any, nan_policy: NanPolicy, columns: Mapping[str, Any]) -> Calibration:
    """Return the calibration rows of a lazy frame or of Parquet files, whose columns are named."""
    source = parts_of(frame)
    if source is None:
        raise TypeError(
            f"frame must be a lazy frame, a pattern of Parquet files or a folder of them, got {type(frame).__name__}; "
            "of rows in memory give loss= and confidence= as columns"
        )
    given = {"confidence": confidence, "groups": groups, **columns}
    for name, value in given.items():
        if value is not None and not isinstance(value, str if name in ("confidence", "groups") else _NAMES):
            raise TypeError(f"{name} must name a column of the frame, got {type(value).__name__}; give its name")
    told: dict[str, Any] = {name: value for name, value in columns.items() if value is not None}
    computed = confidence in scores.names() and confidence not in source.first.columns()
    told |= {} if confidence is None or computed else {"confidence": confidence}
    wanted = [confidence] if computed else None
    by = [] if groups is None else [groups]
    found = count(source, lambda head: [], wanted, scores.default, by, told, MOST_GROUPS)
    (name, tally), = found.tallies.items()  # fmt: skip
    make = partial(_sample, name, tally, nan_policy)
    if not by:
        return Calibration(make(None), {})
    values, place = tally.groups[groups]
    names = group_column(values)[place]  # as text, as policies have them
    return Calibration(make(None), {str(name): partial(make, names == name) for name in np.unique(names)})


def _sample(name: str, tally: Tally, nan_policy: NanPolicy, rows: BoolArray | None) -> Sample:
    """Return the sample of some entries, or of all."""

    def some(column: FloatArray | Any | None) -> Any:
        return column if rows is None or column is None else column[rows]

    loss, score, weight, cluster, times = map(
        some, (tally.loss, tally.score, tally.weight, tally.clusters, tally.times)
    )
    try:
        if cluster is None:
            return of_table(TieBlocks._of_counted(loss, score, weight, times, nan_policy))
        if (number := int(times.sum())) > MOST_ROWS:
            raise UnmetNeed(
                f"clusters= needs the rows one by one, and {number} are more than {MOST_ROWS}; "
                f"draw whole clusters at random, or {REMEDY}"
            )
        which = np.repeat(np.arange(len(times)), times.astype(np.intp))
        weight = None if weight is None else weight[which]
        return read(loss[which], score[which], weight, nan_policy, cluster[which])
    except ValueError as error:
        raise type(error)(f"score {name!r}: {error}") from None
