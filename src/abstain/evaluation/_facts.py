"""Facts of an evaluation, from which the verdict is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._result import ALL_READ, NO_GROUPS, Counted, among, limits, percent
from abstain.evaluation import _planned_words
from abstain.evaluation._judge import COVERAGE, DELTA, LADDER, RISK, by_column, nearest, rows_of
from abstain.inference import clopper_pearson, stands_out
from abstain.outputs import doubts

if TYPE_CHECKING:
    from abstain.blocks import TieBlocks
    from abstain.curve import RiskCoverageCurve
    from abstain.evaluation._comparison import Comparison
    from abstain.evaluation._result import Evaluation, Measurement, ScoreSummary

Facts = dict[str, Any]
#: Of more rows a difference in coverage is not tested here, which would take longer than all else; 'compare' does.
MOST_ROWS = 50_000
#: Chooses one threshold, unless the command of a file is known.
HOW = "'abstain threshold' with --risk and --delta"


def of_evaluation(evaluation: Evaluation) -> Iterator[Facts]:
    """Yield what the verdict of an evaluation rests on."""
    judged, facts = evaluation.judged, evaluation.provenance
    if "few_labels" in facts:
        yield from _planned_words.grounds(evaluation)
    if "few_labels" in facts or not judged.whole:
        return
    answers = facts.get("answers")
    if answers is not None:
        yield {"about": "answers", "share": answers.counts["abstained"] / answers.n, "n": answers.n}
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
        groups = list(_groups_at(evaluation, judged.best))
        above = [name for fact in groups for name in fact.get("above", ())]
        mix = ", for the mix of all cases only" if any(fact.get("perhaps") for fact in groups) else ""
        yield from (fact | {"mix": mix} if fact["about"] == "promise" else fact
                    for fact in _of_score(evaluation, judged.best, above))  # fmt: skip
        yield from groups
    for each in evaluation.measurements:
        if each.metric != "auroc_f" or each.group is not None or each.score not in named:
            continue
        low, high = _auroc_f(each, judged.whole[each.score])
        if low == low:
            yield {"about": "ranking", "score": each.score, "value": each.value, "low": low, "high": high}
            if each.score == judged.best and judged.independent:
                whole = next((one.risk for one in judged.promises(each.score) if one.coverage == 1.0), None)
                yield {"about": "usefulness", "score": each.score, "low": low, "all": whole, "sure": 1.0 - DELTA}
    if judged.comparison is not None:
        yield from _compared(judged.comparison)
    for column, found in judged.groups.items():
        differ = [each for each in found.differences if each.significant]
        widest = max(differ, key=lambda each: abs(each.difference), default=None)
        ends = {} if widest is None else {
            "a": widest.a, "b": widest.b, "high": found.intervals[widest.a].estimate,
            "low": found.intervals[widest.b].estimate,
        }  # fmt: skip
        yield {"about": "groups", "column": column, "count": len(found.sizes), "pairs": len(differ),
               "all": len(found.differences), **ends}  # fmt: skip


def _auroc_f(found: Measurement, summary: ScoreSummary) -> tuple[float, float]:
    """Return the interval of an AUROC of failures; that of equal scores, which rank by chance, is one half."""
    constant = len(summary.curve.blocks.score) == 1 and found.value == found.value
    return (0.5, 0.5) if constant else (found.low, found.high)


def _compared(comparison: Comparison) -> Iterator[Facts]:
    """Yield which score is better; of a difference that is shown also by how much more it answers."""
    found = [fact for fact in comparison.tested() if fact["about"] in ("pair", "first")]
    yield from found
    if comparison.n <= MOST_ROWS and any(fact["about"] == "pair" and fact["significant"] for fact in found):
        yield from (fact for fact in comparison.beside_facts() if fact["about"] == "coverage pair")


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
        high = clopper_pearson(0, blocks.n, 0.95, side="upper")[1]
    return {
        "about": "rows", "n": blocks.n, "errors": errors, "binary": blocks.binary, "high": high,
        "same": bool(evaluation.provenance.get("same_samples")) or "models" in evaluation.provenance,
        "independent": independent,
    }  # fmt: skip


def _of_score(evaluation: Evaluation, score: str, above: list[str]) -> Iterator[Facts]:
    """Yield what the best score allows: measured, and promised; ``above``: groups where surely more is wrong."""
    judged = evaluation.judged
    curve = judged.whole[score].curve
    full = curve.blocks.mean_loss
    if not curve.blocks.binary:
        point = curve.at(coverage=COVERAGE)
        if point.reason is None:
            yield {"about": "no ladder", "why": "the loss is not 0/1 ('abstain threshold' with --max-loss can certify)"}
            yield {"about": "graded", "score": score, "full": full, "coverage": point.coverage,
                   "part": point.selective_risk}  # fmt: skip
        return
    point = curve.at(risk=RISK)
    coverage = 0.0 if point.reason is not None else point.coverage
    lowest = float(np.nanmin(curve.selective_risk))
    yield {"about": "measured", "score": score, "risk": RISK, "full": full, "lowest": lowest,
           "coverage": _counted(curve.blocks, coverage),
           "threshold": among(point.threshold, curve.threshold)}  # fmt: skip
    yield {"about": "perfect", "risk": RISK, "full": full, "perfect": _perfect(curve.blocks), "coverage": coverage}
    from abstain.thresholds import plan_of

    promises = judged.promises(score)
    kept, best = [each for each in promises if each.attained], nearest(promises)
    missed = [each for each in promises if not each.attained]
    shown = [each for each in promises if each is best]
    shown += [each for each in missed if each.risk >= RISK][:1] or missed[-1:]
    shown += [] if kept else missed[-1:]
    hopeless = any(each.metric == "auroc_f" and each.group is None and each.score == score
                   and _auroc_f(each, judged.whole[score])[0] <= 0.5 for each in evaluation.measurements)  # fmt: skip
    if promises:
        full = next((k for k, each in enumerate(kept) if each.coverage == 1.0), len(kept))
        told = kept[: full + 1]  # a larger risk of everything says less
        texts = limits((each.risk, each.coverage, among(each.threshold, curve.threshold)) for each in told)
        yield {"about": "ladder", "attained": len(kept), "n": curve.blocks.n, "lowest": promises[0].risk,
               "highest": promises[-1].risk, "sure": 1.0 - DELTA, "kept": texts,
               "grouped": bool(by_column(evaluation, score)), "count": len(promises), "by": "", "how": HOW,
               "may": not hopeless and _may(curve, promises[-1].risk)}  # fmt: skip
    else:
        yield {"about": "no ladder", "why": _uncertified(evaluation, score)}
    for each in shown:
        yield {"about": "promise", "some": bool(kept), "score": score, "risk": each.risk, "attained": each.attained,
               "coverage": Counted(each.coverage, curve.blocks.n), "sure": 1.0 - DELTA, "n": curve.blocks.n,
               "asked": RISK, "threshold": among(each.threshold, curve.threshold), "doubt": DELTA,
               "tried": len(LADDER) * len(judged.whole), "useless": hopeless, "above": above if each is best else [],
               **ALL_READ,
               **({} if each.attained else plan_of(None if hopeless else each.needed(), each.least()))}  # fmt: skip
    gap = judged.calibration(score)
    if gap is not None:
        yield {"about": "calibration", "score": score, "gap": gap[0], "size": -gap[0], "low": gap[1], "high": gap[2]}


def _may(curve: RiskCoverageCurve, risk: float) -> bool:
    """Whether a threshold has a lower risk with as many rows as a certificate of it alone takes without an error."""
    many = curve.n_accepted >= np.log(DELTA) / np.log1p(-risk)
    return bool((curve.selective_risk[many] < risk).any())


def _groups_at(evaluation: Evaluation, score: str) -> Iterator[Facts]:
    """Yield the risk of each group where the threshold is that of all: which exceed the promise, and the highest."""
    judged, columns = evaluation.judged, by_column(evaluation, score)
    if not columns:
        yield dict(NO_GROUPS)
        return
    spoken, curve = judged.place(score), judged.whole[score].curve
    if spoken is None or not curve.blocks.binary or not judged.independent:
        return
    point, limit = spoken
    for column, members in columns.items():
        found: list[tuple[str, int, int, float, float]] = []
        for value, summary in members.items():
            at, blocks = summary.curve.at(threshold=point.threshold), summary.curve.blocks
            if at.n_accepted and np.array_equal(blocks.weight, blocks.count):
                sure = 1.0 - (1.0 - judged.level) / len(members)
                errors = round(at.selective_risk * at.n_accepted)
                ends = clopper_pearson(errors, at.n_accepted, sure)
                found.append((value, errors, at.n_accepted, *ends))
        if not found:
            continue
        which, p = stands_out([each[1] for each in found], [each[2] for each in found])
        worst, errors, n, low, high = found[which]
        found.sort(key=lambda each: each[1] / each[2], reverse=True)
        measured = [each for each in found if limit is not None and each[1] > limit * each[2]]
        yield {"about": "groups at it", "how": "", "column": column,
               "promised": limit is not None, "limit": limit or RISK,
               "above": [each[0] for each in measured if each[3] > (limit or RISK)],
               "measured": [f"{name} ({percent(k / m)} of {m:,})" for name, k, m, low, _ in measured
                            if low > (limit or RISK)],
               "perhaps": [f"{name} ({percent(k / m)} of {m:,} [{percent(low)}, {percent(high)}])"
                           for name, k, m, low, high in measured if not low > (limit or RISK)],
               "threshold": among(point.threshold, curve.threshold), "count": len(found), "p": p,
               "worst": worst, "risk": errors / n, "n": n, "low": low, "high": high}  # fmt: skip


def _counted(blocks: TieBlocks, share: float) -> float:
    """Return a share of rows that say their number where they all count once."""
    return Counted(share, blocks.n) if np.array_equal(blocks.weight, blocks.count) else share


def _uncertified(evaluation: Evaluation, score: str) -> str:
    """Return why no certificate was tried."""
    judged = evaluation.judged
    if judged.voided:
        return judged.voided[0]
    if not judged.independent:
        return "rows depend on each other ('abstain threshold' with --clusters can certify)"
    blocks = judged.whole[score].curve.blocks
    if not np.array_equal(blocks.weight, blocks.count):
        return "rows count by weights ('abstain threshold' can certify)"
    if evaluation.provenance.get("level") is None:
        return "no intervals were asked for (level 0)"
    return "single rows are not known any more"


def _perfect(blocks: TieBlocks) -> float:
    """Return the largest coverage at the risk under a ranking that puts every right answer first."""
    right = blocks.total_weight - float(blocks.loss.sum())
    wrong = right * RISK / (1.0 - RISK)
    if np.array_equal(blocks.weight, blocks.count):
        wrong = np.floor(wrong + 1e-9)
    return float(min(1.0, (right + wrong) / blocks.total_weight))
