"""A ranking study as flows between two rankings with their significance maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.inference import Ranking, RankingStudy
from abstain.plots._display import Display
from abstain.plots._registry import declare
from abstain.plots._style import SEQUENTIAL, shown

#: Inches from one ranking to the other.
FLOW = 2.2


@declare(
    "rank_flow",
    family="several",
    title="Flow between two rankings",
    shows="How the order of scores changes from one metric to another, and which are significantly better than which.",
    source="Traub et al. 2024, Fig. 3; with paired tests in place of Wilcoxon's over resamples",
    needs="a ranking study by two metrics",
)
class RankFlowDisplay(Display):
    """A flow per score between two rankings, significance maps outside.

    Parameters
    ----------
    study : RankingStudy
    one, other : str, optional
        Two of its metrics; default: the first two.

    Examples
    --------
    >>> import abstain
    >>> six = [name for name in abstain.datasets.names() if name.startswith("imagenet_")]
    >>> models = {name[9:]: abstain.datasets.load(name) for name in six}
    >>> losses = {name: outputs.loss_per_sample() for name, outputs in models.items()}
    >>> scores = {name: outputs.confidence for name, outputs in models.items()}
    >>> study = abstain.ranking_study(losses, scores, n_resamples=100)
    >>> display = abstain.plots.RankFlowDisplay.from_ranking(study)
    """

    def __init__(self, study: RankingStudy, one: str | None = None, other: str | None = None) -> None:
        self.study = study
        self.left, self.right = study.two(one, other)

    @classmethod
    def from_ranking(cls, study: RankingStudy, one: str | None = None, other: str | None = None) -> RankFlowDisplay:
        """Draw the flows of a ranking study.

        Parameters
        ----------
        study : RankingStudy
        one, other : str, optional
            Two of its metrics; default: the first two.

        Returns
        -------
        RankFlowDisplay
        """
        return cls(study, one, other).plot()

    def plot(self, ax: Any = None) -> RankFlowDisplay:
        """Draw.

        Parameters
        ----------
        ax : array of three matplotlib axes, optional
            For the left map, the flows and the right map.

        Returns
        -------
        RankFlowDisplay
        """
        size = len(self.study.names)
        side = 1.0 + 0.26 * size
        text = 0.5 + 0.08 * max(len(name) for name in self.study.names)  # inches that a name with its rank takes
        middle = FLOW + 2.0 * text
        left, right = self.left, self.right
        with self._canvas(ax, (2.0 * side + middle, side + 0.4), 3, width_ratios=[side, middle, side]) as axes:
            axes = np.ravel(axes)
            _map(axes[0], left)
            _flows(axes[1], left, right, _colours(left))
            axes[1].set_xlim(-text / FLOW, 1.0 + text / FLOW)
            _map(axes[2], right)
            tau = self.study.kendall(left.metric, right.metric)
            axes[1].set_title(f"Kendall's tau {tau:.2f}", fontsize="medium")
        return self


def _colours(ranking: Ranking) -> dict[str, Any]:
    """Return one colour per score, from best to worst in the first ranking."""
    from matplotlib import colormaps

    scale = colormaps[SEQUENTIAL](np.linspace(0.0, 0.92, len(ranking.names)))
    return dict(zip(ranking.names, scale, strict=True))


def _flows(ax: Any, left: Ranking, right: Ranking, colours: dict[str, Any]) -> None:
    """Draw a smooth band from each score's place on the left to its place on the right."""
    x = np.linspace(0.0, 1.0, 60)
    bend = 3.0 * x**2 - 2.0 * x**3
    for start, name in enumerate(left.names):
        end = right.names.index(name)
        moved = left.rank[start] != right.rank[end]
        y = start + (end - start) * bend
        ax.fill_between(x, y - 0.3, y + 0.3, color=colours[name], alpha=0.75 if moved else 0.3, linewidth=0.0)
    for where, ranking, align, sign in ((0.0, left, "right", -1.0), (1.0, right, "left", 1.0)):
        for place, name in enumerate(ranking.names):
            text = f"{ranking.rank[place]}  {shown(name)}" if sign > 0 else f"{shown(name)}  {ranking.rank[place]}"
            ax.text(where + 0.02 * sign, place, text, ha=align, va="center", fontsize="small")
        ax.text(where, -0.9, ranking.label, ha=align, va="bottom", fontweight="bold")
    ax.set_ylim(len(left.names) - 0.4, -1.5)
    ax.axis("off")


def _map(ax: Any, ranking: Ranking) -> None:
    """Draw the significance map, filled where the row is significantly better than the column."""
    ax.imshow(ranking.better, cmap="Blues", vmin=0.0, vmax=1.3, aspect="equal")
    size = len(ranking.names)
    ax.set_xticks(np.arange(size), ranking.rank.tolist(), fontsize="x-small")
    ax.set_yticks(np.arange(size), [shown(name) for name in ranking.names], fontsize="x-small")
    ax.set_xticks(np.arange(-0.5, size), minor=True)
    ax.set_yticks(np.arange(-0.5, size), minor=True)
    ax.grid(which="minor", color="white", linewidth=1.0)
    ax.plot([-0.5, size - 0.5], [-0.5, size - 0.5], color="0.6", linewidth=0.8)
    ax.tick_params(which="both", length=0)
    ax.set_title(f"{ranking.label}: row better than column", fontsize="small")
    for side in ax.spines.values():
        side.set_visible(False)
