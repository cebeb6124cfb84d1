"""Figures of our own: pyplot is never asked, so that threads may draw, and nothing of the caller's is changed."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from abstain._extras import need
from abstain._files import write_file
from abstain.plots._style import LOCK, NOTHING, layout, quiet, settings

#: Width and height in inches, and the number of axes.
Shape: TypeAlias = tuple[tuple[float, float], int | None]


class Display:
    """A drawing: its axes and its figure, and a picture in a notebook.

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
    _options: ClassVar[dict[str, Any]] = {}

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
        """Write the picture as PNG, SVG or PDF: all of it or nothing.

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
        self, ax: Any, size: tuple[float, float], count: int = 1, *, below: tuple[int, int] = (0, 0),
        tall: float = 0.0, **options: Any,
    ) -> Iterator[Any]:  # fmt: skip
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
