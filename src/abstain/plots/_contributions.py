"""What single failures add to AURC and to AUGRC, by their place in the ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain import metrics
from abstain._checks import whole
from abstain._typing import FloatArray
from abstain.blocks import TieBlocks
from abstain.evaluation import Evaluation
from abstain.plots._columns import chosen, outcomes, tables_of
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import colour, dashes, entry, tidy

METRICS = ("aurc", "augrc")


@declare(
    "contributions",
    family="metric",
    title="Contributions of failures",
    shows="What a failure adds to AURC and AUGRC by its place, and which share of each the surest failures make up.",
    source="Traub et al. 2024, Fig. 2a",
    needs="nothing; for the second panel a 0/1 loss and a confidence",
)
class ContributionsDisplay(Display):
    """What one failure adds to AURC and AUGRC over its place among n rows, and the shares of the surest failures.

    Parameters
    ----------
    n : int
        Rows of the left panel.
    tables : mapping of name to TieBlocks, optional
        Draws the right panel: which share of each metric the k surest failures make up, over their share.

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
        cls, evaluation: Evaluation, *, n: int = 100, score: Any = None, ax: Any = None
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

    def _places(self, ax: Any) -> None:
        place = np.arange(1, self.n + 1)
        blocks = TieBlocks.from_samples(np.ones(self.n), -place, keep_samples=True)
        for k, name in enumerate(METRICS):
            height = 1000.0 * metrics.get(name).attribution_of(blocks)[1]
            ax.plot(place, height, color=colour(k), linestyle=("-", "--")[k], label=name.upper())
        ax.set(xlabel=f"Place of the failure among {self.n}, surest first", ylabel="Contribution × 1000")
        ax.set_xlim(1, self.n)
        ax.set_ylim(bottom=0.0)
        tidy(ax)
        ax.legend(frameon=False)

    def _cumulated(self, ax: Any) -> None:
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.45", linewidth=1.0, linestyle=":", label="each the same")
        for which, (score, shares) in enumerate(self.shares.items()):
            for k, name in enumerate(METRICS):
                label = name.upper() if len(self.shares) == 1 else f"{entry(score)} {name.upper()}"
                dash = dashes(7 * which + 7) if which else ("-", "--")[k]
                ax.plot(*shares[name], color=colour(k), linestyle=dash, label=label)
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
        ax.set(xlabel="Share of the failures, surest first", ylabel="Share of the metric that they make up")
        tidy(ax)
        ax.legend(frameon=False, loc="lower right")


def _shares(blocks: TieBlocks) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return cumulated shares of the failures and of each metric, surest failures first."""
    _, wrong = outcomes(blocks, "contributions of failures")
    if not wrong.sum():
        raise ValueError("no row is wrong, so no failure contributes")
    found = {}
    for name in METRICS:
        _, b = metrics.get(name).attribution_of(blocks)
        part = np.cumsum(b * wrong)
        found[name] = (np.append(0.0, np.cumsum(wrong) / wrong.sum()), np.append(0.0, part / part[-1]))
    return found
