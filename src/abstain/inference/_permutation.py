"""Permutation test for small samples: swap the two scores within samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from abstain._checks import generator, to_numpy, whole
from abstain._typing import ArrayLike, BoolArray, FloatArray
from abstain.blocks import TieBlocks
from abstain.inference._columns import as_metric, check_scored, evaluated
from abstain.inference._panel import panel
from abstain.inference._resample import codes
from abstain.metrics import Metric

__all__ = ["Permutation", "permutation_test"]

#: Permuted differences within this share of the observed one count as equal to it: sums round.
TOLERANCE = 1e-10
#: More swaps than this take days and change no digit.
MOST = 10_000_000


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
    Swapped are mid-ranks within each score, because raw scores have no common scale; scores that the metric reads
    themselves (CWSA, Brier, a risk at a threshold) are swapped as they are. The test is exact, at every sample size,
    for the hypothesis that the two are *exchangeable*: equal metrics with unlike spread are not, so with many samples
    prefer :func:`abstain.compare`. Ties that swapping creates are treated as ties.

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
    losses = loss if isinstance(loss, tuple) and len(loss) == 2 and np.ndim(loss[0]) == 1 else (loss, loss)
    checked = panel(dict(zip(("a", "b"), losses, strict=True)), {"a": score_a, "b": score_b}, sample_weight)
    if checked.n_runs != (1, 1):
        raise ValueError("a permutation test takes one run per score; for several runs use abstain.compare")
    return swap_test(
        as_metric(metric),
        (checked.loss[0][0], checked.loss[1][0]),
        (checked.score[0][0], checked.score[1][0]),
        checked.weight,
        clusters,
        n_permutations,
        generator(rng),
    )


def swap_test(
    metric: Metric,
    losses: tuple[FloatArray, FloatArray],
    scores: tuple[FloatArray, FloatArray],
    weight: FloatArray | None,
    clusters: ArrayLike | None,
    n_permutations: int,
    rng: np.random.Generator,
) -> Permutation:
    """Return the test of checked columns."""
    n_permutations = whole(n_permutations, "n_permutations", usual=9999)
    if n_permutations > MOST:
        raise ValueError(f"n_permutations must be at most {MOST}, got {n_permutations}; 9999 is usual")
    check_scored(metric)
    if metric.reads_order:
        scores = (mid_ranks(scores[0]), mid_ranks(scores[1]))
    oracle = "oracle" in metric.needs

    def theta(loss: FloatArray, score: FloatArray) -> float:
        value, reason = evaluated(metric, TieBlocks.from_samples(loss, score, weight, oracle=oracle))
        if reason is not None:
            raise ValueError(f"{metric.name} is undefined for a swapped sample: {reason}; use augrc")
        return value

    def difference(swap: BoolArray) -> float:
        first = [np.where(swap, b, a) for a, b in (losses, scores)]
        second = [np.where(swap, a, b) for a, b in (losses, scores)]
        return theta(first[0], first[1]) - theta(second[0], second[1])

    n = scores[0].size
    unit = np.arange(n) if clusters is None else codes(clusters, "clusters", n)
    differs = (scores[0] != scores[1]) | (losses[0] != losses[1])
    moving = np.unique(unit[differs])  # swapping any other unit changes nothing
    observed = theta(losses[0], scores[0]) - theta(losses[1], scores[1])
    threshold = abs(observed) - TOLERANCE * max(abs(observed), theta(losses[0], scores[0]), 1e-300)
    exact = moving.size <= max(1, n_permutations.bit_length())  # 2^(moving - 1) <= n_permutations
    swaps = _all_swaps(moving.size) if exact else _random_swaps(moving.size, n_permutations, rng)
    total = extreme = 0
    for flip in swaps:
        flags = np.zeros(int(unit.max()) + 1, dtype=np.bool_)
        flags[moving] = flip
        total += 1
        extreme += abs(difference(flags[unit])) >= threshold
    if exact:
        return Permutation(observed, extreme / total, total, True)
    return Permutation(observed, (1.0 + extreme) / (total + 1.0), total, False)


def mid_ranks(score: ArrayLike) -> FloatArray:
    """Return ascending ranks; ties share their mean rank."""
    values = np.asarray(to_numpy(score), dtype=np.float64)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: FloatArray = (ends - 0.5 * (counts - 1.0))[inverse]
    return ranks


def _all_swaps(n: int) -> Iterator[BoolArray]:
    """Every swap up to swapping all, which only turns the sign."""
    for code in range(2 ** max(n - 1, 0)):
        yield np.array([code >> k & 1 for k in range(n)], dtype=np.bool_)


def _random_swaps(n: int, n_permutations: int, rng: np.random.Generator) -> Iterator[BoolArray]:
    for _ in range(n_permutations):
        yield rng.random(n) < 0.5
