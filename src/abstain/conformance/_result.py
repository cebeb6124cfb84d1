"""What an implementation makes of the vectors: one outcome for each case, and one sentence for all."""

from __future__ import annotations

from dataclasses import dataclass, field

from abstain._result import Column, Result, Table
from abstain._typing import Document


@dataclass(frozen=True)
class Outcome:
    """What an implementation gave in one case.

    Parameters
    ----------
    case : str
        The problem with its options.
    n : int
        Number of rows.
    status : {"agrees", "differs", "refuses", "fails", "not run"}
    value : float
        What it gave; NaN where it gave none.
    expected : float
        What the definition gives that it agrees with most often; NaN where the definition gives none.
    note : str
        Its error, or what the problem is about.

    Examples
    --------
    >>> import abstain
    >>> from abstain.conformance import check
    >>> found = check(abstain.augrc, "augrc")
    >>> found.outcomes[0].case, found.outcomes[0].status
    ('one_right', 'agrees')
    """

    case: str
    n: int
    status: str
    value: float
    expected: float
    note: str = ""


@dataclass(frozen=True, repr=False)
class Conformance(Result):
    """What an implementation makes of the vectors of one metric.

    Parameters
    ----------
    metric, implementation, call : str
        What was run, and how columns were passed.
    definitions : tuple of str
        Definitions that it agrees with, in all cases that count or but for the exceptions.
    factor : str
        What the values of the definition are multiplied by to give those of the implementation, such as
        ``"n/(n - 1)"``; empty: nothing.
    order : str
        The values of the same rows in two orders, where they differ.
    findings : tuple of str
        What is not as it should be, in sentences.
    outcomes : tuple of Outcome
    version : str
        Of the vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.conformance import check
    >>> def mine(confidence, loss):
    ...     running = np.cumsum(loss[np.argsort(-confidence, kind="stable")])
    ...     return np.mean(running / np.arange(1, len(loss) + 1))
    >>> found = check(mine, "aurc")
    >>> found.passed, found.order
    (False, 'tied_pair 0.25, tied_pair_reordered 0.75')
    """

    _names = ("case",)
    _values = ("value", "expected")

    metric: str
    implementation: str
    call: str
    definitions: tuple[str, ...]
    factor: str
    order: str
    findings: tuple[str, ...]
    outcomes: tuple[Outcome, ...] = field(repr=False)
    version: str

    @property
    def passed(self) -> bool:
        """Whether it agrees with one definition wherever this gives a number."""
        return bool(self.outcomes) and not self.findings

    @property
    def short(self) -> str:
        """The finding in a few words, for a table of many."""
        named = " = ".join(self.definitions) or "no definition"
        parts = [named if not self.factor else f"{named} × {self.factor}"]
        parts += ["row order"] * bool(self.order)
        other = sum(each.status in ("differs", "fails") for each in self.outcomes) if self.definitions else 0
        return ", ".join([*parts, *([f"{other} cases differ" if other > 1 else "1 case differs"] * bool(other))])

    def headline(self) -> str:
        """Return the finding in one line."""
        ran = sum(each.status != "not run" for each in self.outcomes)
        if self.passed:
            return f"{self.metric}: agrees with {' = '.join(self.definitions)} in {ran} cases"
        return f"{self.metric}: does not conform ({self.short})"

    def tables(self) -> list[Table]:
        """Return the cases."""
        columns = [Column("case"), Column("rows"), Column("status", left=True), Column("value", alike=False)]
        columns.append(Column("expected", alike=False))
        ran = [each for each in self.outcomes if each.status != "not run"]
        return [Table(columns, [(each.case, each.n, each.status, each.value, each.expected) for each in ran])]

    def notes(self) -> list[str]:
        """Return what was found, and how it was called."""
        how = f"{self.implementation} was called as {self.call}; vectors of version {self.version}"
        left: dict[str, list[str]] = {}
        for each in self.outcomes:
            if each.status == "not run":
                left.setdefault(each.note, []).append(each.case)
        return [*self.findings, *(f"not run, {why}: {', '.join(names)}" for why, names in left.items()), how]

    def rows(self) -> list[Document]:
        """Return the outcomes, a dict each."""
        return [vars(each) for each in self.outcomes]

    def to_dict(self) -> Document:
        """Return plain Python values, with the verdict of all cases."""
        return {"passed": self.passed, "short": self.short, **super().to_dict()}
