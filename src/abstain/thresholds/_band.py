r"""An upper band for the selective risk that holds at all thresholds at once, so that any may be picked afterwards.

The scores of the pilot rows fix J thresholds :math:`\tau_1 > \dots > \tau_J`. On the other rows each has the exact
upper bound :math:`U_j` of its risk at level :math:`\delta/(2J)` (Clopper-Pearson for a 0/1 loss, else the
Hoeffding-Bentkus test turned into a limit), and each step the exact lower bound :math:`\rho_j` of
:math:`C(\tau_{j-1})/C(\tau_j)` at the same level. Accepted loss and coverage only grow as the threshold falls, hence

.. math:: R(\tau) = \frac{G(\tau)}{C(\tau)} \le \frac{G(\tau_j)}{C(\tau_{j-1})} \le \frac{U_j}{\rho_j}
          \quad\text{for } \tau_j \le \tau \le \tau_{j-1}

and all of this holds together with probability :math:`1 - \delta`, by the union bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstain._checks import inside, vector
from abstain._typing import ArrayLike, FloatArray, IntArray, NanPolicy
from abstain.inference import clopper_pearson
from abstain.thresholds._p_values import hoeffding_bentkus
from abstain.thresholds._sample import draw, largest_loss, read

#: Coverages at which the band is pinned; chosen in advance.
COVERAGES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)


@dataclass(frozen=True, eq=False)
class CertifiedBand:
    """Upper limits of the selective risk that hold together with probability 1 - delta.

    Parameters
    ----------
    threshold : ndarray
        The thresholds at which the band is pinned, descending.
    upper : ndarray
        Upper limit at each of them.
    between : ndarray
        Upper limit at every threshold from this one up to the one before.
    largest : float
        Largest possible loss: the limit above the first threshold and below the last.
    delta : float
    n, n_pilot : int
        Rows, and those of them that only fixed the thresholds.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.arange(1000.0)
    >>> band = abstain.thresholds.certified_band(score < 100, score, delta=0.05)
    >>> bool(band.upper_at([500.0])[0] < 0.05), band.upper_at([2000.0])
    (True, array([1.]))
    """

    threshold: FloatArray
    upper: FloatArray
    between: FloatArray
    largest: float
    delta: float
    n: int
    n_pilot: int

    def upper_at(self, threshold: ArrayLike) -> FloatArray:
        """Return the upper limit of the selective risk at any thresholds, chosen in any way."""
        wanted = vector(threshold, "threshold", np, None)
        j = np.searchsorted(-self.threshold, -wanted, side="left")
        pinned = np.isin(wanted, self.threshold)
        upper, between = np.append(self.upper, self.largest), np.append(self.between, self.largest)
        return np.asarray(np.where(pinned, upper[j], between[j]))


def certified_band(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    delta: float = 0.05,
    max_loss: float | None = None,
    nan_policy: NanPolicy = "raise",
    rng: int | np.random.Generator = 0,
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
        Largest possible loss; needed if the loss is not 0/1.
    nan_policy : {"raise", "reject", "drop"}
        A NaN score: an error; never accepted, stays in n; left out.
    rng : int or numpy.random.Generator
        Draws the pilot rows.

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
    >>> abstain.thresholds.certified_band(score < 100, score, delta=0.05).n_pilot
    32
    """
    delta = inside(delta, "delta", 0.05)
    sample = read(loss, confidence, None, nan_policy)
    largest = largest_loss(sample, max_loss)
    pilot, _ = draw(sample, rng)
    grid = _grid(sample.score[pilot])
    rest = sample.rows(~pilot)
    count = np.searchsorted(-rest.score, -grid, side="right")
    total = np.concatenate([[0.0], np.cumsum(rest.loss / largest)])[count]
    each = delta / (2 * max(1, len(grid)))
    upper = largest * _limits(count, total, each, sample.binary and largest == 1.0)
    between = np.full(len(grid), largest)
    for j in range(1, len(grid)):
        share = clopper_pearson(int(count[j - 1]), int(count[j]), 1.0 - each, side="lower")[0] if count[j] else 0.0
        between[j] = min(largest, upper[j] / share) if share > 0.0 else largest
    return CertifiedBand(grid, upper, between, largest, delta, sample.n, int(pilot.sum()))


def _grid(pilot: FloatArray) -> FloatArray:
    """Return the thresholds at which the pilot rows have about the pinned coverages, descending."""
    scores = np.sort(pilot)[::-1]
    ranks = np.clip(np.ceil(np.array(COVERAGES) * (len(scores) + 1)).astype(int) - 1, 0, len(scores) - 1)
    grid = np.unique(scores[ranks])[::-1]
    return np.asarray(grid[grid > -np.inf])


def _limits(count: IntArray, total: FloatArray, level: float, binary: bool) -> FloatArray:
    """Return the upper limit of each mean of values in [0, 1], from their number and sum."""
    if binary:
        ends = [clopper_pearson(int(k), int(n), 1.0 - level, side="upper")[1] if n else 1.0
                for k, n in zip(total, count, strict=True)]  # fmt: skip
        return np.array(ends)
    low, high = total / np.maximum(count, 1), np.ones(len(count))
    for _ in range(50):  # the largest mean that the test does not reject
        middle = 0.5 * (low + high)
        rejected = hoeffding_bentkus(count.astype(np.float64), total, middle) <= level
        low, high = np.where(rejected, low, middle), np.where(rejected, middle, high)
    return high
