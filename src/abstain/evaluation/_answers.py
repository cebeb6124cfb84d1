"""The four states of answers in an evaluation: counts, and shares with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain import metrics
from abstain._result import Column, Estimate, Row, Table
from abstain.blocks import TieBlocks
from abstain.inference import Sampling, of_samples
from abstain.outputs import GRADED, States

#: Shares that need a column ``should_abstain``.
_NEEDS = ("over-refusal", "missed abstention")


def summary(states: States, level: float | None) -> dict[str, Any]:
    """Return counts and shares of the states as plain values."""
    shares = {name: _share(states, rows, values, level) for name, (rows, values) in states.rates().items()}
    nothing = {"value": float("nan"), "low": float("nan"), "high": float("nan"), "n": 0}
    return {
        "n": states.n,
        "counts": states.counts,
        "unscored": states.unscored,
        "graded": states.graded,
        "shares": shares | {name: nothing for name in _NEEDS if name not in shares},
    }


def _share(states: States, rows: Any, values: Any, level: float | None) -> dict[str, Any]:
    """Return a mean over some rows, with its interval; clusters and weights as everywhere."""
    n = int(np.sum(rows))
    found = {"value": float("nan"), "low": float("nan"), "high": float("nan"), "n": n}
    if not n:
        return found
    column = np.asarray(values, dtype=float)[rows]
    weight = None if states.sample_weight is None else np.asarray(states.sample_weight, dtype=float)[rows]
    blocks = TieBlocks.from_samples(column, np.zeros(n), weight, keep_samples=True)
    risk = metrics.get("risk")
    found["value"] = float(risk.evaluate(blocks)[0])
    if level is None:
        return found
    clusters = None if states.clusters is None else np.asarray(states.clusters)[rows]
    try:
        interval = of_samples(risk, blocks, level, Sampling.of(n, None, clusters))
    except ValueError:  # such as a single cluster
        return found
    return found | {"low": interval.low, "high": interval.high}


def table(found: dict[str, Any]) -> Table:
    """Return the table of states and shares."""
    called = GRADED if found["graded"] else {}
    counts = found["counts"].items()
    rows: list[Row] = [(called.get(name, name), count, f"{count / found['n']:.1%}") for name, count in counts]
    for name, share in found["shares"].items():
        rows.append((name, f"of {share['n']}", Estimate(share["value"], share["low"], share["high"])))
    notes = [] if found["shares"][_NEEDS[0]]["n"] else ["Over-refusal and missed abstention need should_abstain."]
    if found["unscored"] == "wrong":
        notes.append("Unscored answers count as wrong in all that follows.")
    elif found["unscored"] == "drop":
        notes.append("Unscored answers are left out of all that follows.")
    notes.append("What follows is about the answers: a question that the model itself declined is no row of it.")
    return Table([Column(), Column("n", alike=False), Column("share")], rows, title="Answers", notes=notes, ranks=0)
