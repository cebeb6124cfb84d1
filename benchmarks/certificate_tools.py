"""Whether ``certificate_rivals.py`` gives what the packages give that it rewrites; needs zugzwang 1.1.0 and mapie.

    python benchmarks/certificate_tools.py

- zugzwang: its hybrid and its binary search on twenty populations, n = 100, 300, 1,000; the same threshold, to the bit?
- MAPIE's ``BinaryClassificationController`` (risk: precision, label: right or wrong), Bonferroni-Holm and fixed
  sequence over 100 thresholds, the sequence from the first that a flawless sample can pass; beside the same with exact
  binomial p-values, on which the rewritten rivals stand, where MAPIE has those of Hoeffding and Bentkus.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import bdtr

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.certificate_rivals import binary, hybrid, p_values

from tests.thresholds.populations import POPULATIONS, SMOOTH_AND_TIED

DELTA, SEED = 0.05, 5


def zugzwang(rng: np.random.Generator) -> None:
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


def mapie(rng: np.random.Generator) -> None:
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


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    zugzwang(np.random.default_rng(SEED))
    mapie(np.random.default_rng(SEED))
