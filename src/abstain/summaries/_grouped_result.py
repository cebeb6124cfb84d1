"""What a summary by groups says of metrics: all rows, then each metric group by group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from abstain._result import Column, Estimate, Result, Table, arrow
from abstain.summaries._result import SummaryResult, share

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

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict for each metric of all rows (group None), then of each group."""
        every = {None: self.whole, **self.parts}
        return [{"group": name, "n": part.n, **row} for name, part in every.items() for row in part.rows()]
