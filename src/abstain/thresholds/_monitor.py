r"""``monitor``: do newly labelled rows still support the promise? A test that may be looked at after every row.

**Risk.** Against "the risk of what is accepted is at most r" somebody bets on more, anew from every row on, so that a
good past does not hide what comes after it (:mod:`abstain.thresholds._evidence`). While the promise holds the evidence
*ever* reaches :math:`1/\delta` with probability at most :math:`\delta`: looking every day costs nothing.

**Coverage and score.** The same bet on accepted or not, and on exceeding each decile of the calibration scores. The
calibration knows these shares only within exact intervals; the bets are against leaving them. Half of delta pays for
the intervals, half for the bets. Drift breaks no promise by itself, but it says that the population has moved.

**Groups.** Each group that has a threshold is watched by itself, with its share of delta.

Source: Shekhar & Ramdas (2023), for bets on a change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._checks import check_loss, failure_probability, flag, real, same_length, vector
from abstain._result import Column, Result, Row, Table
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray
from abstain.inference import clopper_pearson
from abstain.thresholds._evidence import evidence_above, evidence_since_first
from abstain.thresholds._grouped import group_column
from abstain.thresholds._order import warn_if_sorted
from abstain.thresholds._policy import Policy
from abstain.thresholds._report import check_clusters
from abstain.thresholds._results import TOLD
from abstain.thresholds._reuse import warn_if_reused
from abstain.thresholds._sample import cluster_numbers, read


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring(Result):
    """What the newly labelled rows say, in the order in which they came.

    Parameters
    ----------
    promise_broken : bool or None
        Whether the evidence against the promise ever reached 1/delta; None without a promise or without accepted rows.
    broken_at : int or None
        Labelled, accepted rows until then; of clusters up to the last accepted row of the one that decided.
    evidence : float
        Largest evidence so far, of any group, divided by the number of groups; 1/delta raises the alarm.
    n, n_accepted : int
        Labelled rows, accepted ones.
    risk, coverage : float
        On these rows.
    coverage_drifted, score_drifted : bool or None
        Whether coverage or score, of any group, left what the calibration rows had shown; None if that cannot be told.
    untold : str or None
        Why it cannot.
    groups : dict of str to bool
        Whether the promise is broken, for each group with a promise and accepted rows; empty without groups.
    delta : float
        Probability of a false alarm, ever, of each of the three.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(4000)
    >>> wrong = rng.random(4000) > score ** 0.1
    >>> policy = abstain.choose_threshold(wrong, score, risk=0.1, delta=0.05).policy(score="msp")
    >>> later = abstain.thresholds.monitor(policy, rng.random(4000) < 0.2, rng.random(4000))
    >>> later.promise_broken, later.broken_at < 400
    (True, True)
    """

    promise_broken: bool | None
    broken_at: int | None
    evidence: float
    n: int
    n_accepted: int
    risk: float
    coverage: float
    coverage_drifted: bool | None
    score_drifted: bool | None
    untold: str | None
    groups: Mapping[str, bool]
    delta: float

    def headline(self) -> str:
        """Return whether the promise is broken, and the evidence."""
        broken = [name for name, is_broken in self.groups.items() if is_broken]
        where = f" in {', '.join(broken)}" if broken else ""
        alarm = f"evidence {self.evidence:.3g}, alarm at {1.0 / self.delta:.3g}"
        return f"promise broken: {TOLD[self.promise_broken]}{where} ({alarm})"

    def tables(self) -> list[Table]:
        """Return risk and coverage of the labelled rows."""
        rows: list[Row] = [("risk", self.risk), ("accepted", f"{self.n_accepted} of {self.n}")]
        if self.coverage_drifted is not None:
            rows.append(("coverage", self.coverage))
        return [Table([Column(), Column(alike=False)], rows)]

    def notes(self) -> list[str]:
        """Return whether the rows have drifted."""
        why = f" ({self.untold})" if self.untold else ""
        return [f"coverage drifted: {TOLD[self.coverage_drifted]}; score drifted: {TOLD[self.score_drifted]}{why}"]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict."""
        return [{key: value for key, value in vars(self).items() if key != "groups"}]


