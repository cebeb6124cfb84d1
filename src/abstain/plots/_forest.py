"""A comparison as a forest plot."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.evaluation import Comparison
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import colour, shown, spread, tidy


@declare(
    "forest",
    family="several",
    title="Forest plot of a comparison",
    shows="Estimates with intervals, best on top; scores that share a letter do not differ significantly.",
    source="common for paired comparisons",
    needs="a comparison of scores or models",
)
class ForestDisplay(Display):
    """Estimates with intervals, best on top, letters on the right.

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
    def from_comparison(cls, comparison: Comparison, *, ax: Any = None) -> ForestDisplay:
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

    def _draw(self, ax: Any) -> None:
        _draw(self.comparison, ax)


def _draw(comparison: Comparison, ax: Any) -> None:
    rows = comparison.table
    height = np.arange(len(rows))
    estimate = np.array([row["estimate"] for row in rows])
    ends = np.array([[row["low"], row["high"]] for row in rows], dtype=np.float64).T
    known = ~np.isnan(ends).any(axis=0)
    ax.hlines(height[known], *ends[:, known], color=colour(0), linewidth=2.0)
    ax.plot(estimate, height, "o", color=colour(0), markersize=5)
    spread(ax, estimate)
    for y, row in zip(height, rows, strict=True):
        ax.annotate(
            row["letters"], (1.0, y), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", va="center", family="monospace", annotation_clip=False,
        )  # fmt: skip
    ax.set_yticks(height, [shown(row["name"]) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel(f"{comparison.label} ({comparison.direction} is better), {100 * comparison.level:g} % intervals")
    tidy(ax, grid="x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
