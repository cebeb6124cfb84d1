"""What the words of tables, notes and pages mean; metrics and scores are explained in their docstrings."""

from __future__ import annotations

import re

#: Words of tables and notes, other than names of metrics and scores; other spellings after a bar.
WORDS = {
    "loss": "What a row costs: 0 for a right answer, 1 for a wrong answer, or any number from 0 on.",
    "confidence": "A number for each row. It is higher where the model is more confident, and may have any scale. The "
    "probability of class 1 is not a confidence. Give an uncertainty with a minus sign.",
    "threshold|accept if score >=": "The smallest score that is accepted. Rows below it are rejected and referred for "
    "review.",
    "n": "Number of rows.",
    "coverage|accepted": "Share of the rows that are accepted.",
    "risk|selective risk": "Mean loss of the accepted rows. For right and wrong answers it is the share of wrong "
    "answers.",
    "generalized risk": "Loss of the accepted rows, divided by the number of all rows: coverage times risk.",
    "per 1,000": "Measured on these rows, and given for 1,000 cases like them.",
    "risk at most": "A limit: the risk of the accepted rows is at most this, with the stated confidence.",
    "rejected": "Not answered, because the score is below the threshold.",
    "abstained": 'The model itself gave no answer, for example "I don\'t know", or a refusal.',
    "unscored": "Answered, but the file does not say whether the answer is right.",
    "answered": "Accepted by the threshold. For a model that abstains by itself: the share of the judged questions "
    "that it answered.",
    "accuracy of answers": "Share of the answers that are right. Abstentions do not count.",
    "over-refusal": "Share of the questions with an answer at which the model abstained. It needs should_abstain.",
    "missed abstention": "Share of the questions without an answer that the model answered. It needs should_abstain.",
    "distinct scores": "Number of different scores, divided by the number of rows. No threshold separates rows with "
    "the same score.",
    "largest tie": "The largest number of rows that have the same score. They are accepted together or not at all.",
    "in brackets|interval": "The values that the data support, at the stated level. An interval is about the "
    "population of which the rows are a sample. With few labels it is about the pool, unless a note says otherwise.",
    "pointwise": "Holds for each number alone, not for all of them together.",
    "τ|coverage at τ|risk at τ": "The threshold at which groups are compared. It accepts at least 80 % of all rows.",
    "oracle": "The best ranking of the same losses: every right answer is above every wrong answer.",
    "excess": "The value minus the value of the oracle.",
    "cluster": "Rows that belong together and depend on each other, such as images of one patient.",
    "guarantee|guaranteed|risk limit": "A statement about new rows from the same population: their risk is at most the "
    "limit. It is true with probability 1 - delta over the draw of the calibration rows.",
    "certificate|certified": "A statistical test showed that the limit is satisfied, with a stated error probability.",
    "confidence level|with 95 % confidence": "If such rows were drawn again and again, the guarantee would be true, or "
    "the interval would contain the true value, in at least this share of the samples.",
    "violated|violation": "The rows show that the risk is above the guaranteed limit.",
    "ranking": "The order of the rows by a score. In a perfect ranking every right answer is above every wrong answer.",
    "signal": "Evidence of a change. It can also come by chance, but seldom: a note says how often.",
    "delta": "The probability that a guarantee is wrong.",
    "fallback": "A certificate that tests thresholds from many fixed starting points. Each has a share of delta.",
    "evidence": "How strongly the rows so far speak against the guarantee. If the guarantee holds, the evidence "
    "reaches the alarm with probability delta at most, however often the stream is evaluated.",
    "drifted|drift|change": "Coverage or scores differ from those of the calibration rows.",
    "ID": "In distribution: rows of the kind that the model was made for.",
    "OOD": "Out of distribution: rows of another kind. No answer to them is right.",
    "detector": "A score that distinguishes ID from OOD rows.",
    "DS": "Double score: two thresholds at once, one for the confidence and one for a detector.",
    "noise|null gain": "The gain of a useless second score: the same score, but permuted. A gain that is not larger "
    "does not show that the second score helps.",
    "gain": "How much better two scores are than the confidence alone.",
    "standard error": "How much an estimate varies from one sample of such rows to another: its standard deviation.",
    "influence": "The standard error was computed from what each row adds to the number, without resampling.",
    "permutation": "The p-value was computed by swapping the two scores of a row at random, many times.",
    "difference|better - worse|differ": "The number of the first minus the number of the second, on the same rows. "
    "'differ' is yes if the test rejects that they are equal.",
    "better than": "How many of the others are significantly worse.",
    "holm|max-t": "How p-values of several pairs are adjusted. A false alarm among all pairs is then rare.",
    "maturity": "The age at which all labels have come. Younger rows wait, with or without a label.",
    "FPR": "False positive rate: of the rows that should be rejected, the share that is accepted.",
    "letters": "Scores that share a letter do not differ significantly.",
    "adjusted p": "The p-value of a pair, adjusted for the number of pairs.",
    "rank": "1 is the best. Scores with the same printed number have the same rank.",
    "95 % set|set of ranks": "The ranks that the paired tests do not exclude. At this level all true ranks are in "
    "their sets.",
    "resampled": "In resamples of the rows: the usual ranks of the score, and how often it was the best.",
}

_MATH = re.compile(r"[,:]?\s*:math:`[^`]*`|\*|``|:func:|`")


def summary(function: object) -> str:
    """Return the first paragraph of a docstring as plain text."""
    first = (function.__doc__ or "").strip().partition("\n\n")[0]
    return _MATH.sub("", " ".join(first.split())).rstrip(" .:,") + "."
