"""A verdict as lines of a terminal, and as Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from abstain._result._markup import prose
from abstain._result._spoken import percent
from abstain._result._verdict import CAVEATS_SHOWN, CERTIFYING, Status, Verdict
from abstain._result._words import clean, wrapped

#: So many levels are printed, and so many lines of which the command that goes on is not the most important.
LEVELS, SHOWN = 3, 9
#: Spaces at which no line is broken: before a per cent sign, and in a p-value.
_KEPT = re.compile(r"(?<=\d) (?=%)|(?<=\bp) (?=[<=])|(?<=\bp [<=]) (?=\d)")


def lines_of(
    verdict: Verdict, width: int = 80, most: int = CAVEATS_SHOWN, words: Callable[[str], str] = str
) -> list[str]:
    """Return the answer first, then at most so many caveats, then what goes on; no line is wider than ``width``.

    ``words``: how to say what names arguments of the library.
    """
    found = _answers(verdict)
    if verdict.comparison is not None and verdict.status is not Status.COMPARED:
        found.append(verdict.comparison.sentence)
    found += [f"  {each}" for each in verdict.details] + [f"! {each.text}" for each in verdict.caveats[:most]]
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
    status, first, in_columns = verdict.status, [verdict.headline], len(verdict.levels) > 1
    if status is Status.NO_USE:
        return [*first, f"  {verdict.guarantee}"] if verdict.levels and verdict.guarantee else first
    if status is Status.CERTIFIED:  # in columns it is in each line
        first = [] if in_columns else [f"certified: {verdict.at_most(verdict.limit)}{verdict.surely}"]
    elif status in CERTIFYING:
        first = [f"{verdict.headline.removesuffix('.')}{verdict.surely}"]
    elif verdict.best is not None and verdict.reason:
        first.append(f"  {verdict.reason}")
    return [*first, *(_columns(verdict) if in_columns else _numbers(verdict))]


def _numbers(verdict: Verdict) -> list[str]:
    found = [f"  {verdict.guarantee}"] if verdict.status is Status.VIOLATED else []
    if verdict.threshold is not None and math.isfinite(verdict.threshold) and verdict.coverage != 1.0:
        where = f"  answer if {clean(verdict.score) or 'score'} >= {verdict.printed}"
        found.append(f"{where}      coverage {percent(verdict.coverage or 0.0)}{_ends(verdict.coverage_interval)}")
    if verdict.risk is not None and verdict.n_accepted and verdict.status is not Status.NO_VIOLATION:
        risk = verdict.share(verdict.risk) + ("" if verdict.graded else _ends(verdict.risk_interval))
        found.append(f"  measured {verdict.measure} {risk}, {verdict.n_accepted:,} of {verdict.n:,} rows")
    return found


def _columns(verdict: Verdict) -> list[str]:
    """Return the certified levels in columns, those nearest to the limit that was asked for."""
    asked, kind = verdict.limit or 1.0, verdict.measure.split()[0]
    nearest = sorted(verdict.levels, key=lambda each: abs(math.log(each.limit / asked)))[:LEVELS]
    rows = [(f"certified ({percent(verdict.confidence or 0.0)})", "coverage", "threshold")]
    for each in sorted(nearest, key=lambda each: each.limit):
        rows.append((f"{kind} <= {verdict.share(each.limit)}", percent(each.coverage), each.shown))
    wide = max(len(first) for first, _, _ in rows)
    found = [f"{first:<{wide}}   {coverage:>8}   {at}" for first, coverage, at in rows]
    missed = []
    if (point := verdict.measured) is not None:
        missed.append(f"{verdict.share(point.limit)} measured, not certified: {percent(point.coverage)}")
    if verdict.missed:
        missed.append(f"not certified: {', '.join(map(verdict.share, verdict.missed))}")
    return [*found, f"  {'      '.join(missed)}"] if missed else found


def _ends(interval: tuple[float, float] | None) -> str:
    """Return the interval of a share in per cent, where there is one."""
    if interval is None or any(map(math.isnan, interval)):
        return ""
    return f" [{100.0 * interval[0]:.1f}, {100.0 * interval[1]:.1f}]"
