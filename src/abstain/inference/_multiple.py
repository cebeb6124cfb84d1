"""Many tests at once: Holm's step-down, and the maximum of correlated statistics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from abstain._checks import is_empty, refuse, vector
from abstain._typing import ArrayLike, FloatArray, IntArray

__all__ = ["holm"]

#: Normal draws behind max-t: a critical value is then exact to about 0.005, a p-value near 5 % to 0.001.
DRAWS = 50_000


def holm(p_values: ArrayLike) -> FloatArray:
    r"""Return p-values adjusted by Holm's step-down method: valid whatever the dependence between the tests.

    .. math:: \tilde p_{(j)} = \max_{i \le j}\ \min\{1, (m - i + 1)\, p_{(i)}\}

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)

    Returns
    -------
    ndarray of shape (n_tests,)
        In the given order, in [0, 1]; reject where it is at most alpha. Equal p-values stay equal.

    Raises
    ------
    ValueError
        A p-value outside [0, 1].

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> import abstain
    >>> abstain.inference.holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.empty(0) if is_empty(p_values) else vector(p_values, "p_values", np, None)
    refuse(~((p >= 0.0) & (p <= 1.0)), p, "p_values", "is outside [0, 1]", "leave out tests that have none", np)
    order = np.argsort(p, kind="stable")
    raised = np.minimum(p[order] * np.arange(p.size, 0, -1), 1.0)
    result = np.empty_like(p)
    result[order] = np.maximum.accumulate(raised)
    return result


class MaxT(NamedTuple):
    """Adjusted p-values, and the p-value of a single test at which the largest of all reaches the level."""

    adjusted: FloatArray
    single: float


def max_t(
    p_values: FloatArray, covariance: FloatArray, pairs: IntArray, level: float, rng: np.random.Generator
) -> MaxT:
    """Adjust by the distribution of the largest of all standardised differences (single step).

    ``covariance`` of the K estimates, ``pairs`` of shape (n_tests, 2). Each test enters by the normal quantile of its
    own p-value, so tests with few degrees of freedom may stand beside others. Bonferroni's value is an upper
    bound, and takes over where the draws run out.
    """
    from scipy.special import ndtr, ndtri

    statistic = -ndtri(np.clip(p_values, 1e-300, 1.0) / 2.0)
    draws = largest(covariance, pairs, rng)
    if draws is None:
        return MaxT(p_values, 1.0 - level)
    exceeding = (1.0 + draws.size - np.searchsorted(draws, statistic, side="left")) / (draws.size + 1.0)
    bonferroni = np.minimum(p_values * len(pairs), 1.0)
    critical = float(np.quantile(draws, level))
    return MaxT(np.maximum(np.minimum(exceeding, bonferroni), p_values), 2.0 * float(ndtr(-critical)))


def largest(covariance: FloatArray, pairs: IntArray, rng: np.random.Generator) -> FloatArray | None:
    """Return sorted draws of the largest absolute standardised difference; None if at most one of them varies."""
    i, j = pairs.T
    spread = np.sqrt(np.maximum(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j], 0.0))
    varies = spread > 1e-12 * np.sqrt(max(float(np.max(np.diag(covariance))), np.finfo(float).tiny))
    if np.count_nonzero(varies) < 2:
        return None
    i, j, spread = i[varies], j[varies], spread[varies]
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    result = np.empty(DRAWS)
    step = max(1, 4_000_000 // i.size)
    for start in range(0, DRAWS, step):
        part = rng.standard_normal((min(step, DRAWS - start), len(root))) @ root.T
        result[start : start + len(part)] = np.max(np.abs(part[:, i] - part[:, j]) / spread, axis=1)
    result.sort()
    return result
