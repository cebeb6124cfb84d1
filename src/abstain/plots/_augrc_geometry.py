"""Geometry of AUGRC: the area that no ranking can avoid, and the area that the ranking adds."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain import metrics
from abstain.blocks import TieBlocks
from abstain.evaluation import Evaluation
from abstain.plots._columns import outcomes, tables_of
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import RIGHT, WRONG, colour, entry, tidy


@declare(
    "augrc_geometry",
    family="metric",
    title="Geometry of AUGRC",
    shows="AUGRC as the triangle of a perfect ranking plus the part of the parallelogram below the curve.",
    source="Traub et al. 2024, Fig. 5a",
    needs="0/1 loss, confidence",
)
class AUGRCGeometryDisplay(Display):
    r"""The generalized-risk curve with the areas of :math:`(1-\text{AUROC}_f)\,a(1-a) + (1-a)^2/2`.

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
        cls, evaluation: Evaluation, *, score: str | None = None, ax: Any = None
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

    def _draw(self, ax: Any) -> None:
        a, T = self.accuracy, self.blocks.total_weight
        coverage = np.append(0.0, self.blocks.cumulative_weight / T)
        risk = np.append(0.0, self.blocks.cumulative_loss / T)
        auroc = float(metrics.get("auroc_f")(self.blocks))
        grid = np.union1d(coverage, [a, 1.0 - a])
        curve, best = np.interp(grid, coverage, risk), np.maximum(grid - a, 0.0)
        ax.fill_between(grid, 0.0, best, color=WRONG, alpha=0.45, linewidth=0.0,
                        label=f"perfect ranking (1 − a)²/2 = {0.5 * (1 - a) ** 2:.4f}")  # fmt: skip
        ax.fill_between(grid, best, curve, color=colour(2), alpha=0.4, linewidth=0.0, hatch="//", edgecolor=colour(2),
                        label=f"ranking (1 − AUROC) a (1 − a) = {(1 - auroc) * a * (1 - a):.4f}")  # fmt: skip
        ax.plot([0.0, a, 1.0, 1.0 - a, 0.0], [0.0, 0.0, 1.0 - a, 1.0 - a, 0.0], color=colour(2), linestyle="--",
                linewidth=1.2, label=f"best to worst ranking; above the curve: AUROC = {auroc:.4f}")  # fmt: skip
        ax.plot([0.0, 1.0], [0.0, 1.0 - a], color="0.45", linestyle=":", linewidth=1.0, label="random score")
        augrc = float(metrics.get("augrc")(self.blocks))
        ax.plot(grid, curve, color=RIGHT, linewidth=1.8, label=f"{entry(self.name)}: AUGRC = {augrc:.4f}")
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.75 * (1.0 - a)), xlabel="Coverage", ylabel="Generalized risk")
        ax.set_title(f"accuracy a = {a:.4f}")
        tidy(ax)
        ax.legend(frameon=False, loc="upper left")
