"""The verdict of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from abstain._result import SPOKEN, Caveat, Level, Status, Verdict, among, percent, planned_rows
from abstain.evaluation._judge import DELTA, RISK, Rate, by_column, rates_of
from abstain.evaluation._notes import few_labels_caveat
from abstain.inference import stands_out

if TYPE_CHECKING:
    from abstain.curve import OperatingPoint
    from abstain.evaluation._judge import Judged
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
    if facts.few_labels is not None:
        return _of_few_labels(evaluation)
    caveats = list(_of_rows(evaluation)) if judged.whole else []
    if score is None:
        why = facts.get("no_score", "the scores were measured on different rows")
        return Verdict(Status.UNDECIDED, n=facts.get("n", 0), reason=why, caveats=tuple(caveats))
    caveats += _of_groups(evaluation)
    found, tried = _measured(judged, score), judged.levels(score)
    if not tried:
        return found.but(*caveats, Caveat.of("uncertified", why=judged.uncertified))
    kinds = {each.kind for each in caveats if each.values.get("score", score) == score}
    useless = not kinds.isdisjoint({"chance", "reversed"})
    if useless:  # which says that it ranks by chance
        caveats = [each for each in caveats if each.kind != "chance" or each.values["score"] != score]
        found = found.but(status=Status.NO_USE)
    elif found.limit is None or found.limit > RISK:
        ends = f"{percent(tried[0].risk)} to {percent(tried[-1].risk)}"
        why = "" if found.levels else f"none of {len(tried)} limits from {ends}, tried at once, with these rows"
        found = found.but(status=Status.NOT_CERTIFIED, limit=RISK, reason=why)
    else:
        found = found.but(status=Status.MIX if "group_above" in kinds else Status.CERTIFIED)
    missed = [each for each in tried if not each.attained]
    for each in [each for each in missed if each.risk >= RISK][:1] or missed[-1:]:
        caveats += planned_rows(each.risk, None if useless else each.needed(), each.least(), found.n, len(tried))
    return found.but(*caveats)


def _measured(judged: Judged, score: str) -> Verdict:
    """Return what is measured of a score and which limits are certified, before what speaks against it."""
    curve, tried, tested = judged.whole[score].curve, judged.levels(score), judged.comparison
    blocks, (point, limit) = curve.blocks, judged.place(score) or (None, None)

    def level(limit: float, at: RiskLevel | OperatingPoint) -> Level:
        return Level(limit, at.coverage, at.threshold, among(at.threshold, curve.threshold))

    certified = [level(each.risk, each) for each in tried if each.attained]
    whole = next((k for k, each in enumerate(certified) if each.coverage == 1.0), len(certified))
    usual = curve.at(risk=RISK) if blocks.binary else None
    better = None if tested is None else tested.better(more=False)
    if tested is not None and better is not None and better.significant and tested.n <= MOST_ROWS:
        better = tested.better()  # also by how much more it answers
    return Verdict.of(
        Status.MEASURED, point, score=score, n=blocks.n, limit=limit, full_risk=blocks.mean_loss, comparison=better,
        graded=not blocks.binary, risk=None if point is None else point.selective_risk,
        printed="" if point is None else among(point.threshold, curve.threshold),
        levels=tuple(certified[: whole + 1]),  # a larger limit than that of answering everything says less
        missed=tuple(each.risk for each in tried if not each.attained), confidence=1.0 - DELTA if tried else None,
        measured=None if usual is None or usual.reason is not None else level(RISK, usual),
    )  # fmt: skip


def _of_rows(evaluation: Evaluation) -> Iterator[Caveat]:
    """Yield caveats of the rows and of each score, before anything is certified."""
    judged, answers = evaluation.judged, evaluation.provenance.get("answers")
    if answers is not None and answers.counts["abstained"]:
        yield Caveat.of("model_abstains", share=answers.counts["abstained"] / answers.n, n=answers.n)
    for copies in judged.copies:
        yield Caveat.of("copied_rows", copies=copies.partition(";")[0])
    blocks = next(iter(judged.whole.values())).curve.blocks
    errors, what = round(float(blocks.loss.sum())), SPOKEN.format("{:rows}", blocks.n)
    if blocks.n < FEW_ROWS or (blocks.binary and errors < FEW_ERRORS):
        of_them = f"{errors} error{'s' * (errors != 1)} in " * blocks.binary
        yield Caveat.of("small_sample", what=of_them + what)
    for name in judged.whole:
        yield from (Caveat.of(kind, **values) for kind, values in judged.odd_values(name))
        if name == judged.best or len(judged.whole) <= 3:
            yield from _of_score(judged, name)


def _of_score(judged: Judged, name: str) -> Iterator[Caveat]:
    """Yield caveats of a score: rows without it, ties, how it ranks, and what it says as a probability."""
    summary = judged.whole[name]
    if missing := summary.n_rejected + summary.n_dropped:
        outcome = "rejected" if summary.n_rejected else "left out"
        yield Caveat.of("missing_scores", count=missing, score=name, outcome=outcome)
    if summary.largest_tie > max(1, LARGE_TIE * summary.n):
        yield Caveat.of("large_tie", tie=summary.largest_tie / summary.n, score=name)
    yield from _of_ranking(judged, name)
    gap = judged.calibration(name) if name == judged.best else None
    if gap is not None and (gap[1] > 0.0 or gap[2] < 0.0):
        word = "overconfident" if gap[0] > 0.0 else "underconfident"
        yield Caveat.of("miscalibrated", score=name, word=word, gap=abs(gap[0]))


def _of_ranking(judged: Judged, name: str) -> Iterator[Caveat]:
    """Yield that a score ranks errors like chance, or worse."""
    value, low, high = judged.ranking(name) or (math.nan, math.nan, math.nan)
    if high < 0.5:
        yield Caveat.of("reversed", score=name, auroc=value, where=" of failures")
    elif low <= 0.5:
        yield Caveat.of("chance", score=name, value=value, low=low, high=high)


def _of_groups(evaluation: Evaluation) -> Iterator[Caveat]:
    """Yield what is known of groups at the threshold of all, and of their error rates."""
    judged, score = evaluation.judged, str(evaluation.judged.best)
    columns, place = by_column(evaluation, score), judged.place(score)
    if not columns:
        yield Caveat.of("groups_missing", how="see groups=")
    for column, members in columns.items():
        compared = judged.groups.get(column)
        differ = [] if compared is None else [each for each in compared.differences if each.significant]
        if compared is not None and differ:
            widest = max(differ, key=lambda each: abs(each.difference))
            high, low = (compared.intervals[name].estimate for name in (widest.a, widest.b))
            yield Caveat.of("groups_differ", column=column, a=widest.a, high=high, b=widest.b, low=low)
        if place is not None and judged.whole[score].curve.blocks.binary and judged.independent:
            rates = rates_of(members, place[0].threshold, judged.level)
            yield from _of_column(column, rates, place[1], differ=bool(differ))


def _of_column(column: str, rates: list[Rate], limit: float | None, *, differ: bool) -> Iterator[Caveat]:
    """Yield which groups exceed the certified limit, for certain or perhaps; else which stands out, if one does.

    ``differ``: whether error rates differ when everything is answered.
    """
    high = [each for each in rates if limit is not None and each.risk > limit]
    above = [each for each in high if each.low > (limit or 0.0)]
    for kind, found in (("group_above", above), ("group_unclear", [each for each in high if each not in above])):
        if found:
            names = [f"{each.name} ({percent(each.risk)} of {each.n:,})" for each in found]
            yield Caveat.of(kind, column=column, limit=limit, names=names, groups=[each.name for each in found])
    if above or len(rates) < 2:
        return
    which, p = stands_out([round(each.risk * each.n) for each in rates], [each.n for each in rates])
    if p < 0.05:
        yield Caveat.of("stands_out", kind=column, p=p, **rates[which]._asdict())
    elif not high and not differ:
        yield Caveat.of("groups_alike", column=column, **rates[0]._asdict())


def _of_few_labels(evaluation: Evaluation) -> Verdict:
    """Return the verdict of a pool of which some rows are labelled: estimates, and nothing certified."""
    n, few, name = evaluation.provenance["n"], evaluation.provenance["few_labels"], next(iter(evaluation.scores), "")
    caveats = [Caveat.of("groups_missing", how="see groups=, which needs labels of all rows")]
    caveats += few_labels_caveat(few.labelled, n, few.design, few.errors)
    found = Verdict(Status.MEASURED, name, n=n, n_accepted=n, coverage=1.0, caveats=tuple(caveats))
    for each in evaluation.measurements:
        if each.group is None and each.metric in ("risk", "accuracy") and each.low == each.low:
            risk, ends = each.value, (each.low, each.high)
            if each.metric == "accuracy":
                risk, ends = 1.0 - each.value, (1.0 - each.high, 1.0 - each.low)
            found = found.but(risk=risk, full_risk=risk, risk_interval=ends)
    return found.but(*_of_ranking(evaluation.judged, name))
