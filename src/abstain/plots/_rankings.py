"""Short rankings side by side: where their failures are, what metrics say of them, and their curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from abstain import metrics as metrics_
from abstain._typing import ArrayLike
from abstain.curve import RiskCoverageCurve, risk_coverage_curve
from abstain.plots._display import Display
from abstain.plots._registry import declare
from abstain.plots._risk_coverage import RiskCoverageDisplay
from abstain.plots._style import RIGHT, WRONG, entry

#: Rows of a ranking that can still be seen one by one.
MOST = 60


@declare(
    "rankings",
    family="metric",
    title="Rankings and their curves",
    shows="Short rankings row by row with their failures, the metrics of each, and both curves.",
    source="Traub et al. 2024, Figs. 2b to 2f (a reconstruction with the same failures, accuracy and AUROC)",
    needs="0/1 losses in the order of the confidence, at most 60",
)
class RankingsDisplay(Display):
    """Rankings of few rows, surest on the left, failures crossed, with metrics below; selective and generalized risk.

    Parameters
    ----------
    loss : mapping of name to array-like of shape (n_samples,)
        0/1 losses in the order of the confidence, surest first.
    metrics : sequence of str
        Printed for each, times 1000 where they are areas of risk.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> failures = {"CSF-1": [1, 17, 18, 19, 20], "CSF-2": range(13, 18), "CSF-3": range(12, 18)}
    >>> losses = {name: np.isin(np.arange(1, 21), list(places)) for name, places in failures.items()}
    >>> display = abstain.plots.RankingsDisplay(losses).plot()
    """

    def __init__(
        self, loss: Mapping[str, ArrayLike], *, metrics: Sequence[str] = ("accuracy", "auroc_f", "aurc", "augrc")
    ) -> None:
        if not loss:
            raise ValueError("loss is empty; give at least one ranking")
        self.curves: dict[str, RiskCoverageCurve] = {}
        self.losses = {name: np.asarray(each, dtype=np.float64) for name, each in loss.items()}
        for name, column in self.losses.items():
            if not 0 < column.size <= MOST:
                raise ValueError(f"loss[{name!r}] has {column.size} rows; up to {MOST} can be seen one by one")
            self.curves[name] = risk_coverage_curve(column, -np.arange(column.size))
            if not self.curves[name].blocks.binary:
                raise ValueError(f"loss[{name!r}] must hold 0 and 1 only")
        self.metrics = list(metrics)

    def plot(self, ax: Any = None) -> RankingsDisplay:
        """Draw.

        Parameters
        ----------
        ax : array of three matplotlib axes, optional
            For rankings, selective and generalized risk.

        Returns
        -------
        RankingsDisplay
        """
        with self._canvas(ax, (12.5, 3.8), 3, width_ratios=[1.35, 1.0, 1.0]) as axes:
            axes = np.ravel(axes)
            self._strips(axes[0])
            inner = RiskCoverageDisplay(self.curves)
            inner.plot(axes[1], kind="selective", plot_references=False)
            inner.plot(axes[2], kind="generalized", plot_references=False)
        return self

    def _strips(self, ax: Any) -> None:
        widest = max(loss.size for loss in self.losses.values())
        for k, (name, loss) in enumerate(self.losses.items()):
            for place, wrong in enumerate(loss, start=1):
                ax.add_patch(_square(place, k, WRONG if wrong else RIGHT))
                if wrong:
                    ax.plot(place, k, "x", color="white", markersize=5, markeredgewidth=1.4)
            found = (metrics_.parse(each) for each in self.metrics)
            text = "   ".join(_said(each, self.curves[name].blocks) for each in found)
            ax.text(0.5, k - 0.23, entry(name), va="bottom", fontweight="bold")
            ax.text(0.5, k + 0.22, text, va="top", fontsize="small")
        ax.plot([], [], "s", color=RIGHT, label="right")
        ax.plot([], [], "s", color=WRONG, label="wrong")
        ax.set(xlim=(0.2, widest + 0.8), ylim=(len(self.losses) - 0.5, -0.7))
        ax.set_xlabel("Place, surest first")
        ax.set_xticks(np.unique(np.append(1, np.arange(5, widest + 1, 5))))
        ax.set_yticks([])
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        ax.legend(frameon=False, loc="upper right", ncols=2, bbox_to_anchor=(1.0, 1.06))


def _square(place: int, row: int, shade: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((place - 0.44, row - 0.19), 0.88, 0.38, facecolor=shade, linewidth=0.0)


def _said(metric: Any, blocks: Any) -> str:
    """Return a metric in words; areas of risk times 1000, as papers print them."""
    small = metric.direction == "lower" and metric.multi_threshold
    value = float(metric(blocks))
    return f"{metric.label} {1000.0 * value:.0f} ‰" if small else f"{metric.label} {value:.3g}"
