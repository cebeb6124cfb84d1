"""What a summary of two scores says: metrics of both, and of each alone, with what they cannot leave."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from abstain._result import Column, Estimate, Result, Table, arrow
from abstain.summaries._bins import Bounds
from abstain.summaries._result import share


class Told(NamedTuple):
    """A metric of both scores: what it is called of one, its title, and which direction is better."""

    plain: str
    title: str
    direction: str


#: Metrics of two thresholds that survive binning.
BOTH = {
    "ds_f1": Told("f1", "F1", "higher"),
    "ds_aurc": Told("aurc", "AURC", "lower"),
    "ds_augrc": Told("augrc", "AUGRC", "lower"),
}


@dataclass(frozen=True)
class JointBounded:
    """One metric of a joint summary: value, least and most.

    Parameters
    ----------
    metric : str
        As :mod:`abstain.joint` calls it: ``"ds_f1"``, or of one score ``"f1"``.
    scores : {"confidence", "detector", "both"}
        What thresholds are on.
    direction : {"lower", "higher"}
        Which is better.
    value, low, high : float

    Examples
    --------
    >>> from abstain.summaries import JointSummary
    >>> rows = {"id_confidence": [0.9, 0.5], "id_detector": [3.0, 2.0]}
    >>> JointSummary().update([0, 1], **rows).bounds("ds_aurc").high
    0.25
    """

    metric: str
    scores: str
    direction: str
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, metric: str, scores: str, value: float, beyond: float) -> JointBounded:
        """Return the bounds of a value that is attained and an end that nothing can pass."""
        told = BOTH[metric]
        name = metric if scores == "both" else told.plain
        return cls(name, scores, told.direction, value, min(value, beyond), max(value, beyond))

    @property
    def width(self) -> float:
        """From end to end, relative to the value."""
        return Bounds(self.value, self.low, self.high).width


@dataclass(frozen=True, eq=False, repr=False)
class JointResult(Result):
    """The result of :meth:`JointSummary.result`: prints as tables; ``to_*`` give it in other forms.

    Parameters
    ----------
    measurements : tuple of JointBounded
    keys : str
        Scale and bits of the bins of both scores.
    n_id, n_ood, n_cells : int
        Rows in and out of distribution, and pairs of bins that hold one.
    accuracy : float
        Of the ID rows.
    prevalence : float or None
        Share of OOD rows that was asked for; None: as in the data.

    Examples
    --------
    >>> from abstain.summaries import JointSummary
    >>> rows = {"id_confidence": [0.9, 0.5], "id_detector": [3.0, 2.0]}
    >>> result = JointSummary().update([0, 1], **rows).result()
    >>> result["ds_f1"].value, result["aurc", "detector"].value
    (0.6666666666666666, 0.25)
    """

    measurements: tuple[JointBounded, ...]
    keys: str
    n_id: int
    n_ood: int
    n_cells: int
    accuracy: float
    prevalence: float | None

    _names = ("metric", "scores")
    _values = ("value", "low", "high")

    def __getitem__(self, metric: str | tuple[str, str]) -> JointBounded:
        name, scores = (metric, "both") if isinstance(metric, str) else metric
        for each in self.measurements:
            if (each.metric, each.scores) == (name, scores):
                return each
        known = ", ".join(f"{m.metric} ({m.scores})" for m in self.measurements)
        raise KeyError(f"{name!r} of {scores} is not in this result; it has {known}")

    def headline(self) -> str:
        """Return rows, accuracy and keys in one line."""
        cells = "cell" if self.n_cells == 1 else "cells"
        asked = "" if self.prevalence is None else f", weighted to a share of {self.prevalence:g}"
        return (
            f"{self.n_id:,} ID rows, accuracy {self.accuracy:.4g} · {self.n_ood:,} OOD rows{asked} · "
            f"{self.n_cells:,} {cells} of the keys {self.keys}"
        )

    def tables(self) -> list[Table]:
        """Return one table for each metric: of each score alone, then of both."""
        found = []
        for told in BOTH.values():
            rows = [
                (each.scores, Estimate(each.value, each.low, each.high), share(each.width))
                for each in self.measurements
                if (each.metric if each.scores != "both" else each.metric.removeprefix("ds_")) == told.plain
            ]
            title = arrow(told.title, told.direction)
            columns = [Column(title), Column("value", alike=False), Column("width")]
            found += [Table(columns, rows)] if rows else []
        return found

    def notes(self) -> list[str]:
        """Return what the brackets mean."""
        meaning = "in brackets: what the value cannot leave, whatever the order within bins; no interval of chance"
        return [f"{meaning}. The value is attained, by thresholds at ends of bins"]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict for each metric."""
        return [asdict(each) for each in self.measurements]
