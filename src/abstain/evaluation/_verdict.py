"""The verdict of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from abstain._result import SPOKEN, Caveat, Level, Status, Verdict, among, percent, planned_rows
from abstain.evaluation._judge import DELTA, LEAST, RISK, by_column, nearest, rows_of
from abstain.evaluation._notes import labelled_how
from abstain.inference import clopper_pearson, stands_out
from abstain.outputs import doubts

if TYPE_CHECKING:
    from abstain.curve import OperatingPoint, RiskCoverageCurve
    from abstain.evaluation._result import Evaluation
    from abstain.thresholds import RiskLevel

#: Of more rows a difference in coverage is not tested here, which would take longer than all else; 'compare' does.
MOST_ROWS = 50_000
#: Fewer errors than this say little about where they lie, and fewer rows than this little about anything.
FEW_ERRORS, FEW_ROWS = 10, 100
#: A larger share of rows with one score is a step that no threshold can separate.
LARGE_TIE = 0.1


def of_evaluation(evaluation: Evaluation) -> Verdict:
    """Return the verdict of an evaluation: what is certified of the best score, and what speaks against it."""
    judged, facts, score = evaluation.judged, evaluation.provenance, evaluation.judged.best
    if "few_labels" in facts:
        return _of_few_labels(evaluation)
    caveats = list(_of_rows(evaluation)) if judged.whole else []
    if score is None:
        why = facts.get("no_score", "the scores were measured on different rows")
        return Verdict(Status.UNDECIDED, n=facts.get("n", 0), reason=why, caveats=tuple(caveats))
    curve, tried, place = judged.whole[score].curve, judged.levels(score), judged.place(score)
    blocks, tested = curve.blocks, judged.comparison
    better = None if tested is None else tested.better(more=False)
    if tested is not None and better is not None and better.significant and tested.n <= MOST_ROWS:
        better = tested.better()  # also by how much more it answers
    kept = [each for each in tried if each.attained]
    missed = [each for each in tried if not each.attained]
    whole = next((k for k, each in enumerate(kept) if each.coverage == 1.0), len(kept))
    levels = [_level(curve, each.risk, each) for each in kept[: whole + 1]]  # a larger risk of everything says less
    found = Verdict(
        Status.MEASURED, score=score, n=blocks.n, full_risk=blocks.mean_loss, graded=not blocks.binary,
        levels=tuple(levels), missed=tuple(each.risk for each in missed), confidence=1.0 - DELTA if tried else None,
        comparison=better,
    )  # fmt: skip
    if place is not None:
        point, limit = place
        found = found.but(
            threshold=point.threshold, printed=among(point.threshold, curve.threshold), coverage=point.coverage,
            risk=point.selective_risk, n_accepted=point.n_accepted, limit=limit,
        )  # fmt: skip
    if blocks.binary and (at := curve.at(risk=RISK)).reason is None:
        found = found.but(measured=_level(curve, RISK, at))
    caveats += _of_groups(evaluation)
    if not tried:
        return found.but(*caveats, Caveat.of("uncertified", why=judged.uncertified))
    useless = any(each.kind in ("chance", "reversed") and each.values["score"] == score for each in caveats)
    best = nearest(tried)
    if useless:  # which says that it ranks by chance
        caveats = [each for each in caveats if each.kind != "chance" or each.values["score"] != score]
        found = found.but(status=Status.NO_USE)
    elif best is None or best.risk > RISK or best.coverage < LEAST:
        ends = f"{percent(tried[0].risk)} to {percent(tried[-1].risk)}"
        why = "" if kept else f"none of {len(tried)} limits from {ends}, tried at once, with these rows"
        found = found.but(status=Status.NOT_CERTIFIED, limit=RISK, reason=why)
    else:
        above = any(each.kind == "group_above" for each in caveats)
        found = found.but(status=Status.MIX if above else Status.CERTIFIED)
    for each in [each for each in missed if each.risk >= RISK][:1] or missed[-1:]:
        caveats += planned_rows(each.risk, None if useless else each.needed(), each.least(), blocks.n, len(tried))
    return found.but(*caveats)


def _level(curve: RiskCoverageCurve, limit: float, at: RiskLevel | OperatingPoint) -> Level:
    return Level(limit, at.coverage, at.threshold, among(at.threshold, curve.threshold))


def _of_rows(evaluation: Evaluation) -> Iterator[Caveat]:
    """Yield caveats of the rows and of each score, before anything is certified."""
    from abstain.thresholds import unusual

    judged, facts = evaluation.judged, evaluation.provenance
    answers = facts.get("answers")
    if answers is not None and answers.counts["abstained"]:
        yield Caveat.of("model_abstains", share=answers.counts["abstained"] / answers.n, n=answers.n)
    graded = facts.get("understood", {}).get("loss", "0/1") != "0/1"
    for name, summary in judged.whole.items():
        rows = rows_of(summary.curve.blocks)
        scores = summary.curve.blocks.score if rows is None else rows[1]
        yield from (Caveat.of(kind, score=name, **values) for kind, values in unusual(scores))
        if rows is not None and np.isfinite(scores).all():
            nothing = dict.fromkeys(("confidence", "predictions", "labels", "logits", "probabilities", "passes"))
            given = {**nothing, "scores": {name: scores}, "loss": rows[0] if graded else None}
            yield from (Caveat.of("doubtful_reading", doubt=str(each)) for each in doubts(given, rows[0], None))
    for copies in judged.copies:
        yield Caveat.of("copied_rows", copies=copies.partition(";")[0])
    blocks = next(iter(judged.whole.values())).curve.blocks
    errors = round(float(blocks.loss.sum()))
    if blocks.n < FEW_ROWS or (blocks.binary and errors < FEW_ERRORS):
        few = SPOKEN.format("{:rows}", blocks.n)
        few = f"{errors} error{'s' * (errors != 1)} in {few}" if blocks.binary else few
        yield Caveat.of("small_sample", what=few)
    named = {name: each for name, each in judged.whole.items() if len(judged.whole) <= 3 or name == judged.best}
    for name, summary in named.items():
        if missing := summary.n_rejected + summary.n_dropped:
            outcome = "rejected" if summary.n_rejected else "left out"
            yield Caveat.of("missing_scores", count=missing, score=name, outcome=outcome)
        if summary.largest_tie > max(1, LARGE_TIE * summary.n):
            yield Caveat.of("large_tie", tie=summary.largest_tie / summary.n, score=name)
    for each in evaluation.measurements:
        if each.metric == "auroc_f" and each.group is None and each.score in named:
            constant = len(named[each.score].curve.blocks.score) == 1 and each.value == each.value
            low, high = (0.5, 0.5) if constant else (each.low, each.high)
            if high < 0.5:
                yield Caveat.of("reversed", score=each.score, auroc=each.value, where=" of failures")
            elif low <= 0.5:
                yield Caveat.of("chance", score=each.score, value=each.value, low=low, high=high)
    gap = None if judged.best is None else judged.calibration(judged.best)
    if gap is not None and (gap[1] > 0.0 or gap[2] < 0.0):
        word = "overconfident" if gap[0] > 0.0 else "underconfident"
        yield Caveat.of("miscalibrated", score=judged.best, word=word, gap=abs(gap[0]))


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
            high, low = (found.intervals[name].estimate for name in (widest.a, widest.b))
            yield Caveat.of("groups_differ", column=column, a=widest.a, high=high, b=widest.b, low=low)
    if place is None or not judged.whole[score].curve.blocks.binary or not judged.independent:
        return
    point, limit = place
    for column, members in columns.items():
        answered: list[tuple[float, int, float, float, str]] = []
        for value, summary in members.items():
            at, blocks = summary.curve.at(threshold=point.threshold), summary.curve.blocks
            if at.n_accepted and np.array_equal(blocks.weight, blocks.count):
                errors, n = round(at.selective_risk * at.n_accepted), at.n_accepted
                ends = clopper_pearson(errors, n, 1.0 - (1.0 - judged.level) / len(members))
                answered.append((errors / n, n, *ends, value))
        said = list(_above(column, answered, limit))
        tested = judged.groups.get(column)
        apart = tested is not None and any(each.significant for each in tested.differences)
        if not said and len(answered) > 1 and not apart:
            risk, n, low, high, name = max(answered)
            said = [Caveat.of("groups_alike", column=column, name=name, risk=risk, low=low, high=high, n=n)]
        yield from said


def _above(column: str, answered: list[tuple[float, int, float, float, str]], limit: float | None) -> Iterator[Caveat]:
    """Yield which groups exceed the certified limit, for certain or perhaps, and which stands out.

    ``answered``: of each group the risk of its answers, their number, the interval of the risk, and its name.
    """
    high = [each for each in sorted(answered, reverse=True) if limit is not None and each[0] > limit]
    above = [each for each in high if each[2] > (limit or 0.0)]
    for kind, found in (("group_above", above), ("group_unclear", [each for each in high if each not in above])):
        names = [f"{name} ({percent(risk)} of {n:,})" for risk, n, _, _, name in found]
        if names:
            yield Caveat.of(kind, column=column, limit=limit, names=names, groups=[each[-1] for each in found])
    if len(answered) > 1 and not above:
        which, p = stands_out([round(risk * n) for risk, n, *_ in answered], [each[1] for each in answered])
        risk, n, low, upper, name = answered[which]
        if p < 0.05:
            yield Caveat.of("stands_out", kind=column, name=name, risk=risk, low=low, high=upper, n=n, p=p)


def _of_few_labels(evaluation: Evaluation) -> Verdict:
    """Return the verdict of a pool of which some rows are labelled: estimates, and nothing certified."""
    facts, few = evaluation.provenance, evaluation.provenance["few_labels"]
    known = {each.metric.partition("(")[0]: each for each in evaluation.measurements
             if each.group is None and each.low == each.low}  # fmt: skip
    caveats = [Caveat.of("groups_missing", how="see groups=, of rows that are all labelled")]
    if few["labelled"] < facts["n"]:
        values = {"labelled": few["labelled"], "n": facts["n"], "errors": few["errors"]}
        caveats.append(Caveat.of("few_labels", how=labelled_how(few["design"]), **values))
    ranking, risk, accuracy = (known.get(name) for name in ("auroc_f", "risk", "accuracy"))
    if ranking is not None and not ranking.low > 0.5:
        ends = {"low": ranking.low, "high": ranking.high}
        caveats.append(Caveat.of("chance", score=ranking.score, value=ranking.value, **ends))
    whole, interval = (None, None) if risk is None else (risk.value, (risk.low, risk.high))
    if accuracy is not None:
        whole, interval = 1.0 - accuracy.value, (1.0 - accuracy.high, 1.0 - accuracy.low)
    return Verdict(
        Status.MEASURED, score=next(iter(evaluation.scores), ""), n=facts["n"], n_accepted=facts["n"], coverage=1.0,
        caveats=tuple(caveats), risk=whole, full_risk=whole, risk_interval=interval,
    )  # fmt: skip
