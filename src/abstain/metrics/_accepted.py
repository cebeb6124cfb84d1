"""Quality of a classifier with a reject option beyond its mean loss: after review, and of what is accepted."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np

from abstain._checks import (
    Undefined,
    UndefinedMetricWarning,
    UnmetNeed,
    fraction,
    one_of,
    refuse,
    same_length,
    to_numpy,
    vector,
)
from abstain._classes import UNLABELLED, is_text, texts
from abstain._sums import inner
from abstain._typing import ArrayLike, FloatArray, IntArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.metrics._declare import documented, register
from abstain.metrics._detection import auroc_f_value
from abstain.metrics._gradient import Predictions
from abstain.metrics._precision import average_precision_error_value

__all__ = ["auroc_accepted_area", "macro_selective_risk", "oc_auc", "oc_auc_classifier"]

Curve = Literal["roc", "pr"]


def _reviewed_share(blocks: TieBlocks, review_fraction: float) -> FloatArray:
    """Share of each block that is reviewed when the least confident ``review_fraction`` of the weight is."""
    above = 1.0 - fraction(review_fraction, "review_fraction")
    end = blocks.cumulative_weight / blocks.total_weight
    width = blocks.weight / blocks.total_weight
    return np.clip(np.round((end - above) / width, 12), 0.0, 1.0)  # whole blocks stay whole


def _oc_auc(blocks: TieBlocks, review_fraction: float = 0.005, curve: Curve = "roc") -> float:
    one_of(curve, ("roc", "pr"), "curve")
    kept = blocks.loss * (1.0 - _reviewed_share(blocks, review_fraction))
    reviewed = TieBlocks(blocks.score, blocks.weight, kept, blocks.count, binary=True)
    return auroc_f_value(reviewed) if curve == "roc" else average_precision_error_value(reviewed)


def _title(review_fraction: float, curve: Curve = "roc") -> str:
    name = "AUROC of failures" if curve == "roc" else "AP of failures"
    return f"{name}, {100.0 * review_fraction:g} % reviewed"


@register(
    title=_title,
    value=_oc_auc,
    direction="higher",
    needs={"binary"},
    inference="bootstrap",
    scale="logit",
    multi_threshold=True,
    convention="curve",
    source="Kivlichan et al. 2021; Traub et al. 2024, Section 2.4",
)
def oc_auc(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    review_fraction: float = 0.005,
    curve: Curve = "roc",
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Oracle-collaborative AUC of failure detection: AUROC_f (or AP) after the least confident were put right.

    .. math:: \text{AUROC}_f\bigl(\ell_i\,\mathbb 1[g_i > q_\alpha],\; g_i\bigr)

    with the review fraction :math:`\alpha` and the :math:`\alpha`-quantile :math:`q_\alpha` of the confidence.

    Parameters
    ----------
    review_fraction : float in [0, 1]
        Share of the samples that a reviewer decides without error.
    curve : {"roc", "pr"}
        AUROC_f, or average precision of failures.

    Returns
    -------
    float
        In [0, 1]. With ``review_fraction=0`` the plain metric; note that review removes the failures that were
        easiest to detect, so the value can fall as the reviewer does more. NaN, with a warning, if no failure
        or no correct prediction is left.

    Notes
    -----
    A tie at the border is reviewed in part: the mean over which of its members are reviewed enters the sums.

    References
    ----------
    Kivlichan et al. (2021); described for failures by Traub et al. (2024), NeurIPS: Section 2.4.

    Examples
    --------
    >>> import abstain
    >>> abstain.oc_auc([0, 1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5], review_fraction=0.2)
    0.25
    """


def binary_scores(data: Predictions, what: str) -> tuple[FloatArray, FloatArray]:
    """Return the probability of class 1 and the confidence (given, or the larger probability)."""
    if data.probabilities.shape[1] != 2:
        raise UnmetNeed(f"{what} needs two classes, but probabilities have {data.probabilities.shape[1]} columns")
    positive = data.probabilities[:, 1]
    larger = data.probabilities.max(axis=1)  # not 1 - p, whose rounding would break ties
    return positive, larger if data.confidence is None else data.confidence


def _oc_auc_classifier(data: Predictions, review_fraction: float = 0.005) -> float:
    positive, confidence = binary_scores(data, "oc_auc_classifier")
    by_confidence = TieBlocks.from_samples(np.zeros(positive.size), confidence, data.sample_weight)
    share = _reviewed_share(by_confidence, review_fraction)
    whole = by_confidence.score[share >= 1.0 - 1e-12]  # attainable: a tie is reviewed whole or not at all
    reviewed = confidence <= (whole[0] if whole.size else -np.inf)
    answered = np.where(reviewed, data.labels.astype(np.float64), positive)
    return auroc_f_value(TieBlocks.from_samples(1.0 - data.labels, answered, data.sample_weight))


