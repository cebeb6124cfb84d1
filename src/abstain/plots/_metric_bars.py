"""Metrics of models side by side, one panel each, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from abstain._result import arrow
from abstain.evaluation import Evaluation
from abstain.plots._display import Display, Shape
from abstain.plots._metric_plane import Axis, evaluated, studied
from abstain.plots._registry import declare
from abstain.plots._style import colour, entry, mark, spread, tidy
from abstain.study import StudyResults


@declare(
    "metric_bars",
    family="several",
    title="Metrics side by side",
    shows="Models or scores by several metrics, one panel each, in the order of the first one, with intervals.",
    source="From Misclassifications to Outliers, Fig. 1a; ranking by AUMCC: Shahnazari et al. 2025, Section 4.3",
    needs="an evaluation or study",
)
class MetricBarsDisplay(Display):
    """One panel per metric with a row per model, in the order of the first metric, best on top; the best is filled.

    Parameters
    ----------
    names : sequence of str
    panels : sequence of Axis
        The metrics: values and intervals of the models.

    Examples
    --------
    >>> import abstain
    >>> six = [name for name in abstain.datasets.names() if name.startswith("imagenet_")]
    >>> models = {name[9:]: abstain.datasets.load(name) for name in six}
    >>> evaluation = abstain.evaluate(models, metrics=["aumcc", "aumcc(method=grid)", "augrc"], n_resamples=100)
    >>> display = abstain.plots.MetricBarsDisplay.from_evaluation(evaluation)
    """

    def __init__(self, names: Sequence[str], panels: Sequence[Axis]) -> None:
        if not names or not panels:
            raise ValueError("names and panels need an entry each")
        wrong = next((panel.label for panel in panels if len(panel.values) != len(names)), None)
        if wrong is not None:
            raise ValueError(f"{len(names)} names, but {wrong} has another number of values")
        first = panels[0].sign * np.nan_to_num(np.asarray(panels[0].values, dtype=float), nan=-panels[0].sign * np.inf)
        self.order = np.argsort(-first, kind="stable")
        self.names, self.panels = list(names), list(panels)

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, metrics: Sequence[str] | None = None, ax: Any = None
    ) -> MetricBarsDisplay:
        """Draw the scores or models of an evaluation by its metrics.

        Parameters
        ----------
        evaluation : Evaluation
        metrics : sequence of str, optional
            Specs or printed names; default: the first five of the evaluation.
        ax : matplotlib axes, one per metric, optional

        Returns
        -------
        MetricBarsDisplay
        """
        specs = (
            metrics or list(dict.fromkeys(each.metric for each in evaluation.measurements if each.group is None))[:5]
        )
        return cls(evaluation.scores, [evaluated(evaluation, spec) for spec in specs]).plot(ax)

    @classmethod
    def from_study(
        cls, results: StudyResults, *, metrics: Sequence[str] | None = None, set: str | None = None, ax: Any = None
    ) -> MetricBarsDisplay:
        """Draw the models and scores of a study on one set: means over runs, 95 % intervals.

        Parameters
        ----------
        results : StudyResults
        metrics : sequence of str, optional
            Default: the first five.
        set : str, optional
            Name of a set; default: the first.
        ax : matplotlib axes, one per metric, optional

        Returns
        -------
        MetricBarsDisplay
        """
        return cls(*studied(results, list(metrics or results.values("metric")[:5]), set)).plot(ax)

    _options: ClassVar = {"sharey": True}

    def _shape(self) -> Shape:
        count, rows = len(self.panels), len(self.names)
        return (1.2 + 2.5 * count, 1.0 + 0.3 * rows), count

    def _draw(self, axes: Any) -> None:
        rows = len(self.names)
        for k, (one, panel) in enumerate(zip(axes, self.panels, strict=True)):
            self._panel(one, panel, k)
        left = axes[0]
        left.set_yticks(np.arange(rows), [entry(self.names[k]) for k in self.order])
        left.set_ylim(rows - 0.4, -0.6)

    def _panel(self, ax: Any, panel: Axis, k: int) -> None:
        place = np.arange(len(self.names))
        value = np.asarray(panel.values, dtype=float)[self.order]
        ends = np.asarray(panel.intervals, dtype=float)[self.order].T
        known = ~np.isnan(ends).any(axis=0)
        ax.hlines(place[known], *ends[:, known], color=colour(k), linewidth=2.0)
        best = value == np.nanmax(panel.sign * value) * panel.sign
        for chosen, inside in ((best, colour(k)), (~best, "white")):
            ax.plot(value[chosen], place[chosen], mark(k), color=colour(k), markerfacecolor=inside, markersize=6)
        spread(ax, value)
        ax.set_xlabel(arrow(panel.label, panel.direction))
        tidy(ax, grid="x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.margins(x=0.1)
