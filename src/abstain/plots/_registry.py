"""What a figure says of itself, once: the gallery, the command line and the studies read it here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from abstain._checks import one_of
from abstain._registry import Registry
from abstain._result import summary
from abstain.plots._display import Display

D = TypeVar("D", bound=type[Display])


@dataclass(frozen=True)
class Plot:
    """A figure: what it is called, what it shows, where it is from, and what it is drawn from.

    Parameters
    ----------
    name : str
        As the command line has it: ``--plot reliability=out.png``.
    family : str
        Key of :data:`FAMILIES`.
    title : str
        A heading.
    source : str
        Paper and figure, or where it is common.
    needs : str
        What the data must hold.
    display : type
        The class that draws it.

    Examples
    --------
    >>> import abstain
    >>> plot = abstain.plots.get("reliability")
    >>> plot.title, plot.takes
    ('Reliability diagram', ('evaluation', 'predictions'))
    """

    name: str
    family: str
    title: str
    source: str
    needs: str
    display: type[Display]

    @property
    def shows(self) -> str:
        """What it shows, in one sentence: the first of its display."""
        return summary(self.display)

    @property
    def takes(self) -> tuple[str, ...]:
        """What it is drawn from: ``"evaluation"`` if its display has ``from_evaluation``, and so on."""
        found = (name.removeprefix("from_") for name in dir(self.display) if name.startswith("from_"))
        return tuple(sorted(found))

    def draw(self, what: str, *results: Any, **options: Any) -> Any:
        """Draw it from a result and return the display.

        Parameters
        ----------
        what : str
            One of :attr:`takes`.
        *results, **options
            Passed to the display's ``from_<what>``.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            It is not drawn from this.
        """
        if what not in self.takes:
            raise ValueError(f"plot {self.name!r} is not drawn from {what!r}, but from: {', '.join(self.takes)}")
        return getattr(self.display, f"from_{what}")(*results, **options)

    @property
    def function(self) -> Any:
        """The class, for the registry."""
        return self.display


PLOTS: Registry[Plot] = Registry("plot")
#: What figures are about, in the order in which they are listed.
FAMILIES = {
    "one": "One model or score",
    "several": "Models and scores against each other",
    "threshold": "Thresholds",
    "joint": "Failures and out-of-distribution data",
    "metric": "What metrics are made of",
}


def declare(name: str, *, family: str, title: str, source: str, needs: str) -> Callable[[D], D]:
    """Register a display as the figure of this name."""

    def register(display: D) -> D:
        PLOTS.register(Plot(name, family, title, source, needs, display))
        return display

    return register


def get(name: str) -> Plot:
    """Return a figure's declaration by its name.

    Parameters
    ----------
    name : str
        A name of :func:`names`.

    Returns
    -------
    Plot

    Raises
    ------
    ValueError
        An unknown name; the message lists near ones.

    Examples
    --------
    >>> import abstain
    >>> abstain.plots.get("risk_coverage").title
    'Risk-coverage curve'
    """
    return PLOTS[name]


def names(takes: str | None = None) -> list[str]:
    """Return the names of all figures, family by family, or of those that are drawn from one kind of result.

    Parameters
    ----------
    takes : str, optional
        Such as ``"evaluation"``; see :attr:`Plot.takes`.

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        ``takes`` names no kind of result; the message lists them.

    Examples
    --------
    >>> import abstain
    >>> "forest" in abstain.plots.names("comparison")
    True
    """
    if takes is not None:
        one_of(takes, sorted({each for plot in PLOTS for each in plot.takes}), "takes")
    families = list(FAMILIES)
    ordered = sorted(PLOTS, key=lambda plot: families.index(plot.family))
    return [plot.name for plot in ordered if takes is None or takes in plot.takes]
