"""What a reader must know in addition to the numbers of an evaluation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from abstain._result import Caveat, Column, Estimate, Row, Table, arrow
from abstain._result import number as shown
from abstain.outputs import sentence

if TYPE_CHECKING:
    from abstain.evaluation._provenance import Provenance
    from abstain.evaluation._result import Evaluation, Measurement, ScoreSummary

#: Why a metric of its kind has no interval; other reasons lie in the data.
BIASED = "no interval: its bias does not vanish compared with its spread"
NEEDS_BOOTSTRAP = "no interval: it takes a bootstrap; give n_resamples (500 is usual)"
#: More places than this are counted, not listed.
PLACES = 4


def notes(evaluation: Evaluation) -> list[str]:
    """Return what a reader must know in addition to the numbers: ties, missing scores, undefined values."""
    facts = evaluation.provenance
    lines = [f"read as: {sentence(facts['understood'])}", *facts["origin"]] if "origin" in facts else []
    if evaluation.provenance.few_labels is not None:
        lines += _of_few_labels(evaluation.provenance)
    for entry in evaluation.summaries:
        if entry.group is not None:  # a group is part of the whole, of which the same has been said
            continue
        if entry.saturated:
            distinct = f"{100.0 * entry.distinct_share:.1f} % of the scores are distinct"
            lines.append(f"{entry.score}: {distinct}, the largest tie holds {entry.largest_tie} of {entry.n} samples")
        for number, fate in ((entry.n_rejected, "rejected"), (entry.n_dropped, "dropped")):
            if number:
                samples = f"{number} samples" if number > 1 else "1 sample"
                lines.append(f"{entry.score}: {samples} without a score {'were' if number > 1 else 'was'} {fate}")
    for score, beyond in evaluation.provenance.get("clipped", {}).items():
        lines.append(
            f"{score} leaves [0, 1] by {beyond:.1g} at most, which is taken for rounding: metrics of probabilities "
            "read 1 or 0 there"
        )
    if not evaluation.provenance["same_samples"]:
        lines.append("each score was measured on other samples, so none is marked as best: keep the rows that have all")
    for score, number in evaluation.provenance.get("judged_by_passes", {}).items():
        lines.append(
            f"{score} is judged by the predictions of its passes, of which {number} are right where the others are "
            "wrong, or wrong where they are right"
        )
    if "no_score" in evaluation.provenance:
        lines.append(f"nothing is said about rejecting answers: {evaluation.provenance['no_score']}")
    return lines + _undefined(evaluation) + _doubtful(evaluation)


def _doubtful(evaluation: Evaluation) -> list[str]:
    """One line per warning of an interval, or reason for its lack, on all samples; a group's stand with its numbers."""
    warned: dict[str, list[str]] = {}
    for entry in evaluation.measurements:
        if entry.group is None and entry.warning is not None:
            lacks = "no " if math.isnan(entry.low) else ""
            line = f"{lacks}interval of {{}}: {str(entry.warning).removeprefix('no interval: ')}"
            warned.setdefault(line, []).append(f"{entry.label} of {entry.score}")
    alone = len(evaluation.scores) == 1  # the metrics of one score are few enough to be named
    return [line.replace("{}", ", ".join(each) if alone else _listed(each), 1) for line, each in warned.items()]


def _undefined(evaluation: Evaluation) -> list[str]:
    """One line per metric and reason for all samples; one per metric for the groups where only these lack it."""
    lacking = [entry for entry in evaluation.measurements if entry.reason is not None]
    whole: dict[tuple[str, str], list[str]] = {}
    for entry in lacking:
        if entry.group is None:
            whole.setdefault((entry.label, str(entry.reason)), []).append(entry.score)
    everywhere = len(evaluation.scores)
    lines = []
    for (metric, reason), scores in whole.items():
        place = "" if len(scores) == everywhere else f" for {_listed(scores)}"
        lines.append(f"{metric} is not defined{place}: {reason}")

    known = {(entry.label, entry.score) for entry in lacking if entry.group is None}
    parts: dict[str, dict[str, str]] = {}
    for entry in lacking:
        if entry.group is not None and (entry.label, entry.score) not in known:
            parts.setdefault(entry.label, {})[f"{entry.score} in {entry.group}"] = str(entry.reason)
    for metric, places in parts.items():
        reasons = list(dict.fromkeys(places.values()))
        why = reasons[0] if len(reasons) == 1 else "the measurements give the reason of each"
        lines.append(f"{metric} is not defined for {_listed(list(places))}: {why}")
    return lines


def _listed(places: list[str]) -> str:
    more = f" and {len(places) - PLACES} more" if len(places) > PLACES else ""
    return ", ".join(places[:PLACES]) + more


def labelled_how(design: str) -> str:
    """Return how rows were chosen for labelling."""
    return design if design == "at random" else f"by plan ({design})"


def few_labels_caveat(labelled: int, n: int, design: str, errors: int) -> list[Caveat]:
    """Return that few of the rows are labelled, where not all are."""
    how = labelled_how(design)
    return [Caveat.of("few_labels", how=how, labelled=labelled, n=n, errors=errors)] if labelled < n else []


