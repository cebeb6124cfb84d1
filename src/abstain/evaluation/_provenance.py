"""Where an evaluation came from: its rows, options and versions, and what was noticed about them."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from abstain import metrics
from abstain._result import Column, Estimate, Row, Table
from abstain._typing import BoolArray, Document, FloatArray, IntArray
from abstain._version import __version__
from abstain.blocks import TieBlocks
from abstain.inference import Sampling, of_samples
from abstain.outputs import GRADED, States
from abstain.policy import Record

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
        notes.append(
            "What follows is about the answers: a question on which the model itself abstained is not counted."
        )
        return Table([Column(), Column("n", alike=False), Column("share")], rows, title="Answers", notes=notes, ranks=0)


def _share(states: States, rows: BoolArray, values: FloatArray | BoolArray, level: float | None) -> Share:
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


#: Options that stand in a record also where they are None.
_OPTIONS = ("level", "fit")


def _versions() -> dict[str, str]:
    return {"abstain": __version__, "numpy": np.__version__, "python": platform.python_version()}


@dataclass(frozen=True, eq=False)
class FewLabels(Record):
    """How the labelled rows of a pool were chosen, and what they say.

    ``plain_needs``: by metric how many labels of uniformly drawn rows give as narrow an interval; ``one_more_error``:
    its value if the most confident labelled row had been wrong, too.
    """

    labelled: int
    errors: int
    design: str
    stages: Sequence[int]
    target: str
    digest: str | None
    plain_needs: Mapping[str, float]
    one_more_error: Mapping[str, float]


@dataclass(frozen=True, eq=False, kw_only=True)
class Provenance(Record):
    """Hash and sizes of the rows, options and versions; it can be read by name, as a mapping, too.

    What follows ``understood`` is there where it was noticed: ``understood``: what the columns were taken for;
    ``origin``: notes of reading them; ``scanned``: the engine that counted the rows; ``answers``: of a model that
    abstains; ``clipped``: by how much a score leaves [0, 1]; ``judged_by_passes``: rows whose passes predict otherwise;
    ``no_score``: why there is none; ``copied_rows``; ``unseen``: where an error may lie that no row shows;
    ``few_labels``; ``models``: of several models that of each.
    """

    nan_policy: str
    level: float | None
    n_resamples: int = 0
    fit: str | None = None
    fingerprint: str | None = None
    n: int | None = None
    mean_loss: float | None = None
    binary_loss: bool | None = None
    weighted: bool | None = None
    clustered: bool | None = None
    same_samples: bool = True
    understood: Mapping[str, str] | None = None
    origin: Sequence[str] | None = None
    scanned: Document | None = None
    answers: Answers | None = None
    clipped: Mapping[str, float] | None = None
    judged_by_passes: Mapping[str, int] | None = None
    no_score: str | None = None
    copied_rows: str | None = None
    unseen: str | None = None
    few_labels: FewLabels | None = None
    models: Mapping[str, Provenance] | None = None
    versions: Mapping[str, str] = field(default_factory=_versions)

    def _values(self) -> Document:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values |= values.pop("versions", {})
        return {name: value for name, value in values.items() if value is not None or name in _OPTIONS}

    def __getitem__(self, name: str) -> Any:
        return self._values()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    @classmethod
    def of(
        cls,
        fingerprint: str,
        loss: FloatArray,
        weight: FloatArray | None,
        clusters: IntArray | None,
        times: FloatArray | None = None,
        **facts: Any,
    ) -> Provenance:
        """Return it with what follows from the columns; ``times``: how many rows each loss stands for."""
        mass = weight if times is None else times if weight is None else times * weight
        seen = loss if times is None or mass is None else loss[mass > 0.0]
        return cls(
            fingerprint=fingerprint,
            n=len(loss) if times is None else int(times.sum()),
            mean_loss=float(np.average(loss, weights=mass)),
            binary_loss=bool(((seen == 0.0) | (seen == 1.0)).all()),
            weighted=weight is not None,
            clustered=clusters is not None,
            **facts,
        )
