"""What choosing a threshold returns: an empirical threshold or a certified one. They are different types on purpose."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from abstain._checks import vector
from abstain._result import (
    Caveat,
    Column,
    Estimate,
    Level,
    Result,
    Row,
    Status,
    Table,
    Verdict,
    about,
    out_of_reach,
    percent,
)
from abstain._typing import ArrayLike, BoolArray, Document
from abstain.curve import OperatingPoint
from abstain.policy import Calibration, Guarantee, Objective, Policy, statement
from abstain.thresholds._band import Attained, each_errs, errs
from abstain.thresholds._reach import Reach, stricter


@dataclass(frozen=True, repr=False)
class Threshold(Result):
    """What both types share."""

    _values = ("threshold", "coverage", "risk")

    threshold: float
    printed: str
    coverage: float
    coverage_interval: tuple[float, float]
    full_risk: float
    risk: float
    risk_interval: tuple[float, float]
    n: int
    n_accepted: int
    procedure: str
    objective: Objective
    level: float
    reason: str | None
    best: OperatingPoint | None
    calibration: Calibration = field(repr=False)

    @property
    def attainable(self) -> bool:
        """Whether the objective was reached; if not, the threshold is +inf and ``reason`` says why."""
        return self.reason is None

    @property
    def thresholds(self) -> dict[str, float]:
        """The threshold of all rows, under the empty name, as a policy has it."""
        return {"": self.threshold}

    def accept(self, confidence: ArrayLike) -> BoolArray:
        """Return the accept mask of new scores: score >= threshold; a NaN score is rejected."""
        scores = vector(confidence, "confidence", np, None)
        return np.asarray((scores >= self.threshold) & self.attainable)

    def policy(self, *, score: str, **options: Any) -> Policy:
        """Return the policy that a deployment needs.

        ``score`` names the column of the score in new files, or the score to compute; the other options are those of
        :meth:`abstain.policy.Policy.of`.
        """
        return Policy.of(self, score=score, **options)

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the policy as a small JSON file; the options are those of :meth:`policy`."""
        self.policy(**options).save(path)

    def guarantee(self) -> Guarantee | None:
        """Return what is guaranteed, or None."""
        return None

    def about_answered(self) -> Self:
        """Return the same threshold, which states that the model itself answered its rows, out of more."""
        return replace(self, calibration=replace(self.calibration, answered=True))

    # ------------------------------------------------------------------ as a result

    @property
    def verdict(self) -> Verdict:
        """Whether this threshold may go live, and what speaks against it."""
        status = Status.MEASURED if self.attainable else Status.NOT_ATTAINABLE
        caveats = [Caveat.of("groups_missing", how="see groups=")] if self.attainable else []
        if unscored := self.calibration.n_unscored:
            caveats.append(Caveat.of("rows_left_out", count=unscored, n=self.n, what="have no score and are rejected"))
        return Verdict.of(status, self, *caveats, reason=self.reason or "", graded=self.full_risk > 1.0)

    def headline(self) -> str:
        """Return what was asked for, and how it was looked for."""
        goal = ", ".join(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
                         for name, value in self.objective.items())  # fmt: skip
        return f"{type(self).__name__} ({self.procedure}): {goal}"

    def cells(self) -> Row:
        """Return threshold, coverage, risk and accepted rows as a table shows them."""
        if not self.attainable:
            return "not attainable", 0.0, math.nan, f"0 of {self._n}"
        coverage, risk = Estimate(self.coverage, *self.coverage_interval), Estimate(self.risk, *self.risk_interval)
        return self.printed, coverage, risk, f"{self.n_accepted} of {self._n}"

    def tables(self) -> list[Table]:
        """Return the threshold with what it accepts; or what was found where the objective is not attainable."""
        return [_listed(self.cells(), self.brackets())] if self.attainable else self._instead()

    def brief(self) -> list[Table]:
        """Return no table: the verdict has all of it."""
        return []

    def brackets(self) -> list[str]:
        """Return what the brackets mean."""
        return [f"In brackets: pointwise {100.0 * self.level:g} % intervals."]

    def notes(self) -> list[str]:
        """Return why an objective is not attainable."""
        return [] if self.attainable else [f"not attainable: {self.reason}"]

    def rows(self) -> list[Document]:
        """Return one dict."""
        (low, high), (risk_low, risk_high) = self.coverage_interval, self.risk_interval
        return [{
            "threshold": self.threshold, "coverage": self.coverage, "coverage_low": low, "coverage_high": high,
            "risk": self.risk, "risk_low": risk_low, "risk_high": risk_high, "n": self.n,
            "n_accepted": self.n_accepted, "attainable": self.attainable, "reason": self.reason,
        }]  # fmt: skip

    @property
    def _n(self) -> str:
        """What the rows are, in words."""
        clusters, unscored = self.calibration.n_clusters, self.calibration.n_unscored
        rows = f"{self.n} rows" + (f" in {clusters} clusters" if clusters is not None else "")
        return rows + (f" ({unscored} of the {self.n} without a score)" if unscored else "")

    def _instead(self) -> list[Table]:
        if (best := self.best) is None or not best.n_accepted:
            return []
        accepted = f"{best.n_accepted} of {self._n}"
        return [_listed((repr(best.threshold), best.coverage, best.selective_risk, accepted), [], "Nearest to it")]


