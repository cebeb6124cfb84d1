"""Facts of an evaluation, from which the verdict is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.evaluation._judge import DELTA, rows_of
from abstain.outputs import doubts

if TYPE_CHECKING:
    from abstain.blocks import TieBlocks
    from abstain.evaluation._result import Evaluation

#: The risk that the verdict speaks of; of a graded loss the coverage.
RISK, COVERAGE = 0.05, 0.8
Facts = dict[str, Any]


def of_evaluation(evaluation: Evaluation) -> Iterator[Facts]:
    """Yield what the verdict of an evaluation rests on."""
    judged, facts = evaluation.judged, evaluation.provenance
    if "few_labels" in facts or not judged.whole:
        return
    answers = facts.get("answers")
    if answers is not None:
        yield {"about": "answers", "share": answers["counts"]["abstained"] / answers["n"], "n": answers["n"]}
    yield from _doubts(evaluation)
    yield _rows(evaluation)
    named = list(judged.whole) if len(judged.whole) <= 3 else [judged.best]
    for name, summary in judged.whole.items():
        if name not in named:
            continue
        fate = "rejected" if summary.n_rejected else "left out"
        missing = summary.n_rejected + summary.n_dropped
        tie = summary.largest_tie / summary.n if summary.largest_tie > 1 else 0.0
        yield {"about": "score", "score": name, "tie": tie, "missing": missing, "fate": fate}
    if judged.best is not None:
        yield from _of_score(evaluation, judged.best)
    for each in evaluation.measurements:
        if each.metric == "auroc_f" and each.group is None and each.score in named and each.low == each.low:
            yield {"about": "ranking", "score": each.score, "value": each.value, "low": each.low, "high": each.high}
    if judged.comparison is not None:
        yield from (fact for fact in judged.comparison.grounds() if fact["about"] != "runs")
    for column, found in judged.groups.items():
        differ = [each for each in found.differences if each.significant]
        widest = max(differ, key=lambda each: abs(each.difference), default=None)
        ends = {} if widest is None else {
            "a": widest.a, "b": widest.b, "high": found.intervals[widest.a].estimate,
            "low": found.intervals[widest.b].estimate,
        }  # fmt: skip
        yield {"about": "groups", "column": column, "count": len(found.sizes), "pairs": len(differ),
               "all": len(found.differences), **ends}  # fmt: skip


def _doubts(evaluation: Evaluation) -> Iterator[Facts]:
    """Yield what rows and scores look like, where that is another quantity than they were given as."""
    given = evaluation.provenance.get("understood", {}).get("loss", "0/1") != "0/1"
    for name, summary in evaluation.judged.whole.items():
        rows = rows_of(summary.curve.blocks)
        if rows is None or not np.isfinite(rows[1]).all():
            continue
        nothing = dict.fromkeys(("confidence", "predictions", "labels", "logits", "probabilities", "passes"))
        found: Facts = {**nothing, "scores": {name: rows[1]}, "loss": rows[0] if given else None}
        for each in doubts(found, rows[0], None):
            yield {"about": "doubt", "doubt": str(each)}


def _rows(evaluation: Evaluation) -> Facts:
    judged = evaluation.judged
    first = next(iter(judged.whole.values()))
    blocks, high = first.curve.blocks, float("nan")
    independent = judged.independent and bool(np.array_equal(blocks.weight, blocks.count))
    errors = round(float(blocks.loss.sum())) if blocks.binary else -1
    if blocks.binary and independent and errors == 0:
        from abstain.inference import clopper_pearson

        high = clopper_pearson(0, blocks.n, 0.95, side="upper")[1]
    return {
        "about": "rows", "n": blocks.n, "errors": errors, "binary": blocks.binary, "high": high,
        "same": bool(evaluation.provenance.get("same_samples")) or "models" in evaluation.provenance,
        "independent": independent,
    }  # fmt: skip


def _of_score(evaluation: Evaluation, score: str) -> Iterator[Facts]:
    """Yield what the best score allows: measured, and promised."""
    judged = evaluation.judged
    curve = judged.whole[score].curve
    full = curve.blocks.mean_loss
    if not curve.blocks.binary:
        point = curve.at(coverage=COVERAGE)
        if point.reason is None:
            yield {"about": "graded", "score": score, "full": full, "coverage": point.coverage,
                   "part": point.selective_risk}  # fmt: skip
        return
    point = curve.at(risk=RISK)
    lowest = float(np.nanmin(curve.selective_risk))
    perfect = _perfect(curve.blocks)
    yield {"about": "measured", "score": score, "risk": RISK, "full": full, "lowest": lowest, "perfect": perfect,
           "coverage": 0.0 if point.reason is not None else point.coverage, "threshold": point.threshold}  # fmt: skip
    from abstain.thresholds import plan_of

    promises = judged.promises(score)
    kept = [each for each in promises if each.attained]
    shown = [each for each in kept if each.risk >= RISK][:1] or kept[-1:]
    shown += [each for each in promises if not each.attained][-1:]
    if promises:
        yield {"about": "ladder", "attained": len(kept), "n": curve.blocks.n, "highest": promises[-1].risk}
    for each in shown:
        yield {"about": "promise", "some": bool(kept), "score": score, "risk": each.risk, "attained": each.attained,
               "coverage": each.coverage, "sure": 1.0 - DELTA, "n": curve.blocks.n, "threshold": each.threshold,
               **({} if each.attained else plan_of(each.needed(), each.least()))}  # fmt: skip
    gap = judged.calibration(score)
    if gap is not None:
        yield {"about": "calibration", "score": score, "gap": gap[0], "size": -gap[0], "low": gap[1], "high": gap[2]}


def _perfect(blocks: TieBlocks) -> float:
    """Return the largest coverage at the risk under a ranking that puts every right answer first."""
    right = blocks.total_weight - float(blocks.loss.sum())
    wrong = right * RISK / (1.0 - RISK)
    if np.array_equal(blocks.weight, blocks.count):
        wrong = np.floor(wrong + 1e-9)
    return float(min(1.0, (right + wrong) / blocks.total_weight))
