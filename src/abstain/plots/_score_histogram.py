"""Score histogram by outcome: where right and wrong answers lie on the scale of a score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain._checks import whole
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.evaluation import Evaluation
from abstain.joint import JointEvaluation
from abstain.plots._columns import chosen, outcomes, tables_of
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import RIGHT, WRONG, colour, entry, legend, tidy

#: One part of a histogram: values and their weights.
Part = tuple[FloatArray, FloatArray]


@declare(
    "score_histogram",
    family="one",
    title="Score histogram by outcome",
    shows="How right answers, wrong answers and foreign inputs are spread over a score; a good score separates them.",
    source="common; Hendrycks & Gimpel 2017",
    needs="0/1 loss, confidence",
)
class ScoreHistogramDisplay(Display):
    """Distribution of a score among right and wrong answers, and among foreign inputs, each with area 1.

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
        self, parts: Mapping[str, Mapping[str, Part]], *, bins: int = 40,
        thresholds: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        if not parts:
            raise ValueError("parts is empty; give at least one panel")
        self.bins = whole(bins, "bins")
        self.parts = {name: dict(panel) for name, panel in parts.items()}
        self.thresholds = dict(thresholds or {})

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, score: Any = None, group: str | None = None, bins: int = 40, ax: Any = None
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
        cls, threshold: Any, loss: ArrayLike, confidence: ArrayLike, *, bins: int = 40, ax: Any = None
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
    def from_joint(cls, result: JointEvaluation, *, bins: int = 40, ax: Any = None) -> ScoreHistogramDisplay:
        """Draw both scores of a joint evaluation, with foreign inputs as the third outcome.

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

    def _panel(self, ax: Any, name: str, panel: Mapping[str, Part]) -> None:
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