def _leaves(inside: FloatArray, k: int, n: int, delta: float) -> FloatArray:
    """Return the log evidence, after each row, that a share left the interval that k of n calibration rows give."""
    low, high = clopper_pearson(k, n, 1.0 - delta)
    up, down = evidence_since_first(inside, high), evidence_since_first(1.0 - inside, 1.0 - low)
    return np.asarray(np.logaddexp(up, down) - np.log(2.0))


def monitor(
    policy: Policy,
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    accepted_only: bool = False,
    max_loss: float | None = None,
    delta: float | None = None,
) -> Monitoring:
    """Test whether newly labelled rows still support a policy's promise, at every row, with one error probability.

    Parameters
    ----------
    policy : Policy
    loss, confidence : array-like of shape (n_samples,)
        All labelled rows since the deployment, in the order in which their labels came; earlier ones may not be left
        out, nor later ones be put between them. The calibration rows themselves get a
        :class:`ReusedCalibrationWarning`, sorted rows a :class:`SortedRowsWarning`.
    groups : array-like of shape (n_samples,), optional
        Needed for a policy with one threshold per group; each of its promises is then tested.
    clusters : array-like of shape (n_samples,), optional
        What rows depend on each other, all rows of each; needed for a promise about clusters. Each cluster with an
        accepted row is then one observation, its mean accepted loss, in the order in which clusters were complete:
        hold back those that may get more rows, else what was seen changes afterwards.
    accepted_only : bool
        Only accepted rows were labelled. Coverage cannot be told then, and score drift is judged among accepted rows.
    max_loss : float, optional
        Largest possible loss; default that of the promise.
    delta : float in (0, 1), optional
        False-alarm probability; default that of the promise, or 0.05.

    Returns
    -------
    Monitoring

    Raises
    ------
    ValueError, TypeError
        Bad columns; a loss above ``max_loss``; a promise about clusters without ``clusters``, or ``clusters`` with any
        other.

    Notes
    -----
    Labelled rows must be a random part of all rows, or with ``accepted_only`` of the accepted ones: another choice
    tests another risk. If errors are known sooner than successes, any order of labels alarms: give only rows so old
    that all labels of their age are in, in the order of prediction.

    The promise is tested anew from every row on. A time in which the risk is above the limit breaks it, however good
    the time before was. A promise of 5 % that has become 10 % is noticed after 173 labelled accepted rows (median) if
    that was so from the first row on, and after 554 if 10,000 rows with a risk of 2 % came before
    (``benchmarks/watching.py``). Drift is judged over all rows together, and is seen later the longer there was none.
    Drift cannot be told if the calibration rows were weighted: they
    then come from another population than the rows to which the policy is applied.

    References
    ----------
    Ville (1939); Waudby-Smith & Ramdas (2024); Shin, Ramdas & Rinaldo (2024).

    Examples
    --------
    >>> import abstain
    >>> policy = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).policy(score="msp")
    >>> abstain.thresholds.monitor(policy, [0, 0], [0.95, 0.1]).promise_broken is None
    True
    """
    if not isinstance(policy, Policy):
        raise TypeError(f"policy must be a Policy, got {type(policy).__name__}; give threshold.policy(score=...)")
    losses, scores = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
    same_length(loss=losses, confidence=scores)
    check_loss(losses, np)
    warn_if_reused(policy.calibration, read(losses, scores, None, "reject"))
    accepted = policy.accept(scores, groups)
    promise = policy.guarantee
    bound = max_loss if max_loss is not None else promise["max_loss"] if promise is not None else np.inf
    largest = real(bound, "max_loss", "> 0", "give the largest possible loss")
    if not largest > 0.0:
        raise ValueError(f"max_loss must be > 0, got {max_loss!r}; give the largest possible loss")
    if losses.max() > largest:
        raise ValueError(f"max_loss={largest:g} is below a loss that occurs, {losses.max():g}; give a true bound")
    accepted_only = flag(accepted_only, "accepted_only")
    alarm = failure_probability(delta if delta is not None else 0.05 if promise is None else promise["delta"])
    parts = _parts(policy, groups, len(losses))
    share = alarm / max(1, len(parts))
    check_clusters(policy, clusters)
    unit = None if clusters is None else cluster_numbers(clusters, len(losses))
    mean_loss = _units(losses, accepted, unit)[1]
    warn_if_sorted(loss=mean_loss, **({} if unit is not None else {"confidence": scores[accepted]}))
    evidence, first = {}, []
    for name, rows in parts.items():
        kept, values = _units(losses, rows & accepted, unit)
        if promise is not None and kept.size:
            path = evidence_above(values / largest, float(promise["risk"]) / largest)
            evidence[name] = float(path.max())
            first += kept[path >= -np.log(share)][:1].tolist()
    coverage, score, untold = (
        _drift(policy, scores, accepted, parts, share, accepted_only)
        if unit is None
        else (None, None, "rows of a cluster depend on each other")
    )
    strongest = max(evidence.values(), default=0.0) - np.log(max(1, len(parts)))
    return Monitoring(
        promise_broken=bool(first) if evidence else None,
        broken_at=int(accepted[: min(first) + 1].sum()) if first else None,
        evidence=float(np.exp(min(700.0, max(0.0, strongest)))),
        n=len(losses),
        n_accepted=int(accepted.sum()),
        risk=float(mean_loss.mean()) if accepted.any() else np.nan,
        coverage=float(accepted.mean()),
        coverage_drifted=coverage,
        score_drifted=score,
        untold=untold,
        groups={} if policy.group is None else {name: value >= -np.log(share) for name, value in evidence.items()},
        delta=alarm,
    )


