"""Rankings: how samples spread, how ranks flow between metrics, and the weights that metrics give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from abstain import metrics as metrics_
from abstain._checks import whole
from abstain._typing import ArrayLike, Axes
from abstain.curve import RiskCoverageCurve, risk_coverage_curve
from abstain.inference import Ranking, RankingStudy
from abstain.metrics import WeightEstimator, rank_weight_bias, rank_weight_mse
from abstain.plots._display import RIGHT, SEQUENTIAL, WRONG, Display, Shape, colour, entry, shown, tidy
from abstain.plots._registry import declare
from abstain.plots._risk_coverage import RiskCoverageDisplay

#: Rows of a ranking that can still be seen one by one.
MOST = 60


@declare(
    "rankings",
    family="metric",
    title="Rankings and their curves",
    source="Traub et al. 2024, Figs. 2b to 2f (a reconstruction with the same failures, accuracy and AUROC)",
    needs="0/1 losses in the order of the confidence, at most 60",
)
class RankingsDisplay(Display):
    """Short rankings row by row with their failures, the metrics of each, and both curves.

    Parameters
    ----------
    loss : mapping of name to array-like of shape (n_samples,)
        0/1 losses in the order of the confidence, most confident first.
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

    def plot(self, ax: Axes | None = None) -> RankingsDisplay:
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
            RiskCoverageDisplay(self.curves).plot(axes[1:], plot_references=False)
        return self

    def _strips(self, ax: Axes) -> None:
        from matplotlib.patches import Rectangle

        widest = max(loss.size for loss in self.losses.values())
        for k, (name, loss) in enumerate(self.losses.items()):
            for place, wrong in enumerate(loss, start=1):
                tint = WRONG if wrong else RIGHT
                ax.add_patch(Rectangle((place - 0.44, k - 0.19), 0.88, 0.38, facecolor=tint, linewidth=0.0))
                if wrong:
                    ax.plot(place, k, "x", color="white", markersize=5, markeredgewidth=1.4)
            found = (metrics_.parse(each) for each in self.metrics)
            text = "   ".join(_said(each, self.curves[name].blocks) for each in found)
            ax.text(0.5, k - 0.23, entry(name), va="bottom", fontweight="bold")
            ax.text(0.5, k + 0.22, text, va="top", fontsize="small")
        ax.plot([], [], "s", color=RIGHT, label="right")
        ax.plot([], [], "s", color=WRONG, label="wrong")
        ax.set(xlim=(0.2, widest + 0.8), ylim=(len(self.losses) - 0.5, -0.7))
        ax.set_xlabel("Place, most confident first")
        ax.set_xticks(np.unique(np.append(1, np.arange(5, widest + 1, 5))))
        ax.set_yticks([])
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        ax.legend(frameon=False, loc="upper right", ncols=2, bbox_to_anchor=(1.0, 1.06))


def _said(metric: Any, blocks: Any) -> str:
    """Return a metric in words; areas of risk times 1000, as papers print them."""
    small = metric.direction == "lower" and metric.multi_threshold
    value = float(metric(blocks))
    return f"{metric.label} {1000.0 * value:.0f} ‰" if small else f"{metric.label} {value:.3g}"


#: Inches from one ranking to the other.
FLOW = 2.2


@declare(
    "rank_flow",
    family="several",
    title="Flow between two rankings",
    source="Traub et al. 2024, Fig. 3; with paired tests in place of Wilcoxon's over resamples",
    needs="a ranking study by two metrics",
)
class RankFlowDisplay(Display):
    """How the order of scores changes from one metric to another, and which are significantly better than which.

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

    def plot(self, ax: Axes | None = None) -> RankFlowDisplay:
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
            _flows(axes[1], left, right)
            axes[1].set_xlim(-text / FLOW, 1.0 + text / FLOW)
            _map(axes[2], right)
            tau = self.study.kendall(left.metric, right.metric)
            axes[1].set_title(f"Kendall's tau {tau:.2f}", fontsize="medium")
        return self


def _flows(ax: Axes, left: Ranking, right: Ranking) -> None:
    """Draw a smooth band from each score's place on the left to its place on the right."""
    from matplotlib import colormaps

    # from best to worst in the first ranking
    colours = colormaps[SEQUENTIAL](np.linspace(0.0, 0.92, len(left.names)))
    x = np.linspace(0.0, 1.0, 60)
    bend = 3.0 * x**2 - 2.0 * x**3
    for start, name in enumerate(left.names):
        end = right.names.index(name)
        moved = left.rank[start] != right.rank[end]
        y = start + (end - start) * bend
        ax.fill_between(x, y - 0.3, y + 0.3, color=colours[start], alpha=0.75 if moved else 0.3, linewidth=0.0)
    for where, ranking, align, sign in ((0.0, left, "right", -1.0), (1.0, right, "left", 1.0)):
        for place, name in enumerate(ranking.names):
            text = f"{ranking.rank[place]}  {shown(name)}" if sign > 0 else f"{shown(name)}  {ranking.rank[place]}"
            ax.text(where + 0.02 * sign, place, text, ha=align, va="center", fontsize="small")
        ax.text(where, -0.9, ranking.label, ha=align, va="bottom", fontweight="bold")
    ax.set_ylim(len(left.names) - 0.4, -1.5)
    ax.axis("off")


