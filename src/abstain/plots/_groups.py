"""Groups at one common threshold: worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from abstain.evaluation import Evaluation
from abstain.inference import clopper_pearson
from abstain.plots._columns import independent
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import COLOURS, shown, tidy
from abstain.thresholds import Audit

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
    shows="Risk and coverage of every group at the common threshold, worst first, with pointwise intervals.",
    source="common; Jones et al. 2021 show that selection can widen gaps between groups",
    needs="0/1 loss, confidence, groups",
)
class GroupsDisplay(Display):
    """Risk and coverage of each group where the same threshold holds for all, worst risk on top.

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
        cls, evaluation: Evaluation, *, score: str | None = None, coverage: float = 0.9, risk: float | None = None,
        threshold: float | None = None, ax: Any = None,
    ) -> GroupsDisplay:  # fmt: skip
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
        wanted: dict[str, Any] = {"coverage": coverage}
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
    def from_audit(cls, audit: Audit, *, ax: Any = None) -> GroupsDisplay:
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
        for one, part in zip(axes, ("risk", "coverage"), strict=True):
            self._panel(one, part)
        left = axes[0]
        left.set_yticks(np.arange(len(self.rows)), [f"{shown(row.name)}  ({row.n:,})" for row in self.rows])
        left.set_ylim(len(self.rows) - 0.4, -0.6)
        at = "" if self.threshold is None else f" at score ≥ {self.threshold:.4g}"
        more = f", {self.hidden} more not shown" if self.hidden else ""
        axes[1].set_title(f"{100.0 * self.level:g} % intervals{at}{more}", loc="right", fontsize="small")

    def _panel(self, ax: Any, part: str) -> None:
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
        tidy(ax, grid="x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)


def _row(name: str, curve: Any, threshold: float, level: float, exact: bool) -> GroupRow:
    point = curve.at(threshold=threshold)
    no = (float("nan"), float("nan"))
    if not exact or not point.n:
        return GroupRow(name, point.n, point.coverage, no, point.selective_risk, no)
    answered = clopper_pearson(point.n_accepted, point.n, level)
    errors = round(point.selective_risk * point.n_accepted) if point.n_accepted else 0
    risk = clopper_pearson(errors, point.n_accepted, level) if point.n_accepted else no
    return GroupRow(name, point.n, point.coverage, answered, point.selective_risk, risk)
