"""Models and scores against each other: in the plane of two metrics, and metric by metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from abstain._result import arrow
from abstain._typing import Axes, BoolArray, FloatArray, Options
from abstain.evaluation import Evaluation
from abstain.inference import RankingStudy
from abstain.plots._display import COLOURS, WRONG, Display, Shape, colour, entry, mark, note, spread, tidy
from abstain.plots._registry import declare
from abstain.study import StudyResults

Ends = tuple[float, float]
NONE: Ends = (float("nan"), float("nan"))
#: Half-width of a 95 % interval in standard errors.
NORMAL = 1.959964


@dataclass(frozen=True)
class Axis:
    """One metric of the plane: its label and direction, and of each model the value and the interval (NaN: none).

    Examples
    --------
    >>> from abstain.plots import Axis
    >>> Axis("AUROC", "higher", [0.9, 0.8], [(0.88, 0.92), (0.77, 0.83)]).sign
    1.0
    """

    label: str
    direction: str
    values: Sequence[float]
    intervals: Sequence[Ends]
    better: BoolArray | None = None  #: [i, j]: i is significantly better than j

    @property
    def sign(self) -> float:
        """+1 where higher is better."""
        return 1.0 if self.direction == "higher" else -1.0

    def of(self, places: Sequence[int]) -> Axis:
        """Return the axis of some of the models."""
        return replace(self, values=[self.values[k] for k in places], intervals=[self.intervals[k] for k in places])


def evaluated(evaluation: Evaluation, spec: str) -> Axis:
    """Return the values of a metric, by spec or printed name, for all scores of an evaluation."""
    found = [each for each in evaluation.measurements if each.group is None and spec in (each.metric, each.label)]
    rows = {each.score: each for each in found}
    if not rows:
        raise KeyError(f"no metric {spec!r} here")
    ordered = [rows[name] for name in evaluation.scores]
    ends = [(each.low, each.high) for each in ordered]
    return Axis(ordered[0].label, ordered[0].direction, [each.value for each in ordered], ends)


def studied(results: StudyResults, specs: Sequence[str], set: str | None) -> tuple[list[str], list[Axis]]:
    """Return models with scores on one set of a study, and for each metric their means and 95 % intervals."""
    wanted = set or results.values("set")[0]
    single = len(results.values("score")) == 1
    names, axes = list[str](), list[Axis]()
    for spec in specs:
        means = [each for each in results.means(spec) if each.set == wanted]
        if not means:
            raise ValueError(f"set {wanted!r} has no {spec}; the sets are {', '.join(results.values('set'))}")
        rows = {each.model if single else f"{each.model} {each.score}": each for each in means}
        names = names or list(rows)
        value, error = (
            [float(getattr(rows[name], field)) if name in rows else float("nan") for name in names]
            for field in ("value", "standard_error")
        )
        ends = [(v - NORMAL * e, v + NORMAL * e) for v, e in zip(value, error, strict=True)]
        axes.append(Axis(means[0].label, means[0].direction, value, ends))
    return names, axes


@declare(
    "metric_plane",
    family="several",
    title="Models in two metrics",
    source="ours; the disagreement that Traub et al. 2024, Fig. 3, shows as flows",
    needs="an evaluation, ranking study or study with two metrics",
)
class MetricPlaneDisplay(Display):
    """Each model at its values of two metrics; lines join pairs of which each metric prefers another one.

    A faint line: the two values are ordered differently. A strong line: by paired tests each of the two models is
    significantly better by one metric.

    Parameters
    ----------
    names : sequence of str
    x, y : Axis
        The two metrics; both axes are drawn with the better end on the right and on top.

    Examples
    --------
    >>> import abstain
    >>> six = [name for name in abstain.datasets.names() if name.startswith("imagenet_")]
    >>> models = {name[9:]: abstain.datasets.load(name) for name in six}
    >>> losses = {name: outputs.loss_per_sample() for name, outputs in models.items()}
    >>> scores = {name: outputs.confidence for name, outputs in models.items()}
    >>> study = abstain.ranking_study(losses, scores, n_resamples=100)
    >>> display = abstain.plots.MetricPlaneDisplay.from_ranking(study)
    """

    def __init__(self, names: Sequence[str], x: Axis, y: Axis) -> None:
        if not len(names) == len(x.values) == len(y.values):
            raise ValueError(f"{len(names)} names, but {len(x.values)} and {len(y.values)} values")
        self.names, self.x, self.y = list(names), x, y

    @classmethod
    def from_ranking(
        cls, study: RankingStudy, one: str | None = None, other: str | None = None, *, ax: Axes | None = None
    ) -> MetricPlaneDisplay:
        """Draw the scores of a ranking study with its paired tests.

        Parameters
        ----------
        study : RankingStudy
        one, other : str, optional
            Two of its metrics; default: the first two.
        ax : matplotlib axes, optional

        Returns
        -------
        MetricPlaneDisplay
        """
        axes = []
        for ranking in study.two(one, other):
            place = [ranking.names.index(name) for name in study.names]
            values = [float(ranking.estimate[k]) for k in place]
            better = ranking.better[np.ix_(place, place)]
            axes.append(Axis(ranking.label, ranking.direction, values, [NONE] * len(place), better))
        return cls(study.names, *axes).plot(ax)

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, one: str | None = None, other: str | None = None, *, ax: Axes | None = None
    ) -> MetricPlaneDisplay:
        """Draw the scores of an evaluation by two of its metrics.

        Parameters
        ----------
        evaluation : Evaluation
        one, other : str, optional
            Specs or printed names; default: AURC and AUGRC if they are there, else the first two.
        ax : matplotlib axes, optional

        Returns
        -------
        MetricPlaneDisplay
        """
        specs = list(dict.fromkeys(each.metric for each in evaluation.measurements if each.group is None))
        return cls(evaluation.scores, *(evaluated(evaluation, spec) for spec in _two(specs, one, other))).plot(ax)

    @classmethod
    def from_study(
        cls,
        results: StudyResults,
        one: str | None = None,
        other: str | None = None,
        *,
        set: str | None = None,
        ax: Axes | None = None,
    ) -> MetricPlaneDisplay:
        """Draw the models and scores of a study by two of its metrics, on one set: means over runs, 95 % intervals.

        Parameters
        ----------
        results : StudyResults
        one, other : str, optional
            Two metrics; default: AURC and AUGRC if they are there, else the first two.
        set : str, optional
            Name of a set; default: the first.
        ax : matplotlib axes, optional

        Returns
        -------
        MetricPlaneDisplay
        """
        names, (x, y) = studied(results, _two(results.values("metric"), one, other), set)
        known = [k for k in range(len(names)) if not np.isnan(x.values[k] + y.values[k])]
        return cls([names[k] for k in known], *(axis.of(known) for axis in (x, y))).plot(ax)

    def disagreements(self) -> Iterator[tuple[int, int, bool | None]]:
        """Yield each pair that the two metrics order differently, and whether significantly (None: not tested)."""
        x, y = (axis.sign * np.asarray(axis.values) for axis in (self.x, self.y))
        for i, j in combinations(range(len(self.names)), 2):
            if (x[i] - x[j]) * (y[i] - y[j]) < 0.0:
                a, b = (i, j) if x[i] > x[j] else (j, i)  # a is better by x, b by y
                tested = self.x.better is not None and self.y.better is not None
                yield a, b, bool(self.x.better[a, b] and self.y.better[b, a]) if tested else None  # type: ignore[index]

    def _shape(self) -> Shape:
        return (6.2, 4.8), None

    def _draw(self, ax: Axes) -> None:
        x, y = np.asarray(self.x.values, dtype=float), np.asarray(self.y.values, dtype=float)
        labels = set[str]()
        for a, b, significant in self.disagreements():
            style: Options = {"color": "0.6", "linewidth": 0.9, "alpha": 0.7}
            label = "the metrics disagree"
            if significant:
                style, label = {"color": WRONG, "linewidth": 2.0}, "they disagree significantly"
            ax.plot(x[[a, b]], y[[a, b]], **style, zorder=1, label=None if label in labels else label)
            labels.add(label)
        for axis, along in ((self.x, "xerr"), (self.y, "yerr")):
            ends = np.abs(np.asarray(axis.intervals, dtype=float).T - np.asarray(axis.values, dtype=float))
            known = ~np.isnan(ends).any(axis=0)
            if known.any():
                ax.errorbar(x[known], y[known], **{along: ends[:, known]}, fmt="none", color="0.55", linewidth=0.8)
        ax.scatter(x, y, s=30, color=COLOURS[0], zorder=3)
        _names(ax, x, y, self.names)
        if self.x.direction == "lower":
            ax.invert_xaxis()
        if self.y.direction == "lower":
            ax.invert_yaxis()
        ax.set_xlabel(f"{arrow(self.x.label, self.x.direction)}   (better: right)")
        ax.set_ylabel(f"{arrow(self.y.label, self.y.direction)}   (better: up)")
        tidy(ax)
        if labels:
            ax.legend(frameon=False)


def _names(ax: Axes, x: FloatArray, y: FloatArray, names: list[str]) -> None:
    """Write each name next to its point, alternately above and below, so that neighbours hide each other less."""
    for k, place in enumerate(np.argsort(x, kind="stable")):
        side, shift = ("bottom", 5.0) if k % 2 == 0 else ("top", -5.0)
        note(ax, entry(names[place]), (x[place], y[place]), (4.0, shift), fontsize="x-small", va=side)


def _two(specs: list[str], one: str | None, other: str | None) -> tuple[str, str]:
    """Return two metrics: those named, else AURC and AUGRC, else the first two."""
    usual = [spec for spec in ("aurc", "augrc") if spec in specs]
    rest = usual + [spec for spec in specs if spec not in usual]
    first = one or next((spec for spec in rest if spec != other), None)
    second = other or next((spec for spec in rest if spec != first), None)
    if first is None or second is None:
        raise ValueError("a plane needs two metrics; evaluate with two")
    return first, second


@declare(
    "metric_bars",
    family="several",
    title="Metrics side by side",
    source="From Misclassifications to Outliers, Fig. 1a; ranking by AUMCC: Shahnazari et al. 2025, Section 4.3",
    needs="an evaluation or study",
)
class MetricBarsDisplay(Display):
    """Models or scores by several metrics, one panel each, in the order of the first one, with intervals.

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
        cls, evaluation: Evaluation, *, metrics: Sequence[str] | None = None, ax: Axes | None = None
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
        cls,
        results: StudyResults,
        *,
        metrics: Sequence[str] | None = None,
        set: str | None = None,
        ax: Axes | None = None,
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

    def _panel(self, ax: Axes, panel: Axis, k: int) -> None:
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
        tidy(ax, rows=True)
        ax.margins(x=0.1)