def _map(ax: Axes, ranking: Ranking) -> None:
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


DASHES = ("-", "--", "-.")


@declare(
    "rank_weights",
    family="metric",
    title="Bias and error of rank weights",
    source="Zhou et al. 2025, Figs. 1, 2 and S8",
    needs="nothing",
)
class RankWeightsDisplay(Display):
    r"""Bias of the estimators' weights over the population rank, for several n, and their mean squared error.

    Parameters
    ----------
    sizes : sequence of int
        Sample sizes n; one panel of biases each, and all of them in the last panel.

    Notes
    -----
    Dots of the last panel are the exact error of the harmonic weight at rank r (Proposition 3.5), lines its order
    :math:`\beta / (n (1 - \beta) + 1)` at :math:`\beta = r / n` (Eq. 24), which is no bound: at the top rank the error
    tends to :math:`\pi^2 / 6`, the order to 1.

    Examples
    --------
    >>> import abstain
    >>> display = abstain.plots.RankWeightsDisplay([8, 32, 128]).plot()
    """

    def __init__(self, sizes: Sequence[int] = (8, 32, 128)) -> None:
        self.sizes = [whole(n, "sizes", 2) for n in sizes]
        if not self.sizes:
            raise ValueError("sizes is empty; give at least one sample size")

    def _shape(self) -> Shape:
        count = len(self.sizes) + 1
        return (2.9 * count, 3.4), count

    def _draw(self, axes: Any) -> None:
        for one, n in zip(axes[:-1], self.sizes, strict=True):
            self._bias(one, n)
        low, high = zip(*(one.get_ylim() for one in axes[:-1]), strict=True)
        for one in axes[:-1]:
            one.set_ylim(min(low), max(high))
        axes[0].set_ylabel("Bias of the weight")
        axes[0].legend(frameon=False)
        self._error(axes[-1])

    def _bias(self, ax: Axes, n: int) -> None:
        beta = 1.0 - np.geomspace(1.0, 0.02, 200)
        for k, name in enumerate(get_args(WeightEstimator)):
            label = "SELE" if name == "sele" else name
            ax.plot(beta, rank_weight_bias(n, beta, name), color=colour(k), linestyle=DASHES[k], label=label)
        ax.axhline(0.0, color="0.45", linewidth=0.8)
        ax.set(xlim=(0.0, 1.0), xlabel="Population rank β", title=f"n = {n}")
        tidy(ax)

    def _error(self, ax: Axes) -> None:
        for k, n in enumerate(self.sizes):
            beta = np.linspace(0.0, 0.999, 300)
            rank = np.arange(1, n + 1)
            ax.plot(beta, beta / (n * (1.0 - beta) + 1.0), color=colour(k), linewidth=1.2, label=f"n = {n}")
            ax.plot(rank / n, rank_weight_mse(n, rank), ".", color=colour(k), markersize=4)
        ax.plot([], [], "-", color="0.3", label="order, Eq. 24")
        ax.plot([], [], ".", color="0.3", label="exact, Prop. 3.5")
        ax.set_yscale("log")
        ax.set(xlim=(0.0, 1.02), ylim=(1e-4, 3.0), xlabel="Rank r / n", title="squared error, harmonic")
        tidy(ax)
        ax.legend(frameon=False, loc="lower right")
