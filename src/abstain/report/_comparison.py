"""A comparison as a forest plot."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._result import clean
from abstain.evaluation import Comparison
from abstain.report._figure import LOCK, Display


def plot_comparison(comparison: Comparison, ax: Any = None) -> Display:
    """Draw estimates with intervals, best on top, letters on the right."""
    display = Display()
    with LOCK:
        _draw(comparison, display._on(ax, (6.0, 1.2 + 0.34 * len(comparison.table))))
    return display


def _draw(comparison: Comparison, ax: Any) -> None:
    rows = comparison.table
    height = np.arange(len(rows))
    estimate = np.array([row["estimate"] for row in rows])
    ends = np.array([[row["low"], row["high"]] for row in rows], dtype=np.float64).T
    known = ~np.isnan(ends).any(axis=0)
    ax.hlines(height[known], *ends[:, known], color="tab:blue", linewidth=2.0)
    ax.plot(estimate, height, "o", color="tab:blue", markersize=5)
    for y, row in zip(height, rows, strict=True):
        ax.annotate(
            row["letters"], (1.0, y), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", va="center", family="monospace", annotation_clip=False,
        )  # fmt: skip
    ax.set_yticks(height, [shown(row["name"]) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel(f"{comparison.label} ({comparison.direction} is better), {100 * comparison.level:g} % intervals")
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)


def shown(name: str) -> str:
    """Return a name that matplotlib does not read as mathematics."""
    return clean(name).replace("$", r"\$")
