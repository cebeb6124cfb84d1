"""What compares: scores or models with ranks and tests, groups, and a test with a margin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._result import Column, Estimate, Row, Table, decimals, fixed, percent
from abstain._typing import Document
from abstain.evaluation import Comparison
from abstain.inference import Beside, GroupComparison, NonInferiority
from abstain.report._any import COLUMNS
from abstain.report._charts import ROWS, named_intervals
from abstain.report._lead import measured_by
from abstain.report._page import Board, Chart, Charts, Folded, Grid, Number, Part, Prose, Rule, Section
from abstain.report._source import Source

if TYPE_CHECKING:
    from abstain._result import Verdict

#: Pairs of groups that are named on the first screen.
PAIRS = 3


def about(found: Comparison | GroupComparison | NonInferiority) -> str:
    """Return how many rows were compared, and at which level."""
    n = sum(found.sizes.values()) if isinstance(found, GroupComparison) else found.n
    return f"{n:,} rows{measured_by(found.label, found.direction)}"


def contents(found: Any, source: Source, verdict: Verdict) -> tuple[Board, list[Section]]:
    """Return the chart of what is compared with the numbers of the first two, and the sections."""
    return Board(chart(found), (*numbers_of(verdict), *_numbers(found))), _sections(found, source)


def _numbers(found: Any) -> tuple[Number, ...]:
    """Return what a comparison has in addition: the margin; of groups the first, the last, and the pairs."""
    if isinstance(found, NonInferiority):
        difference, low, high = fixed_alike([found.difference, found.low, found.high])
        return (
            Number("Difference", difference, f"{low} to {high}"),
            *(
                [Number("p-value", _p(found.p_value))] if found.low <= found.margin else []
            ),  # else the opposite is shown
            Number("Margin", f"{found.margin:g}"),
            Number("Rows", f"{found.n:,}"),
        )
    if not isinstance(found, GroupComparison):
        return ()
    known = list(found.intervals.items())
    ends = (known[0], known[-1])
    texts = fixed_alike([value for _, each in ends for value in (each.estimate, each.low, each.high)])
    differ = [f"{each.a} and {each.b}" for each in found.differences if each.significant]
    which = "; ".join(differ[:PAIRS]) + "; ..." * (len(differ) > PAIRS)
    return (
        *(
            Number(f"{found.label} of {name}", texts[3 * k], f"{texts[3 * k + 1]} to {texts[3 * k + 2]}")
            for k, (name, _) in enumerate(ends)
        ),
        Number("Pairs that differ", f"{len(differ)} of {len(found.differences)}", which),
    )


def numbers_of(verdict: Verdict) -> tuple[Number, ...]:
    """Return the values of the best and of the next, their difference, and the p-value of their test."""
    better = verdict.comparison
    if better is None:
        return ()
    first, second, difference = fixed_alike([better.value, better.next_value, better.value - better.next_value])
    found = (
        Number(f"{better.metric} of {better.best}", first),
        Number(f"{better.metric} of {better.next}", second),
        Number("Difference", difference),
        Number("p-value", _p(better.p), "adjusted for all pairs" if better.may_be_best else ""),
    )
    return tuple(each for each in found if each.value)


def _p(value: float) -> str:
    return "" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def fixed_alike(values: Sequence[float]) -> list[str]:
    """Return numbers that are compared with each other, with the same decimals."""
    places = decimals(values)
    return [fixed(each, places) for each in values]


@singledispatch
def chart(found: Any) -> Chart:
    """Return the chart that leads the page."""
    raise TypeError(f"nothing is compared by {type(found).__name__}")


@singledispatch
def _sections(found: Any, source: Source) -> list[Section]:
    raise TypeError(f"nothing is compared by {type(found).__name__}")


# ---------------------------------------------------------------------- scores and models


@chart.register
def _(found: Comparison) -> Chart:
    rows = [(str(row["name"]), float(row["estimate"]), float(row["low"]), float(row["high"])) for row in found.table]
    title = f"{found.label} with {100.0 * found.level:g} % intervals, best first"
    return named_intervals("compared", title, found.label, rows)


@_sections.register
def _(found: Comparison, source: Source) -> list[Section]:
    notes = tuple(found.notes())
    rows: list[Row] = [("rows", f"{found.n}, the same for all"), *source.checks()]
    parts: list[Part] = [Grid(Table([Column("Check"), Column("Found", left=True)], rows))]
    parts.append(Prose(notes, "note") if notes else Prose(("Nothing is unusual about these rows.",)))
    more = [] if found.beside is None else [_each(found.beside, [str(row["name"]) for row in found.table])]
    return [
        Section("scores", "Estimates, ranks and tests", (*scores_of(found)[1:], *more)),
        Section("checks", "Data", tuple(parts)),
    ]


def scores_of(found: Comparison) -> list[Part]:
    """Return the estimates as a chart and tables, with the ranks that the tests leave."""
    rows: list[Row] = [
        (
            row["name"],
            Estimate(row["estimate"], row["low"], row["high"]),
            row["rank"],
            _ranks(row),
            row["standard_error"],
            row["letters"],
        )
        for row in found.table
    ]
    heads = [
        Column("Score"),
        Column(found.label, found.direction),
        Column("Rank"),
        Column("Set of ranks"),
        Column("Standard error"),
        Column("Letters", left=True),
    ]
    level = f"{100.0 * found.level:g} %"
    notes = [
        f"In brackets: {level} interval. All true ranks lie in their sets at once with probability {level}.",
        "Scores that share a letter do not differ significantly.",
    ]
    pairs: Part = Grid(found.tables()[1])
    if len(found.table) > 4:
        pairs = Folded("Tests of the pairs", (pairs,))
    estimates = Table(heads, rows, "Estimates, and the ranks that the tests leave", notes)
    return [Charts((chart(found),)), Grid(estimates), pairs]


def _ranks(row: Document) -> str:
    low, high = row["set_low"], row["set_high"]
    return str(low) if low == high else f"{low} to {high}"


def _each(known: Beside, names: Iterable[str]) -> Grid:
    """Return what is known of each by itself: errors, AUROC of failures, and coverage at a risk."""
    counted = known.errors is not None
    heads = [Column("Score"), Column("Errors" if counted else "Mean loss", "lower" if not known.same_loss else "")]
    drawn = [what for what in ("ranking", "coverage") if what in known.tested]
    titles = {"ranking": "AUROC of failures", "coverage": f"Coverage at risk {percent(known.risk or 0.0)}"}
    heads += [Column(titles[what], "higher", share=what == "coverage") for what in drawn]
    rows: list[Row] = []
    for name in names:
        ends = [known.interval(what, name) for what in drawn]
        shown = [Estimate(np.nan) if each is None else Estimate(each.estimate, each.low, each.high) for each in ends]
        rows.append((name, known.errors[name] if known.errors else known.mean_loss[name], *shown))
    of = f"Errors of {known.n:,} rows" if counted else "Mean loss"
    notes = [f"{of}, when everything is answered.", "In brackets: intervals of each number by itself."]
    return Grid(Table(heads, rows, "Answers, ranking and coverage of each", notes))


# ---------------------------------------------------------------------- groups


@chart.register
def _(found: GroupComparison) -> Chart:
    rows = [(name, each.estimate, each.low, each.high) for name, each in found.intervals.items()]
    return named_intervals("compared", f"{found.label} of the groups{_together(found)}", found.label, rows)


@_sections.register
def _(found: GroupComparison, source: Source) -> list[Section]:
    parts: list[Part] = [Grid(table, COLUMNS) for table in found.tables()]
    if found.risks:
        worst = sorted(found.risks.items(), key=lambda each: -each[1].estimate)
        rows = [(name, each.estimate, each.low, each.high) for name, each in worst]
        risks = named_intervals("risks", f"Risk when everything is answered{_together(found)}", "Risk", rows)
        parts.insert(0, Charts((risks,)))
    return [Section("groups", "Groups, worst first", (*parts, Prose(tuple(found.notes()), "note")))]


def _together(found: GroupComparison) -> str:
    more = f", the worst {ROWS} of {len(found.sizes)}" if len(found.sizes) > ROWS else ""
    return f", intervals that hold together at {100.0 * found.level:g} %{more}"


# ---------------------------------------------------------------------- a test with a margin


@chart.register
def _(found: NonInferiority) -> Chart:
    name = f"{found.new} minus {found.reference}"
    rows = [(name, found.difference, found.low, found.high)]
    rules = (Rule(found.margin, "margin"), Rule(0.0, "no difference"))
    title = f"Difference with its one-sided {100.0 * found.level:g} % limits, and the margin"
    return named_intervals("compared", title, found.label, rows, rules=rules)


@_sections.register
def _(found: NonInferiority, source: Source) -> list[Section]:
    parts: list[Part] = [*(Grid(table) for table in found.tables())]
    if found.beside is not None:
        parts.append(_each(found.beside, (found.new, found.reference)))
    return [Section("result", "Test with a margin", (*parts, Prose(tuple(found.notes()), "note")))]
