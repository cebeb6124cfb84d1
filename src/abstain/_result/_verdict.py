"""The verdict: may this go live, at what threshold, with which guarantee, and what speaks against it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from abstain._result._caveats import CAVEATS, Caveat, Severity
from abstain._result._spoken import SPOKEN, p_value, percent
from abstain._result._words import clean, decimals, fixed

#: Answering a smaller share of the rows is next to nothing.
NOTHING = 0.01
#: So many caveats are printed; the others with --verbose.
CAVEATS_SHOWN = 3


class Status(StrEnum):
    """What a verdict says, in a word or two."""

    CERTIFIED = "certified"
    MIX = "certified for the mix of all cases only"
    PARTLY = "certified in some groups"
    NOT_CERTIFIED = "not certified"
    NOT_ATTAINABLE = "not attainable"
    NO_USE = "threshold of no use"
    MEASURED = "measured, not certified"
    ESTIMATED = "estimated, not certified"
    COMPARED = "compared, no threshold chosen"
    SATISFIED = "satisfied"
    NO_VIOLATION = "no violation found"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


#: Statuses that say yes to going live where no caveat is grave, and those that say no.
_GOOD = (Status.CERTIFIED, Status.SATISFIED, Status.NO_VIOLATION)
_BAD = (Status.NO_USE, Status.VIOLATED, Status.NOT_ATTAINABLE)
#: Statuses whose headline states a guarantee.
CERTIFYING = (Status.CERTIFIED, Status.MIX, Status.PARTLY)
#: What became of the guarantee of a policy in use; "{0}" is the limit, "{1}" the confidence, "{2}" why.
_GUARANTEED = {
    Status.SATISFIED: "The guarantee is: {0}. These rows satisfy it{1}.",
    Status.NO_VIOLATION: "The guarantee is: {0}{1}. These rows do not contradict it.",
    Status.VIOLATED: "The guarantee was: {0}. It is violated{1}{2}.",
    Status.UNDECIDED: "The guarantee is: {0}. More rows are needed to decide{1}, whether it holds.",
}


@dataclass(frozen=True)
class Level:
    """Where all cases are answered, or those of one group, with the limit of the risk that this satisfies.

    ``threshold``: None in a group whose cases are all referred for review; ``n``: rows of the group; ``risk``: of its
    answers, without a threshold of all its rows; ``violated``: whether the guarantee is violated in the group.

    Examples
    --------
    >>> from abstain._result import Level
    >>> Level(0.05, 0.44, 0.93).limit
    0.05
    """

    limit: float
    coverage: float
    threshold: float | None
    printed: str = ""
    group: str | None = None
    n: int = 0
    risk: float = math.nan
    violated: bool = False

    @property
    def shown(self) -> str:
        """The threshold as text."""
        return "none needed" if self.coverage == 1.0 else self.printed


@dataclass(frozen=True)
class Better:
    """The best of what was compared against the next one, by one metric.

    Parameters
    ----------
    best, next : str
    metric : str
        As tables print it.
    value, next_value : float
    p : float
        Of the paired test, adjusted for all pairs; NaN where none was made.
    significant : bool
    same_answers : bool
        Whether both are scores of the same answers; else their answers differ, too.
    may_be_best : tuple of str
        Of three or more those that may be the best.

    Examples
    --------
    >>> from abstain._result import Better
    >>> Better("msp", "max_logit", "AUGRC", 0.0604, 0.0706, p=0.0001, significant=True).sentence
    'msp ranks errors better than max_logit: AUGRC 0.06040 against 0.07060, p < 0.001.'
    """

    best: str
    next: str
    metric: str
    value: float
    next_value: float
    p: float = math.nan
    significant: bool = False
    same_answers: bool = True
    may_be_best: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Which is better, by how much, and by what test."""
        how = "is best as measured, before" if math.isnan(self.p) else "is not significantly better than"
        if self.significant:
            how = "ranks errors better than" if self.same_answers else "is better than"
        places = decimals([self.value, self.next_value])
        values = f"{fixed(self.value, places)} against {fixed(self.next_value, places)}, {p_value(self.p)}"
        if self.value == self.next_value:
            how, values = "is as good as", f"{self.value:.4g} for both"
        said = f"{clean(self.best)} {how} {clean(self.next)}: {self.metric} {values}."
        if len(self.may_be_best) > 1:
            said += SPOKEN.format(" Any of these may be the best: {0:list}.", self.may_be_best)
        return said


