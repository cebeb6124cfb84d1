"""What a live certificate says on a day."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstain._result import Caveat, Column, Level, Result, Row, Status, Table, Verdict, percent, readable
from abstain._typing import Document
from abstain.thresholds import Reach

if TYPE_CHECKING:
    from abstain.live._certificate import LiveCertificate


#: Calls whose lines are printed.
SHOWN = 8


@dataclass(frozen=True)
class Line:
    """What was certified after one call.

    ``when``: its date or number; ``rows``, ``labels``: counted until then; ``threshold``, ``coverage``: certified;
    ``log_evidence``: largest evidence against the guarantee of the policy in force; ``changed``: a change was
    signalled; ``answered``, ``risk``: labels of what the policy in force answered in this call alone, and their mean
    loss.
    """

    when: str
    rows: int
    labels: int
    threshold: float | None
    coverage: float
    log_evidence: float
    changed: bool
    answered: int
    risk: float | None

    @classmethod
    def of(cls, live: LiveCertificate, when: str) -> Line:
        """Return the line of a call that was just counted."""
        grids = live.groups.values()
        weight = sum(one.last[1] for one in grids)
        return cls(
            when,
            sum(one.rows for one in grids),
            sum(one.labels for one in grids),
            None if live.grouped or math.isinf(live.threshold) else live.threshold,
            round(live.covered(), 6),
            round(max(one.highest for one in grids), 6),
            any(one.changed_at is not None for one in grids),
            sum(one.last[0] for one in grids),
            round(sum(one.last[2] for one in grids) / weight * live.max_loss, 6) if weight else None,
        )


@dataclass(frozen=True)
class LiveGroup:
    """The certificate of one group: its threshold, and what was counted.

    ``old_rows``: rows of before the call in which a change was signalled, which may say nothing about new cases.
    """

    threshold: float
    coverage: float
    risk: float
    rows: int
    answered: int
    labels: int
    violated_at: int | None
    changed_at: int | None
    old_rows: int | None


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
        After each call; of more than 128 every second of the older half is left out.
    run_length : float
        Answered rows between false signals of the change detector, on average at least.
    graded : bool
        Whether losses are others than 0 and 1.
    reach : Reach or None
        How far the guarantee reaches beyond the counted rows, in each group; None while nothing is certified, and after
        a violation. Its ``coverage``, for :meth:`Reach.ood_cases`, is a lower limit, which fails on any day with a
        probability of at most ``delta``, in addition to that of the guarantee.
    given, waiting, waiting_since : int, int, str
        Rows of the last call; how many of them were too young to count, and after which time.
    """

    risk: float
    delta: float
    groups: Mapping[str, LiveGroup]
    coverage: float
    history: tuple[Line, ...]
    run_length: float
    graded: bool
    reach: Reach | None
    given: int = 0
    waiting: int = 0
    waiting_since: str = ""
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
                answered=one.accepted(position),
                labels=one.labels,
                violated_at=one.violated_at,
                changed_at=one.changed_at,
                old_rows=one.old_rows,
            )
        graded = live.max_loss != 1.0 or any(one.graded for one in live.groups.values())
        rules, coverage = next(iter(live.groups.values())).rules, live.covered()
        reach = None
        if coverage and all(one.violated_at is None for one in groups.values()):
            where = " of each group" if list(groups) != [""] else ""
            reach = Reach(rules.most, rules.limit, covered_at_least(live), where=where)
        clock = live.clock
        since = "" if clock.last is None else clock.shown(clock.last)
        return cls(
            live.risk,
            live.delta,
            groups,
            coverage,
            tuple(live.lines),
            live.run_length,
            graded,
            reach,
            live.given,
            clock.waiting,
            since,
        )

    @property
    def _grouped(self) -> bool:
        return list(self.groups) != [""]

    @property
    def thresholds(self) -> dict[str, float]:
        """The lowest certified threshold of each group; +inf if there is none."""
        return {name: one.threshold for name, one in self.groups.items()}

    @property
    def verdict(self) -> Verdict:
        """What may be answered now, and whether something has changed."""
        violated = [one.violated_at for one in self.groups.values() if one.violated_at is not None]
        levels, labels = [], sum(one.labels for one in self.groups.values())
        for name, one in self.groups.items():
            bad = one.violated_at is not None
            at, printed = (None, "") if bad or one.threshold == math.inf else (one.threshold, readable(one.threshold))
            levels.append(Level(self.risk, one.coverage, at, printed, name or None, one.rows, one.risk, bad))
        found = tuple(each for each in levels if each.threshold is not None)
        first = Level(self.risk, self.coverage, None) if self._grouped else levels[0]
        status, reason = Status.CERTIFIED if len(found) == len(levels) else Status.PARTLY, ""
        if not found:
            limit = f"{self.risk:g}" if self.graded else percent(self.risk)
            reason = f"{labels:,} labels do not show yet that the limit of {limit} holds; add labelled rows"
            status = Status.NOT_CERTIFIED
        if violated:
            status = Status.VIOLATED
            reason = f"first seen after {min(violated):,} labelled answers: restart the certificate"
        return Verdict(
            status, threshold=first.threshold, printed=first.printed, coverage=self.coverage if found else 0.0,
            risk=None if math.isnan(first.risk) else first.risk, limit=self.risk, confidence=1.0 - self.delta,
            levels=() if self._grouped else found, groups=tuple(levels) if self._grouped else (),
            n=sum(each.n for each in levels), graded=self.graded, caveats=tuple(self._caveats()), reason=reason,
            n_accepted=sum(one.answered for one in self.groups.values() if one.violated_at is None),
        )  # fmt: skip

    def _caveats(self) -> Iterator[Caveat]:
        changed = {name: one for name, one in self.groups.items() if one.changed_at is not None}
        if changed:
            first, run_length = min(one.changed_at or 0 for one in changed.values()), self.run_length
            yield Caveat.of("change", first=first, since=" with a label", count=len(changed), run_length=run_length)
            old = sum(one.old_rows or 0 for one in changed.values())
            fresh = sum(one.rows for one in changed.values()) - old
            where = f" of {' and '.join(changed)}" if self._grouped else ""
            yield Caveat.of("old_rows", old=old, fresh=fresh, where=where)
        rejected = [name for name, one in self.groups.items() if name and one.threshold == math.inf]
        if rejected and len(rejected) < len(self.groups):
            yield Caveat.of("groups_rejected", names=rejected, reason="their labels do not show it yet")
        if self.waiting:
            what = f"after {self.waiting_since} were too young and did not count; give them again with the next rows"
            yield Caveat.of("rows_left_out", what=what, count=self.waiting, n=self.given)
        if not self._grouped:
            yield Caveat.of("groups_missing", how="see groups=")

    def headline(self) -> str:
        """Return the guarantee in one line."""
        return f"Live certificate: risk at most {self.risk:g}, with {100 * (1 - self.delta):g} % confidence on all days"

    def tables(self) -> list[Table]:
        """Return what is certified for each group; without groups what was certified after the last calls."""
        if not self._grouped:
            shown = [
                (
                    line.when,
                    line.rows,
                    line.labels,
                    "none yet" if line.threshold is None else line.threshold,
                    line.coverage,
                    line.answered,
                    math.nan if line.risk is None else line.risk,
                )
                for line in self.history[-SHOWN:]
            ]
            headings = ("after", "rows", "labels", "threshold", "coverage", "labelled answers", "their risk")
            return [Table([Column(each) for each in headings], list(shown))]
        rows: list[Row] = [
            (name, one.rows, one.labels, one.threshold, one.coverage, one.risk) for name, one in self.groups.items()
        ]
        names = [Column("group"), Column("rows"), Column("labels"), Column("threshold"), Column("coverage")]
        return [Table([*names, Column("risk")], rows)]

    def rows(self) -> list[Document]:
        """Return one dict for each group."""
        return [{"group": name, **vars(one)} for name, one in self.groups.items()]


def covered_at_least(live: LiveCertificate) -> float:
    r"""Return a lower limit of the share that the certified thresholds accept, which holds on all days together.

    A cluster adds its accepted weight less its share of the whole, with mean 0 and in an interval of the length m, the
    largest size. A mixture of normal distributions bounds the sum of n of these at any time (Robbins, 1970) by
    :math:`\sqrt{(V + r)\log((V + r)/(r d^2))}` with :math:`V = n m^2/4`. It is used at every threshold of each group.
    """
    grids, most = live.groups.values(), (live.max_cluster or 1) ** 2 / 4.0
    spread, begin = most * sum(one.rows for one in grids), 1000.0 * most
    chance = len(grids) * math.log(len(live.thresholds)) - math.log(live.delta / (live.restarts + 1))
    short = math.sqrt((spread + begin) * (math.log1p(spread / begin) + 2.0 * chance))
    return max(0.0, live.covered() - short / sum(float(one.cases.sum()) for one in grids))
