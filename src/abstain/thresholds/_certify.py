"""``search``: a threshold whose selective risk is below a limit, except with a stated probability."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import Literal

import numpy as np

from abstain._checks import one_of, real, refuse, vector
from abstain._typing import ArrayLike, FloatArray
from abstain.thresholds._betting import evidence
from abstain.thresholds._fallback import fallback, positions, schedule
from abstain.thresholds._p_values import binomial, fewest, hoeffding_bentkus
from abstain.thresholds._sample import Sample, largest_loss
from abstain.thresholds._sgr import sgr

Procedure = Literal["fallback", "fixed_sequence", "bonferroni", "sgr"]
Bound = Literal["binomial", "betting", "hoeffding-bentkus"]
PROCEDURES = ("fallback", "fixed_sequence", "bonferroni", "sgr")
BOUNDS = ("binomial", "betting", "hoeffding-bentkus")
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
    bound: str

    def p_value(self, low: int, high: int, surely: float = 0.0) -> FloatArray:
        """Return the p-values of the positions low..high-1; those that are at most ``surely`` may be bounds on them."""
        columns = self.count[low:high], self.total[low:high], self.limit
        return binomial(*columns, surely) if self.bound == "binomial" else hoeffding_bentkus(*columns)


def search(
    sample: Sample, risk: float, delta: float, procedure: str = "fallback", bound: str | None = None,
    max_loss: float | None = None, max_weight: float | None = None, thresholds: ArrayLike | None = None,
) -> Found:  # fmt: skip
    """Run one procedure, fixed in advance, on the calibration sample."""
    one_of(procedure, PROCEDURES, "procedure")
    largest = largest_loss(sample, max_loss)
    if risk >= largest:
        raise ValueError(f"risk must be below the largest possible loss, {largest:g}, got {risk:g}")
    limit = max(risk / largest, LEAST)
    bound = _bound(sample, bound, max_loss, max_weight)
    _refuse_pair(procedure, bound, thresholds is not None)
    fixed = None if thresholds is None else fixed_thresholds(thresholds)
    if procedure == "sgr":
        table = sample.blocks
        at = sgr(table.score, table.cumulative_weight, table.cumulative_loss, limit, delta)
        return Found(at, procedure, bound, None if at < np.inf else why(sample.n, limit, delta))
    scored = sample.blocks.score if sample.weight is None else np.unique(sample.score)[::-1]
    tested = scored[scored > -np.inf] if fixed is None else fixed
    if bound == "binomial" and fixed is None:  # the table counts rows and errors
        table, scores = sample.blocks, len(tested)
        tests = Tests(table.cumulative_weight[:scores], table.cumulative_loss[:scores], limit, bound)
        position = walk(tests, sample.n, delta, procedure)
    else:
        values = sample.loss / largest
        if sample.weight is not None and max_weight is not None:
            values = (sample.weight * (sample.loss - risk) + max_weight * risk) / (max_weight * largest)
        count = sample.accepted(tested)
        if bound == "betting":
            passed = np.flatnonzero(evidence(values, count, limit, sample.times) >= -log(delta))
            position, procedure = int(passed[-1]) if passed.size else -1, "all at once"
        else:
            values = values if sample.times is None else values * sample.times
            total = np.concatenate([[0.0], np.cumsum(values)])[count]
            tests = Tests(sample.rows_of(count).astype(np.float64), total, limit, bound)
            position = walk(tests, sample.n, delta, procedure, fixed is not None)
    if position < 0:
        return Found(np.inf, procedure, bound, why(sample.n, limit, delta))
    return Found(float(tested[position]), procedure, bound, None)


def walk(tests: Tests, n: int, delta: float, procedure: str = "fallback", fixed: bool = False) -> int:
    """Return the position of the lowest threshold that passes its test, or -1; ``fixed``: all were, in advance."""
    many = len(tests.count)
    if many == 0:
        return -1
    if fixed:
        start, share = np.arange(many), np.full(many, delta / many)
    elif procedure == "bonferroni":
        rank = np.ceil(np.arange(1, ceil(sqrt(n)) + 1) * n / ceil(sqrt(n))).astype(np.int64)
        start, share = positions(tests.count, rank), np.full(len(rank), delta / len(rank))
    else:
        rank, share = schedule(n, tests.limit, delta)
        start = positions(tests.count, rank)
    if procedure == "bonferroni":  # a level of its own for each threshold: no walk
        level = np.zeros(many)
        np.add.at(level, start, share)
        passed = np.flatnonzero((level > 0.0) & (tests.p_value(0, many) <= level))
        return int(passed[-1]) if passed.size else -1
    if procedure == "fixed_sequence":
        start, share = start[:1], np.full(len(start[:1]), delta)
    least = float(share.min(initial=1.0))  # no level is below the smallest share
    return fallback(many, start, share, lambda low, high: tests.p_value(low, high, least))


def fixed_thresholds(thresholds: ArrayLike) -> FloatArray:
    """Return thresholds that were fixed in advance, descending."""
    fixed = vector(thresholds, "thresholds", np, None) + 0.0
    refuse(np.isnan(fixed), fixed, "thresholds", "holds NaN", "give the scores at which to test", np)
    return np.unique(fixed[fixed > -np.inf])[::-1]


def _refuse_pair(procedure: str, bound: str, fixed: bool) -> None:
    """Refuse a procedure with a bound for which it is not valid, or has no meaning."""
    if procedure == "sgr" and fixed:
        raise ValueError("procedure='sgr' searches thresholds of its own; leave thresholds= out, or use 'fallback'")
    if procedure == "sgr" and bound != "binomial":
        raise ValueError(
            "procedure='sgr' is defined for 0/1 losses without weights or max_loss=; use procedure='fallback'"
        )
    if bound == "betting" and procedure != "fallback":
        raise ValueError(
            f"procedure={procedure!r} shares delta among thresholds, but the betting certificate tests all at once; "
            "leave procedure= out, or give bound='hoeffding-bentkus'"
        )
    if bound == "hoeffding-bentkus" and procedure != "bonferroni" and not fixed:
        raise ValueError(
            "bound='hoeffding-bentkus' needs procedure='bonferroni', or thresholds= that were fixed in advance; or "
            "leave it out: the default is betting"
        )


def _bound(sample: Sample, bound: str | None, max_loss: float | None, max_weight: float | None) -> str:
    """Return the test: of a loss that may be graded, as ``max_loss`` says, the same one whatever these rows hold."""
    exact = sample.binary and sample.weight is None and max_loss in (None, 1.0)
    chosen = one_of(bound or ("binomial" if exact and max_loss is None else "betting"), BOUNDS, "bound")
    if sample.weight is not None:
        if max_weight is None:
            raise ValueError("a certificate with sample_weight needs the largest possible weight; give max_weight=")
        max_weight = real(max_weight, "max_weight", "> 0", "give the largest possible weight")
        if not sample.weight.max() <= max_weight < np.inf:
            raise ValueError(
                f"max_weight={max_weight:g} must be finite and not below a weight that occurs, "
                f"{sample.weight.max():g}; give a true bound"
            )
    if chosen == "binomial" and not exact:
        raise ValueError(
            "bound='binomial' is exact for 0/1 losses without weights only; give bound='betting' for real losses "
            "or weights"
        )
    return chosen


def why(n: int, limit: float, delta: float, rows: str = "calibration rows") -> str:
    """Return why nothing passed: too few rows, or too many errors among them.

    Whether more rows would do is another question, which the result answers where it can.
    """
    least = fewest(limit, delta)
    if n < least:
        return f"{n} {rows} are too few: even without an error {least:.15g} of them must be accepted"
    return "no threshold passed its test; give a larger risk or a better score"
