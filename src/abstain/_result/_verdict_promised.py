"""Sentences about promises: of an evaluation, of thresholds, of groups at a threshold."""

from __future__ import annotations

from abstain._result._sentence import NOTHING, USABLE, Facts, Sentence


def _of_all(fact: Facts) -> bool:
    """Whether a certificate passed for all rows, by a ranking that is not useless."""
    return bool(fact["attained"] and fact["coverage"] == 1.0 and not fact["useless"])


PROMISED: tuple[Sentence, ...] = (
    # an evaluation
    Sentence(
        "useless", "live", "usefulness",
        "the interval of AUROC of failures of the score that is judged does not lie above one half",
        lambda fact: fact["low"] <= 0.5 and fact["all"] is None,
        "No: a threshold on {score} does not help, since its ranking is not shown to be better than chance.", "no",
    ),
    Sentence(
        "useless but for all", "live", "usefulness", "the same, and the certificate for some risk passed for all rows",
        lambda fact: fact["low"] <= 0.5 and fact["all"] is not None,
        "No: a threshold on {score} does not help, since its ranking is not shown to be better than chance. At {all:%} "
        "risk everything may be answered, without one; promised ({sure:%} sure).", "no",
    ),
    Sentence(
        "promised", "live", "promise",
        "a threshold of a hundredth of the rows at least, not of all, passed the certificate for the risk that the "
        "verdict speaks of or a smaller one, delta shared by all that are tried; in no group more is surely wrong",
        lambda fact: fact["attained"] and NOTHING <= fact["coverage"] < 1.0 and fact["risk"] <= fact["asked"]
        and not fact["above"] and not fact["unread"],
        "Yes, at {risk:%} risk{mix}: answer where {score} is {threshold:t} or more, {coverage:%} of the cases; "
        "promised ({sure:%} sure).", "yes",
    ),
    Sentence(
        "promised unread", "live", "promise", "the same, and columns of the file that may be groups were not read",
        lambda fact: fact["attained"] and NOTHING <= fact["coverage"] < 1.0 and fact["risk"] <= fact["asked"]
        and not fact["above"] and bool(fact["unread"]),
        "Yes, at {risk:%} risk, for the mix of all cases only: answer where {score} is {threshold:t} or more, "
        "{coverage:%} of the cases; promised ({sure:%} sure).", "care", "With care: groups not looked at",
    ),
    Sentence(
        "promised for the mix", "live", "promise", "the same, and in some group surely more is wrong",
        lambda fact: fact["attained"] and NOTHING <= fact["coverage"] < 1.0 and fact["risk"] <= fact["asked"]
        and bool(fact["above"]),
        "Not yet with one threshold: where {score} is {threshold:t} or more, {coverage:%} of the cases, {risk:%} risk "
        "is promised ({sure:%} sure) for the mix of all cases only.", "care",
    ),
    Sentence(
        "not yet", "live", "promise",
        "no threshold passed the certificate for the risk that the verdict speaks of, but one for a larger did; the "
        "ranking is not useless",
        lambda fact: not fact["attained"] and fact["some"] and fact["risk"] >= fact["asked"] and not fact["useless"],
        "Not yet at {risk:%} risk, which the tests that ran do not promise with these {n:,} rows.", "care",
    ),
    Sentence(
        "promised more", "live", "promise", "a threshold passed for a larger risk only, again not of all rows",
        lambda fact: fact["attained"] and NOTHING <= fact["coverage"] < 1.0 and fact["risk"] > fact["asked"],
        "At {risk:%} risk it may: where {score} is {threshold:t} or more, {coverage:%} of the cases; promised "
        "({sure:%} sure).",
    ),
    Sentence(
        "promised for all", "live", "promise",
        "the certificate for the risk that the verdict speaks of or a smaller one passed for all rows, the ranking is "
        "not useless, in no group more is surely wrong, and no column that may be groups was left unread",
        lambda fact: _of_all(fact) and fact["risk"] <= fact["asked"] and not fact["above"] and not fact["unread"],
        "Yes{mix}: at {risk:%} risk everything may be answered, which takes no threshold; promised ({sure:%} sure).",
        "yes",
    ),
    Sentence(
        "promised for all unread", "live", "promise", "the same, and such columns were not read",
        lambda fact: _of_all(fact) and fact["risk"] <= fact["asked"] and not fact["above"] and bool(fact["unread"]),
        "Yes, for the mix of all cases only: at {risk:%} risk everything may be answered, which takes no threshold; "
        "promised ({sure:%} sure).", "care", "With care: groups not looked at",
    ),
    Sentence(
        "promised for all of the mix", "live", "promise", "the same, and in some group surely more is wrong",
        lambda fact: _of_all(fact) and fact["risk"] <= fact["asked"] and bool(fact["above"]),
        "Not yet for all alike: {risk:%} risk is promised ({sure:%} sure) where everything is answered, for the mix of "
        "all cases only.", "care",
    ),
    Sentence(
        "promised more for all", "live", "promise", "the certificate for a larger risk passed for all rows",
        lambda fact: _of_all(fact) and fact["risk"] > fact["asked"],
        "At {risk:%} risk everything may be answered, which takes no threshold; promised ({sure:%} sure).",
    ),
    Sentence(
        "groups before promises", "live", "promise", "a threshold passed, and so such columns were not read",
        lambda fact: fact["attained"] and bool(fact["unread"]),
        "Before going live look at the groups that were not read, {unread:list}: {look}.",
    ),
    Sentence(
        "next to nothing promised", "live", "promise", "a threshold of fewer than a hundredth of the rows passed",
        lambda fact: fact["attained"] and fact["coverage"] < NOTHING,
        "A risk of at most {risk:%} can be promised for next to nothing, {coverage:%} of the cases.", "no",
    ),
    Sentence(
        "none promised", "live", "ladder", "no threshold passed the certificate for any of the risks that are tried",
        lambda fact: fact["attained"] == 0,
        "Not yet: none of {count} risks from {lowest:%} to {highest:%}, tried at once, is promised with these {n:,} "
        "rows.", "no",
    ),
    Sentence(
        "one beforehand", "live", "ladder",
        "the same, the ranking is not useless, and a threshold that accepts as many rows as the largest risk by itself "
        "takes has a lower one",
        lambda fact: fact["attained"] == 0 and fact["may"],
        "One risk chosen beforehand{by} may pass: {how}.",
    ),
    Sentence(
        "promises", "promise", "ladder", "certificates passed, delta shared by all that were tried",
        lambda fact: fact["attained"] > 0,
        "Promised for new cases like these, all at once ({sure:%} sure): a risk of {kept:list}.",
    ),
    Sentence(
        "promises of all", "promise", "ladder", "the same, and no groups were given",
        lambda fact: fact["attained"] > 0 and not fact["grouped"],
        "The promise is about all cases together, in the mix of these rows; a part of them may be worse.",
    ),
    Sentence(
        "nothing promised", "promise", "ladder", "none passed",
        lambda fact: fact["attained"] == 0,
        "Nothing: each risk tried, from {lowest:%} to {highest:%}, failed its certificate.",
    ),
    Sentence(
        "nothing certified", "promise", "no ladder", "no certificate was tried",
        lambda fact: True, "Nothing is certified here: {why}.",
    ),
    Sentence(
        "not promised", "promise", "promise",
        "no threshold passed the certificate for a smaller risk, but one for another did",
        lambda fact: not fact["attained"] and fact["some"] and fact["risk"] < fact["asked"],
        "{risk:%} risk is not promised with these {n:,} rows.",
    ),
    Sentence(
        "promised together", "promise", "promise", "a certificate that shared its delta with others passed",
        lambda fact: fact["attained"] and fact["tried"] > 1,
        "{tried} promises were tried and those kept hold together, so each is stricter, and its threshold may be "
        "higher, than that of one risk chosen beforehand ('abstain threshold').",
    ),
    # one threshold
    Sentence(
        "certified", "live", "threshold", "a certificate was found, and no column that may be groups was left unread",
        lambda fact: fact["attainable"] and fact["certified"] and fact["group"] is None and not fact["unread"],
        "Yes: answer from {scored}{threshold:t} on, {coverage:%} of the cases; a risk of at most {limit:%} is "
        "promised.", "yes",
    ),
    Sentence(
        "certified unread", "live", "threshold", "the same, and such columns were not read",
        lambda fact: fact["attainable"] and fact["certified"] and fact["group"] is None and bool(fact["unread"]),
        "Yes, for the mix of all cases only: answer from {scored}{threshold:t} on, {coverage:%} of the cases; a risk "
        "of at most {limit:%} is promised.", "care", "With care: groups not looked at",
    ),
    Sentence(
        "certificate", "promise", "threshold", "a certificate was found",
        lambda fact: fact["attainable"] and fact["certified"] and fact["group"] is None,
        "Promised ({sure:%} sure): {statement}.",
    ),
    Sentence(
        "promise of all", "promise", "threshold", "the same",
        lambda fact: fact["attainable"] and fact["certified"] and fact["group"] is None,
        "The promise is about all cases together, in the mix of these rows; a part of them may be worse.",
    ),
    Sentence(
        "empirical", "live", "threshold",
        "a threshold reached its objective on the rows it was chosen on, without a certificate",
        lambda fact: fact["attainable"] and not fact["certified"] and fact["group"] is None,
        "Answering from {scored}{threshold:t} on covers {coverage:%} of these cases at a risk of {risk:.4g}; nothing "
        "is promised about new ones.", "care",
    ),
    Sentence(
        "not attainable", "live", "threshold",
        f"no threshold reaches the objective, nor is a limit of up to {USABLE:g} times that asked for certified",
        lambda fact: not fact["attainable"] and fact["group"] is None and fact["instead"] is None
        and fact["whole"] is None,
        "{what}: {reason}.", "no",
    ),
    Sentence(
        "attainable without", "live", "threshold", "the same, but answering everything is certified to keep the limit",
        lambda fact: not fact["attainable"] and fact["group"] is None and fact["instead"] is None
        and fact["whole"] is not None,
        "No threshold passed its test at {limit:%} risk, but answering everything keeps it: at most {whole:%}. That "
        "takes no policy; 'abstain threshold' with --coverage 1 writes one that promises nothing.", "care",
    ),
    Sentence(
        "attainable at more", "live", "threshold", "no threshold reaches the objective; such a limit is certified",
        lambda fact: not fact["attainable"] and fact["group"] is None and fact["instead"] is not None
        and fact["threshold"] is not None,
        "Not at {limit:%} risk: {reason}. At {instead:%} it may: answer from {scored}{threshold:t} on, {coverage:%} of "
        "the cases, by a second certificate (each errs with {delta:%}; together {both:%}).", "care",
    ),
    Sentence(
        "attainable at more for all", "live", "threshold", "the same, for all that has a score",
        lambda fact: not fact["attainable"] and fact["group"] is None and fact["instead"] is not None
        and fact["threshold"] is None,
        "Not at {limit:%} risk: {reason}. At {instead:%} it may: answer all that has a score, {coverage:%} of the "
        "cases, which takes no threshold, by a second certificate (each errs with {delta:%}; together {both:%}).",
        "care",
    ),
    Sentence(
        "groups before going live", "live", "threshold",
        "the limit or another is certified, and columns of the file that may be groups were not read",
        lambda fact: (fact["certified"] if fact["attainable"] else fact["instead"] is not None)
        and fact["group"] is None and bool(fact["unread"]),
        "Before going live look at the groups that were not read, {unread:list}: {look}.",
    ),
    Sentence(
        "certified instead", "promise", "instead", "the limit is not certified, but a larger one is",
        lambda fact: fact["risk"] > fact["limit"],
        "Promised for new cases like these, all at once ({sure:%} sure): a risk of {kept:list}. This is a second "
        "certificate, looked at since the first did not pass: each errs with {delta:%}; together {both:%}.",
    ),
    Sentence(
        "promise of all instead", "promise", "instead", "the same",
        lambda fact: fact["risk"] > fact["limit"],
        "The promise is about all cases together, in the mix of these rows; a part of them may be worse.",
    ),
    Sentence(
        "nothing else certified", "promise", "not promised", "nor is any larger one",
        lambda fact: True, "Nothing: a risk of at most {limit:%} is not certified, nor is a larger one.",
    ),
    Sentence(
        "certified otherwise", "promise", "instead", "a second certificate holds where the first did not pass",
        lambda fact: fact["risk"] <= fact["limit"],
        "A second certificate, at fixed ranks, does pass: risk at most {risk:%} for {coverage:%} of the cases. Each "
        "errs with {delta:%}; together {both:%}.",
    ),
    Sentence(
        "foreign answered", "live", "foreign left out",
        "foreign rows of the file had no part in the choice of a threshold that would answer some of them",
        lambda fact: fact["answered"] > 0.0,
        "With care: {count:,} foreign rows were left out; {answered:%} of them would be answered{mixed}.", "care",
    ),
    # one threshold per group
    Sentence(
        "all groups", "live", "groups answered", "every group attains it, certified",
        lambda fact: fact["left"] == fact["count"] and fact["certified"],
        "Yes, in all {count} groups, each from its own threshold on: {coverage:%} of the cases are answered.", "yes",
    ),
    Sentence(
        "all groups measured", "live", "groups answered", "every group attains it, without a certificate",
        lambda fact: fact["left"] == fact["count"] and not fact["certified"],
        "In all {count} groups, each from its own threshold on, {coverage:%} of these cases are answered.", "care",
    ),
    Sentence(
        "most groups", "live", "groups answered", "at least half of the groups attain it, not all",
        lambda fact: fact["count"] <= 2 * fact["left"] < 2 * fact["count"],
        "In {left} of {count} groups, each from its own threshold on: {accepted:,} of {n:,} cases ({coverage:%}) are "
        "answered.", "care",
    ),
    Sentence(
        "few groups", "live", "groups answered", "some groups attain it, and fewer than half",
        lambda fact: 0 < 2 * fact["left"] < fact["count"],
        "Only in {names:list}, {left} of {count} groups, and nowhere else: {accepted:,} of {n:,} cases ({coverage:%}) "
        "are answered.", "no", "No, except in {names:list}",
    ),
    Sentence(
        "no groups answered", "live", "groups answered", "no group attains it",
        lambda fact: fact["left"] == 0,
        "Not like this: none of {count} groups attains it, so nothing is answered.", "no",
    ),
    Sentence(
        "promise by group", "promise", "groups promised", "a certificate was found for some groups",
        lambda fact: True, "Promised in {names:list} ({sure:%} sure{together}): {statement}.",
    ),
    Sentence(
        "certified group", "live", "threshold", "a certificate was found for a group",
        lambda fact: fact["attainable"] and fact["certified"] and fact["group"] is not None,
        "In {group} answer from {scored}{threshold:t} on, {coverage:%} of the cases: risk at most {limit:%}, promised.",
    ),
    Sentence(
        "empirical group", "live", "threshold", "the same without a certificate",
        lambda fact: fact["attainable"] and not fact["certified"] and fact["group"] is not None,
        "In {group} answering from {scored}{threshold:t} on covers {coverage:%} of these cases at a risk of "
        "{risk:.4g}; nothing is promised.",
    ),
    Sentence(
        "no group attains it", "live", "groups left out", "no threshold reaches the objective in any group",
        lambda fact: fact["left"] == 0, "Not attainable in {names:list20}, so in no group: {reason}.",
    ),
    Sentence(
        "groups left out", "live", "groups left out", "no threshold reaches the objective in some groups",
        lambda fact: fact["left"] > 0,
        "Not attainable in {names:list20}, whose cases are all passed on: {reason}.",
    ),
    Sentence(
        "other groups", "promise", "groups promised", "a certificate was found for some groups",
        lambda fact: True, "Cases of a group that these rows do not have are passed on.",
    ),
    Sentence(
        "only answered group", "worst", "least answered", "one group alone attains it",
        lambda fact: fact["count"] == 1,
        "Answered is in {group} alone, {coverage:%} of its cases, with a risk of {risk:%} (measured on these rows).",
    ),
    Sentence(
        "least answered group", "worst", "least answered", "of at least two groups one answers the smallest share",
        lambda fact: fact["count"] > 1,
        "Of the {count} groups answered, least is in {group}, {coverage:%} of its cases; what is "
        "answered has the highest risk in {worst}, {risk:%} (measured on these rows).",
    ),
    Sentence(
        "worst group passed on", "worst", "worst passed on", "of groups without a threshold one has the highest lower "
        "limit of the risk of answering everything",
        lambda fact: True,
        "Worst of what is passed on is {group}: if everything were answered there, {risk:%} of {n:,} cases would be "
        "wrong.",
    ),
    Sentence(
        "rows of groups", "next", "rows of groups",
        "of groups without a certificate a plan says how many rows it takes",
        lambda fact: bool(fact["names"]),
        "Rows that {limit:%} risk takes at least about, if errors lie as here, and not surely even then: "
        "{names:list20}.",
    ),
    Sentence(
        "hopeless groups", "next", "rows of groups",
        "of groups without a certificate no threshold with the rows that it takes has a lower risk than the limit",
        lambda fact: bool(fact["hopeless"]),
        "In {hopeless:list20} the answers or the score must get better; it is not shown that more rows would do: no "
        "threshold there with the rows that a certificate takes has a risk below {limit:%}.",
    ),
    # groups at one threshold for all
    Sentence(
        "groups above the limit", "live", "groups at it",
        "of groups the exact lower limits of the risk at the promised threshold, held together, exceed the promise",
        lambda fact: bool(fact["above"]) and fact["promised"],
        "But not for {column} {measured:list}: of what is answered there more than {limit:%} is wrong.", "care",
    ),
    Sentence(
        "threshold by group", "live", "groups at it", "the same, and which command chooses one for each group is known",
        lambda fact: bool(fact["above"]) and fact["promised"] and bool(fact["how"]),
        "This chooses a threshold for each {column}: {how}.",
    ),
    Sentence(
        "groups not told", "live", "groups at it",
        "of other groups the measured risk exceeds the promise, and the exact lower limit does not",
        lambda fact: bool(fact["perhaps"]) and fact["promised"],
        "Whether {limit:%} is kept is not known for {column} {perhaps:list}: measured above it, which may be chance.",
        "care", "With care: a group may break it",
    ),
    Sentence(
        "promise of the mix", "promise", "groups at it", "rows have groups, and one threshold for all is promised",
        lambda fact: fact["promised"],
        "The promise is about all cases in the mix of these rows, not about each {column}.",
    ),
    Sentence(
        "worst group at it", "worst", "groups at it",
        "of at least two groups one has more errors at the threshold than the others, by Fisher's exact test for all",
        lambda fact: fact["count"] > 1 and fact["p"] < 0.05,
        "Answering from {threshold:t} on, {column} {worst} is worse than the others: {risk:%} of {n:,} answered cases "
        "[{low:%}, {high:%}] are wrong.",
    ),
    Sentence(
        "no worst group at it", "worst", "groups at it", "the same test rejects for none",
        lambda fact: fact["count"] > 1 and not fact["p"] < 0.05,
        "Answering from {threshold:t} on, which {column} is worst cannot be told; most speaks against {worst}, "
        "{risk:%} of {n:,} answered cases [{low:%}, {high:%}].",
    ),
    Sentence(
        "hold back", "next", "groups at it", "the same as for groups above the limit",
        lambda fact: bool(fact["above"]) and fact["promised"],
        "Choose a threshold for each {column} ('abstain threshold' with --groups). Or leave {above:list} out and "
        "choose again: this promise is about the mix with it, and void without.",
    ),
    Sentence(
        "groups unknown", "worst", "no groups", "no groups were given, and no unread column may be one",
        lambda fact: not fact["names"] and not fact["how"],
        "Whether it is worse in some groups is unknown: none were given ('{command}' with --groups).",
    ),
    Sentence(
        "groups not given", "worst", "no groups", "the same, and which command reads them is known",
        lambda fact: not fact["names"] and bool(fact["how"]),
        "Whether it is worse in some groups is unknown: none were given. With the column that has them this tells it: "
        "{how}.",
    ),
    Sentence(
        "groups unread", "worst", "no groups", "no groups were given; columns of few values were not read",
        lambda fact: bool(fact["names"]),
        "Whether it is worse in some groups is unknown: none were read. Columns of the file that may be groups: "
        "{names:list}. This tells it: {how}.",
    ),
    Sentence(
        "groups watched", "next", "no groups", "the same, of a policy that is watched",
        lambda fact: bool(fact["names"]) and fact["command"] == "abstain audit",
        "First look at the groups that were not read: {how}.",
    ),
)  # fmt: skip
