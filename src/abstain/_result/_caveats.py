"""Caveats of a verdict: what a reader must know before a result is used, each kind declared once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from abstain._result._spoken import SPOKEN, about, percent


class Severity(IntEnum):
    """How much a caveat takes from the verdict; the most severe has the lowest number."""

    VOID = 0  #: the input may be misread, so every number may be wrong
    GRAVE = 1  #: going live may do harm that the headline does not show
    LIMIT = 2  #: the verdict is narrower, or less certain, than it looks


class Kind(NamedTuple):
    """A kind of caveat: its severity, and templates of its sentence and of what helps."""

    severity: Severity
    sentence: str
    remedy: str = ""


VOID, GRAVE, LIMIT = Severity

#: Every kind of caveat, by name, most severe first.
CAVEATS = {
    "doubtful_reading": Kind(VOID, "Doubtful reading: {doubt}."),
    "sentinel": Kind(VOID, "{count:,} values of {score} are {code:g}, far from all others.", "Leave these empty."),
    "mixed_units": Kind(VOID, "Fractions and per cent are mixed: {fractions:,} values of {score} lie in [0, 1], "
        "{cents:,} in [10, 100].", "Write all of them in one unit."),
    "reversed": Kind(VOID, "{score} is higher where it should be lower: AUROC {auroc:.3f}{where}.",
        "Give its negative, or name it as an uncertainty."),
    "copied_rows": Kind(VOID, "{copies}.", "Leave copies out, or name what rows belong together (clusters=)."),
    "files_left_out": Kind(VOID, "{count} files could not be evaluated and are left out."),
    "group_above": Kind(GRAVE, "More than {limit:%} of the answers are wrong in {column} {names:list}.",
        "Choose a threshold for each {column} before going live; without a group this certificate no longer holds."),
    "ood_answered": Kind(GRAVE, "{answered:%} of {rows} would be answered at {where}, chosen without OOD rows{more}."),
    "chance": Kind(GRAVE, "{score} is not shown to be better than chance: AUROC {value:.3f} [{low:.3f}, {high:.3f}]."),
    "group_unclear": Kind(GRAVE, "Measured above the limit, perhaps by chance, in {column} {names:list}."),
    "groups_rejected": Kind(GRAVE, "Not certified in {names:list}; all cases there are referred for review: {reason}."),
    "drift": Kind(GRAVE, "New cases differ from the calibration: {what:list}. A false signal has probability "
        "{chance:%} at most, for coverage and for scores each.{order}", "Find the cause first."),
    "change": Kind(GRAVE, "A change was signalled after accepted row {first:,}{since}; signals in all: {count:,}. "
        "Expect one false signal in {run_length:,.0f} accepted rows or more."),
    "old_rows": Kind(GRAVE, "Only the {fresh:,} rows{where} from the call of that signal on still speak for new cases; "
        "the {old:,} before it may be of another population.", "Restart the certificate."),
    "groups_unread": Kind(GRAVE, "Columns that may be groups were not used: {names:list}.", "({how})"),
    "groups_missing": Kind(LIMIT, "No groups were given: some may be worse.", "({how})"),
    "rows_left_out": Kind(LIMIT, "{count:,} of {n:,} rows {what}."),
    "stands_out": Kind(LIMIT, "{kind} {name} is significantly worse than the others: {risk:%} [{low:%}, {high:%}] of "
        "{n:,} answers are wrong."),
    "uncertified": Kind(LIMIT, "Nothing is certified: {why}."),
    "few_labels": Kind(LIMIT, "Estimated from {labelled:,} of {n:,} rows, labelled {how}, with {errors:errors}."),
    "small_sample": Kind(LIMIT, "Only {what}: all numbers are uncertain."),
    "selected_here": Kind(LIMIT, "{score} was selected on these rows.", "Choose its threshold on new rows."),
    "out_of_reach": Kind(LIMIT, "If errors lie as here, {limit:%} would take {what:list}."),
}  # fmt: skip


@dataclass(frozen=True)
class Caveat:
    """A caveat: its kind, its sentence, what helps, and the values that the sentence is made of.

    Parameters
    ----------
    kind : str
        Name of the kind, such as ``"group_above"``.
    severity : Severity
    sentence, remedy : str
        ``remedy`` is empty where nothing helps.
    values : dict
        Numbers and names of the sentence.

    Examples
    --------
    >>> from abstain._result import Caveat
    >>> Caveat.of("small_sample", what="3 errors in 400 rows").text
    'Only 3 errors in 400 rows: all numbers are uncertain.'
    """

    kind: str
    severity: Severity
    sentence: str
    remedy: str = ""
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, kind: str, /, **values: Any) -> Caveat:
        """Return a caveat of a declared kind."""
        declared = CAVEATS[kind]
        sentence, remedy = (SPOKEN.vformat(text, (), values) for text in declared[1:])
        return cls(kind, declared.severity, sentence, remedy, values)

    @property
    def text(self) -> str:
        """The sentence with what helps."""
        return f"{self.sentence} {self.remedy}".rstrip()


def out_of_reach(limit: float, needed: int | None, least: tuple[int, float] | None, n: int, tried: int) -> list[Caveat]:
    """Return what a limit that is not certified would take: more rows, as far as a plan says, or a better score.

    ``needed``: how many rows a certificate takes, at least; ``least``: how many it takes without an error, and the
    lowest risk of any threshold that accepts as many; ``tried``: limits that are certified at once.
    """
    enough, lowest = least or (0, -math.inf)
    if lowest >= limit:
        why = f"a certificate takes {enough:,} answers; of so many at least {percent(lowest)} are wrong"
        return [Caveat.of("out_of_reach", limit=limit, needed=None, what=[f"a better score ({why})"])]
    if needed is None or needed <= n:
        return []
    rows = f"{about(needed)} rows or more (now {n:,}{'; fewer if no other limit is tested' * (tried > 1)})"
    return [Caveat.of("out_of_reach", limit=limit, needed=needed, what=[rows])]
