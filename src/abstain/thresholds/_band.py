r"""An upper band for the selective risk that holds at all thresholds at once, so that any may be picked afterwards.

Pins are ranks :math:`m_1 < \dots < m_J` that depend on n only. Pin j is the set of all scores above
:math:`s_j`, the score of the row of rank :math:`m_j + 1`. Given that score the k rows above it are an independent
sample of all scores above it, so that each pin has an exact upper bound :math:`U_j` of its risk at level
:math:`\delta/(2J)` (Clopper-Pearson for a 0/1 loss, else the Hoeffding-Bentkus test turned into a limit). With ties
split by randomization the share of scores above rank :math:`m + 1` is a uniform order statistic, hence
:math:`C(s_{j-1}) / C(s_j)`, ties at :math:`s_{j-1}` included, is at least :math:`\rho_j`, the quantile of
:math:`\mathrm{Beta}(m_{j-1} + 1, m_j - m_{j-1})` at the same level. Accepted loss and coverage only grow as the
threshold falls:

.. math:: R(\tau) = \frac{G(\tau)}{C(\tau)} \le \frac{U_j}{\rho_j} \quad\text{for } s_j < \tau \le s_{j-1}

and all of this holds together with probability :math:`1 - \delta`, by the union bound. No row is set aside, nothing is
randomized, and neither ties nor the order of the rows matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from abstain._checks import failure_probability, vector
from abstain._result import among, percent
from abstain._typing import ArrayLike, FloatArray, IntArray, NanPolicy
from abstain.thresholds._evidence import hoeffding_bentkus
from abstain.thresholds._reach import Reach
from abstain.thresholds._sample import Sample, largest_loss, read

#: Coverages at which the band is pinned; chosen in advance.
COVERAGES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
#: Ranks of which the answer chooses: this many, in geometric steps, from this one on.
PINS, HIGHEST = 12, 20
#: The answer names the largest coverage at these multiples of the smallest risk.
MULTIPLES = (1.5, 2.0, 4.0)
#: A threshold down here accepts all that has a score.
LOWEST = -1e300


@dataclass(frozen=True, eq=False)
class CertifiedBand:
    """Upper limits of the selective risk that hold together with probability 1 - delta.

    Parameters
    ----------
    threshold : ndarray
        The thresholds at which the band is pinned, descending: each accepts all scores above that of some row.
    coverage : ndarray
        Share of the calibration rows that each accepts.
    upper : ndarray
        Upper limit of the risk at each of them.
    between : ndarray
        Upper limit at every threshold from this one up to the one before.
    largest : float
        Largest possible loss: the limit above the first threshold and below the last.
    delta : float
    n : int
        Calibration rows.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.arange(1000.0)
    >>> band = abstain.thresholds.certified_band(score < 100, score, delta=0.05)
    >>> bool(band.upper_at([500.0])[0] < 0.05), band.upper_at([2000.0])
    (True, array([1.]))
    """

    threshold: FloatArray
    coverage: FloatArray
    upper: FloatArray
    between: FloatArray
    largest: float
    delta: float
    n: int

    def upper_at(self, threshold: ArrayLike) -> FloatArray:
        """Return the upper limit of the selective risk at any thresholds, chosen in any way."""
        wanted = vector(threshold, "threshold", np, None)
        j = np.searchsorted(-self.threshold, -wanted, side="left")
        pinned = np.isin(wanted, self.threshold)
        upper, between = np.append(self.upper, self.largest), np.append(self.between, self.largest)
        return np.asarray(np.where(pinned, upper[j], between[j]))

    def reach(self, threshold: float, *, risk: float) -> Reach:
        """Return how far a limit of the risk reaches at any threshold, chosen in any way; see :class:`Reach`.

        The coverage is that of the calibration rows at the last pin above the threshold, from where it may only grow.
        """
        upper = float(self.upper_at([threshold])[0])
        above = self.coverage[self.threshold >= threshold]
        return Reach(risk / self.largest, upper / self.largest, float(above.max(initial=0.0)))


def certified_band(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    delta: float = 0.05,
    max_loss: float | None = None,
    nan_policy: NanPolicy = "raise",
) -> CertifiedBand:
    r"""Return an upper limit of the selective risk at every threshold at once, valid at every sample size.

    .. math:: P\{R(\tau) \le U(\tau) \text{ for all } \tau\} \ge 1 - \delta

    Parameters
    ----------
    loss, confidence : array-like of shape (n_samples,)
        Calibration rows.
    delta : float in (0, 1)
        Probability that the band fails anywhere.
    max_loss : float, optional
        Largest possible loss; needed if the loss is not 0/1. Limits are then those of graded losses, even where these
        rows happen to hold 0 and 1 alone.
    nan_policy : {"raise", "reject", "drop"}
        A NaN score: an error; never accepted, stays in n; left out.

    Returns
    -------
    CertifiedBand

    Raises
    ------
    ValueError, TypeError
        Bad columns; ``max_loss`` missing or below what occurs.

    See Also
    --------
    abstain.inference.risk_band : two-sided bands for the plot of a curve; those of the same validity (DKW) are wider.

    References
    ----------
    Clopper & Pearson (1934) and Bates et al. (2021) with the union bound; the step between thresholds is ours.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.arange(1000.0)
    >>> abstain.thresholds.certified_band(score < 100, score, delta=0.05).upper.round(3)[::4]
    array([0.119, 0.021, 0.009, 0.077])
    """
    delta = failure_probability(delta)
    sample = read(loss, confidence, None, nan_policy)
    largest = largest_loss(sample, max_loss)
    return band_of(sample, delta, largest, sample.binary and max_loss is None)


def band_of(sample: Sample, delta: float, largest: float, exact: bool) -> CertifiedBand:
    """Return the band of a sample; ``exact``: its losses are 0/1 by what they are, not by chance."""
    from scipy.special import betaincinv

    n = sample.n
    rank = np.unique([max(1, min(n - 1, ceil(each * n))) for each in COVERAGES] + [n]) if n > 1 else np.array([n])
    each = delta / (2 * len(rank))
    threshold, count, upper = pins(sample, rank, each, largest, exact)
    share = betaincinv(rank[:-1] + 1.0, np.diff(rank), each)
    between = np.append(largest, np.minimum(largest, upper[1:] / share))
    first = np.unique(-threshold, return_index=True)[1]  # ranks that end in one tie are one pin
    return CertifiedBand(threshold[first], count[first] / n, upper[first], between[first], largest, delta, n)


def pins(
    sample: Sample, rank: IntArray, level: float, largest: float, exact: bool
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return thresholds above the rows after these ranks, the rows they accept, and their risks' limits at a level.

    The last one of rank n, if there is, accepts all that have a score.
    """
    edge = np.append(sample.score, -np.inf)[sample.entry(rank)]  # a row that is left out, with all that tie with it
    above = np.searchsorted(-sample.score, -edge, side="left")
    total, count = sample.sums(sample.loss / largest, above), sample.rows_of(above)
    return np.nextafter(edge, np.inf), count, largest * _limits(count, total, level, exact)


