"""The four states of answers in an evaluation: counts, and shares with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from abstain import metrics
from abstain._result import Column, Estimate, Row, Table
from abstain.blocks import TieBlocks
from abstain.inference import Sampling, of_samples
from abstain.outputs import GRADED, States

#: Shares that need a column ``should_abstain``.
_NEEDS = ("over-refusal", "missed abstention")


class Share(NamedTuple):
    """A share of n answers, with its interval."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int = 0


@dataclass(frozen=True)
class Answers:
    """How many answers are in which state, and the shares that follow; ``unscored``: what those without a score are."""

    n: int
    counts: Mapping[str, int]
    unscored: str | None
    graded: bool
    shares: Mapping[str, Share]

    @classmethod
    def of(cls, states: States, level: float | None) -> Answers:
        """Return counts and shares of the states."""
        shares = {name: _share(states, rows, values, level) for name, (rows, values) in states.rates().items()}
        missing = {name: Share() for name in _NEEDS if name not in shares}
        return cls(states.n, states.counts, states.unscored, states.graded, shares | missing)

    def table(self) -> Table:
        """Return the table of states and shares."""
        called = GRADED if self.graded else {}
        rows: list[Row] = []
        for name, count in self.counts.items():
            rows.append((called.get(name, name), count, f"{count / self.n:.1%}"))
        for name, share in self.shares.items():
            rows.append((name, f"of {share.n}", Estimate(share.value, share.low, share.high)))
        notes = [] if self.shares[_NEEDS[0]].n else ["Over-refusal and missed abstention need should_abstain."]
        if self.unscored == "wrong":
            notes.append("Unscored answers count as wrong in all that follows.")
        elif self.unscored == "drop":
            notes.append("Unscored answers are left out of all that follows.")
        notes.append("What follows is about the answers: a question that the model itself declined is no row of it.")
        return Table([Column(), Column("n", alike=False), Column("share")], rows, title="Answers", notes=notes, ranks=0)


def _share(states: States, rows: Any, values: Any, level: float | None) -> Share:
    """Return a mean over some rows, with its interval; clusters and weights as everywhere."""
    n = int(np.sum(rows))
    if not n:
        return Share()
    column = np.asarray(values, dtype=float)[rows]
    weight = None if states.sample_weight is None else np.asarray(states.sample_weight, dtype=float)[rows]
    blocks = TieBlocks.from_samples(column, np.zeros(n), weight, keep_samples=True)
    risk = metrics.get("risk")
    found = Share(float(risk.evaluate(blocks)[0]), n=n)
    if level is None:
        return found
    clusters = None if states.clusters is None else np.asarray(states.clusters)[rows]
    try:
        interval = of_samples(risk, blocks, level, Sampling.of(n, None, clusters))
    except ValueError:  # such as a single cluster
        return found
    return found._replace(low=interval.low, high=interval.high)
