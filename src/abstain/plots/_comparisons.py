"""Comparisons: scores with intervals, groups of rows, and two definitions of one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from abstain._typing import Axes, Options
from abstain.evaluation import Comparison, Evaluation
from abstain.inference import clopper_pearson
from abstain.plots._columns import independent
from abstain.plots._display import COLOURS, Display, Shape, colour, entry, mark, note, shown, spread, tidy
from abstain.plots._registry import declare
from abstain.thresholds import Audit


@declare(
    "forest",
    family="several",
    title="Forest plot of a comparison",
    source="common for paired comparisons",
    needs="a comparison of scores or models",
)
class ForestDisplay(Display):
    """Estimates with intervals, best on top; scores that share a letter do not differ significantly.

    Parameters
    ----------
    comparison : Comparison

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("cifar10_vgg16")
    >>> names = ["msp", "neg_entropy", "neg_gini", "softmax_margin", "gen"]
    >>> scores = {name: abstain.scores.compute(name, outputs) for name in names}
    >>> comparison = abstain.compare(outputs.loss_per_sample(), scores, metric="augrc")
    >>> display = abstain.plots.ForestDisplay.from_comparison(comparison)
    """

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    @classmethod
    def from_comparison(cls, comparison: Comparison, *, ax: Axes | None = None) -> ForestDisplay:
        """Draw the scores of a comparison.

        Parameters
        ----------
        comparison : Comparison
        ax : matplotlib axes, optional

        Returns
        -------
        ForestDisplay
        """
        return cls(comparison).plot(ax)

    def _shape(self) -> Shape:
        return (6.0, 1.2 + 0.34 * len(self.comparison.table)), None

    def _draw(self, ax: Axes) -> None:
        comparison = self.comparison
        rows = comparison.table
        height = np.arange(len(rows))
        estimate = np.array([row["estimate"] for row in rows])
        ends = np.array([[row["low"], row["high"]] for row in rows], dtype=np.float64).T
        known = ~np.isnan(ends).any(axis=0)
        ax.hlines(height[known], *ends[:, known], color=colour(0), linewidth=2.0)
        ax.plot(estimate, height, "o", color=colour(0), markersize=5)
        spread(ax, estimate)
        for y, row in zip(height, rows, strict=True):
            where: Options = {"xycoords": ("axes fraction", "data"), "annotation_clip": False}
            note(ax, row["letters"], (1.0, y), (6.0, 0.0), va="center", family="monospace", **where)
        ax.set_yticks(height, [shown(row["name"]) for row in rows])
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_xlabel(f"{comparison.label} ({comparison.direction} is better), {100 * comparison.level:g} % intervals")
        tidy(ax, rows=True)


#: More groups than this are not read; the worst are shown.
MOST = 40
Ends = tuple[float, float]


@dataclass(frozen=True)
class GroupRow:
    """One group: rows, coverage and risk of what is accepted, with intervals (NaN: none).

    Examples
    --------
    >>> from abstain.plots import GroupRow
    >>> GroupRow("women", 200, 0.8, (0.74, 0.85), 0.05, (0.02, 0.1)).coverage
    0.8
    """

    name: str
    n: int
    coverage: float
    coverage_interval: Ends
    risk: float
    risk_interval: Ends


@declare(
    "groups",
    family="one",
    title="Groups at one threshold",
    source="common; Jones et al. 2021 show that selection can widen gaps between groups",
    needs="0/1 loss, confidence, groups",
)
class GroupsDisplay(Display):
    """Risk and coverage of every group at the common threshold, worst first, with pointwise intervals.

    Parameters
    ----------
    rows : sequence of GroupRow
        The first one is all rows together.
    level : float
        Of the intervals.
    threshold : float, optional
        For the title.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("cifar10_vgg16")
    >>> names = [outputs.class_names[k] for k in outputs.labels]
    >>> outputs = abstain.Outputs(labels=outputs.labels, probabilities=outputs.probabilities, groups={"class": names})
    >>> evaluation = abstain.evaluate(outputs, "msp", "augrc", groups="class")
    >>> display = abstain.plots.GroupsDisplay.from_evaluation(evaluation, coverage=0.8)
    """

    def __init__(self, rows: Sequence[GroupRow], *, level: float = 0.95, threshold: float | None = None) -> None:
        if len(rows) < 2:
            raise ValueError("rows holds no group; give all rows together and at least one group")
        first, *others = rows
        worst = sorted(others, key=lambda row: (-np.nan_to_num(row.risk, nan=-1.0), row.name))
        self.rows, self.hidden = [first, *worst[:MOST]], max(0, len(worst) - MOST)
        self.level, self.threshold = level, threshold

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        score: str | None = None,
        coverage: float = 0.9,
        risk: float | None = None,
        threshold: float | None = None,
        ax: Axes | None = None,
    ) -> GroupsDisplay:
        """Draw the groups of an evaluation at the threshold of a coverage, of a risk, or at a threshold.

        Parameters
        ----------
        evaluation : Evaluation
            With groups.
        score : str, optional
            Default: the first.
        coverage : float in [0, 1]
            The common threshold answers at least this share of all rows.
        risk, threshold : float, optional
            Instead: the largest coverage at this risk of all rows; this threshold.
        ax : array of two matplotlib axes, optional

        Returns
        -------
        GroupsDisplay

        Raises
        ------
        ValueError
            The evaluation has no groups; no threshold attains what is asked for.
        """
        name = evaluation.scores[0] if score is None else score
        curve = evaluation.curve(name)
        wanted: Options = {"coverage": coverage}
        if threshold is not None or risk is not None:
            wanted = {"threshold": threshold} if threshold is not None else {"risk": risk}
        point = curve.at(**wanted)
        if np.isnan(point.threshold):
            raise ValueError(f"there is no common threshold: {point.reason}")
        found = [each for each in evaluation.summaries if each.score == name]
        if len(found) < 2:
            raise ValueError("this evaluation has no groups; evaluate(..., groups=<group column>) makes them")
        level = evaluation.provenance.get("level") or 0.95
        exact = independent(evaluation)
        rows = [
            _row(each.group or "all rows", each.curve, point.threshold, level, exact and each.curve.blocks.binary)
            for each in sorted(found, key=lambda each: each.group is not None)
        ]
        return cls(rows, level=level, threshold=point.threshold).plot(ax)

    @classmethod
    def from_audit(cls, audit: Audit, *, ax: Axes | None = None) -> GroupsDisplay:
        """Draw the groups of an audit, whose threshold was chosen on other rows.

        Parameters
        ----------
        audit : Audit
        ax : array of two matplotlib axes, optional

        Returns
        -------
        GroupsDisplay
        """
        rows = [
            GroupRow(name, each.n, each.coverage, each.coverage_interval, each.risk, each.risk_interval)
            for name, each in {"all rows": audit, **audit.groups}.items()
        ]
        return cls(rows, level=audit.level).plot(ax)

    _options: ClassVar = {"sharey": True}

    def _shape(self) -> Shape:
        return (7.5, 1.3 + 0.26 * len(self.rows)), 2

    def _draw(self, axes: Any) -> None:
        self._panel(axes[0], "risk")
        self._panel(axes[1], "coverage")
        left = axes[0]
        left.set_yticks(np.arange(len(self.rows)), [f"{shown(row.name)}  ({row.n:,})" for row in self.rows])
        left.set_ylim(len(self.rows) - 0.4, -0.6)
        at = "" if self.threshold is None else f" at score ≥ {self.threshold:.4g}"
        more = f", {self.hidden} more not shown" if self.hidden else ""
        axes[1].set_title(f"{100.0 * self.level:g} % intervals{at}{more}", loc="right", fontsize="small")

    def _panel(self, ax: Axes, part: str) -> None:
        place = np.arange(len(self.rows))
        value = np.array([getattr(row, part) for row in self.rows])
        ends = np.array([getattr(row, f"{part}_interval") for row in self.rows]).T
        known = ~np.isnan(ends).any(axis=0)
        shades = np.array(["black"] + [COLOURS[0]] * (len(self.rows) - 1))
        ax.hlines(place[known], *ends[:, known], color=shades[known], linewidth=2.0)
        ax.scatter(value, place, color=shades, s=22, zorder=3)
        ax.axvline(value[0], color="0.45", linewidth=1.0, linestyle="--")
        ax.set_xlabel("Selective risk" if part == "risk" else "Coverage")
        ax.set_xlim(left=0.0)
        tidy(ax, rows=True)


def _row(name: str, curve: Any, threshold: float, level: float, exact: bool) -> GroupRow:
    point = curve.at(threshold=threshold)
    no = (float("nan"), float("nan"))
    if not exact or not point.n:
        return GroupRow(name, point.n, point.coverage, no, point.selective_risk, no)
    answered = clopper_pearson(point.n_accepted, point.n, level)
    errors = round(point.selective_risk * point.n_accepted) if point.n_accepted else 0
    risk = clopper_pearson(errors, point.n_accepted, level) if point.n_accepted else no
    return GroupRow(name, point.n, point.coverage, answered, point.selective_risk, risk)


@declare(
    "agreement",
    family="several",
    title="Two definitions of one number",
    source="Zhou et al. 2025, Figs. S6 and S7",
    needs="an evaluation with two metrics on one scale",
)
class AgreementDisplay(Display):
    """One number by two definitions, a point per model or score; equal ones lie on the diagonal.

    Parameters
    ----------
    points : mapping of name to (x, y)
    labels : (str, str)
        The two definitions.

    Examples
    --------
    >>> import abstain
    >>> names = ["msp", "neg_entropy", "neg_gini", "softmax_margin", "gen"]
    >>> both = ["aurc(estimator=plugin)", "aurc(estimator=harmonic)"]
    >>> evaluation = abstain.evaluate(abstain.datasets.load("cifar10_vgg16").select(slice(0, 500)), names, both)
    >>> display = abstain.plots.AgreementDisplay.from_evaluation(evaluation)
    """

    def __init__(self, points: Mapping[str, tuple[float, float]], *, labels: tuple[str, str] = ("x", "y")) -> None:
        if not points:
            raise ValueError("points is empty; give at least one")
        self.points, self.labels = dict(points), labels

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, one: str | None = None, other: str | None = None, *, ax: Axes | None = None
    ) -> AgreementDisplay:
        """Draw the scores or models of an evaluation by two of its metrics.

        Parameters
        ----------
        evaluation : Evaluation
        one, other : str, optional
            Specs or printed names; default: its first two metrics.
        ax : matplotlib axes, optional

        Returns
        -------
        AgreementDisplay
        """
        specs = list(dict.fromkeys(each.metric for each in evaluation.measurements))
        if len(specs) < 2 and (one is None or other is None):
            raise ValueError("this evaluation has one metric; evaluate with two definitions of it")
        both = (one or specs[0], other or specs[1])
        points = {
            name: (evaluation.value(both[0], score=name), evaluation.value(both[1], score=name))
            for name in evaluation.scores
        }
        return cls(points, labels=both).plot(ax)

    def _shape(self) -> Shape:
        return (4.6, 4.3), None

    def _draw(self, ax: Axes) -> None:
        x, y = np.array(list(self.points.values())).T
        low, high = min(x.min(), y.min()), max(x.max(), y.max())
        margin = 0.08 * (high - low) or 0.1 * abs(high) or 0.1
        ends = (low - margin, high + margin)
        ax.plot(ends, ends, color="0.45", linewidth=1.0, linestyle="--", label="equal")
        for k, (name, (a, b)) in enumerate(self.points.items()):
            ax.plot(a, b, mark(k), color=colour(k), markersize=6, label=entry(name))
        apart = float(np.max(np.abs(y - x) / np.abs(x))) if np.all(x != 0.0) else float("nan")
        ax.set(xlim=ends, ylim=ends, xlabel=entry(self.labels[0]), ylabel=entry(self.labels[1]), aspect="equal")
        ax.set_title(f"largest relative difference {apart:.2g}")
        tidy(ax)
        ax.legend(frameon=False)
