"""How many rows a certificate takes: a range, because the rows that say so are a sample themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstain._checks import FRACTION, failure_probability, fraction, generator, positive
from abstain._typing import ArrayLike, FloatArray, IntArray, NanPolicy
from abstain.thresholds._certify import LEAST, Tests, from_ranks
from abstain.thresholds._evidence import fewest
from abstain.thresholds._sample import Sample, read

#: A pilot must show so many errors; below, its range says nothing.
ERRORS = 5
#: Populations that agree with the pilot; the sizes that are tried grow by this factor, up to so many rows.
POPULATIONS, GROWTH, MOST_PLANNED = 100, 1.15, 60_000
#: Calibration rows say nothing of more rows than this many times their number, nor of more than so many.
FURTHEST, MOST = 1024, 2e6
#: Beyond this many times their number the upper end is left open.
NEAR = 64


@dataclass(frozen=True)
class CertificatePlan:
    """How many calibration rows a certificate will take, as far as a pilot shows.

    Parameters
    ----------
    n : int or None
        As many are enough in eight of ten cases, which leans to too many; None: no number that was tried was.
    low, high : int or None
        As many are enough in one of ten, and in nine of ten cases.
    risk, delta, coverage : float
        What is to be certified, and the least coverage.
    n_pilot, n_errors : int
        Rows and errors of the pilot.

    Examples
    --------
    >>> from abstain.thresholds import CertificatePlan
    >>> CertificatePlan(400, 150, 700, 0.05, 0.05, 0.5, 200, 20).n
    400
    """

    n: int | None
    low: int | None
    high: int | None
    risk: float
    delta: float
    coverage: float
    n_pilot: int
    n_errors: int


def plan_certificate(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    risk: float,
    delta: float,
    coverage: float = 0.0,
    nan_policy: NanPolicy = "raise",
    rng: int | np.random.Generator = 0,
) -> CertificatePlan:
    """Plan the calibration rows for ``choose_threshold(risk=, delta=)`` from a pilot with a 0/1 loss.

    Parameters
    ----------
    loss, confidence : array-like of shape (n_samples,)
        Pilot rows; they must not be calibration rows later.
    risk, delta : float
        What is to be certified.
    coverage : float in [0, 1)
        The least coverage that is worth a certificate; default: any.
    nan_policy : {"raise", "reject", "drop"}
        A NaN score: an error; never accepted, stays in n; left out.
    rng : int or numpy.random.Generator
        Draws populations and samples.

    Returns
    -------
    CertificatePlan

    Raises
    ------
    ValueError
        A loss that is not 0/1; fewer than 5 errors in the pilot, which then says nothing.

    Notes
    -----
    From 100 populations that agree with the pilot (Bayesian bootstrap of its rows with one more error at a random one)
    a sample grows until it is certified; n, low and high are quantiles of its sizes. A plan is no guarantee.

    References
    ----------
    Rubin (1981) for the Bayesian bootstrap.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> ease = rng.random(300)
    >>> wrong = rng.random(300) > ease**0.1
    >>> plan = abstain.thresholds.plan_certificate(wrong, ease, risk=0.1, delta=0.05, coverage=0.5)
    >>> plan.low < plan.n <= plan.high
    True
    """
    sample = read(loss, confidence, None, nan_policy)
    risk, delta = positive(risk, "risk", FRACTION), failure_probability(delta)
    least = fraction(coverage, "coverage", below_one=True)
    errors = int(sample.loss.sum())
    if not sample.binary or risk >= 1.0:
        raise ValueError("a plan needs a 0/1 loss and a risk below 1; for other losses grow the sample by simulation")
    if errors < ERRORS:
        least_rows = fewest(risk, delta)
        raise ValueError(
            f"the pilot holds {errors} errors; below {ERRORS} it cannot say how many rows (at least {least_rows})"
        )
    draws = generator(rng)
    sizes = [_needed(sample, risk, delta, least, draws) for _ in range(POPULATIONS)]
    ends = np.quantile(sizes, (0.1, 0.8, 0.9), method="higher")
    low, n, high = (int(size) if np.isfinite(size) else None for size in ends)
    return CertificatePlan(n, low, high, risk, delta, least, sample.n, errors)


def _needed(sample: Sample, limit: float, delta: float, least: float, draws: np.random.Generator) -> float:
    """Return the size at which a growing sample of one population that agrees with the pilot is certified."""
    share = np.cumsum(draws.dirichlet(np.ones(sample.n + 1)))
    unseen = draws.integers(sample.n)
    loss, score = np.append(sample.loss, 1.0), np.append(sample.score, sample.score[unseen])
    row: IntArray = np.zeros(0, dtype=np.int64)
    place: FloatArray = np.zeros(0)
    size = float(fewest(limit, delta))
    while size <= MOST_PLANNED:
        more = np.minimum(np.searchsorted(share, draws.random(int(np.ceil(size)) - len(row))), sample.n)
        row, place = np.append(row, more), np.append(place, draws.random(len(more)))
        if _coverage(score[row], loss[row], place if sample.blocks.largest_tie == 1 else None, limit, delta) > least:
            return float(len(row))
        size *= GROWTH
    return np.inf


def _coverage(score: FloatArray, loss: FloatArray, place: FloatArray | None, limit: float, delta: float) -> float:
    """Return the certified coverage of rows; ``place`` orders those that tie only because a row was drawn twice."""
    order = np.argsort(-score) if place is None else np.lexsort((place, -score))
    ranked, errors = score[order], np.cumsum(loss[order])
    ends = np.append(ranked[1:] != ranked[:-1], True) if place is None else np.ones(len(ranked), dtype=bool)
    count = np.flatnonzero(ends & (ranked > -np.inf)) + 1
    found = from_ranks(Tests(count.astype(np.float64), errors[count - 1], limit), len(ranked), delta)
    return float(count[found]) / len(ranked) if found >= 0 else 0.0


def rows_needed(sample: Sample, limit: float, delta: float) -> tuple[int, int | None] | None:
    """Return a range of how many rows like these a certificate takes; None if no number would do.

    A plan, not a guarantee. The k errors above each threshold are taken for as few, and with an unseen one for as many,
    as the population has there in eight of ten cases: gamma quantiles. The upper end is None if no number near
    would do.
    """
    least = least_needed(sample, limit, delta)
    if least is None:
        return None
    count, loss = _up_to_each_score(sample)
    many = _gamma_quantiles(0.9, loss + 1.0)
    return least, _size_of_repeated(sample, count, many, max(limit, LEAST), delta, NEAR)


def least_needed(sample: Sample, limit: float, delta: float) -> int | None:
    """Return the lower end of the range alone, which takes half the time."""
    limit = max(limit, LEAST)
    if fewest(limit, delta) > FURTHEST * sample.n:
        return None
    count, loss = _up_to_each_score(sample)
    few = np.where(loss > 0.0, _gamma_quantiles(0.1, np.maximum(loss, 1.0)), 0.0)
    return _size_of_repeated(sample, count, few, limit, delta)


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
    count, loss = _up_to_each_score(sample)
    enough = count >= least
    return (least, float((loss[enough] / count[enough]).min())) if enough.any() else None


def _size_of_repeated(
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
        tests = Tests(np.floor(rows + 0.5), np.floor(errors + 0.5), limit)
        return from_ranks(tests, round(times * sample.n), delta) >= 0

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
