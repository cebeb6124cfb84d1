"""The CWSA family over thresholds, one panel per model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from abstain._typing import ArrayLike, FloatArray
from abstain.evaluation import Evaluation
from abstain.metrics import cwsa_sweep
from abstain.plots._columns import chosen, rows_of, tables_of
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import colour, entry, tidy

LINES = (("selective_accuracy", "selective accuracy", "-"), ("cwsa", "CWSA", "--"), ("cwsa_plus", "CWSA+", "-."),
         ("coverage", "coverage", ":"))  # fmt: skip


@declare(
    "cwsa_sweep",
    family="threshold",
    title="CWSA over thresholds",
    shows="Selective accuracy, CWSA, CWSA+ and coverage of each model over the threshold of its confidence.",
    source="Shahnazari et al. 2025, Figs. 1 to 6",
    needs="loss in [0, 1], confidences in [0, 1]",
)
class CWSASweepDisplay(Display):
    """Selective accuracy, CWSA, CWSA+ and coverage over the threshold, one panel per model.

    Parameters
    ----------
    sweeps : mapping of name to dict
        What :func:`abstain.cwsa_sweep` returns.

    Examples
    --------
    >>> import abstain
    >>> names = ["resnet34", "efficientnet_b3a", "resnet101", "resnext101"]
    >>> models = {name: abstain.datasets.load(f"imagenet_{name}") for name in names}
    >>> evaluation = abstain.evaluate(models, metrics="augrc")
    >>> display = abstain.plots.CWSASweepDisplay.from_evaluation(evaluation)
    """

    def __init__(self, sweeps: Mapping[str, Mapping[str, FloatArray]]) -> None:
        if not sweeps:
            raise ValueError("sweeps is empty; give at least one result of cwsa_sweep")
        self.sweeps = {name: dict(sweep) for name, sweep in sweeps.items()}

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, score: Any = None, thresholds: ArrayLike | None = None,
        denominator: Literal["accepted", "all"] = "accepted", ax: Any = None,
    ) -> CWSASweepDisplay:  # fmt: skip
        """Draw a panel for each score or model of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
        score : str or sequence of str, optional
            Only these.
        thresholds : array-like, optional
            Default: .50, .51, ..., .99, as in the paper.
        denominator : {"accepted", "all"}
            As in :func:`abstain.cwsa_sweep`.
        ax : matplotlib axes, one per panel, optional

        Returns
        -------
        CWSASweepDisplay
        """
        sweeps = {}
        grid: Any = np.arange(50, 100) / 100 if thresholds is None else thresholds
        for name, blocks in chosen(tables_of(evaluation), score).items():
            rows, weight = rows_of(blocks), None
            if rows is None:
                rows, weight = (blocks.loss / blocks.weight, blocks.score), blocks.weight
            sweeps[name] = cwsa_sweep(*rows, grid, denominator=denominator, sample_weight=weight)
        return cls(sweeps).plot(ax)

    _options: ClassVar = {"sharey": True}

    def _shape(self) -> Shape:
        count = len(self.sweeps)
        return (1.0 + 2.9 * count, 3.5), count

    def _draw(self, axes: Any) -> None:
        for one, (name, sweep) in zip(axes, self.sweeps.items(), strict=True):
            for k, (key, label, dash) in enumerate(LINES):
                one.plot(sweep["threshold"], sweep[key], color=colour(k), linestyle=dash, linewidth=1.6, label=label)
            one.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
            one.set_title(entry(name))
            one.set_xlabel("Threshold τ")
            tidy(one)
        lowest = min(float(np.nanmin(sweep["cwsa"])) for sweep in self.sweeps.values())
        axes[0].set_ylim(min(0.0, 1.05 * lowest) - 0.02, 1.03)
        axes[0].set_ylabel("Value")
        axes[0].legend(frameon=False, loc="best")
