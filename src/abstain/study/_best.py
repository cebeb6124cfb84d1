"""The best cell of each set of a study against the next.

The best was chosen among all cells of its set, so its p is multiplied by the number of their pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstain._result import SPOKEN, Better, Caveat, Status, Verdict

if TYPE_CHECKING:
    from abstain.study._results import Mean, StudyResults

#: Fewer rows than this have wide intervals, whatever they show.
FEW_ROWS = 100
#: Sets that the verdict speaks of.
SETS = 4


def verdict_of(results: StudyResults) -> Verdict:
    """Return the best mean of each set against the next, tested, and what was left out."""
    orders = _orders(results)[:SETS]
    found = [(order[0].set, _better(results, order)) for order in orders if len(order) > 1]
    said = [f"On {name}, {each.sentence}" for name, each in found]
    caveats = [Caveat.of("files_left_out", count=len(results.failures))] if results.failures else []
    small = [order[0] for order in orders if order[0].n < FEW_ROWS]
    caveats += [Caveat.of("small_sample", what=SPOKEN.format("{0.n:rows} in {0.set}", each)) for each in small]
    best = best_of(results)
    if best is not None and len({(row["model"], row["score"]) for row in results.numbers}) > 1:
        caveats.append(Caveat.of("selected_here", score=_name(best)))
    return Verdict(
        Status.COMPARED, "" if best is None else _name(best), n=0 if best is None else best.n,
        comparison=found[0][1] if found else None, reason="".join(said[:1]), details=tuple(said[1:]),
        caveats=tuple(caveats), confidence=results.level,
    )  # fmt: skip


def _better(results: StudyResults, order: list[Mean]) -> Better:
    """Return the best mean of a set against the next, p adjusted for all pairs of the set."""
    a, b, pairs = order[0], order[1], len(order) * (len(order) - 1) // 2
    p, same = min(results.p_value(a, b) * pairs, 1.0), a.model == b.model
    return Better(_name(a), _name(b), a.label, a.value, b.value, p=p, significant=p < 0.05, same_answers=same)


def best_of(results: StudyResults) -> Mean | None:
    """Return the best cell of the first set that is none for validation."""
    return next((order[0] for order in _orders(results) if order[0].role != "validation"), None)


def _orders(results: StudyResults) -> list[list[Mean]]:
    """Return the means of each set by AUGRC, else by the first metric, the best first."""
    specs = results.values("metric")
    cells: dict[tuple[str, str, str], list[Mean]] = {}
    for each in results.means("augrc" if "augrc" in specs else specs[0]) if specs else ():
        cells.setdefault((each.data, each.set, each.id_failures), []).append(each)
    return [sorted(by, key=lambda one: one.value if one.direction == "lower" else -one.value) for by in cells.values()]


def _name(mean: Mean) -> str:
    return f"{mean.model} {mean.score}"
