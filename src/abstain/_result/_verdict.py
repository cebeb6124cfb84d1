"""The verdict: every sentence that a result may say in plain words, with what must hold before it is said.

A result gives *facts*, plain numbers and names, each about one thing; this table says which sentence follows from which
fact. It is the only place where these sentences stand: terminal, notebook and page say the same words. Whatever is
tested, was tested before it became a fact; a sentence says no more than its condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from abstain._result._spoken import SPOKEN, percent

Facts = Mapping[str, Any]

#: What a reader asks, in this order.
QUESTIONS = {
    "reading": "Is it read right?",
    "live": "May it go live, and at what threshold?",
    "promise": "What is promised?",
    "better": "Which is better?",
    "worst": "Where is it worst?",
    "next": "What would make it better?",
}

#: Fewer errors than this say little about where they lie.
FEW_ERRORS = 10
#: Fewer rows than this have wide intervals, whatever they show.
FEW_ROWS = 100
#: A larger share of rows with one score is a step that no threshold can part.
LARGE_TIE = 0.1

#: Answering a smaller share of the rows is next to nothing.
NOTHING = 0.01


class Sentence(NamedTuple):
    """A sentence of the verdict.

    ``name``; ``question``: of :data:`QUESTIONS`, which it answers; ``about``: which facts it reads; ``when``: its
    condition in words; ``holds``: the condition; ``words``: a template whose fields are those of the fact; ``stop``:
    whether it says that one should not answer.
    """

    name: str
    question: str
    about: str
    when: str
    holds: Callable[[Facts], bool]
    words: str
    stop: bool = False


#: In the order in which they are said.
SENTENCES: tuple[Sentence, ...] = (
    # what may void all that follows
    Sentence(
        "doubtful reading", "reading", "doubt",
        "a column looks like another quantity than it was given as, beyond chance",
        lambda fact: True, "The reading is doubtful: {doubt}.",
    ),
    Sentence(
        "model abstains", "reading", "answers", "the model itself gave no answer to some questions",
        lambda fact: fact["share"] > 0.0,
        "The model abstains by itself in {share:%} of {n:,} cases; all else is about its answers.",
    ),
    Sentence(
        "left out", "reading", "left out", "files of a study could not be evaluated",
        lambda fact: fact["count"] > 0, "{count} files were left out, so this is not the whole study.",
    ),
    Sentence(
        "other rows", "reading", "rows", "the scores were measured on different rows",
        lambda fact: not fact["same"], "The scores were measured on different rows, so none is called the better one.",
    ),
    # a promise
    Sentence(
        "certified", "live", "threshold", "a certificate was found",
        lambda fact: fact["attainable"] and fact["certified"] and fact["group"] is None,
        "Answer from {threshold:t} on, {coverage:%} of the cases: {statement}.",
    ),
    Sentence(
        "certified group", "live", "threshold", "a certificate was found for a group",
        lambda fact: fact["attainable"] and fact["certified"] and fact["group"] is not None,
        "In {group} answer from {threshold:t} on, {coverage:%} of the cases: risk at most {limit:%}, promised.",
    ),
    Sentence(
        "empirical", "live", "threshold",
        "a threshold reached its objective on the rows it was chosen on, without a certificate",
        lambda fact: fact["attainable"] and not fact["certified"] and fact["group"] is None,
        "Answering from {threshold:t} on covers {coverage:%} of these cases at a risk of {risk:.4g}; "
        "nothing is promised "
        "about new ones.",
    ),
    Sentence(
        "empirical group", "live", "threshold", "the same in a group",
        lambda fact: fact["attainable"] and not fact["certified"] and fact["group"] is not None,
        "In {group} answering from {threshold:t} on covers {coverage:%} of these cases at a risk of "
        "{risk:.4g}; nothing "
        "is promised.",
    ),
    Sentence(
        "not attainable", "live", "threshold", "no threshold reaches the objective",
        lambda fact: not fact["attainable"] and fact["group"] is None, "Not attainable: {reason}.", stop=True,
    ),
    Sentence(
        "not attainable in a group", "live", "threshold", "no threshold reaches the objective in a group",
        lambda fact: not fact["attainable"] and fact["group"] is not None,
        "Not attainable in {group}, whose cases are all passed on: {reason}.", stop=True,
    ),
    Sentence(
        "certified instead", "promise", "instead", "the limit is not certified, but a larger one is",
        lambda fact: True,
        "What these rows do certify: a risk of at most {risk:%} for {coverage:%} of the cases.",
    ),
    Sentence(
        "broken", "live", "promise watched", "the evidence against the promise reached 1/delta",
        lambda fact: fact["broken"] is True,
        "The promise is broken: seen after {at:,} accepted rows. Stop answering by this policy, or choose it again.",
        stop=True,
    ),
    Sentence(
        "not broken", "live", "promise watched",
        "there is a promise, and the evidence against it stayed below 1/delta",
        lambda fact: fact["broken"] is False,
        "No proof that the promise is broken in {n_accepted:,} accepted rows; this is no proof that it is kept.",
    ),
    Sentence(
        "promise untold", "live", "promise watched", "there is no promise, or no accepted row",
        lambda fact: fact["broken"] is None, "Whether a promise is kept cannot be told.",
    ),
    Sentence(
        "changed", "worst", "promise watched", "the change detector gave a signal",
        lambda fact: fact["changes"] > 0,
        "A change was signalled first after accepted row {first:,}{since}, {changes:,} in all; such signals also come "
        "by chance, once in {run_length:,.0f} rows.",
    ),
    Sentence(
        "drifted", "worst", "promise watched", "coverage or scores left what calibration had shown",
        lambda fact: fact["drifted"], "New cases are not like those of the calibration: {what} drifted.",
    ),
    # what was measured
    Sentence(
        "promised", "live", "promise",
        "a threshold of a hundredth of the rows at least passed the certificate, delta shared by all that are tried",
        lambda fact: fact["attained"] and fact["coverage"] >= NOTHING,
        "May answer {coverage:%} of the cases with a risk of at most {risk:%} promised ({sure:%} sure): where {score} "
        "is {threshold:t} or more.",
    ),
    Sentence(
        "next to nothing promised", "live", "promise", "the same, of fewer rows",
        lambda fact: fact["attained"] and fact["coverage"] < NOTHING,
        "A risk of at most {risk:%} can be promised for next to nothing, {coverage:%} of the cases.", stop=True,
    ),
    Sentence(
        "none promised", "live", "ladder", "no threshold passed the certificate for any of the risks that are tried",
        lambda fact: fact["attained"] == 0,
        "No risk of up to {highest:%} can be promised with these {n:,} rows.", stop=True,
    ),
    Sentence(
        "answers at a risk", "live", "measured",
        "a threshold keeps the measured risk for a hundredth of the rows or more, and answering everything does not",
        lambda fact: fact["coverage"] >= NOTHING and fact["full"] > fact["risk"],
        "At {risk:%} risk {score} may answer {coverage:%} of the cases, those from {threshold:t} on (measured on these "
        "rows, no promise).",
    ),
    Sentence(
        "answers next to nothing", "live", "measured", "the same, with fewer than a hundredth of the rows",
        lambda fact: 0.0 < fact["coverage"] < NOTHING and fact["full"] > fact["risk"],
        "At {risk:%} risk {score} may answer next to nothing, {coverage:%} of the cases (measured on these rows).",
    ),
    Sentence(
        "all within", "live", "measured", "answering everything keeps the measured risk",
        lambda fact: fact["full"] <= fact["risk"],
        "Even when everything is answered the measured risk is {full:%}, within {risk:%}.",
    ),
    Sentence(
        "risk not reached", "live", "measured", "no threshold keeps the measured risk",
        lambda fact: not fact["coverage"] > 0.0 and fact["full"] > fact["risk"],
        "No threshold of {score} keeps the measured risk within {risk:%}; the lowest is {lowest:%}.",
    ),
    Sentence(
        "mean loss", "live", "graded", "the loss is not 0/1",
        lambda fact: True,
        "The mean loss is {full:.4g}; of the surest {coverage:%} by {score} it is {part:.4g} (measured on these rows).",
    ),
    Sentence(
        "not promised", "promise", "promise",
        "no threshold passed the certificate for this risk, but one for another did",
        lambda fact: not fact["attained"] and fact["some"],
        "{risk:%} risk cannot be promised with these {n:,} rows.",
    ),
    Sentence(
        "no error", "promise", "rows", "a 0/1 loss of independent rows without any error",
        lambda fact: fact["binary"] and fact["independent"] and fact["errors"] == 0,
        "Not one error among {n:,} rows: the risk of answering everything is at most {high:%} (95 % sure).",
    ),
    Sentence(
        "few errors", "reading", "rows", f"at least one error and fewer than {FEW_ERRORS}",
        lambda fact: fact["binary"] and 0 < fact["errors"] < FEW_ERRORS,
        "Too few errors to tell much: {errors} among {n:,} rows.",
    ),
    Sentence(
        "few rows", "reading", "rows", f"fewer than {FEW_ROWS} rows",
        lambda fact: fact["n"] < FEW_ROWS, "Only {n} rows: take no number here for exact.",
    ),
    # the ranking
    Sentence(
        "chance", "better", "ranking", "the interval of AUROC of failures holds one half",
        lambda fact: fact["low"] <= 0.5 <= fact["high"],
        "The ranking by {score} cannot be told from chance (AUROC of failures {value:.3f} [{low:.3f}, {high:.3f}]).",
    ),
    Sentence(
        "worse than chance", "better", "ranking", "the interval of AUROC of failures lies below one half",
        lambda fact: fact["high"] < 0.5,
        "{score} ranks worse than chance: it is higher where answers are wrong (AUROC of failures {value:.3f}).",
    ),
    Sentence(
        "better", "better", "pair",
        "the paired test of two scores of the same answers, adjusted for all pairs, rejects that they are equal",
        lambda fact: fact["significant"] and fact["same_loss"], "{a} ranks better than {b} ({label}, {p:p}).",
    ),
    Sentence(
        "better model", "better", "pair", "the same, of two with answers of their own",
        lambda fact: fact["significant"] and not fact["same_loss"],
        "{a} has a {side} {label} than {b} ({p:p}); their answers differ, so this is not about the ranking alone.",
    ),
    Sentence(
        "not told apart", "better", "pair", "the paired test does not reject",
        lambda fact: not fact["significant"] and fact["p"] == fact["p"],
        "{a} and {b} cannot be told apart ({label}, {p:p}).",
    ),
    Sentence(
        "may be first", "better", "first", "of at least three the sets of ranks leave several in the first place",
        lambda fact: len(fact["names"]) > 1 and fact["count"] > 2,
        "Of {count} any of {n} may be the best ({sure:%} sets of ranks): {names:list}.",
    ),
    Sentence(
        "is first", "better", "first", "of at least three the sets of ranks leave one in the first place",
        lambda fact: len(fact["names"]) == 1 and fact["count"] > 2,
        "{names:list} is the best of {count} ({sure:%} sets of ranks).",
    ),
    Sentence(
        "one run", "better", "runs", "each model was trained once",
        lambda fact: fact["n_runs"] == 1,
        "The tests are about these trained models; another training of the same kind may rank otherwise.",
    ),
    Sentence(
        "margin shown", "better", "margin", "the one-sided test rejects that the margin is reached",
        lambda fact: fact["shown"], "{new} is {claim} in {label} ({p:p}).",
    ),
    Sentence(
        "margin missed", "better", "margin", "it does not, and even the lower limit exceeds the margin",
        lambda fact: not fact["shown"] and fact["low"] > fact["margin"],
        "{new} is worse than {reference} by {low:.4g} at least in {label} ({sure:%} sure), more than the margin of "
        "{margin:g}.",
    ),
    Sentence(
        "margin open", "better", "margin", "it does not, and the lower limit does not exceed the margin",
        lambda fact: not fact["shown"] and not fact["low"] > fact["margin"],
        "It is not shown that {new} is {claim} in {label} ({p:p}): worse by {low:.4g} to {high:.4g} (below 0: better; "
        "each limit {sure:%} sure).",
    ),
    # where it is worst
    Sentence(
        "one worst group", "worst", "groups compared", "the intervals, held together, leave one group as the worst",
        lambda fact: len(fact["names"]) == 1,
        "The worst of {count} groups is {worst}, by {label} ({value:.4g}; {sure:%} sure).",
    ),
    Sentence(
        "several worst groups", "worst", "groups compared", "the intervals leave several groups as the worst",
        lambda fact: len(fact["names"]) > 1,
        "Which of {count} groups is the worst by {label} is not told: it may be {names:list} ({sure:%} sure).",
    ),
    Sentence(
        "pairs of groups differ", "worst", "groups compared", "differences of pairs, held together, exclude zero",
        lambda fact: fact["pairs"] > 0, "{pairs} of {all} pairs of groups differ in {label}.",
    ),
    Sentence(
        "no pair of groups differs", "worst", "groups compared", "no difference of two groups is significant",
        lambda fact: fact["pairs"] == 0, "No two groups can be told apart by {label}.",
    ),
    Sentence(
        "groups disagree", "worst", "groups",
        "the intervals of the differences of all pairs, held together, exclude zero for some",
        lambda fact: fact["pairs"] > 0,
        "Groups disagree: answering everything, the risk is {high:%} in {a} and {low:%} in {b} ({column}).",
    ),
    Sentence(
        "groups not told apart", "worst", "groups", "no difference of two groups is significant",
        lambda fact: fact["pairs"] == 0,
        "The {count} groups of {column} cannot be told apart by their risk when everything is answered.",
    ),
    Sentence(
        "too sure", "worst", "calibration", "the interval of mean score minus share of right answers lies above zero",
        lambda fact: fact["low"] > 0.0,
        "Taken as a probability, {score} is too sure by {gap:%} on average.",
    ),
    Sentence(
        "too modest", "worst", "calibration", "the interval of mean score minus share of right answers lies below zero",
        lambda fact: fact["high"] < 0.0,
        "Taken as a probability, {score} is too modest by {size:%} on average.",
    ),
    Sentence(
        "large tie", "worst", "score", f"one value of the score holds more than {percent(LARGE_TIE)} of the rows",
        lambda fact: fact["tie"] > LARGE_TIE,
        "{tie:%} of the rows share one value of {score}, which no threshold can part.",
    ),
    Sentence(
        "without a score", "reading", "score", "rows have no score",
        lambda fact: fact["missing"] > 0, "{missing:,} rows have no {score} and are {fate}.",
    ),
    # what would help
    Sentence(
        "more rows", "next", "promise",
        "this risk was not certified, is above the least here, and a plan of how many rows it takes exceeds these",
        lambda fact: not fact["attained"] and (fact["needed"] or 0) > fact["n"] and fact["lowest"] < fact["risk"],
        "{risk:%} risk takes at least about {needed:about} rows, if errors lie as in these; not sure even then.",
    ),
    Sentence(
        "some more rows", "next", "promise", "the same, and the plan does not exceed these rows, which have failed",
        lambda fact: not fact["attained"] and fact["needed"] is not None and fact["needed"] <= fact["n"]
        and fact["lowest"] < fact["risk"],
        "{risk:%} risk takes more rows than these {n:,}; how many more cannot be told.",
    ),
    Sentence(
        "no more rows", "next", "promise",
        "this risk was not certified, and no threshold with the rows that a certificate takes has a lower one",
        lambda fact: not fact["attained"] and fact["lowest"] >= fact["risk"],
        "For {risk:%} risk more rows alone will not do: the least risk of any threshold here that accepts {enough:,} "
        "rows or more is {lowest:%}.",
    ),
    Sentence(
        "better ranking", "next", "measured", "a perfect ranking of the same answers keeps the risk for more cases",
        lambda fact: fact["full"] > fact["risk"] and fact["perfect"] > fact["coverage"],
        "A perfect ranking of the same answers would keep {risk:%} risk in {perfect:%} of the cases; for "
        "more the answers "
        "must get better.",
    ),
    Sentence(
        "calibrate", "next", "calibration", "the interval of mean score minus share of right answers excludes zero",
        lambda fact: fact["low"] > 0.0 or fact["high"] < 0.0,
        "{score} is no probability as it stands: calibrate it where it is read as one; a threshold does not need that.",
    ),
    # two scores together, and studies
    Sentence(
        "second score helps", "better", "gain",
        "the largest gain of a second score beats that of the same score permuted, p times their number below 5 %",
        lambda fact: fact["p"] < 0.05,
        "A second threshold, on {detector}, raises {metric} on {set} by {gain:.4g}, noise by {noise:.4g} ({p:p}, "
        "adjusted).",
    ),
    Sentence(
        "second score is noise", "better", "gain",
        "the same, with p times their number of 5 % or more",
        lambda fact: fact["p"] >= 0.05,
        "The gain in {metric} by a second threshold, at most {gain:.4g} (on {detector}, {set}), cannot be told from "
        "that of noise ({p:p}, adjusted).",
    ),
    Sentence(
        "best mean", "better", "cell", "a set of a study has at least two models or scores",
        lambda fact: fact["count"] > 1,
        "On {set} the best of {count} by mean {label} is {name} ({value:.4g}); this is a measurement, no test.",
    ),
)  # fmt: skip


def said(facts: Iterable[Facts]) -> list[tuple[Sentence, str]]:
    """Return the sentences that follow from the facts, each with its words, in the order of the table."""
    found: dict[str, list[Facts]] = {}
    for fact in facts:
        found.setdefault(fact["about"], []).append(fact)
    every = {
        SPOKEN.vformat(sentence.words, (), fact): sentence
        for sentence in SENTENCES
        for fact in found.get(sentence.about, ())
        if sentence.holds(fact)
    }
    return [(sentence, words) for words, sentence in every.items()]


def verdict(facts: Iterable[Facts]) -> list[str]:
    """Return the words of the sentences that follow from the facts."""
    return [words for _, words in said(facts)]
