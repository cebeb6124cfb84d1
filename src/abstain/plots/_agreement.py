"""Two definitions of one number against each other, one point per model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain.evaluation import Evaluation
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import colour, entry, mark, tidy


@declare(
    "agreement",
    family="several",
    title="Two definitions of one number",
    shows="One number by two definitions, a point per model or score; equal ones lie on the diagonal.",
    source="Zhou et al. 2025, Figs. S6 and S7",
    needs="an evaluation with two metrics on one scale",
)
class AgreementDisplay(Display):
    """One number by two definitions: a point per model, the diagonal, and the largest relative difference.

    Parameters
    ----------
    points : mapping of name to (x, y)
    labels : (str, str)
        The two definitions.

    Examples
    --------
    >>> import abstain
    >>> names = ["msp", "neg_entropy", "neg_gini", "softmax_margin", "gen"]
    >>> both = ["aurc(estimator=plugin)", "aurc(estimator=harmonic)"]
    >>> evaluation = abstain.evaluate(abstain.datasets.load("cifar10_vgg16").select(slice(0, 500)), names, both)
    >>> display = abstain.plots.AgreementDisplay.from_evaluation(evaluation)
    """

    def __init__(self, points: Mapping[str, tuple[float, float]], *, labels: tuple[str, str] = ("x", "y")) -> None:
        if not points:
            raise ValueError("points is empty; give at least one")
        self.points, self.labels = dict(points), labels

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, one: str | None = None, other: str | None = None, *, ax: Any = None
    ) -> AgreementDisplay:
        """Draw the scores or models of an evaluation by two of its metrics.

        Parameters
        ----------
        evaluation : Evaluation
        one, other : str, optional
            Specs or printed names; default: its first two metrics.
        ax : matplotlib axes, optional

        Returns
        -------
        AgreementDisplay
        """
        specs = list(dict.fromkeys(each.metric for each in evaluation.measurements))
        if len(specs) < 2 and (one is None or other is None):
            raise ValueError("this evaluation has one metric; evaluate with two definitions of it")
        both = (one or specs[0], other or specs[1])
        points = {
            name: (evaluation.value(both[0], score=name), evaluation.value(both[1], score=name))
            for name in evaluation.scores
        }
        return cls(points, labels=both).plot(ax)

    def _shape(self) -> Shape:
        return (4.6, 4.3), None

    def _draw(self, ax: Any) -> None:
        x, y = np.array(list(self.points.values())).T
        low, high = min(x.min(), y.min()), max(x.max(), y.max())
        room = 0.08 * (high - low) or 0.1 * abs(high) or 0.1
        ends = (low - room, high + room)
        ax.plot(ends, ends, color="0.45", linewidth=1.0, linestyle="--", label="equal")
        for k, (name, (a, b)) in enumerate(self.points.items()):
            ax.plot(a, b, mark(k), color=colour(k), markersize=6, label=entry(name))
        apart = float(np.max(np.abs(y - x) / np.abs(x))) if np.all(x != 0.0) else float("nan")
        ax.set(xlim=ends, ylim=ends, xlabel=entry(self.labels[0]), ylabel=entry(self.labels[1]), aspect="equal")
        ax.set_title(f"largest relative difference {apart:.2g}")
        tidy(ax)
        ax.legend(frameon=False)
