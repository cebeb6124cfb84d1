"""What summaries say of metrics: tables of values with what they cannot leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from abstain._result import Column, Estimate, Result, Table, arrow
from abstain._typing import Document
from abstain.summaries._bounds import Bounds


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

    def rows(self) -> list[Document]:
        """Return one dict for each metric."""
        return [{key: value for key, value in asdict(each).items() if key != "label"} for each in self.measurements]


def share(width: float) -> str:
    if width != width:
        return "—"
    return "exact" if width == 0.0 else f"{100.0 * width:.2g} %"


# ---------------------------------------------------------------------- groups

#: Metrics that are printed by group where none were asked for.
USUAL = ("augrc", "aurc")


@dataclass(frozen=True, eq=False, repr=False)
class GroupedResult(Result):
    """The result of :meth:`GroupedSummary.result`: prints as tables; ``to_*`` give it in other forms.

    Parameters
    ----------
    groups : str
        What the column of groups is called.
    whole : SummaryResult
        Of all rows.
    parts : mapping of group to SummaryResult
        Of the rows of each group.
    usual : bool
        Whether no metrics were asked for, so that of each group two are printed; :meth:`rows` has all.

    Examples
    --------
    >>> from abstain.summaries import GroupedSummary
    >>> days = GroupedSummary("day").update([0, 1, 0], [0.9, 0.6, 0.8], ["mon", "mon", "tue"])
    >>> result = days.result("risk")
    >>> result.whole.n, result.parts["mon"]["risk"].value
    (3, 0.5)
    """

    groups: str
    whole: SummaryResult
    parts: Mapping[Any, SummaryResult]
    usual: bool

    _names = ("group", "metric")
    _values = ("value", "low", "high")

    def headline(self) -> str:
        """Return rows, loss and key in one line."""
        return self.whole.headline()

    def tables(self) -> list[Table]:
        """Return the table of all rows, then one of each metric by group."""
        shown = [each for each in self.whole.measurements if not self.usual or each.metric in USUAL]
        columns = [Column(self.groups), Column("n"), Column("value", alike=False), Column("width")]
        found = []
        for each in shown:
            rows = [
                (str(name), part.n, Estimate(one.value, one.low, one.high), share(one.width))
                for name, part in self.parts.items()
                for one in part.measurements
                if one.metric == each.metric
            ]
            found.append(Table(columns, rows, title=arrow(each.label, each.direction)))
        return [*self.whole.tables(), *found]

    def notes(self) -> list[str]:
        """Return what the brackets mean, and why a value of a group is undefined."""
        undefined = [
            f"{self.groups} = {name}: {each.label}: {each.reason}"
            for name, part in self.parts.items()
            for each in part.measurements
            if each.reason and not self.usual
        ]
        return [*undefined, *self.whole.notes()]

    def rows(self) -> list[Document]:
        """Return one dict for each metric of all rows (group None), then of each group."""
        every = {None: self.whole, **self.parts}
        return [{"group": name, "n": part.n, **row} for name, part in every.items() for row in part.rows()]


# ---------------------------------------------------------------------- two scores


#: Metrics of two thresholds that survive binning, and which direction is better; of one score without "ds_".
BOTH = {"ds_f1": "higher", "ds_aurc": "lower", "ds_augrc": "lower"}


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
        name = metric if scores == "both" else metric.removeprefix("ds_")
        return cls(name, scores, BOTH[metric], value, min(value, beyond), max(value, beyond))

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
        for name, direction in BOTH.items():
            plain = name.removeprefix("ds_")
            rows = [
                (each.scores, Estimate(each.value, each.low, each.high), share(each.width))
                for each in self.measurements
                if each.metric.removeprefix("ds_") == plain
            ]
            columns = [Column(arrow(plain.upper(), direction)), Column("value", alike=False), Column("width")]
            found += [Table(columns, rows)] if rows else []
        return found

    def notes(self) -> list[str]:
        """Return what the brackets mean."""
        meaning = "in brackets: what the value cannot leave, whatever the order within bins; no interval of chance"
        return [f"{meaning}. The value is attained, by thresholds at ends of bins"]

    def rows(self) -> list[Document]:
        """Return one dict for each metric."""
        return [asdict(each) for each in self.measurements]