@dataclass(frozen=True)
class Verdict:
    """Whether something may go live: status, threshold, guarantee, comparison and caveats.

    Parameters
    ----------
    status : Status
    score : str
        Name of the score; empty where it is unknown.
    threshold : float or None
        Answer where the score is at least this; None where there is none.
    coverage, risk : float or None
        Share of the rows that is answered, and the measured risk of the answers.
    limit : float or None
        The limit of the risk that is certified, or was asked for.
    confidence : float or None
        With which probability all that is certified holds together.
    levels : tuple of Level
        What is certified of one threshold for all, smallest limit first.
    missed : tuple of float
        Limits that were tried and are not certified.
    measured : Level or None
        The point that satisfies a limit on these rows, without a guarantee for new ones.
    comparison : Better or None
    caveats : tuple of Caveat
        The most severe first.
    next : str or None
        The command that goes on.
    reason : str
        Why nothing is certified, or nothing can be decided; of a comparison the sentence that it shows.
    details : tuple of str
        What was measured in addition, such as the evidence against a guarantee.
    n, n_accepted : int
        Rows, and rows that are answered.
    full_risk : float or None
        The risk of answering everything.
    printed : str
        The threshold in as few digits as accept the same rows.
    coverage_interval, risk_interval : (float, float) or None
    graded : bool
        Whether the risk is a mean loss, and no share of wrong answers.
    groups : tuple of Level
        Where each group has its own threshold, or none.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("llama3_70b_mmlu")
    >>> verdict = abstain.evaluate(outputs, "msp").verdict
    >>> print(verdict.headline)
    Answer 44.1 % of the cases: at most 5 % of the answers are wrong.
    >>> verdict.status.value, verdict.limit
    ('certified', 0.05)
    """

    status: Status
    score: str = ""
    threshold: float | None = None
    coverage: float | None = None
    risk: float | None = None
    limit: float | None = None
    confidence: float | None = None
    levels: tuple[Level, ...] = ()
    missed: tuple[float, ...] = ()
    measured: Level | None = None
    comparison: Better | None = None
    caveats: tuple[Caveat, ...] = ()
    next: str | None = None
    reason: str = ""
    details: tuple[str, ...] = ()
    n: int = 0
    n_accepted: int = 0
    full_risk: float | None = None
    printed: str = ""
    coverage_interval: tuple[float, float] | None = None
    risk_interval: tuple[float, float] | None = None
    graded: bool = False
    groups: tuple[Level, ...] = ()

    def __post_init__(self) -> None:
        kinds, distinct = list(CAVEATS), {each.text: each for each in self.caveats}.values()
        object.__setattr__(self, "caveats", tuple(sorted(distinct, key=lambda each: kinds.index(each.kind))))

    # ------------------------------------------------------------------ what it says

    @property
    def sign(self) -> str:
        """What it says to going live: "yes", "care", "no", or "open" where no threshold was chosen."""
        if self.status is Status.COMPARED:
            return "open"
        if self.status in _BAD or (self.status is Status.NOT_CERTIFIED and self.best is None):
            return "no"
        return "yes" if self.status in _GOOD and not self.grave else "care"

    @property
    def grave(self) -> list[Caveat]:
        """Caveats without which going live may do harm."""
        return [each for each in self.caveats if each.severity <= Severity.GRAVE]

    @property
    def best(self) -> Level | None:
        """The smallest certified limit that is worth a threshold."""
        return next((each for each in self.levels if each.coverage >= NOTHING), None)

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        status, limit, best = self.status, self.share(self.limit), self.best
        if status is Status.COMPARED:
            return self.reason or "No threshold is chosen."
        if status is Status.NO_USE:
            failed = f"Not certified at {limit}. " * (self.limit in self.missed)
            name = clean(self.score) or "this score"
            return f"{failed}A threshold on {name} does not help: its ranking is not shown to be better than chance."
        if status in CERTIFYING:
            return f"{self._certified(self.coverage, self.limit)}."
        if status is Status.NOT_CERTIFIED and best is not None:
            return f"Not certified at {limit}. {self._certified(best.coverage, best.limit)}{self.surely}."
        found = f"{self.measure} {self.share(self.risk)}"
        if status in (Status.MEASURED, Status.ESTIMATED) and self.coverage is not None:
            answer = "Without a threshold" if self.coverage == 1.0 else f"Answer {percent(self.coverage)} of the cases"
            return f"{answer}: {found} as {status.value}."
        if status is Status.VIOLATED:
            groups = [each.group for each in self.groups if each.violated]
            where = SPOKEN.format(" in {:list}", groups) * bool(groups)
            above = not groups and self.limit is not None and (self.risk or 0.0) > self.limit
            return f"Stop answering{where} by this policy{f': {found}, limit {limit}' * above}."
        seen = f"{found} in {self.n_accepted:,} answered rows, limit {limit}"
        said = "; ".join(filter(None, [seen if status in _GUARANTEED and self.n_accepted else "", self.reason]))
        return ": ".join(filter(None, [status.value.capitalize(), said])) + "."

    @property
    def guarantee(self) -> str:
        """What is guaranteed, or that nothing is; empty where the headline says it with status and confidence."""
        if self.status in _GUARANTEED and self.limit is not None:
            reason = f", {self.reason}" if self.reason else ""
            return _GUARANTEED[self.status].format(self.at_most(self.limit), self.surely, reason)
        whole = next((each.limit for each in self.levels if each.coverage == 1.0), None)
        if self.status is Status.NO_USE and whole is not None:
            return f"Answering all cases is certified: {self.at_most(whole)}{self.surely}."
        return "" if self.levels or self.status in CERTIFYING else "No guarantee."

    @property
    def above(self) -> list[str]:
        """Groups in which the certified limit is exceeded."""
        return [name for each in self.grave if each.kind == "group_above" for name in each.values["groups"]]

    def _certified(self, coverage: float | None, limit: float | None) -> str:
        """Return what to answer with what guarantee; where a group exceeds the limit, that it is too early for that."""
        answer = "Answer all cases" if coverage == 1.0 else f"Answer {percent(coverage or 0.0)} of the cases"
        if self.above:
            early = "Do not go live at {} yet, because of {:list}. Over all cases"
            answer = SPOKEN.format(early, self.share(limit), self.above)
        if self.status is Status.PARTLY:
            names = [each.group for each in self.groups if each.threshold is not None]
            answer += SPOKEN.format(", in {:list} only", names)
        return f"{answer}: {self.at_most(limit)}"

    @property
    def surely(self) -> str:
        """With which confidence, to end a sentence."""
        return "" if self.confidence is None else f", with {percent(self.confidence)} confidence"

    @property
    def rule(self) -> str:
        """Where to answer, where a threshold was chosen; of a policy that is not to be relied on, where it answers."""
        doubted = self.status in (Status.VIOLATED, Status.UNDECIDED)
        if self.sign == "no" and not doubted:
            return ""
        begins, rest = ("This policy answers", "it refers") if doubted else ("Answer", "refer")
        places = [f"≥ {each.printed} in {each.group}" for each in self.groups if each.threshold is not None]
        if not places and self.threshold is not None and math.isfinite(self.threshold):
            places = [f"≥ {self.printed}"]
        said = "{} if {} {:list}; {} the rest for review."
        return SPOKEN.format(said, begins, self.score or "the score", places, rest) if places else ""

    @property
    def measure(self) -> str:
        """What the risk is."""
        return "mean loss" if self.graded else "error rate"

    def share(self, value: float | None) -> str:
        """Return a risk as sentences say it: in per cent, but of graded losses as it is."""
        if value is None or math.isnan(value):
            return "—"
        return f"{value:.4g}" if self.graded else percent(value)

    def at_most(self, limit: float | None) -> str:
        """Return a limit of the risk as a clause; where groups have thresholds of their own it holds in each."""
        what = "the mean loss of the answers is at most {}" if self.graded else "at most {} of the answers are wrong"
        return what.format(self.share(limit)) + " in each group" * bool(self.groups)

    # ------------------------------------------------------------------ forms

    @classmethod
    def of(cls, status: Status, result: object, *caveats: Caveat, **changes: Any) -> Verdict:
        """Return the verdict of a result, which has its numbers under the names of the verdict's fields."""
        known = {each.name: getattr(result, each.name) for each in fields(cls) if hasattr(result, each.name)}
        return cls(**known | {"status": status, "caveats": caveats, "groups": (), "reason": ""} | changes)

    def but(self, *caveats: Caveat, instead: Iterable[str] = (), **changes: Any) -> Verdict:
        """Return the verdict with more caveats, without those of kinds in ``instead``, and with other fields."""
        kept = [each for each in self.caveats if each.kind not in set(instead)]
        return replace(self, caveats=(*kept, *caveats), **changes)

    def to_dict(self) -> dict[str, Any]:
        """Return its fields as plain values, with headline and sign."""
        from abstain._result._plain import plain

        return {"headline": self.headline, "sign": self.sign, **plain(vars(self))}

    @property
    def subject(self) -> str:
        """What the verdict is about: rows, the risk of answering everything, the score."""
        risk = "" if self.full_risk is None else f", {self.measure} {self.share(self.full_risk)}"
        return f"{self.n:,} row{'s' * (self.n != 1)}{risk}" + (f", score {clean(self.score)}" if self.score else "")
