"""Thresholds: what each costs and lets through, and how the metrics of confident errors vary with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from abstain._typing import ArrayLike, Axes, FloatArray
from abstain.curve import RiskCoverageCurve, risk_coverage_curve
from abstain.evaluation import Evaluation
from abstain.inference import RiskBand
from abstain.metrics import cwsa_sweep
from abstain.plots._columns import band_of, chosen, independent, rows_of, tables_of, thinned
from abstain.plots._display import RIGHT, WRONG, Display, Shape, colour, entry, note, shade, tidy
from abstain.plots._registry import declare
from abstain.thresholds import CertifiedThreshold

PER = 1000
#: Scores in [0, 1] of which half lie above this are drawn on the scale of 1 - score.
CROWDED = 0.95


@declare(
    "trade_off",
    family="threshold",
    title="Trade-off of a threshold",
    source="common; Geifman & El-Yaniv 2017 choose on such a curve",
    needs="loss, confidence",
)
class TradeOffDisplay(Display):
    """Coverage, risk with its band, and per 1,000 rows the errors let through and the rows referred for review.

    Parameters
    ----------
    curve : RiskCoverageCurve
    band : RiskBand, optional
        Of the selective risk.
    threshold : float, optional
        Marked.
    limit : float, optional
        A risk that is certified or asked for, marked.
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
        self,
        curve: RiskCoverageCurve,
        *,
        band: RiskBand | None = None,
        threshold: float | None = None,
        limit: float | None = None,
        name: str = "confidence",
    ) -> None:
        self.curve, self.band, self.threshold, self.limit, self.name = curve, band, threshold, limit, name

    @classmethod
    def from_threshold(
        cls,
        threshold: Any,
        loss: ArrayLike,
        confidence: ArrayLike,
        *,
        name: str = "confidence",
        ax: Axes | None = None,
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
    def from_evaluation(
        cls, evaluation: Evaluation, *, score: str | None = None, ax: Axes | None = None
    ) -> TradeOffDisplay:
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

    def _scale(self, ax: Axes) -> None:
        """Stretch a scale that is crowded below 1: .9, .99 and .999 are then equally far apart."""
        score, coverage = self.curve.threshold, self.curve.coverage
        median = score[min(int(np.searchsorted(coverage, 0.5)), len(score) - 1)]
        if score[-1] < 0.0 or score[0] > 1.0 or median < CROWDED:
            return
        least = max(float(1.0 - score[min(int(np.searchsorted(coverage, 0.02)), len(score) - 1)]), 1e-6)
        ax.set_xscale(
            "function", functions=(lambda at: -np.log10(np.maximum(1.0 - at, least)), lambda at: 1.0 - 10.0**-at)
        )
        ticks = [0.0, *(1.0 - 10.0 ** -float(k) for k in range(1, int(-np.log10(least)) + 1))]
        ax.set_xticks(ticks, [f"{tick:.10g}" for tick in ticks])
        ax.set_xlim(max(0.0, float(score[np.isfinite(score)].min())), 1.0 - least)

    def _rates(self, ax: Axes) -> None:
        kept = self._kept()
        at = self.curve.threshold[kept]
        ax.step(at, self.curve.coverage[kept], where="pre", color=RIGHT, label="coverage")
        ax.step(at, self.curve.selective_risk[kept], where="pre", color=WRONG, linestyle="-.", label="selective risk")
        if self.band is not None:
            label = f"{100.0 * self.band.level:g} % {self.band.kind}"
            shade(ax, at, self.band.low[kept], self.band.high[kept], WRONG, label, step="pre")
        if self.limit is not None:
            ax.axhline(self.limit, color="black", linewidth=0.8, linestyle=(0, (1, 1)), label=f"risk {self.limit:g}")
        ax.set(ylabel="Share", ylim=(0.0, 1.02))

    def _counts(self, ax: Axes) -> None:
        kept = self._kept()
        at, binary = self.curve.threshold[kept], self.curve.blocks.binary
        through = PER * self.curve.generalized_risk[kept]
        away = PER * (1.0 - self.curve.coverage[kept])
        ax.step(at, away, where="pre", color=RIGHT, label="rows referred for review")
        word = "errors let through" if binary else "loss let through"
        ax.step(at, through, where="pre", color=WRONG, linestyle="-.", label=word)
        if self.threshold is not None:
            point = self.curve.at(threshold=self.threshold)
            for value, tint in ((PER * (1.0 - point.coverage), RIGHT), (PER * point.generalized_risk, WRONG)):
                ax.plot([self.threshold], [value], "o", color=tint, markersize=5, zorder=4)
                note(ax, f"{value:.0f}", (self.threshold, value), (-5.0, 5.0), ha="right", color=tint)
        ax.set_yscale("symlog", linthresh=1.0)
        ax.set(ylabel=f"Per {PER:,} rows", ylim=(0.0, 1.6 * PER))


LINES = (
    ("selective_accuracy", "selective accuracy", "-"),
    ("cwsa", "CWSA", "--"),
    ("cwsa_plus", "CWSA+", "-."),
    ("coverage", "coverage", ":"),
)


@declare(
    "cwsa_sweep",
    family="threshold",
    title="CWSA over thresholds",
    source="Shahnazari et al. 2025, Figs. 1 to 6",
    needs="loss in [0, 1], confidences in [0, 1]",
)
class CWSASweepDisplay(Display):
    """Selective accuracy, CWSA, CWSA+ and coverage of each model over the threshold of its confidence.

    Parameters
    ----------
    sweeps : mapping of name to dict
        What :func:`abstain.cwsa_sweep` returns.

    Examples
    --------
    >>> import abstain
    >>> names = ["resnet34", "efficientnet_b3a", "resnet101", "resnext101"]
    >>> models = {name: abstain.datasets.load(f"imagenet_{name}") for name in names}
    >>> evaluation = abstain.evaluate(models, metrics="augrc")
    >>> display = abstain.plots.CWSASweepDisplay.from_evaluation(evaluation)
    """

    def __init__(self, sweeps: Mapping[str, Mapping[str, FloatArray]]) -> None:
        if not sweeps:
            raise ValueError("sweeps is empty; give at least one result of cwsa_sweep")
        self.sweeps = {name: dict(sweep) for name, sweep in sweeps.items()}

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        score: str | Sequence[str] | None = None,
        thresholds: ArrayLike | None = None,
        denominator: Literal["accepted", "all"] = "accepted",
        ax: Axes | None = None,
    ) -> CWSASweepDisplay:
        """Draw a panel for each score or model of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
        score : str or sequence of str, optional
            Only these.
        thresholds : array-like, optional
            Default: .50, .51, ..., .99, as in the paper.
        denominator : {"accepted", "all"}
            As in :func:`abstain.cwsa_sweep`.
        ax : matplotlib axes, one per panel, optional

        Returns
        -------
        CWSASweepDisplay
        """
        sweeps = {}
        grid: Any = np.arange(50, 100) / 100 if thresholds is None else thresholds
        for name, blocks in chosen(tables_of(evaluation), score).items():
            rows, weight = rows_of(blocks), None
            if rows is None:
                rows, weight = (blocks.loss / blocks.weight, blocks.score), blocks.weight
            sweeps[name] = cwsa_sweep(*rows, grid, denominator=denominator, sample_weight=weight)
        return cls(sweeps).plot(ax)

    _options: ClassVar = {"sharey": True}

    def _shape(self) -> Shape:
        count = len(self.sweeps)
        return (1.0 + 2.9 * count, 3.5), count

    def _draw(self, axes: Any) -> None:
        for one, (name, sweep) in zip(axes, self.sweeps.items(), strict=True):
            for k, (key, label, dash) in enumerate(LINES):
                one.plot(sweep["threshold"], sweep[key], color=colour(k), linestyle=dash, linewidth=1.6, label=label)
            one.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
            one.set_title(entry(name))
            one.set_xlabel("Threshold τ")
            tidy(one)
        lowest = min(float(np.nanmin(sweep["cwsa"])) for sweep in self.sweeps.values())
        axes[0].set_ylim(min(0.0, 1.05 * lowest) - 0.02, 1.03)
        axes[0].set_ylabel("Value")
        axes[0].legend(frameon=False, loc="best")
