"""A ranking study as flows between two rankings with their significance maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.inference import Ranking, RankingStudy
from abstain.report._comparison import shown
from abstain.report._figure import LOCK, Display

#: Inches from one ranking to the other.
FLOW = 2.2


def plot_study(study: RankingStudy, left: Ranking, right: Ranking) -> Display:
    """Draw a coloured flow per score between two rankings, significance maps outside."""
    size = len(study.names)
    side = 1.0 + 0.26 * size
    text = 0.5 + 0.08 * max(len(name) for name in study.names)  # inches that a name with its rank takes
    middle = FLOW + 2.0 * text
    display = Display()
    with LOCK:
        axes = display._on(None, (2.0 * side + middle, side + 0.4), 3, width_ratios=[side, middle, side])
        _map(axes[0], left)
        _flows(axes[1], left, right, _colours(left))
        axes[1].set_xlim(-text / FLOW, 1.0 + text / FLOW)
        _map(axes[2], right)
        tau = study.kendall(left.metric, right.metric)
        heading = f"Kendall's tau {tau:.2f} · filled: row significantly better than column"
        display.figure_.suptitle(heading, fontsize="medium")
    return display


def _colours(ranking: Ranking) -> dict[str, Any]:
    """Return one colour per score, from best to worst in the first ranking."""
    from matplotlib import colormaps

    scale = colormaps["viridis"](np.linspace(0.0, 0.92, len(ranking.names)))
    return dict(zip(ranking.names, scale, strict=True))


def _flows(ax: Any, left: Ranking, right: Ranking, colours: dict[str, Any]) -> None:
    """Draw a smooth band from each score's place on the left to its place on the right."""
    x = np.linspace(0.0, 1.0, 60)
    bend = 3.0 * x**2 - 2.0 * x**3
    for start, name in enumerate(left.names):
        end = right.names.index(name)
        moved = left.rank[start] != right.rank[end]
        y = start + (end - start) * bend
        ax.fill_between(x, y - 0.3, y + 0.3, color=colours[name], alpha=0.75 if moved else 0.3, linewidth=0.0)
    for where, ranking, align, sign in ((0.0, left, "right", -1.0), (1.0, right, "left", 1.0)):
        for place, name in enumerate(ranking.names):
            text = f"{ranking.rank[place]}  {shown(name)}" if sign > 0 else f"{shown(name)}  {ranking.rank[place]}"
            ax.text(where + 0.02 * sign, place, text, ha=align, va="center", fontsize="small")
        ax.text(where, -0.9, ranking.label, ha=align, va="bottom", fontweight="bold")
    ax.set_ylim(len(left.names) - 0.4, -1.5)
    ax.axis("off")


def _map(ax: Any, ranking: Ranking) -> None:
    """Draw the significance map: a stable ranking is filled above its diagonal and nowhere else."""
    ax.imshow(ranking.better, cmap="Blues", vmin=0.0, vmax=1.3, aspect="equal")
    size = len(ranking.names)
    ax.set_xticks(np.arange(size), ranking.rank.tolist(), fontsize="x-small")
    ax.set_yticks(np.arange(size), [shown(name) for name in ranking.names], fontsize="x-small")
    ax.set_xticks(np.arange(-0.5, size), minor=True)
    ax.set_yticks(np.arange(-0.5, size), minor=True)
    ax.grid(which="minor", color="white", linewidth=1.0)
    ax.plot([-0.5, size - 0.5], [-0.5, size - 0.5], color="0.6", linewidth=0.8)
    ax.tick_params(which="both", length=0)
    ax.set_title(f"{ranking.label}: paired tests", fontsize="small")
    for side in ax.spines.values():
        side.set_visible(False)
