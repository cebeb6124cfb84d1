"""Sections of a monitoring: whether the promise held, by period."""

from __future__ import annotations

import numpy as np

from abstain.report import _any
from abstain.report._page import Chart, Charts, Part, Prose, Section, Series
from abstain.report._source import Source
from abstain.thresholds import Monitoring

#: The evidence is drawn on a logarithmic scale from here on.
LEAST = 1e-3
#: So many periods are named in the charts.
NAMED = 4


def sections(seen: Monitoring, source: Source) -> list[Section]:
    """Return the numbers, and risk, coverage and evidence by period."""
    whole = _any.sections(seen, source)
    if len(seen.periods) < 2:
        return whole
    x = np.arange(1.0, len(seen.periods) + 1.0)
    names = ("risk_low", "risk_high", "risk", "coverage", "evidence")
    low, high, risk, coverage, evidence = (
        np.array([getattr(each, name) for each in seen.periods], dtype=np.float64) for name in names
    )
    span = (0.5, len(x) + 0.5)
    step = -(-len(x) // NAMED)
    labels = tuple(str(each.period) if k % step == 0 else "" for k, each in enumerate(seen.periods))
    axis = "Period, by its first day or number"
    ends = np.concatenate([high, risk])
    top = 1.05 * float(ends[np.isfinite(ends)].max(initial=seen.limit or 0.0)) or 1.0
    drawn = np.log10(np.maximum(evidence, LEAST))
    alarm = float(np.log10(1.0 / seen.delta))
    edge, most = np.array([0.5, len(x) + 0.5]), max(alarm, float(drawn.max())) + 0.5
    risks = [Series("", x, risk, low, high, "dots", 0)]
    covered = [Series("", x, coverage, kind="dots", colour=2)]
    if seen.limit is not None:
        risks.append(Series("", edge, np.full(2, seen.limit), colour=-1))
    if seen.calibrated is not None:
        covered.append(Series("", edge, np.full(2, seen.calibrated), colour=-1))
    charts = (
        Chart("risk", "Risk of each period alone, with its 95 % interval; dashed: the promise", axis, "Risk",
              tuple(risks), span, (0.0, top), labels=labels),
        Chart("coverage", "Coverage by period; dashed: at calibration", axis, "Coverage", tuple(covered),
              span, (0.0, 1.0), labels=labels),
        Chart("evidence", "Evidence against the promise; dashed: the alarm", axis, "Evidence, powers of ten",
              (Series("", edge, np.array([alarm, alarm]), colour=-1), Series("", x, drawn, colour=1)), span,
              (min(-1.0, float(drawn.min())), most), labels=labels),
    )  # fmt: skip
    words = "The promise is broken where the evidence reaches the alarm; it may be looked at as often as one likes."
    parts: tuple[Part, ...] = (Charts(charts), Prose((words,)))
    return [Section("periods", "Period by period", parts), *whole]