def _units(loss: FloatArray, accepted: BoolArray, unit: IntArray | None) -> tuple[IntArray, FloatArray]:
    """Return accepted rows and their losses; of clusters, as they were complete, the last one and the mean loss."""
    kept = np.flatnonzero(accepted)
    if unit is None or not kept.size:
        return kept, loss[kept]
    complete = np.zeros(int(unit.max()) + 1, dtype=np.int64)
    complete[unit] = np.arange(len(unit))  # of rows of one cluster the last is written last
    found, mine = np.unique(unit[kept], return_inverse=True)
    means = np.bincount(mine, loss[kept]) / np.bincount(mine)
    last = np.zeros(len(found), dtype=np.int64)
    last[mine] = kept
    order = np.argsort(complete[found])
    return last[order], means[order]


def _parts(policy: Policy, groups: ArrayLike | None, n: int) -> dict[str, BoolArray]:
    """Return the rows of each group that has a finite threshold; without groups all rows are one."""
    if policy.group is None or groups is None:
        return {"": np.ones(n, dtype=bool)}
    column = group_column(groups)
    return {name: column == name for name, threshold in policy.thresholds.items() if threshold < np.inf}


def _drift(
    policy: Policy, scores: FloatArray, accepted: BoolArray, parts: dict[str, BoolArray], alarm: float, only: bool
) -> tuple[bool | None, bool | None, str | None]:
    """Return whether coverage and score have drifted in any group, or why that cannot be told."""
    calibration = policy.calibration
    if "n_accepted" not in calibration:
        return None, None, "the policy was edited, so what calibration had shown is void"
    if calibration["weighted"]:
        return None, None, "the calibration rows were weighted, so their shares are not those of the population"
    each = calibration.get("groups", {"": calibration})
    coverage, score = [], []
    for name, rows in parts.items():
        n, n_accepted, bins = each[name]["n"], each[name]["n_accepted"], each[name]["bins"]
        if only:
            rows, n, bins = rows & accepted, n_accepted, [one for one in bins if one[0] > policy.thresholds[name]]
        else:
            coverage.append(_left([accepted[rows]], [n_accepted], n, alarm))
        score.append(_left([scores[rows] >= edge for edge, _ in bins], [count for _, count in bins], n, alarm))
    return _any(coverage), _any(score), "only accepted rows are given" if only else None


def _left(seen: Sequence[BoolArray], counts: Sequence[int], n: int, alarm: float) -> bool | None:
    """Return whether some share left the interval that its count among n calibration rows gives; None without rows."""
    if not counts or not len(seen[0]):
        return None
    each = alarm / (2.0 * len(counts))
    paths = [_leaves(inside.astype(np.float64), k, n, each) for inside, k in zip(seen, counts, strict=True)]
    mixed = np.logaddexp.reduce(paths, axis=0) - np.log(len(paths))
    return bool(mixed.max() >= np.log(2.0 / alarm))


def _any(found: Sequence[bool | None]) -> bool | None:
    """Return whether any is true; None if none can be told."""
    told = [one for one in found if one is not None]
    return any(told) if told else None
