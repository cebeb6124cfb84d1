r"""``compare_groups``: one metric in groups of rows: intervals that hold together, differences, the worst group.

Groups are independent of each other, so nothing is paired. With G groups the intervals at :math:`1 - \alpha/G` hold
together with probability :math:`1 - \alpha`. The interval of a difference is made of those of its two groups,

.. math:: \hat\theta_a - \hat\theta_b - \sqrt{(\hat\theta_a - l_a)^2 + (u_b - \hat\theta_b)^2}

and likewise above, which keeps what these know: skewness, exact binomial ends, room for errors that were not seen.
Pairs differ by Holm's steps: all that are left are tested at :math:`\alpha` over their number.

**The worst group** is chosen by its estimate, which is worse than its true value for that reason. While all intervals
hold, the worst true value lies between the largest lower and the largest upper end, and a group whose upper end is
below that lower end is not the worst.

Source: Zou & Donner (2008), Statistics in Medicine 27, for the interval of a difference; Holm (1979).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from abstain._checks import check_loss, listed, same_length, vector
from abstain._result import Column, Estimate, Result, Row, Status, Table, Verdict, arrow
from abstain._typing import ArrayLike
from abstain.inference._binomial import check_level
from abstain.inference._columns import as_metric, check_scored
from abstain.inference._confidence import confidence_interval
from abstain.inference._interval import Interval
from abstain.inference._resample import codes
from abstain.metrics import BESIDE, Metric

#: Pairs that are printed.
PAIRS = 15


class GroupDifference(NamedTuple):
    """The difference of a metric between two groups, ``a`` minus ``b``, with an interval that holds for all pairs.

    Examples
    --------
    >>> from abstain.inference import GroupDifference
    >>> GroupDifference("a", "b", 0.1, 0.02, 0.2, True).significant
    True
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    significant: bool


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(Result):
    """The result of :func:`abstain.inference.compare_groups`.

    ``intervals``: one per group, which hold together at ``level``; ``sizes``: rows; ``differences``: one per pair;
    ``worst``: the group with the worst estimate; ``may_be_worst``: those that the intervals leave; ``worst_low``,
    ``worst_high``: the interval of the worst true value; ``risks``: for another metric the mean loss of each group,
    with intervals that hold together.

    Examples
    --------
    >>> import abstain
    >>> loss, score, site = [0, 0, 1, 0] * 100, [k % 37 for k in range(400)], ["a"] * 200 + ["b"] * 200
    >>> abstain.inference.compare_groups(loss, score, site, metric="risk").may_be_worst
    ('a', 'b')
    """

    _names = ("group",)
    _values = ("value", "low", "high")

    metric: str
    label: str
    direction: str
    level: float
    sizes: Mapping[str, int]
    intervals: Mapping[str, Interval]
    differences: tuple[GroupDifference, ...]
    worst: str
    may_be_worst: tuple[str, ...]
    worst_low: float
    worst_high: float
    risks: Mapping[str, Interval] = field(default_factory=dict)

    def headline(self) -> str:
        """Return how many groups differ."""
        found = sum(each.significant for each in self.differences)
        pairs = f"{found} of {len(self.differences)} pairs differ at {1.0 - self.level:.3g}, all together"
        return f"{arrow(self.label, self.direction)} in {len(self.sizes)} groups · {pairs}"

    @property
    def verdict(self) -> Verdict:
        """Which groups may be the worst; no threshold is chosen here."""
        worst = self.intervals[self.worst]
        clear = len(self.may_be_worst) == 1
        names = f"{self.worst} is the worst" if clear else f"Any of {listed(self.may_be_worst)} may be the worst"
        said = f"{names} of {len(self.sizes)} groups by {self.label}"
        value = f"{worst.estimate:.3g} [{worst.low:.3g}, {worst.high:.3g}]"
        others = [each.estimate for name, each in self.intervals.items() if name != self.worst]
        beside = f"{value}, the others {min(others):.3g} to {max(others):.3g}"
        value = beside if clear and len(others) > 1 else f"{self.worst} {value}"
        return Verdict(Status.COMPARED, n=sum(self.sizes.values()), reason=f"{said}: {value}.", confidence=self.level)

    def tables(self) -> list[Table]:
        """Return the groups, worst first, then the pairs that differ."""
        columns = [Column("Group"), Column("n"), Column(self.label if self.risks else "Estimate")]
        columns += [Column("Risk, all answered")] if self.risks else []
        rows: list[Row] = []
        for name, each in self.intervals.items():
            several = [each, self.risks[name]] if self.risks else [each]
            ends = (Estimate(one.estimate, one.low, one.high) for one in several)
            rows.append((name, self.sizes[name], *ends, "yes" if name in self.may_be_worst else "no"))
        columns.append(Column("may be the worst", left=True))
        notes = [f"In brackets: intervals that hold together at {100.0 * self.level:g} %."]
        groups = Table(columns, rows, ranks=0, notes=notes)
        differ = [each for each in self.differences if each.significant]
        if not differ:
            return [groups]
        pairs: list[Row] = [
            (f"{each.a} - {each.b}", Estimate(each.difference, each.low, each.high)) for each in differ[:PAIRS]
        ]
        more = [f"{len(differ) - PAIRS} more pairs are in .differences."] if len(differ) > PAIRS else []
        return [groups, Table([Column("Pairs that differ"), Column("Difference")], pairs, ranks=0, notes=more)]

    def notes(self) -> list[str]:
        """Return the worst group with its selection counted, and what the intervals say of themselves."""
        ends = f"[{self.worst_low:.4g}, {self.worst_high:.4g}]"
        lines = [f"the worst group has a true value in {ends}, whichever it is; worst by its estimate: {self.worst}"]
        reasons: dict[str, list[str]] = {}
        for name, each in self.intervals.items():
            if each.warning:
                reasons.setdefault(each.warning, []).append(name)
        return lines + [f"{listed(names)}: {reason}" for reason, names in reasons.items()]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per group, worst first."""
        return [
            {"group": name, "n": self.sizes[name], "value": each.estimate, "low": each.low, "high": each.high,
             "may_be_worst": name in self.may_be_worst, "warning": each.warning,
             **({"risk": self.risks[name].estimate} if self.risks else {})}
            for name, each in self.intervals.items()
        ]  # fmt: skip


def compare_groups(
    loss: ArrayLike,
    confidence: ArrayLike,
    groups: ArrayLike,
    metric: str | Metric = "augrc",
    *,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> GroupComparison:
    """Compare a metric between groups of rows: simultaneous intervals, tests of all pairs, and the worst group.

    Parameters
    ----------
    loss, confidence : array-like of shape (n_samples,)
    groups : array-like of shape (n_samples,)
        At least two groups, which share no rows: sites, classes, years.
    metric : str or Metric
    level : float in (0, 1)
        All intervals hold together, and no difference is false, with about this probability.
    sample_weight, clusters : array-like of shape (n_samples,), optional
        As in :func:`abstain.confidence_interval`. A cluster lies in one group.
    n_resamples, rng
        For metrics whose interval is from a bootstrap.

    Returns
    -------
    GroupComparison
        A group without an interval differs from none, may be the worst, and its warning says why.

    Raises
    ------
    UnmetNeed
        The metric needs what the input does not hold.
    ValueError, TypeError
        Bad columns; fewer than two groups; a cluster in two groups.

    Notes
    -----
    Each interval is that of :func:`abstain.confidence_interval` at 1 - (1 - level)/G. Groups that were found on the
    same rows, as by a search for bad ones, are not covered: the number of groups that was looked at counts.

    References
    ----------
    Zou & Donner (2008); Holm (1979).

    Examples
    --------
    >>> import abstain
    >>> loss, score, site = [0] * 300 + [1, 0] * 150, [k % 37 for k in range(600)], ["a"] * 300 + ["b"] * 300
    >>> found = abstain.inference.compare_groups(loss, score, site)
    >>> found.worst, found.differences[0].significant
    ('b', True)
    """
    level = check_level(level)
    chosen = as_metric(metric)
    check_scored(chosen)
    columns = {"loss": vector(loss, "loss", np, None), "confidence": vector(confidence, "confidence", np, None)}
    if sample_weight is not None:
        columns["sample_weight"] = vector(sample_weight, "sample_weight", np, None)
    check_loss(columns["loss"], np)
    n = same_length(**columns)
    which, names = codes(groups, "groups", n), _names(groups)
    if len(names) < 2:
        raise ValueError(f"groups holds {len(names)} group; there is nothing to compare, give at least two")
    unit = None if clusters is None else codes(clusters, "clusters", n)
    if unit is not None and len(np.unique(np.stack([unit, which]), axis=1).T) > len(np.unique(unit)):
        raise ValueError(
            "clusters: one lies in several groups, which are then not independent; compare within clusters"
        )

    def at(error: float, metric: Metric = chosen) -> dict[str, Interval]:
        found = {}
        for k, name in enumerate(names):
            mine: dict[str, Any] = {key: column[which == k] for key, column in columns.items()}
            dependent = None if unit is None else unit[which == k]
            mine |= {"level": 1.0 - error, "clusters": dependent, "n_resamples": n_resamples, "rng": rng}
            found[name] = confidence_interval(metric, **mine)
        return found

    alpha, pairs = 1.0 - level, list(combinations(names, 2))
    together = at(alpha / len(names))
    single = at(alpha / len(pairs))
    differ = _by_steps(pairs, alpha, single, at)
    order = sorted(names, key=lambda name: _badness(together[name], chosen))
    differences = tuple(
        GroupDifference(
            a, b, single[a].estimate - single[b].estimate, *_difference(single[a], single[b]), pair in differ
        )
        for pair in pairs
        for a, b in [pair if order.index(pair[0]) < order.index(pair[1]) else pair[::-1]]
    )
    sizes = {name: int((which == names.index(name)).sum()) for name in order}
    return GroupComparison(
        chosen.spec, chosen.label, chosen.direction, level, sizes, {name: together[name] for name in order},
        differences, order[0], *_worst(together, order, chosen),
        {} if chosen.spec == BESIDE["errors"] else at(alpha / len(names), as_metric(BESIDE["errors"])),
    )  # fmt: skip


def _names(groups: ArrayLike) -> list[str]:
    values: Any = groups.to_numpy() if hasattr(groups, "to_numpy") else np.asarray(groups)
    return [str(value) for value in np.unique(values)]


def _difference(a: Interval, b: Interval) -> tuple[float, float]:
    """Return the interval of the difference of two independent estimates from theirs."""
    difference = a.estimate - b.estimate
    below = math.hypot(a.estimate - a.low, b.high - b.estimate)
    above = math.hypot(a.high - a.estimate, b.estimate - b.low)
    return difference - below, difference + above


def _by_steps(pairs: list[tuple[str, str]], alpha: float, first: dict[str, Interval], at: Any) -> set[tuple[str, str]]:
    """Return which pairs differ: all that are left are tested at alpha over their number."""
    found: set[tuple[str, str]] = set()
    intervals = first
    while len(found) < len(pairs):
        left = [pair for pair in pairs if pair not in found]
        intervals = intervals if len(left) == len(pairs) else at(alpha / len(left))
        ends = {(a, b): _difference(intervals[a], intervals[b]) for a, b in left}
        new = {pair for pair, (low, high) in ends.items() if low > 0.0 or high < 0.0}
        if not new:
            break
        found |= new
    return found


def _badness(interval: Interval, metric: Metric) -> float:
    """Return a key that sorts the worst first, and what has no value last."""
    if math.isnan(interval.estimate):
        return math.inf
    return -interval.estimate if metric.direction == "lower" else interval.estimate


def _worst(intervals: Mapping[str, Interval], order: list[str], metric: Metric) -> tuple[tuple[str, ...], float, float]:
    """Return the groups that may be the worst, and the interval of the worst true value."""
    unknown = any(math.isnan(each.low) for each in intervals.values())
    known = [each for each in intervals.values() if not math.isnan(each.low)]
    if not known:
        return tuple(order), math.nan, math.nan
    if metric.direction == "lower":
        low, high = max(each.low for each in known), math.inf if unknown else max(each.high for each in known)
        left = [name for name in order if not intervals[name].high < low]
        return tuple(left), low, high
    low, high = -math.inf if unknown else min(each.low for each in known), min(each.high for each in known)
    return tuple(name for name in order if not intervals[name].low > high), low, high
