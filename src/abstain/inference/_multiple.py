"""Many tests at once: Holm's step-down, the maximum of correlated statistics, sets of ranks, and letters."""

from __future__ import annotations

from itertools import combinations
from string import ascii_letters
from typing import TYPE_CHECKING

import numpy as np

from abstain._checks import is_empty, plain, refuse, vector
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from abstain.inference._paired import Paired

__all__ = ["holm", "letter_groups"]

#: Normal draws behind max-t: a critical value is then exact to about 0.005, a p-value near 5 % to 0.001.
DRAWS = 50_000
#: Normal draws behind sets of ranks, at most and at least, and numbers that are held at once.
RANK_DRAWS, FEWEST, MOST = 20_000, 2000, 20_000_000


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


def max_t(
    p_values: FloatArray, covariance: FloatArray, pairs: IntArray, level: float, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return p-values adjusted by the distribution of the largest of all standardised differences (single step).

    Also the p-value of a single test at which the largest of all reaches the level. ``covariance`` of the K estimates,
    ``pairs`` of shape (n_tests, 2). Each test enters by the normal quantile of its own p-value, so tests with few
    degrees of freedom may be among others. Bonferroni's value is an upper bound, and is taken where the draws run out.
    """
    from scipy.special import ndtr, ndtri

    spread, varies = _spreads(covariance, pairs)
    if np.count_nonzero(varies) < 2:
        return p_values, 1.0 - level
    (i, j), spread = pairs[varies].T, spread[varies]
    root, draws = _root(covariance), np.empty(DRAWS)
    step = max(1, 4_000_000 // i.size)
    for start in range(0, DRAWS, step):
        part = rng.standard_normal((min(step, DRAWS - start), len(root))) @ root.T
        draws[start : start + len(part)] = np.max(np.abs(part[:, i] - part[:, j]) / spread, axis=1)
    draws.sort()
    statistic = -ndtri(np.clip(p_values, 1e-300, 1.0) / 2.0)
    exceeding = (1.0 + DRAWS - np.searchsorted(draws, statistic, side="left")) / (DRAWS + 1.0)
    bonferroni = np.minimum(p_values * len(pairs), 1.0)
    critical = float(np.quantile(draws, level))
    return np.maximum(np.minimum(exceeding, bonferroni), p_values), 2.0 * float(ndtr(-critical))


def _spreads(covariance: FloatArray, pairs: IntArray) -> tuple[FloatArray, BoolArray]:
    """Return the standard deviation of each difference, and whether it varies at all."""
    i, j = pairs.T
    spread = np.sqrt(np.maximum(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j], 0.0))
    return spread, spread > 1e-12 * np.sqrt(max(float(np.max(np.diag(covariance))), np.finfo(float).tiny))


def _root(covariance: FloatArray) -> FloatArray:
    """Return a matrix whose product with its transpose is the covariance."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


# ---------------------------------------------------------------------- sets of ranks


def rank_sets(tests: Paired, level: float, together: bool, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    r"""Return the smallest and the largest rank of each score, in the order of the names; 1 is the best.

    All pairs are tested at once, by the largest of their standardised differences and in steps: what is rejected
    leaves, and the others are tested among themselves. If no true null is rejected and no sign is wrong, which has the
    probability ``level``, each significant step of a pair is true. The rank of score j among J is then

    .. math:: 1 + \#\{i \text{ significantly better than } j\} \le \text{rank}_j
              \le J - \#\{i \text{ significantly worse than } j\},

    for all j together. Scores that are nearly equal have wide sets, as they must. (Of equal scores the rank is any of
    those that they share.)

    Sources: Mogstad, Romano, Shaikh & Wilhelm (2024); steps: Romano & Wolf (2005).
    """
    from scipy.special import ndtri

    estimates, pairs = tests.estimates, tests.pairs
    p, difference = (
        np.array([getattr(each, name) for each in tests.differences]) for name in ("p_value", "difference")
    )
    normal = np.sign(difference) * -ndtri(np.maximum(p, 1e-300) / 2.0)  # so that each has degrees of freedom of its own
    statistic = np.where(np.isnan(p), 0.0, normal)
    rejected = _stepdown(statistic, estimates.covariance(together), pairs, level, rng)
    sign = 1.0 if estimates.metric.direction == "higher" else -1.0
    n = len(estimates.names)
    better = np.zeros((n, n), dtype=np.bool_)
    for (i, j), value in zip(pairs[rejected].tolist(), statistic[rejected].tolist(), strict=True):
        first, second = (i, j) if sign * value > 0.0 else (j, i)
        better[first, second] = True
    return 1 + better.sum(axis=0), n - better.sum(axis=1)


def _stepdown(
    statistic: FloatArray, covariance: FloatArray, pairs: IntArray, level: float, rng: np.random.Generator
) -> BoolArray:
    """Return which differences are rejected, by the largest of those that are left."""
    from scipy.special import ndtri

    spread, varies = _spreads(covariance, pairs)
    alone = ndtri(0.5 + 0.5 * level)  # no critical value of several is below that of one
    size, rejected, draws = np.abs(statistic), np.zeros(len(pairs), dtype=np.bool_), None
    while (large := ~rejected & varies & (size > alone)).any():
        draws = draws or _Draws(covariance, int(np.clip(MOST // len(pairs), FEWEST, RANK_DRAWS)), rng)
        left = ~rejected & varies
        large[large] = draws.exceeded(size[large], pairs[left].tolist(), spread[left].tolist(), level)
        if not large.any():
            break
        rejected |= large
    return rejected


class _Draws:
    """Normal draws of this covariance: a tenth of them first, which is mostly enough to decide."""

    def __init__(self, covariance: FloatArray, n: int, rng: np.random.Generator) -> None:
        self.root, self.numbers, self.rng = _root(covariance), (FEWEST, n), rng
        self.drawn: list[FloatArray] = []

    def exceeded(self, size: FloatArray, pairs: list[list[int]], spread: list[float], level: float) -> BoolArray:
        """Return which sizes exceed the quantile of the largest standardised difference of a draw."""
        for k, n in enumerate(self.numbers):
            if len(self.drawn) == k:
                self.drawn.append(self.root @ self.rng.standard_normal((len(self.root), n)))
            drawn = self.drawn[k]
            largest = np.zeros(drawn.shape[1])
            for (i, j), scale in zip(pairs, spread, strict=True):  # one after the other, so that the cache holds it
                np.maximum(largest, np.abs(drawn[i] - drawn[j]) / scale, out=largest)
            away = 5.0 * np.sqrt(level * (1.0 - level) / n)  # standard errors of the level
            if k == 0 and level + away < 1.0:
                low, high = np.quantile(largest, (max(level - away, 0.0), level + away))
                if not ((low <= size) & (size <= high)).any():
                    break
        return np.asarray(size > np.quantile(largest, level))


# ---------------------------------------------------------------------- letters


def letter_groups(significant: ArrayLike) -> list[str]:
    r"""Return the letters of a compact letter display, by insert-and-absorb.

    Two entries share a letter if, and only if, their difference is not significant. Start with one group of all;
    for each significant pair split every group that holds both; drop a group that lies inside another one, and
    at last those whose pairs all share other groups.

    Parameters
    ----------
    significant : array-like of shape (k, k), bool
        Symmetric; whether two entries differ significantly. Entries in the order in which letters are handed out,
        mostly best first.

    Returns
    -------
    list of str
        One string of letters per entry, "a" first; a to z, A to Z, then "(53)" and so on.

    Raises
    ------
    ValueError
        Not a symmetric matrix, or an entry that differs from itself.

    Notes
    -----
    Absence of a significant difference is not evidence of equality: a shared letter means "not distinguished".

    References
    ----------
    Piepho (2004), Journal of Computational and Graphical Statistics 13: insert and absorb, and its sweeping.

    Examples
    --------
    The first differs from the last, and the middle one from none:

    >>> import abstain
    >>> abstain.inference.letter_groups([[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    ['a', 'ab', 'b']
    """
    matrix = _checked(significant)
    members = range(len(matrix))
    groups = [frozenset(members)] if len(matrix) else []
    for i, j in combinations(members, 2):
        if matrix[i, j]:
            groups = _split(groups, i, j)
    groups = sorted(_swept(groups), key=sorted)
    names = [*ascii_letters, *(f"({k + 1})" for k in range(len(ascii_letters), len(groups)))]
    return ["".join(name for name, group in zip(names, groups, strict=False) if i in group) for i in members]


def _checked(significant: ArrayLike) -> BoolArray:
    matrix = plain(significant, "significant", "a symmetric matrix of truth values").astype(np.bool_)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"significant must be a symmetric matrix, got shape {matrix.shape}")
    astray = np.argwhere(matrix != matrix.T)
    if astray.size:
        i, j = astray[0]
        raise ValueError(f"significant must be symmetric, but [{i}, {j}] and [{j}, {i}] differ; set both")
    if np.diag(matrix).any():
        raise ValueError(f"significant[{int(np.argmax(np.diag(matrix)))}] differs from itself; the diagonal is False")
    return matrix


def _split(groups: list[frozenset[int]], i: int, j: int) -> list[frozenset[int]]:
    """Split every group that holds both, and absorb what then lies inside another group."""
    kept = [group for group in groups if not {i, j} <= group]
    parts = {group - {out} for group in groups if {i, j} <= group for out in (i, j)}
    parts = {part for part in parts if not any(part <= group for group in kept)}
    return kept + [part for part in parts if not any(part < other for other in parts)]


def _swept(groups: list[frozenset[int]]) -> list[frozenset[int]]:
    """Leave out groups, the smallest first, whose members and pairs all share other groups."""
    for group in sorted(groups, key=lambda group: (len(group), sorted(group))):
        others = [other for other in groups if other != group]
        pairs = list(combinations(sorted(group), 2)) or [(next(iter(group)),) * 2]
        if all(any(set(pair) <= other for other in others) for pair in pairs):
            groups = others
    return groups
