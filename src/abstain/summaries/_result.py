"""What a summary says of metrics: a table of values with what they cannot leave."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from abstain._result import Column, Estimate, Result, Table, arrow
from abstain.summaries._bins import Bounds


@dataclass(frozen=True)
class Bounded:
    """One metric of a summary: value, least and most.

    Parameters
    ----------
    label, metric : str
        As a table prints it, and as :func:`abstain.metrics.parse` reads it.
    direction : {"lower", "higher"}
        Which is better.
    value, low, high : float
        NaN where it is undefined.
    reason : str or None
        Why the value is NaN.

    Examples
    --------
    >>> from abstain.summaries import Summary
    >>> Summary().update([0, 1], [0.9, 0.5]).result("aurc").measurements[0].high
    0.25
    """

    label: str
    metric: str
    direction: str
    value: float
    low: float
    high: float
    reason: str | None = None

    @property
    def width(self) -> float:
        """From end to end, relative to the value."""
        return Bounds(self.value, self.low, self.high).width


@dataclass(frozen=True, eq=False, repr=False)
class SummaryResult(Result):
    """The result of :meth:`Summary.result`: prints as a table; ``to_*`` give it in other forms.

    Parameters
    ----------
    measurements : tuple of Bounded
    key : str
        Scale and bits of the bins.
    n, n_bins : int
        Rows, and bins that hold one.
    mean_loss : float
    binary : bool
        Whether every loss is 0 or 1.

    Examples
    --------
    >>> from abstain.summaries import Summary
    >>> result = Summary().update([0, 1], [0.9, 0.5]).result("aurc")
    >>> result.n, result["aurc"].value
    (2, 0.25)
    """

    measurements: tuple[Bounded, ...]
    key: str
    n: int
    n_bins: int
    mean_loss: float
    binary: bool

    _names = ("metric",)
    _values = ("value", "low", "high")

    def __getitem__(self, metric: str) -> Bounded:
        for each in self.measurements:
            if each.metric == metric:
                return each
        raise KeyError(f"{metric!r} is not in this result; it has {', '.join(m.metric for m in self.measurements)}")

    def headline(self) -> str:
        """Return rows, loss and key in one line."""
        loss = "0/1 loss" if self.binary else "mean loss"
        bins = "bin" if self.n_bins == 1 else "bins"
        return f"{self.n:,} rows · {loss} {self.mean_loss:.4g} · {self.n_bins:,} {bins} of the key {self.key}"

    def tables(self) -> list[Table]:
        """Return one table: value, least and most, and how far these are apart."""
        rows = [
            (arrow(each.label, each.direction), Estimate(each.value, each.low, each.high), share(each.width))
            for each in self.measurements
        ]
        return [Table([Column("metric"), Column("value", alike=False), Column("width")], rows)]

    def notes(self) -> list[str]:
        """Return what the brackets mean, and why a value is undefined."""
        found = [f"{each.label}: {each.reason}" for each in self.measurements if each.reason]
        meaning = "in brackets: what the value cannot leave, whatever the order within bins; no interval of chance"
        return [*found, f"{meaning}. Width: from end to end, relative to the value"]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict for each metric."""
        return [{key: value for key, value in asdict(each).items() if key != "label"} for each in self.measurements]


def share(width: float) -> str:
    if width != width:
        return "—"
    return "exact" if width == 0.0 else f"{100.0 * width:.2g} %"
