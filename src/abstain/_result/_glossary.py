"""What the words of tables, notes and pages mean; metrics and scores are explained in their docstrings."""

from __future__ import annotations

import re

#: Words of tables and notes, other than names of metrics and scores; other spellings after a bar.
WORDS = {
    "loss": "What a row costs: 0 for a right answer and 1 for a wrong one, or any number from 0 on.",
    "confidence": "A number per row that is higher where the model is more confident; rows with the highest are "
    "accepted first. Any scale will do. The probability of class 1 is no confidence; an uncertainty is the negative "
    "of one.",
    "threshold|accept if score >=": "The smallest score that is accepted; rows below are rejected, that is, referred "
    "for review.",
    "n": "Number of rows.",
    "coverage|accepted": "Share of the rows that are accepted.",
    "risk|selective risk": "Mean loss of what is accepted: of right and wrong answers the share of wrong ones.",
    "generalized risk": "Accepted loss per case of all cases, answered or not: coverage times risk.",
    "per 1,000": "Measured on these rows and counted for 1,000 cases like them.",
    "risk at most": "A limit: the risk of what is accepted is at most this, with the stated confidence.",
    "rejected": "Not answered, because the score lies below the threshold.",
    "abstained": 'Not answered by the model itself, whatever a threshold says: "I don\'t know", a refusal.',
    "unscored": "Answered, but the file does not say whether rightly: no verdict, or one that could not be read.",
    "answered": "Accepted by the threshold. Of a model that abstains by itself: share of the judged questions to "
    "which it gave an answer.",
    "accuracy of answers": "Share of the answers that are right: abstentions do not count.",
    "over-refusal": "Share of the questions with an answer on which the model abstained; needs should_abstain.",
    "missed abstention": "Share of the questions without an answer that it answered; needs should_abstain.",
    "distinct scores": "How many different scores there are, per row. A score does not distinguish rows that share a "
    "value.",
    "largest tie": "The largest number of rows that share one score: they are accepted together or not at all.",
    "in brackets|interval": "The range of values that the data support, at the stated level, for the population of "
    "which the rows are a sample; with few labels of a pool for the pool, unless a note says otherwise.",
    "pointwise": "Holds for each number alone, not for all of them together.",
    "τ|coverage at τ|risk at τ": "The one threshold at which groups are compared: that which accepts 80 % of all rows.",
    "oracle": "The best ranking of the same losses: every right answer above every wrong one.",
    "excess": "What lies above the oracle.",
    "cluster": "Rows that belong together, such as images of one patient; they count as dependent.",
    "guarantee|guaranteed|risk limit": "A statement about new rows from the same source: their risk is at most the "
    "limit. It is true with probability 1 - delta over the draw of the calibration rows.",
    "certificate|certified": "Shown by a statistical test to satisfy the limit, with a stated error probability.",
    "confidence level|with 95 % confidence": "In at least this share of repeated samples of such rows the guarantee "
    "is true, or the interval contains the true value.",
    "violated|violation": "The rows show that the risk is above the limit that was guaranteed.",
    "ranking": "The order of the rows by a score. A perfect one has every right answer above every wrong one.",
    "signal": "Evidence of a change. It also comes by chance, as rarely as is stated.",
    "delta": "The probability that a guarantee is wrong.",
    "fallback": "A certificate that tests thresholds from many fixed starting points, each with a share of delta.",
    "evidence": "How strongly the rows so far speak against the guarantee. Chance alone reaches the alarm with "
    "probability delta at most, however often the stream is evaluated.",
    "drifted|drift|change": "Coverage or scores are no longer those of the calibration rows.",
    "ID": "In distribution: rows of the kind that the model was made for.",
    "OOD": "Out of distribution: rows of another kind, on which no answer is right.",
    "detector": "A score that distinguishes ID from OOD rows.",
    "DS": "Double score: two thresholds at once, on the confidence and on a detector.",
    "noise|null gain": "The gain of a useless second score, the same one permuted. A gain that is no larger is no "
    "evidence of a better score.",
    "gain": "How much two scores are better than the confidence alone.",
    "standard error": "How much an estimate varies from one sample of such rows to another: its standard deviation.",
    "influence": "How a standard error was made: from what each row adds to the number, without resampling.",
    "permutation": "How a p-value was made: the two scores of a row are swapped at random, many times.",
    "difference|better - worse|differ": "A number of the first minus that of the second, on the same rows; 'differ' "
    "is yes if the test rejects that they are equal.",
    "better than": "How many of the others this one is significantly better than.",
    "holm|max-t": "How p-values of several pairs are adjusted, so that a false alarm among all is rare.",
    "maturity": "How old a row must be before all labels have come; younger ones wait, whether labelled or not.",
    "FPR": "False positive rate: share of the rows that should be rejected and are accepted.",
    "letters": "Scores that share a letter do not differ significantly.",
    "adjusted p": "The p-value of a pair, corrected for the number of pairs.",
    "rank": "1 is the best; scores whose numbers print alike share one.",
    "95 % set|set of ranks": "Ranks that the paired tests leave; all true ranks are in their sets at that level.",
    "resampled": "Over resamples of the rows: where most of the ranks lie, and how often it was the best.",
}

_MATH = re.compile(r"[,:]?\s*:math:`[^`]*`|\*|``|:func:|`")


def summary(function: object) -> str:
    """Return the first paragraph of a docstring as plain text."""
    first = (function.__doc__ or "").strip().partition("\n\n")[0]
    return _MATH.sub("", " ".join(first.split())).rstrip(" .:,") + "."
