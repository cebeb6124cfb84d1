"""Weights of the AURC estimators: how far each is off, over the place of a row in the population."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from abstain._checks import whole
from abstain.metrics import WeightEstimator, rank_weight_bias, rank_weight_mse
from abstain.plots._display import Display, Shape
from abstain.plots._registry import declare
from abstain.plots._style import colour, tidy

DASHES = ("-", "--", "-.")


@declare(
    "rank_weights",
    family="metric",
    title="Bias and error of rank weights",
    shows="Bias of the estimators' weights over the population rank, for several n, and their mean squared error.",
    source="Zhou et al. 2025, Figs. 1, 2 and S8",
    needs="nothing",
)
class RankWeightsDisplay(Display):
    r"""Exact bias of the weights over the population percentile :math:`\beta`, and their mean squared error over ranks.

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

    def _bias(self, ax: Any, n: int) -> None:
        beta = 1.0 - np.geomspace(1.0, 0.02, 200)
        for k, name in enumerate(get_args(WeightEstimator)):
            label = "SELE" if name == "sele" else name
            ax.plot(beta, rank_weight_bias(n, beta, name), color=colour(k), linestyle=DASHES[k], label=label)
        ax.axhline(0.0, color="0.45", linewidth=0.8)
        ax.set(xlim=(0.0, 1.0), xlabel="Population rank β", title=f"n = {n}")
        tidy(ax)

    def _error(self, ax: Any) -> None:
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
