r"""An upper band for the selective risk that holds at all thresholds at once, so that any may be picked afterwards.

The scores of the pilot rows fix J thresholds :math:`\tau_1 > \dots > \tau_J`. On the other rows each has the exact
upper bound :math:`U_j` of its risk at level :math:`\delta/(2J)`, and each step the exact lower bound :math:`\rho_j` of
:math:`C(\tau_{j-1})/C(\tau_j)` at the same level. Accepted loss and coverage only grow as the threshold falls, hence

.. math:: R(\tau) = \frac{G(\tau)}{C(\tau)} \le \frac{G(\tau_j)}{C(\tau_{j-1})} \le \frac{U_j}{\rho_j}
          \quad\text{for } \tau_j \le \tau \le \tau_{j-1}

and all of this holds together with probability :math:`1 - \delta`, by the union bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recuse._checks import vector
from recuse._typing import ArrayLike, FloatArray, NanPolicy
from recuse.inference import clopper_pearson
from recuse.thresholds._sample import pilot_rows, read

#: Coverages at which the band is pinned; chosen in advance.
COVERAGES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)


@dataclass(frozen=True, eq=False)
class RiskBand:
    """Upper limits of the selective risk that hold together with probability 1 - delta.

    Parameters
    ----------
    threshold : ndarray
        The thresholds at which the band is pinned, descending.
    upper : ndarray
        Upper limit at each of them.
    between : ndarray
        Upper limit at every threshold from this one up to the one before; 1 above the first.
    delta : float
    n, n_pilot : int
        Rows, and those of them that only fixed the thresholds.

    Examples
    --------
    >>> import numpy as np, recuse
    >>> score = np.arange(1000.0)
    >>> band = recuse.thresholds.risk_band(score < 100, score, delta=0.05)
    >>> bool(band.upper_at([500.0])[0] < 0.05), band.upper_at([2000.0])
    (True, array([1.]))
    """

    threshold: FloatArray
    upper: FloatArray
    between: FloatArray
    delta: float
    n: int
    n_pilot: int

    def upper_at(self, threshold: ArrayLike) -> FloatArray:
        """Return the upper limit of the selective risk at any thresholds, chosen in any way."""
        wanted = vector(threshold, "threshold", np, None)
        j = np.searchsorted(-self.threshold, -wanted, side="left")
        inside = np.append(self.between, 1.0)[j]
        exact = np.isin(wanted, self.threshold)
        return np.asarray(np.where(exact, np.append(self.upper, 1.0)[j], inside))


def risk_band(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    delta: float = 0.05,
    nan_policy: NanPolicy = "raise",
    rng: int | np.random.Generator = 0,
) -> RiskBand:
    """Return the simultaneous upper band of the selective risk for a 0/1 loss.

    Parameters
    ----------
    loss, confidence : array-like of shape (n_samples,)
        Calibration rows, 0/1 loss.
    delta : float in (0, 1)
        Probability that the band fails anywhere.
    nan_policy : {"raise", "reject", "drop"}
    rng : int or numpy.random.Generator
        Draws the pilot rows.

    Returns
    -------
    RiskBand

    Raises
    ------
    ValueError, TypeError
        Bad columns; a loss that is not 0/1.

    References
    ----------
    Clopper & Pearson (1934) with the union bound; the step between thresholds is ours.

    Examples
    --------
    >>> import numpy as np, recuse
    >>> score = np.arange(1000.0)
    >>> recuse.thresholds.risk_band(score < 100, score, delta=0.05).n_pilot
    32
    """
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must lie inside (0, 1), got {delta!r}; 0.05 is usual")
    sample = read(loss, confidence, None, nan_policy)
    if not sample.binary:
        raise ValueError("risk_band needs a 0/1 loss; certify a real loss with choose_threshold(risk=, delta=)")
    pilot = pilot_rows(sample.n, np.random.default_rng(rng))
    scores = np.sort(sample.score[pilot])[::-1]
    ranks = np.clip(np.ceil(np.array(COVERAGES) * (len(scores) + 1)).astype(int) - 1, 0, len(scores) - 1)
    grid = np.unique(scores[ranks])[::-1]
    grid = grid[grid > -np.inf]
    rest = sample.rows(~pilot)
    count = np.searchsorted(-rest.score, -grid, side="right")
    errors = np.concatenate([[0.0], np.cumsum(rest.loss)])[count]
    level = 1.0 - delta / (2 * max(1, len(grid)))
    upper = np.array([clopper_pearson(int(k), int(n), level, side="upper")[1] if n else 1.0
                      for k, n in zip(errors, count, strict=True)])  # fmt: skip
    between = np.ones(len(grid))
    for j in range(1, len(grid)):
        if count[j]:
            share = clopper_pearson(int(count[j - 1]), int(count[j]), level, side="lower")[0]
            between[j] = min(1.0, upper[j] / share) if share > 0.0 else 1.0
    return RiskBand(grid, upper, between, float(delta), sample.n, int(pilot.sum()))
