"""Joint results as pictures: the frontier, and F1 over both thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain.joint import JointEvaluation, RiskCoverageFrontier
from abstain.joint._grid import surface
from abstain.report._figure import LOCK, Display


def plot_frontiers(frontiers: Mapping[str, RiskCoverageFrontier], ax: Any = None, **kwargs: Any) -> Display:
    """Draw selective risk over the coverage of ID samples, the attained levels faint behind "at least".

    Parameters
    ----------
    frontiers : mapping of name to RiskCoverageFrontier
        Of the same samples.
    ax : matplotlib axes, optional
        Default: a new figure.
    **kwargs
        Passed to matplotlib's ``plot``.

    Returns
    -------
    Display
    """
    display = Display()
    with LOCK:
        _draw_frontiers(frontiers, display._on(ax, (5.5, 4.0)), kwargs)
    return display


def _draw_frontiers(frontiers: Mapping[str, RiskCoverageFrontier], ax: Any, style: dict[str, Any]) -> None:
    top = 0.0
    for name, curve in frontiers.items():
        risk = np.minimum.accumulate(curve.selective_risk[::-1])[::-1]
        top = max(top, float(risk[-1]))
        label = f"{name} ({'DS-' if _two(curve) else ''}AURC {curve.aurc():.4f})"
        (line,) = ax.step(curve.coverage, risk, where="pre", **{"label": label, "linewidth": 1.6, **style})
        ax.plot(curve.coverage, curve.selective_risk, color=line.get_color(), alpha=0.3, linewidth=0.8)
    ax.set(xlim=(0.0, 1.0), xlabel="Coverage of ID samples", ylabel="Selective risk, ID errors and OOD samples")
    ax.set_ylim(0.0, 1.08 * top if top > 0.0 else 1.0)  # the first levels of a curve may be much higher
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.legend(frameon=False, fontsize="small")


def _two(curve: RiskCoverageFrontier) -> bool:
    return bool(np.unique(curve.detector_threshold).size > 1)


def plot_f1_surface(result: JointEvaluation, *, T: int = 200, ax: Any = None) -> Display:
    """Draw F1 over both thresholds, at their quantiles, with the exact best pair and the best single thresholds.

    Parameters
    ----------
    result : JointEvaluation
    T : int
        Quantiles per score.
    ax : matplotlib axes, optional
        Default: a new figure.

    Returns
    -------
    Display
    """
    display = Display()
    with LOCK:
        _draw_surface(result, T, display._on(ax, (5.5, 4.4)))
    return display


def _draw_surface(result: JointEvaluation, T: int, ax: Any) -> None:
    data = result.problem
    confidence, score, value = surface(data, T)
    x, y = (_rejected(column, limits) for column, limits in ((data.detector, score), (data.confidence, confidence)))
    picture = ax.pcolormesh(x, y, value, shading="nearest", cmap="viridis", rasterized=True)
    if min(value.shape) > 1:
        ax.contour(x, y, value, levels=8, colors="white", linewidths=0.5, alpha=0.6)
    ax.figure.colorbar(picture, ax=ax, label="F1")
    alone = result.f1
    for label, marker, a, c, found in (
        ("both", "*", *result.thresholds[::-1], result.ds_f1.value),
        ("confidence", "^", -np.inf, alone["confidence"].thresholds.confidence, alone["confidence"].value),
        ("detector", "s", alone["detector"].thresholds.confidence, -np.inf, alone["detector"].value),
    ):
        at = (_rejected(data.detector, np.array([a]))[0], _rejected(data.confidence, np.array([c]))[0])
        ax.plot(*at, marker, color="red", markeredgecolor="white", markersize=11, clip_on=False,
                linestyle="none", label=f"{label} {found:.4f}")  # fmt: skip
    ax.set(xlabel="Rejected share by the detector alone", ylabel="Rejected share by the confidence alone")
    ax.legend(fontsize="small", loc="upper right", framealpha=0.85)


def _rejected(column: Any, limits: Any) -> Any:
    """Return the share of all samples below each threshold."""
    return np.searchsorted(np.sort(column), limits, side="left") / column.size
