"""The pictures: what is drawn is what was computed."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from abstain import joint
from abstain.plots import F1SurfaceDisplay, FrontierDisplay
from tests.joint.references import one_score, random_problem


def test_the_frontier_is_drawn_with_its_area():
    """One stair per curve, down to the left, and all levels behind it where they are known."""
    columns = random_problem(80, 60)
    both, alone = joint.ds_aurc(**columns.named), joint.ds_aurc(**one_score(columns).named)
    assert alone.frontier is not None
    ax = FrontierDisplay({"MSP": alone.frontier, "both": both.frontier}).plot(Figure().subplots()).ax_
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [f"MSP (AURC {alone.value:.4f})", f"both (DS-AURC {both.value:.4f})"]
    stair = ax.lines[1].get_ydata()
    assert (np.diff(stair) >= 0).all()
    assert len(ax.lines) == 2
    every = joint.ds_aurc(**columns.named, operator="exact").frontier
    assert len(every.plot(Figure().subplots()).ax_.lines) == 2
    assert both.frontier.plot(ax=Figure().subplots()).ax_.get_xlabel() == "Coverage of ID samples"


def test_the_surface_marks_the_best_points():
    """The star is the exact optimum, and no cell of the grid is above it; constant scores are drawn as well."""
    columns = random_problem(80, 60)
    ax = joint.evaluate(**columns.named).plot(Figure().subplots(), T=30).ax_
    grid = ax.collections[0].get_array()
    best = joint.ds_f1(**columns.named).value
    assert grid.max() <= best
    assert ax.get_legend().get_texts()[0].get_text() == f"both {best:.4f}"
    F1SurfaceDisplay(joint.evaluate(**one_score(columns).named), T=30).plot(Figure().subplots())
