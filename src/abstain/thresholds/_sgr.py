r"""Selection with guaranteed risk (SGR), as published: a binary search with one bound per step.

With n rows sorted by confidence and :math:`k = \lceil\log_2 n\rceil` steps, each step takes the row half-way between
the ends of the search, and the exact upper bound of the risk of what is at least as confident, at level
:math:`\delta/k`. Below the target the search goes on to more coverage, else to less.

Source: Geifman & El-Yaniv (2017), *Selective classification for deep neural networks*, Algorithm 1. Two remarks. The
published algorithm returns its *last* point with its bound, which can be above the target; here the answer is
the last point whose bound was below it. And its proof adds the error probabilities of the k steps as if their
positions were fixed, but each depends on the outcome of those before; that is no gap if the selective risk falls as
the threshold rises (every false step is then the first one on a fixed path), and none showed in our simulations.
"""

from __future__ import annotations

from math import ceil, log2

import numpy as np

from abstain._typing import FloatArray
from abstain.thresholds._p_values import binomial


def sgr(score: FloatArray, count: FloatArray, errors: FloatArray, limit: float, delta: float) -> float:
    """Return the threshold that SGR finds for a 0/1 loss, or +inf.

    ``score``: different scores, descending; ``count``, ``errors``: rows at and above each, and the errors among them.
    """
    n = int(count[-1])
    steps = max(1, ceil(log2(n)))
    low, high, found = 1, n, np.inf  # positions by ascending confidence, as in the paper
    for _ in range(steps):
        middle = -(-(low + high) // 2)
        k = int(np.searchsorted(count, n - middle, side="right"))
        threshold = float(score[k])
        p = binomial(count[k : k + 1], errors[k : k + 1], limit)
        if p[0] < delta / steps:
            high, found = middle, min(found, threshold)
        else:
            low = middle
    return found
