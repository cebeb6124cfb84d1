"""The first screen from a verdict: headline, status, rule, numbers and caveats, in the words of the verdict."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from abstain._result import CERTIFYING, SPOKEN, Column, Row, Status, Table, percent
from abstain._typing import Document
from abstain.report._page import Board, Lead, Number

if TYPE_CHECKING:
    from abstain._result import Verdict

#: Caveats on the first screen; a section has the others.
CAVEATS = 3
#: Groups on the first screen, where they are all that there is to say.
GROUPS = 6
_TONES = {"yes": "good", "care": "care", "no": "bad", "open": "open"}


def lead_of(verdict: Verdict, board: Board) -> Lead:
    """Return the first screen: the words are the verdict's, the chart and the numbers those of the kind of result."""
    board = board if board.numbers else Board(board.chart, decision_numbers(verdict), board.slider)
    compared = verdict.comparison if verdict.status is not Status.COMPARED else None
    return Lead(
        verdict.headline,
        _TONES[verdict.sign],
        _status(verdict),
        verdict.rule,
        verdict.guarantee,
        board,
        verdict.caveats[:CAVEATS],
        verdict.next or "",
        _aim(verdict),
        "" if compared is None else f"{compared.sentence} {measured_by(compared.metric, 'lower').removeprefix(' · ')}.",
    )


def _aim(verdict: Verdict) -> str:
    """Return what the command that goes on is for, where it asks for another limit than the verdict speaks of."""
    asked = re.search(r"--risk ([\d.]+)", verdict.next or "")
    if asked is None or verdict.limit is None or float(asked[1]) == verdict.limit:
        return "Next"
    return f"Next, for {percent(float(asked[1]))}"


def _status(verdict: Verdict) -> str:
    """Return the status with its confidence, where it holds, and whether there is a caveat to read first."""
    status, said = verdict.status, verdict.status.value.capitalize()
    if verdict.confidence is not None and status in CERTIFYING:
        said += f", {percent(verdict.confidence)} confidence"
    if status is Status.NOT_CERTIFIED and verdict.best is not None and verdict.limit is not None:
        said += f" at {verdict.share(verdict.limit)}; certified at {verdict.share(verdict.best.limit)}"
    if verdict.above and status is not Status.NO_USE:
        return SPOKEN.format("{}, but not in {:list}", said, verdict.above)
    care = verdict.sign == "care" and status in (Status.CERTIFIED, Status.SATISFIED, Status.NO_VIOLATION)
    return f"{said}; first read the note{'s' * (len(verdict.grave) > 1)} marked !" if care else said


def measured_by(label: str, direction: str) -> str:
    """Return a metric with what is better, and once what it is."""
    what = ": errors that are answered, per case, averaged over all coverages" * (label == "AUGRC")
    return f" · {label}{what}; {direction} is better" if direction else ""


def decision_numbers(verdict: Verdict) -> tuple[Number, ...]:
    """Return what a rule does: coverage, risk, and what goes wrong and is referred for review per 1,000 cases."""
    if verdict.coverage is None or verdict.risk is None:
        return _group_numbers(verdict)
    ends = verdict.risk_interval if verdict.risk_interval is not None else (math.nan, math.nan)
    rows = f"{verdict.n_accepted:,} of {verdict.n:,} rows" if verdict.n_accepted else ""
    loss = verdict.risk * verdict.coverage if verdict.coverage else 0.0
    found = rule_numbers(verdict.coverage, verdict.risk, ends, rows, loss, graded=verdict.graded)
    return tuple(replace(each, key="") for each in found)


def _group_numbers(verdict: Verdict) -> tuple[Number, ...]:
    """Return what each group has: where to answer, or that it has no threshold and why it may have none."""
    found = []
    for each in verdict.groups[:GROUPS]:
        risk = "" if math.isnan(each.risk) else f", {verdict.measure} {verdict.share(each.risk)}"
        where = "no threshold" if each.threshold is None else f"≥ {each.printed}"
        found.append(Number(each.group or "", where, f"{each.n:,} row{'s' * (each.n != 1)}{risk}"))
    more = len(verdict.groups) - GROUPS
    return (*found, *([Number("More groups", f"and {more} more")] if more > 0 else []))


def slider_numbers(data: Document) -> tuple[Number, ...]:
    """Return the numbers at the beginning of the slider, in the form in which the script shows all of them."""
    one = data["scores"][0]
    _, n, weight, loss, low, high = one["stops"][one["start"]]
    ends = (math.nan if low is None else low, math.nan if high is None else high)
    found = rule_numbers(
        weight / one["total"],
        loss / weight if weight else math.nan,
        ends,
        f"{n:,} of {one['n']:,} rows",
        loss / one["total"],
        graded=not data["binary"],
        exact=one["exact"],
    )
    return (*found, Number("Cost per 1,000 cases", "", key="cost"))


def rule_numbers(
    coverage: float, risk: float, ends: tuple[float, float], rows: str, loss: float, *, graded: bool, exact: bool = True
) -> tuple[Number, ...]:
    """Return coverage, risk, errors and reviews as the page names them; ``loss``: of the answers, per case of all."""
    form = plain if graded else share
    small = "" if math.isnan(ends[0]) else f"{'' if exact else '≈ '}{form(ends[0])} to {form(ends[1])}"
    return (
        Number("Coverage", share(coverage), rows, "coverage"),
        Number("Mean loss of answers" if graded else "Error rate of answers", form(risk), small, "risk"),
        Number("Loss per 1,000 cases", plain(1000.0 * loss), key="errors")
        if graded
        else Number("Errors per 1,000 cases", whole(1000.0 * loss), key="errors"),
        Number("Reviews per 1,000 cases", whole(1000.0 * (1.0 - coverage)), key="reviews"),
    )


def share(value: float) -> str:
    """Return a share in per cent with one decimal, a small one with two digits."""
    if math.isnan(value):
        return "–"
    cents = 100.0 * value
    if cents in (0.0, 100.0):
        return f"{cents:.0f} %"
    if cents < 0.995:
        return "< 0.01 %" if cents < 0.01 else f"{cents:.2g} %"
    return f"{math.floor(10.0 * cents + 0.5) / 10.0:.1f} %"  # as the script rounds


def plain(value: float, digits: int = 4) -> str:
    """Return a number that is no share."""
    return f"{value:.{digits}g}"


def whole(value: float) -> str:
    """Return how many cases, rounded."""
    if math.isnan(value):
        return "–"
    return "< 1" if 0.0 < value < 1.0 else f"{math.floor(value + 0.5):,}"


def levels(verdict: Verdict) -> Table | None:
    """Return what is certified, tried in vain, and measured only, by limit; None if nothing was tried."""
    rows: list[Row] = [
        (
            verdict.share(each.limit),
            "certified",
            share(each.coverage),
            each.shown,
        )
        for each in verdict.levels
    ]
    rows += [(verdict.share(limit), "not certified", "", "") for limit in verdict.missed]
    if (point := verdict.measured) is not None:
        threshold = point.printed or repr(point.threshold)
        rows.append((verdict.share(point.limit), "measured, not certified", share(point.coverage), threshold))
    if not rows:
        return None
    heads = [Column(f"Highest {verdict.measure}"), Column("Status", left=True), Column("Coverage"), Column("Threshold")]
    sure = "" if verdict.confidence is None else f"with {percent(verdict.confidence)} confidence for all together"
    return Table(heads, rows, notes=[f"Certified: for new cases like these, {sure}."] if sure else [], ranks=0)
