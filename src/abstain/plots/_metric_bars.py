"""Metrics of models side by side, one panel each, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from abstain._result import arrow
from abstain.evaluation import Evaluation
from abstain.plots._display import Display
from abstain.plots._metric_plane import NONE, NORMAL, Axis
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
        found = [each for each in evaluation.measurements if each.group is None]
        specs = list(metrics or list(dict.fromkeys(each.metric for each in found))[:5])
        panels = []
        for spec in specs:
            rows = {each.score: each for each in found if spec in (each.metric, each.label)}
            if not rows:
                raise KeyError(f"no metric {spec!r} here")
            ordered = [rows[name] for name in evaluation.scores]
            ends = [(each.low, each.high) for each in ordered]
            panels.append(Axis(ordered[0].label, ordered[0].direction, [each.value for each in ordered], ends))
        return cls(evaluation.scores, panels).plot(ax)

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
        wanted = set or results.values("set")[0]
        single = len(results.values("score")) == 1
        panels, names = [], list[str]()
        for spec in list(metrics or results.values("metric")[:5]):
            means = [each for each in results.means(spec) if each.set == wanted]
            if not means:
                raise ValueError(f"set {wanted!r} has no {spec}; the sets are {', '.join(results.values('set'))}")
            rows = {each.model if single else f"{each.model} {each.score}": each for each in means}
            names = names or list(rows)
            ends = [
                (rows[name].value - NORMAL * rows[name].standard_error,
                 rows[name].value + NORMAL * rows[name].standard_error) if name in rows else NONE
                for name in names
            ]  # fmt: skip
            values = [rows[name].value if name in rows else float("nan") for name in names]
            panels.append(Axis(means[0].label, means[0].direction, values, ends))
        return cls(names, panels).plot(ax)

    def plot(self, ax: Any = None) -> MetricBarsDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, one per metric, optional

        Returns
        -------
        MetricBarsDisplay
        """
        count, rows = len(self.panels), len(self.names)
        with self._canvas(ax, (1.2 + 2.5 * count, 1.0 + 0.3 * rows), count, sharey=True) as axes:
            for k, (one, panel) in enumerate(zip(np.atleast_1d(axes).ravel(), self.panels, strict=True)):
                self._draw(one, panel, k)
            left = np.atleast_1d(axes).ravel()[0]
            left.set_yticks(np.arange(rows), [entry(self.names[k]) for k in self.order])
            left.set_ylim(rows - 0.4, -0.6)
        return self

    def _draw(self, ax: Any, panel: Axis, k: int) -> None:
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
