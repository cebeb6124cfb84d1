"""Failure detection: the confidence score as a detector of right and wrong predictions (0/1 losses)."""

from __future__ import annotations

import numpy as np

from abstain._checks import Undefined, fraction
from abstain._sums import inner
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.metrics._declare import image_of, register
from abstain.metrics._excess import naugrc
from abstain.metrics._facts import Tail

__all__ = ["auroc_f", "fpr95_error", "fpr95_success"]


# ---------------------------------------------------------------------- AUROC


def _right_and_wrong(blocks: TieBlocks) -> tuple[FloatArray, FloatArray]:
    """Weight of correct and of wrong predictions per block; both must occur."""
    right, wrong = blocks.weight - blocks.loss, blocks.loss
    if not wrong.any():
        raise Undefined("there is no failure to detect: every loss is 0")
    if not right.any():
        raise Undefined("there is no correct prediction to accept: every loss is 1")
    return right, wrong


def auroc_f_value(blocks: TieBlocks) -> float:
    """AUROC of failure detection of a table."""
    right, wrong = _right_and_wrong(blocks)
    pairs, above = float(right.sum()) * float(wrong.sum()), np.cumsum(right)
    right *= 0.5
    above -= right
    return inner(wrong, above) / pairs


@register(
    title="AUROC of failures",
    image=image_of(naugrc, 1.0, -0.5),
    value=auroc_f_value,  # the same number, exact where the areas of the image cancel
    direction="higher",
    needs={"binary"},
    convention="mid-rank",
    source="Hendrycks & Gimpel 2017; Traub et al. 2024, Eq. 8",
)
def auroc_f(
    loss: ArrayLike, confidence: ArrayLike, *, sample_weight: ArrayLike | None = None, nan_policy: NanPolicy = "raise"
) -> float:
    r"""AUROC of failure detection: the chance that a correct prediction is more confident than a wrong one.

    .. math:: \text{AUROC}_f = P(g_\text{right} > g_\text{wrong}) + \tfrac12 P(g_\text{right} = g_\text{wrong})

    Returns
    -------
    float
        In [0, 1]; 1/2 = uninformative; higher is better. NaN, with a warning, without a failure or a success.

    Notes
    -----
    Ties count half. It ignores the accuracy of the classifier; AUGRC depends on both.

    References
    ----------
    Hendrycks & Gimpel (2017), ICLR. Traub et al. (2024), NeurIPS: Eq. 8.

    Examples
    --------
    >>> import abstain
    >>> abstain.auroc_f([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.6666666666666666
    """


# ---------------------------------------------------------------------- FPR at a recall


def _fpr_at(positive: FloatArray, negative: FloatArray, recall: float) -> float:
    target = fraction(recall, "recall")
    reached = np.cumsum(positive) / float(positive.sum()) >= target - 1e-12
    return float(np.cumsum(negative)[int(np.argmax(reached))]) / float(negative.sum()) if target > 0.0 else 0.0


def _fpr95_error(blocks: TieBlocks, recall: float = 0.95) -> float:
    right, wrong = _right_and_wrong(blocks)
    return _fpr_at(wrong[::-1], right[::-1], recall)


@register(
    title=lambda recall: f"FPR at {100.0 * recall:g} % recall (positive = correct)",
    value=lambda blocks, recall=0.95: _fpr_at(*_right_and_wrong(blocks), recall),
    few_errors=lambda recall: Tail("right", min(recall, 1.0 - recall)),
    direction="lower",
    needs={"binary"},
    inference="bootstrap",
    scale="logit",
    convention="attainable",
    source="Liang et al. 2018",
)
def fpr95_success(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    recall: float = 0.95,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Share of failures that are accepted when 95 % of the correct predictions are accepted.

    .. math:: \min\{\text{FPR}(\tau) : \text{recall}(\tau) \ge 0.95\},\quad \text{positive = correct}

    Parameters
    ----------
    recall : float in [0, 1]
        Share of correct predictions that must be accepted.

    Returns
    -------
    float
        In [0, 1]; lower is better. NaN, with a warning, without a failure or a success.

    See Also
    --------
    fpr95_error : the other orientation, a different number.

    Notes
    -----
    Ties are accepted together; only attainable thresholds count.

    References
    ----------
    Liang, Li & Srikant (2018), ICLR, for OOD; Corbiere et al. (2019), NeurIPS, for failures.

    Examples
    --------
    >>> import abstain
    >>> abstain.fpr95_success([0, 0, 1, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5])
    0.5
    """


@register(
    title=lambda recall: f"FPR at {100.0 * recall:g} % recall (positive = wrong)",
    value=_fpr95_error,
    few_errors=lambda recall: Tail("errors", min(recall, 1.0 - recall)),
    direction="lower",
    needs={"binary"},
    inference="bootstrap",
    scale="logit",
    convention="attainable",
    source="Liang et al. 2018",
)
def fpr95_error(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    recall: float = 0.95,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Share of correct predictions that are rejected when 95 % of the failures are rejected.

    .. math:: \min\{\text{FPR}(\tau) : \text{recall}(\tau) \ge 0.95\},\quad \text{positive = wrong}

    Parameters
    ----------
    recall : float in [0, 1]
        Share of failures that must be rejected.

    Returns
    -------
    float
        In [0, 1]; lower is better. NaN, with a warning, without a failure or a success.

    See Also
    --------
    fpr95_success : the other orientation, a different number.

    Notes
    -----
    Ties are rejected together; only attainable thresholds count.

    References
    ----------
    Liang, Li & Srikant (2018), ICLR, with failures in the place of OOD samples.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.fpr95_error([0, 0, 1, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5]), 6)
    0.333333
    """
