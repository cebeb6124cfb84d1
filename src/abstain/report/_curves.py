"""Both curves of scores with bands, references and promised points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from abstain._result import percent
from abstain.curve import RiskCoverageCurve
from abstain.plots import band_of
from abstain.report._page import Chart, Series

#: Coverages above which an axis must show everything: below, few rows may fill the picture without saying anything.
FIRST = 0.05
_KINDS = (("selective", "Selective risk"), ("generalized", "Generalized risk"))


def curves(
    found: Mapping[str, RiskCoverageCurve], level: float, exact: Mapping[str, bool], dots: Sequence[tuple[str, Any]],
    independent: bool,
) -> list[Chart]:  # fmt: skip
    """Return the charts of selective and generalized risk."""
    charts = []
    for kind, title in _KINDS:
        series = _references(found, kind)
        for k, (name, curve) in enumerate(found.items()):
            band = band_of(curve, level, kind) if independent else None  # type: ignore[arg-type]
            risk = getattr(curve, f"{kind}_risk")
            low, high = (None, None) if band is None else (band.low, band.high)
            series.append(Series(name, curve.coverage, risk, low, high, colour=k, score=name))
        for name, each in dots:
            x = np.array([each.coverage])
            y = np.array([each.found.risk * (1.0 if kind == "selective" else each.coverage)])
            series.append(Series("", x, y, kind="dots", colour=list(found).index(name)))
        ranges = (0.0, 1.0), scaled(series)
        charts.append(Chart(kind, f"{title} against coverage", "Coverage", title, tuple(series), *ranges,
                            _words(found, kind), follows="coverage"))  # fmt: skip
    return charts


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
            Series("perfect ranking", coverage, errors / coverage if kind == "selective" else errors, colour=-1)
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
            said.append(
                f"{name}: {values:.4g} at {percent(half.coverage)} coverage, {curve.blocks.mean_loss:.4g} at all"
            )
    return "; ".join(said)