def _listed(cells: Row, notes: list[str], title: str = "") -> Table:
    names = ("accept if score >=", "coverage", "risk", "accepted")
    return Table([Column(), Column(alike=False)], list(zip(names, cells, strict=True)), title, notes)


@dataclass(frozen=True, repr=False)
class EmpiricalThreshold(Threshold):
    """A threshold that reached its objective *on the calibration rows*; nothing is guaranteed about new ones.

    Parameters
    ----------
    threshold : float
        Accept if and only if score >= threshold; +inf, which rejects everything, if the objective is not attainable.
    printed : str
        The threshold in fewer digits that accept the same calibration rows, for people; decide by ``threshold``.
    coverage, risk : float
        Accepted share and mean loss of what is accepted, on the calibration rows.
    full_risk : float
        Mean loss of all calibration rows.
    coverage_interval, risk_interval : (float, float)
        Pointwise intervals at ``level``: exact for counts, else from the influence function; NaN where that sees no
        spread, as with weights or real losses and no error.
    n, n_accepted : int
        Calibration rows, accepted ones.
    procedure : str
        How the threshold was chosen.
    objective : dict
        What was asked for.
    level : float
    reason : str or None
        Why the objective is not attainable.
    best : OperatingPoint or None
        Then the nearest point that is.
    calibration : dict
        Rows, fingerprint and versions.

    See Also
    --------
    abstain.CertifiedThreshold : the one with a guarantee.

    Examples
    --------
    >>> import abstain
    >>> found = abstain.choose_threshold([0, 0, 1, 0], [0.9, 0.8, 0.4, 0.7], coverage=0.5)
    >>> found.threshold, found.coverage, found.accept([0.85, 0.1]).tolist()
    (0.8, 0.5, [True, False])
    """


