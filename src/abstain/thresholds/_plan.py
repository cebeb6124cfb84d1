"""How many rows a certificate takes, from a pilot: a range, because the pilot is a sample itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._checks import FRACTION, failure_probability, fraction, generator, positive
from abstain._typing import ArrayLike, NanPolicy
from abstain.thresholds._certify import Tests, walk
from abstain.thresholds._p_values import fewest
from abstain.thresholds._sample import Sample, read

#: A pilot must show so many errors; below, its range says nothing.
ERRORS = 5
#: Populations that agree with the pilot; the sizes that are tried grow by this factor, up to so many rows.
POPULATIONS, GROWTH, MOST = 100, 1.15, 60_000


@dataclass(frozen=True)
class CertificatePlan:
    """How many calibration rows a certificate will take, as far as a pilot can tell.

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
    a sample grows until it is certified; n, low and high are quantiles of its sizes. A plan is no promise.

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
        raise ValueError(
            f"the pilot of {sample.n} rows holds {errors} errors; below {ERRORS} it cannot say how many rows are needed"
            f" (at least {fewest(risk, delta)}, without an error): label more rows"
        )
    draws = generator(rng)
    sizes = [_needed(sample, risk, delta, least, draws) for _ in range(POPULATIONS)]
    low, n, high = (_whole(float(np.quantile(sizes, part, method="higher"))) for part in (0.1, 0.8, 0.9))
    return CertificatePlan(n, low, high, risk, delta, least, sample.n, errors)


def _whole(size: float) -> int | None:
    return int(size) if np.isfinite(size) else None


def _needed(sample: Sample, limit: float, delta: float, least: float, draws: np.random.Generator) -> float:
    """Return the size at which a growing sample of one population that agrees with the pilot is certified."""
    share = np.cumsum(draws.dirichlet(np.ones(sample.n + 1)))
    unseen = draws.integers(sample.n)
    loss, score = np.append(sample.loss, 1.0), np.append(sample.score, sample.score[unseen])
    row: Any = np.zeros(0, dtype=np.int64)
    place: Any = np.zeros(0)
    size = float(fewest(limit, delta))
    while size <= MOST:
        more = np.minimum(np.searchsorted(share, draws.random(int(np.ceil(size)) - len(row))), sample.n)
        row, place = np.append(row, more), np.append(place, draws.random(len(more)))
        if _coverage(score[row], loss[row], place if sample.blocks.largest_tie == 1 else None, limit, delta) > least:
            return float(len(row))
        size *= GROWTH
    return np.inf


def _coverage(score: Any, loss: Any, place: Any, limit: float, delta: float) -> float:
    """Return the certified coverage of rows; ``place`` orders those that tie only because a row was drawn twice."""
    order = np.argsort(-score) if place is None else np.lexsort((place, -score))
    ranked, errors = score[order], np.cumsum(loss[order])
    ends = np.append(ranked[1:] != ranked[:-1], True) if place is None else np.ones(len(ranked), dtype=bool)
    count = np.flatnonzero(ends & (ranked > -np.inf)) + 1
    found = walk(Tests(count.astype(np.float64), errors[count - 1], limit, "binomial"), len(ranked), delta)
    return float(count[found]) / len(ranked) if found >= 0 else 0.0
