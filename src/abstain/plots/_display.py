"""Figures of our own: pyplot is never asked, so that threads may draw; how they look, and how they are written."""

from __future__ import annotations

import io
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from abstain._extras import need
from abstain._files import write_file
from abstain._result import clean, short
from abstain._typing import Axes, Options

#: Held by everything that is drawn: settings are matplotlib's, which all threads share, for a moment.
LOCK = threading.RLock()

#: Okabe and Ito (2008), without their yellow, which is lost on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: Right and wrong are distinguished by place and pattern, too.
RIGHT, WRONG = "#0072B2", "#D55E00"
DASHES = ("-", "--", "-.", ":")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
#: For values that only have a size; its lightness alone tells them.
SEQUENTIAL = "cividis"

#: With matplotlib's defaults, whatever the caller has set. The salt makes equal images equal bytes.
SETTINGS: Options = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "legend.fontsize": 8.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "figure.titlesize": 10.0,
    "axes.linewidth": 0.8,
    "svg.hashsalt": "abstain",
    "pdf.fonttype": 42,
}
#: What a file would say of the day, the program and its version.
NOTHING: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "pdf": dict.fromkeys(("Creator", "Producer", "CreationDate")),
}


@contextmanager
def settings(**more: Any) -> Iterator[None]:
    """Draw or write with our settings; those of the caller are back afterwards, and no other drawing sees ours."""
    from matplotlib import style

    with LOCK, style.context(["default", {**SETTINGS, **more}]), quiet():
        yield


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings about characters of names that the font lacks: a browser has other fonts, a box says it too."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def layout() -> Any:
    """Return a layout whose last digits do not depend on where objects lie in memory, as those of its solver do."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.transforms import Bbox

    class Steady(ConstrainedLayoutEngine):
        def __init__(self) -> None:
            super().__init__()
            self.first: dict[Any, tuple[Any, Any]] = {}

        def execute(self, fig: Any) -> Any:
            for ax in fig.axes:  # from where they were first: what was saved before must not show
                places = ax.get_position(original=True).frozen(), ax.get_position().frozen()
                original, active = self.first.setdefault(ax, places)
                ax._set_position(original, which="original")
                ax._set_position(active, which="active")
            found = super().execute(fig)
            for ax in fig.axes:
                place = ax.get_position(original=True).bounds
                ax._set_position(Bbox.from_bounds(*(round(float(each), 6) for each in place)))
            return found

    return Steady()


def colour(k: int) -> str:
    """Return the k-th colour; after seven they come again, with other dashes and marks."""
    return COLOURS[k % len(COLOURS)]


def dashes(k: int) -> str:
    """Return the dashes of the k-th line: solid for the first seven."""
    return DASHES[k // len(COLOURS) % len(DASHES)]


def mark(k: int) -> str:
    """Return the k-th mark."""
    return MARKS[k % len(MARKS)]


def shown(name: str) -> str:
    """Return a name that matplotlib does not read as mathematics."""
    return clean(name).replace("$", r"\$")


def entry(name: str) -> str:
    """Return a short legend entry that is neither read as mathematics nor hidden for a leading underscore."""
    name = short(name).replace("$", r"\$")
    return f"\u200b{name}" if name.startswith("_") else name


#: Positive values of which the largest is so many times the least are drawn on a logarithmic axis.
DECADES = 20.0


def spread(ax: Axes, values: Any) -> None:
    """Take a logarithmic axis where a linear one would draw all small values as one."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    known = [float(each) for each in values if each == each]
    if known and min(known) > 0.0 and max(known) > DECADES * min(known):
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
        ax.xaxis.set_minor_formatter(NullFormatter())


def tidy(ax: Axes, *, rows: bool = False) -> None:
    """Leave out the frame above and on the right; ``rows``: of named rows also the axis, with faint lines instead."""
    for side in ("top", "right", *(["left"] if rows else [])):
        ax.spines[side].set_visible(False)
    if rows:
        ax.grid(axis="x", color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)


def shade(ax: Axes, x: Any, low: Any, high: Any, tint: Any, label: str, **options: Any) -> None:
    """Shade what lies between two lines, without a line around it."""
    ax.fill_between(x, low, high, **{"color": tint, "alpha": 0.2, "linewidth": 0.0, "label": label, **options})


def note(ax: Axes, text: str, at: tuple[Any, Any], shift: tuple[float, float], **options: Any) -> None:
    """Write a text next to a point; ``shift`` is in points of type."""
    ax.annotate(text, at, **{"xytext": shift, "textcoords": "offset points", **options})


