"""What an evaluation from a few labels of a pool says in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from abstain._result import number

if TYPE_CHECKING:
    from abstain.evaluation._result import Evaluation


def headline(facts: Mapping[str, Any]) -> str:
    """Return one line that says what is known of the pool."""
    few = facts["few_labels"]
    how = _how(few)
    seen = f"{few['errors']} error{'s' * (few['errors'] != 1)} seen"
    return f"{facts['n']} rows, {few['labelled']} {how}, {seen} · 0/1 loss {number(facts['mean_loss'])}"


def notes(facts: Mapping[str, Any]) -> list[str]:
    """Return whom the intervals are about, and what plain evaluation of the labelled rows would need."""
    few = facts["few_labels"]
    if few["labelled"] == facts["n"] and few["target"] == "pool":
        return ["every row is labelled: these are the values of this pool, and nothing is estimated"]
    about = (
        "all rows of this pool, labelled or not"
        if few["target"] == "pool"
        else "the population that these rows were drawn from"
    )
    lines = [
        f"intervals are about {about}"
        + ('; target="population" for what they were drawn from' if few["target"] == "pool" else "")
    ]
    needs = {name: count for name, count in few["plain_needs"].items() if math.isfinite(count)}
    if needs:
        listed = ", ".join(f"{count:,.0f} ({name})" for name, count in needs.items())
        lines.append(
            f"labels that plain evaluation of uniformly drawn rows would need for these widths: about {listed}"
        )
    if more := few.get("one_more_error"):  # older results have none
        listed = ", ".join(f"{name} {number(value)}" for name, value in more.items())
        lines.append(f"had the most confident labelled row been wrong, too, these would be: {listed}")
    return lines


def _how(few: Mapping[str, Any]) -> str:
    return "labelled at random" if few["design"] == "at random" else f"labelled by plan ({few['design']})"


def grounds(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """Yield what the verdict rests on: how many labels, what they say with which interval, what more would buy."""
    facts = evaluation.provenance
    few = facts["few_labels"]
    yield {
        "about": "few labels", "labelled": few["labelled"], "n": facts["n"], "how": _how(few), "errors": few["errors"],
        "whole": few["labelled"] == facts["n"], "groups": "'abstain evaluate' with --groups",
        "seen": f"{few['errors']} error{'s' * (few['errors'] != 1)}",
    }  # fmt: skip
    known = [each for each in evaluation.measurements if each.group is None and each.low == each.low]
    for each in known:
        metric = each.metric.partition("(")[0]
        value, low, high = each.value, each.low, each.high
        if metric == "accuracy":
            value, low, high = 1.0 - value, 1.0 - high, 1.0 - low
        if metric in ("accuracy", "risk", "selective_risk", "auroc_f"):
            yield {"about": f"labelled {'risk' if metric == 'accuracy' else metric}", "score": each.score,
                   "label": each.label, "value": value, "low": low, "high": high, "errors": few["errors"],
                   "labelled": few["labelled"], "n": facts["n"],
                   "counted": few["errors"] / few["labelled"]}  # fmt: skip
    first = next((each for each in known if each.metric == "augrc"), known[0] if known else None)
    if first is not None:
        half = 0.5 * (first.high - first.low)
        yield {
            "about": "more labels", "label": first.label, "labelled": few["labelled"], "n": facts["n"], "half": half,
            "value": first.value, "low": first.low, "high": first.high, "twice": 2 * few["labelled"],
            "then": half / math.sqrt(2.0), "plain": few["plain_needs"].get(first.label, math.nan), "how": "",
        }  # fmt: skip
    yield {"about": "no threshold", "what": "An evaluation from few labels", "of": first.score if first else "it",
           "others": False, "how": "", "apart": True, "few": few["labelled"] < facts["n"]}  # fmt: skip