@register(
    title=lambda review_fraction: f"AUROC of the classifier, {100.0 * review_fraction:g} % reviewed",
    value=_oc_auc_classifier,
    input="probabilities",
    direction="higher",
    inference="bootstrap",
    scale="logit",
    convention="roc",
    source="Kivlichan et al. 2021",
)
def oc_auc_classifier(
    labels: ArrayLike,
    probabilities: ArrayLike,
    confidence: ArrayLike | None = None,
    *,
    review_fraction: float = 0.005,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Oracle-collaborative AUC of a binary classifier: its AUROC after a reviewer answered the least confident.

    Reviewed samples get their true label as the score of class 1, the others keep their probability.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Labels 0 and 1.
    probabilities : array-like of shape (n_samples, 2)
        Class probabilities.
    confidence : array-like of shape (n_samples,), optional
        Confidence score, higher = more confident; default the larger of the two probabilities.
    review_fraction : float in [0, 1]
        Share of the samples that the reviewer answers.

    Returns
    -------
    float
        In [0, 1]; higher is better. NaN, with a warning, if only one class occurs.

    Raises
    ------
    UnmetNeed
        More than two classes.
    ValueError, TypeError
        Bad columns, labels or probabilities; a fraction outside [0, 1].

    Notes
    -----
    Tied confidences are reviewed together, and only if the fraction covers all of them.

    References
    ----------
    Kivlichan et al. (2021): "Measuring and improving model-moderator collaboration".

    Examples
    --------
    >>> import abstain
    >>> probabilities = [[0.9, 0.1], [0.4, 0.6], [0.6, 0.4], [0.2, 0.8]]
    >>> abstain.oc_auc_classifier([0, 0, 1, 1], probabilities, review_fraction=0.0)
    0.75
    >>> abstain.oc_auc_classifier([0, 0, 1, 1], probabilities, review_fraction=0.5)
    1.0
    """


def earlier_concordant(score: FloatArray, positive: FloatArray, negative: FloatArray) -> FloatArray:
    """Return per sample the weight of earlier samples of the other class that it is ordered rightly against.

    ``positive`` and ``negative`` hold each sample's weight in its class and 0 in the other. Ties count half.
    Merge counting: at each level the right half of every pair of runs is counted against the left half.
    """
    rank = np.unique(score, return_inverse=True)[1]
    result, half = np.zeros(score.size), 1
    while half < score.size:
        result += _from_left_half(rank, half, positive, negative)
        half *= 2
    return result


def _from_left_half(rank: IntArray, half: int, positive: FloatArray, negative: FloatArray) -> FloatArray:
    """Return what each sample in the right half of a pair of runs is ordered rightly against in the left half."""
    n, place = rank.size, np.arange(rank.size)
    key = place // (2 * half) * n + rank  # sorted: pair by pair, by rank inside
    order = np.argsort(key, kind="stable")
    key, left = key[order], (place // half % 2 == 0)[order]
    pair = key // n * n
    begin, end = np.searchsorted(key, pair), np.searchsorted(key, pair + n)
    first, last = np.searchsorted(key, key), np.searchsorted(key, key, side="right")  # of its ties in the pair

    def beside(weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Left weight below, and above, each sample; ties half to each."""
        total = np.append(0.0, np.cumsum(np.where(left, weight[order], 0.0)))
        below = total[first] - total[begin] + 0.5 * (total[last] - total[first])
        return below, (total[end] - total[begin]) - below

    gain = np.where(positive[order] > 0.0, beside(negative)[0], beside(positive)[1])
    result = np.zeros(n)
    result[order] = np.where(left, 0.0, gain)
    return result


def _area(data: Predictions) -> float:
    positive, confidence = binary_scores(data, "auroc_accepted_area")
    weight = np.ones(positive.size) if data.sample_weight is None else data.sample_weight
    order = np.argsort(-confidence, kind="stable")
    score, label, weight = positive[order], data.labels[order], weight[order]
    ones, zeros = weight * (label == 1), weight * (label == 0)
    own = np.where(label == 1, ones, zeros)
    concordant = np.cumsum(own * earlier_concordant(score, ones, zeros))
    surest = confidence[order]
    ends = np.flatnonzero(np.append(surest[1:] != surest[:-1], True))  # inf - inf would be no tie
    pairs = np.cumsum(ones)[ends] * np.cumsum(zeros)[ends]
    width = np.diff(np.cumsum(weight)[ends], prepend=0.0)
    both = pairs > 0.0
    if not both.any():
        raise Undefined("only one class occurs, so there is no AUROC at any coverage")
    return inner(width[both], concordant[ends][both] / pairs[both]) / float(width[both].sum())


@register(
    title="AUROC of the accepted, area",
    value=_area,
    input="probabilities",
    direction="higher",
    inference="bootstrap",
    scale="logit",
    multi_threshold=True,
    convention="step",
    source="Pugnana & Ruggieri 2023",
)
def auroc_accepted_area(
    labels: ArrayLike,
    probabilities: ArrayLike,
    confidence: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""AUROC of a binary classifier on what is accepted, averaged over coverage.

    .. math:: \sum_j (c_j - c_{j-1})\,\text{AUROC}(\{i : g_i \ge t_j\}) \Big/ \sum_j (c_j - c_{j-1})

    over the coverages at which both classes are among the accepted.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Labels 0 and 1.
    probabilities : array-like of shape (n_samples, 2)
        Class probabilities.
    confidence : array-like of shape (n_samples,), optional
        Confidence score, higher = more confident; default the larger of the two probabilities.

    Returns
    -------
    float
        In [0, 1]; higher is better. NaN, with a warning, if only one class occurs.

    Raises
    ------
    UnmetNeed
        More than two classes.
    ValueError, TypeError
        Bad columns, labels or probabilities.

    Notes
    -----
    Tied confidences are accepted together, tied class scores count half. O(n log^2 n).

    References
    ----------
    Pugnana & Ruggieri (2023), AISTATS.

    Examples
    --------
    >>> import abstain
    >>> probabilities = [[0.9, 0.1], [0.4, 0.6], [0.6, 0.4], [0.2, 0.8]]
    >>> round(abstain.auroc_accepted_area([0, 0, 1, 1], probabilities), 6)
    0.833333
    """


@documented
def macro_selective_risk(
    loss: ArrayLike,
    confidence: ArrayLike,
    labels: ArrayLike,
    *,
    coverage: float | None = None,
    threshold: float | None = None,
) -> float:
    r"""Selective risk averaged over classes: the mean loss of what is accepted of each true class.

    .. math:: \frac1K\sum_k \frac{\sum_{i: y_i = k} \ell_i\,\mathbb 1[g_i \ge \tau]}
              {\sum_{i: y_i = k} \mathbb 1[g_i \ge \tau]}

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        True classes, numbers or strings.
    coverage : float in [0, 1], optional
        At the attainable point of smallest coverage (of all samples) that is at least this.
    threshold : float, optional
        Accept scores >= threshold. Give exactly one of the two.

    Returns
    -------
    float
        In [0, max loss]; lower is better. NaN, with a warning that names the class, if nothing of a class is
        accepted: counting that as no risk, as fd-shifts does, rewards rejecting a whole class.

    Notes
    -----
    Ties are accepted together. To weigh classes equally on both axes use :func:`prevalence_weights` instead.

    References
    ----------
    The balanced-accuracy risk of Traub et al. (2024), code, without its value 0 for an empty class.

    Examples
    --------
    >>> import abstain
    >>> abstain.macro_selective_risk([0, 1, 0, 0], [0.9, 0.8, 0.7, 0.2], ["a", "a", "b", "b"], threshold=0.5)
    0.25
    """
    blocks = TieBlocks.from_samples(loss, confidence, keep_samples=True)
    point = RiskCoverageCurve(blocks).at(coverage=coverage, threshold=threshold)
    classes = texts(labels, "labels") if is_text(labels) else vector(labels, "labels", np, None)
    if classes.dtype.kind == "f":
        refuse(np.isnan(classes), classes, "labels", "is missing", UNLABELLED, np)
    samples = blocks._kept
    losses = to_numpy(samples.loss)
    same_length(loss=losses, labels=classes)
    n_blocks = np.count_nonzero(np.cumsum(blocks.count) <= point.n_accepted)  # +inf reaches the threshold of none
    accepted = to_numpy(samples.block) < n_blocks
    risks = []
    for label in np.unique(classes):
        mine = accepted & (classes == label)
        if not mine.any():
            warnings.warn(
                f"macro_selective_risk is undefined: nothing of class {label.item()!r} is accepted",
                UndefinedMetricWarning,
                stacklevel=2,
            )
            return float("nan")
        risks.append(float(losses[mine].mean()))
    return float(np.mean(risks))
