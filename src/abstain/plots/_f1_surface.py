"""F1 over both thresholds, of failures and out-of-distribution inputs together."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.joint import JointEvaluation
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import SEQUENTIAL, WRONG


@declare(
    "f1_surface",
    family="joint",
    title="F1 over both thresholds",
    shows="F1 of accepting at two thresholds, with the best pair and the best single thresholds.",
    source="From Misclassifications to Outliers, Fig. 1b",
    needs="ID rows with a 0/1 loss and OOD rows, two scores of each",
)
class F1SurfaceDisplay(Display):
    """F1 over both thresholds, at their quantiles, with the exact best pair and the best single thresholds.

    Parameters
    ----------
    result : JointEvaluation
    T : int
        Quantiles per score.

    Examples
    --------
    >>> import abstain
    >>> known, foreign = (abstain.datasets.load(f"fashion_mnist_{part}") for part in ("id", "ood"))
    >>> inside = {"id_confidence": known.scores["msp"], "id_detector": known.scores["gen"]}
    >>> outside = {"ood_confidence": foreign.scores["msp"], "ood_detector": foreign.scores["gen"]}
    >>> result = abstain.joint.evaluate(known.loss, **inside, **outside)
    >>> display = abstain.plots.F1SurfaceDisplay.from_joint(result)
    """

    def __init__(self, result: JointEvaluation, *, T: int = 200) -> None:
        self.result = result
        self.surface = result.f1_surface(T)

    @classmethod
    def from_joint(cls, result: JointEvaluation, *, T: int = 200, ax: Any = None) -> F1SurfaceDisplay:
        """Draw the surface of a joint evaluation.

        Parameters
        ----------
        result : JointEvaluation
        T : int
            Quantiles per score.
        ax : matplotlib axes, optional

        Returns
        -------
        F1SurfaceDisplay
        """
        return cls(result, T=T).plot(ax)

    def _shape(self) -> Shape:
        return (5.5, 4.4), None

    def _draw(self, ax: Any) -> None:
        data = self.result.problem
        confidence, score, value = self.surface
        x, y = (_rejected(column, limits) for column, limits in ((data.detector, score), (data.confidence, confidence)))
        picture = ax.pcolormesh(x, y, value, shading="nearest", cmap=SEQUENTIAL, rasterized=True)
        if min(value.shape) > 1:
            ax.contour(x, y, value, levels=8, colors="white", linewidths=0.5, alpha=0.6)
        ax.figure.colorbar(picture, ax=ax, label="F1")
        alone, best = self.result.f1, self.result.ds_f1
        for label, mark, a, c, found in (
            ("both", "*", *best.thresholds[::-1], best.value),
            ("confidence", "^", -np.inf, alone["confidence"].thresholds.confidence, alone["confidence"].value),
            ("detector", "s", alone["detector"].thresholds.confidence, -np.inf, alone["detector"].value),
        ):
            at = (_rejected(data.detector, np.array([a]))[0], _rejected(data.confidence, np.array([c]))[0])
            ax.plot(*at, mark, color=WRONG, markeredgecolor="white", markersize=11, clip_on=False,
                    linestyle="none", label=f"{label} {found:.4f}")  # fmt: skip
        ax.set(xlabel="Rejected share by the detector alone", ylabel="Rejected share by the confidence alone")
        ax.legend(fontsize="small", loc="upper right", framealpha=0.85)


def _rejected(column: Any, limits: Any) -> Any:
    """Return the share of all samples below each threshold."""
    return np.searchsorted(np.sort(column), limits, side="left") / column.size
