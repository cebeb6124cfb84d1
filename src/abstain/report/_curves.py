"""Both curves of scores with bands, references and promised points, and the slider over their thresholds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from abstain._result import Column, Row, Table, among, percent, short
from abstain.curve import RiskCoverageCurve
from abstain.inference import clopper_pearson
from abstain.plots import band_of
from abstain.report._page import Chart, Charts, Folded, Grid, Prose, Section, Series, Slider
from abstain.report._slider import places_of, rail
from abstain.report._source import Source
from abstain.thresholds import Promise

#: Coverages above which an axis must show everything: below, few rows may fill the picture without saying anything.
FIRST = 0.05
#: Coverages whose operating points are listed.
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)
_KINDS = (("selective", "Selective risk"), ("generalized", "Generalized risk"))


def measured(
    found: Mapping[str, RiskCoverageCurve], promises: Mapping[str, tuple[Promise, ...]], level: float,
    exact: Mapping[str, bool], independent: bool, source: Source, stops: Mapping[str, tuple[float, ...]],
    said: Sequence[str], of: str = "Score", drawn: int = 1000, rejected: Collection[str] = (),
    but: Mapping[tuple[str, float], str] = MappingProxyType({}),
) -> list[Section]:  # fmt: skip
    """Return the slider and the curves.

    ``stops``: thresholds that the slider has, the first of them its beginning; ``of``: what is chosen beside the
    threshold, scores of the same rows or groups of rows; ``drawn``: so many of them have a line; ``rejected``: groups
    of which a policy answers nothing; ``but``: what else is to be said where a score promises a risk.
    """
    shown = dict(list(found.items())[:drawn])
    dots = [
        (name, each)
        for name in list(shown)[: 3 if of == "Score" else drawn]
        for each in promises[name]
        if each.attained
    ]
    rails = [
        rail(name, curve, level, source, exact=exact[name], dependent=not independent, promises=promises[name],
             extra=stops.get(name, ()), saved=of == "Score", rejected=name in rejected,
             but={risk: text for (score, risk), text in but.items() if score == name})
        for name, curve in found.items()
    ]  # fmt: skip
    data = {"level": level, "scores": [each for each in rails if each["stops"]], "cost": source.cost,
            "of": of, "binary": all(curve.blocks.binary for curve in found.values())}  # fmt: skip
    points = Folded("Operating points",
                    tuple(Grid(_points(name, curve)) for name, curve in shown.items()))  # fmt: skip
    charts = curves(shown, level, dots, independent, exact)
    apart = [{name: curve for name, curve in shown.items() if (name in rejected) is lost} for lost in (False, True)]
    if all(apart):  # what is not answered has risks beside which the others could not be told apart
        kept = [curves(each, level, dots if each is apart[0] else (), independent, exact) for each in apart]
        title = "of groups that the policy rejects"
        lost = [replace(each, name=f"{each.name}-rejected", title=f"{each.title}, {title}") for each in kept[1]]
        charts = [*kept[0], *lost]
    banded = any(each.low is not None for chart in charts for each in chart.series)
    band = f"Band: pointwise {100.0 * level:g} % interval of the chosen {of.lower()}. " if banded else ""
    words = (
        f"{band}Lines are thinned by half a pixel.",
        "Selective risk: mean loss of what is accepted. Generalized risk: accepted loss per case of all cases.",
        *said,
    )
    parts = Charts(tuple(charts)), Prose(words)
    first = [Section("threshold", "Choose a threshold", (Slider(data), points))] if data["scores"] else []
    return [*first, Section("curves", "Risk against coverage", parts)]


def _points(name: str, curve: RiskCoverageCurve) -> Table:
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


def curves(
    found: Mapping[str, RiskCoverageCurve], level: float, dots: Sequence[tuple[str, Promise]], independent: bool,
    exact: Mapping[str, bool],
) -> list[Chart]:  # fmt: skip
    """Return the charts of selective and generalized risk."""
    charts, binary = [], all(curve.blocks.binary for curve in found.values())
    for kind, title in _KINDS:
        series = _references(found, kind)
        for k, (name, curve) in enumerate(found.items()):
            series += _band(curve, level, kind, exact[name], name, k) if independent else []
            series.append(Series(name, curve.coverage, getattr(curve, f"{kind}_risk"), colour=k, score=name))
        for name, each in dots:
            x = np.array([each.coverage])
            y = np.array([each.found.risk * (1.0 if kind == "selective" else each.coverage)])
            series.append(Series("", x, y, kind="dots", colour=list(found).index(name)))
        ranges = (0.0, 1.0), scaled(series)
        charts.append(Chart(kind, f"{title} against coverage", "Coverage", title, tuple(series), *ranges,
                            _words(found, kind), follows="coverage", shares="xy" if binary else "x"))  # fmt: skip
    return charts


def _band(curve: RiskCoverageCurve, level: float, kind: str, exact: bool, name: str, colour: int) -> list[Series]:
    """Return the band of a curve as a series without a line: exact at the stops of the slider, else at every point."""
    if not exact:
        band = band_of(curve, level, kind)  # type: ignore[arg-type]
        ends = None if band is None else (curve.coverage, band.low, band.high)
    else:
        places = places_of(curve, [])
        errors, counts = np.cumsum(curve.blocks.loss)[places], curve.n_accepted[places]
        of = counts if kind == "selective" else np.full(len(places), curve.blocks.n)
        pairs = [clopper_pearson(round(float(k)), int(n), level) for k, n in zip(errors, of, strict=True)]
        low, high = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        ends = curve.coverage[places], low, high
    if ends is None:
        return []
    return [Series("", ends[0], np.full(len(ends[0]), np.nan), *ends[1:], colour=colour, score=name)]


def _references(found: Mapping[str, RiskCoverageCurve], kind: str) -> list[Series]:
    """Return what a useless score does and, of one 0/1 loss, what a perfect one does."""
    levels = {round(curve.blocks.mean_loss, 12) for curve in found.values()}
    if len(levels) > 1:
        return []
    full, coverage = levels.pop(), np.linspace(0.0, 1.0, 201)[1:]
    useless = np.full(len(coverage), full) if kind == "selective" else full * coverage
    series = [Series("useless score", coverage, useless, colour=-1)]
    if all(curve.blocks.binary for curve in found.values()):
        errors = np.maximum(coverage - (1.0 - full), 0.0)
        series.append(
            Series("perfect ranking", coverage, errors / coverage if kind == "selective" else errors, colour=-2)
        )
    return series


def scaled(series: Sequence[Series]) -> tuple[float, float]:
    """Return an axis from 0 on that shows every line, and its band, beyond the first few rows."""
    tops = [0.0]
    for each in series:
        inside = each.x >= FIRST
        for column, weight in ((each.y, 1.0), (each.high, 0.0 if each.high is None else 1.0)):
            if column is not None and weight and np.isfinite(column[inside]).any():
                tops.append(float(np.nanmax(np.where(np.isfinite(column), column, np.nan)[inside])))
    return 0.0, 1.06 * max(tops) or 1.0


def _words(found: Mapping[str, RiskCoverageCurve], kind: str) -> str:
    """Say in words what a drawing shows, for those who cannot see it."""
    said = []
    for name, curve in list(found.items())[:6]:
        half = curve.at(coverage=0.5)
        values = half.selective_risk if kind == "selective" else half.generalized_risk
        if half.reason is None:
            some, every = (percent(each) if curve.blocks.binary else f"{each:.4g}"
                           for each in (values, curve.blocks.mean_loss))  # fmt: skip
            said.append(f"{name}: {some} at {percent(half.coverage)} coverage, {every} at all")
    return "; ".join(said)
