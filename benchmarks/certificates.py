"""Certificates of 0/1 losses next to other methods: mean certified coverage, and how often each is violated.

    python -m benchmarks.certificates [power field packages] [--full]

A rival takes the rows of a sample in the order of falling scores: ``count``, how many there are up to each distinct
score, and ``p``, the exact p-value of the first k rows at ``p[k - 1]``. It returns the position of the lowest score
that it accepts, or -1. A cut inside a tie is rounded *down* to the last whole tie, which is valid; ``up`` ("as it is")
tests the part of the tie and accepts all of it, as the tools do.
"""

from math import ceil, log2
from typing import Any

import numpy as np
from benchmarks.harness import Form, command, error, percent, say
from scipy.special import bdtr

from abstain.thresholds._evidence import fewest
from abstain.thresholds._fallback import fallback, positions, schedule
from tests.thresholds.populations import POPULATIONS, SMOOTH_AND_TIED, Population

DELTA, SEED = 0.05, 20261122


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


def ours(count: Any, p: Any, limit: float) -> int:
    """The default of the library, on block ends."""
    at_ends = p[count - 1]
    rank, share = schedule(int(count[-1]), limit, DELTA)
    return fallback(len(count), positions(count, rank), share, lambda low, high: at_ends[low:high])


def blocks(loss: Any, score: Any, limit: float) -> tuple[Any, Any, Any]:
    """Return the distinct scores and +inf for none, how many rows there are up to each, and the p-values."""
    order = np.argsort(-score, kind="stable")
    ends = np.flatnonzero(np.append(score[order][1:] != score[order][:-1], True))
    errors = np.cumsum(loss[order])
    return np.append(score[order][ends], np.inf), ends + 1, bdtr(errors, np.arange(1, len(errors) + 1), limit)


def cell(population: Population, n: int, many: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Mean coverage and broken share of every rule in one population."""
    found: dict[str, list[float]] = {name: [] for name in ["abstain", *RIVALS, *(f"{r} as it is" for r in RIVALS)]}
    for _ in range(many):
        lowest, count, p = blocks(*population.draw(n, rng), population.limit)
        found["abstain"].append(lowest[ours(count, p, population.limit)])
        for name, rule in RIVALS.items():
            found[name].append(lowest[rule(count, p, population.limit, DELTA, False)])
            if population.levels or population.edges:
                found[f"{name} as it is"].append(lowest[rule(count, p, population.limit, DELTA, True)])
    mean = {name: float(population.coverage(np.array(t)).mean()) for name, t in found.items() if t}
    broken = {name: float(np.mean(population.violated(np.array(t)))) for name, t in found.items() if t}
    return mean, broken


def power(form: Form) -> None:
    """Twenty populations."""
    beside_rivals("power", (300, 1000, 3000), form(1000, 100), (*POPULATIONS, *SMOOTH_AND_TIED))


def field(form: Form) -> None:
    """Four words and a smooth score, where the hybrid as it is was found violated."""
    beside_rivals("field", (300, 1000, 5000), form(1000, 100), (SMOOTH_AND_TIED[0], SMOOTH_AND_TIED[4]))


def beside_rivals(name: str, sizes: tuple[int, ...], many: int, populations: tuple[Population, ...]) -> None:
    """Coverage and broken share of every rule in every population, and means over them."""
    behind = []
    for n in sizes:
        rng = np.random.default_rng([SEED, n])
        means, worst = [], []
        for population in populations:
            mean, broken = cell(population, n, many, rng)
            means.append(mean)
            worst.append(broken)
            behind.append((mean["abstain"] - max(mean[each] for each in RIVALS), f"{population.name}, n={n}"))
            text = "; ".join(f"{each} {mean[each]:.3f} ({100 * broken[each]:.1f} %)" for each in mean)
            say(f"n={n} {population.name}: {text}; lead {behind[-1][0]:+.3f}")
            assert broken["abstain"] <= DELTA + 3 * error(DELTA, many), (n, population.name)
        for each in ("abstain", *RIVALS):
            mean, most = np.mean([one[each] for one in means]), max(one[each] for one in worst)
            say(f"{name}, n={n}, {each}: mean {mean:.3f}, most broken {percent(round(most * many), many)}")
    late = sorted(each for each in behind if each[0] < -0.01)
    listed = "; ".join(f"{place} {lead:+.3f}" for lead, place in late)
    say(f"{name}: {len(behind)} cells, more than .01 behind the best rival in {len(late)}: {listed}")


# ---------------------------------------------------------------------- the packages themselves


def packages(form: Form) -> None:
    """Whether the rivals are what zugzwang 1.1.0 and MAPIE give, which have to be installed."""
    zugzwang(np.random.default_rng(5))
    mapie_package(np.random.default_rng(5))


def zugzwang(rng: np.random.Generator) -> None:
    """Thresholds of the package and of the rival, in the form that rounds up inside a tie."""
    from zugzwang.core.guarantees.sgr import sgr, sgr_binary

    same, total = np.zeros(2, dtype=int), 0
    for population in (*POPULATIONS, *SMOOTH_AND_TIED):
        for n in (100, 300, 1000):
            for _ in range(10):
                loss, score = population.draw(n, rng)
                limit = population.limit
                lowest, count, p = blocks(loss, score, limit)
                for i, (rule, theirs) in enumerate(((hybrid, sgr), (binary, sgr_binary))):
                    mine = lowest[rule(count, p, limit, DELTA, True)]
                    same[i] += mine == theirs(score, loss.astype(int), limit, DELTA).threshold
                total += 1
    say(f"zugzwang: the same threshold in {same[0]} (hybrid) and {same[1]} (binary search) of {total} samples")


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
                say(f"mapie, {population.name}, n={n}, {how}: coverage {theirs:.3f}, rewritten {ours:.3f}")
    say(f"mapie: at most {more:.3f} above the rewritten form in any cell")


if __name__ == "__main__":
    command(__doc__, power, field, also=(packages,))
