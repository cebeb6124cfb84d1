"""``certify``: a threshold whose selective risk is below a limit, except with a stated probability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recuse._checks import one_of, vector
from recuse._typing import ArrayLike, FloatArray
from recuse.thresholds._betting import betting
from recuse.thresholds._fallback import fallback, starts
from recuse.thresholds._p_values import binomial, fewest, hoeffding_bentkus
from recuse.thresholds._sample import Sample, pilot_rows
from recuse.thresholds._sgr import sgr

Procedure = Literal["fallback", "fixed_sequence", "bonferroni", "sgr"]
Bound = Literal["binomial", "betting", "hoeffding-bentkus"]
PROCEDURES = ("fallback", "fixed_sequence", "bonferroni", "sgr")
BOUNDS = ("binomial", "betting", "hoeffding-bentkus")


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
    shuffle: FloatArray

    def p_value(self, low: int, high: int) -> FloatArray:
        """Return the p-values of the positions low..high-1."""
        count = np.searchsorted(-self.score, -self.threshold[low:high], side="right")
        if self.bound == "betting":
            chosen = [self.value[self.shuffle[self.shuffle < k].astype(np.intp)] for k in count]
            return np.array([betting(values, self.limit, self.level) for values in chosen])
        total = np.concatenate([[0.0], np.cumsum(self.value)])[count]
        formula: Callable[..., FloatArray] = binomial if self.bound == "binomial" else hoeffding_bentkus
        return formula(count.astype(np.float64), total, self.limit)


def search(
    sample: Sample, risk: float, delta: float, procedure: str, bound: str | None, max_loss: float | None,
    max_weight: float | None, thresholds: ArrayLike | None, rng: int | np.random.Generator,
) -> Found:  # fmt: skip
    """Run one procedure, fixed in advance, on the calibration sample."""
    one_of(procedure, PROCEDURES, "procedure")
    bound = _bound(sample, bound, max_loss, max_weight, procedure)
    largest = 1.0 if sample.binary and max_loss is None else float(max_loss or 0.0)
    limit = risk / largest
    if procedure == "sgr":
        at = sgr(sample.score, sample.loss, limit, delta)
        return Found(at, at, bound, 0, None if at < np.inf else _why(sample.n, limit, delta))
    generator = np.random.default_rng(rng)
    given = None if thresholds is None else np.unique(vector(thresholds, "thresholds", np, None) + 0.0)[::-1]
    pilot = np.zeros(sample.n, dtype=bool) if given is not None else pilot_rows(sample.n, generator)
    rest = sample.rows(~pilot)
    fixed = given if given is not None else np.unique(sample.score[pilot])[::-1]
    fixed = fixed[fixed > -np.inf]
    if rest.n < 1 or fixed.size == 0:
        return Found(np.inf, np.inf, bound, int(pilot.sum()), _why(rest.n, limit, delta))
    begin, share = _plan(procedure, fixed, sample.score[pilot], rest.n, limit, delta, given is not None)
    tested = np.union1d(begin, fixed)[::-1]
    if procedure == "fallback" and bound != "betting":  # the walk may stop at every score that occurs
        own = np.unique(rest.score)
        tested = np.union1d(begin, own[(own > -np.inf) & (own < begin[0])])[::-1]
    tested = tested[tested <= begin[0]]
    values = rest.loss / largest
    if rest.weight is not None and max_weight is not None:
        values = (rest.weight * (rest.loss - risk) + max_weight * risk) / (max_weight * largest)
    shuffle = generator.permutation(rest.n).astype(np.float64)
    tests = Tests(tested, rest.score, values, limit, bound, delta, shuffle)
    position = fallback(tested, begin, share, tests.p_value)
    if procedure == "bonferroni":  # a level of its own for each: no walk
        passed = np.flatnonzero(tests.p_value(0, len(tested)) <= delta / len(tested))
        position = int(passed[-1]) if passed.size else -1
    if position >= 0:
        return Found(float(tested[position]), float(tested[position]), bound, int(pilot.sum()), None)
    p = tests.p_value(0, len(tested)) if bound != "betting" or len(tested) < 200 else np.ones(1)
    return Found(np.inf, float(tested[int(np.argmin(p))]), bound, int(pilot.sum()), _why(rest.n, limit, delta))


def _plan(
    procedure: str, fixed: FloatArray, pilot: FloatArray, n: int, limit: float, delta: float, given: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the thresholds at which the walk may start, highest first, with their shares of delta."""
    if procedure == "fallback" and not given:
        begin, share = starts(pilot, n, limit, delta)
        kept = begin > -np.inf
        return (begin[kept], share[kept]) if kept.any() else (fixed[:1], np.array([delta]))
    if procedure == "fallback":
        return fixed, np.full(len(fixed), delta / len(fixed))
    if given:
        return fixed[:1], np.array([delta])
    first = starts(pilot, n, limit, delta)[0][0]  # one sequence, from the smallest set that can be expected to pass
    return np.array([first if first > -np.inf else fixed[0]]), np.array([delta])


def _bound(sample: Sample, bound: str | None, max_loss: float | None, max_weight: float | None, procedure: str) -> str:
    chosen = bound or ("binomial" if sample.binary and sample.weight is None and max_loss in (None, 1) else "betting")
    one_of(chosen, BOUNDS, "bound")
    if not sample.binary and max_loss is None:
        raise ValueError(
            f"a certificate for a loss that is not 0/1 needs its largest possible value; give max_loss= "
            f"(the largest seen, {sample.loss.max():g}, is no bound)"
        )
    if max_loss is not None and not 0.0 < max_loss < np.inf:
        raise ValueError(f"max_loss must be a finite number > 0, got {max_loss!r}; give the largest possible loss")
    if max_loss is not None and sample.loss.max() > max_loss:
        raise ValueError(f"max_loss={max_loss:g} is below a loss that occurs, {sample.loss.max():g}; give a true bound")
    if sample.weight is not None:
        if max_weight is None:
            raise ValueError("a certificate with sample_weight needs the largest possible weight; give max_weight=")
        if not sample.weight.max() <= max_weight < np.inf:
            raise ValueError(
                f"max_weight={max_weight:g} must be finite and not below a weight that occurs, "
                f"{sample.weight.max():g}; give a true bound"
            )
    if chosen == "binomial" and not (sample.binary and sample.weight is None and max_loss in (None, 1)):
        raise ValueError(
            "bound='binomial' is exact for 0/1 losses without weights only; give bound='betting' for real losses "
            "or weights"
        )
    if procedure == "sgr" and chosen != "binomial":
        raise ValueError("procedure='sgr' is defined for 0/1 losses without weights; use procedure='fallback'")
    return chosen


def _why(n: int, limit: float, delta: float) -> str:
    least = fewest(limit, delta)
    if n < least:
        return f"{n} calibration rows are too few: even without an error {least} accepted rows are needed"
    return "no threshold passed its test; give more calibration rows, a larger risk or a better score"
