"""``audit``: what a threshold does on other rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from abstain._checks import plain, same_length, vector
from abstain._result import Caveat, Column, Estimate, Result, Row, Status, Table, Verdict, number, readable
from abstain._typing import ArrayLike, Document, FloatArray, IntArray, NanPolicy
from abstain.curve import RiskCoverageCurve
from abstain.inference import clopper_pearson, codes
from abstain.policy import Guarantee, Policy, group_column
from abstain.thresholds._certify import refuse_large
from abstain.thresholds._clusters import cluster_means, cluster_sums
from abstain.thresholds._evidence import hoeffding_bentkus
from abstain.thresholds._groups import GroupThresholds
from abstain.thresholds._results import CertifiedThreshold, EmpiricalThreshold, Threshold
from abstain.thresholds._row_warnings import warn_if_reused
from abstain.thresholds._sample import coverage_interval, mean_interval, read, risk_interval

#: What is said of a guarantee.
ANSWERS = {True: "satisfied", False: "violated", None: "undecided"}
#: Rows below which it is no news that most scores lie where few did at calibration.
_FEWEST = 20
#: A smaller difference between the shares of accepted rows is none to act on.
_LEAST = 0.01
#: The limit of the risk, and the largest loss.
Limit = tuple[float, float] | None


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """Coverage and risk of a fixed threshold on new rows, with pointwise intervals: exact for counts, else approximate.

    ``satisfied``: True if the upper end of an interval of the risk is at most the limit of the guarantee, False if the
    lower end is above it; where losses are not 0/1, only if the Hoeffding-Bentkus bound agrees, which holds for every
    population. None: these rows cannot decide, or nothing is guaranteed. Of several guarantees False if any is
    violated, True if all are satisfied. ``groups``: the same of each group of the rows; empty without groups. Answers
    about G groups are from intervals at 1 - (1 - level)/G, so that any is false with probability 1 - level at most.
    ``guaranteed``: whether anything is. ``reason``: why these rows cannot decide. ``cost``: per case, by the costs that
    chose the threshold, if any did. ``limit``: the certified limit of the risk. ``thresholds``: what was audited, by
    group; of one threshold for all under the empty name. ``score``: of a policy.

    Examples
    --------
    >>> import abstain
    >>> found = abstain.choose_threshold([0, 1, 0], [0.9, 0.2, 0.5], coverage=0.5)
    >>> abstain.audit(found, [0, 0, 1, 1], [0.9, 0.8, 0.6, 0.1]).risk
    0.3333333333333333
    """

    _names = ("group",)
    _values = ("coverage", "risk")

    n: int
    n_accepted: int
    coverage: float
    coverage_interval: tuple[float, float]
    risk: float
    risk_interval: tuple[float, float]
    level: float
    satisfied: bool | None
    groups: Mapping[str, Audit] = field(default_factory=dict)
    guaranteed: bool = True
    reason: str | None = None
    cost: float | None = None
    limit: float | None = None
    thresholds: Mapping[str, float] = field(default_factory=dict)
    score: str = ""

    @property
    def keeps_promise(self) -> bool | None:
        """The former name of ``satisfied``."""
        warnings.warn("Audit.keeps_promise is now Audit.satisfied", FutureWarning, stacklevel=2)
        return self.satisfied

    @property
    def verdict(self) -> Verdict:
        """Whether these rows satisfy the guarantee, violate it, or cannot decide."""
        status = {True: Status.SATISFIED, False: Status.VIOLATED, None: Status.UNDECIDED}[self.satisfied]
        status = status if self.guaranteed else Status.MEASURED
        failed = ", ".join(name for name, each in self.groups.items() if each.satisfied is False)
        reason = f"in {failed}" if failed else (self.reason or "") * (self.satisfied is None)
        threshold = self.thresholds.get("")
        printed = "" if threshold is None else readable(threshold)
        found = Verdict.of(status, self, confidence=self.level, reason=reason, threshold=threshold, printed=printed)
        return found if self.groups else found.but(Caveat.of("groups_missing", how="see groups="))

    def headline(self) -> str:
        """Return the verdict."""
        if not self.guaranteed:
            return "this policy guarantees nothing: its coverage and risk on these rows"
        return f"guarantee: {ANSWERS[self.satisfied]}"

    def tables(self) -> list[Table]:
        """Return all rows, then each group."""
        columns = [Column("Rows"), Column("n"), Column("accepted"), Column("Coverage"), Column("Risk")]
        rows: list[Row] = [
            (name, each.n, each.n_accepted, Estimate(each.coverage, *each.coverage_interval),
             Estimate(each.risk, *each.risk_interval), ANSWERS[each.satisfied] if self.guaranteed else "none")
            for name, each in {"all": self, **self.groups}.items()
        ]  # fmt: skip
        notes = [f"In brackets: pointwise {100.0 * self.level:g} % intervals."]
        if self.cost is not None:
            notes.append(f"By the costs that chose the threshold, a case cost {number(self.cost)}.")
        if len(self.groups) > 1:
            notes.append(f"Answers about {len(self.groups)} groups allow for their number.")
        for name, each in self.groups.items():  # of all rows the verdict says it
            if self.guaranteed and each.reason is not None and each.satisfied is None:
                notes.append(f"{name}: undecided: {each.reason}.")
        return [Table([*columns, Column("Guarantee", left=True)], rows, notes=notes)]

    def rows(self) -> list[Document]:
        """Return all rows, then each group, a dict each."""
        return [
            {"group": name, "n": each.n, "n_accepted": each.n_accepted, "coverage": each.coverage,
             "coverage_low": each.coverage_interval[0], "coverage_high": each.coverage_interval[1], "risk": each.risk,
             "risk_low": each.risk_interval[0], "risk_high": each.risk_interval[1], "satisfied": each.satisfied}
            for name, each in [(None, self), *self.groups.items()]
        ]  # fmt: skip


def audit(
    threshold: EmpiricalThreshold | CertifiedThreshold | GroupThresholds | Policy,
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    nan_policy: NanPolicy = "reject",
) -> Audit:
    """Return coverage and risk of a threshold or policy on new labelled rows, overall and by group.

    Parameters
    ----------
    threshold : EmpiricalThreshold, CertifiedThreshold, GroupThresholds or Policy
    loss, confidence : array-like of shape (n_samples,)
        Rows that were *not* used to choose it; else a :class:`ReusedCalibrationWarning`.
    groups : array-like of shape (n_samples,), optional
        Needed where there is one threshold per group; with a single threshold, its effect in each group is shown.
    clusters : array-like of shape (n_samples,), optional
        What rows depend on each other; needed for a guarantee with clusters. The risk is then that of the guarantee,
        each cluster with an accepted row counting once, or each accepted row where ``max_cluster`` was declared, and
        intervals are those of clusters (approximate).
    level : float in (0, 1)
        Of each interval by itself, and of all answers together.
    nan_policy : {"raise", "reject", "drop"}
        A NaN score: an error; never accepted, stays in n; left out.

    Returns
    -------
    Audit

    Raises
    ------
    ValueError, TypeError
        Bad columns; ``groups`` missing; a guarantee about clusters without ``clusters``, or ``clusters`` with any
        other.

    Examples
    --------
    >>> import abstain
    >>> found = abstain.choose_threshold([0, 1, 0], [0.9, 0.2, 0.5], coverage=0.5)
    >>> seen = abstain.audit(found, [0, 0, 1, 1], [0.9, 0.8, 0.6, 0.1], groups=["a", "a", "b", "b"])
    >>> seen.coverage, seen.groups["b"].coverage
    (0.75, 0.5)
    """
    if not isinstance(threshold, Threshold | GroupThresholds | Policy):
        raise TypeError(f"threshold must be what choose_threshold or load_policy returns, got {threshold!r}")
    read(loss, confidence, None, nan_policy)  # an error names the row of the whole column
    losses, scores = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
    warn_if_reused(threshold.calibration, losses, scores)
    if isinstance(threshold, GroupThresholds) or (isinstance(threshold, Policy) and threshold.group is not None):
        if groups is None:
            raise TypeError("there is one threshold per group; give groups=")
        accepted, grouped = threshold.accept(scores, groups), True
    else:
        accepted, grouped = threshold.accept(scores), False
    marks = np.where(np.isnan(scores), np.nan, accepted.astype(np.float64))
    guarantee = check_clusters(threshold, clusters)
    limit = None if guarantee is None else (guarantee.risk, guarantee.max_loss)
    unit = None if clusters is None else codes(clusters, "clusters", len(losses))
    largest = threshold.calibration.largest_cluster
    total = _audited(losses, marks, (level, level), nan_policy, limit, unit, largest)
    cost = None
    if not isinstance(threshold, GroupThresholds):
        cost = threshold.objective.cost_per_case(total.coverage, total.risk)
    total = replace(
        total, guaranteed=guarantee is not None, cost=cost, limit=None if limit is None else limit[0],
        thresholds=dict(threshold.thresholds), score=threshold.confidence_name if isinstance(threshold, Policy) else "",
    )  # fmt: skip
    if groups is None:
        return total
    column = group_column(groups)
    same_length(loss=losses, groups=column)
    names = np.unique(column)
    levels = level, 1.0 - (1.0 - level) / len(names)
    each = {
        str(name): _audited(
            losses[mine], marks[mine], levels, nan_policy, limit, None if unit is None else unit[mine], largest
        )
        for name, mine in ((name, column == name) for name in names)
    }
    answers = [one.satisfied for one in each.values()] if grouped else [total.satisfied]
    satisfied = next((one for one in (False, None) if one in answers), True)
    return replace(total, satisfied=satisfied, groups=each, reason="not of every group" if grouped else total.reason)


def check_clusters(threshold: Threshold | GroupThresholds | Policy, clusters: ArrayLike | None) -> Guarantee | None:
    """Return the guarantee; refuse one about clusters for single rows, and clusters for one about rows."""
    guarantee = threshold.guarantee if isinstance(threshold, Policy) else threshold.guarantee()
    about = threshold.calibration.clustered
    if guarantee is not None and about and clusters is None:
        raise ValueError("the guarantee is about clusters and not about single rows; give clusters=")
    if guarantee is not None and not about and clusters is not None:
        raise ValueError("the guarantee is about rows; certify with clusters=, or give one row per cluster")
    if clusters is not None:
        number = codes(clusters, "clusters", len(np.atleast_1d(plain(clusters, "clusters", "one per row"))))
        refuse_large(number, threshold.calibration.largest_cluster)
    return guarantee


def _audited(
    loss: FloatArray, marks: FloatArray, levels: tuple[float, float], nan_policy: NanPolicy, limit: Limit,
    unit: IntArray | None = None, largest: int | None = None,
) -> Audit:  # fmt: skip
    """Audit rows whose score was replaced by 1, accepted, or 0; levels of what is shown, and of the answer."""
    level, sure = levels
    sample = read(loss, marks, None, nan_policy, unit)
    point = RiskCoverageCurve(sample.blocks).at(threshold=1.0)
    accepted = (sample.score == 1.0).astype(np.float64)
    risk, ends, values = point.selective_risk, risk_interval(sample, accepted, level), sample.loss[accepted > 0.0]
    judged = risk_interval(sample, accepted, sure)
    if sample.cluster is not None and largest is not None and limit is not None:
        risk_of, most = limit
        values = most * cluster_sums(sample.loss / most, accepted > 0.0, sample.cluster, risk_of / most, largest)
    elif sample.cluster is not None:
        values = cluster_means(sample.loss, accepted > 0.0, sample.cluster)
        risk, ends = float(values.mean()) if values.size else np.nan, mean_interval(values, level)
        judged = mean_interval(values, sure)
    exact = sample.binary and sample.cluster is None
    error = None if exact else (1.0 - sure) / 2.0
    units = "rows" if sample.cluster is None else "clusters"
    satisfied, reason = _judged(judged, values, limit, error, units)
    return Audit(
        sample.n, point.n_accepted, point.coverage, coverage_interval(sample, accepted, level), risk, ends, level,
        satisfied, reason=reason,
    )  # fmt: skip


def _judged(
    ends: tuple[float, float], values: FloatArray, limit: Limit, error: float | None, units: str
) -> tuple[bool | None, str | None]:
    """Return whether a guarantee is satisfied, and what speaks against deciding it; None where nothing is guaranteed.

    ``error``: the level at which a bound must agree, None where the interval is exact.
    """
    if limit is None or not values.size:
        return None, None if limit is None else "nothing was accepted"
    (risk, largest), (low, high) = limit, ends
    violated, satisfied = not low <= risk, not high > risk
    if error is not None:
        above = np.maximum(1.0 - values / largest, 0.0)  # a mean loss above the limit is a mean of these below its own
        violated = violated and _bound(above, 1.0 - risk / largest) <= error
        satisfied = satisfied and _bound(values / largest, risk / largest) <= error
    answer = False if violated else True if satisfied else None
    if low <= risk < high:
        return answer, f"the interval of the risk holds the limit, {risk:g}; more {units} make it shorter"
    if np.isnan(low) or np.isnan(high):
        return answer, f"the risk has no interval; more {units} would show it"
    side = "below" if high <= risk else "above"
    return answer, (
        f"the interval lies {side} the limit, but is approximate for means of {units}, and a bound that "
        f"holds for every population (Hoeffding-Bentkus) does not agree with so few ({values.size})"
    )


def _bound(values: FloatArray, limit: float) -> float:
    """Return the Hoeffding-Bentkus p-value of "the mean of these [0, 1] values is above the limit"."""
    return float(hoeffding_bentkus(np.array([float(values.size)]), np.array([values.sum()]), limit)[0])


# ---------------------------------------------------------------------- whether new scores lie where others did


def other_share(policy: Policy, n: int, n_accepted: int) -> list[str]:
    """Say if the share of accepted rows is not that of calibration: their exact 99.9 % intervals do not meet."""
    known = policy.calibration
    plain = policy.group is None and policy.second is None and known.weighted is False and not known.clustered
    if not n or not plain or known.n_accepted is None:
        return []
    before = clopper_pearson(known.n_accepted, known.n, 0.999)
    low, high = clopper_pearson(n_accepted, n, 0.999)
    share, usual = n_accepted / n, known.n_accepted / known.n
    if (low <= before[1] and before[0] <= high) or abs(share - usual) < _LEAST:
        return []
    return [
        f"{share:.4g} of the rows are accepted, {usual:.4g} of the calibration rows were, and chance does not explain "
        "it (exact 99.9 % intervals that do not meet): are rows and model those that the policy was made for?"
    ]


def moved(n: int, count: int, where: str, edge: float) -> list[str]:
    """Say if most scores lie where at most one in ten of the calibration rows did."""
    if count <= n / 2 or n < _FEWEST:
        return []
    return [
        f"{count} of {n} scores are {where} {edge:.6g}, where at most one in ten calibration rows was: is the "
        "score on the scale that it had at calibration (per cent or fractions, temperature, sign)?"
    ]
