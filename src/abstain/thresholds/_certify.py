"""``certify``: a threshold whose selective risk is below a limit, except with a stated probability."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from abstain._checks import one_of, real, refuse, vector
from abstain._typing import ArrayLike, FloatArray, IntArray
from abstain.thresholds._betting import betting
from abstain.thresholds._fallback import fallback, starts
from abstain.thresholds._p_values import binomial, fewest, hoeffding_bentkus
from abstain.thresholds._sample import Sample, draw, largest_loss
from abstain.thresholds._sgr import sgr

Procedure = Literal["fallback", "fixed_sequence", "bonferroni", "sgr"]
Bound = Literal["binomial", "betting", "hoeffding-bentkus"]
PROCEDURES = ("fallback", "fixed_sequence", "bonferroni", "sgr")
BOUNDS = ("binomial", "betting", "hoeffding-bentkus")
#: No sample can show a limit of this size, and below it the number of rows that would is beyond a float.
LEAST = 1e-300


@dataclass(frozen=True)
class Found:
    """A certified threshold (+inf: none), the most promising one, and how the rows were used."""

    threshold: float
    nearest: float
    bound: str
    n_pilot: int
    reason: str | None


@dataclass(frozen=True, eq=False)
class Tests:
    """The hypotheses "the risk above this threshold exceeds the limit" with their p-values; thresholds descending.

    ``value`` are the losses brought to [0, 1] such that the risk exceeds the limit if and only if their mean exceeds
    ``limit``: l/B, and with weights up to V (w (l - r) + V r)/(V B).
    """

    threshold: FloatArray
    score: FloatArray
    value: FloatArray
    limit: float
    bound: str
    level: float
    order: IntArray

    def p_value(self, low: int, high: int) -> FloatArray:
        """Return the p-values of the positions low..high-1."""
        count = np.searchsorted(-self.score, -self.threshold[low:high], side="right")
        if self.bound == "betting":
            return np.array([betting(self.shuffled(k), k, self.limit, self.level) for k in count])
        total = np.concatenate([[0.0], np.cumsum(self.value)])[count]
        formula: Callable[..., FloatArray] = binomial if self.bound == "binomial" else hoeffding_bentkus
        return formula(count.astype(np.float64), total, self.limit)

    def shuffled(self, count: int) -> Iterator[FloatArray]:
        """Yield the values of the first ``count`` rows in the order of bets, in parts of growing length."""
        begin, step = 0, 4096
        while begin < len(self.order):
            part = self.order[begin : begin + step]
            yield self.value[part[part < count]]
            begin, step = begin + step, 2 * step


def search(
    sample: Sample, risk: float, delta: float, procedure: str, bound: str | None, max_loss: float | None,
    max_weight: float | None, thresholds: ArrayLike | None, rng: int | np.random.Generator,
) -> Found:  # fmt: skip
    """Run one procedure, fixed in advance, on the calibration sample."""
    one_of(procedure, PROCEDURES, "procedure")
    largest = largest_loss(sample, max_loss)
    if risk >= largest:
        raise ValueError(f"risk must be below the largest possible loss, {largest:g}, got {risk:g}")
    limit = max(risk / largest, LEAST)
    bound = _bound(sample, bound, largest, max_weight, procedure)
    if procedure == "sgr":
        if thresholds is not None:
            raise ValueError("procedure='sgr' searches thresholds of its own; leave thresholds= out, or use 'fallback'")
        at = sgr(sample.score, sample.loss, limit, delta)
        return Found(at, at, bound, 0, None if at < np.inf else _why(sample.n, 0, limit, delta))
    pilot, order = draw(sample, rng, pilot=thresholds is None)
    n_pilot, rest = int(pilot.sum()), sample.rows(~pilot)
    fixed = sample.score[pilot] if thresholds is None else vector(thresholds, "thresholds", np, None) + 0.0
    refuse(np.isnan(fixed), fixed, "thresholds", "holds NaN", "give the scores at which to test", np)
    fixed = np.unique(fixed[fixed > -np.inf])[::-1]
    if rest.n < 1 or fixed.size == 0:
        return Found(np.inf, np.inf, bound, n_pilot, _why(sample.n, n_pilot, limit, delta))
    if thresholds is not None:
        begin, share, tested = fixed, np.full(len(fixed), delta / len(fixed)), fixed
    else:
        begin, share = _starts(sample.score[pilot], fixed, rest.n, limit, delta)
        # the walk of the default may stop at every score that occurs; tests by betting are too costly for that
        below = rest.score if procedure == "fallback" and bound != "betting" else fixed
        tested = np.union1d(begin, below[(below > -np.inf) & (below < begin[0])])[::-1]
    if procedure != "fallback":
        begin, share = begin[:1], np.array([delta])
    values = rest.loss / largest
    if rest.weight is not None and max_weight is not None:
        values = (rest.weight * (rest.loss - risk) + max_weight * risk) / (max_weight * largest)
    tests = Tests(tested, rest.score, values, limit, bound, delta, order)
    if procedure == "bonferroni":  # a level of its own for each threshold: no walk
        passed = np.flatnonzero(tests.p_value(0, len(tested)) <= delta / len(tested))
        position = int(passed[-1]) if passed.size else -1
    else:
        position = fallback(tested, begin, share, tests.p_value)
    if position >= 0:
        return Found(float(tested[position]), float(tested[position]), bound, n_pilot, None)
    nearest = float(tested[int(np.argmin(tests.p_value(0, len(tested))))])
    return Found(np.inf, nearest, bound, n_pilot, _why(sample.n, n_pilot, limit, delta))


def _starts(pilot: FloatArray, fixed: FloatArray, n: int, limit: float, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return the starts that accept something, highest first, with their shares of delta; at least one."""
    begin, share = starts(pilot, n, limit, delta)
    kept = begin > -np.inf
    return (begin[kept], share[kept]) if kept.any() else (fixed[:1], np.array([delta]))


def _bound(sample: Sample, bound: str | None, largest: float, max_weight: float | None, procedure: str) -> str:
    exact = sample.binary and sample.weight is None and largest == 1.0
    chosen = one_of(bound or ("binomial" if exact else "betting"), BOUNDS, "bound")
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
    if procedure == "sgr" and chosen != "binomial":
        raise ValueError("procedure='sgr' is defined for 0/1 losses without weights; use procedure='fallback'")
    return chosen


def _why(n: int, n_pilot: int, limit: float, delta: float) -> str:
    least = fewest(limit, delta)
    if n - n_pilot < least:
        pilot = f", {n_pilot} of them to fix the tests," if n_pilot else ""
        return f"{n} calibration rows{pilot} are too few: even without an error {least:.15g} accepted rows are needed"
    return "no threshold passed its test; give more calibration rows, a larger risk or a better score"