def _limits(count: IntArray, total: FloatArray, level: float, binary: bool) -> FloatArray:
    """Return the upper limit of each mean of values in [0, 1], from their number and sum."""
    if binary:
        from scipy.special import betaincinv

        ends = betaincinv(total + 1.0, np.maximum(count - total, 1.0), 1.0 - level)  # Clopper and Pearson's upper end
        return np.asarray(np.where(total < count, ends, 1.0))
    low, high = total / np.maximum(count, 1), np.ones(len(count))
    for _ in range(50):  # the largest mean that the test does not reject
        middle = 0.5 * (low + high)
        rejected = hoeffding_bentkus(count.astype(np.float64), total, middle) <= level
        low, high = np.where(rejected, low, middle), np.where(rejected, middle, high)
    return high


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

    Each of 12 ranks, fixed by n, has an exact upper limit at level :math:`\delta/12`.
    """
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


def errs(delta: float) -> dict[str, float]:
    """Return with what probability a certificate errs, and with what one of two at least.

    The second is looked at because the first did not pass, so whoever takes it relies on both.
    """
    return {"delta": delta, "both": min(1.0, 2.0 * delta)}


def each_errs(delta: float) -> str:
    """Return the same in words."""
    return f"each errs with {percent(delta)}; together {percent(errs(delta)['both'])}"
