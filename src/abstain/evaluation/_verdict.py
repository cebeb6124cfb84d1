"""The verdict of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from abstain._result import SPOKEN, Better, Caveat, Level, Status, Verdict, among, percent, planned_rows
from abstain.evaluation._judge import DELTA, LEAST, RISK, Rate, by_column, nearest, rates_of
from abstain.evaluation._notes import labelled_how
from abstain.inference import stands_out

if TYPE_CHECKING:
    from abstain.curve import OperatingPoint, RiskCoverageCurve
    from abstain.evaluation._judge import Judged
    from abstain.evaluation._result import Evaluation
    from abstain.thresholds import RiskLevel

#: What makes groups possible where few rows are labelled.
ALL_LABELLED = "see groups=, which needs labels of all rows"
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
    curve, tried, best = judged.whole[score].curve, judged.levels(score), nearest(judged.levels(score))
    point, limit = judged.place(score) or (None, None)
    missed, blocks = [each for each in tried if not each.attained], curve.blocks
    found = Verdict.of(
        Status.MEASURED, point, score=score, n=blocks.n, limit=limit, full_risk=blocks.mean_loss,
        graded=not blocks.binary, risk=None if point is None else point.selective_risk,
        printed="" if point is None else among(point.threshold, curve.threshold), levels=_levels(curve, tried),
        missed=tuple(each.risk for each in missed), confidence=1.0 - DELTA if tried else None,
        comparison=_better(judged), measured=_measured(curve),
    )  # fmt: skip
    caveats += _of_groups(evaluation)
    if not tried:
        return found.but(*caveats, Caveat.of("uncertified", why=judged.uncertified))
    useless = any(each.kind in ("chance", "reversed") and each.values["score"] == score for each in caveats)
    if useless:  # which says that it ranks by chance
        caveats = [each for each in caveats if each.kind != "chance" or each.values["score"] != score]
        found = found.but(status=Status.NO_USE)
    elif best is None or best.risk > RISK or best.coverage < LEAST:
        ends = f"{percent(tried[0].risk)} to {percent(tried[-1].risk)}"
        why = "" if best else f"none of {len(tried)} limits from {ends}, tried at once, with these rows"
        found = found.but(status=Status.NOT_CERTIFIED, limit=RISK, reason=why)
    else:
        above = any(each.kind == "group_above" for each in caveats)
        found = found.but(status=Status.MIX if above else Status.CERTIFIED)
    for each in [each for each in missed if each.risk >= RISK][:1] or missed[-1:]:
        caveats += planned_rows(each.risk, None if useless else each.needed(), each.least(), blocks.n, len(tried))
    return found.but(*caveats)


def _levels(curve: RiskCoverageCurve, tried: Sequence[RiskLevel]) -> tuple[Level, ...]:
    """Return what is certified, up to the first limit that answering everything satisfies: a larger one says less."""
    kept = [each for each in tried if each.attained]
    whole = next((k for k, each in enumerate(kept) if each.coverage == 1.0), len(kept))
    return tuple(_level(curve, each.risk, each) for each in kept[: whole + 1])


def _measured(curve: RiskCoverageCurve) -> Level | None:
    """Return the point that satisfies the usual limit on these rows."""
    at = curve.at(risk=RISK) if curve.blocks.binary else None
    return None if at is None or at.reason is not None else _level(curve, RISK, at)


def _level(curve: RiskCoverageCurve, limit: float, at: RiskLevel | OperatingPoint) -> Level:
    return Level(limit, at.coverage, at.threshold, among(at.threshold, curve.threshold))


def _better(judged: Judged) -> Better | None:
    """Return the best score against the next; where it is better, also by how much more it answers."""
    tested = judged.comparison
    better = None if tested is None else tested.better(more=False)
    if tested is None or better is None or not better.significant or tested.n > MOST_ROWS:
        return better
    return tested.better()


def _of_rows(evaluation: Evaluation) -> Iterator[Caveat]:
    """Yield caveats of the rows and of each score, before anything is certified."""
    judged, answers = evaluation.judged, evaluation.provenance.get("answers")
    if answers is not None and answers.counts["abstained"]:
        yield Caveat.of("model_abstains", share=answers.counts["abstained"] / answers.n, n=answers.n)
    for name in judged.whole:
        yield from (Caveat.of(kind, **values) for kind, values in judged.odd_values(name))
    for copies in judged.copies:
        yield Caveat.of("copied_rows", copies=copies.partition(";")[0])
    blocks = next(iter(judged.whole.values())).curve.blocks
    errors, few = round(float(blocks.loss.sum())), SPOKEN.format("{:rows}", blocks.n)
    if blocks.binary and (errors < FEW_ERRORS or blocks.n < FEW_ROWS):
        yield Caveat.of("small_sample", what=f"{errors} error{'s' * (errors != 1)} in {few}")
    elif blocks.n < FEW_ROWS:
        yield Caveat.of("small_sample", what=few)
    for name in judged.whole if len(judged.whole) <= 3 else filter(None, [judged.best]):
        yield from _of_score(evaluation, name)


def _of_score(evaluation: Evaluation, name: str) -> Iterator[Caveat]:
    """Yield caveats of a score: rows without it, ties, how it ranks, and what it says as a probability."""
    judged, summary = evaluation.judged, evaluation.judged.whole[name]
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
    differ = {name: [each for each in found.differences if each.significant] for name, found in judged.groups.items()}
    for column, pairs in differ.items():
        if pairs:
            widest = max(pairs, key=lambda each: abs(each.difference))
            high, low = (judged.groups[column].intervals[name].estimate for name in (widest.a, widest.b))
            yield Caveat.of("groups_differ", column=column, a=widest.a, high=high, b=widest.b, low=low)
    if place is None or not judged.whole[score].curve.blocks.binary or not judged.independent:
        return
    for column, members in columns.items():
        rates = rates_of(members, place[0].threshold, judged.level)
        yield from _of_column(column, rates, place[1], differ=bool(differ.get(column)))


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
    facts, few = evaluation.provenance, evaluation.provenance["few_labels"]
    name, caveats = next(iter(evaluation.scores), ""), [Caveat.of("groups_missing", how=ALL_LABELLED)]
    if few["labelled"] < facts["n"]:
        how, labelled = labelled_how(few["design"]), few["labelled"]
        caveats.append(Caveat.of("few_labels", how=how, labelled=labelled, n=facts["n"], errors=few["errors"]))
    caveats += _of_ranking(evaluation.judged, name)
    risk, interval = None, None
    for each in evaluation.measurements:
        if each.group is None and each.metric in ("risk", "accuracy") and each.low == each.low:
            values = [each.value, each.low, each.high]
            risk, low, high = values if each.metric == "risk" else [1.0 - values[k] for k in (0, 2, 1)]
            interval = (low, high)
    return Verdict(
        Status.MEASURED, name, n=facts["n"], n_accepted=facts["n"], coverage=1.0, caveats=tuple(caveats), risk=risk,
        full_risk=risk, risk_interval=interval,
    )  # fmt: skip
