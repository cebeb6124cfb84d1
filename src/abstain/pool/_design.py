"""Designs: how many rows of which kind, drawn so that every inclusion probability is exact and the size is fixed."""

from __future__ import annotations

import numpy as np

from abstain._typing import FloatArray, IntArray

#: Draws per block of neighbours in confidence, inside which the order is random.
SPREAD = 5.0


def proportional(size: FloatArray, n: int) -> FloatArray:
    """Return probabilities that sum to n, proportional to the sizes but for those at 1."""
    probability = np.zeros(len(size))
    certain = np.zeros(len(size), dtype=bool)
    while True:
        free = (size > 0.0) & ~certain
        left = n - int(certain.sum())
        if not free.any() or left >= free.sum():
            probability[free] = 1.0
            break
        probability[free] = size[free] * (left / size[free].sum())
        over = free & (probability >= 1.0 - 1e-9)
        if not over.any():
            break
        certain |= over
        probability[over] = 1.0
    probability[certain] = 1.0
    return probability


def uniform(among: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Return n of these rows, every set of n alike."""
    return np.sort(rng.choice(among, n, replace=False))


def spread(order: IntArray, probability: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return rows drawn with these probabilities, which sum to a whole number: so many, spread over the confidence.

    Systematic sampling with one random start, of rows by confidence, shuffled among neighbours. Without the shuffle
    there are as few different samples as steps, and no variance formula knows.
    """
    open_rows = order[(probability[order] > 0.0) & (probability[order] < 1.0)]
    certain = np.flatnonzero(probability >= 1.0)
    total = probability[open_rows].sum()
    n = round(float(total))
    if n == 0:
        return certain
    place = np.cumsum(probability[open_rows])
    block = np.floor((place - 0.5 * probability[open_rows]) / SPREAD)
    open_rows = open_rows[np.lexsort((rng.random(len(open_rows)), block))]
    place = np.cumsum(probability[open_rows]) * (n / total)
    place[-1] = n
    drawn = open_rows[np.searchsorted(place, rng.random() + np.arange(n), side="right")]
    return np.sort(np.concatenate([certain, drawn]))


#: Part of the variance of an even stage that a later one of an adaptive plan is taken to have: .5 to .7 on real pools.
LEANING = 0.75


def shares(sizes: list[int], rows: int, leaning: bool = False) -> FloatArray:
    """Return the fixed weights of the stages: of uniform stages they make the sample that was drawn at once.

    A stage that labels n of the M rows left has a variance in proportion to M (M - n) / n, and less if it leans to
    where labels help. How much less must not be learnt from the labels, or the weights would go with the errors: so it
    is a fixed part of those of all stages but the first. A stage that labels all is exact and alone counts.
    """
    left: FloatArray = rows - np.concatenate([[0.0], np.cumsum(sizes)])
    if left[-1] == 0:
        return np.asarray(np.eye(len(sizes))[-1])
    weight = np.asarray(sizes) / (left[:-1] * left[1:])
    weight[1:] /= LEANING if leaning else 1.0
    return np.asarray(weight / weight.sum())
