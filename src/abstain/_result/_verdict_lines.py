"""A verdict as lines of a terminal, and as Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from abstain._result._markup import prose
from abstain._result._spoken import percent
from abstain._result._verdict import CAVEATS_SHOWN, Status, Verdict
from abstain._result._words import clean, wrapped

#: So many levels are printed, and so many lines of which the command that goes on is not the most important.
LEVELS, SHOWN = 3, 9
#: Spaces at which no line is broken: before a per cent sign, and in a p-value.
_KEPT = re.compile(r"(?<=\d) (?=%)|(?<=\bp) (?=[<=])|(?<=\bp [<=]) (?=\d)")
#: Statuses whose headline states a guarantee.
_CERTIFYING = (Status.CERTIFIED, Status.MIX, Status.PARTLY)


def lines_of(
    verdict: Verdict, width: int = 80, most: int = CAVEATS_SHOWN, words: Callable[[str], str] = str
) -> list[str]:
    """Return the answer first, then at most so many caveats, then what goes on; no line is wider than ``width``.

    ``words``: how to say what names arguments of the library.
    """
    found = [*_answers(verdict), *_compared(verdict), *(f"! {each.text}" for each in verdict.caveats[:most])]
    if (hidden := len(verdict.caveats) - most) > 0:
        found.append(f"{hidden} more with --verbose")
    broken = [line for each in found for line in _broken(words(each), width)]
    going_on = _broken(words(f"next: {verdict.next}"), width) if verdict.next else []
    return [*broken, *(going_on if verdict.sign != "yes" or len(broken) + len(going_on) <= SHOWN else [])]


def _broken(text: str, width: int) -> list[str]:
    """Return the lines of a text, in which a number and its sign stay together."""
    return [line.replace("\u00a0", " ") for line in wrapped(_KEPT.sub("\u00a0", text), width, "  ")]


def markdown_of(verdict: Verdict) -> str:
    """Return headline and status, then all else as a list."""
    items = [line.strip() for line in lines_of(verdict, 10_000, len(verdict.caveats))[1:] if line.strip()]
    head = f"**{prose(verdict.headline)}** ({verdict.status.value})"
    return "\n\n".join([head, "\n".join(f"- {prose(each)}" for each in items)]).rstrip()


def _answers(verdict: Verdict) -> list[str]:
    """Return the answer: levels in columns where there are several, else headline and numbers."""
    status, levels = verdict.status, verdict.levels
    in_columns = len(levels) > 1 and levels[0].group is None and status is not Status.NO_USE
    first = [verdict.headline]
    if status in (Status.NOT_CERTIFIED, Status.NO_USE) and levels:
        first = [verdict.headline.removesuffix(".")]
    elif verdict.confidence is not None and status in _CERTIFYING and levels:
        limit = f"certified: {verdict.at_most(verdict.limit)}" if status is Status.CERTIFIED else verdict.headline
        first = [f"{limit.removesuffix('.')}, with {percent(verdict.confidence)} confidence"]
    if in_columns if status is Status.CERTIFIED else status is Status.COMPARED and verdict.comparison is not None:
        first = []  # columns, or the comparison, say it
    if status is Status.NOT_CERTIFIED and verdict.reason and levels:
        first.append(f"  {verdict.reason}")
    return [*first, *(_columns(verdict) if in_columns else _numbers(verdict))]


def _numbers(verdict: Verdict) -> list[str]:
    if verdict.status is Status.NO_USE:
        return []
    found = [f"  {verdict.guarantee}"] if verdict.status is Status.VIOLATED else []
    if verdict.threshold is not None and math.isfinite(verdict.threshold) and verdict.coverage != 1.0:
        where = f"  answer if {clean(verdict.score) or 'score'} >= {verdict.printed or repr(verdict.threshold)}"
        found.append(f"{where}      coverage {_with(verdict.coverage, verdict.coverage_interval)}")
    if verdict.risk is not None and verdict.n_accepted and verdict.status is not Status.NO_VIOLATION:
        interval = None if verdict.graded else verdict.risk_interval
        risk = verdict.share(verdict.risk) if interval is None else _with(verdict.risk, interval)
        found.append(f"  measured {verdict.measure} {risk}, {verdict.n_accepted:,} of {verdict.n:,} rows")
    return [*found, f"  {verdict.detail}"] if verdict.detail and verdict.comparison is None else found


def _columns(verdict: Verdict) -> list[str]:
    """Return the certified levels in columns, those nearest to the limit that was asked for."""
    nearest = sorted(
        verdict.levels, key=lambda each: abs(math.log((each.limit or 1e-9) / (verdict.limit or each.limit or 1e-9)))
    )
    shown = sorted(nearest[:LEVELS], key=lambda each: each.limit)
    limits = [f"{verdict.measure.split()[0]} <= {verdict.share(each.limit)}" for each in shown]
    sure = f"certified ({percent(verdict.confidence)})" if verdict.confidence is not None else "certified"
    wide = max(map(len, [sure, *limits]))
    found = [f"{sure:<{wide}}   coverage   threshold"]
    for limit, each in zip(limits, shown, strict=True):
        at = "none needed" if each.coverage == 1.0 else each.printed or repr(each.threshold)
        found.append(f"{limit:<{wide}}   {percent(each.coverage):>8}   {at}")
    missed = []
    if verdict.measured is not None:
        limit, coverage = verdict.share(verdict.measured.limit), percent(verdict.measured.coverage)
        missed.append(f"{limit} measured, not certified: {coverage}")
    if verdict.missed:
        missed.append(f"not certified: {', '.join(map(verdict.share, verdict.missed))}")
    return [*found, f"  {'      '.join(missed)}"] if missed else found


def _compared(verdict: Verdict) -> list[str]:
    if verdict.comparison is None:
        return []
    first = verdict.comparison
    also = (each.values if each.where in ("", first.where) else each.sentence for each in first.also)
    detail = [verdict.detail] if verdict.detail else []
    return [first.sentence, *(f"  {each}" for each in (*detail, *also))]


def _with(value: float | None, interval: tuple[float, float] | None) -> str:
    """Return a share with its interval, both in per cent."""
    if value is None or interval is None or any(map(math.isnan, interval)):
        return "—" if value is None else percent(value)
    return f"{percent(value)} [{', '.join(f'{100.0 * end:.1f}' for end in interval)}]"
