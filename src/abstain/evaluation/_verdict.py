"""The verdict of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from abstain._result import Better, Caveat, Level, Status, Verdict, among, percent, planned_rows
from abstain.evaluation._judge import DELTA, LEAST, RISK, by_column, nearest, rows_of
from abstain.evaluation._notes import labelled_how
from abstain.inference import clopper_pearson, stands_out
from abstain.outputs import doubts

if TYPE_CHECKING:
    from abstain.evaluation._result import Evaluation, Measurement, ScoreSummary

#: Of more rows a difference in coverage is not tested here, which would take longer than all else; 'compare' does.
MOST_ROWS = 50_000
#: Fewer errors than this say little about where they lie, and fewer rows than this little about anything.
FEW_ERRORS, FEW_ROWS = 10, 100
#: A larger share of rows with one score is a step that no threshold can separate.
LARGE_TIE = 0.1


def of_evaluation(evaluation: Evaluation) -> Verdict:
    """Return the verdict of an evaluation: what is certified of the best score, and what speaks against it."""
    judged, facts = evaluation.judged, evaluation.provenance
    if "few_labels" in facts:
        return _of_few_labels(evaluation)
    caveats = list(_of_rows(evaluation)) if judged.whole else []
    if judged.best is None:
        why = facts.get("no_score", "the scores were measured on different rows")
        return Verdict(Status.UNDECIDED, n=facts.get("n", 0), reason=why, caveats=tuple(caveats))
    score = judged.best
    curve = judged.whole[score].curve
    blocks, place, promises = curve.blocks, judged.place(score), judged.promises(score)
    point, limit = place if place is not None else (None, None)
    kept = [each for each in promises if each.attained]
    whole = next((k for k, each in enumerate(kept) if each.coverage == 1.0), len(kept))
    levels = tuple(
        Level(each.risk, each.coverage, each.threshold, among(each.threshold, curve.threshold))
        for each in kept[: whole + 1]  # a larger risk of everything says less
    )
    missed = [each for each in promises if not each.attained]
    found = Verdict(
        Status.MEASURED, score=score, n=blocks.n, full_risk=blocks.mean_loss, graded=not blocks.binary, levels=levels,
        missed=tuple(each.risk for each in missed), confidence=1.0 - DELTA if promises else None,
        comparison=_compared(evaluation),
    )  # fmt: skip
    if point is not None:
        found = found.but(
            threshold=point.threshold, printed=among(point.threshold, curve.threshold), coverage=point.coverage,
            risk=point.selective_risk, n_accepted=point.n_accepted, limit=limit,
        )  # fmt: skip
    if blocks.binary and (at := curve.at(risk=RISK)).reason is None:
        found = found.but(measured=Level(RISK, at.coverage, at.threshold, among(at.threshold, curve.threshold)))
    if not promises:
        return found.but(
            *caveats, *_of_groups(evaluation), Caveat.of("uncertified", why=_uncertified(evaluation, score))
        )
    groups = list(_of_groups(evaluation))
    useless, best = _useless(evaluation, score), nearest(promises)
    certified = best is not None and best.risk <= RISK and best.coverage >= LEAST
    if useless:
        status = Status.NO_USE
        caveats = [each for each in caveats if each.kind != "chance" or each.values["score"] != score]
    elif not certified:
        status, limit = Status.NOT_CERTIFIED, RISK
        if not kept:
            ends = f"{percent(promises[0].risk)} to {percent(promises[-1].risk)}"
            found = found.but(reason=f"none of {len(promises)} limits from {ends}, tried at once, with these rows")
    else:
        status = Status.MIX if any(each.kind == "group_above" for each in groups) else Status.CERTIFIED
    shown = [each for each in missed if each.risk >= RISK][:1] or missed[-1:]
    for each in shown:
        caveats += planned_rows(each.risk, None if useless else each.needed(), each.least(), blocks.n)
    return found.but(*caveats, *groups, status=status, limit=limit)


def _useless(evaluation: Evaluation, score: str) -> bool:
    """Whether the interval of AUROC of failures of a score does not lie above one half."""
    return any(
        _auroc_f(each, evaluation.judged.whole[score])[0] <= 0.5
        for each in evaluation.measurements
        if each.metric == "auroc_f" and each.group is None and each.score == score
    )


def _auroc_f(found: Measurement, summary: ScoreSummary) -> tuple[float, float]:
    """Return the interval of an AUROC of failures; that of equal scores, which rank by chance, is one half."""
    constant = len(summary.curve.blocks.score) == 1 and found.value == found.value
    return (0.5, 0.5) if constant else (found.low, found.high)


def _compared(evaluation: Evaluation) -> Better | None:
    """Return the best score against the next; a significant one also by how much more it answers."""
    found = evaluation.judged.comparison
    if found is None:
        return None
    better = found.better()
    return found.better(found.n <= MOST_ROWS and better is not None and better.significant)


def _of_rows(evaluation: Evaluation) -> Iterator[Caveat]:
    """Yield caveats of the rows and of each score, before anything is certified."""
    judged, facts = evaluation.judged, evaluation.provenance
    answers = facts.get("answers")
    if answers is not None and answers.counts["abstained"]:
        yield Caveat.of("model_abstains", share=answers.counts["abstained"] / answers.n, n=answers.n)
    yield from _doubtful(evaluation)
    blocks = next(iter(judged.whole.values())).curve.blocks
    errors = round(float(blocks.loss.sum()))
    if blocks.n < FEW_ROWS or (blocks.binary and errors < FEW_ERRORS):
        rows = f"{blocks.n:,} row{'s' * (blocks.n != 1)}"
        what = f"{errors} error{'s' * (errors != 1)} in {rows}" if blocks.binary else rows
        yield Caveat.of("small_sample", what=what)
    named = list(judged.whole) if len(judged.whole) <= 3 else [judged.best]
    for name in named:
        summary = judged.whole.get(name or "")
        if summary is None:
            continue
        if missing := summary.n_rejected + summary.n_dropped:
            fate = "rejected" if summary.n_rejected else "left out"
            yield Caveat.of("missing_scores", count=missing, score=name, fate=fate)
        if summary.largest_tie > max(1, LARGE_TIE * summary.n):
            yield Caveat.of("large_tie", tie=summary.largest_tie / summary.n, score=name)
    for each in evaluation.measurements:
        if each.metric == "auroc_f" and each.group is None and each.score in named:
            low, high = _auroc_f(each, judged.whole[each.score])
            if high < 0.5:
                yield Caveat.of("reversed", score=each.score, auroc=each.value, where=" of failures")
            elif low <= 0.5:
                yield Caveat.of("chance", score=each.score, value=each.value, low=low, high=high)
    gap = None if judged.best is None else judged.calibration(judged.best)
    if gap is not None and (gap[1] > 0.0 or gap[2] < 0.0):
        word = "overconfident" if gap[0] > 0.0 else "underconfident"
        yield Caveat.of("miscalibrated", score=judged.best, word=word, gap=abs(gap[0]))


def _doubtful(evaluation: Evaluation) -> Iterator[Caveat]:
    """Yield what rows and scores look like, where that is another quantity than they were given as."""
    from abstain.thresholds import unusual

    given = evaluation.provenance.get("understood", {}).get("loss", "0/1") != "0/1"
    for name, summary in evaluation.judged.whole.items():
        rows = rows_of(summary.curve.blocks)
        scores = summary.curve.blocks.score if rows is None else rows[1]
        yield from (Caveat.of(kind, score=name, **values) for kind, values in unusual(scores))
        if rows is None or not np.isfinite(rows[1]).all():
            continue
        nothing = dict.fromkeys(("confidence", "predictions", "labels", "logits", "probabilities", "passes"))
        found = {**nothing, "scores": {name: rows[1]}, "loss": rows[0] if given else None}
        yield from (Caveat.of("doubtful_reading", doubt=str(each)) for each in doubts(found, rows[0], None))
    for copies in evaluation.judged.copies:
        yield Caveat.of("copied_rows", copies=copies.partition(";")[0])


def _of_groups(evaluation: Evaluation) -> Iterator[Caveat]:
    """Yield what is known of groups at the threshold of all, and of their error rates."""
    judged, score = evaluation.judged, str(evaluation.judged.best)
    columns, place = by_column(evaluation, score), judged.place(score)
    if not columns:
        yield Caveat.of("groups_missing", how="see groups=")
    for column, found in judged.groups.items():
        differ = [each for each in found.differences if each.significant]
        if differ:
            widest = max(differ, key=lambda each: abs(each.difference))
            yield Caveat.of("groups_differ", column=column, a=widest.a, high=found.intervals[widest.a].estimate,
                            b=widest.b, low=found.intervals[widest.b].estimate)  # fmt: skip
    if place is None or not judged.whole[score].curve.blocks.binary or not judged.independent:
        return
    point, limit = place
    for column, members in columns.items():
        answered: list[tuple[str, int, int, float, float]] = []
        for value, summary in members.items():
            at, blocks = summary.curve.at(threshold=point.threshold), summary.curve.blocks
            if at.n_accepted and np.array_equal(blocks.weight, blocks.count):
                errors = round(at.selective_risk * at.n_accepted)
                ends = clopper_pearson(errors, at.n_accepted, 1.0 - (1.0 - judged.level) / len(members))
                answered.append((value, errors, at.n_accepted, *ends))
        yield from _above(column, answered, limit)


def _above(column: str, answered: list[tuple[str, int, int, float, float]], limit: float | None) -> Iterator[Caveat]:
    """Yield which groups exceed the certified limit, for certain or perhaps, and which stands out."""
    high = sorted((each for each in answered if limit is not None and each[1] > limit * each[2]),
                  key=lambda each: each[1] / each[2], reverse=True)  # fmt: skip
    above = [each for each in high if limit is not None and each[3] > limit]
    if above:
        names = [f"{name} ({percent(errors / n)} of {n:,})" for name, errors, n, *_ in above]
        yield Caveat.of("group_above", column=column, limit=limit, names=names, groups=[each[0] for each in above])
    if unclear := [each for each in high if each not in above]:
        names = [f"{name} ({percent(errors / n)} of {n:,})" for name, errors, n, *_ in unclear]
        yield Caveat.of("group_unclear", column=column, limit=limit, names=names)
    if len(answered) > 1 and not above:
        which, p = stands_out([each[1] for each in answered], [each[2] for each in answered])
        if p < 0.05:
            name, errors, n, low, upper = answered[which]
            yield Caveat.of("stands_out", kind=column, name=name, risk=errors / n, low=low, high=upper, n=n, p=p)


def _uncertified(evaluation: Evaluation, score: str) -> str:
    """Return why no certificate was tried."""
    judged = evaluation.judged
    blocks = judged.whole[score].curve.blocks
    if not blocks.binary:
        return "the loss is not 0/1 ('abstain threshold' with --max-loss can certify)"
    if judged.voided:
        return judged.voided[0]
    if not judged.independent:
        return "rows depend on each other ('abstain threshold' with --clusters can certify)"
    if not np.array_equal(blocks.weight, blocks.count):
        return "rows count by weights ('abstain threshold' can certify)"
    if evaluation.provenance.get("level") is None:
        return "no intervals were asked for (level 0)"
    return "single rows are not known any more"


def _of_few_labels(evaluation: Evaluation) -> Verdict:
    """Return the verdict of a pool of which some rows are labelled: estimates, and nothing certified."""
    facts, few = evaluation.provenance, evaluation.provenance["few_labels"]
    known = {each.metric.partition("(")[0]: each for each in evaluation.measurements
             if each.group is None and each.low == each.low}  # fmt: skip
    caveats = []
    if few["labelled"] < facts["n"]:
        caveats.append(Caveat.of("few_labels", labelled=few["labelled"], n=facts["n"], errors=few["errors"],
                                 how=labelled_how(few["design"])))  # fmt: skip
    ranking = known.get("auroc_f")
    if ranking is not None and not ranking.low > 0.5:
        caveats.append(
            Caveat.of("chance", score=ranking.score, value=ranking.value, low=ranking.low, high=ranking.high)
        )
    risk, first = known.get("risk"), known.get("accuracy")
    whole = None if risk is None else (risk.value, risk.low, risk.high)
    if first is not None:
        whole = (1.0 - first.value, 1.0 - first.high, 1.0 - first.low)
    caveats.append(Caveat.of("groups_missing", how="see groups=, of rows that are all labelled"))
    return Verdict(
        Status.MEASURED, score=next(iter(evaluation.scores), ""), n=facts["n"], n_accepted=facts["n"], coverage=1.0,
        caveats=tuple(caveats), risk=None if whole is None else whole[0], full_risk=None if whole is None else whole[0],
        risk_interval=None if whole is None else whole[1:],
    )  # fmt: skip
