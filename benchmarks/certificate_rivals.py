"""Other certificates of 0/1 losses, written again: valid with ties, and as they are; and whether they are the packages.

A rival takes the rows of a sample in the order of falling scores: ``count``, how many there are up to each distinct
score, and ``p``, the exact p-value of the first k rows at ``p[k - 1]``. It returns the position of the lowest score
that it accepts, or -1. A cut inside a tie is rounded *down* to the last whole tie, which is valid; ``up`` tests
the part of the tie and accepts all of it, as the tools do.
"""

from __future__ import annotations

import sys
import warnings
from math import ceil, log2
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import bdtr

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from abstain.thresholds._evidence import fewest
from tests.thresholds.populations import POPULATIONS, SMOOTH_AND_TIED

DELTA = 0.05


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


def zugzwang_package(rng: np.random.Generator) -> None:
    """Thresholds of the package and of the rival, in the form that rounds up inside a tie."""
    from zugzwang.core.guarantees.sgr import sgr, sgr_binary

    same, total = np.zeros(2, dtype=int), 0
    for population in (*POPULATIONS, *SMOOTH_AND_TIED):
        for n in (100, 300, 1000):
            for _ in range(10):
                loss, score = population.draw(n, rng)
                order = np.argsort(-score, kind="stable")
                ends = np.flatnonzero(np.append(score[order][1:] != score[order][:-1], True))
                lowest, limit = np.append(score[order][ends], np.inf), population.limit
                p = p_values(np.cumsum(loss[order]), limit)
                for i, (ours, theirs) in enumerate(((hybrid, sgr), (binary, sgr_binary))):
                    mine = lowest[ours(ends + 1, p, limit, DELTA, True)]
                    same[i] += mine == theirs(score, loss.astype(int), limit, DELTA).threshold
                total += 1
    print(f"zugzwang: the same threshold in {same[0]} (hybrid) and {same[1]} (binary search) of {total} samples")


def exact(loss: Any, score: Any, limit: float, how: str, tested: Any) -> float:
    """The lowest of the tested thresholds that passes, by exact binomial p-values."""
    count = np.array([(score >= t).sum() for t in tested])
    p = np.where(count > 0, bdtr([loss[score >= t].sum() for t in tested], np.maximum(count, 1), limit), 1.0)
    order, level = np.arange(len(p)), np.full(len(p), DELTA)
    if how == "bonferroni_holm":
        order, level = np.argsort(p, kind="stable"), DELTA / (len(p) - np.arange(len(p)))
    failed = np.flatnonzero(p[order] > level)
    passed = failed[0] if failed.size else len(p)
    return float(tested[order[:passed]].min()) if passed else np.inf


def mapie_package(rng: np.random.Generator) -> None:
    """Mean coverage of the package and of the rival on the same samples and thresholds."""
    from mapie.risk_control import BinaryClassificationController

    more = 0.0
    for population in (*(POPULATIONS[i] for i in (0, 1, 4, 9)), *SMOOTH_AND_TIED[:2]):
        for n in (300, 1000):
            for how in ("bonferroni_holm", "fixed_sequence"):
                covered = []
                for _ in range(10):
                    loss, score = population.draw(n, rng)
                    score, tested = 1.0 + score, np.arange(99, -1, -1) / 100.0
                    if how == "fixed_sequence":
                        tested = tested[tested <= 1.0 - 1.05 * 59 / n]
                    tool = BinaryClassificationController(
                        lambda x: np.column_stack([1.0 - x[:, 0], x[:, 0]]), risk="precision",
                        target_level=1.0 - population.limit, confidence_level=1.0 - DELTA, fwer_method=how,
                        list_predict_params=tested, best_predict_param_choice="recall",
                    )  # fmt: skip
                    tool.calibrate(score[:, None], (loss == 0.0).astype(int))
                    found = [*np.asarray(tool.valid_predict_params).tolist(), np.inf]
                    mine = exact(loss, score, population.limit, how, tested)
                    covered.append([np.mean(score >= min(found)), np.mean(score >= mine)])
                theirs, ours = np.mean(covered, axis=0)
                more = max(more, theirs - ours)
                print(
                    f"mapie, {population.name}, n={n}, {how}: coverage {theirs:.3f}, rewritten {ours:.3f}", flush=True
                )
    print(f"mapie: at most {more:.3f} above the rewritten form in any cell")


def packages() -> None:
    """Whether the rivals below are what zugzwang 1.1.0 and MAPIE give, which have to be installed."""
    warnings.simplefilter("ignore")
    zugzwang_package(np.random.default_rng(5))
    mapie_package(np.random.default_rng(5))
