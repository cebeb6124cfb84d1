"""Scores by themselves: how reliable they are as probabilities, and how right and wrong answers are spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from abstain import metrics
from abstain._checks import whole
from abstain._typing import ArrayLike, Axes, FloatArray
from abstain.blocks import TieBlocks
from abstain.evaluation import Evaluation
from abstain.inference import check_level, clopper_pearson
from abstain.joint import JointEvaluation
from abstain.metrics import ReliabilityCurve, reliability_of
from abstain.plots._columns import chosen, independent, outcomes, tables_of
from abstain.plots._display import RIGHT, WRONG, Display, Shape, colour, entry, legend, tidy
from abstain.plots._registry import declare

Binning = Literal["equal_width", "equal_mass"]


@dataclass(frozen=True, eq=False)
class Reliability:
    """What one panel shows: the curve, intervals of the accuracy in each bin if there are any, and ECE."""

    curve: ReliabilityCurve
    low: FloatArray | None
    high: FloatArray | None
    ece: float


@declare(
    "reliability",
    family="one",
    title="Reliability diagram",
    source="DeGroot & Fienberg 1983; Guo et al. 2017, Fig. 1",
    needs="loss in [0, 1], confidences in [0, 1]",
)
class ReliabilityDisplay(Display):
    """Accuracy over confidence in bins, with exact intervals; a calibrated score lies on the diagonal.

    Bars at the bottom: the share of rows in each bin, where bins are of equal width.

    Parameters
    ----------
    tables : mapping of name to TieBlocks
        One panel each.
    bins : int
    binning : {"equal_width", "equal_mass"}
        As in :func:`abstain.reliability_curve`.
    level : float in (0, 1) or None
        Of the intervals, which are Clopper and Pearson's of the rows in a bin; None: no intervals. Rows that are
        weighted, or whose loss is not 0/1, have none.

    Notes
    -----
    Within a bin confidences differ, so the number of errors is a sum of Bernoulli variables of unequal chance, which
    varies less than a binomial: the intervals cover at least at their level, for the mean accuracy of the bin.

    Examples
    --------
    >>> import abstain
    >>> evaluation = abstain.evaluate(abstain.datasets.load("cifar10_vgg16"), metrics="ece")
    >>> display = abstain.plots.ReliabilityDisplay.from_evaluation(evaluation)
    """

    def __init__(
        self,
        tables: Mapping[str, TieBlocks],
        *,
        bins: int = 15,
        binning: Binning = "equal_width",
        level: float | None = 0.95,
    ) -> None:
        if not tables:
            raise ValueError("tables is empty; give at least one TieBlocks")
        self.binning = binning
        self.level = None if level is None else check_level(level)
        self.panels = {name: _of(blocks, bins, binning, self.level) for name, blocks in tables.items()}

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        score: str | Sequence[str] | None = None,
        group: str | None = None,
        bins: int = 15,
        binning: Binning = "equal_width",
        ax: Axes | None = None,
    ) -> ReliabilityDisplay:
        """Draw a panel for each score of an evaluation whose values lie in [0, 1].

        Parameters
        ----------
        evaluation : Evaluation
        score : str or sequence of str, optional
            Only these.
        group : str, optional
            Only rows of this group, as ``"column = value"``.
        bins, binning
            As in the class.
        ax : matplotlib axes, one per score, optional

        Returns
        -------
        ReliabilityDisplay
        """
        found = chosen(tables_of(evaluation, group), score)
        unit = {name: each for name, each in found.items() if each.score[-1] >= 0.0 and each.score[0] <= 1.0}
        level = (evaluation.provenance.get("level") or 0.95) if independent(evaluation) else None
        return cls(unit if unit and score is None else found, bins=bins, binning=binning, level=level).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        loss: ArrayLike,
        confidence: ArrayLike,
        *,
        bins: int = 15,
        binning: Binning = "equal_width",
        level: float | None = 0.95,
        name: str = "confidence",
        ax: Axes | None = None,
    ) -> ReliabilityDisplay:
        """Draw losses with a confidence.

        Parameters
        ----------
        loss, confidence : array-like of shape (n_samples,)
        bins, binning, level
            As in the class.
        name : str
        ax : matplotlib axes, optional

        Returns
        -------
        ReliabilityDisplay
        """
        tables = {name: TieBlocks.from_samples(loss, confidence)}
        return cls(tables, bins=bins, binning=binning, level=level).plot(ax)

    def _shape(self) -> Shape:
        count = len(self.panels)
        return (3.8 * count, 4.3), count

    def _draw(self, axes: Any) -> None:
        for one, (name, panel) in zip(axes, self.panels.items(), strict=True):
            self._panel(one, name, panel)

    def _panel(self, ax: Axes, name: str, panel: Reliability) -> None:
        curve = panel.curve
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.45", linewidth=1.0, linestyle="--", label="calibrated")
        if self.binning == "equal_width":
            share = 0.18 * curve.weight / curve.weight.max()
            ax.bar(curve.confidence, share, width=0.8 / curve.bins, color="0.8", label="share of rows")
        if panel.low is not None and panel.high is not None:
            ends = np.maximum(np.array([curve.accuracy - panel.low, panel.high - curve.accuracy]), 0.0)
            ax.errorbar(curve.confidence, curve.accuracy, yerr=ends, fmt="none", color=RIGHT, capsize=2, linewidth=1.1)
        label = "accuracy" if panel.low is None or self.level is None else f"accuracy, {100.0 * self.level:g} %"
        ax.plot(curve.confidence, curve.accuracy, "o-", color=RIGHT, markersize=4, linewidth=1.2, label=label)
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.02), xlabel="Confidence", ylabel="Accuracy")
        ax.set_title(f"{entry(name)}: ECE {panel.ece:.3f}")
        ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, columnspacing=1.0)
        tidy(ax)


def _of(blocks: TieBlocks, bins: int, binning: Binning, level: float | None) -> Reliability:
    curve = reliability_of(blocks, bins, binning)
    value = float(metrics.get("ece", bins=bins, binning=binning)(blocks))
    low = high = None
    if level is not None and blocks.binary and np.array_equal(blocks.weight, blocks.count):
        wrong = np.rint((1.0 - curve.accuracy) * curve.count).astype(int)
        ends = np.array([clopper_pearson(int(k), int(n), level) for k, n in zip(wrong, curve.count, strict=True)])
        low, high = 1.0 - ends[:, 1], 1.0 - ends[:, 0]
    return Reliability(curve, low, high, value)


#: One part of a histogram: values and their weights.
Part = tuple[FloatArray, FloatArray]


@declare(
    "score_histogram",
    family="one",
    title="Score histogram by outcome",
    source="common; Hendrycks & Gimpel 2017",
    needs="0/1 loss, confidence",
)
class ScoreHistogramDisplay(Display):
    """How right answers, wrong answers and OOD inputs are spread over a score; a good score separates them.

    Parameters
    ----------
    parts : mapping of panel to mapping of outcome to (values, weights)
        One panel per score.
    bins : int
        Of equal width between the least and the largest finite value of a panel.
    thresholds : mapping of panel to float, optional
        Marked by a line.

    Examples
    --------
    >>> import abstain
    >>> evaluation = abstain.evaluate(abstain.datasets.load("llama3_70b_mmlu"), ["msp", "max_logit"])
    >>> display = abstain.plots.ScoreHistogramDisplay.from_evaluation(evaluation)
    """

    def __init__(
        self, parts: Mapping[str, Mapping[str, Part]], *, bins: int = 40, thresholds: Mapping[str, float] | None = None
    ) -> None:
        if not parts:
            raise ValueError("parts is empty; give at least one panel")
        self.bins = whole(bins, "bins")
        self.parts = {name: dict(panel) for name, panel in parts.items()}
        self.thresholds = dict(thresholds or {})

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        score: str | Sequence[str] | None = None,
        group: str | None = None,
        bins: int = 40,
        ax: Axes | None = None,
    ) -> ScoreHistogramDisplay:
        """Draw a panel for each score of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
        score : str or sequence of str, optional
            Only these.
        group : str, optional
            Only rows of this group, as ``"column = value"``.
        bins : int
        ax : matplotlib axes, one per score, optional

        Returns
        -------
        ScoreHistogramDisplay
        """
        found = chosen(tables_of(evaluation, group), score)
        return cls({name: _outcomes(each) for name, each in found.items()}, bins=bins).plot(ax)

    @classmethod
    def from_threshold(
        cls, threshold: Any, loss: ArrayLike, confidence: ArrayLike, *, bins: int = 40, ax: Axes | None = None
    ) -> ScoreHistogramDisplay:
        """Draw calibration rows with the threshold that was chosen on them.

        Parameters
        ----------
        threshold : EmpiricalThreshold or CertifiedThreshold
        loss, confidence : array-like of shape (n_samples,)
        bins : int
        ax : matplotlib axes, optional

        Returns
        -------
        ScoreHistogramDisplay
        """
        parts = {"confidence": _outcomes(TieBlocks.from_samples(loss, confidence, nan_policy="reject"))}
        return cls(parts, bins=bins, thresholds={"confidence": threshold.threshold}).plot(ax)

    @classmethod
    def from_joint(cls, result: JointEvaluation, *, bins: int = 40, ax: Axes | None = None) -> ScoreHistogramDisplay:
        """Draw both scores of a joint evaluation, with out-of-distribution inputs as the third outcome.

        Parameters
        ----------
        result : JointEvaluation
        bins : int
        ax : array of two matplotlib axes, optional

        Returns
        -------
        ScoreHistogramDisplay
        """
        data = result.problem
        kinds = dict(enumerate(("right", "wrong", "OOD")))
        parts = {
            name: {word: (column[data.kind == k], np.ones(int((data.kind == k).sum()))) for k, word in kinds.items()}
            for name, column in (("confidence", data.confidence), ("detector", data.detector))
        }
        return cls(parts, bins=bins, thresholds=result.thresholds._asdict()).plot(ax)

    def _shape(self) -> Shape:
        count = len(self.parts)
        return (4.4 * count, 3.4), count

    def _draw(self, axes: Any) -> None:
        for one, (name, panel) in zip(axes, self.parts.items(), strict=True):
            self._panel(one, name, panel)

    def _panel(self, ax: Axes, name: str, panel: Mapping[str, Part]) -> None:
        finite = np.concatenate([values[np.isfinite(values)] for values, _ in panel.values()])
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        edges = np.linspace(low, high if high > low else low + 1.0, self.bins + 1)
        total = sum(float(weight.sum()) for _, weight in panel.values())
        looks = {"right": (RIGHT, ""), "wrong": (WRONG, "////"), "OOD": (colour(2), "....")}
        for k, (outcome, (values, weight)) in enumerate(panel.items()):
            if not weight.sum():
                continue
            inside = np.isfinite(values)
            height, _ = np.histogram(values[inside], edges, weights=weight[inside])
            height = height / (weight.sum() * np.diff(edges))
            shade, hatch = looks.get(outcome, (colour(k), ""))
            share = f"{100.0 * weight.sum() / total:.3g} % {outcome}"
            ax.stairs(height, edges, color=shade, linewidth=1.4, label=share)
            ax.stairs(height, edges, color=shade, alpha=0.22, fill=True, hatch=hatch, edgecolor=shade, linewidth=0.0)
        if np.isfinite(threshold := self.thresholds.get(name, np.inf)):
            ax.axvline(threshold, color="black", linewidth=1.2, linestyle="--", label=f"threshold {threshold:.4g}")
        ax.set(xlabel=entry(name), ylabel="Density, each outcome by itself")
        ax.set_ylim(bottom=0.0)
        tidy(ax)
        legend(ax)


def _outcomes(blocks: TieBlocks) -> dict[str, Part]:
    right, wrong = outcomes(blocks, "a histogram by outcome")
    return {"right": (blocks.score, right), "wrong": (blocks.score, wrong)}