def _of_few_labels(facts: Provenance) -> list[str]:
    """Return whom the intervals are about, and what plain evaluation of the labelled rows would need."""
    few = facts.few_labels
    assert few is not None
    if few.labelled == facts.n and few.target == "pool":
        return ["every row is labelled: these are the values of this pool, and nothing is estimated"]
    if few.target == "pool":
        about = 'all rows of this pool, labelled or not; target="population" for what they were drawn from'
    else:
        about = "the population that these rows were drawn from"
    lines = [f"intervals are about {about}"]
    needs = {name: count for name, count in few.plain_needs.items() if math.isfinite(count)}
    if needs:
        listed = ", ".join(f"{count:,.0f} ({name})" for name, count in needs.items())
        lines.append(
            f"labels that plain evaluation of uniformly drawn rows would need for these widths: about {listed}"
        )
    if few.one_more_error:
        listed = ", ".join(f"{name} {shown(value)}" for name, value in few.one_more_error.items())
        lines.append(f"had the most confident labelled row been wrong, too, these would be: {listed}")
    return lines


#: Groups that a table lists, the worst by the first metric; all of them are in the result.
GROUPS = 20
#: Share of all samples that the common threshold accepts, at which groups are compared.
COMMON = 0.8


def tables(evaluation: Evaluation) -> list[Table]:
    """Return the states of answers, if some have none; the table of all samples; one per score for the groups."""
    answers = [evaluation.provenance.answers.table()] if evaluation.provenance.answers else []
    if not evaluation.scores:
        return answers
    groups = [_by_group(evaluation, score) for score in evaluation.scores if len(evaluation.groups) > 1]
    return [*answers, _one(evaluation) if len(evaluation.scores) == 1 else _several(evaluation), *groups]


def brackets(evaluation: Evaluation, together: bool = False) -> list[str]:
    """Return a line that says what the brackets behind a value are, if there are any; ``together``: those of groups."""
    if all(math.isnan(entry.low) or math.isnan(entry.high) for entry in evaluation.measurements):
        return []
    percent = f"{100.0 * evaluation.provenance['level']:g} %"
    if together:
        return [f"In brackets, by group: intervals that hold for all groups of a column together, at {percent}."]
    facts, lines = evaluation.provenance, [f"In brackets: {percent} confidence interval."]
    heavy = any("AURC" in entry.label and not math.isnan(entry.low) for entry in evaluation.measurements)
    if heavy and facts.few_labels is None and facts.unseen != "top":
        lines.append('AURC: unseen errors are as likely at any row (unseen="top": at the top).')
    return lines


def _one(evaluation: Evaluation) -> Table:
    """Return one row per metric; ties decide how fine the thresholds can be, so they are always shown."""
    found = [entry for entry in evaluation.measurements if entry.group is None]
    rows: list[Row] = [(arrow(entry.label, entry.direction), _estimate(entry)) for entry in found]
    distinct, largest = _ties(evaluation.summaries[0])
    rows += [("Distinct scores", distinct), ("Largest tie", largest)]
    return Table([Column(), Column(found[0].score or '""', alike=False)], rows, notes=brackets(evaluation))


def _several(evaluation: Evaluation) -> Table:
    whole = [entry for entry in evaluation.summaries if entry.group is None]
    rows: list[Row] = [
        (entry.score, *map(_estimate, _of(evaluation, entry.score, None)), *_ties(entry)) for entry in whole
    ]
    metrics = _metrics(_of(evaluation, whole[0].score, None))
    columns = [Column("Score"), *metrics, Column("Distinct scores"), Column("Largest tie")]
    same = evaluation.provenance["same_samples"]  # no score is the best of several on other samples
    return Table(columns, rows, notes=brackets(evaluation), ranks=1 if same else 0)


def _by_group(evaluation: Evaluation, score: str) -> Table:
    """Return one row per group: its size, what the threshold of all samples does to it, and its metrics."""
    found: dict[str | None, list[Measurement]] = {}
    for entry in evaluation.measurements:
        if entry.score == score:
            found.setdefault(entry.group, []).append(entry)
    metrics = found.pop(None)
    notes = brackets(evaluation, together=True)
    title = f"{score} by group" + (", intervals hold together" if notes else "")
    groups = list(found)
    if len(groups) > GROUPS:
        groups = sorted(groups, key=lambda group: _badness(found[group][0]), reverse=True)[:GROUPS]
        notes.append(f"{GROUPS} of {len(found)} groups, the worst by {metrics[0].label}; .measurements holds all.")
    curves = {entry.group: entry.curve for entry in evaluation.summaries if entry.score == score}
    threshold = curves[None].at(coverage=COMMON).threshold
    columns, points = [Column("Group"), Column("n")], {}
    if not math.isnan(threshold):
        columns += [Column("Coverage at τ"), Column("Risk at τ")]
        notes.append(f"τ of {score}: {threshold!r}, which accepts at least {100 * COMMON:g} % of all samples.")
        points = {group: curve.at(threshold=threshold) for group, curve in curves.items()}
    rows: list[Row] = []
    for group in groups:
        n = curves[group].blocks.n if group in curves else 0
        point = points.get(group)
        at = (math.nan, math.nan) if point is None else (point.coverage, point.selective_risk)
        rows.append((str(group), n, *(at if points else ()), *map(_estimate, found[group])))
    return Table([*columns, *_metrics(metrics)], rows, title=title, notes=notes, ranks=0)


def _of(evaluation: Evaluation, score: str, group: str | None) -> list[Measurement]:
    return [entry for entry in evaluation.measurements if (entry.score, entry.group) == (score, group)]


def _metrics(found: list[Measurement]) -> list[Column]:
    return [Column(entry.label, entry.direction) for entry in found]


def _estimate(entry: Measurement) -> Estimate:
    return Estimate(entry.value, entry.low, entry.high)


def _ties(summary: ScoreSummary) -> tuple[str, int]:
    return f"{100.0 * summary.distinct_share:.1f} %", summary.largest_tie


def _badness(entry: Measurement) -> float:
    if math.isnan(entry.value):
        return -math.inf
    return entry.value if entry.direction == "lower" else -entry.value
