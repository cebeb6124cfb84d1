"""What an evaluation from a few labels of a pool says in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from abstain._result import number

if TYPE_CHECKING:
    pass


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
