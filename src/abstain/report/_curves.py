"""Curves of scores: the one that leads a page, both kinds with bands and references, and tables of their points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain._result import Column, Row, Table, among, percent, short
from abstain._typing import Document
from abstain.curve import RiskCoverageCurve
from abstain.plots import band_of
from abstain.report._lead import levels
from abstain.report._page import Chart, Charts, Controls, Folded, Grid, Part, Prose, Rule, Section, Series
from abstain.report._slider import Measured, clopper_pearsons, interval, places_of

if TYPE_CHECKING:
    from abstain._result import Verdict

#: Coverages above which an axis must show every line, and every band: below, few rows may fill the chart alone.
FIRST, BANDS = 0.05, 0.25
#: Accepted rows, and their share, from which on the leading curve is drawn.
ENOUGH, ENOUGH_SHARE = 10, 0.005
#: Coverages whose operating points are listed.
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)
#: Curves of one chart.
DRAWN = 8
_KINDS = (("selective", "Selective risk"), ("generalized", "Generalized risk"))


def leading(
    measured: Mapping[str, Measured],
    level: float,
    limit: float | None = None,
    estimate: tuple[float, float, float] | None = None,
) -> Chart:
    """Return the chart over the slider: the error rate of the answers by coverage, with the certified points.

    ``estimate``: from few labels, the error rate of answering everything and its interval; the curves are then dashed.
    """
    series: list[Series] = []
    binary = all(each.curve.blocks.binary for each in measured.values())
    for name, each in measured.items():
        curve, places = each.curve, places_of(each.curve, [])
        low, high = interval(each, places, level)
        nothing = np.full(len(places), np.nan)
        series.append(Series("", curve.coverage[places], nothing, low, high, score=name))
        known = curve.n_accepted >= min(max(ENOUGH, ENOUGH_SHARE * curve.blocks.n), curve.n_accepted[-1])
        risk, few = curve.selective_risk[known], estimate is not None
        series.append(Series(name, curve.coverage[known], risk, score=name, estimated=few))
    if estimate is not None:
        value, low, high = (np.array([each]) for each in estimate)
        series.append(Series("", np.array([1.0]), value, low, high, "dots", score=next(iter(measured))))
    for name, each in measured.items():
        kept = list({one.coverage: one for one in each.attained[::-1]}.values())[::-1]  # the smallest limit of each
        x, y = (
            [float(value) for value in values]
            for values in ([one.coverage for one in kept], [one.found.risk for one in kept])
        )
        words = tuple(f"≤ {percent(one.risk) if binary else f'{one.risk:g}'}" for one in kept)
        series.append(Series("", np.array(x), np.array(y), kind="ring", score=name, words=words))
    what = "Error rate of the answers" if binary else "Mean loss of the answers"
    name, first = next(iter(measured.items()))
    rings = "; rings: certified limits" * any(each.attained for each in measured.values())
    if rings and len(first.certified) > 1 and first.certified[0].tried > 1:
        of = f" for {short(name)}" * (len(measured) > 1)
        rings = f"; rings: {len(first.attained)} of {len(first.certified)} limits certified{of}"
    rules = () if limit is None else (Rule(limit, f"limit {percent(limit) if binary else f'{limit:g}'}"),)
    top = scaled([each for each in series if each.score in list(measured)[:3]])[1]
    return Chart(
        "leading",
        f"{what} by coverage",
        "Coverage: share of cases that are answered →",
        f"↑ {what}{rings}",
        tuple(series),
        (0.0, 1.0),
        (0.0, max(top, 1.06 * (limit or 0.0))),
        _words(measured, "selective"),
        follows=True,
        shares="xy" if binary else "x",
        rules=rules,
    )


def both_kinds(measured: Mapping[str, Measured], level: float) -> tuple[Chart, ...]:
    """Return the charts of selective and generalized risk, with bands and references."""
    measured = dict(list(measured.items())[:DRAWN])
    charts, binary = [], all(each.curve.blocks.binary for each in measured.values())
    for kind, title in _KINDS:
        series = _references(measured, kind)
        for k, (name, each) in enumerate(measured.items()):
            series += _band(each, level, kind, name, k) if each.independent else []
            risk = getattr(each.curve, f"{kind}_risk")
            series.append(Series(name, each.curve.coverage, risk, colour=k, score=name))
        charts.append(
            Chart(
                kind,
                title,
                "Coverage",
                title,
                tuple(series),
                (0.0, 1.0),
                scaled(series),
                _words(measured, kind),
                shares="xy" if binary else "x",
            )
        )
    return tuple(charts)


def _band(measured: Measured, level: float, kind: str, name: str, colour: int) -> list[Series]:
    """Return the band of a curve as a series without a line: exact at the stops of the slider, else at every point."""
    curve = measured.curve
    if measured.exact:
        places = places_of(curve, [])
        counts = curve.n_accepted[places] if kind == "selective" else np.full(len(places), curve.blocks.n)
        x, (low, high) = curve.coverage[places], clopper_pearsons(np.cumsum(curve.blocks.loss)[places], counts, level)
    else:
        band = band_of(curve, level, kind)  # type: ignore[arg-type]
        if band is None:
            return []
        x, low, high = curve.coverage, band.low, band.high
    return [Series("", x, np.full(len(x), np.nan), low, high, colour=colour, score=name)]


def _references(measured: Mapping[str, Measured], kind: str) -> list[Series]:
    """Return what a useless score does and, of one 0/1 loss, what a perfect one does."""
    levels = {round(each.curve.blocks.mean_loss, 12) for each in measured.values()}
    if len(levels) > 1:
        return []
    full, coverage = levels.pop(), np.linspace(0.0, 1.0, 201)[1:]
    useless = np.full(len(coverage), full) if kind == "selective" else full * coverage
    series = [Series("useless score", coverage, useless, colour=-1)]
    if all(each.curve.blocks.binary for each in measured.values()):
        errors = np.maximum(coverage - (1.0 - full), 0.0)
        perfect = errors / coverage if kind == "selective" else errors
        series.append(Series("perfect ranking", coverage, perfect, colour=-2))
    return series


def scaled(series: Sequence[Series]) -> tuple[float, float]:
    """Return an axis from 0 on that shows every line, and its band, beyond the first few rows."""
    tops = [0.0]
    for each in series:
        for column, first in ((each.y, FIRST), (each.high, BANDS)):
            if column is not None:
                known = column[(each.x >= first) & np.isfinite(column)]
                tops += [float(np.max(known))] if len(known) else []
    return 0.0, 1.06 * max(tops) or 1.0


def operating_points(name: str, curve: RiskCoverageCurve) -> Table:
    """Return the attainable points at round coverages: thresholds in digits that accept the same rows."""
    names = ("Coverage of at least", "Threshold", "Accepted", "Coverage", "Selective risk", "Generalized risk")
    rows: list[Row] = []
    for coverage in COVERAGES:
        point = curve.at(coverage=coverage)
        if point.reason is None:
            accepted = f"{point.n_accepted} of {point.n}"
            risks = point.coverage, point.selective_risk, point.generalized_risk
            rows.append((f"{100.0 * coverage:.0f} %", among(point.threshold, curve.threshold), accepted, *risks))
    shares = {"Coverage", "Selective risk", "Generalized risk"} if curve.blocks.binary else {"Coverage"}
    columns = [Column(each, share=each in shares) for each in names]
    return Table(columns, rows, title=f"Operating points of {short(name)}")


def _words(measured: Mapping[str, Measured], kind: str) -> str:
    """Say in words what a chart shows, for those who cannot see it."""
    said = []
    for name, each in list(measured.items())[:6]:
        curve = each.curve
        half = curve.at(coverage=0.5)
        values = half.selective_risk if kind == "selective" else half.generalized_risk
        if half.reason is None:
            some, every = (
                percent(value) if curve.blocks.binary else f"{value:.4g}" for value in (values, curve.blocks.mean_loss)
            )
            said.append(f"{name}: {some} at {percent(half.coverage)} coverage, {every} at 100 % coverage")
    return "; ".join(said)


def levels_section(verdict: Verdict, measured: Mapping[str, Measured], slider: Document | None) -> list[Section]:
    """Return the certified levels, what else the slider offers, and the operating points of the scores."""
    table = levels(verdict)
    parts: list[Part] = [] if table is None else [Grid(table)]
    parts += [] if slider is None else [Controls(slider)]
    points = [Grid(operating_points(name, each.curve)) for name, each in list(measured.items())[:DRAWN]]
    parts += points[:1]
    if points[1:]:
        parts.append(Folded("Operating points of the other scores", tuple(points[1:])))
    title = "Operating points" if slider is None else "Levels, costs and policy"
    return [Section("levels", title, tuple(parts))] if parts else []


def curves_section(measured: Mapping[str, Measured], level: float, words: Sequence[str] = ()) -> Section:
    """Return both kinds of curves with what they mean."""
    charts = both_kinds(measured, level)
    banded = any(each.low is not None for chart in charts for each in chart.series)
    lines = (
        "Selective risk: mean loss of what is accepted. Generalized risk: accepted loss per case of all cases."
        + f" Band: pointwise {percent(level)} interval." * banded,
        *words,
    )
    return Section("curves", "Risk and coverage", (Charts(charts), Prose(lines)))
