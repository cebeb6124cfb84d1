"""Sentences about a promise that is watched: whether it is broken, what was measured since, what has changed."""

from __future__ import annotations

from abstain._result._sentence import Sentence

WATCHED: tuple[Sentence, ...] = (
    Sentence(
        "broken", "live", "promise watched",
        "the evidence against the promise reached 1/delta, and it is not known when that of each group did",
        lambda fact: fact["broken"] is True and not fact["seen"],
        "The promise is broken{where}: first seen after {at:,} accepted rows. Stop answering by this policy.", "no",
    ),
    Sentence(
        "broken by group", "live", "promise watched", "it reached 1/delta in groups, and is known when in each",
        lambda fact: fact["broken"] is True and bool(fact["seen"]),
        "The promise is broken in {groups:list}. Stop answering by this policy.", "no",
    ),
    Sentence(
        "start again", "live", "promise watched", "the evidence against the promise reached 1/delta",
        lambda fact: fact["broken"] is True,
        "Start again only with a new threshold, of newly labelled rows: {how}.",
    ),
    Sentence(
        "broken when", "live", "promise watched", "it is known when in each group",
        lambda fact: fact["broken"] is True and bool(fact["seen"]),
        "First seen, counted in accepted rows of all groups: {seen:list}.",
    ),
    Sentence(
        "risk by time", "live", "promise watched",
        "the change detector gave a signal in a later period than the first, and 0/1 losses of rows are counted",
        lambda fact: fact["changes"] > 0 and bool(fact["story"]), "{story}.",
    ),
    Sentence(
        "not broken", "live", "promise watched",
        "there is a promise, and the evidence against it stayed below 1/delta",
        lambda fact: fact["broken"] is False,
        "No proof that the promise is broken in {n_accepted:,} accepted rows; this is no proof that it is kept.", "yes",
    ),
    Sentence(
        "promise untold", "live", "promise watched", "there is a promise, and no accepted row",
        lambda fact: fact["broken"] is None,
        "Whether the promise is kept cannot be told: no accepted row was seen.", "care",
    ),
    Sentence(
        "no promise watched", "live", "no promise", "the policy promises nothing",
        lambda fact: fact["broken"] == "nothing",
        "This policy promises nothing, so no risk can break it and nothing will alarm: hold what was measured{cost} "
        "against what you can bear.", "care",
    ),
    Sentence(
        "what is watched", "promise", "policy watched", "a policy with one threshold that promises a risk",
        lambda fact: fact["limit"] is not None and fact["threshold"] is not None and not fact["broken"],
        "Watched: a risk of at most {limit:%} where {score} is {threshold:t} or more{calibrated}.",
    ),
    Sentence(
        "what is watched by group", "promise", "policy watched", "a policy with several thresholds",
        lambda fact: fact["limit"] is not None and fact["threshold"] is None and not fact["broken"],
        "Watched: a risk of at most {limit:%} in each group from its own threshold on{calibrated}.",
    ),
    Sentence(
        "what was promised", "promise", "policy watched", "the promise is broken, of one threshold",
        lambda fact: fact["limit"] is not None and fact["threshold"] is not None and bool(fact["broken"]),
        "Nothing any more. Promised was a risk of at most {limit:%} where {score} is {threshold:t} or "
        "more{calibrated}.",
    ),
    Sentence(
        "what was promised by group", "promise", "policy watched", "it is broken, of several thresholds",
        lambda fact: fact["limit"] is not None and fact["threshold"] is None and bool(fact["broken"]),
        "Nothing any more{where}. Promised was a risk of at most {limit:%} in each group from its own threshold "
        "on{calibrated}.",
    ),
    Sentence(
        "passed on by group", "live", "rows passed on", "rows are of groups without a threshold",
        lambda fact: fact["count"] > 0,
        "All cases of {names:list} are passed on, since no threshold was certified there: {count:,} of {n:,} rows, of "
        "which nothing is watched.",
    ),
    Sentence(
        "measured since", "promise", "policy watched", "accepted rows were labelled",
        lambda fact: fact["risk"] == fact["risk"],
        "Measured since: a risk of {risk:%}, for {now:%} of the cases.",
    ),
    Sentence(
        "changed", "worst", "promise watched", "the change detector gave a signal",
        lambda fact: fact["changes"] > 0,
        "A change was signalled first after accepted row {first:,}{since}, {changes:,} in all. Without any "
        "change {run_length:,.0f} accepted rows or more go by before a signal, on average.", "care",
    ),
    Sentence(
        "worst watched", "worst", "worst watched",
        "of at least two periods, or groups, one has more errors than the others, by Fisher's exact test for all",
        lambda fact: fact["count"] > 1 and fact["p"] < 0.05,
        "Most speaks against {kind} {name}: {risk:%} [{low:%}, {high:%}] of {n_accepted:,} accepted rows. If all "
        "{count} were alike, chance would hardly make one of them so bad ({p:p}).",
    ),
    Sentence(
        "no worst watched", "worst", "worst watched", "the same test rejects for none",
        lambda fact: fact["count"] > 1 and fact["p"] >= 0.05,
        "No {kind} stands out from the {count}: most speaks against {name}, {risk:%} [{low:%}, {high:%}] of "
        "{n_accepted:,} accepted rows, which may be chance ({p:p}).",
    ),
    Sentence(
        "worst watched untested", "worst", "worst watched", "losses are not 0/1, or rows belong together",
        lambda fact: fact["count"] > 1 and fact["p"] != fact["p"],
        "The highest risk was measured in {kind} {name}: {risk:.4g} of {n_accepted:,} accepted rows; not tested.",
    ),
    Sentence(
        "drifted", "worst", "promise watched", "coverage or scores left what calibration had shown",
        lambda fact: fact["drifted"],
        "A signal that new cases are not like those of the calibration: {what:list}.", "care",
    ),
    Sentence(
        "drift by chance", "worst", "promise watched", "the same",
        lambda fact: fact["drifted"],
        "That may be chance: without any change such a signal comes, at any time of the watch, with probability "
        "{chance:%} at most for coverage, and as much for scores.",
    ),
    Sentence(
        "choose again", "next", "promise watched", "the promise is broken",
        lambda fact: fact["broken"] is True,
        "Choose the threshold again on newly labelled rows, after the cause was found.",
    ),
    Sentence(
        "go on watching", "next", "promise watched", "it is not broken",
        lambda fact: fact["broken"] is False,
        "Go on labelling some of what is answered: only more rows can show whether the promise holds.",
    ),
    Sentence(
        "look at drift", "next", "promise watched", "coverage or scores left what calibration had shown",
        lambda fact: fact["drifted"],
        "Look whether anything has changed: the promise is about cases like those of the calibration.",
    ),
    Sentence(
        "order of drift", "next", "promise watched", "the same, and the command was given no times",
        lambda fact: fact["drifted"] and fact["untimed"],
        "The rows were taken in the order of the file. If they came in another one, name their times (--time): the "
        "signal is about the first rows.",
    ),
)  # fmt: skip
