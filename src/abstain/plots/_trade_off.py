"""Trade-off of a threshold: what every threshold costs in rows sent away and errors let through."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._typing import ArrayLike
from abstain.curve import RiskCoverageCurve, risk_coverage_curve
from abstain.evaluation import Evaluation
from abstain.inference import RiskBand
from abstain.plots._columns import band_of, independent, tables_of, thinned
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import RIGHT, WRONG, entry, tidy
from abstain.thresholds import CertifiedThreshold

PER = 1000
#: Scores in [0, 1] of which half lie above this are drawn on the scale of 1 - score.
CROWDED = 0.95


@declare(
    "trade_off",
    family="threshold",
    title="Trade-off of a threshold",
    shows="Coverage, risk with its band, and per 1,000 rows the errors let through and the rows sent away.",
    source="common; Geifman & El-Yaniv 2017 choose on such a curve",
    needs="loss, confidence",
)
class TradeOffDisplay(Display):
    """Coverage and selective risk over the threshold, and per 1,000 rows the loss let through and the rows sent away.

    Parameters
    ----------
    curve : RiskCoverageCurve
    band : RiskBand, optional
        Of the selective risk.
    threshold : float, optional
        Marked.
    limit : float, optional
        A risk that is promised or asked for, marked.
    name : str
        Of the score.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("llama3_70b_mmlu")
    >>> found = abstain.choose_threshold(outputs.loss, outputs.confidence, risk=0.1, delta=0.05)
    >>> display = abstain.plots.TradeOffDisplay.from_threshold(found, outputs.loss, outputs.confidence, name="msp")
    """

    def __init__(
        self, curve: RiskCoverageCurve, *, band: RiskBand | None = None, threshold: float | None = None,
        limit: float | None = None, name: str = "confidence",
    ) -> None:  # fmt: skip
        self.curve, self.band, self.threshold, self.limit, self.name = curve, band, threshold, limit, name

    @classmethod
    def from_threshold(
        cls, threshold: Any, loss: ArrayLike, confidence: ArrayLike, *, name: str = "confidence", ax: Any = None
    ) -> TradeOffDisplay:
        """Draw calibration rows with the threshold that was chosen on them.

        Parameters
        ----------
        threshold : EmpiricalThreshold or CertifiedThreshold
        loss, confidence : array-like of shape (n_samples,)
        name : str
            Of the score.
        ax : array of two matplotlib axes, optional

        Returns
        -------
        TradeOffDisplay
        """
        curve = risk_coverage_curve(loss, confidence, nan_policy="reject")
        plain = threshold.calibration.get("n_clusters") is None
        limit = threshold.risk_limit if isinstance(threshold, CertifiedThreshold) else threshold.objective.get("risk")
        marked = threshold.threshold if threshold.attainable else None
        band = band_of(curve, threshold.level, "selective") if plain else None
        return cls(curve, band=band, threshold=marked, limit=limit, name=name).plot(ax)

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, score: str | None = None, ax: Any = None) -> TradeOffDisplay:
        """Draw one score of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
        score : str, optional
            Default: the first.
        ax : array of two matplotlib axes, optional

        Returns
        -------
        TradeOffDisplay
        """
        name = evaluation.scores[0] if score is None else score
        curve = RiskCoverageCurve(tables_of(evaluation)[name])
        level = evaluation.provenance.get("level") or 0.95
        return cls(curve, band=band_of(curve, level, "selective") if independent(evaluation) else None, name=name).plot(
            ax
        )

    def _shape(self) -> Shape:
        return (9.0, 3.8), 2

    def _draw(self, axes: Any) -> None:
        left, right = axes
        self._rates(left)
        self._counts(right)
        for one in (left, right):
            one.set_xlabel(f"Threshold: answer if {entry(self.name)} ≥")
            tidy(one)
            one.legend(frameon=False)
            self._scale(one)
            if self.threshold is not None:
                one.axvline(self.threshold, color="black", linewidth=1.0, linestyle="--")

    def _kept(self) -> Any:
        finite = np.isfinite(self.curve.threshold)
        kept = np.zeros(len(self.curve), dtype=bool)
        kept[thinned(self.curve.coverage)] = True
        return kept & finite

    def _scale(self, ax: Any) -> None:
        """Stretch a scale that is crowded below 1: .9, .99 and .999 are then equally far apart."""
        score, coverage = self.curve.threshold, self.curve.coverage
        median = score[min(int(np.searchsorted(coverage, 0.5)), len(score) - 1)]
        if score[-1] < 0.0 or score[0] > 1.0 or median < CROWDED:
            return
        least = max(float(1.0 - score[min(int(np.searchsorted(coverage, 0.02)), len(score) - 1)]), 1e-6)
        ax.set_xscale("function", functions=(lambda at: -np.log10(np.maximum(1.0 - at, least)),
                                             lambda at: 1.0 - 10.0**-at))  # fmt: skip
        ticks = [0.0, *(1.0 - 10.0 ** -float(k) for k in range(1, int(-np.log10(least)) + 1))]
        ax.set_xticks(ticks, [f"{tick:.10g}" for tick in ticks])
        ax.set_xlim(max(0.0, float(score[np.isfinite(score)].min())), 1.0 - least)

    def _rates(self, ax: Any) -> None:
        kept = self._kept()
        at = self.curve.threshold[kept]
        ax.step(at, self.curve.coverage[kept], where="pre", color=RIGHT, label="coverage")
        ax.step(at, self.curve.selective_risk[kept], where="pre", color=WRONG, linestyle="-.", label="selective risk")
        if self.band is not None:
            low, high = self.band.low[kept], self.band.high[kept]
            ax.fill_between(at, low, high, step="pre", color=WRONG, alpha=0.2, linewidth=0.0,
                            label=f"{100.0 * self.band.level:g} % {self.band.kind}")  # fmt: skip
        if self.limit is not None:
            ax.axhline(self.limit, color="black", linewidth=0.8, linestyle=(0, (1, 1)), label=f"risk {self.limit:g}")
        ax.set(ylabel="Share", ylim=(0.0, 1.02))

    def _counts(self, ax: Any) -> None:
        kept = self._kept()
        at, binary = self.curve.threshold[kept], self.curve.blocks.binary
        through = PER * self.curve.generalized_risk[kept]
        away = PER * (1.0 - self.curve.coverage[kept])
        ax.step(at, away, where="pre", color=RIGHT, label="rows sent away")
        word = "errors let through" if binary else "loss let through"
        ax.step(at, through, where="pre", color=WRONG, linestyle="-.", label=word)
        if self.threshold is not None:
            point = self.curve.at(threshold=self.threshold)
            for value, shade in ((PER * (1.0 - point.coverage), RIGHT), (PER * point.generalized_risk, WRONG)):
                ax.plot([self.threshold], [value], "o", color=shade, markersize=5, zorder=4)
                ax.annotate(f"{value:.0f}", (self.threshold, value), xytext=(-5, 5), textcoords="offset points",
                            ha="right", color=shade)  # fmt: skip
        ax.set_yscale("symlog", linthresh=1.0)
        ax.set(ylabel=f"Per {PER:,} rows", ylim=(0.0, 1.6 * PER))
