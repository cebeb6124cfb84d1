"""What holds for every figure: its declaration, its bytes, the settings of the caller, and its colours."""

import doctest
import inspect
from functools import cache

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import matplotlib as mpl
from matplotlib.figure import Figure

import abstain
from abstain import plots
from tests.refusal import refused

NAMES = plots.names()


def source(name):
    """Return the code of the example of a figure's display."""
    text = inspect.getdoc(plots.get(name).display) or ""
    return "".join(each.source for each in doctest.DocTestParser().get_examples(text))


#: Figures whose example needs no data set: a formula of the rank, and failures that the paper prints (Fig. 2).
NO_DATA = {"rank_weights", "rankings"}
#: Words of code that makes data up.
MADE_UP = ("synthetic", "rng", "random.", "normal(", "uniform(", "linspace(", "make_")


@cache
def drawn(name):
    """Return the display that the example of a figure makes."""
    names = {}
    exec(source(name), names)
    return names["display"]


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_says_what_it_is_and_its_example_draws_real_data(name):
    """Name, title, one sentence, source, needs; a public display; bundled outputs of real models, or a public set."""
    plot, text = plots.get(name), source(name)
    assert plot.shows.endswith(".")
    assert all((plot.title, plot.source, plot.needs))
    assert plot.display.__name__ in plots.__all__ or plot.display is abstain.RiskCoverageDisplay
    assert issubclass(plot.display, plots.Display)
    assert not [word for word in MADE_UP if word in text]
    assert ("datasets.load(" in text or "load_digits()" in text) == (name not in NO_DATA)


SOME = [name if k % 8 == 0 or name == "forest" else pytest.param(name, marks=pytest.mark.slow)
        for k, name in enumerate(NAMES)]  # fmt: skip


@pytest.mark.parametrize("name", SOME)
def test_equal_data_give_equal_bytes(name, tmp_path):
    """Whatever the settings of the caller, which stay, and what was saved before; one is tried in all forms."""
    display = drawn(name)
    kinds = ("png", "svg", "pdf") if name == "forest" else ("svg",)
    with mpl.rc_context({"font.size": 4.0, "axes.facecolor": "yellow", "svg.hashsalt": "mine"}):
        settings = dict(mpl.rcParams)
        display.plot()
        for kind in kinds:
            display.save(tmp_path / f"b.{kind}", dpi=40)
        assert dict(mpl.rcParams) == settings
    for kind in reversed(kinds):  # what was saved last there is saved first here
        display.plot().save(tmp_path / f"a.{kind}", dpi=40)
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes(), kind


@pytest.mark.parametrize("name", NAMES)
def test_a_display_keeps_axes_and_figure(name):
    """Something is drawn on every axes, no text leaves the picture, and axes of the caller's are used."""
    display = drawn(name)
    axes = np.atleast_1d(display.ax_).ravel()
    assert all(one.figure is display.figure_ and (one.has_data() or one.texts) for one in axes)
    with plots.settings():
        display.figure_.draw_without_rendering()
        box = display.figure_.bbox.padded(2)
        for one in display.figure_.axes:
            taken = one.get_tightbbox()
            assert box.min[0] <= taken.x0 <= taken.x1 <= box.max[0], one.get_title()
            assert box.min[1] <= taken.y0 <= taken.y1 <= box.max[1], one.get_title()
    mine = np.atleast_1d(Figure().subplots(1, len(axes)))
    assert display.plot(mine if len(axes) > 1 else mine[0]) is display
    assert np.atleast_1d(display.ax_).ravel()[0] is mine[0]
    refused(ValueError, "axes, but ax holds", display.plot, [*mine, mine[0]])


def test_what_cannot_be_drawn_is_refused(tmp_path):
    """An unknown figure names near ones; nothing is written where the extension says nothing."""
    refused(ValueError, "did you mean 'reliability'", plots.get, "reliabillity")
    words = "'forest' is not drawn from 'study', but from: comparison"
    refused(ValueError, words, plots.get("forest").draw, "study", None)
    assert set(plots.names("comparison")) < set(plots.names())
    words = r"extension '\.gif' cannot be drawn; use \.png, \.svg, \.pdf"
    refused(ValueError, words, drawn("reliability").save, tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []
