"""Other certificates of 0/1 losses, written again for ``certificates.py``: valid with ties, and as they are.

Every rule takes the rows of a sample in the order of falling scores: ``count``, how many there are up to each distinct
score, and ``p``, the exact p-value of the first k rows at ``p[k - 1]``. It returns the position of the lowest score
that it accepts, or -1. A cut inside a tie is rounded *down* to the last whole tie, which is valid; ``up`` tests
the part of the tie and accepts all of it, as the tools do.
"""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import numpy as np
from scipy.special import bdtr

from abstain.thresholds._evidence import fewest
from abstain.thresholds._fallback import fallback


def p_values(errors: Any, limit: float) -> Any:
    """Exact p-values of the first 1, 2, ... rows, from the errors among them."""
    return bdtr(errors, np.arange(1, len(errors) + 1), limit)


def cuts(count: Any, wanted: Any, up: bool) -> tuple[Any, Any]:
    """Positions that cuts after so many rows accept, and how many rows are tested there (0: none)."""
    if up:
        return np.searchsorted(count, wanted), wanted
    position = np.searchsorted(count, wanted, side="right") - 1
    return position, np.where(position >= 0, count[position], 0)


def binary(count: Any, p: Any, limit: float, level: float, up: bool) -> int:
    """SGR's binary search over rows; the answer is the last cut whose bound was below the limit."""
    n, best = int(count[-1]), -1
    steps = max(1, ceil(log2(n)))
    low, high = 1, n
    for _ in range(steps):
        if low > high:
            break
        middle = (low + high) // 2
        position, tested = cuts(count, np.array([middle]), up)
        if tested[0] == 0 or p[tested[0] - 1] <= level / steps:
            best, low = max(best, int(position[0])), middle + 1
        else:
            high = middle - 1
    return best


def sequence(count: Any, p: Any, limit: float, level: float, up: bool, wanted: Any) -> int:
    """A fixed sequence of cuts from the first that a flawless sample can pass."""
    position, tested = cuts(count, wanted, up)
    position, tested = position[tested >= fewest(limit, level)], tested[tested >= fewest(limit, level)]
    failed = np.flatnonzero(p[tested - 1] > level)
    passed = failed[0] if failed.size else len(tested)
    return int(position[passed - 1]) if passed else -1


def hundred(count: Any) -> Any:
    """The cuts at coverages .01, .02, ... 1."""
    return np.unique(np.ceil(np.arange(1, 101) / 100 * count[-1]).astype(int))


def hybrid(count: Any, p: Any, limit: float, delta: float, up: bool) -> int:
    """The hybrid of zugzwang 1.1.0: binary search and fixed sequence, both at delta / 2; the larger coverage."""
    every = np.arange(1, int(count[-1]) + 1) if up else count
    one = sequence(count, p, limit, delta / 2, up, every)
    return max(one, binary(count, p, limit, delta / 2, up))


def mapie(count: Any, p: Any, limit: float, delta: float, up: bool) -> int:
    """A fixed sequence over 100 coverages, as MAPIE's, but from the best start that is fixed in advance."""
    return sequence(count, p, limit, delta, up, hundred(count))


def holm(count: Any, p: Any, limit: float, delta: float, up: bool) -> int:
    """Bonferroni-Holm over 100 coverages."""
    position, tested = cuts(count, hundred(count), up)
    position, tested = position[tested > 0], tested[tested > 0]
    order = np.argsort(p[tested - 1], kind="stable")
    failed = np.flatnonzero(p[tested[order] - 1] > delta / (100 - np.arange(len(order))))
    passed = failed[0] if failed.size else len(order)
    return int(position[order[:passed]].max()) if passed else -1


RIVALS = {"hybrid": hybrid, "SGR": binary, "sequence": mapie, "Holm": holm}

#: The former default: coverages of its starts and their parts of delta, and the room that the first needs.
FORMER = ((1 / 2, 1 / 4, 1 / 8, 1 / 16), (8.0, 4.0, 2.0, 1.0), 1.5)


def former(loss: Any, score: Any, limit: float, delta: float, rng: np.random.Generator) -> float:
    """The former default: random pilot rows fix the starts, their losses are thrown away. Returns the threshold."""
    n = len(loss)
    pilot = np.zeros(n, dtype=bool)
    pilot[rng.permutation(n)[: ceil(n**0.5)]] = True
    fixed, rest, wrong = np.sort(score[pilot])[::-1], score[~pilot], loss[~pilot]
    coverages, parts, room = FORMER
    for number in range(len(coverages), 0, -1):
        share = np.array(parts[:number]) / sum(parts[:number]) * delta
        if len(rest) * coverages[number - 1] >= room * fewest(limit, float(share[-1])):
            wanted = np.array(coverages[:number])
            break
    else:
        wanted, share = np.array([min(1.0, (fewest(limit, delta) / len(rest)) ** 0.5)]), np.array([delta])
    rank = np.clip(np.ceil(wanted * (len(fixed) + 1)), 1, len(fixed)).astype(int) - 1
    begin, share = fixed[rank][::-1], share[::-1]
    tested = np.union1d(begin, rest[rest < begin[0]])[::-1]
    order = np.argsort(-rest, kind="stable")
    count = np.searchsorted(-rest[order], -tested, side="right")
    errors = np.append(0, np.cumsum(wrong[order]))[count]
    p = np.where(count > 0, bdtr(errors, np.maximum(count, 1), limit), 1.0)
    found = fallback(len(tested), np.searchsorted(-tested, -begin), share, lambda low, high: p[low:high])
    return float(tested[found]) if found >= 0 else np.inf
