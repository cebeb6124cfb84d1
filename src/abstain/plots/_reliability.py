"""Reliability diagram: whether a confidence of .8 is right in 80 % of cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from abstain import metrics
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.evaluation import Evaluation
from abstain.inference import check_level, clopper_pearson
from abstain.metrics import ReliabilityCurve, reliability_of
from abstain.plots._columns import chosen, independent, tables_of
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import RIGHT, entry, tidy

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
    shows="Accuracy over confidence in bins, with exact intervals; a calibrated score lies on the diagonal.",
    source="DeGroot & Fienberg 1983; Guo et al. 2017, Fig. 1",
    needs="loss in [0, 1], confidences in [0, 1]",
)
class ReliabilityDisplay(Display):
    """Accuracy over mean confidence in bins, with intervals.

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
        self, tables: Mapping[str, TieBlocks], *, bins: int = 15, binning: Binning = "equal_width",
        level: float | None = 0.95,
    ) -> None:  # fmt: skip
        if not tables:
            raise ValueError("tables is empty; give at least one TieBlocks")
        self.binning = binning
        self.level = None if level is None else check_level(level)
        self.panels = {name: _of(blocks, bins, binning, self.level) for name, blocks in tables.items()}

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, score: Any = None, group: str | None = None, bins: int = 15,
        binning: Binning = "equal_width", ax: Any = None,
    ) -> ReliabilityDisplay:  # fmt: skip
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
        cls, loss: ArrayLike, confidence: ArrayLike, *, bins: int = 15, binning: Binning = "equal_width",
        level: float | None = 0.95, name: str = "confidence", ax: Any = None,
    ) -> ReliabilityDisplay:  # fmt: skip
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

    def _panel(self, ax: Any, name: str, panel: Reliability) -> None:
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
