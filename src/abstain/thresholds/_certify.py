"""Certificates: the lowest threshold whose selective risk is below a limit, except with a stated probability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from abstain._checks import positive
from abstain._typing import FloatArray, IntArray
from abstain.thresholds._evidence import binomial, evidence, fewest, hoeffding_bentkus
from abstain.thresholds._fallback import fallback, positions, schedule
from abstain.thresholds._sample import Sample, largest_loss

#: No sample can show a limit of this size, and below it the number of rows that would is beyond a float.
LEAST = 1e-300


@dataclass(frozen=True)
class Found:
    """A certified threshold (+inf: none), and how it was found."""

    threshold: float
    procedure: str
    bound: str
    reason: str | None


@dataclass(frozen=True, eq=False)
class Tests:
    """The hypotheses "the risk above this threshold exceeds the limit", thresholds descending.

    Each has the number of rows that it accepts and the sum of their values in [0, 1], whose mean exceeds ``limit`` if
    and only if the risk exceeds its own: l/B, and with weights up to V (w (l - r) + V r)/(V B).
    """

    count: FloatArray
    total: FloatArray
    limit: float
    bound: str = "binomial"

    def p_value(self, low: int, high: int, surely: float = 0.0) -> FloatArray:
        """Return the p-values of the positions low..high-1; those that are at most ``surely`` may be bounds on them."""
        columns = self.count[low:high], self.total[low:high], self.limit
        return binomial(*columns, surely) if self.bound == "binomial" else hoeffding_bentkus(*columns)


#: What controls multiplicity: from the tests and the number of rows the position of the lowest that passes, or -1.
Walk = Callable[[Tests, int, float], int]


@dataclass(frozen=True)
class Search:
    """A limit of the risk that is to be certified on a sample, with all that was fixed before its rows were seen.

    ``thresholds``: fixed in advance, descending; None: all that the scores attain. ``max_cluster``: the largest size of
    a cluster, where the guarantee is about rows; None: each cluster counts once.
    """

    sample: Sample
    risk: float
    delta: float
    max_loss: float | None = None
    max_weight: float | None = None
    thresholds: FloatArray | None = None
    max_cluster: int | None = None

    def __post_init__(self) -> None:
        if self.risk >= self.largest:
            raise ValueError(f"risk must be below the largest possible loss, {self.largest:g}, got {self.risk:g}")
        weight = self.sample.weight
        if weight is None:
            return
        if self.max_weight is None:
            raise ValueError("a certificate with sample_weight needs the largest possible weight; give max_weight=")
        if not weight.max() <= positive(self.max_weight, "max_weight", "give the largest possible weight"):
            raise ValueError(f"max_weight={self.max_weight:g} is below a weight that occurs, {weight.max():g}")

    @cached_property
    def largest(self) -> float:
        """The largest possible loss."""
        return largest_loss(self.sample, self.max_loss)

    @cached_property
    def limit(self) -> float:
        """The limit of the mean of values in [0, 1]."""
        return max(self.risk / self.largest, LEAST)

    @property
    def exact(self) -> bool:
        """Whether the loss is 0/1 by what it is; ``max_loss`` says that it may be graded, whatever these rows hold."""
        return self.sample.binary and self.sample.weight is None and self.max_loss is None

    @cached_property
    def tested(self) -> FloatArray:
        """The thresholds, descending."""
        if self.thresholds is not None:
            return self.thresholds
        sample = self.sample
        scored = sample.blocks.score if sample.weight is None else np.unique(sample.score)[::-1]
        return scored[: len(scored) - int(scored[-1] == -np.inf)]  # no copy: evaluations keep several searches

    def values(self) -> FloatArray:
        """Return the values in [0, 1] whose mean is tested."""
        sample = self.sample
        if sample.weight is None or self.max_weight is None:
            return sample.loss / self.largest
        return (sample.weight * (sample.loss - self.risk) + self.max_weight * self.risk) / (
            self.max_weight * self.largest
        )

    def found(self, position: int, procedure: str, bound: str) -> Found:
        """Return the threshold at a position, or that there is none."""
        if position < 0:
            return Found(np.inf, procedure, bound, why(self.sample.n, self.limit, self.delta))
        return Found(float(self.tested[position]), procedure, bound, None)

    def walked(self, walk: Walk, procedure: str, bound: str) -> Found:
        """Return what a walk over p-values finds."""
        sample, tested = self.sample, self.tested
        if bound == "binomial" and self.thresholds is None:  # the table counts rows and errors
            table, scores = sample.blocks, len(tested)
            tests = Tests(table.cumulative_weight[:scores], table.cumulative_loss[:scores], self.limit)
        else:
            count = sample.accepted(tested)
            total = sample.sums(self.values(), count)
            tests = Tests(sample.rows_of(count).astype(np.float64), total, self.limit, bound)
        return self.found(walk(tests, sample.n, self.delta), procedure, bound)

    def default(self) -> Found:
        """Return what the default procedure finds: exact binomial tests of 0/1 losses without weights, else bets."""
        if not self.exact:
            count = self.sample.accepted(self.tested)
            passed = np.flatnonzero(evidence(self.values(), count, self.limit, self.sample.times) >= -log(self.delta))
            return self.found(int(passed[-1]) if passed.size else -1, "all at once", "betting")
        return self.walked(from_ranks if self.thresholds is None else from_all, "fallback", "binomial")


def refuse_large(cluster: IntArray, largest: int | None) -> None:
    """Refuse clusters of more rows than were declared."""
    if largest is not None and (size := int(np.bincount(cluster).max())) > largest:
        raise ValueError(
            f"clusters: one has {size} rows, above max_cluster={largest}; leave rows beyond it out by a rule that "
            "ignores losses, or declare a larger one"
        )


def from_ranks(tests: Tests, n: int, delta: float) -> int:
    """Start a fallback at ranks that n, limit and delta fix."""
    rank, share = schedule(n, tests.limit, delta)
    return walk_down(tests, positions(tests.count, rank), share)


def from_all(tests: Tests, n: int, delta: float) -> int:
    """Start at each threshold that was fixed in advance, with equal shares of delta."""
    many = len(tests.count)
    return walk_down(tests, np.arange(many), np.full(many, delta / max(1, many)))


def walk_down(tests: Tests, start: IntArray, share: FloatArray) -> int:
    """Walk from the starts, each with its share of delta, by p-values that are computed where the walk comes."""
    if not len(tests.count):
        return -1
    least = float(share.min(initial=1.0))  # no level is below the smallest share
    return fallback(len(tests.count), start, share, lambda low, high: tests.p_value(low, high, least))


def why(n: int, limit: float, delta: float, rows: str = "calibration rows") -> str:
    """Return why nothing passed: too few rows, or too many errors among them.

    Whether more rows would do is another question, which the result answers where it can.
    """
    least = fewest(limit, delta)
    if n < least:
        return f"{n} {rows} are too few: even without an error {least:.15g} of them must be accepted"
    return "no threshold passed its test; give a larger risk or a better score"
