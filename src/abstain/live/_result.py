"""What a live certificate says on a day."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstain._result import Column, Result, Row, Table

if TYPE_CHECKING:
    from abstain.live._certificate import LiveCertificate


@dataclass(frozen=True)
class Line:
    """What was certified after one call.

    ``when``: its date or number; ``rows``, ``labels``: counted until then; ``threshold``, ``coverage``: certified;
    ``log_evidence``: largest evidence against the guarantee of the policy in force; ``changed``: a change was
    signalled.
    """

    when: str
    rows: int
    labels: int
    threshold: float | None
    coverage: float
    log_evidence: float
    changed: bool


@dataclass(frozen=True)
class LiveGroup:
    """The certificate of one group: its threshold, and what was counted."""

    threshold: float
    coverage: float
    risk: float
    rows: int
    labels: int
    violated_at: int | None
    changed_at: int | None


@dataclass(frozen=True, repr=False, eq=False)
class LiveCertification(Result):
    """What is certified now; see :class:`LiveCertificate`.

    Parameters
    ----------
    risk, delta : float
        The limit, and the probability that any threshold that is ever declared exceeds it.
    groups : dict of str to LiveGroup
        By group; without groups the only key is "".
    coverage : float
        Share of all rows so far that the certified thresholds accept.
    history : tuple of Line
        After each call; of more than 128 the older half are joined in pairs.
    """

    risk: float
    delta: float
    groups: Mapping[str, LiveGroup]
    coverage: float
    history: tuple[Line, ...]
    _names = ("group",)

    @classmethod
    def of(cls, live: LiveCertificate) -> LiveCertification:
        """Return what a certificate says now."""
        groups = {}
        for name, one in live.groups.items():
            position = one.lowest
            groups[name] = LiveGroup(
                threshold=math.inf if position < 0 else float(one.rules.thresholds[position]),
                coverage=one.coverage(position),
                risk=math.nan if position < 0 else one.risk(position) * live.max_loss,
                rows=one.rows,
                labels=one.labels,
                violated_at=one.violated_at,
                changed_at=one.changed_at,
            )
        return cls(live.risk, live.delta, groups, live.covered(), tuple(live.lines))

    @property
    def thresholds(self) -> dict[str, float]:
        """The lowest certified threshold of each group; +inf if there is none."""
        return {name: one.threshold for name, one in self.groups.items()}

    def headline(self) -> str:
        """Return the guarantee in one line."""
        return f"Live certificate: risk at most {self.risk:g}, with {100 * (1 - self.delta):g} % confidence on all days"

    def tables(self) -> list[Table]:
        """Return what is certified for each group, and the last lines of the history."""
        rows: list[Row] = [
            (name, one.threshold, one.coverage, one.risk, one.rows, one.labels) for name, one in self.groups.items()
        ]
        names = [Column("group"), Column("accept if score >="), Column("coverage"), Column("risk"), Column("rows")]
        return [Table([*names, Column("labels")], rows)]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict for each group."""
        return [{"group": name, **vars(one)} for name, one in self.groups.items()]
