"""AUGRC over accuracy and AUROC of failures, with the way that improves it most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain import metrics
from abstain.evaluation import Evaluation
from abstain.metrics import augrc_from_auroc, augrc_partial_derivatives
from abstain.plots._columns import outcomes, tables_of
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import SEQUENTIAL, WRONG, entry


@declare(
    "augrc_surface",
    family="metric",
    title="AUGRC over accuracy and ranking",
    shows="AUGRC as levels over accuracy and AUROC of failures, arrows along its negative gradient, models as points.",
    source="Traub et al. 2024, Fig. 5b",
    needs="nothing; for points a 0/1 loss and a confidence",
)
class AUGRCSurfaceDisplay(Display):
    """AUGRC of a 0/1 loss over accuracy and AUROC of failures; arrows point where it falls fastest.

    Parameters
    ----------
    points : mapping of name to (accuracy, auroc_f), optional
        Models or scores to mark.
    accuracy, auroc_f : (float, float)
        The ranges that are drawn.

    Examples
    --------
    >>> import abstain
    >>> sets = ["cifar10_vgg16", "imagenet_resnet101", "llama3_70b_mmlu"]
    >>> models = {name: abstain.datasets.load(name) for name in sets}
    >>> evaluation = abstain.evaluate(models, metrics="augrc", level=None)
    >>> display = abstain.plots.AUGRCSurfaceDisplay.from_evaluation(evaluation, accuracy=(0.6, 1.0))
    """

    def __init__(
        self, points: Mapping[str, tuple[float, float]] | None = None, *, accuracy: tuple[float, float] = (0.5, 1.0),
        auroc_f: tuple[float, float] = (0.5, 1.0),
    ) -> None:  # fmt: skip
        for name, (low, high) in (("accuracy", accuracy), ("auroc_f", auroc_f)):
            if not 0.0 <= low < high <= 1.0:
                raise ValueError(f"{name} must be (low, high) with 0 <= low < high <= 1, got ({low}, {high})")
        self.points, self.accuracy, self.auroc_f = dict(points or {}), accuracy, auroc_f

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, accuracy: tuple[float, float] = (0.5, 1.0),
        auroc_f: tuple[float, float] = (0.5, 1.0), ax: Any = None,
    ) -> AUGRCSurfaceDisplay:  # fmt: skip
        """Draw the scores of an evaluation as points.

        Parameters
        ----------
        evaluation : Evaluation
        accuracy, auroc_f : (float, float)
            The ranges that are drawn.
        ax : matplotlib axes, optional

        Returns
        -------
        AUGRCSurfaceDisplay
        """
        points = {}
        for name, blocks in tables_of(evaluation).items():
            right, _ = outcomes(blocks, "AUGRC over accuracy")
            points[name] = float(right.sum() / blocks.total_weight), float(metrics.get("auroc_f")(blocks))
        return cls(points, accuracy=accuracy, auroc_f=auroc_f).plot(ax)

    def _shape(self) -> Shape:
        return (5.6, 4.5), None

    def _draw(self, ax: Any) -> None:
        x, y = np.linspace(*self.accuracy, 101), np.linspace(*self.auroc_f, 101)
        height = np.array([[augrc_from_auroc(float(a), float(b)) for a in x] for b in y])
        levels = ax.contourf(x, y, height, levels=14, cmap=f"{SEQUENTIAL}_r")
        lines = ax.contour(x, y, height, levels=levels.levels[1:-1:2], colors="white", linewidths=0.6)
        ax.clabel(lines, fontsize=6, fmt="%.2f")
        ax.figure.colorbar(levels, ax=ax, label="AUGRC (lower is better)")
        at, up = (np.linspace(*span, 13)[1:-1] for span in (self.accuracy, self.auroc_f))
        slope = np.array([[augrc_partial_derivatives(float(a), float(b)) for a in at] for b in up])
        ax.quiver(at, up, -slope[..., 1], -slope[..., 0], color=WRONG, width=0.004, pivot="mid")
        for name, (a, b) in self.points.items():
            inside = self.accuracy[0] <= a <= self.accuracy[1] and self.auroc_f[0] <= b <= self.auroc_f[1]
            if inside:
                ax.plot(a, b, "o", color="black", markeredgecolor="white", markersize=7, clip_on=False, zorder=5)
                right = a > np.mean(self.accuracy)
                ax.annotate(entry(name), (a, b), xytext=(-7 if right else 7, -4), textcoords="offset points",
                            ha="right" if right else "left", va="top", zorder=6,
                            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0.0, "pad": 1.0})  # fmt: skip
        ax.set(xlim=self.accuracy, ylim=self.auroc_f, xlabel="Accuracy", ylabel="AUROC of failures")
