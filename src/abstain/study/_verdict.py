"""What the verdict of a study rests on: the best cell of each set, held against the next and the best of another model.

The test of two means is paired: the influences of all runs on a set are summed over the same groups of rows, so
differences of these sums give the variance of a difference. The best was chosen among all cells of its set, so p is
multiplied by the number of their pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from abstain._quantiles import t_tails
from abstain._result import Better, Caveat, Status, Verdict
from abstain.inference import of_pair
from abstain.metrics import parse

if TYPE_CHECKING:
    from abstain.study._results import Mean, StudyResults

#: Fewer rows than this have wide intervals, whatever they show.
FEW_ROWS = 100
#: Sets that the verdict speaks of.
SETS = 4
#: Metrics beside the first that are told of the best models, the risk of the coverage, and how they are said.
RISK = 0.05
BESIDE = ("accuracy", "auroc_f", parse(f"coverage_at_risk(risk={RISK})").spec)


def verdict_of(results: StudyResults) -> Verdict:
    """Return the best mean of each set against the next, tested, and what was left out."""
    orders = [_order(each) for each in list(_cells(results).values())[:SETS]]
    found = [_better(results, order) for order in orders if len(order) > 1]
    caveats = [Caveat.of("files_left_out", count=len(results.failures))] if results.failures else []
    caveats += [
        Caveat.of("small_sample", what=f"{order[0].n} row{'s' * (order[0].n != 1)} in {order[0].set}")
        for order in orders
        if order[0].n < FEW_ROWS
    ]
    best = best_of(results)
    if best is not None and len({(row["model"], row["score"]) for row in results.numbers}) > 1:
        caveats.append(Caveat.of("selected_here", score=_name(best)))
    comparison = replace(found[0], also=(*found[0].also, *found[1:])) if found else None
    return Verdict(Status.COMPARED, score="" if best is None else _name(best), n=0 if best is None else best.n,
                   comparison=comparison, caveats=tuple(caveats), confidence=results.level)  # fmt: skip


def _better(results: StudyResults, order: list[Mean]) -> Better:
    """Return the best mean of a set against the next, p adjusted for all pairs of the set."""
    best, other, pairs = order[0], order[1], len(order) * (len(order) - 1) // 2
    p = _tested(results, best, other, pairs)
    rival = next((each for each in order[1:] if each.model != best.model), None)
    also = []
    for spec in BESIDE if rival is not None else ():
        one, two = _same(results, spec, best), _same(results, spec, rival)  # type: ignore[arg-type]
        if one is not None and two is not None:
            tested = _tested(results, one, two, 1)
            also.append(Better(_name(best), _name(two), f"{one.label} of {two.model}", one.value, two.value,
                               one.value - two.value, p=tested, significant=tested < 0.05,
                               share=spec != "auroc_f"))  # fmt: skip
    return Better(
        _name(best), _name(other), best.label, best.value, other.value, best.value - other.value, p=p,
        significant=p < 0.05, same_answers=best.model == other.model, where=best.set, also=tuple(also),
    )  # fmt: skip


def best_of(results: StudyResults) -> Mean | None:
    """Return the best cell of the first set that is none for validation."""
    return next((_order(each)[0] for each in _cells(results).values() if each[0].role != "validation"), None)


def _cells(results: StudyResults) -> dict[tuple[str, str, str], list[Mean]]:
    found: dict[tuple[str, str, str], list[Mean]] = {}
    specs = results.values("metric")
    for each in results.means("augrc" if "augrc" in specs else specs[0]) if specs else ():
        found.setdefault((each.data, each.set, each.id_failures), []).append(each)
    return found


def _order(several: Sequence[Mean]) -> list[Mean]:
    sign = 1.0 if several[0].direction == "lower" else -1.0
    return sorted(several, key=lambda each: sign * each.value)


def _name(mean: Mean) -> str:
    return f"{mean.model} {mean.score}"


def _same(results: StudyResults, spec: str, cell: Mean) -> Mean | None:
    """Return another metric of the same cell."""
    if spec not in results.values("metric"):
        return None
    wanted = (cell.data, cell.model, cell.set, cell.id_failures, cell.score)
    return next((each for each in results.means(spec)
                 if (each.data, each.model, each.set, each.id_failures, each.score) == wanted), None)  # fmt: skip


def _tested(results: StudyResults, a: Mean, b: Mean, times: int) -> float:
    """Return the p-value of a paired difference of two means, times so many tests; NaN where it is not known."""
    found = [results.terms(each) for each in (a, b)]
    if any(each is None for each in found) or not results.same_rows(a, b):
        return math.nan
    (one, first), (other, second) = (each for each in found if each is not None)
    together = a.model == b.model and len(one) == len(other)
    if not together and 1 in (len(one), len(other)) and len(one) != len(other):
        return math.nan
    parts = of_pair((one, other), (first, second), first.shape[1] - 1.0, together)
    error = math.sqrt(parts.total)
    if error == 0.0:
        return 1.0 if one.mean() == other.mean() else math.nan
    return min(1.0, times * t_tails(float(np.mean(one) - np.mean(other)) / error, parts.df))
