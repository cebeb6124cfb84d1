"""Sentences about promises: of an evaluation, of thresholds, of groups at a threshold, and of a promise watched."""

from __future__ import annotations

from abstain._result._sentence import NOTHING, Sentence

PROMISED: tuple[Sentence, ...] = (
    # an evaluation
    Sentence(
        "useless", "live", "usefulness",
        "the interval of AUROC of failures of the score that is judged does not lie above one half",
        lambda fact: fact["low"] <= 0.5,
        "No: a threshold on {score} does not help, since its ranking is not shown to be better than chance.", "no",
    ),
    Sentence(
        "promised", "live", "promise",
        "a threshold of a hundredth of the rows at least, not of all, passed the certificate for the risk that the "
        "verdict speaks of or a smaller one, delta shared by all that are tried",
        lambda fact: fact["attained"] and NOTHING <= fact["coverage"] < 1.0 and fact["risk"] <= fact["asked"],
        "Yes, at {risk:%} risk: answer where {score} is {threshold:t} or more, {coverage:%} of the cases; promised "
        "({sure:%} sure).", "yes",
    ),
    Sentence(
        "not yet", "live", "promise",
        "no threshold passed the certificate for the risk that the verdict speaks of, but one for a larger did",
        lambda fact: not fact["attained"] and fact["some"] and fact["risk"] >= fact["asked"],
        "Not yet at {risk:%} risk, which cannot be promised with these {n:,} rows.", "care",
    ),
    Sentence(
        "promised more", "live", "promise", "a threshold passed for a larger risk only, again not of all rows",
        lambda fact: fact["attained"] and NOTHING <= fact["coverage"] < 1.0 and fact["risk"] > fact["asked"],
        "At {risk:%} risk it may: where {score} is {threshold:t} or more, {coverage:%} of the cases; promised "
        "({sure:%} sure).",
    ),
    Sentence(
        "promised for all", "live", "promise", "the certificate for a risk passed for all rows",
        lambda fact: fact["attained"] and fact["coverage"] == 1.0,
        "At {risk:%} risk everything may be answered, which takes no threshold; promised ({sure:%} sure).",
    ),
    Sentence(
        "next to nothing promised", "live", "promise", "a threshold of fewer than a hundredth of the rows passed",
        lambda fact: fact["attained"] and fact["coverage"] < NOTHING,
        "A risk of at most {risk:%} can be promised for next to nothing, {coverage:%} of the cases.", "no",
    ),
    Sentence(
        "none promised", "live", "ladder", "no threshold passed the certificate for any of the risks that are tried",
        lambda fact: fact["attained"] == 0,
        "Not yet: no risk of up to {highest:%} can be promised with these {n:,} rows.", "no",
    ),
    Sentence(
        "not promised", "promise", "promise",
        "no threshold passed the certificate for a smaller risk, but one for another did",
        lambda fact: not fact["attained"] and fact["some"] and fact["risk"] < fact["asked"],
        "{risk:%} risk cannot be promised with these {n:,} rows.",
    ),
    Sentence(
        "promised together", "promise", "promise", "a certificate that shared its delta with others passed",
        lambda fact: fact["attained"] and fact["tried"] > 1,
        "{tried} promises were tried at once, which makes each stricter than that of one risk chosen beforehand "
        "('abstain threshold').",
    ),
    # one threshold
    Sentence(
        "certified", "live", "threshold", "a certificate was found",
        lambda fact: fact["attainable"] and fact["certified"] and fact["group"] is None,
        "Yes: answer from {threshold:t} on, {coverage:%} of the cases. Promised: {statement}.", "yes",
    ),
    Sentence(
        "empirical", "live", "threshold",
        "a threshold reached its objective on the rows it was chosen on, without a certificate",
        lambda fact: fact["attainable"] and not fact["certified"] and fact["group"] is None,
        "Answering from {threshold:t} on covers {coverage:%} of these cases at a risk of {risk:.4g}; nothing is "
        "promised about new ones.", "care",
    ),
    Sentence(
        "not attainable", "live", "threshold", "no threshold reaches the objective",
        lambda fact: not fact["attainable"] and fact["group"] is None, "Not attainable: {reason}.", "no",
    ),
    Sentence(
        "certified instead", "promise", "instead", "the limit is not certified, but a larger one is",
        lambda fact: fact["risk"] > fact["limit"],
        "What these rows do certify: a risk of at most {risk:%} for {coverage:%} of the cases.",
    ),
    Sentence(
        "certified otherwise", "promise", "instead", "a second certificate holds where the first did not pass",
        lambda fact: fact["risk"] <= fact["limit"],
        "A second certificate, at fixed ranks, does pass: risk at most {risk:%} for {coverage:%} of the cases. Each "
        "errs with probability {delta:%}; whoever takes the better of two doubles that.",
    ),
    # one threshold per group
    Sentence(
        "certified group", "live", "threshold", "a certificate was found for a group",
        lambda fact: fact["attainable"] and fact["certified"] and fact["group"] is not None,
        "In {group} answer from {threshold:t} on, {coverage:%} of the cases: risk at most {limit:%}, promised.", "yes",
    ),
    Sentence(
        "empirical group", "live", "threshold", "the same without a certificate",
        lambda fact: fact["attainable"] and not fact["certified"] and fact["group"] is not None,
        "In {group} answering from {threshold:t} on covers {coverage:%} of these cases at a risk of {risk:.4g}; "
        "nothing is promised.", "care",
    ),
    Sentence(
        "no group attains it", "live", "groups left out", "no threshold reaches the objective in any group",
        lambda fact: fact["left"] == 0, "Not attainable in {names:list}, so in no group: {reason}.", "no",
    ),
    Sentence(
        "groups left out", "live", "groups left out", "no threshold reaches the objective in some groups",
        lambda fact: fact["left"] > 0,
        "Not attainable in {names:list}, whose cases are all passed on: {reason}.", "care",
    ),
    Sentence(
        "least answered group", "worst", "least answered", "of at least two groups one answers the smallest share",
        lambda fact: fact["count"] > 1,
        "Least is answered in {group}, {coverage:%} of its cases; what is answered has the highest risk in {worst}, "
        "{risk:%} (measured on these rows).",
    ),
    Sentence(
        "rows of groups", "next", "rows of groups",
        "of groups without a certificate a plan says how many rows it takes",
        lambda fact: bool(fact["names"]),
        "Rows that {limit:%} risk takes at least about, if errors lie as here, and not surely even then: {names:list}.",
    ),
    Sentence(
        "hopeless groups", "next", "rows of groups",
        "of groups without a certificate no threshold has a lower risk than the limit",
        lambda fact: bool(fact["hopeless"]),
        "More rows alone will not do in {hopeless:list}: no threshold there that accepts enough rows has a risk below "
        "{limit:%}.",
    ),
    # groups at one threshold for all
    Sentence(
        "groups above the limit", "live", "groups at it",
        "of groups the exact lower limits of the risk at the promised threshold, held together, exceed the promise",
        lambda fact: bool(fact["above"]) and fact["promised"],
        "But not for {above:list}: of what is answered there more than {limit:%} is wrong.", "care",
    ),
    Sentence(
        "promise of the mix", "promise", "groups at it", "rows have groups, and one threshold for all is promised",
        lambda fact: fact["promised"],
        "The promise is about all cases in the mix of these rows, not about each {column}.",
    ),
    Sentence(
        "worst group at it", "worst", "groups at it", "rows have groups, some accepted, and a threshold is spoken of",
        lambda fact: True,
        "Answering from {threshold:t} on, {column} {worst} has the highest risk: {risk:%} of {n:,} answered cases "
        "[{low:%}, {high:%}], measured on these rows.",
    ),
    Sentence(
        "hold back", "next", "groups at it", "the same as for groups above the limit",
        lambda fact: bool(fact["above"]) and fact["promised"],
        "Choose a threshold for each {column} ('abstain threshold' with --groups). Or leave {above:list} out and "
        "choose again: this promise is about the mix with it, and void without.",
    ),
    Sentence(
        "groups unknown", "worst", "no groups", "no groups were given",
        lambda fact: True,
        "Whether it is worse in some groups is unknown: none were given ('abstain evaluate' with --groups).",
    ),
    # a promise watched
    Sentence(
        "broken", "live", "promise watched", "the evidence against the promise reached 1/delta",
        lambda fact: fact["broken"] is True,
        "The promise is broken{where}: seen after {at:,} accepted rows. Stop answering by this policy, or choose it "
        "again.", "no",
    ),
    Sentence(
        "not broken", "live", "promise watched",
        "there is a promise, and the evidence against it stayed below 1/delta",
        lambda fact: fact["broken"] is False,
        "No proof that the promise is broken in {n_accepted:,} accepted rows; this is no proof that it is kept.",
    ),
    Sentence(
        "promise untold", "live", "promise watched", "there is a promise, and no accepted row",
        lambda fact: fact["broken"] is None,
        "Whether the promise is kept cannot be told: no accepted row was seen.",
    ),
    Sentence(
        "no promise watched", "live", "no promise", "the policy promises nothing",
        lambda fact: fact["broken"] == "nothing",
        "This policy promises nothing, so no risk can break it and nothing will alarm: hold what was measured{cost} "
        "against what you can bear.",
    ),
    Sentence(
        "what is watched", "promise", "policy watched", "a policy with one threshold that promises a risk",
        lambda fact: fact["limit"] is not None and fact["threshold"] is not None,
        "Watched: a risk of at most {limit:%} where the score is {threshold:t} or more{calibrated}.",
    ),
    Sentence(
        "what is watched by group", "promise", "policy watched", "a policy with several thresholds",
        lambda fact: fact["limit"] is not None and fact["threshold"] is None,
        "Watched: a risk of at most {limit:%} in each group from its own threshold on{calibrated}.",
    ),
    Sentence(
        "measured since", "promise", "policy watched", "accepted rows were labelled",
        lambda fact: fact["risk"] == fact["risk"],
        "Measured since: a risk of {risk:%}, for {now:%} of the cases.",
    ),
    Sentence(
        "changed", "worst", "promise watched", "the change detector gave a signal",
        lambda fact: fact["changes"] > 0,
        "A change was signalled first after accepted row {first:,}{since}, {changes:,} in all; such signals also come "
        "by chance, once in {run_length:,.0f} rows.",
    ),
    Sentence(
        "worst period", "worst", "worst period", "of at least two periods with accepted rows",
        lambda fact: fact["count"] > 1,
        "The period of highest risk is {period}: {risk:%} [{low:%}, {high:%}] of {n_accepted:,} accepted rows.",
    ),
    Sentence(
        "worst watched group", "worst", "worst watched", "of at least two groups with accepted rows",
        lambda fact: fact["count"] > 1,
        "The group of highest risk is {group}: {risk:%} of {n_accepted:,} accepted rows.",
    ),
    Sentence(
        "drifted", "worst", "promise watched", "coverage or scores left what calibration had shown",
        lambda fact: fact["drifted"],
        "A signal that new cases are not like those of the calibration: {what} (without any change it comes with "
        "probability {chance:%}, ever, each).",
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
)  # fmt: skip
