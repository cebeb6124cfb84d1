"""Sentences about what was compared: scores, models, groups, two scores together, and studies."""

from __future__ import annotations

from abstain._result._sentence import FEW_ERRORS, FEW_ROWS, SLIGHT, Sentence
from abstain._result._spoken import percent

COMPARED: tuple[Sentence, ...] = (
    # scores and models
    Sentence(
        "better", "better", "pair",
        "the paired test of two scores of the same answers, adjusted for all pairs, rejects that they are equal",
        lambda fact: fact["significant"] and fact["same_loss"], "{a} ranks better than {b} ({label} {by}, {p:p}).",
        "open", "{a} ranks better; no threshold is chosen here",
    ),
    Sentence(
        "better model", "better", "pair", "the same, of two with answers of their own",
        lambda fact: fact["significant"] and not fact["same_loss"],
        "{a} is better than {b} by {label} ({by}, {p:p}); their answers differ, so this is not the ranking alone.",
        "open", "{a} is better; no threshold is chosen here",
    ),
    Sentence(
        "not told apart", "better", "pair", "the paired test does not reject",
        lambda fact: not fact["significant"] and fact["p"] == fact["p"],
        "{a} and {b} cannot be told apart ({label}, {p:p}).",
        "open", "Not told apart; no threshold is chosen here",
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
        "margin shown", "better", "margin", "the one-sided test rejects that the margin is reached",
        lambda fact: fact["shown"], "{new} is {claim} in {label} ({p:p}).",
        "open", "{new} is {claim}; no threshold is chosen here",
    ),
    Sentence(
        "margin missed", "better", "margin", "it does not, and even the lower limit exceeds the margin",
        lambda fact: not fact["shown"] and fact["low"] > fact["margin"],
        "{new} is worse than {reference} by {low:.4g} at least in {label} ({sure:%} sure), more than the margin of "
        "{margin:g}.", "open", "{new} is worse than {reference} by more than the margin; no threshold is chosen here",
    ),
    Sentence(
        "margin open", "better", "margin", "it does not, and the lower limit does not exceed the margin",
        lambda fact: not fact["shown"] and not fact["low"] > fact["margin"],
        "It is not shown that {new} is {claim} in {label} ({p:p}): worse by {low:.4g} to {high:.4g} (below 0: better; "
        "each limit {sure:%} sure).", "open", "Not shown of {new}; no threshold is chosen here",
    ),
    Sentence(
        "more coverage", "better", "coverage pair",
        "the paired interval of the difference in coverage at a risk lies above zero, and not within a hundredth of it",
        lambda fact: fact["low"] > 0.0 and fact["high"] >= SLIGHT,
        "At {risk:%} risk {a} answers {here:%} of the cases and {b} {there:%}: {difference:points} more [{low:of100}, "
        "{high:of100}].",
    ),
    Sentence(
        "less coverage", "better", "coverage pair", "it lies below zero, and not within a hundredth of it",
        lambda fact: fact["high"] < 0.0 and fact["low"] <= -SLIGHT,
        "At {risk:%} risk {a} answers {here:%} of the cases and {b} {there:%}: {fewer:points} fewer "
        "[{fewer_low:of100}, {fewer_high:of100}].",
    ),
    Sentence(
        "coverage alike", "better", "coverage pair", "it holds zero, and reaches further than a hundredth from it",
        lambda fact: fact["low"] <= 0.0 <= fact["high"] and not -SLIGHT < fact["low"] <= fact["high"] < SLIGHT,
        "At {risk:%} risk {a} answers {here:%} of the cases and {b} {there:%}, which cannot be told apart: "
        "{difference:points} [{low:of100}, {high:of100}].",
    ),
    Sentence(
        "slight", "better", "coverage pair", "it lies within a hundredth of zero",
        lambda fact: -SLIGHT < fact["low"] <= fact["high"] < SLIGHT,
        "It matters little: at {risk:%} risk {a} answers {here:%} of the cases and {b} {there:%}, less than one "
        "percentage point apart ({difference:of100} [{low:of100}, {high:of100}]).",
    ),
    Sentence(
        "errors differ", "better", "errors pair", "of 0/1 losses that differ the paired test of the error rate rejects",
        lambda fact: fact["wrong_here"] is not None and fact["significant"],
        "{a} is wrong in {wrong_here:,} of {n:,} cases ({here:%}), {b} in {wrong_there:,} ({there:%}; {p:p}).",
    ),
    Sentence(
        "errors alike", "better", "errors pair", "of 0/1 losses that differ it does not reject",
        lambda fact: fact["wrong_here"] is not None and not fact["significant"],
        "{a} is wrong in {wrong_here:,} of {n:,} cases ({here:%}), {b} in {wrong_there:,} ({there:%}), which cannot be "
        "told apart ({p:p}).",
    ),
    Sentence(
        "mean losses", "better", "errors pair", "losses that differ, and are not counted one by one",
        lambda fact: fact["wrong_here"] is None,
        "Answering everything, the mean loss is {here:.4g} of {a} and {there:.4g} of {b} ({p:p}).",
    ),
    Sentence(
        "rankings differ", "better", "ranking pair",
        "of two with answers of their own the paired test of AUROC of failures rejects, for the first",
        lambda fact: fact["significant"] and fact["difference"] > 0.0,
        "By the ranking alone {a} is better, too: AUROC of failures {here:.4f} against {there:.4f} of {b} ({p:p}).",
    ),
    Sentence(
        "rankings disagree", "better", "ranking pair", "it rejects, for the second",
        lambda fact: fact["significant"] and fact["difference"] <= 0.0,
        "By the ranking alone {b} is better: AUROC of failures {there:.4f} against {here:.4f} of {a} ({p:p}).",
    ),
    Sentence(
        "rankings alike", "better", "ranking pair", "it does not reject",
        lambda fact: not fact["significant"],
        "By the ranking alone they cannot be told apart: AUROC of failures {here:.4f} of {a}, {there:.4f} of {b} "
        "({p:p}).",
    ),
    # groups against each other
    Sentence(
        "one worst group", "worst", "groups compared", "the intervals, held together, leave one group as the worst",
        lambda fact: len(fact["names"]) == 1,
        "The worst of {count} groups is {worst}, by {label}: {value:.3g} [{low:.3g}, {high:.3g}] (all intervals hold "
        "together, {sure:%} sure).", "open", "{worst} is the worst group; no threshold is chosen here",
    ),
    Sentence(
        "several worst groups", "worst", "groups compared", "the intervals leave several groups as the worst",
        lambda fact: len(fact["names"]) > 1,
        "Which of {count} groups is the worst by {label} is not told: it may be {names:list} ({sure:%} sure).",
    ),
    Sentence(
        "worst group compared", "next", "groups compared", "the intervals leave one group as the worst",
        lambda fact: len(fact["names"]) == 1,
        "Look at the errors of {worst} first, or leave its cases to somebody else.",
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
        "risk of the worst", "worst", "groups compared", "the risk of the groups was measured beside another metric",
        lambda fact: fact["risk"] is not None,
        "When everything is answered, {risk:%} of the cases of {worst} are wrong [{risk_low:%}, {risk_high:%}]; in "
        "{best}, which has the fewest, {least:%}.",
    ),
    # what a comparison leaves to other commands
    Sentence(
        "answers of a cell", "live", "cell coverage", "coverage at a risk was evaluated",
        lambda fact: True,
        "Measured on {set}, no promise: at {risk:%} risk {name} answers {coverage:%} of the cases.",
    ),
    Sentence(
        "no threshold", "live", "no threshold", "the result compares, and chooses nothing; which command does is known",
        lambda fact: bool(fact["how"]),
        "{what} chooses no threshold, so nothing may go live by it alone. This chooses one for {of}: {how}.",
        "open",
    ),
    Sentence(
        "no threshold known", "live", "no threshold", "the result compares, and chooses nothing",
        lambda fact: not fact["how"],
        "{what} chooses no threshold, so nothing may go live by it alone; 'abstain threshold' chooses one for {of}.",
        "open",
    ),
    Sentence(
        "threshold beside foreign rows", "live", "foreign",
        "a threshold for the rows in distribution alone was certified, and counted on the foreign rows as well",
        lambda fact: fact["chosen"],
        "That threshold{at} would answer {familiar:%} of the familiar cases here and {answered:%} of the foreign ones: "
        "of all that it answers {bad:%} is then wrong or foreign. It promises nothing where foreign cases come.",
    ),
    Sentence(
        "named though not told apart", "live", "no threshold", "the test does not tell the best from the next",
        lambda fact: not fact["apart"], "{of} is named because its estimate is the best; it may not be the better one.",
    ),
    Sentence(
        "new rows", "live", "no threshold", "the same, and these rows told which of several is best",
        lambda fact: fact["others"],
        "Give it new rows, which had no part in this comparison: the rows by which {of} came first flatter it.",
    ),
    Sentence(
        "labelled rows", "live", "no threshold", "the same, and only some rows have labels",
        lambda fact: fact["few"], "That takes rows that are all labelled.",
    ),
    Sentence(
        "no promise", "promise", "no threshold", "the same",
        lambda fact: not fact["others"],
        "Nothing is promised here: all was measured on these rows. The threshold of that command promises a risk for "
        "new ones.",
    ),
    Sentence(
        "promise of familiar cases", "promise", "foreign", "foreign rows are left out where a threshold is chosen",
        lambda fact: True,
        "That promise is for familiar cases only: foreign ones are left out of it, and any share of them may be "
        "answered.",
    ),
    Sentence(
        "no promise of the chosen", "promise", "no threshold", "the same, and these rows told which of several is best",
        lambda fact: fact["others"],
        "Nothing is promised here: all was measured on these rows. The threshold of that command promises a risk for "
        "new cases, if {of} was not chosen by the rows that it is given.",
    ),
    Sentence(
        "groups elsewhere", "worst", "groups elsewhere", "no groups were read; which command reads them is known",
        lambda fact: bool(fact["how"]),
        "Where {of} is worst is not told here, since no groups were read; this tells it: {how}.",
    ),
    Sentence(
        "groups elsewhere known", "worst", "groups elsewhere", "no groups were read",
        lambda fact: not fact["how"],
        "Where {of} is worst is not told here, since no groups were read; 'abstain evaluate' with --groups tells it.",
    ),
    Sentence(
        "ranking perfected", "next", "ranking perfected",
        "a perfect ranking of the winner's answers keeps the risk for a hundredth more of the cases",
        lambda fact: fact["full"] > fact["risk"] and fact["perfect"] - fact["coverage"] >= SLIGHT,
        "A perfect ranking of the answers of {of} would keep {risk:%} risk in {perfect:%} of the cases instead of "
        "{coverage:%}; for more the answers must get better.",
    ),
    Sentence(
        "answers limit", "next", "ranking perfected", "it does not",
        lambda fact: fact["full"] > fact["risk"] and not fact["perfect"] - fact["coverage"] >= SLIGHT,
        "Better answers: even a perfect ranking of those of {of} would keep {risk:%} risk in {perfect:%} of the "
        "cases only.",
    ),
    # few labels
    Sentence(
        "few labels", "reading", "few labels", "some rows of a pool are labelled, and others are not",
        lambda fact: not fact["whole"],
        "Of {n:,} rows {labelled:,} are {how}, {seen} among them: all that follows is estimated from these labels and "
        "the scores of all rows.",
    ),
    Sentence(
        "few labelled errors", "reading", "few labels", "at least one error was seen, and fewer than ten",
        lambda fact: 0 < fact["errors"] < FEW_ERRORS and not fact["whole"],
        "Too few errors to tell much: {errors} among {labelled:,} labels.",
    ),
    Sentence(
        "groups of few labels", "worst", "few labels", "some rows are not labelled",
        lambda fact: not fact["whole"],
        "Where it is worst is not told from so few labels. Of rows that are all labelled this tells it: {groups}.",
    ),
    Sentence(
        "labelled risk", "live", "labelled risk", "the error rate has an interval from few labels",
        lambda fact: True,
        "Estimated, no promise: when everything is answered {value:%} of the cases are wrong [{low:%}, {high:%}].",
    ),
    Sentence(
        "counted and estimated", "live", "labelled risk", "the estimate is not the share of errors among the labels",
        lambda fact: fact["labelled"] < fact["n"] and percent(fact["counted"]) != percent(fact["value"]),
        "Of the labelled rows alone {counted:%} are wrong ({errors} of {labelled:,}); the estimate differs since it "
        "uses the scores of the rows without a label, too.",
    ),
    Sentence(
        "labelled selective risk", "live", "labelled selective_risk", "so has the risk at a coverage",
        lambda fact: True, "{label} by {score}: {value:%} [{low:%}, {high:%}], estimated.",
    ),
    Sentence(
        "labelled ranking", "better", "labelled auroc_f", "the interval of AUROC of failures lies above one half",
        lambda fact: fact["low"] > 0.5,
        "The ranking by {score} is better than chance: AUROC of failures {value:.3f} [{low:.3f}, {high:.3f}].",
    ),
    Sentence(
        "labelled ranking untold", "better", "labelled auroc_f", "it does not",
        lambda fact: not fact["low"] > 0.5,
        "That the ranking by {score} is better than chance is not shown: AUROC of failures {value:.3f} [{low:.3f}, "
        "{high:.3f}].",
    ),
    Sentence(
        "plain labels", "next", "more labels", "it is known what plain evaluation would need for the same width",
        lambda fact: fact["labelled"] < fact["n"] and fact["plain"] > fact["labelled"],
        "The labels are well spent: {label} is {value:.3g} [{low:.3g}, {high:.3g}], for which about "
        "{plain:,.0f} labels, drawn uniformly and without the scores of the other rows, would be needed instead of "
        "{labelled:,}.",
    ),
    Sentence(
        "more labels", "next", "more labels", "twice the labels are to be had",
        lambda fact: fact["twice"] <= fact["n"],
        "More labels: {twice:,} in all would put {label} within about {then:.2g}, now {half:.2g} ('abstain plan' with "
        "--extend{how}).",
    ),
    # two scores together, and studies
    Sentence(
        "detector reversed", "reading", "reversed",
        "AUROC of a detector lies more than three standard errors of a useless one below one half",
        lambda fact: True,
        "{score} is the wrong way round: higher for the foreign rows of {set} than for known ones (AUROC {auroc:.3g}), "
        "though high must mean known. Of a distance give the negative.",
    ),
    Sentence(
        "second score helps", "better", "gain",
        "the largest gain of a second score beats that of the same score permuted, p times their number below 5 %",
        lambda fact: fact["p"] < 0.05,
        "A second threshold, on {detector}, improves {metric} on {set} by {gain:.3g}, noise by {noise:.3g} ({p:p}, "
        "adjusted for all {count} gains).",
    ),
    Sentence(
        "second score is noise", "better", "gain",
        "the same, with p times their number of 5 % or more, or a gain below that of noise",
        lambda fact: fact["p"] >= 0.05 and (fact["floor"] < 0.05 or fact["gain"] <= fact["noise"]),
        "By {metric} a second threshold does not pay here, as far as these rows show: the largest gain is {gain:.3g} "
        "(on {detector}, {set}), which cannot be told from that of noise, {noise:.3g} ({p:p}, adjusted for all "
        "{count} gains).",
    ),
    Sentence(
        "second score untold", "better", "gain",
        "the gain exceeds that of noise, and so few permutations were made that no p-value could be below 5 %",
        lambda fact: fact["p"] >= 0.05 and fact["floor"] >= 0.05 and fact["gain"] > fact["noise"],
        "A second threshold, on {detector}, improves {metric} on {set} by {gain:.3g}, noise by {noise:.3g}; {n} "
        "permutations are too few to tell these apart.",
    ),
    Sentence(
        "more permutations", "next", "gain", "the same",
        lambda fact: fact["p"] >= 0.05 and fact["floor"] >= 0.05 and fact["gain"] > fact["noise"],
        "To tell whether the second threshold helps takes at least {enough:,} permutations ('abstain joint' with "
        "--permutations).",
    ),
    Sentence(
        "one threshold", "better", "single", "in-distribution rows and foreign ones were evaluated by one score",
        lambda fact: True,
        "When all in-distribution rows are answered, {accuracy:%} of them are right (the accuracy). With foreign rows "
        "beside them one threshold on {score} has an F1 of {f1:.4f} and an AURC of {aurc:.4f} (measured).",
    ),
    Sentence(
        "foreign rows accepted", "worst", "foreign", "of the foreign sets one has the most accepted rows",
        lambda fact: True,
        "Where 95 % of the in-distribution rows are accepted by {score}{from95}, so are {share:%} of the foreign rows "
        "of {set}{count}.",
    ),
    Sentence(
        "detector", "next", "foreign", "another score accepts a hundredth fewer of the foreign rows of that set",
        lambda fact: fact["share"] - fact["least"] >= SLIGHT,
        "{best} would accept {least:%} of them instead (measured on these rows).",
    ),
    Sentence(
        "no detector", "next", "foreign", "none does",
        lambda fact: not fact["share"] - fact["least"] >= SLIGHT,
        "A higher threshold lets fewer foreign rows of {set} pass, and fewer of the others. At the same 95 % that "
        "takes another score: none of those here lets even one percentage point fewer pass{besides}.",
    ),
    Sentence(
        "few rows of a set", "reading", "cell", f"a set of a study has fewer than {FEW_ROWS} rows",
        lambda fact: fact["n"] < FEW_ROWS, "{set} has only {n:rows}: take no number of it for exact.",
    ),
    Sentence(
        "best mean", "better", "cell", "a set of a study has at least two models or scores, which were not tested",
        lambda fact: fact["count"] > 1 and fact["p"] != fact["p"],
        "On {set} the best of {count} by mean {label} is {name} ({value:.4g}); this is a measurement, no test.",
    ),
    Sentence(
        "best cell", "better", "cell", "the paired test against the next rejects, adjusted for all pairs of the set",
        lambda fact: fact["count"] > 1 and fact["p"] < 0.05,
        "On {set} the best of {count} by {label} is {name} ({value:.4g}), {by} than the next, {next} "
        "({p:p}{adjusted}).", "open", "On {set} {name} is best; no threshold is chosen here",
    ),
    Sentence(
        "best cell untold", "better", "cell", "it does not reject",
        lambda fact: fact["count"] > 1 and fact["p"] >= 0.05,
        "On {set} {name} has the best {label} of {count} ({value:.4g}), which cannot be told from that of the next, "
        "{next} ({by}; {p:p}{adjusted}).",
        "open", "On {set} the first two are not told apart; no threshold is chosen here",
    ),
    Sentence(
        "best of another model", "better", "other model",
        "the best of a set was tested against the best of another model, adjusted likewise",
        lambda fact: fact["p"] == fact["p"],
        "On {set}, against the best of another model, {other}, its {label} is {by} ({p:p}{adjusted}).",
    ),
    Sentence(
        "beside the cell", "better", "other metrics", "other metrics of the two were evaluated",
        lambda fact: bool(fact["listed"]), "On {set}, {name} against {other}: {listed}.",
    ),
    Sentence(
        "worst set", "worst", "sets", "the winner of the first test set was measured on others",
        lambda fact: fact["count"] > 1,
        "Of {count} sets {name} does worst on {set}, by {label}: {value:.4g} (measured).",
    ),
    Sentence(
        "one run", "better", "runs", "each model was trained once",
        lambda fact: fact["n_runs"] == 1,
        "The tests are about these trained models; another training of the same kind may rank otherwise.",
    ),
)  # fmt: skip
