"""Figures of our own: pyplot is never asked, so that threads may draw, and nothing of the caller's is changed."""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from abstain._extras import need

#: Held by everything that is drawn here: a page sets matplotlib's settings, which all threads share, for a moment.
LOCK = threading.RLock()


class Display:
    """A drawing: its axes and its figure, and a picture in a notebook.

    The figure belongs to no window: save it by ``figure_.savefig``, or draw on axes of pyplot, ``ax=``, to see them by
    ``pyplot.show``.

    Attributes
    ----------
    ax_ : matplotlib axes, or array of them
    figure_ : matplotlib figure
    """

    ax_: Any
    figure_: Any
    _own = False

    def _on(self, ax: Any, size: tuple[float, float], count: int = 1, **options: Any) -> Any:
        """Keep the axes that are given, or new ones, and their figure."""
        if ax is None:
            need("a plot", "matplotlib")
            from matplotlib.figure import Figure

            with LOCK:
                ax = Figure(figsize=size, layout="constrained").subplots(1, count, **options)
            self._own = True
        self.ax_, self.figure_ = ax, np.atleast_1d(ax).ravel()[0].figure
        return ax

    def _repr_png_(self) -> bytes | None:
        if not self._own:  # the notebook shows the caller's figure
            return None
        stream = io.BytesIO()
        with LOCK, quiet():
            self.figure_.savefig(stream, format="png", dpi=96)
        return stream.getvalue()


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings about characters of names that the font lacks: a browser has other fonts, a box says it too."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
