"""Failures and out-of-distribution inputs together: F1 over two thresholds, and the frontier of risk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain._typing import Axes, FloatArray, Options
from abstain.joint import JointEvaluation, RiskCoverageFrontier
from abstain.plots._display import SEQUENTIAL, WRONG, Display, Shape, colour, dashes, entry, legend, tidy
from abstain.plots._registry import declare


@declare(
    "f1_surface",
    family="joint",
    title="F1 over both thresholds",
    source="From Misclassifications to Outliers, Fig. 1b",
    needs="ID rows with a 0/1 loss and OOD rows, two scores of each",
)
class F1SurfaceDisplay(Display):
    """F1 of accepting at two thresholds, with the best pair and the best single thresholds.

    Parameters
    ----------
    result : JointEvaluation
    T : int
        Quantiles per score.

    Examples
    --------
    >>> import abstain
    >>> known, ood = (abstain.datasets.load(f"fashion_mnist_{part}") for part in ("id", "ood"))
    >>> inside = {"id_confidence": known.scores["msp"], "id_detector": known.scores["gen"]}
    >>> outside = {"ood_confidence": ood.scores["msp"], "ood_detector": ood.scores["gen"]}
    >>> result = abstain.joint.evaluate(known.loss, **inside, **outside)
    >>> display = abstain.plots.F1SurfaceDisplay.from_joint(result)
    """

    def __init__(self, result: JointEvaluation, *, T: int = 200) -> None:
        self.result = result
        self.surface = result.f1_surface(T)

    @classmethod
    def from_joint(cls, result: JointEvaluation, *, T: int = 200, ax: Axes | None = None) -> F1SurfaceDisplay:
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

    def _draw(self, ax: Axes) -> None:
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
            style: Options = {"markeredgecolor": "white", "markersize": 11, "clip_on": False, "linestyle": "none"}
            ax.plot(*at, mark, color=WRONG, label=f"{label} {found:.4f}", **style)
        ax.set(xlabel="Rejected share by the detector alone", ylabel="Rejected share by the confidence alone")
        ax.legend(fontsize="small", loc="upper right", framealpha=0.85)


def _rejected(column: Any, limits: Any) -> Any:
    """Return the share of all samples below each threshold."""
    return np.searchsorted(np.sort(column), limits, side="left") / column.size


@declare(
    "frontier",
    family="joint",
    title="Frontier of two thresholds",
    source="From Misclassifications to Outliers, Fig. 2",
    needs="ID rows with a 0/1 loss and OOD rows, two scores of each",
)
class FrontierDisplay(Display):
    """Coverage and risk of pairs of thresholds as a cloud, and the least risk at each coverage below it.

    Parameters
    ----------
    frontiers : mapping of name to RiskCoverageFrontier
        Of the same samples.
    pairs : (ndarray, ndarray), optional
        Coverage and risk of pairs of thresholds.

    Examples
    --------
    >>> import abstain
    >>> known, ood = (abstain.datasets.load(f"fashion_mnist_{part}") for part in ("id", "ood"))
    >>> inside = {"id_confidence": known.scores["msp"], "id_detector": known.scores["gen"]}
    >>> outside = {"ood_confidence": ood.scores["msp"], "ood_detector": ood.scores["gen"]}
    >>> result = abstain.joint.evaluate(known.loss, **inside, **outside)
    >>> display = abstain.plots.FrontierDisplay.from_joint(result)
    """

    def __init__(
        self, frontiers: Mapping[str, RiskCoverageFrontier], *, pairs: tuple[FloatArray, FloatArray] | None = None
    ) -> None:
        if not frontiers:
            raise ValueError("frontiers is empty; give at least one RiskCoverageFrontier")
        self.frontiers = dict(frontiers)
        self.pairs = pairs

    @classmethod
    def from_joint(cls, result: JointEvaluation, *, T: int = 100, ax: Axes | None = None) -> FrontierDisplay:
        """Draw the frontiers of each score alone and of both, and the pairs of T quantiles of each.

        Parameters
        ----------
        result : JointEvaluation
        T : int
            Quantiles per score; 0 draws no cloud.
        ax : matplotlib axes, optional

        Returns
        -------
        FrontierDisplay
        """
        return cls(result.frontiers, pairs=result.pairs(T) if T else None).plot(ax)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> FrontierDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
        **kwargs
            Passed to matplotlib's ``plot``.

        Returns
        -------
        FrontierDisplay
        """
        with self._canvas(ax, (5.5, 4.0)) as ax:
            top = 0.0
            if self.pairs is not None:
                label = f"{self.pairs[0].size:,} pairs of thresholds"
                cloud: Options = {"color": "0.75", "markersize": 1.5, "markeredgewidth": 0.0, "zorder": 0}
                ax.plot(*self.pairs, ".", rasterized=True, label=label, **cloud)
            for k, (name, curve) in enumerate(self.frontiers.items()):
                risk = np.minimum.accumulate(curve.selective_risk[::-1])[::-1]
                top = max(top, float(risk[-1]))
                label = f"{entry(name)} ({'DS-' if _two(curve) else ''}AURC {curve.aurc():.4f})"
                usual = {"label": label, "color": colour(k), "linestyle": dashes(k), "linewidth": 1.6}
                (line,) = ax.step(curve.coverage, risk, where="pre", **{**usual, **kwargs})
                if self.pairs is None and curve.method == "exact":
                    ax.plot(curve.coverage, curve.selective_risk, color=line.get_color(), alpha=0.3, linewidth=0.8)
            ax.set(xlim=(0.0, 1.0), xlabel="Coverage of ID samples", ylabel="Selective risk, ID errors and OOD samples")
            # the first levels of a curve may be much higher
            ax.set_ylim(0.0, 1.08 * top if top > 0.0 else 1.0)
            tidy(ax)
            legend(ax, markerscale=4)
        return self


def _two(curve: RiskCoverageFrontier) -> bool:
    return bool(np.unique(curve.detector_threshold).size > 1)
