"""What AURC and AUGRC are made of: contributions of failures, the geometry of AUGRC, and its surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain import metrics
from abstain._checks import whole
from abstain._typing import Axes, FloatArray
from abstain.blocks import TieBlocks
from abstain.evaluation import Evaluation
from abstain.metrics import augrc_from_auroc, augrc_partial_derivatives
from abstain.plots._columns import chosen, outcomes, tables_of
from abstain.plots._display import RIGHT, SEQUENTIAL, WRONG, Display, Shape, colour, dashes, entry, note, shade, tidy
from abstain.plots._registry import declare

METRICS = ("aurc", "augrc")


@declare(
    "contributions",
    family="metric",
    title="Contributions of failures",
    source="Traub et al. 2024, Fig. 2a",
    needs="nothing; for the second panel a 0/1 loss and a confidence",
)
class ContributionsDisplay(Display):
    """What a failure adds to AURC and AUGRC by its place, and the shares of the most confident failures.

    Parameters
    ----------
    n : int
        Rows of the left panel.
    tables : mapping of name to TieBlocks, optional
        Draws the right panel: which share of each metric the k most confident failures make up, over their share.

    Examples
    --------
    >>> import abstain
    >>> evaluation = abstain.evaluate(abstain.datasets.load("cifar10_vgg16"), "msp", "augrc")
    >>> display = abstain.plots.ContributionsDisplay.from_evaluation(evaluation)
    """

    def __init__(self, n: int = 100, *, tables: Mapping[str, TieBlocks] | None = None) -> None:
        self.n = whole(n, "n", 2)
        self.shares = {name: _shares(blocks) for name, blocks in (tables or {}).items()}

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, n: int = 100, score: Any = None, ax: Axes | None = None
    ) -> ContributionsDisplay:
        """Draw both panels, the right one for scores of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
        n : int
            Rows of the left panel.
        score : str or sequence of str, optional
            Default: the first.
        ax : array of two matplotlib axes, optional

        Returns
        -------
        ContributionsDisplay
        """
        names = evaluation.scores[:1] if score is None else score
        return cls(n, tables=chosen(tables_of(evaluation), names)).plot(ax)

    def _shape(self) -> Shape:
        count = 2 if self.shares else 1
        return (4.6 * count, 3.6), count

    def _draw(self, axes: Any) -> None:
        self._places(axes[0])
        if self.shares:
            self._cumulated(axes[1])

    def _places(self, ax: Axes) -> None:
        place = np.arange(1, self.n + 1)
        blocks = TieBlocks.from_samples(np.ones(self.n), -place, keep_samples=True)
        for k, name in enumerate(METRICS):
            height = 1000.0 * metrics.get(name).attribution_of(blocks)[1]
            ax.plot(place, height, color=colour(k), linestyle=("-", "--")[k], label=name.upper())
        ax.set(xlabel=f"Place of the failure among {self.n}, most confident first", ylabel="Contribution × 1000")
        ax.set_xlim(1, self.n)
        ax.set_ylim(bottom=0.0)
        tidy(ax)
        ax.legend(frameon=False)

    def _cumulated(self, ax: Axes) -> None:
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.45", linewidth=1.0, linestyle=":", label="each the same")
        for which, (score, shares) in enumerate(self.shares.items()):
            for k, name in enumerate(METRICS):
                label = name.upper() if len(self.shares) == 1 else f"{entry(score)} {name.upper()}"
                dash = dashes(7 * which + 7) if which else ("-", "--")[k]
                ax.plot(*shares[name], color=colour(k), linestyle=dash, label=label)
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
        ax.set(xlabel="Share of the failures, most confident first", ylabel="Share of the metric that they make up")
        tidy(ax)
        ax.legend(frameon=False, loc="lower right")


def _shares(blocks: TieBlocks) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return cumulated shares of the failures and of each metric, most confident failures first."""
    _, wrong = outcomes(blocks, "contributions of failures")
    if not wrong.sum():
        raise ValueError("no row is wrong, so no failure contributes")
    found = {}
    for name in METRICS:
        _, b = metrics.get(name).attribution_of(blocks)
        part = np.cumsum(b * wrong)
        found[name] = (np.append(0.0, np.cumsum(wrong) / wrong.sum()), np.append(0.0, part / part[-1]))
    return found


