"""The verdict of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from abstain._result import SPOKEN, Caveat, Level, Status, Verdict, among, out_of_reach, percent
from abstain.evaluation._judge import DELTA, RISK, by_column, rates_of
from abstain.evaluation._notes import few_labels_caveat
from abstain.inference import stands_out

if TYPE_CHECKING:
    from abstain.evaluation._judge import Judged
    from abstain.evaluation._result import Evaluation

#: Of more rows a difference in coverage is not tested here, which would take longer than all else; 'compare' does.
MOST_ROWS = 50_000
#: Fewer errors than this say little about where they lie, and fewer rows than this little about anything.
FEW_ERRORS, FEW_ROWS = 10, 100


def of_evaluation(evaluation: Evaluation) -> Verdict:
    """Return the verdict of an evaluation: what is certified of the best score, and what speaks against it."""
    judged, facts, score = evaluation.judged, evaluation.provenance, evaluation.judged.best
    if facts.few_labels is not None:
        return _of_few_labels(evaluation)
    rows = list(_of_rows(evaluation)) if judged.whole else []
    if score is None:
        why = facts.get("no_score", "the scores were measured on different rows")
        return Verdict(Status.UNDECIDED, n=facts.get("n", 0), reason=why, caveats=tuple(rows))
    found, tried = _measured(judged, score).but(*rows, *_of_groups(evaluation, score)), judged.levels(score)
    if not tried:
        return found.but(Caveat.of("uncertified", why=judged.uncertified))
    useless = any(each.kind in ("chance", "reversed") and each.values["score"] == score for each in found.caveats)
    if useless:
        found = found.but(status=Status.NO_USE, instead=["chance"])  # which the headline says
    elif found.limit is None or found.limit > RISK:
        why = "" if found.levels else f"no limit up to {percent(tried[-1].risk)} with these rows"
        found = found.but(status=Status.NOT_CERTIFIED, limit=RISK, reason=why)
    else:
        found = found.but(status=Status.MIX if found.above else Status.CERTIFIED)
    missed = next((each for each in tried if each.risk >= RISK and not each.attained), None)
    if missed is None:
        return found
    more = None if useless else missed.needed()
    return found.but(*out_of_reach(missed.risk, more, missed.least(), found.n, len(tried)))


def _measured(judged: Judged, score: str) -> Verdict:
    """Return what is measured of a score and which limits are certified, before what speaks against it."""
    curve, tried, tested = judged.whole[score].curve, judged.levels(score), judged.comparison
    blocks, (point, limit) = curve.blocks, judged.place(score) or (None, None)

    def level(limit: float, coverage: float, threshold: float) -> Level:
        return Level(limit, coverage, threshold, among(threshold, curve.threshold))

    certified = [level(each.risk, each.coverage, each.threshold) for each in tried if each.attained]
    whole = next((k for k, each in enumerate(certified) if each.coverage == 1.0), len(certified))
    usual = curve.at(risk=RISK) if blocks.binary else None
    better, more = (None if tested is None else tested.better()), tuple[str, ...]()
    if tested is not None and better is not None and better.significant and tested.n <= MOST_ROWS:
        more = tested.details  # also by how much more it answers
    return Verdict.of(
        Status.MEASURED, point, score=score, n=blocks.n, limit=limit, full_risk=blocks.mean_loss, comparison=better,
        details=more, graded=not blocks.binary, risk=None if point is None else point.selective_risk,
        printed="" if point is None else among(point.threshold, curve.threshold),
        levels=tuple(certified[: whole + 1]),  # a larger limit than that of answering everything says less
        missed=tuple(each.risk for each in tried if not each.attained), confidence=1.0 - DELTA if tried else None,
        measured=None if usual is None or usual.reason is not None else level(RISK, usual.coverage, usual.threshold),
    )  # fmt: skip


def _of_rows(evaluation: Evaluation) -> Iterator[Caveat]:
    """Yield caveats of the rows and of each score, before anything is certified."""
    judged, answers = evaluation.judged, evaluation.provenance.get("answers")
    if answers is not None and answers.counts["abstained"]:
        what = "are abstentions of the model itself; all else is about its answers"
        yield Caveat.of("rows_left_out", count=answers.counts["abstained"], n=answers.n, what=what)
    for copies in judged.copies:
        yield Caveat.of("copied_rows", copies=copies.partition(";")[0])
    blocks = next(iter(judged.whole.values())).curve.blocks
    errors = round(float(blocks.loss.sum()))
    if blocks.n < FEW_ROWS or (blocks.binary and errors < FEW_ERRORS):
        said = "{0:errors} in {1:rows}" if blocks.binary else "{1:rows}"
        yield Caveat.of("small_sample", what=SPOKEN.format(said, errors, blocks.n))
    for name, summary in judged.whole.items():
        yield from (Caveat.of(kind, **values) for kind, values in judged.odd_values(name))
        if name != judged.best and len(judged.whole) > 3:
            continue
        if missing := summary.n_rejected + summary.n_dropped:
            what = f"have no {name} and are {'rejected' if summary.n_rejected else 'left out'}"
            yield Caveat.of("rows_left_out", count=missing, n=summary.n + summary.n_dropped, what=what)
        yield from _of_ranking(judged, name)


def _of_ranking(judged: Judged, name: str) -> Iterator[Caveat]:
    """Yield that a score ranks errors like chance, or worse."""
    value, low, high = judged.ranking(name) or (math.nan, math.nan, math.nan)
    if high < 0.5:
        yield Caveat.of("reversed", score=name, auroc=value, where=" of failures")
    elif low <= 0.5:
        yield Caveat.of("chance", score=name, value=value, low=low, high=high)


def _of_groups(evaluation: Evaluation, score: str) -> Iterator[Caveat]:
    """Yield which groups exceed the certified limit, for certain or perhaps; else which stands out, if one does."""
    judged, columns = evaluation.judged, by_column(evaluation, score)
    if not columns:
        yield Caveat.of("groups_missing", how="see groups=")
    point, limit = judged.place(score) or (None, None)
    if point is None or not judged.whole[score].curve.blocks.binary or not judged.independent:
        return
    for column, members in columns.items():
        rates = rates_of(members, point.threshold, judged.level)
        high = [each for each in rates if limit is not None and each.risk > limit]
        above = [each for each in high if each.low > (limit or 0.0)]
        for kind, found in (("group_above", above), ("group_unclear", [each for each in high if each not in above])):
            if found:
                names = [f"{each.name} ({percent(each.risk)} of {each.n:,})" for each in found]
                yield Caveat.of(kind, column=column, limit=limit, names=names, groups=[each.name for each in found])
        if not above and len(rates) > 1:
            which, p = stands_out([round(each.risk * each.n) for each in rates], [each.n for each in rates])
            if p < 0.05:
                yield Caveat.of("stands_out", kind=column, p=p, **rates[which]._asdict())


def _of_few_labels(evaluation: Evaluation) -> Verdict:
    """Return the verdict of a pool of which some rows are labelled: estimates, and nothing certified."""
    facts, name = evaluation.provenance, next(iter(evaluation.scores), "")
    n, few = facts["n"], facts["few_labels"]
    known = [each for each in evaluation.measurements if each.group is None and each.metric == "accuracy"]
    ends = next(((1.0 - each.high, 1.0 - each.low) for each in known if each.low == each.low), None)
    caveats = [Caveat.of("groups_missing", how="see groups=, which needs labels of all rows")]
    caveats += [*few_labels_caveat(few.labelled, n, few.design, few.errors), *_of_ranking(evaluation.judged, name)]
    return Verdict(
        Status.ESTIMATED if few.labelled < n else Status.MEASURED, name, n=n, n_accepted=n, coverage=1.0,
        risk=facts.mean_loss, full_risk=facts.mean_loss, risk_interval=ends, caveats=tuple(caveats),
    )  # fmt: skip
