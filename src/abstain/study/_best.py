"""The best cell of each set of a study against the next, and against the best cell of another model.

The best was chosen among all cells of its set, so its p is multiplied by the number of their pairs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from abstain._result import SPOKEN, Better, Caveat, Status, Verdict
from abstain.metrics import parse

if TYPE_CHECKING:
    from abstain.study._results import Mean, StudyResults

#: Fewer rows than this have wide intervals, whatever they show.
FEW_ROWS = 100
#: Sets that the verdict speaks of.
SETS = 4
#: Metrics in addition to the first, by which the best model is compared with the best other model.
BESIDE = ("accuracy", "auroc_f", parse("coverage_at_risk(risk=0.05)").spec)


def verdict_of(results: StudyResults) -> Verdict:
    """Return the best mean of each set against the next, tested, and what was left out."""
    orders = _orders(results)[:SETS]
    found = [_better(results, order) for order in orders if len(order) > 1]
    caveats = [Caveat.of("files_left_out", count=len(results.failures))] if results.failures else []
    small = [order[0] for order in orders if order[0].n < FEW_ROWS]
    caveats += [Caveat.of("small_sample", what=SPOKEN.format("{0.n:rows} in {0.set}", each)) for each in small]
    best = best_of(results)
    if best is not None and len({(row["model"], row["score"]) for row in results.numbers}) > 1:
        caveats.append(Caveat.of("selected_here", score=_name(best)))
    comparison = replace(found[0], also=(*found[0].also, *found[1:])) if found else None
    name, n = ("", 0) if best is None else (_name(best), best.n)
    return Verdict(Status.COMPARED, name, n=n, comparison=comparison, caveats=tuple(caveats), confidence=results.level)


def _better(results: StudyResults, order: list[Mean]) -> Better:
    """Return the best mean of a set against the next, p adjusted for all pairs of the set."""
    best, pairs = order[0], len(order) * (len(order) - 1) // 2
    rivals, also = [best, *[each for each in order[1:] if each.model != best.model][:1]], []
    for spec in [each for each in BESIDE if len(rivals) > 1 and each in results.values("metric")]:
        others = {_cell(each): each for each in results.means(spec) if _cell(each) in map(_cell, rivals)}
        if len(others) > 1:
            one, two = (others[_cell(each)] for each in rivals)
            label = one.label if rivals[1] is order[1] else f"{one.label} of {one.model} and {two.model}:"
            also.append(replace(_pair(results, one, two, label), share=spec != "auroc_f"))
    found = _pair(results, best, order[1], best.label, pairs)
    return replace(found, same_answers=best.model == order[1].model, where=best.set, also=tuple(also))


def _cell(mean: Mean) -> tuple[str, ...]:
    return mean.data, mean.set, mean.id_failures, mean.model, mean.score


def _pair(results: StudyResults, a: Mean, b: Mean, label: str, times: int = 1) -> Better:
    """Return a test of two means, p times so many tests."""
    p = min(results.p_value(a, b) * times, 1.0)
    return Better(_name(a), _name(b), label, a.value, b.value, a.value - b.value, p=p, significant=p < 0.05)


def best_of(results: StudyResults) -> Mean | None:
    """Return the best cell of the first set that is none for validation."""
    return next((order[0] for order in _orders(results) if order[0].role != "validation"), None)


def _orders(results: StudyResults) -> list[list[Mean]]:
    """Return the means of each set by AUGRC, else by the first metric, the best first."""
    specs = results.values("metric")
    cells: dict[tuple[str, str, str], list[Mean]] = {}
    for each in results.means("augrc" if "augrc" in specs else specs[0]) if specs else ():
        cells.setdefault((each.data, each.set, each.id_failures), []).append(each)
    return [
        sorted(each, key=lambda one: one.value if one.direction == "lower" else -one.value) for each in cells.values()
    ]


def _name(mean: Mean) -> str:
    return f"{mean.model} {mean.score}"