@dataclass(frozen=True, repr=False)
class CertifiedThreshold(Threshold):
    r"""A threshold with a guarantee: :math:`P\{R(\hat\tau) > r^*\} \le \delta` over the draw of the calibration rows.

    Parameters
    ----------
    threshold, printed, coverage, coverage_interval, full_risk, risk, risk_interval, n, n_accepted, procedure, objective, level, reason, best, calibration
        As in :class:`EmpiricalThreshold`. With +inf nothing is accepted, and the guarantee holds trivially.
    risk_limit : float
        :math:`r^*`, the guaranteed limit of the risk.
    delta : float
        Error probability of the guarantee.
    max_loss : float
        Largest possible loss.
    bound : str
        ``"binomial"``, ``"betting"`` or ``"hoeffding-bentkus"``.
    statement : str
        The guarantee in words, with the population it speaks of.
    attained : tuple of Attained
        If the limit is not attainable: the smallest risk that these rows do certify, and the largest coverage at a few
        larger ones. All of them hold together with probability 1 - delta, in addition to the guarantee that was asked for.
    rows_needed : (int, int or None), or None
        Then also: a range of how many rows it takes at least if errors lie as in these, open above if perhaps no
        number would do; a plan, and not certain even then.
    least : (int, float), or None
        Then also: how many rows a certificate takes without an error, and the least risk of any threshold that accepts
        as many. Where that is not below the limit it is not shown that more rows would do.
    ranking : (float, float, float), or None
        Then also, of 0/1 losses: AUROC of failures with its 95 % interval. Around one half no threshold will do.
    upper : float
        Upper limit of the risk at the threshold, from a band that holds at all thresholds together with probability
        1 - delta; NaN where there is none, as with weights and clusters. What it leaves below the limit is the
        :attr:`reach`.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(2000)
    >>> wrong = rng.random(2000) > score ** 0.1
    >>> found = abstain.choose_threshold(wrong, score, risk=0.05, delta=0.05)
    >>> found.attainable, found.procedure, 0.5 < found.coverage < 0.8
    (True, 'fallback', True)
    >>> abstain.choose_threshold(wrong, score, risk=0.05, delta=0.05, ood_share=0.02).coverage < found.coverage
    True
    """  # noqa: E501

    risk_limit: float
    delta: float
    max_loss: float
    bound: str
    statement: str
    attained: tuple[Attained, ...] = ()
    rows_needed: tuple[int, int | None] | None = None
    least: tuple[int, float] | None = None
    ranking: tuple[float, float, float] | None = None
    upper: float = math.nan

    @property
    def reach(self) -> Reach:
        """How far the guarantee reaches beyond the population of these rows; see :class:`abstain.thresholds.Reach`."""
        limit = self.risk_limit / self.max_loss
        upper = limit if math.isnan(self.upper) else min(limit, self.upper / self.max_loss)
        allowed = self.objective.ood_share
        upper = upper if allowed is None or not self.attainable else min(upper, stricter(limit, allowed))
        return Reach(limit, upper, self.coverage_interval[0])

    def with_unseen(self, objective: Objective) -> Self:
        """Return the certificate of a stricter limit as one of the objective, whose share of unseen rows it bears."""
        words = statement(objective.risk or 0.0, self.delta, self.calibration)
        share = f", also if a share of {objective.ood_share:g} of it is of a kind that these rows do not have and wrong"
        return replace(self, objective=objective, risk_limit=objective.risk or 0.0, statement=words + share)

    def guarantee(self) -> Guarantee | None:
        """Return what is guaranteed."""
        if not self.attainable:
            return None
        return Guarantee(self.risk_limit, self.delta, self.max_loss, self.statement, self.procedure, self.bound)

    def about_answered(self) -> Self:
        """Return the same threshold, with a guarantee about the rows that the model itself answers."""
        found = super().about_answered()
        return replace(found, statement=statement(self.risk_limit, self.delta, found.calibration))

    @property
    def verdict(self) -> Verdict:
        """Whether this threshold is certified, else what these rows do certify, and what speaks against it."""
        limit, graded = self.risk_limit, self.max_loss > 1.0 or self.bound != "binomial"
        found = super().verdict.but(limit=limit, confidence=1.0 - self.delta, graded=graded)
        if self.attainable:
            level = Level(limit, self.coverage, self.threshold, self.printed)
            usual = "mean loss of what is accepted is at most" in self.statement
            value, low, high = self.ranking or (math.nan, math.nan, math.nan)
            alike = [Caveat.of("chance", score="The score", value=value, low=low, high=high)] if self.useless else []
            details = () if usual else (self.statement,)
            return found.but(*alike, status=Status.CERTIFIED, levels=(level,), details=details)
        levels = tuple(Level(one.risk, one.coverage, one.threshold, one.printed) for one in self.attained)
        status = Status.NO_USE if self.useless else Status.NOT_CERTIFIED
        found = found.but(status=status, levels=levels, missed=(limit,))
        if levels:  # who takes a level relies on both certificates
            both = 1.0 - errs(self.delta)["both"]
            why = f"the confidence is {percent(both)}, because a second certificate was tried"
            found = found.but(confidence=both, reason=f"{self.reason}; {why}")
        if self.bound == "binomial":
            needed, _ = (None if self.useless else self.rows_needed) or (None, None)
            found = found.but(*out_of_reach(limit, needed, self.least, self.n, tried=1))
        if (best := found.best) is not None:  # the interval is that of no coverage at all
            found = found.but(Caveat.of("groups_missing", how="see groups="), threshold=best.threshold)
            found = found.but(printed=best.printed, coverage=best.coverage, coverage_interval=None)
        return found

    @property
    def useless(self) -> bool:
        """Whether the ranking is not shown to be better than chance, so that no number of rows helps."""
        return self.ranking is not None and self.ranking[1] <= 0.5

    def notes(self) -> list[str]:
        """Return the guarantee; or why there is none, and how many rows might do."""
        if self.attainable:
            return [f"guarantee: {self.statement}"]
        if any(one.everything and one.coverage == 1.0 and one.risk <= self.risk_limit for one in self.attained):
            return ["not attainable by a threshold that passed its test; answering everything satisfies the limit"]
        low, high = (None if self.useless else self.rows_needed) or (None, None)
        if low is None or low <= self.n or (self.least is not None and self.least[1] >= self.risk_limit):
            return super().notes()  # the verdict says what it can
        many = f"{about(low)} rows, or many more" if high is None else f"{about(low)} to {about(high)} rows"
        return [*super().notes(), f"about {many}, if errors lie as in these; not certain even then"]

    def _instead(self) -> list[Table]:
        """Return what these rows do certify."""
        if not self.attained:
            return []
        columns = [Column("risk at most"), Column("coverage"), Column("accept if score >=", left=True)]
        rows: list[Row] = [(one.risk, one.coverage, one.printed) for one in self.attained]
        notes = [f"With probability at least {1.0 - self.delta:.6g} all rows of such a table hold together."]
        notes.append(f"This is a second certificate, at fixed ranks; {each_errs(self.delta)}.")
        return [Table(columns, rows, "What these rows do certify", notes)]