def legend(ax: Axes, **options: Any) -> None:
    """Draw a legend without a frame if there is something to explain."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(**{"frameon": False, **options})


#: Width and height in inches, and the number of axes.
Shape: TypeAlias = tuple[tuple[float, float], int | None]


class Display:
    """A drawing: its axes and its figure, and an image in a notebook.

    The figure belongs to no window: write it by :meth:`save`, or draw on axes of pyplot, ``ax=``, to see them by
    ``pyplot.show``. On axes that are given, the caller's settings of matplotlib hold; a figure of our own has ours.

    Attributes
    ----------
    ax_ : matplotlib axes, or array of them
    figure_ : matplotlib figure

    Examples
    --------
    >>> import abstain
    >>> display = abstain.risk_coverage_curve([0, 1, 0], [0.9, 0.4, 0.7]).plot()
    >>> isinstance(display, abstain.plots.Display), len(display.ax_)
    (True, 2)
    """

    ax_: Any
    figure_: Any
    _own = False

    #: Of the axes of a new figure, as matplotlib's ``subplots`` takes them.
    _options: ClassVar[Options] = {}

    def plot(self, ax: Any = None) -> Self:
        """Draw, and keep axes and figure.

        Parameters
        ----------
        ax : matplotlib axes, or one for each panel, optional
            Default: a new figure.

        Returns
        -------
        Display
        """
        size, count = self._shape()
        with self._canvas(ax, size, count or 1, **self._options) as axes:
            self._draw(axes if count is None else np.atleast_1d(axes).ravel())
        return self

    def _shape(self) -> Shape:
        """Return the size of a new figure, and how many axes it has in a row; None: one, which is no list."""
        raise NotImplementedError

    def _draw(self, ax: Any) -> None:
        """Draw on these axes."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str], *, dpi: float = 150.0) -> None:
        """Write the figure as PNG, SVG or PDF: all of it or nothing.

        One machine and one version of matplotlib give equal bytes for equal data: no date, no random names inside.

        Parameters
        ----------
        path : str or path
            Its extension says the format.
        dpi : float
            Dots per inch of a PNG.

        Raises
        ------
        ValueError
            An extension that cannot be drawn.
        """
        path = Path(path)
        kind = path.suffix.lower().lstrip(".")
        if kind not in NOTHING:
            wanted = ", ".join(f".{each}" for each in NOTHING)
            raise ValueError(f"{path}: extension {path.suffix!r} cannot be drawn; use {wanted}")
        if not hasattr(self, "figure_"):
            self.plot()
        with self._look():
            write_file(path, lambda file: self.figure_.savefig(file, format=kind, dpi=dpi, metadata=NOTHING[kind]))

    @contextmanager
    def _canvas(
        self,
        ax: Any,
        size: tuple[float, float],
        count: int = 1,
        *,
        below: tuple[int, int] = (0, 0),
        tall: float = 0.0,
        **options: Any,
    ) -> Iterator[Any]:
        """Give the axes that were given, or new ones in a row (``count`` of them), and keep them and their figure.

        ``below``: rows and columns of small axes under those of a new figure, which are the last of its axes; each row
        is ``tall`` inches.
        """
        self._own = ax is None
        if ax is None:
            need("a plot", "matplotlib")
        elif np.size(ax) != count:
            raise ValueError(f"this figure draws {count} axes, but ax holds {np.size(ax)}")
        with self._look():
            if ax is None:
                from matplotlib.figure import Figure

                figure: Any = Figure(figsize=size, layout=layout())
                if below[0]:
                    parts = figure.add_gridspec(2, 1, height_ratios=[size[1] - tall * below[0], tall * below[0]])
                    ax = np.array([figure.add_subplot(cell) for cell in parts[0].subgridspec(1, count)])
                    for cell in parts[1].subgridspec(*below):
                        figure.add_subplot(cell)
                else:
                    ax = figure.subplots(1, count, **options)
            self.ax_, self.figure_ = ax, np.atleast_1d(ax).ravel()[0].figure
            yield ax

    @contextmanager
    def _look(self) -> Iterator[None]:
        if self._own:
            with settings():
                yield
        else:
            with LOCK, quiet():
                yield

    def _repr_png_(self) -> bytes | None:
        if not self._own:  # the notebook shows the caller's figure
            return None
        stream = io.BytesIO()
        with self._look():
            self.figure_.savefig(stream, format="png", dpi=96, metadata=NOTHING["png"])
        return stream.getvalue()
