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
    COMPARED = "compared, no threshold chosen"
    SATISFIED = "satisfied"
    NO_VIOLATION = "no violation found"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


#: What a status says to going live where it is not "with care", before caveats; "open": nothing was asked.
_SIGNS = {
    Status.CERTIFIED: "yes", Status.SATISFIED: "yes", Status.NO_VIOLATION: "yes", Status.COMPARED: "open",
    Status.NO_USE: "no", Status.VIOLATED: "no", Status.NOT_ATTAINABLE: "no",
}  # fmt: skip
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
    difference, low, high : float
        Best minus next, with its interval; NaN where it is unknown.
    p : float
        Of the paired test, adjusted for all pairs; NaN where none was made.
    significant : bool
    same_answers : bool
        Whether both are scores of the same answers; else their answers differ, too.
    claim : str
        What was to be shown, of a test with a margin or against chance; ``significant`` says whether it is.
    may_be_best : tuple of str
        Of three or more those that may be the best.
    where : str
        On which set, of a study.
    also : tuple of Better
        The same two by other metrics, or the best of other sets.
    share : bool
        Whether the values are shares of the cases.

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
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    significant: bool = False
    same_answers: bool = True
    claim: str = ""
    may_be_best: tuple[str, ...] = ()
    where: str = ""
    also: tuple[Better, ...] = ()
    share: bool = False

    @property
    def values(self) -> str:
        """Both values, the difference where it is known, and the p-value; of a claim, whether it is shown."""
        if self.claim:
            known = "" if math.isnan(self.value) else f" {self.value:z.4f}, by chance {self.next_value:z.4f}"
            known += "" if math.isnan(self.p) else f", {p_value(self.p)}"
            return f"it is {'not ' * (not self.significant)}shown that {self.claim} ({self.metric}{known})"
        places = decimals([self.value, self.next_value])
        one, two = (percent(x) if self.share else fixed(x, places) for x in (self.value, self.next_value))
        ends = [f"{100.0 * x:.1f}" if self.share else f"{x:.2g}" for x in (self.difference, self.low, self.high)]
        apart = "" if math.isnan(self.low) else " ({} [{}, {}])".format(*ends)
        return f"{self.metric} {one} against {two}{apart}, {p_value(self.p)}"

    @property
    def sentence(self) -> str:
        """Which is better, by how much, and by what test."""
        how = "is best as measured, before" if math.isnan(self.p) else "is not significantly better than"
        if self.significant:
            how = "ranks errors better than" if self.same_answers else "is better than"
        said = f"{self.values}." if self.claim else f"{clean(self.best)} {how} {clean(self.next)}: {self.values}."
        if self.value == self.next_value:
            said = (
                f"{clean(self.best)} and {clean(self.next)} are equally good: {self.metric} {self.value:.4g} for both."
            )
        if len(self.may_be_best) > 1:
            said += SPOKEN.format(" Any of these may be the best: {0:list}.", self.may_be_best)
        if self.where:
            return f"On {self.where}, {said}"
        return f"I{said[1:]}" if self.claim else said


def _answer(coverage: float | None) -> str:
    return "Answer all cases" if coverage == 1.0 else f"Answer {percent(coverage or 0.0)} of the cases"


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
        What is certified, smallest limit first.
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
        Why nothing is certified, or nothing can be decided.
    detail : str
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
    detail: str = ""
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
        sign = _SIGNS.get(self.status, "care")
        if self.status is Status.NOT_CERTIFIED and self.best is None:
            return "no"
        return "care" if sign == "yes" and self.grave else sign

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
            return self.comparison.sentence if self.comparison else f"{self.reason or 'No threshold is chosen'}."
        if status is Status.NO_USE:
            failed = f"Not certified at {limit}. A" if self.limit in self.missed else "A"
            said = f"{failed} threshold on {clean(self.score) or 'this score'} does not help: its ranking is not shown "
            return f"{said}to be better than chance."
        if status in CERTIFYING:
            names = [each.group for each in self.groups if each.threshold is not None]
            partly = SPOKEN.format(", in {:list} only", names) * (status is Status.PARTLY)
            return f"{self._answer(self.coverage, self.limit)}{partly}: {self.at_most(self.limit)}."
        if status is Status.NOT_CERTIFIED and best is not None:
            certified = f"{self._answer(best.coverage, best.limit)}: {self.at_most(best.limit)}{self.surely}"
            return f"Not certified at {limit}. {certified}."
        found = f"{self.measure} {self.share(self.risk)}"
        if status is Status.MEASURED and self.coverage is not None:
            answer = "Without a threshold" if self.coverage == 1.0 else _answer(self.coverage)
            return f"{answer}: {found} as {self.known.split()[0]}, not certified."
        found += f" in {self.n_accepted:,} answered rows" * bool(self.n_accepted)
        found += f", limit {limit}" * (self.limit is not None)
        if status is Status.VIOLATED:
            broken = [each for each in self.groups if each.violated]
            where = SPOKEN.format(" in {:list}", [each.group for each in broken]) * bool(broken)
            risk = broken[0].risk if len(broken) == 1 else self.risk
            found = f"{self.measure} {self.share(risk)}, limit {limit}" if broken else found
            above = len(broken) < 2 and risk is not None and self.limit is not None and risk > self.limit
            return f"Stop answering{where} by this policy: {found if above else 'the guarantee is violated'}."
        seen = found if status in _GUARANTEED and self.n_accepted else ""
        said = "; ".join(filter(None, [seen, self.reason]))
        return ": ".join(filter(None, [status.value.capitalize(), said])) + "."

    @property
    def known(self) -> str:
        """How the numbers are known: measured, or estimated from few labels."""
        few = next((each.values["labelled"] for each in self.caveats if each.kind == "few_labels"), None)
        return "measured on these rows" if few is None else f"estimated from {few:,} labels"

    @property
    def guarantee(self) -> str:
        """What is guaranteed, or that nothing is; empty where the headline says it with status and confidence."""
        if self.status in _GUARANTEED and self.limit is not None:
            reason = f", {self.reason}" if self.reason else ""
            return _GUARANTEED[self.status].format(self.at_most(self.limit), self.surely, reason)
        whole = next((each.limit for each in self.levels if each.coverage == 1.0), None)
        if self.status is Status.NO_USE and whole is not None:
            return f"Answering all cases is certified: {self.at_most(whole)}{self.surely}."
        compared = f"of the {self.measure}: a comparison only."
        said = {Status.COMPARED: compared, Status.NOT_CERTIFIED: "yet."}.get(self.status)
        return "" if self.levels else f"No guarantee {said}" if said else f"No guarantee: {self.known} only."

    @property
    def above(self) -> list[str]:
        """Groups in which the certified limit is exceeded."""
        return [name for each in self.grave if each.kind == "group_above" for name in each.values["groups"]]

    def _answer(self, coverage: float | None, limit: float | None) -> str:
        """Return what to answer; where a group exceeds the limit, that it is too early for that."""
        early = "Do not go live at {} yet, because of {:list}. Over all cases"
        return SPOKEN.format(early, self.share(limit), self.above) if self.above else _answer(coverage)

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
        begins = "Over all cases: answer" if self.above else begins
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

        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {"headline": self.headline, "sign": self.sign, **plain(found)}

    @property
    def subject(self) -> str:
        """What the verdict is about: rows, the risk of answering everything, the score."""
        if not self.n:
            return ""
        risk = "" if self.full_risk is None else f", {self.measure} {self.share(self.full_risk)}"
        return f"{self.n:,} row{'s' * (self.n != 1)}{risk}" + (f", score {clean(self.score)}" if self.score else "")
