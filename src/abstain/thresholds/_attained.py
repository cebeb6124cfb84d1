"""What calibration rows do certify where they do not certify what was asked for, and how many rows would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._result import among
from abstain._typing import FloatArray
from abstain.thresholds._certify import LEAST, Tests, walk
from abstain.thresholds._p_values import fewest
from abstain.thresholds._sample import Sample

#: Ranks of which the answer chooses: this many, in geometric steps, from this one on.
PINS, HIGHEST = 12, 20
#: The answer names the largest coverage at these multiples of the smallest risk.
MULTIPLES = (1.5, 2.0, 4.0)
#: No plan looks further than this many times the rows at hand.
FURTHEST = 1024
#: Beyond this many the upper end of the plan is left open.
NEAR = 64
#: Nor at more rows.
MOST = 2e6
#: A threshold down here accepts all that has a score.
LOWEST = -1e300


@dataclass(frozen=True)
class Attained:
    """A limit of the risk that the calibration rows do certify; all of one answer hold together.

    Parameters
    ----------
    risk : float
        Upper limit of the risk of what is accepted.
    threshold : float
        Accept if score >= threshold.
    coverage : float
        Accepted share of the calibration rows.
    printed : str
        The threshold in fewer digits that accept the same calibration rows.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.arange(300.0)
    >>> found = abstain.choose_threshold(score < 60, score, risk=0.001, delta=0.05)
    >>> found.attainable, [(round(one.risk, 3), round(one.coverage, 3)) for one in found.attained]
    (False, [(0.023, 0.783)])
    """

    risk: float
    threshold: float
    coverage: float
    printed: str = ""

    @property
    def everything(self) -> bool:
        """Whether all that has a score is accepted."""
        return self.threshold <= LOWEST


def attained(sample: Sample, delta: float, largest: float, exact: bool) -> tuple[Attained, ...]:
    r"""Return the smallest risk that is certified, and the largest coverage at a few larger ones; jointly valid.

    Each of 12 ranks, fixed by n, has an exact upper limit at level :math:`\delta/12`; see :mod:`._band`.
    """
    from abstain.thresholds._band import pins

    n = sample.n
    rank = np.unique(np.round(np.geomspace(min(HIGHEST, n), n, PINS)).astype(np.int64))
    threshold, count, upper = pins(sample, rank, delta / len(rank), largest, exact)
    if not np.isfinite(upper).all() or upper.min() >= largest:
        return ()
    found = []
    for multiple in (1.0, *MULTIPLES):
        last = int(np.flatnonzero(upper <= multiple * upper.min())[-1])
        at = float(threshold[last])
        said = among(at, sample.score) if at > LOWEST else "all that have a score"
        found.append(Attained(float(upper[last]), at, float(count[last]) / n, said))
    return tuple(dict.fromkeys(found))


def rows_needed(sample: Sample, limit: float, delta: float) -> tuple[int, int | None] | None:
    """Return a range of how many rows like these a certificate takes; None if no number would do.

    A plan, not a promise. The k errors above each threshold are taken for as few, and with an unseen one for as many,
    as the population has there in eight of ten cases: gamma quantiles. The upper end is None if no number near
    would do.
    """
    least = least_needed(sample, limit, delta)
    if least is None:
        return None
    count, loss = _up_to_each_score(sample)
    return least, _needed(sample, count, _gamma_quantiles(0.9, loss + 1.0), max(limit, LEAST), delta, NEAR)


def least_needed(sample: Sample, limit: float, delta: float) -> int | None:
    """Return the lower end of the range alone, which takes half the time."""
    limit = max(limit, LEAST)
    if fewest(limit, delta) > FURTHEST * sample.n:
        return None
    count, loss = _up_to_each_score(sample)
    few = np.where(loss > 0.0, _gamma_quantiles(0.1, np.maximum(loss, 1.0)), 0.0)
    return _needed(sample, count, few, limit, delta)


def _up_to_each_score(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Return the rows, and the errors among them, from the highest score down to each."""
    blocks = sample.blocks
    scored = blocks.score > -np.inf
    return np.cumsum(blocks.count)[scored], np.cumsum(blocks.loss)[scored]


def _gamma_quantiles(p: float, shape: FloatArray) -> FloatArray:
    """Return the quantile of each gamma distribution; many rows share their number of errors."""
    from scipy.special import gammaincinv

    distinct, place = np.unique(shape, return_inverse=True)
    return np.asarray(gammaincinv(distinct, p))[place]


def least_risk(sample: Sample, limit: float, delta: float) -> tuple[int, float] | None:
    """Return the least mean loss of any threshold that accepts as many rows as a flawless certificate takes, and these.

    None where so many were never accepted.
    """
    least = fewest(max(limit, LEAST), delta)
    blocks = sample.blocks
    count, loss = np.cumsum(blocks.count), np.cumsum(blocks.loss)
    enough = (blocks.score > -np.inf) & (count >= least)
    return (least, float((loss[enough] / count[enough]).min())) if enough.any() else None


def plan_of(needed: int | None, least: tuple[int, float] | None) -> dict[str, Any]:
    """Return what the verdict says of more rows: how many at least, and the least risk of so many accepted rows."""
    enough, lowest = least or (0, 0.0)
    return {"needed": needed, "enough": enough, "lowest": lowest}


def _needed(
    sample: Sample, count: FloatArray, loss: FloatArray, limit: float, delta: float, furthest: float = FURTHEST
) -> int | None:
    """Return how many rows a certificate takes, by repeating a table of rows and errors up to each score."""
    if not (loss < limit * count).any():
        return None

    def passes(times: float) -> bool:
        rows, errors = times * count, times * loss
        if sample.blocks.largest_tie == 1:  # no ties now, none later
            every = np.arange(1.0, rows[-1] + 0.5)
            rows, errors = every, np.interp(every, np.append(0.0, rows), np.append(0.0, errors))
        tests = Tests(np.floor(rows + 0.5), np.floor(errors + 0.5), limit, "binomial")
        return walk(tests, round(times * sample.n), delta) >= 0

    high = max(fewest(limit, delta) / sample.n, 1e-3)
    while not passes(high):
        high *= 2.0
        if high > furthest or high * sample.n > MOST:
            return None
    low = high / 2.0
    while high - low > 0.02 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if passes(middle) else (middle, high)
    return int(np.ceil(high * sample.n))
