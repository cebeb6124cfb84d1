"""Oracle-collaborative AUC: the least confident samples go to a reviewer, then the rest is scored."""

from __future__ import annotations

from typing import Literal

import numpy as np

from abstain._checks import UnmetNeed, fraction, one_of
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics._declare import register
from abstain.metrics._detection import auroc_f_value
from abstain.metrics._gradient import Predictions
from abstain.metrics._precision import average_precision_error_value

__all__ = ["oc_auc", "oc_auc_classifier"]

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
    range=(0.0, 1.0),
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
    range=(0.0, 1.0),
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
        Confidence score, higher = surer; default the larger of the two probabilities.
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
