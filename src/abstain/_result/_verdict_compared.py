"""Sentences about what was compared: scores, models, groups, two scores together, and studies."""

from __future__ import annotations

from abstain._result._sentence import Sentence

COMPARED: tuple[Sentence, ...] = (
    # scores and models
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
        "answers differ", "better", "pair", "the two have answers of their own",
        lambda fact: not fact["same_loss"] and fact["losses"] is not None,
        "Answering everything, the mean loss is {losses}.",
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
    # groups against each other
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
        "worst group compared", "next", "groups compared", "the intervals leave one group as the worst",
        lambda fact: len(fact["names"]) == 1,
        "Most is to be had in {worst}: look there first, or hold it back.",
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
        "no threshold", "next", "no threshold", "the result compares, and chooses nothing",
        lambda fact: True,
        "{what} promises no risk and chooses no threshold; before anything goes live, 'abstain threshold' does.",
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