@declare(
    "augrc_geometry",
    family="metric",
    title="Geometry of AUGRC",
    source="Traub et al. 2024, Fig. 5a",
    needs="0/1 loss, confidence",
)
class AUGRCGeometryDisplay(Display):
    r"""AUGRC as the triangle of a perfect ranking plus the part of the parallelogram below the curve.

    The generalized-risk curve with the areas of :math:`(1-\text{AUROC}_f)\,a(1-a) + (1-a)^2/2`.

    The triangle is AUGRC of a perfect ranking. The parallelogram between the best and the worst ranking has area
    a (1 - a); its share above the curve is the AUROC of failures, the share below is added to AUGRC.

    Parameters
    ----------
    blocks : TieBlocks
        Of a 0/1 loss with right and wrong rows.
    name : str

    Examples
    --------
    >>> import abstain
    >>> evaluation = abstain.evaluate(abstain.datasets.load("llama3_70b_mmlu"), "msp", "augrc")
    >>> display = abstain.plots.AUGRCGeometryDisplay.from_evaluation(evaluation)
    """

    def __init__(self, blocks: TieBlocks, *, name: str = "confidence") -> None:
        right, wrong = outcomes(blocks, "the geometry of AUGRC")
        if not right.sum() or not wrong.sum():
            raise ValueError("all rows are right, or all are wrong: there is no ranking to speak of")
        self.blocks, self.name = blocks, name
        self.accuracy = float(right.sum() / blocks.total_weight)

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, score: str | None = None, ax: Axes | None = None
    ) -> AUGRCGeometryDisplay:
        """Draw one score of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
        score : str, optional
            Default: the first.
        ax : matplotlib axes, optional

        Returns
        -------
        AUGRCGeometryDisplay
        """
        name = evaluation.scores[0] if score is None else score
        return cls(tables_of(evaluation)[name], name=name).plot(ax)

    def _shape(self) -> Shape:
        return (5.2, 4.3), None

    def _draw(self, ax: Axes) -> None:
        a, T = self.accuracy, self.blocks.total_weight
        coverage = np.append(0.0, self.blocks.cumulative_weight / T)
        risk = np.append(0.0, self.blocks.cumulative_loss / T)
        auroc = float(metrics.get("auroc_f")(self.blocks))
        grid = np.union1d(coverage, [a, 1.0 - a])
        curve, best = np.interp(grid, coverage, risk), np.maximum(grid - a, 0.0)
        perfect = f"perfect ranking (1 − a)²/2 = {0.5 * (1 - a) ** 2:.4f}"
        shade(ax, grid, 0.0, best, WRONG, perfect, alpha=0.45)
        ranking = f"ranking (1 − AUROC) a (1 − a) = {(1 - auroc) * a * (1 - a):.4f}"
        shade(ax, grid, best, curve, colour(2), ranking, alpha=0.4, hatch="//", edgecolor=colour(2))
        x, y = [0.0, a, 1.0, 1.0 - a, 0.0], [0.0, 0.0, 1.0 - a, 1.0 - a, 0.0]
        between = f"best to worst ranking; above the curve: AUROC = {auroc:.4f}"
        ax.plot(x, y, color=colour(2), linestyle="--", linewidth=1.2, label=between)
        ax.plot([0.0, 1.0], [0.0, 1.0 - a], color="0.45", linestyle=":", linewidth=1.0, label="random score")
        augrc = float(metrics.get("augrc")(self.blocks))
        ax.plot(grid, curve, color=RIGHT, linewidth=1.8, label=f"{entry(self.name)}: AUGRC = {augrc:.4f}")
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.75 * (1.0 - a)), xlabel="Coverage", ylabel="Generalized risk")
        ax.set_title(f"accuracy a = {a:.4f}")
        tidy(ax)
        ax.legend(frameon=False, loc="upper left")


@declare(
    "augrc_surface",
    family="metric",
    title="AUGRC over accuracy and ranking",
    source="Traub et al. 2024, Fig. 5b",
    needs="nothing; for points a 0/1 loss and a confidence",
)
class AUGRCSurfaceDisplay(Display):
    """AUGRC as levels over accuracy and AUROC of failures, arrows along its negative gradient, models as points.

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
        self,
        points: Mapping[str, tuple[float, float]] | None = None,
        *,
        accuracy: tuple[float, float] = (0.5, 1.0),
        auroc_f: tuple[float, float] = (0.5, 1.0),
    ) -> None:
        for name, (low, high) in (("accuracy", accuracy), ("auroc_f", auroc_f)):
            if not 0.0 <= low < high <= 1.0:
                raise ValueError(f"{name} must be (low, high) with 0 <= low < high <= 1, got ({low}, {high})")
        self.points, self.accuracy, self.auroc_f = dict(points or {}), accuracy, auroc_f

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        accuracy: tuple[float, float] = (0.5, 1.0),
        auroc_f: tuple[float, float] = (0.5, 1.0),
        ax: Axes | None = None,
    ) -> AUGRCSurfaceDisplay:
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

    def _draw(self, ax: Axes) -> None:
        x, y = np.linspace(*self.accuracy, 101), np.linspace(*self.auroc_f, 101)
        height = np.array([[augrc_from_auroc(float(a), float(b)) for a in x] for b in y])
        levels: Any = ax.contourf(x, y, height, levels=14, cmap=f"{SEQUENTIAL}_r")
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
                side, shift = ("right", -7.0) if a > np.mean(self.accuracy) else ("left", 7.0)
                box = {"facecolor": "white", "alpha": 0.75, "linewidth": 0.0, "pad": 1.0}
                note(ax, entry(name), (a, b), (shift, -4.0), ha=side, va="top", zorder=6, bbox=box)
        ax.set(xlim=self.accuracy, ylim=self.auroc_f, xlabel="Accuracy", ylabel="AUROC of failures")
