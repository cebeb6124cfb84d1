"""The result of ``monitor``: whether the guarantee is violated, whether something changed, and each week."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from abstain._checks import listed
from abstain._result import (
    Caveat,
    Column,
    Level,
    Result,
    Row,
    Status,
    Table,
    Verdict,
    number,
    percent,
    readable,
)
from abstain._typing import Document
from abstain.inference import stands_out
from abstain.monitoring._evidence import Drift
from abstain.monitoring._guarantee import Period, Violation

#: Periods that are printed.
SHOWN = 26

#: Fields by their names of version 0.2.0.
FORMER = {"promise_broken": "violated", "broken_at": "violated_at"}
ANSWERS = {True: "yes", False: "no", None: "undecided"}
#: Larger evidence is printed as this: more digits say nothing.
PLENTY = 1e6


def printed(value: float, digits: int = 3) -> str:
    """Return evidence as text."""
    return ">1e6" if value > PLENTY else f"{value:.{digits}g}"


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring(Result):
    """What the newly labelled rows say, in the order in which they came.

    Parameters
    ----------
    violated : bool or None
        Whether the evidence against the guarantee ever reached 1/delta; None without a guarantee or accepted rows.
    violated_at : int or None
        Labelled, accepted rows until then; of clusters up to the last accepted row of the one that decided.
    evidence : float
        Largest evidence so far, of any group, divided by the number of groups; 1/delta raises the alarm.
    n, n_accepted : int
        Labelled rows, accepted ones.
    risk, coverage : float
        On these rows.
    coverage_drifted, score_drifted : bool or None
        Whether coverage or score, of any group, left what the calibration rows had shown; None if undecided.
    drift_undecided : str or None
        Why drift is undecided.
    groups : dict of str to bool
        Whether the guarantee is violated, for each group with a guarantee and accepted rows; empty without groups.
    delta : float
        Probability of a false alarm, ever, of each of the three.
    changed_at : tuple of int
        Accepted rows after which the change detector signalled: the first and the last 99. A signal is no violation:
        while nothing is wrong it comes once in ``run_length`` accepted rows (or clusters), or less often, on average.
    n_changes : int
        How often it signalled.
    run_length : float
        Of the change detector.
    waiting, skipped : int
        Rows of the last call that were too young, and that were monitored before.
    empty : int
        Calls without any row.
    returned : int
        Rows left out, of all calls, since their cluster was monitored in an earlier one.
    cost : float or None
        Per case, by the costs that chose the threshold, on these rows; None where no costs did, or coverage is unknown.
    periods : tuple of Period
        What the rows of each week showed, or of each call where no times were given.
    time_unit : str or None
        What times are: dates, Unix seconds, ..., or numbers, of which periods and ages have the unit; None without.
    period : float
        Length of a period, in days where times are dates.
    guaranteed : bool
        Whether the policy has a guarantee.
    limit : float or None
        The risk limit of the guarantee.
    thresholds : dict of str to float
        Those of the policy, by group; of one for all under the empty name.
    calibrated : float or None
        Coverage of the calibration rows; None if the policy does not say.
    by_group : tuple of Period
        What the rows of each group with a threshold showed, ``period`` being its name; empty without groups.
    drifts : tuple of Drift
        Where coverage or score left what calibration had shown, in which direction, and whether that holds now.
    tested : str
        What the guarantee was taken to say: the risk at every row, or its mean in windows, or since the first row.
    score : str
        Name of the score; of an uncertainty its negative.
    graded : bool
        Whether the risk is a mean loss, and no share of wrong answers.
    violations : tuple of Violation
        When the guarantee, of each group, was first violated; unknown for the state of an older version.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(4000)
    >>> wrong = rng.random(4000) > score ** 0.1
    >>> policy = abstain.choose_threshold(wrong, score, risk=0.1, delta=0.05).policy(score="msp")
    >>> later = abstain.monitor(policy, rng.random(4000) < 0.2, rng.random(4000))
    >>> later.violated, later.violated_at < 400
    (True, True)
    """

    violated: bool | None
    violated_at: int | None
    evidence: float
    n: int
    n_accepted: int
    risk: float
    coverage: float
    coverage_drifted: bool | None
    score_drifted: bool | None
    drift_undecided: str | None
    groups: Mapping[str, bool]
    delta: float
    changed_at: tuple[int, ...]
    run_length: float
    waiting: int
    skipped: int
    empty: int
    periods: tuple[Period, ...]
    guaranteed: bool = True
    limit: float | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    calibrated: float | None = None
    by_group: tuple[Period, ...] = ()
    returned: int = 0
    cost: float | None = None
    drifts: tuple[Drift, ...] = ()
    violations: tuple[Violation, ...] = ()
    n_changes: int = 0
    time_unit: str | None = None
    period: float = 7.0
    graded: bool = False
    tested: str = "the risk at every row"
    score: str = ""

    def __getattr__(self, name: str) -> Any:
        """Return the field that now has another name than in version 0.2.0."""
        if name not in FORMER:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        warnings.warn(f"Monitoring.{name} is now Monitoring.{FORMER[name]}", FutureWarning, stacklevel=2)
        return getattr(self, FORMER[name])

    @property
    def verdict(self) -> Verdict:
        """Whether the guarantee is violated, and what has changed since the calibration."""
        status = {True: Status.VIOLATED, False: Status.NO_VIOLATION, None: Status.UNDECIDED}[self.violated]
        violated = ", ".join(name for name, is_violated in self.groups.items() if is_violated)
        reason = "no accepted row was seen" if self.violated is None else ""
        if self.violated:
            where, of_all = (f" in {violated}", " of all groups") if violated else ("", "")
            reason = f"first seen{where} after {self.violated_at or 0:,} accepted rows{of_all} (the alarm)"
            others = [name for name, is_violated in self.groups.items() if not is_violated]
            reason += f"; no violation found in {', '.join(others)}" * bool(others)
        detail = f"evidence against the guarantee {printed(self.evidence)}, alarm at {1.0 / self.delta:.3g}"
        if self.calibrated is not None:
            detail += f"; coverage at calibration {percent(self.calibrated)}"
        detail += f"; tested: {self.tested}"
        if not self.guaranteed:
            cost = "" if self.cost is None else f"; a cost of {number(self.cost)} per case"
            detail = f"this policy has no guarantee, so nothing can be violated and no alarm will come{cost}"
        threshold = self.thresholds.get("")
        return Verdict.of(
            status if self.guaranteed else Status.MEASURED, self, *self._caveats(), threshold=threshold,
            printed="" if threshold is None else readable(threshold), confidence=1.0 - self.delta, reason=reason,
            details=(detail,), groups=tuple(self._rules()) if threshold is None else (),
        )  # fmt: skip

    def _rules(self) -> Iterator[Level]:
        """Yield where the policy answers in each group."""
        seen, most = {each.period: each for each in self.by_group}, math.nan if self.limit is None else self.limit
        for name, limit in self.thresholds.items():
            one, at = seen.get(name), limit if math.isfinite(limit) else None
            found = (0.0, 0, math.nan) if one is None else (one.coverage, one.n, one.risk)
            yield Level(most, found[0], at, readable(limit), name, *found[1:], self.groups.get(name, False))

    def _caveats(self) -> Iterator[Caveat]:
        """Yield changes, drift, what stands out, and rows that no threshold answers."""
        if self.n_changes:
            first = next((f" (period {one.period})" for one in self.periods if one.signals), "")
            since = first if len(self.periods) > 1 else ""
            count, run_length = self.n_changes, self.run_length
            yield Caveat.of("change", first=self.changed_at[0], since=since, count=count, run_length=run_length)
        if self.drifts:
            yield Caveat.of("drift", what=[_described_drift(each) for each in self.drifts], chance=self.delta, order="")
        for kind, lines in (("Group", self.by_group), ("Period", self.periods)):
            seen = [each for each in lines if each.risk == each.risk]
            if len(seen) > 1 and all(each.errors is not None for each in seen):
                which, p = stands_out([each.errors or 0 for each in seen], [each.n_accepted for each in seen])
                worst = seen[which]
                risk = {"risk": worst.risk, "low": worst.risk_low, "high": worst.risk_high}
                if p < 0.05:
                    yield Caveat.of("stands_out", kind=kind, name=worst.period, **risk, n=worst.n_accepted, p=p)
        rejected = self.n - sum(each.n for each in self.by_group)
        if self.by_group and rejected:
            names = [name for name, limit in self.thresholds.items() if limit == math.inf] or ["unknown to the policy"]
            what = f"are of groups without a threshold ({listed(names)}): all referred for review"
            yield Caveat.of("rows_left_out", what=what, count=rejected, n=self.n)
        elif "" in self.thresholds:
            yield Caveat.of("groups_missing", how="see groups=")

    def headline(self) -> str:
        """Return whether the guarantee is violated, and the evidence."""
        if not self.guaranteed:
            return "this policy has no guarantee: changes and drift are monitored"
        names = [name for name, violated in self.groups.items() if violated]
        where = f" in {', '.join(names)}" if names else ""
        alarm = f"evidence {printed(self.evidence)}, alarm at {1.0 / self.delta:.3g}"
        return f"guarantee violated: {ANSWERS[self.violated]}{where} ({alarm})"

    def tables(self) -> list[Table]:
        """Return risk and coverage of all labelled rows, and what each period showed where there are several."""
        rows: list[Row] = [("risk", self.risk), ("accepted", f"{self.n_accepted} of {self.n}")]
        rows += [] if self.cost is None else [("cost per case", self.cost)]
        if self.coverage_drifted is not None:
            rows.append(("coverage", self.coverage))
        whole = Table([Column(), Column(alike=False)], rows)
        groups = [self._lines(self.by_group, "Group")] if self.by_group else []
        return [whole, *groups, *self._violated(), *([] if len(self.periods) < 2 else [self._by_period()])]

    def brief(self) -> list[Table]:
        """Return what each group and period showed, where there are several."""
        return self.tables()[1:]

    def _violated(self) -> list[Table]:
        """Return when the guarantee of each group was first violated, where there are groups and any was."""
        if not self.by_group or not any(self.groups.values()):
            return []
        known = {one.group: one for one in self.violations}
        rows: list[Row] = []
        for name, violated in self.groups.items():
            one = known.get(name)
            when = ("", "") if not violated else ("unknown", "") if one is None else (f"{one.row:,}", one.period)
            rows.append((name, "yes" if violated else "no", *when))
        columns = [Column("Group", left=True), Column("Violated"), Column("Seen after"), Column("In period")]
        notes = ["Seen after: accepted rows of all groups until then."]
        return [Table(columns, rows, title="When the guarantee of each group was first violated", notes=notes)]

    def _by_period(self) -> Table:
        lines = self._lines(self.periods[-SHOWN:], "Period", len(self.periods) - SHOWN)
        unit = {None: "", "numbers": f"Periods of {self.period:g}, in the unit of the times."}
        said = unit.get(self.time_unit, f"Periods of {self.period:g} days; times are {self.time_unit}.")
        return replace(lines, notes=[*lines.notes, said] if said else lines.notes)

    def _lines(self, lines: Sequence[Period], what: str, hidden: int = 0) -> Table:
        names = ("n", "Coverage", "Risk", "Evidence", "Change", "Drift")
        shown: list[Row] = [
            (one.period, one.n, one.coverage, f"{one.risk:.4f} [{one.risk_low:.4f}, {one.risk_high:.4f}]",
             printed(one.evidence), f"{printed(one.change, 2)}{'!' if one.signals else ''}",
             printed(float(np.nanmax([0.0, one.coverage_drift, one.score_drift])), 2))
            for one in lines
        ]  # fmt: skip
        notes = [
            f"Evidence: the guarantee is violated at {1.0 / self.delta:.3g}. Change: a signal (!) at 1, which is no "
            "violation. Drift: alarm at 1.",
            "In brackets: 95 % intervals of the risk of these rows alone.",
        ]
        if hidden > 0:
            notes.append(f"The last {SHOWN} of {len(self.periods)}; all are in periods.")
        return Table([Column(what, left=True), *(Column(name) for name in names)], shown, notes=notes)

    def notes(self) -> list[str]:
        """Return which rows were not monitored, and whether the rows have changed or drifted."""
        found: list[str] = []
        if self.waiting:
            found.append(f"{self.waiting} rows are too young and wait; give them again, labelled or not, with the next")
        if self.skipped:
            found.append(f"{self.skipped} rows are of a time that was monitored before, and were left out")
        if self.returned:
            found.append(f"{self.returned} rows are of clusters that were judged by an earlier call, and were left out")
        if self.empty:
            found.append(
                f"{self.empty} {'call' if self.empty == 1 else 'calls'} brought no rows, which changes nothing"
            )
        why = f" ({self.drift_undecided})" if self.drift_undecided else ""
        found.append(
            f"coverage drifted: {ANSWERS[self.coverage_drifted]}; score drifted: {ANSWERS[self.score_drifted]}{why}"
        )
        if self.coverage_drifted or self.score_drifted:
            found.append("drifted: an alarm was reached, and stays; it may be chance, or be over")
        if self.changed_at:
            some = [str(self.changed_at[0]), "...", *map(str, self.changed_at[-4:])]
            last = ", ".join(some if self.n_changes > 5 else map(str, self.changed_at))
            found.append(
                f"a change was signalled after accepted row {last}: look at what happened there. This is no violation; "
                f"without any change {self.run_length:,.0f} accepted rows or more go by before a signal, on average"
            )
        return found

    def rows(self) -> list[Document]:
        """Return one dict; of each period see ``periods``."""
        left_out = ("groups", "periods", "changed_at", "thresholds", "by_group", "drifts", "violations")
        kept = {key: value for key, value in vars(self).items() if key not in left_out}
        return [kept]


def _described_drift(one: Drift) -> str:
    """Return when a share left that of the calibration, in which direction, and whether that still holds."""
    where = f" of {one.group}" if one.group else ""
    state = "still so" if one.now >= 1.0 else "passed since"
    if one.row is None or one.share is None or one.calibrated is None:
        return f"{one.what}{where} (at a row that the state of an older version did not save; {state})"
    share = f"{percent(one.share)} of the first {one.row:,} rows{where}"
    calibrated = f"{percent(one.calibrated)} at calibration; {state}"
    if one.what == "coverage":
        return f"{'more' if one.rose else 'fewer'} were answered ({share}, {calibrated})"
    edge = "" if one.edge is None else f" had {readable(one.edge)} or more"
    return f"scores were {'higher' if one.rose else 'lower'} ({share}{edge}, {calibrated})"


def any_known(found: list[bool | None]) -> bool | None:
    """Return whether any is true; None if none is known."""
    known = [one for one in found if one is not None]
    return any(known) if known else None
