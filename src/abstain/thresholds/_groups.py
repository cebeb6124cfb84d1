"""One threshold per group or predicted class."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from abstain._checks import vector
from abstain._result import Caveat, Column, Level, Result, Row, Status, Table, Verdict, percent
from abstain._typing import ArrayLike, BoolArray, Document, Options
from abstain.policy import Calibration, Guarantee, Policy, accept_by_group, statement
from abstain.thresholds._reach import Reach
from abstain.thresholds._results import CertifiedThreshold, EmpiricalThreshold
from abstain.thresholds._row_hashes import merged


@dataclass(frozen=True, repr=False)
class GroupThresholds(Result):
    """One threshold per group; a row of a group that was not calibrated is rejected.

    Parameters
    ----------
    groups : dict of str to EmpiricalThreshold or CertifiedThreshold
        The groups by name, each with its own threshold or reason.
    delta : float or None
        Error probability that was asked for.
    multiplicity : {"all", "each"}
        Whether it is that of all guarantees together or that of each.
    fingerprint : str
        Of all calibration rows.

    Examples
    --------
    >>> import abstain
    >>> found = abstain.choose_threshold([0, 0, 1, 0], [4, 3, 2, 1], coverage=0.5, groups=["a", "b", "a", "b"])
    >>> {name: each.threshold for name, each in found.groups.items()}
    {'a': 4.0, 'b': 3.0}
    >>> found.accept([3.5, 3.5, 9.0], ["a", "b", "new"]).tolist()
    [False, True, False]
    """

    _names = ("group",)
    _values = ("threshold", "coverage", "risk")

    groups: Mapping[str, EmpiricalThreshold | CertifiedThreshold]
    delta: float | None
    multiplicity: str
    fingerprint: str

    @property
    def attainable(self) -> bool:
        """Whether every group reached the objective."""
        return all(each.attainable for each in self.groups.values())

    def accept(self, confidence: ArrayLike, groups: ArrayLike) -> BoolArray:
        """Return the accept mask of new rows."""
        scores = vector(confidence, "confidence", np, None)
        return accept_by_group(self.thresholds, scores, groups)

    @property
    def thresholds(self) -> dict[str, float]:
        """The threshold of each group."""
        return {name: one.threshold for name, one in self.groups.items()}

    @property
    def calibration(self) -> Calibration:
        """Return rows, fingerprint and versions, and those of each group."""
        each = {name: one.calibration for name, one in self.groups.items()}
        first = next(iter(each.values()))
        counts = ("n", "n_accepted", "n_unscored", "n_dropped")
        total: Options = {name: sum(getattr(one, name) for one in each.values()) for name in counts}
        return Calibration(
            **total,
            fingerprint=self.fingerprint,
            sketch=merged([one.sketch or "" for one in each.values()]),
            weighted=first.weighted,
            answered=first.answered,
            versions=first.versions,
            groups=each,
        )

    @property
    def reach(self) -> dict[str, Reach]:
        """How far the guarantee of each group that has one reaches; see :class:`abstain.thresholds.Reach`."""
        return {name: one.reach for name, one in self.groups.items() if isinstance(one, CertifiedThreshold)}

    def about_answered(self) -> GroupThresholds:
        """Return the same thresholds, which state that the rows are those that the model itself answered."""
        return replace(self, groups={name: one.about_answered() for name, one in self.groups.items()})

    def guarantee(self) -> Guarantee | None:
        """Return what is guaranteed for the groups that were attained, or None."""
        found = next((found for one in self.groups.values() if (found := one.guarantee()) is not None), None)
        if found is None or self.delta is None:
            return None
        together = " for all groups at once" if self.multiplicity == "all" else " for each group by itself"
        words = statement(found.risk, self.delta, self.calibration, together=together, group=True)
        return replace(found, delta=self.delta, multiplicity=self.multiplicity, statement=words)

    def policy(self, *, score: str, group: str, **options: Any) -> Policy:
        """Return the policy that a deployment needs; ``group`` names the column of the groups.

        The other options are those of :meth:`EmpiricalThreshold.policy`.
        """
        return Policy.of(self, score=score, group=group, **options)

    def save(self, path: str | os.PathLike[str], *, score: str, group: str, **options: Any) -> None:
        """Write the policy as a small JSON file; the options are those of :meth:`policy`."""
        self.policy(score=score, group=group, **options).save(path)

    # ------------------------------------------------------------------ as a result

    @property
    def verdict(self) -> Verdict:
        """In which groups this may go live, and what speaks against it."""
        promised = self.guarantee()
        n, accepted = (sum(getattr(one, name) for one in self.groups.values()) for name in ("n", "n_accepted"))
        kept = {name: one for name, one in self.groups.items() if one.attainable}
        status = Status.CERTIFIED if promised is not None else Status.MEASURED
        if len(kept) < len(self.groups):
            failed = Status.NOT_ATTAINABLE if self.delta is None else Status.NOT_CERTIFIED
            status = failed if promised is None else Status.PARTLY
        asked = {one.risk_limit for one in self.groups.values() if isinstance(one, CertifiedThreshold)}
        in_no_group = "no group has a threshold" + "".join(f" for {percent(each)}" for each in asked)
        most, groups = math.nan if promised is None else promised.risk, []
        for name, one in self.groups.items():
            level = Level(most, one.coverage, one.threshold, one.printed, name, one.n, one.risk)
            rejected = Level(most, 0.0, None, "", name, one.n, one.full_risk)
            groups.append(level if name in kept else rejected)
        return Verdict(
            status, coverage=accepted / n, n=n, n_accepted=accepted, groups=tuple(groups),
            risk=sum(one.risk * one.n_accepted for one in kept.values()) / accepted if accepted else None,
            limit=None if promised is None else promised.risk,
            confidence=None if promised is None else 1.0 - promised.delta,
            caveats=tuple(self._caveats()), reason="in some groups only" if kept else in_no_group,
        )  # fmt: skip

    def _caveats(self) -> Iterator[Caveat]:
        """Yield which groups have no threshold, why, and what more rows would do."""
        lost = {name: one for name, one in self.groups.items() if not one.attainable}
        for why in dict.fromkeys(one.reason for one in lost.values() if one.reason):
            names = [name for name, one in lost.items() if one.reason == why]
            yield Caveat.of("groups_rejected", names=names, reason=why.partition(";")[0])
        found = [(name, one) for name, each in lost.items() for one in each.verdict.caveats]
        more = {name: one.values for name, one in found if one.kind == "out_of_reach"}
        if more:
            what = [f"{each['what'][0]} in {name}" for name, each in more.items()]
            yield Caveat.of("out_of_reach", limit=next(iter(more.values()))["limit"], needed=None, what=what)

    def headline(self) -> str:
        """Return what was asked for of every group."""
        return f"{next(iter(self.groups.values())).headline()}, by group"

    def tables(self) -> list[Table]:
        """Return one row per group, then what was found in place of an objective that is not attainable."""
        columns = [Column(name) for name in ("Group", "Accept if score >=", "Coverage", "Risk", "Accepted")]
        rows: list[Row] = [(name, *each.cells()) for name, each in self.groups.items()]
        instead = [
            replace(table, title=f"{name}: {table.title}")
            for name, each in self.groups.items()
            if not each.attainable
            for table in each.tables()
        ]
        notes = next((each.brackets() for each in self.groups.values() if each.attainable), [])
        return [Table(columns, rows, notes=notes), *instead]

    def brief(self) -> list[Table]:
        """Return the table of the groups."""
        return self.tables()[:1]

    def notes(self) -> list[str]:
        """Return the guarantee, and for each group why its objective is not attainable."""
        promised = self.guarantee()
        lines = [] if promised is None else [f"guarantee: {promised.statement}"]
        return lines + [
            f"{name}: {note}" for name, each in self.groups.items() if not each.attainable for note in each.notes()
        ]

    def rows(self) -> list[Document]:
        """Return one dict per group."""
        return [{"group": name, **row} for name, each in self.groups.items() for row in each.rows()]
