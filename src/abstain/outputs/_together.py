"""Count rows that are equal in several scores at once: what a paired comparison reads of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from abstain._checks import UnmetNeed
from abstain._pace import Pace
from abstain._typing import FloatArray, IntArray
from abstain.outputs._count import LOSS, MISSING, MOST, SCORE, TIMES, together
from abstain.outputs._engine import REMEDY, Rows
from abstain.outputs._parts import Parts
from abstain.outputs._tally import Sum, floats, refuse, shared, sums


@dataclass(frozen=True, eq=False)
class Together:
    """Rows that are equal in all scores and loss, kept once with how often they occur."""

    scores: Mapping[str, FloatArray]
    loss: Mapping[str, FloatArray]
    weight: FloatArray | None
    clusters: IntArray | None
    times: FloatArray

    @property
    def fingerprint(self) -> str:
        """A hash of what was counted: the same for any partition and order of the rows."""
        columns = [*self.scores.values(), *self.loss.values(), *([] if self.weight is None else [self.weight])]
        said = json.dumps([list(self.scores), sums(columns, self.times)])
        return hashlib.sha256(said.encode()).hexdigest()


def count_together(
    source: Parts,
    external: Callable[[Any], list[str]],
    scores: Sequence[str],
    loss: Mapping[str, str],
    columns: Mapping[str, Any],
) -> Together:
    """Count the rows of all parts that are equal in all scores; ``loss``: the columns of those with their own."""
    with source.first.about():
        rows = Rows.of(source.first.frame, external, (), columns)
    total, pace = Sum(), Pace("counting rows", source.n)
    for part in source.parts:
        with part.about():
            for piece in part.pieces():
                total.add(together(rows.on(piece.frame), scores, loss))
                _refuse_too_many(scores, total.different)
                pace.advance(piece.n)
    found = total.all()
    _refuse_too_many(scores, len(found))
    times = floats(found[TIMES])
    if not times.sum():
        raise ValueError("the frame has no rows; at least one sample is needed")
    made, lost = {}, {}
    for k, name in enumerate(scores):
        lost[name] = floats(found[f"{LOSS}_{k}"])
        refuse(lost[name], times, f"column {loss[name]!r}" if name in loss else rows.about(name), "loss")
        if number := int(times[floats(found[f"{MISSING}_{k}"]) > 0.0].sum()):
            raise ValueError(
                f"score {name!r} is null or NaN in {number} rows; a paired comparison needs the same rows "
                "throughout: filter these rows, or fill with -inf to reject them"
            )
        made[name] = floats(found[f"{SCORE}_{k}"]) + 0.0
    return Together(made, lost, *shared(rows, found, times), times)


def _refuse_too_many(scores: Sequence[str], different: int) -> None:
    """Refuse what is no summary."""
    if different > MOST:
        raise UnmetNeed(
            f"scores {', '.join(map(repr, scores))}: more than {MOST} rows differ in scores, loss, weight and "
            f"cluster, and no bounds are known of pairs; round the scores, or draw rows at random and {REMEDY}"
        )
