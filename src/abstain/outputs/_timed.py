"""Count rows that are equal in score, loss and group at each time: what is watched of labelled rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._pace import Pace
from abstain._typing import FloatArray
from abstain.outputs._count import GROUP, LOSS, MISSING, SCORE, TIMES, by_score
from abstain.outputs._engine import Rows
from abstain.outputs._outputs import Outputs
from abstain.outputs._parts import Parts
from abstain.outputs._tally import Sum, complete, floats, refuse, refuse_too_many


@dataclass(frozen=True, eq=False)
class Timed:
    """Rows that are equal, kept once with how often they occur; a loss is NaN where there is no label."""

    score: FloatArray
    loss: FloatArray
    time: Any
    group: Any | None
    times: FloatArray


def count_in_time(
    source: Parts, score: str | None, default: Callable[[Outputs], str], time: str, group: str | None,
    columns: Mapping[str, Any],
) -> Timed:  # fmt: skip
    """Count the equal rows of all parts at each time."""
    by = [time, *([] if group is None else [group])]
    with source.first.about():
        rows = Rows.of(source.first.frame, lambda _: [], (), columns, unlabelled=True)
        score = default(rows.first) if score is None else score
    total, pace = Sum(), Pace("counting rows", source.n)
    for part in source.parts:
        with part.about():
            for piece in part.pieces():
                total.add(by_score(rows.on(piece.frame), [score], by)[0])
                refuse_too_many(score, total.different)
                pace.advance(piece.n)
    found = total.all()
    refuse_too_many(score, len(found))
    times, loss = floats(found[TIMES]), floats(found[LOSS])
    loss = np.where((loss == -1.0) | (loss == -2.0), np.nan, loss)  # null or NaN: no label
    refuse(loss, times, rows.about(score), "loss")
    scores = np.where(floats(found[MISSING]) > 0.0, np.nan, floats(found[SCORE])) + 0.0
    when, *others = (complete(found, f"{GROUP}{k}", name).to_numpy() for k, name in enumerate(by))
    return Timed(scores, loss, when, others[0] if others else None, times)
