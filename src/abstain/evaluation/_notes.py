"""What a reader must know in addition to the numbers of an evaluation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from abstain._result import number as shown
from abstain.outputs import sentence

if TYPE_CHECKING:
    from abstain.evaluation._provenance import Provenance
    from abstain.evaluation._result import Evaluation

#: Why a metric of its kind has no interval; other reasons lie in the data.
BIASED = "no interval: its bias does not vanish compared with its spread"
NEEDS_BOOTSTRAP = "no interval: it takes a bootstrap; give n_resamples (500 is usual)"
#: More places than this are counted, not listed.
PLACES = 4


def notes(evaluation: Evaluation) -> list[str]:
    """Return what a reader must know in addition to the numbers: ties, missing scores, undefined values."""
    lines = _understood(evaluation)
    if evaluation.provenance.few_labels is not None:
        lines += _of_few_labels(evaluation.provenance)
    for entry in evaluation.summaries:
        if entry.group is not None:  # a group is part of the whole, of which the same has been said
            continue
        if entry.saturated:
            lines.append(
                f"{entry.score}: {100.0 * entry.distinct_share:.1f} % of the scores are distinct, "
                f"the largest tie holds {entry.largest_tie} of {entry.n} samples"
            )
        for number, fate in ((entry.n_rejected, "rejected"), (entry.n_dropped, "dropped")):
            if number:
                lines.append(f"{entry.score}: {_counted(number)} without a score {_was(number)} {fate}")
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


def _understood(evaluation: Evaluation) -> list[str]:
    """Return what the columns of a file, a frame or arrays were taken for."""
    facts = evaluation.provenance
    if "origin" not in facts:
        return []
    return [f"read as: {sentence(facts['understood'])}", *facts["origin"]]


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


def _counted(number: int) -> str:
    return f"{number} sample{'s' if number > 1 else ''}"


def _was(number: int) -> str:
    return "were" if number > 1 else "was"


def labelled_how(design: str) -> str:
    """Return how rows were chosen for labelling."""
    return design if design == "at random" else f"by plan ({design})"


def few_labels_headline(facts: Provenance) -> str:
    """Return one line that says what is known of the pool."""
    few = facts.few_labels
    assert few is not None
    assert facts.mean_loss is not None
    how = f"labelled {labelled_how(few.design)}"
    seen = f"{few.errors} error{'s' * (few.errors != 1)} seen"
    return f"{facts.n} rows, {few.labelled} {how}, {seen} · 0/1 loss {shown(facts.mean_loss)}"


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
