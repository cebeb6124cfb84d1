"""Sentences about what was measured: reading, risks, rankings, groups, what would help."""

from __future__ import annotations

from abstain._result._sentence import FEW_ERRORS, FEW_ROWS, LARGE_TIE, NOTHING, Sentence
from abstain._result._spoken import percent

MEASURED: tuple[Sentence, ...] = (
    # what may void all that follows
    Sentence(
        "doubtful reading", "reading", "doubt",
        "a column looks like another quantity than it was given as, beyond chance",
        lambda fact: True, "The reading is doubtful: {doubt}.", "care",
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
    Sentence(
        "answers at a risk", "live", "measured",
        "a threshold keeps the measured risk for a hundredth of the rows or more, and answering everything does not",
        lambda fact: fact["coverage"] >= NOTHING and fact["full"] > fact["risk"],
        "Measured on these rows, no promise: at {risk:%} risk {coverage:%} of the cases, where {score} is "
        "{threshold:t} or more.",
    ),
    Sentence(
        "answers next to nothing", "live", "measured", "the same, with fewer than a hundredth of the rows",
        lambda fact: 0.0 < fact["coverage"] < NOTHING and fact["full"] > fact["risk"],
        "Measured on these rows: at {risk:%} risk {score} answers next to nothing, {coverage:%} of the cases.",
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
        "all beside it", "live", "all beside",
        "a threshold is certified, the interval of AUROC of failures does not lie above one half, and the measured "
        "risk of answering everything keeps the limit",
        lambda fact: fact["low"] <= 0.5 and fact["full"] <= fact["limit"],
        "But the ranking is not shown to be better than chance, and answering everything keeps {limit:%} here as well "
        "({full:%}, measured): a threshold may only lose answers.",
    ),
    Sentence(
        "mean loss", "live", "graded", "the loss is not 0/1",
        lambda fact: True,
        "The mean loss is {full:.4g}; of the surest {coverage:%} by {score} it is {part:.4g} (measured on these rows).",
    ),
    Sentence(
        "no error", "promise", "rows", "a 0/1 loss of independent rows without any error",
        lambda fact: fact["binary"] and fact["independent"] and fact["errors"] == 0,
        "Not one error among {n:rows}: the risk of answering everything is at most {high:%} (95 % sure).",
    ),
    Sentence(
        "few errors", "reading", "rows", f"at least one error and fewer than {FEW_ERRORS}",
        lambda fact: fact["binary"] and 0 < fact["errors"] < FEW_ERRORS,
        "Too few errors to tell much: {errors} among {n:rows}.",
    ),
    Sentence(
        "few rows", "reading", "rows", f"fewer than {FEW_ROWS} rows",
        lambda fact: fact["n"] < FEW_ROWS, "Only {n:rows}: take no number here for exact.",
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
    # where it is worst
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
        "Taken as a probability, {score} is too sure by {gap:points} on average.",
    ),
    Sentence(
        "too modest", "worst", "calibration", "the interval of mean score minus share of right answers lies below zero",
        lambda fact: fact["high"] < 0.0,
        "Taken as a probability, {score} is too modest by {size:points} on average.",
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
        "some more rows", "next", "promise",
        "the same, tried alone, and the plan does not exceed these rows, which have failed",
        lambda fact: not fact["attained"] and fact["needed"] is not None and fact["needed"] <= fact["n"]
        and fact["lowest"] < fact["risk"] and fact["tried"] == 1,
        "{risk:%} risk may take more rows than these {n:,}; how many cannot be told.",
    ),
    Sentence(
        "no more rows", "next", "promise",
        "this risk was not certified, and no threshold with the rows that a certificate takes has a lower one",
        lambda fact: not fact["attained"] and fact["lowest"] >= fact["risk"],
        "It is not shown that more rows would do for {risk:%} risk: the least risk of any threshold here that accepts "
        "{enough:,} rows or more, as its certificate takes even without an error, is {lowest:%}.",
    ),
    Sentence(
        "threshold where it may break", "next", "groups at it",
        "of groups only the measured risk exceeds the promise, and which command chooses a threshold for each is known",
        lambda fact: bool(fact["perhaps"]) and not fact["above"] and fact["promised"] and bool(fact["how"]),
        "A threshold for each {column} promises the risk there, or answers nothing there: {how}.",
    ),
    Sentence(
        "better ranking", "next", "perfect", "a perfect ranking of the same answers keeps the risk for more cases",
        lambda fact: fact["full"] > fact["risk"] and fact["perfect"] > fact["coverage"],
        "A perfect ranking of the same answers would keep {risk:%} risk in {perfect:%} of the cases; for more the "
        "answers must get better.",
    ),
    Sentence(
        "calibrate", "next", "calibration", "the interval of mean score minus share of right answers excludes zero",
        lambda fact: fact["low"] > 0.0 or fact["high"] < 0.0,
        "Where {score} is read as a probability, calibrate it first; a threshold does not need that.",
    ),
)  # fmt: skip
