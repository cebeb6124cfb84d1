"""Which of several parts has more errors than the rest, and whether chance alone would show as much in one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from abstain._typing import FloatArray, IntArray


def stands_out(errors: Sequence[int], counts: Sequence[int]) -> tuple[int, float]:
    r"""Return the part against which most speaks, and the p-value of "no part has a higher risk than the others".

    Of each part with :math:`k` errors in :math:`m` rows, Fisher's exact one-sided test against all others together:
    given :math:`K` errors in all :math:`N` rows, :math:`p = P\{H(N, K, m) \ge k\}` with :math:`H` hypergeometric; the
    smallest, times the number of parts (Bonferroni). The largest rate of several is no evidence by itself: a part of
    few rows is high by chance. Of equal p-values the part with the higher rate is named.

    Parameters
    ----------
    errors, counts : sequence of int, of shape (n_parts,)
        Wrong rows, and all rows, at least one, of each part; rows independent.

    Returns
    -------
    int, float

    Examples
    --------
    >>> from abstain.inference import stands_out
    >>> part, p = stands_out([1, 30, 2], [4, 100, 90])  # 25 % of 4 rows say less than 30 % of 100
    >>> part, p < 1e-6
    (1, True)
    """
    wrong, rows = (np.asarray(each, dtype=np.int64) for each in (errors, counts))
    total, every = int(wrong.sum()), int(rows.sum())
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1.0, every + 1.0)))))  # of factorials

    def chosen(n: int, k: IntArray) -> FloatArray:
        return np.asarray(logs[n] - logs[k] - logs[n - k])

    found = []
    for k, m in zip(wrong.tolist(), rows.tolist(), strict=True):
        more = np.arange(max(k, total + m - every), min(m, total) + 1)
        terms = chosen(m, more) + chosen(every - m, total - more) - (logs[every] - logs[total] - logs[every - total])
        found.append((min(1.0, float(np.exp(terms).sum())), -k / m))
    best = min(range(len(found)), key=found.__getitem__)
    return best, min(1.0, len(found) * found[best][0])
