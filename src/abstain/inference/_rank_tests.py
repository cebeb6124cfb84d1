"""Tests by ranks: two scores swapped within samples, and a published test over resamples with a caution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np

from abstain._checks import generator, matrix, one_of, whole
from abstain._typing import ArrayLike, FloatArray, IntArray
from abstain.blocks import TieBlocks
from abstain.inference._columns import Panel, as_metric, check_scored, evaluated, panel
from abstain.inference._replicates import run
from abstain.inference._resample import LANES, Counts
from abstain.inference._scans import Column
from abstain.metrics import Metric

__all__ = ["Permutation", "permutation_test", "wilcoxon_over_resamples"]

#: Permuted differences within this share of the observed one count as equal to it: sums round.
TOLERANCE = 1e-10
#: More swaps than this take days and change no digit.
MOST = 10_000_000
#: Random swaps between which a test may end.
BATCH = 256


class Permutation(NamedTuple):
    """Result of :func:`permutation_test`: ``difference`` (a minus b), ``p_value``, ``n_permutations``, ``exact``.

    Examples
    --------
    >>> import abstain
    >>> abstain.inference.permutation_test([1, 0, 0], [3, 2, 1], [1, 2, 3])
    Permutation(difference=0.22222222222222224, p_value=0.5, n_permutations=2, exact=True)
    """

    difference: float
    p_value: float
    n_permutations: int
    exact: bool


def permutation_test(
    loss: ArrayLike | tuple[ArrayLike, ArrayLike],
    score_a: ArrayLike,
    score_b: ArrayLike,
    metric: str | Metric = "augrc",
    *,
    n_permutations: int = 9999,
    sample_weight: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    rng: int | np.random.Generator | None = 0,
) -> Permutation:
    r"""Test whether two scores (or two models) are exchangeable, by swapping them within samples.

    .. math:: p = \frac{1 + \#\{|T^*| \ge |T|\}}{B + 1},\qquad T = \theta_a - \theta_b

    or, where all swaps can be enumerated, the plain share of them (the observed one included).

    Parameters
    ----------
    loss : array-like of shape (n_samples,), or a tuple of two
        One loss per model if the models differ; they are swapped together with the scores.
    score_a, score_b : array-like of shape (n_samples,)
    metric : str or Metric
    n_permutations : int
        Random swaps B; all swaps are enumerated where there are at most that many.
    sample_weight : array-like of shape (n_samples,), optional
        Weights belong to samples and stay.
    clusters : array-like of shape (n_samples,), optional
        Dependent samples are swapped together.
    rng : int or Generator

    Returns
    -------
    Permutation
        ``p_value`` in (0, 1]; 1 where the two have the same ranks and losses.

    Raises
    ------
    UnmetNeed
        The metric needs what the input does not hold.
    ValueError, TypeError
        Bad columns; an undefined metric; ``n_permutations`` below 1.

    Notes
    -----
    Swapped are mid-ranks within each score, because raw scores have no common scale; scores that share at least half of
    their distinct values, or that the metric reads themselves (CWSA, Brier, a risk at a threshold), are swapped as they
    are. The test is exact, at every sample size,
    for the hypothesis that the two columns of ranks are *exchangeable*: equal metrics with unlike spread are not, so
    with many samples prefer :func:`abstain.compare`. Ranks of exchangeable scores nearly are, but not where a few
    clusters are much larger than the others: with 80 clusters of 2 or 60 rows 11 % were false at 5 %. Ties that
    swapping creates are treated as ties.

    References
    ----------
    Bandos, Rockette & Gur (2005), Statistics in Medicine 24 (AUC of ranks); Phipson & Smyth (2010) for the + 1.

    Examples
    --------
    >>> import abstain
    >>> good, bad = [4, 7, 6, 8, 1, 9, 2, 5, 3, 0], [3, 2, 1, 0, 9, 4, 8, 7, 5, 6]
    >>> result = abstain.inference.permutation_test([0, 0, 0, 0, 1, 0, 1, 0, 0, 1], good, bad)
    >>> round(result.difference, 3), round(result.p_value, 4), result.exact
    (-0.2, 0.0156, True)
    """
    losses = two_losses(loss)
    checked = panel(dict(zip("ab", losses, strict=True)), {"a": score_a, "b": score_b}, sample_weight, None, clusters)
    if checked.n_runs != (1, 1):
        raise ValueError("a permutation test takes one run per score; for several runs use abstain.compare")
    return swap_test(as_metric(metric), checked, n_permutations, generator(rng))


def two_losses(loss: ArrayLike | tuple[ArrayLike, ArrayLike]) -> tuple[ArrayLike, ArrayLike]:
    """Return the losses of two scores, which may be one."""
    return loss if isinstance(loss, tuple) and len(loss) == 2 and np.ndim(loss[0]) == 1 else (loss, loss)


def swap_test(
    metric: Metric, two: Panel, n_permutations: int, rng: np.random.Generator, *, enough: float = math.inf
) -> Permutation:
    """Return the test of two scores, of one run each; random swaps end when ``enough`` were as extreme.

    Rows of both are sorted once, together: a swapped score is the table of these rows of which each pair has one.
    """
    n_permutations = whole(n_permutations, "n_permutations", usual=9999)
    if n_permutations > MOST:
        raise ValueError(f"n_permutations must be at most {MOST}, got {n_permutations}; 9999 is usual")
    check_scored(metric)
    losses, scores, weight = [each[0] for each in two.loss], [each[0] for each in two.score], two.weight
    if metric.reads_order and not one_scale(*scores):
        scores = [mid_ranks(each) for each in scores]
    oracle = "oracle" in metric.needs

    def theta(loss: FloatArray, score: FloatArray) -> float:
        value, reason = evaluated(metric, TieBlocks.from_samples(loss, score, weight, oracle=oracle))
        if reason is not None:
            raise ValueError(f"{metric.name} is undefined: {reason}; use augrc")
        return value

    first, second = (theta(*each) for each in zip(losses, scores, strict=True))
    observed, n = first - second, scores[0].size
    unit = np.arange(n) if two.sampling.clusters is None else two.sampling.clusters
    differs = (scores[0] != scores[1]) | (losses[0] != losses[1])
    moving = np.unique(unit[differs])  # swapping any other unit changes nothing
    exact = moving.size <= max(1, n_permutations.bit_length())  # 2^(moving - 1) <= n_permutations
    total = 2 ** max(moving.size - 1, 0) if exact else n_permutations  # swapping all only turns the sign
    if total == 1:
        return Permutation(observed, 1.0, 1, True)
    doubled = None if weight is None else np.concatenate([weight, weight])
    columns = [
        Column.of(np.concatenate(losses[::way]), np.concatenate(scores[::way]), doubled, oracle) for way in (1, -1)
    ]
    threshold = abs(observed) - TOLERANCE * max(abs(observed), first, 1e-300)
    extreme = done = 0
    while done < total and extreme < enough:
        number = total - done if exact or total - done < 2 * BATCH else BATCH
        drawn = run([metric], columns, _Swaps(unit, moving, exact), number, rng, False, False)[:, :, 0]
        if np.isnan(drawn).any():
            raise ValueError(f"{metric.name} is undefined for a swapped sample; use augrc")
        extreme += int(np.count_nonzero(np.abs(drawn[:, 0] - drawn[:, 1]) >= threshold))
        done += number
    return Permutation(observed, extreme / total if exact else (1.0 + extreme) / (done + 1.0), done, exact)


class _Swaps(NamedTuple):
    """Which rows of two columns, one below the other, belong to the first score after swaps within units."""

    unit: IntArray
    moving: IntArray
    exact: bool

    def chunks(self, n_swaps: int, rng: np.random.Generator, tally: object = None) -> Iterator[tuple[int, Counts]]:
        """Yield the first swap's number and the counts, of one chunk after another; all swaps in turn if exact."""
        bits = np.arange(self.moving.size)
        for start in range(0, n_swaps, LANES):
            k = min(LANES, n_swaps - start)
            flags = np.zeros((k, int(self.unit.max()) + 1), dtype=np.uint8)
            codes = np.arange(start, start + k)[:, None]
            flags[:, self.moving] = codes >> bits & 1 if self.exact else rng.random((k, bits.size)) < 0.5
            swapped = flags[:, self.unit]
            yield start, np.concatenate([1 - swapped, swapped], axis=1)


def one_scale(one: FloatArray, other: FloatArray) -> bool:
    """Return whether two scores share half of the distinct values of each, so that they may change places as they are.

    Ranks in one score depend on all of its rows, so swapped ranks are not quite those of swapped scores: where scores
    differ on few rows, ranks differ on all.
    """
    first, second = np.unique(one), np.unique(other)
    return 2 * np.intersect1d(first, second, assume_unique=True).size >= max(first.size, second.size)


def mid_ranks(values: FloatArray) -> FloatArray:
    """Return ascending ranks; ties share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1.0))[inverse])


#: Goes wherever its result goes. Measured by benchmarks/inference.py.
CAUTION = (
    "Wilcoxon over resamples is not a valid test of which score is better: resamples of one test set are centred on "
    "that test set's own difference, so its p-values shrink with the number of resamples, not of samples. Two "
    "exchangeable scores (N = 2000, 500 resamples) came out as significantly different at the 5 % level in 94.5 % of "
    "400 repetitions; by the paired test of abstain.compare in 3.5 %."
)


def wilcoxon_over_resamples(replicates: ArrayLike, direction: str = "lower") -> FloatArray:
    r"""Return the p-values of one-sided Wilcoxon signed-rank tests over bootstrap resamples: not a valid test.

    .. math:: z = \frac{\sum_b \mathbb 1[d_b > 0]\, r_b - m(m+1)/4}
                       {\sqrt{m(m+1)(2m+1)/24 - \sum_t (t^3 - t)/48}},\qquad d_b = \theta_b^{col} - \theta_b^{row}

    with :math:`r_b` the ranks of :math:`|d_b|` over the m resamples with :math:`d_b \ne 0`.

    Parameters
    ----------
    replicates : array-like of shape (n_resamples, n_scores)
        A metric on common resamples.
    direction : {"lower", "higher"}
        Which value of the metric is better.

    Returns
    -------
    ndarray of shape (n_scores, n_scores)
        P-values of "the row is better than the column", in [0, 1]; 1 on the diagonal and where all are equal.

    Raises
    ------
    ValueError
        Not a matrix; fewer than two resamples; not finite; an unknown direction.
    TypeError
        Not numbers.

    Notes
    -----
    Caution: resamples of one test set are centred on that test set's own difference, so the p-values shrink with the
    number of resamples, not of samples. Of two exchangeable scores (N = 2000, 500 resamples) one was "significantly
    better" at the 5 % level in 94.5 % of 400 repetitions; by :func:`abstain.compare` in 3.5 %.

    Zeros are dropped and there is no continuity correction, as in the paper's code.

    References
    ----------
    Wilcoxon (1945). Traub et al. (2024), NeurIPS: Figure 3. The invalid use for rankings: Wiesenfarth et al. (2021).

    Examples
    --------
    >>> import abstain
    >>> abstain.inference.wilcoxon_over_resamples([[0.1, 0.2], [0.2, 0.25], [0.15, 0.3], [0.1, 0.12]]).round(3)
    array([[1.   , 0.034],
           [0.966, 1.   ]])
    """
    drawn = matrix(replicates, "replicates", "(n_resamples >= 2, n_scores)")
    if len(drawn) < 2:
        raise ValueError(f"replicates must have shape (n_resamples >= 2, n_scores), got {drawn.shape}")
    lost = np.flatnonzero(~np.isfinite(drawn).all(axis=1))
    if lost.size:
        remedy = "leave out resamples in which the metric is undefined, for all scores"
        raise ValueError(f"replicates[{lost[0]}] is not finite ({lost.size} such rows); {remedy}")
    one_of(direction, ("lower", "higher"), "direction")
    from scipy.stats import wilcoxon

    worse = drawn if direction == "lower" else -drawn
    k = drawn.shape[1]
    result = np.ones((k, k))
    for i, j in permutations(range(k), 2):
        apart = worse[:, j] - worse[:, i]
        if apart.any():
            result[i, j] = wilcoxon(apart, alternative="greater", method="approx").pvalue
    return result
